"""App: functions that answer queries over HTTP, as an ASGI application on Starlette."""

from __future__ import annotations

import asyncio
import hmac
import os
import re
import threading
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Self, cast

import prometheus_client
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphc.compiler.base import Signal, checked_seconds, logs, nest
from graphc.compiler.base.errors import (
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
)
from graphc.compiler.base.files import PathLike
from graphc.saving import Saved
from graphc.serve.batching import Answer
from graphc.serve.http.bodies import JSON, NPZ, Budget, decode, encode, media_type, negotiate
from graphc.serve.http.metrics import Metrics
from graphc.serve.http.offers import Endpoint, Offer, Served, endpoint, offer, offers
from graphc.serve.http.problems import ProblemError, problem_of
from graphc.serve.stats import ServingStats

_METRICS = "text/plain; version=0.0.4; charset=utf-8"
_INLINE_BYTES = 1 << 16
"""Size in bytes above which another thread decodes and encodes bodies, so that others are answered in the meantime."""

_BODIES = 8
"""The number of largest bodies that are in memory at the same time."""

_CODERS = 2
"""The number of threads that do so: each may need several times the memory of the largest body."""

_LOOK_SECONDS = 1.0
"""How often a query that waits looks whether its client has left: most are answered before the first time."""

_DISCARD_SECONDS = 3.0
"""Seconds to read the rest of a refused body, so that the client reads the answer before the connection closes."""


