"""The server of an application: uvicorn, with limits on headers, and a stop in three steps."""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from graphc.compiler.base import checked_seconds, deadline
from graphc.compiler.base.errors import DeadlineExceededError, UnavailableError
from graphc.serve.http.app import App

_BACKLOG = 2048
_HEAD_BYTES = 1 << 16
"""The maximum size of the line and the headers of a request, up to what one read of a connection adds."""

_AT_ONCE = 1e-3


def run(
    app: App,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    drain_seconds: float = 1.0,
    stop_seconds: float | None = 60.0,
    reuse_port: bool = False,
    on_start: Callable[[str], None] | None = None,
) -> None:
    """Serves an application over HTTP until SIGTERM or SIGINT, and closes it.

    A signal stops the server in three steps. For ``drain_seconds`` it answers accepted queries and refuses new ones
    with status 503, as ``/ready`` reports. Then it accepts no connections, and waits for answers and compilation in
    progress, at most ``stop_seconds``. Then it closes the application. A second signal skips the first step, a third
    Ctrl-C the rest.

    Args:
      app: the application.
      host: the address to listen at. Anyone who reaches it can ask, unless the application has a token.
      port: the port; 0 for a free one.
      drain_seconds: seconds during which new queries are refused before connections are.
      stop_seconds: the time limit for the last answers; None for no limit.
      reuse_port: whether another server may listen on the same port, so that a new one can start before the old one
        stops.
      on_start: a function called with the URL once the server listens.

    Raises:
      FailedPreconditionError: uvicorn or Starlette is missing (``pip install 'graphc[serve]'``).
      UnavailableError: it cannot listen at that address.
      DeadlineExceededError: ``stop_seconds`` passed before the last answers were sent. XLA cannot be interrupted, so
        threads still compute: end the process.
      Exception: the error of compiling the signatures.

    Example:
      >>> import graphc as gx
      >>> app = gx.serve.App({"double": lambda x: x * 2})
      >>> gx.serve.run(app, port=8000)  # doctest: +SKIP
    """
    seconds = checked_seconds(stop_seconds, "gx.serve.run: stop_seconds")
    server: _Server | None = None
    try:
        with _listening(host, port, reuse_port) as listener:
            server = _Server(app, drain_seconds, seconds)
            if on_start is not None:
                address, bound = listener.getsockname()[:2]
                on_start(f"http://{f'[{address}]' if ':' in address else address}:{bound}")
            server.run(sockets=[listener])
    finally:
        try:
            with deadline(seconds if server is None else server.left()):
                app.close()
        except DeadlineExceededError as error:
            late = error.message.partition("waiting for ")[2]
            raise DeadlineExceededError(
                f"gx.serve.run: stop_seconds={seconds} passed before {late} ended; it goes on until the process ends"
            ) from None
    if app.problem is not None:
        raise app.problem


def _listening(host: str, port: int, reuse_port: bool) -> socket.socket:
    """Returns a socket that clients can connect to; they are answered once the server runs."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()  # "::" also takes IPv4
        return socket.create_server(
            address, family=family, backlog=_BACKLOG, reuse_port=reuse_port, dualstack_ipv6=both
        )
    except OSError as error:
        raise UnavailableError(f"gx.serve.run: cannot listen at {host} port {port}: {error}") from None


class _Server(uvicorn.Server):
    """Drains before it stops."""

    def __init__(self, app: App, drain_seconds: float, stop_seconds: float | None) -> None:
        graceful = cast("Any", stop_seconds)  # annotated as an int, and may be a fraction
        super().__init__(
            uvicorn.Config(
                app, log_config=None, access_log=False, lifespan="off", server_header=False, backlog=_BACKLOG,
                timeout_graceful_shutdown=graceful, ws="none", http=_protocol(app.body_seconds),
            )
        )  # fmt: skip
        self._app, self._drain_seconds, self._stop_seconds = app, drain_seconds, stop_seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped: float | None = None
        self._drains = False

    def left(self) -> float | None:
        """Returns the seconds left for the last answers; none after a signal that forces the end."""
        if self.force_exit:
            return _AT_ONCE
        if self._stop_seconds is None or self._stopped is None:
            return self._stop_seconds
        return max(_AT_ONCE, self._stop_seconds - (time.monotonic() - self._stopped))

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopped = time.monotonic()
        await super().shutdown(sockets)

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self._app.problem is not None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        del frame
        self._app.drain()
        if self._drains or self._loop is None:
            self.force_exit = self.should_exit and sig == signal.SIGINT
            self.should_exit = True
        else:
            self._drains = True
            self._loop.call_soon_threadsafe(self._loop.call_later, self._drain_seconds, self._stop)

    def _stop(self) -> None:
        self.should_exit = True


def _protocol(seconds: float | None) -> type[asyncio.Protocol]:
    """Returns the protocol of connections whose headers are limited in size and time, which uvicorn leaves open."""

    class Protocol(HttpToolsProtocol):
        _late: asyncio.TimerHandle | None = None
        _head_bytes = 0
        _in_head = True

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._expect()

        def data_received(self, data: bytes) -> None:
            if self._in_head:
                self._head_bytes += len(data)
                self._expect()
            super().data_received(data)
            if self._in_head and self._head_bytes > _HEAD_BYTES:
                self._refuse(f"431 the headers have more than {_HEAD_BYTES} bytes")

        def on_headers_complete(self) -> None:
            self._in_head = False
            self._stop_waiting()
            super().on_headers_complete()

        def on_message_complete(self) -> None:
            self._in_head, self._head_bytes = True, 0
            super().on_message_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _expect(self) -> None:
            if self._late is None and seconds is not None:
                text = f"408 the headers did not arrive within {seconds:g} s"
                self._late = self.loop.call_later(seconds, self._refuse, text)

        def _stop_waiting(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

        def _refuse(self, status: str) -> None:
            if self._head_bytes and getattr(self.cycle, "response_complete", True):
                self.transport.write(f"HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".encode())
            self.transport.close()

    return Protocol
