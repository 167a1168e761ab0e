"""A client of an ASGI application in this process: requests and what they are answered."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphc.serve import App


@dataclass
class Answered:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def message(self) -> str:
        assert self.json["error"]["status"] == self.status
        return self.json["error"]["message"]


def ask(
    app: App, method: str, path: str, body: Any = b"", headers: dict[str, str] | None = None, **scope: Any
) -> Answered:
    """Sends a request with a body of bytes, of parts, or of JSON."""
    return asyncio.run(asked(app, method, path, body, headers, **scope))


async def asked(
    app: App,
    method: str,
    path: str,
    body: Any = b"",
    headers: dict[str, str] | None = None,
    *,
    ends: bool = True,
    **scope: Any,
) -> Answered:
    parts: Sequence[bytes] = body if isinstance(body, tuple) else (as_bytes(body),)
    messages = [
        {"type": "http.request", "body": part, "more_body": not ends or place + 1 < len(parts)}
        for place, part in enumerate(parts)
    ]
    sent: list[Any] = []

    async def receive() -> Any:
        if messages:
            return messages.pop(0)
        return await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    fields = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    await app({"type": "http", "method": method, "path": path, "headers": fields, **scope}, receive, send)
    start, end = sent
    return Answered(start["status"], {key.decode(): value.decode() for key, value in start["headers"]}, end["body"])


def as_bytes(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def npz(*arrays: Any, **named: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, *arrays, **named)
    return file.getvalue()
