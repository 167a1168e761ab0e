"""App: functions that answer queries over HTTP, as an ASGI application."""

from __future__ import annotations

import asyncio
import hmac
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, cast

from graphc.compiler.base import Signal, checked_seconds, logs, nest
from graphc.compiler.base.errors import (
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
)
from graphc.compiler.base.files import PathLike
from graphc.saving import Saved
from graphc.serve.http.bodies import JSON, NPZ, Budget, decode, encode, media_type, negotiate
from graphc.serve.http.endpoint import Endpoint, Offer, Served, endpoint, offer
from graphc.serve.http.metrics import KIND, Metrics
from graphc.serve.http.problems import ProblemError, problem_of
from graphc.serve.http.saved import offers
from graphc.serve.http.wire import GoneError, Receive, Request, Response, Room, Scope, Send, json_response
from graphc.serve.stats import ServingStats

__all__ = ["App"]

_FUNCTIONS = "/functions"
_INLINE_BYTES = 1 << 16
"""Size in bytes above which another thread decodes and encodes bodies, so that others are answered in the meantime."""

_BODIES = 8
"""The number of largest bodies that are in memory at the same time."""

_CODERS = 2
"""The number of threads that do so: each may need several times the memory of the largest body."""


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
      FailedPreconditionError: prometheus-client is missing (``pip install 'graphc[serve]'``).
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
        seconds = checked_seconds(body_timeout, "App: body_timeout")
        self._token = None if token is None else token.encode("ascii")
        self.body_seconds = seconds
        self._endpoints: dict[str, Endpoint] = {}
        self._budgets: dict[str, Budget] = {}
        self._room = Room(_BODIES * max_body_bytes)
        self._coders = ThreadPoolExecutor(_CODERS, "graphc.serve.coder")
        self._metrics = Metrics(self.stats, lambda: self.is_ready)
        self._draining = self._warm = False
        self._problem: BaseException | None = None
        self._compiled = Signal()
        self._compiling = ""
        try:
            for name, offered in named.items():
                self._endpoints[name] = found = endpoint(name, offered, options)
                self._budgets[name] = found.budget(max_body_bytes)
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
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._answer(Request(scope, receive), send)
        else:  # a WebSocket: closing it before accepting it refuses it
            await send({"type": "websocket.close", "code": 1000})

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            else:
                await asyncio.to_thread(self.close)
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _answer(self, request: Request, send: Send) -> None:
        start = time.perf_counter()
        function = self._function(request.path)
        try:
            response = await self._response(request)
        except GoneError:
            if function is not None:
                self._metrics.observe(function.name, 499, time.perf_counter() - start)
            return
        except ProblemError as problem:
            response = _refusal(problem)
            if problem.close:
                await request.discard()
        except asyncio.CancelledError:
            if not self._draining:
                raise
            response = _refusal(ProblemError(503, "the server has stopped before the answer was there", close=True))
        except Exception as error:
            logs.logger().exception("App: a request to %s failed", request.path)
            response = _refusal(problem_of(error))
        if self._draining:
            response.headers["connection"] = "close"
        if function is not None and request.method == "POST":
            self._metrics.observe(function.name, response.status, time.perf_counter() - start)
        await response.send(send, head=request.method == "HEAD")

    async def _response(self, request: Request) -> Response:
        path = request.path.rstrip("/") or "/"
        if path == "/health":
            return self._get(request, lambda: json_response(200, {"status": "running"}))
        if path == "/ready":
            return self._get(request, self._readiness)
        self._check_token(request)
        if path == "/metrics":
            return self._get(request, lambda: Response(200, self._metrics.text(), KIND))
        if path in ("/", _FUNCTIONS):
            return self._get(request, lambda: json_response(200, {"functions": self._descriptions()}))
        function = self._function(path)
        if function is None:
            raise ProblemError(404, self._unknown(path))
        if request.method == "POST":
            return await self._call(request, function)
        return self._get(request, lambda: json_response(200, _described(function)), "GET, HEAD, POST")

    async def _call(self, request: Request, function: Endpoint) -> Response:
        if self._draining:
            headers = {"retry-after": "1"}
            raise ProblemError(503, "the server is stopping; try again, or another server", headers=headers, close=True)
        kind = media_type(request.header("content-type"))
        wanted = negotiate(request.header("accept"), kind)
        budget = self._budgets[function.name]
        with self._room.body() as take:
            limit = budget.json_bytes if kind == JSON else budget.array_bytes
            body = await request.body(limit, self.body_seconds, take)
            size = budget.array_bytes if kind == NPZ else len(body)  # what a small npz body can hold
            given = await self._apart(size, lambda: function.arguments(decode(kind, body, budget)))
        try:
            answer = function.replicas.submit(*given[0], **given[1])
        except FailedPreconditionError as error:
            raise ProblemError(503, error.message.partition("\n")[0], kind=type(error).__name__) from None
        except Exception as error:
            raise problem_of(error) from error
        result = await self._result(request, answer)
        size = sum(getattr(leaf, "nbytes", 0) for leaf in nest.flatten(result)[0]) if wanted == JSON else 0
        found, content = await self._apart(size, lambda: encode(wanted, result))
        return Response(200, content, found)

    async def _result(self, request: Request, answer: Any) -> Any:
        """Waits for a result; cancels the query if the client leaves."""
        waiting = asyncio.wrap_future(answer)
        disconnected = asyncio.ensure_future(request.until_gone())
        try:
            await asyncio.wait((waiting, disconnected), return_when=asyncio.FIRST_COMPLETED)
        finally:
            disconnected.cancel()
            if not waiting.done():
                waiting.cancel()  # and with it the answer
        if waiting.cancelled():
            raise GoneError
        error = waiting.exception()
        if error is None:
            return waiting.result()
        problem = problem_of(error)
        if problem.status == 500:
            logs.logger().error("App: a query to %s failed", answer.name, exc_info=error)
        raise problem

    async def _apart(self, size: int, work: Callable[[], Any]) -> Any:
        """Runs work on ``size`` bytes here, or on another thread if they are many."""
        if size <= _INLINE_BYTES:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._coders, work)

    def _get(self, request: Request, make: Callable[[], Response], allowed: str = "GET, HEAD") -> Response:
        if request.method not in ("GET", "HEAD"):
            text = f"{request.method} is not possible here; {allowed} are"
            raise ProblemError(405, text, headers={"allow": allowed}, close=True)
        return make()

    def _readiness(self) -> Response:
        if self.is_ready:
            return json_response(200, {"status": "ready"})
        status = "stopping" if self._draining else "failed" if self._problem is not None else "compiling"
        return json_response(503, {"status": status})

    def _check_token(self, request: Request) -> None:
        if self._token is None:
            return
        scheme, _, sent = request.header("authorization").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(sent.strip().encode("latin-1"), self._token):
            raise ProblemError(
                401, "the header Authorization: Bearer TOKEN is missing or has another token",
                headers={"www-authenticate": "Bearer"}, close=True,
            )  # fmt: skip

    def _function(self, path: str) -> Endpoint | None:
        prefix, _, name = path.rstrip("/").rpartition("/")
        return self._endpoints.get(name) if prefix == _FUNCTIONS else None

    def _unknown(self, path: str) -> str:
        if path.startswith(f"{_FUNCTIONS}/"):
            return (
                f"no function is called {path.removeprefix(_FUNCTIONS + '/')!r:.60}; there are {', '.join(self.names)}"
            )
        return f"there is no {path[:60]!r}; see {_FUNCTIONS}, /health, /ready and /metrics"

    def _descriptions(self) -> list[dict[str, Any]]:
        return [each.to_dict() for each in self._endpoints.values()]

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


