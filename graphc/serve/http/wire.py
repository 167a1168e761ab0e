"""Wire: ASGI requests and answers, with limits on their size and time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, MutableMapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from graphc.serve.http.problems import ProblemError

__all__ = ["GoneError", "Message", "Receive", "Request", "Response", "Room", "Scope", "Send", "json_response"]

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_DISCARD_SECONDS = 3.0
"""Seconds to read the rest of a refused body, so that the client reads the answer before the connection closes."""


class Room:
    """The memory for the bodies of all requests together.

    Args:
      num_bytes: how many bytes they may have.
    """

    def __init__(self, num_bytes: int) -> None:
        self._left = num_bytes

    @contextmanager
    def body(self) -> Generator[Callable[[int], None]]:
        """Yields a function that takes bytes until the end of the scope, and raises an error if none are left."""
        taken = 0

        def take(num_bytes: int) -> None:
            nonlocal taken
            if num_bytes > self._left:
                text = "the bodies of too many requests are in memory; try again"
                raise ProblemError(503, text, headers={"retry-after": "1"}, close=True)
            self._left -= num_bytes
            taken += num_bytes

        try:
            yield take
        finally:
            self._left += taken


class GoneError(Exception):
    """The client closed the connection before it was answered."""


class Request:
    """A request.

    Args:
      scope: the ASGI scope.
      receive: the ASGI receive function.

    Attributes:
      method: the HTTP method, such as ``"POST"``.
      path: the path below the application, without the prefix that it is mounted at.
    """

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        root: str = scope.get("root_path", "").rstrip("/")
        if root and f"{self.path}/".startswith(f"{root}/"):
            self.path = self.path[len(root) :]
        self._headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
        self._read = False

    def header(self, name: str) -> str:
        """Returns a header by its lower-case name; the empty string if it is missing."""
        wanted = name.encode("ascii")
        return ", ".join([value.decode("latin-1") for key, value in self._headers if key.lower() == wanted])

    async def body(self, limit: int, seconds: float | None, take: Callable[[int], None]) -> bytes:
        """Reads the body.

        Args:
          limit: the maximum number of bytes.
          take: a function that is called with the size of each part, before the next is read.
          seconds: the time limit for reading it; None for no limit.

        Raises:
          ProblemError: the body is too large, or did not arrive in time.
          GoneError: the client left.
        """
        length = self.header("content-length")
        if length.isascii() and length.isdigit() and int(length) > limit:
            raise self._too_large(limit)
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(seconds):
                async for part in self._parts():
                    size += len(part)
                    if size > limit:
                        raise self._too_large(limit)
                    take(len(part))
                    parts.append(part)
        except TimeoutError:
            self._read = True  # the rest is not awaited
            raise ProblemError(408, f"the body did not arrive within {seconds:g} s", close=True) from None
        return b"".join(parts)

    async def discard(self) -> None:
        """Reads and drops the rest of a refused body, for a limited time."""
        if self._read or self.header("expect"):
            return
        with suppress(TimeoutError, GoneError):
            async with asyncio.timeout(_DISCARD_SECONDS):
                async for _ in self._parts():
                    pass

    async def until_gone(self) -> None:
        """Waits until the client closes the connection; call it after the body was read."""
        if (await self._message())["type"] != "http.disconnect":
            await asyncio.Event().wait()  # the server does not report it

    async def _parts(self) -> AsyncIterator[bytes]:
        while not self._read:
            message = await self._message()
            if message["type"] == "http.disconnect":
                raise GoneError
            self._read = not message.get("more_body", False)
            yield message.get("body", b"")

    async def _message(self) -> Message:
        try:
            return await self._receive()
        except RuntimeError:  # uvloop's, for a client that has closed its side of the connection
            return {"type": "http.disconnect"}

    def _too_large(self, limit: int) -> ProblemError:
        return ProblemError(413, f"a body may have {limit} bytes", close=True)


@dataclass(frozen=True)
class Response:
    """An answer.

    Attributes:
      status: the HTTP status code.
      body: the bytes.
      kind: their media type.
      headers: further headers, with names in small letters.
    """

    status: int
    body: bytes = b""
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict[str, str])

    async def send(self, send: Send, *, head: bool = False) -> None:
        """Sends the answer; without the body for a HEAD request."""
        fields = {"content-type": self.kind, "content-length": str(len(self.body)), **self.headers}
        headers = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in fields.items()]
        with suppress(RuntimeError):  # uvloop's, for a client that has left before the answer
            await send({"type": "http.response.start", "status": self.status, "headers": headers})
            await send({"type": "http.response.body", "body": b"" if head else self.body})


def json_response(status: int, content: Any, headers: dict[str, str] | None = None) -> Response:
    """Returns an answer with a JSON body."""
    return Response(status, json.dumps(content).encode() + b"\n", headers=headers or {})