class App:
    """Answers queries over HTTP: an ASGI application for any ASGI server or framework.

    Each function is served by :class:`Replicas` under its name. ``POST /functions/NAME`` calls it, with arguments and
    results as JSON, or as arrays in NumPy's formats npy and npz. ``GET /functions`` lists names and signatures.
    ``/health`` says that the server runs, ``/ready`` that all signatures are compiled, and ``/metrics`` shows counts
    and latencies to Prometheus. Errors are JSON objects with a matching status code. See docs/how-to/serving.md.

    Compilation begins at once, on a separate thread. Close the application, or use ``with``: a server closes it when it
    stops, if it supports ASGI's lifespan; a framework that mounts the application may not.

    Args:
      functions: a function, a layer, :class:`Replicas` or :class:`Offer`, by the names in the paths of requests; one
        alone is served under its own name. Or a folder that :func:`graphc.save` has written, or what was loaded of it:
        its functions are served for the signatures and sizes that they were saved for.
      examples: for each function, a tuple of example arguments: arrays, whose first axis may have any size, or
        :class:`graphc.TensorSpec`. Or a dict of such tuples by names of signatures. Requests must fit one of them, and
        they are compiled before ``/ready`` says so. Where they are missing, ``input_signature`` of a compiled function
        serves; where that is missing too, any arrays are taken.
      token: the token that requests must send as ``Authorization: Bearer TOKEN``, but for ``/health`` and ``/ready``;
        None lets everyone ask.
      max_body_bytes: the maximum number of bytes in the body of a request.
      body_timeout: seconds within which the body must arrive; in :func:`run`, the headers too.
      **options: options of :class:`Replicas`: ``devices``, ``max_batch``, ``max_delay_ms``, ``timeout``,
        ``max_waiting`` and ``sizes``.

    Raises:
      FailedPreconditionError: Starlette or prometheus-client is missing (``pip install 'graphc[serve]'``).
      InvalidTypeError: something to serve is no function, or an example is no tuple of arrays.
      InvalidArgumentError: a name or an option has a value that it cannot have.

    Example:
      >>> import asyncio
      >>> import json
      >>> import graphc as gx
      >>> import numpy as np
      >>> app = gx.serve.App({"double": lambda x: x * 2}, examples={"double": (np.ones((1, 3)),)}, max_batch=1)
      >>> sent = []
      >>> async def ask(body):
      ...     async def receive():
      ...         return {"type": "http.request", "body": json.dumps(body).encode()}
      ...     async def send(message):
      ...         sent.append(message)
      ...     await app({"type": "http", "method": "POST", "path": "/functions/double", "headers": []}, receive, send)
      >>> with app:
      ...     asyncio.run(ask({"args": [[[1, 2, 3]]]}))
      >>> sent[0]["status"], json.loads(sent[1]["body"])
      (200, {'result': [[2.0, 4.0, 6.0]]})
    """

    def __init__(
        self,
        functions: Served | Mapping[str, Served | Offer] | PathLike | Saved,
        *,
        examples: Mapping[str, Any] | None = None,
        token: str | None = None,
        max_body_bytes: int = 64 << 20,
        body_timeout: float = 30.0,
        **options: Any,
    ) -> None:
        named = _by_name(functions, examples or {})
        if unknown := {*(examples or {})} - {*named}:
            raise InvalidArgumentError(f"App: examples of {', '.join(sorted(unknown))}, which are not served")
        if token is not None and not (token and token.isascii() and token.isprintable() and " " not in token):
            raise InvalidArgumentError("App: a token has one or more characters of ASCII, and no spaces")
        if isinstance(max_body_bytes, bool) or max_body_bytes < 1:
            raise InvalidArgumentError(f"App: max_body_bytes must be an int from 1, got {max_body_bytes!r:.60}")
        self.body_seconds = checked_seconds(body_timeout, "App: body_timeout")
        self._asgi = self._routed(token)
        self._endpoints: dict[str, Endpoint] = {}
        self._budgets: dict[str, Budget] = {}
        self._room = _BODIES * max_body_bytes
        self._coders = ThreadPoolExecutor(_CODERS, "graphc.serve.coder")
        self._metrics = Metrics(self.stats, lambda: self.is_ready)
        self._draining = self._warm = False
        self._problem: BaseException | None = None
        self._compiled = Signal()
        self._compiling = ""
        try:
            for name, offered in named.items():
                self._endpoints[name] = created = endpoint(name, offered, options)
                self._budgets[name] = Budget.of(created.forms, created.replicas.max_waiting, max_body_bytes)
        except BaseException:
            self._compiled.set()
            self.close()
            raise
        threading.Thread(target=self._warm_up, name="graphc.serve.warm_up", daemon=True).start()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the functions."""
        return tuple(self._endpoints)

    @property
    def is_ready(self) -> bool:
        """True once all signatures are compiled, until the application drains."""
        return self._warm and not self._draining

    @property
    def problem(self) -> BaseException | None:
        """The error of compiling the signatures, or None."""
        return self._problem

    def stats(self) -> dict[str, ServingStats]:
        """Returns the statistics so far, by function name."""
        return {name: each.replicas.stats() for name, each in self._endpoints.items()}

    def wait_until_ready(self) -> None:
        """Waits until all signatures are compiled.

        Raises:
          DeadlineExceededError: the deadline in force passed before.
          Exception: the error of compiling them.
        """
        self._compiled.wait(self._what)
        if self._problem is not None:
            raise self._problem

    def drain(self) -> None:
        """Refuses new queries with status 503 from now on; accepted queries are answered."""
        self._draining = True

    def close(self) -> None:
        """Refuses new queries, answers the accepted ones, and ends the threads; may be called again.

        Raises:
          DeadlineExceededError: the deadline in force passed before.
        """
        self._draining = True
        late: DeadlineExceededError | None = None
        for each in self._endpoints.values():
            if each.own:
                try:
                    each.replicas.close()
                except DeadlineExceededError as error:  # the others must be closed, too
                    late = late or error
        self._compiled.wait(self._what)
        self._coders.shutdown()
        if late is not None:
            raise late

    def _what(self) -> str:
        """Describes what :meth:`close` waits for besides answers."""
        return f"the compilation of {self._compiling!r}, which cannot be interrupted"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<gx.serve.App of {', '.join(self._endpoints)}>"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request; called by the ASGI server."""

        async def taken() -> Message:
            try:
                return await receive()
            except RuntimeError:  # uvloop's, for a client that has closed its side of the connection
                return {"type": "http.disconnect"}

        async def sent(message: Message) -> None:
            if self._draining and message["type"] == "http.response.start":
                message["headers"] = [*{**dict(message["headers"]), b"connection": b"close"}.items()]
            with suppress(RuntimeError):  # uvloop's, for a client that has left before the answer
                await send(message)

        await self._asgi(scope, *((taken, sent) if scope["type"] == "http" else (receive, send)))

    def _routed(self, token: str | None) -> Starlette:
        guarded: list[Any] = [
            Route("/functions/{name}", self._function, methods=["GET", "POST"]),  # the first: most requests are queries
            Route("/functions", self._list),
            Route("/", self._list),
            Route("/metrics", self._show_metrics),
        ]
        if token is not None:  # the mount also guards what no route of it has
            guarded = [Mount("", routes=guarded, middleware=[Middleware(_guard, token.encode("ascii"))])]
        handlers: Any = {HTTPException: self._refused, ProblemError: self._refused}
        public = [Route("/health", self._health), Route("/ready", self._readiness)]
        routes = [*public, *guarded] if token is not None else [*guarded, *public]
        return Starlette(routes=routes, exception_handlers=handlers, lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncGenerator[None]:
        yield
        await asyncio.to_thread(self.close)

    async def _health(self, _: Request) -> Response:
        return JSONResponse({"status": "running"})

    async def _readiness(self, _: Request) -> Response:
        if self.is_ready:
            return JSONResponse({"status": "ready"})
        status = "stopping" if self._draining else "failed" if self._problem is not None else "compiling"
        return JSONResponse({"status": status}, 503)

    async def _list(self, _: Request) -> Response:
        return JSONResponse({"functions": [each.to_dict() for each in self._endpoints.values()]})

    async def _show_metrics(self, _: Request) -> Response:
        return Response(prometheus_client.generate_latest(self._metrics.registry), headers={"content-type": _METRICS})

    async def _function(self, request: Request) -> Response:
        """Answers a query to a function, or describes the function."""
        name = request.path_params["name"]
        function = self._endpoints.get(name)
        if function is None:
            raise ProblemError(404, f"no function is called {name!r:.60}; there are {', '.join(self.names)}")
        if request.method != "POST":
            return JSONResponse({**function.to_dict(), "stats": function.replicas.stats().to_dict()})
        start, status = time.perf_counter(), 200
        try:
            return await self._call(request, function)
        except ClientDisconnect:
            status = 499
            return Response(status_code=status)  # which nobody reads
        except ProblemError as problem:
            status = problem.status
            raise
        except asyncio.CancelledError:
            if not self._draining:
                raise
            status = 503
            # A problem that closes the connection first reads the rest of the body, for which there is no time.
            raise ProblemError(status, "the server has stopped before the answer was there") from None
        except Exception as error:
            logs.logger().exception("App: a request to %s failed", request.url.path)
            problem = problem_of(error)
            status = problem.status
            raise problem from None
        finally:
            self._metrics.observe(name, status, time.perf_counter() - start)

    async def _call(self, request: Request, function: Endpoint) -> Response:
        if self._draining:
            raise ProblemError(503, "the server is stopping; try again, or another server", close=True)
        kind = media_type(request.headers.get("content-type", ""))
        wanted = negotiate(", ".join(request.headers.getlist("accept")), kind)
        args, kwargs = await self._arguments(request, function, kind)
        try:
            answer = function.replicas.enqueue(*args, **kwargs)
        except FailedPreconditionError as error:
            raise ProblemError(503, error.message.partition("\n")[0], kind=type(error).__name__) from None
        except Exception as error:
            raise problem_of(error) from error
        # After the other requests of this round of the event loop, so that it is known whether this one is alone.
        asyncio.get_running_loop().call_soon(function.replicas.help)
        result = await self._result(request, answer)
        size = sum(getattr(leaf, "nbytes", 0) for leaf in nest.flatten(result)[0]) if wanted == JSON else 0
        kind, content = await self._apart(size, lambda: encode(wanted, result))
        return Response(content, media_type=kind)

    async def _arguments(self, request: Request, function: Endpoint, kind: str) -> tuple[tuple[Any, ...], Any]:
        """Reads the arguments of a query; the bytes of all bodies that are in memory are limited, too."""
        budget = self._budgets[function.name]
        limit = budget.json_bytes if kind == JSON else budget.array_bytes
        parts: list[bytes] = []
        size = 0
        too_large = ProblemError(413, f"a body may have {limit} bytes", close=True)
        length = request.headers.get("content-length", "")
        if length.isascii() and length.isdigit() and int(length) > limit:
            raise too_large
        try:
            try:
                async with asyncio.timeout(self.body_seconds):
                    async for part in request.stream():
                        size += len(part)
                        self._room -= len(part)
                        if size > limit:
                            raise too_large
                        if self._room < 0:
                            text = "the bodies of too many requests are in memory; try again"
                            raise ProblemError(503, text, close=True)
                        parts.append(part)
            except TimeoutError:
                raise ProblemError(408, f"the body did not arrive within {self.body_seconds:g} s", close=True) from None
            body = b"".join(parts)
            reserved = budget.array_bytes if kind == NPZ else size  # what a small npz body can hold
            return await self._apart(reserved, lambda: function.arguments(decode(kind, body, budget)))
        finally:
            self._room += size

    async def _result(self, request: Request, answer: Answer) -> Any:
        """Waits for a result; cancels the query if the client leaves."""
        loop, turn = asyncio.get_running_loop(), asyncio.Event()

        def done(_: Any) -> None:  # called by the thread that has computed the answer
            if not loop.is_closed():
                loop.call_soon_threadsafe(turn.set)

        answer.add_done_callback(done)
        try:
            while not answer.done():
                timer = loop.call_later(_LOOK_SECONDS, turn.set)
                await turn.wait()
                timer.cancel()
                turn.clear()
                if not answer.done() and await request.is_disconnected():
                    raise ClientDisconnect
        finally:
            if not answer.done():
                answer.cancel()
        try:
            return answer.result()
        except BaseException as error:  # also SystemExit of the function
            problem = problem_of(error)
            if problem.status == 500:
                logs.logger().error("App: a query to %s failed", answer.name, exc_info=error)
            raise problem from None

    async def _apart(self, size: int, work: Callable[[], Any]) -> Any:
        """Runs work on ``size`` bytes here, or on another thread if they are many."""
        if size <= _INLINE_BYTES:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._coders, work)

    async def _refused(self, request: Request, error: HTTPException | ProblemError) -> Response:
        """Returns the answer for an error, or for what Starlette found no route for."""
        if isinstance(error, ProblemError):
            problem = error
        elif error.status_code == 405:
            allowed = ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
            text = f"{request.method} is not possible here; {allowed} are"
            problem = ProblemError(405, text, headers={"allow": allowed}, close=True)
        else:
            path = request.scope["path"]
            problem = ProblemError(404, f"there is no {path[:60]!r}; see /functions, /health, /ready and /metrics")
        if problem.close and problem.status != 408 and "expect" not in request.headers:
            with suppress(TimeoutError, ClientDisconnect, RuntimeError):  # the last, where the body was read
                async with asyncio.timeout(_DISCARD_SECONDS):
                    async for _ in request.stream():
                        pass
        return JSONResponse(problem.to_dict(), problem.status, problem.headers)

    def _warm_up(self) -> None:
        try:
            for each in self._endpoints.values():
                if self._draining:
                    return
                self._compiling = each.name
                each.warm_up()
            self._warm = True
        except BaseException as error:
            self._problem = error
            logs.logger().error("App: the signatures cannot be compiled", exc_info=error)
        finally:
            self._compiled.set()