def _refusal(problem: ProblemError) -> Response:
    headers = {**problem.headers, **({"connection": "close"} if problem.close else {})}
    return json_response(problem.status, problem.to_dict(), headers)


def _described(function: Endpoint) -> dict[str, Any]:
    return {**function.to_dict(), "stats": function.replicas.stats().to_dict()}


def _by_name(functions: Any, examples: Mapping[str, Any]) -> dict[str, Offer]:
    if isinstance(functions, str | os.PathLike | Saved):
        if examples:
            raise InvalidArgumentError("App: examples are for functions; saved ones are served as they were saved")
        return offers(cast("Any", functions))
    if isinstance(functions, Mapping):
        given = dict(cast("Mapping[str, Served | Offer]", functions))
        if not given:
            raise InvalidArgumentError("App: functions is empty")
    elif callable(functions):
        name = getattr(functions, "name", None) or getattr(functions, "__name__", None) or type(functions).__name__
        given = {re.sub(r"[^A-Za-z0-9_.-]", "", str(name)): cast("Served", functions)}
    else:
        raise InvalidTypeError(
            f"App: expected a function, a layer, Replicas, a dict of them by name, or a folder, got {functions!r:.60}"
        )
    return {
        name: each if isinstance(each, Offer) else offer(name, each, examples.get(name)) for name, each in given.items()
    }
