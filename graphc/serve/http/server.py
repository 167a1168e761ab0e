"""The server of an application: uvicorn, with a shutdown that loses no accepted query."""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, cast

from graphc.compiler.base import checked_seconds, deadline
from graphc.compiler.base.errors import DeadlineExceededError, FailedPreconditionError, UnavailableError
from graphc.serve.http.app import App

__all__ = ["last_of", "run"]

_FIRST_BYTES = 0.25
"""Seconds that a stopping server waits for the request of a client that has just connected."""

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
      FailedPreconditionError: uvicorn is missing (``pip install 'graphc[serve]'``).
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
    server: Any = None
    try:
        listener = _listen(host, port, reuse_port)
        try:
            server = _server(app, drain_seconds, seconds)
            if on_start is not None:
                on_start(_url(listener))
            server.run(sockets=[listener])
        finally:
            listener.close()
    finally:
        _close(app, seconds, seconds if server is None else server.left(seconds))
    if app.problem is not None:
        raise app.problem


def _close(app: App, seconds: float | None, left: float | None) -> None:
    try:
        with deadline(left):
            app.close()
    except DeadlineExceededError as error:
        late = error.message.partition("waiting for ")[2]
        raise DeadlineExceededError(
            f"gx.serve.run: stop_seconds={seconds} passed before {late} ended; it goes on until the process ends"
        ) from None


def _url(listener: socket.socket) -> str:
    address, port = listener.getsockname()[:2]
    shown = f"[{address}]" if ":" in address else address
    return f"http://{shown}:{port}"


def _listen(host: str, port: int, reuse_port: bool) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if reuse_port:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)  # from now on, clients can connect; they are answered once the server runs
        except BaseException:
            listener.close()
            raise
        return listener
    except OSError as error:
        raise UnavailableError(f"gx.serve.run: cannot listen at {host} port {port}: {error}") from None


def last_of(door: socket.socket) -> list[socket.socket]:
    """Accepts clients that have connected, and closes the listening socket before other code does."""
    door.setblocking(False)
    found: list[socket.socket] = []
    with door:
        while True:
            try:
                connection, _ = door.accept()
            except OSError:  # no client is left
                return found
            found.append(connection)


def _server(app: App, drain_seconds: float, stop_seconds: float | None) -> Any:
    try:
        import uvicorn
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
    except ImportError:
        raise FailedPreconditionError("gx.serve.run needs uvicorn: pip install 'graphc[serve]'") from None

    class Protocol(HttpToolsProtocol):
        """A connection whose headers are limited in size and time, which uvicorn leaves open."""

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
            if self._late is None and app.body_seconds is not None:
                text = f"408 the headers did not arrive within {app.body_seconds:g} s"
                self._late = self.loop.call_later(app.body_seconds, self._refuse, text)

        def _stop_waiting(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

        def _refuse(self, status: str) -> None:
            if self._head_bytes and getattr(self.cycle, "response_complete", True):
                self.transport.write(f"HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".encode())
            self.transport.close()

    graceful = cast("Any", stop_seconds)  # annotated as an int, and may be a fraction
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", server_header=False, backlog=_BACKLOG,
        timeout_graceful_shutdown=graceful, ws="none", http=Protocol,
    )  # fmt: skip

    class Server(uvicorn.Server):
        """Drains before it stops."""

        def __init__(self) -> None:
            super().__init__(config)
            self._drains = False
            self._loop: asyncio.AbstractEventLoop | None = None
            self._stopped: float | None = None

        def left(self, seconds: float | None) -> float | None:
            """Returns the seconds left for the last answers; none after a signal that forces the end."""
            if self.force_exit:
                return _AT_ONCE
            if seconds is None or self._stopped is None:
                return seconds
            return max(_AT_ONCE, seconds - (time.monotonic() - self._stopped))

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            self._stopped = time.monotonic()
            assert self._loop is not None
            doors = [listener.dup() for listener in sockets or ()]
            for server in self.servers:
                server.close()
            # Linux would reset connections that are not accepted yet.
            for connection in [found for door in doors for found in last_of(door)]:
                await self._loop.connect_accepted_socket(self._protocol, connection)
            left = self.left(stop_seconds)
            await asyncio.sleep(_FIRST_BYTES if left is None else min(left, _FIRST_BYTES))
            await super().shutdown(sockets)

        def _protocol(self) -> asyncio.Protocol:
            kind: Any = config.http_protocol_class
            return kind(config=config, server_state=self.server_state, app_state=self.lifespan.state)

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            self._loop = asyncio.get_running_loop()
            await super().startup(sockets)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            del frame
            app.drain()
            if self._drains or self._loop is None:
                self.force_exit = self.should_exit and sig == signal.SIGINT
                self.should_exit = True
                return
            self._drains = True
            self._loop.call_soon_threadsafe(self._loop.call_later, drain_seconds, self._stop)

        async def on_tick(self, counter: int) -> bool:
            return await super().on_tick(counter) or app.problem is not None

        def _stop(self) -> None:
            self.should_exit = True

    return Server()