def _guard(app: ASGIApp, token: bytes) -> ASGIApp:
    """Returns an application that only requests with the token reach."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scheme, _, sent = Request(scope).headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not hmac.compare_digest(sent.strip().encode("latin-1"), token):
                text = "the header Authorization: Bearer TOKEN is missing or has another token"
                raise ProblemError(401, text, headers={"www-authenticate": "Bearer"}, close=True)
        await app(scope, receive, send)

    return guarded


def _by_name(functions: Any, examples: Mapping[str, Any]) -> dict[str, Offer]:
    if isinstance(functions, str | os.PathLike | Saved):
        if examples:
            raise InvalidArgumentError("App: examples are for functions; saved ones are served as they were saved")
        return offers(cast("Any", functions))
    if isinstance(functions, Mapping):
        entries = dict(cast("Mapping[str, Served | Offer]", functions))
        if not entries:
            raise InvalidArgumentError("App: functions is empty")
    elif callable(functions):
        name = getattr(functions, "name", None) or getattr(functions, "__name__", None) or type(functions).__name__
        entries = {re.sub(r"[^A-Za-z0-9_.-]", "", str(name)): cast("Served", functions)}
    else:
        raise InvalidTypeError(
            f"App: expected a function, a layer, Replicas, a dict of them by name, or a folder, got {functions!r:.60}"
        )
    return {
        name: each if isinstance(each, Offer) else offer(name, each, examples.get(name))
        for name, each in entries.items()
    }
