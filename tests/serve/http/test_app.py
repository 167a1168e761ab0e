"""The application: paths, status codes, tokens, limits, metrics, and its end."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.serve import App, Replicas
from tests.serve.http.asking import ask, asked, npy
from tests.serve.test_replicas import Gate, host

_ONE: dict[str, Any] = {"devices": ["cpu:0"], "max_batch": 4, "max_delay_ms": 0}
NPY = "application/x-npy"


def root(x: Any) -> Any:
    if gx.any(x < 0):
        raise ValueError("a root of what is below zero")
    return {"root": gx.sqrt(x), "name": "root"}


def scaled(x: Any, scale: Any) -> Any:
    return x * scale


@pytest.fixture(scope="module")
def app() -> Iterator[App]:
    small, large = np.ones((1, 2), np.float32), np.ones((1, 3), np.float32)
    examples = {"root": (small,), "scaled": {"small": (small, small), "large": (large, large)}}
    with App({"root": gx.function(root), "scaled": scaled}, examples=examples, max_body_bytes=10_000, **_ONE) as found:
        found.wait_until_ready()
        yield found


@pytest.fixture
def gate() -> Iterator[Gate]:
    found = Gate()
    yield found
    found.let_go.set()


def test_a_query_is_answered_as_it_was_asked(app: App) -> None:
    found = ask(app, "POST", "/functions/root", {"args": [[[4, 9], [16, 25]]]})
    assert (found.status, found.headers["content-type"]) == (200, "application/json")
    assert found.json == {"result": {"root": [[2, 3], [4, 5]], "name": "root"}}
    x = np.asarray([[1, 2], [3, 4]], np.float64)
    found = ask(app, "POST", "/functions/scaled", {"kwargs": {"x": x.tolist(), "scale": x.tolist()}})
    assert found.json == {"result": (x * x).tolist()}
    body = io.BytesIO()
    np.savez(body, x, scale=x)
    found = ask(app, "POST", "/functions/scaled", body.getvalue(), {"content-type": "application/x-npz", "accept": NPY})
    assert found.headers["content-type"] == NPY
    np.testing.assert_array_equal(np.load(io.BytesIO(found.body)), x * x)


def test_signatures_are_found_by_shape_or_by_name(app: App) -> None:
    found = ask(app, "POST", "/functions/scaled", {"args": [[[1, 2, 3]], [[2, 2, 2]]]})
    assert found.json == {"result": [[2, 4, 6]]}
    one = {"args": [[[1, 2]], [[1, 2]]]}
    assert ask(app, "POST", "/functions/scaled", {**one, "signature": "small"}).status == 200
    found = ask(app, "POST", "/functions/scaled", {**one, "signature": "large"})
    assert (found.status, found.message) == (400, "scaled: x: expected float32[?,3], got an array of shape [1, 2]")
    found = ask(app, "POST", "/functions/scaled", {**one, "signature": "huge"})
    assert (found.status, found.message) == (404, "scaled has no signature 'huge'; it has: small, large")
    found = ask(app, "POST", "/functions/scaled", {"args": [[[1]], [[2]]]})
    assert found.message.startswith("scaled: small: x: expected float32[?,2], got an array of shape [1, 1]; large: x:")


def test_functions_describe_themselves(app: App) -> None:
    found = ask(app, "GET", "/functions").json["functions"]
    assert [each["name"] for each in found] == ["root", "scaled"]
    assert found[0]["signatures"] == [
        {"name": "default", "arguments": {"x": {"dtype": "float32", "shape": [None, 2]}}, "positional": 1}
    ]
    found = ask(app, "GET", "/functions/scaled")
    assert found.json["stats"]["function"] == "scaled"
    head = ask(app, "HEAD", "/functions/scaled")
    assert (head.status, head.headers["content-type"]) == (200, "application/json")
    assert ask(app, "GET", "/mounted/functions", root_path="/mounted").status == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "message"),
    [
        ("POST", "/functions/rot", {}, {}, 404, "no function is called 'rot'; there are root, scaled"),
        ("GET", "/function", {}, {}, 404, "there is no '/function'; see /functions, /health, /ready and /metrics"),
        ("DELETE", "/functions/root", {}, {}, 405, "DELETE is not possible here; GET, HEAD, POST are"),
        ("POST", "/health", {}, {}, 405, "POST is not possible here; GET, HEAD are"),
        ("POST", "/functions/root", b"{", {}, 400, "the body is not JSON"),
        ("POST", "/functions/root", {}, {}, 400, r"root: expected the arguments \(x: float32\[\?,2\]\), got none"),
        (
            "POST",
            "/functions/root",
            {"args": [[]]},
            {},
            400,
            r"root: x: expected float32\[\?,2\], got an array of shape",
        ),
        ("POST", "/functions/root", npy(np.ones((0, 2))), {"content-type": NPY}, 400, "at least one"),
        ("POST", "/functions/root", b"x", {"content-type": "text/csv"}, 415, "a body of text/csv cannot be read"),
        ("POST", "/functions/root", b"x", {"accept": "text/csv"}, 406, "not text/csv"),
        ("POST", "/functions/root", b" " * 10_001, {}, 413, "a body may have 10000 bytes"),
        ("POST", "/functions/root", (b" " * 6000, b" " * 6000), {}, 413, "a body may have 10000 bytes"),
        ("POST", "/functions/root", b"", {"content-length": "10001"}, 413, "a body may have 10000 bytes"),
        ("POST", "/functions/root", {"args": [[[-1, 2]]]}, {}, 422, "^a root of what is below zero$"),
    ],
)
def test_a_request_that_cannot_be_answered_says_why(
    app: App, method: str, path: str, body: Any, headers: dict[str, str], status: int, message: str
) -> None:
    found = ask(app, method, path, body, headers)
    assert found.status == status
    assert found.headers["content-type"] == "application/json"
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(found.message)
    assert ("allow" in found.headers) == (status == 405)


def test_errors_of_the_server_are_told_to_the_log_and_not_to_the_client(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: Any) -> Any:
        raise RuntimeError("the secret of /etc")

    with App({"broken": host(broken), "sum": lambda x: gx.sum(x)}, **_ONE) as app:
        found = ask(app, "POST", "/functions/broken", {"args": [[[1]]]})
        assert found.status == 500
        assert "secret" not in found.message
        assert "the secret of /etc" in caplog.text
        found = ask(app, "POST", "/functions/sum", {"args": [[[1]]]})
        assert found.status == 500
        assert found.message.startswith("Replicas: sum returned an array of shape () for 1 rows")


def test_only_those_with_the_token_ask() -> None:
    with App(lambda x: x, token="open-sesame", **_ONE) as app:
        (name,) = app.names
        for path in ("/functions", "/metrics", "/nothing"):
            for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic open-sesame"}):
                found = ask(app, "GET", path, headers=headers)
                assert (found.status, found.headers["www-authenticate"]) == (401, "Bearer")
        assert ask(app, "POST", f"/functions/{name}", {"args": [[[1]]]}).status == 401
        assert ask(app, "GET", "/functions", headers={"authorization": "bearer open-sesame"}).status == 200
        assert ask(app, "GET", "/health").status == 200
        assert ask(app, "GET", "/ready").status in (200, 503)
    for token in ("", "two words", "ä"):
        with pytest.raises(gx.errors.InvalidArgumentError, match="a token has"):
            App(lambda x: x, token=token)


def test_a_full_queue_a_late_answer_and_a_client_that_left(gate: Gate) -> None:
    async def main() -> None:
        first = asyncio.create_task(asked(app, "POST", "/functions/gate", {"args": [[[1]]]}))
        await asyncio.to_thread(gate.begun.acquire, timeout=60)
        left = asyncio.create_task(asked(app, "POST", "/functions/gate", {"args": [[[2]]]}))
        await asyncio.sleep(0)
        while not replicas.stats().waiting:
            await asyncio.sleep(0.01)
        found = await asked(app, "POST", "/functions/gate", {"args": [[[3]]]})
        assert (found.status, found.headers["retry-after"]) == (503, "1")
        assert "over max_waiting=1; try again later" in found.message
        left.cancel()
        with pytest.raises(asyncio.CancelledError):
            await left
        with gx.deadline(0.01):
            found = await asked(app, "POST", "/functions/gate", {"args": [[[3]]]})
        assert found.status == 504
        assert "was not answered within" in found.message
        gate.let_go.set()
        assert (await first).json == {"result": [[2]]}

    replicas = Replicas(host(gate), ["cpu:0"], max_batch=1, max_delay_ms=0, max_waiting=1)
    with replicas:
        with App({"gate": replicas}) as app:
            asyncio.run(main())
        stats = replicas.stats()
        assert (stats.answered, stats.refused, stats.cancelled, stats.expired) == (1, 1, 1, 1)
        assert replicas(np.ones((1, 1), np.float32)).item() == 2, "replicas of the user's own stay open"
    assert [batch.item() for batch in gate.batches][:1] == [1]


def test_a_body_that_does_not_come_is_not_waited_for(app: App) -> None:
    async def main() -> Any:
        sent: list[Any] = []

        async def never() -> Any:
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message)

        with App(lambda x: x, body_timeout=0.01, **_ONE) as slow:
            path = f"/functions/{slow.names[0]}"
            await slow({"type": "http", "method": "POST", "path": path, "headers": []}, never, send)
        return sent

    start, end = asyncio.run(main())
    assert start["status"] == 408
    assert (b"connection", b"close") in start["headers"]
    assert json.loads(end["body"])["error"]["message"] == "the body did not arrive within 0.01 s"


@pytest.mark.parametrize(
    ("body", "ends", "status"), [(b'{"args": [[[4, 9]]]}', True, 499), (b"{", False, 499), (b"{", True, 400)]
)
def test_a_connection_that_closes_as_it_is_used_is_a_client_that_left(
    body: bytes, ends: bool, status: int, gate: Gate, caplog: pytest.LogCaptureFixture
) -> None:
    """As uvloop tells it of one that has closed its side."""
    messages = [{"type": "http.request", "body": body, "more_body": not ends}]

    async def receive() -> Any:
        if messages:
            return messages.pop()
        return await send(None)

    async def send(_: Any) -> Any:
        raise RuntimeError("unable to perform operation on <TCPTransport closed=True>; the handler is closed")

    with App({"f": host(gate)}, **_ONE) as app:
        asyncio.run(app({"type": "http", "method": "POST", "path": "/functions/f", "headers": []}, receive, send))
        gate.let_go.set()
        counts = ask(app, "GET", "/metrics").body.decode()
        assert f'graphc_requests_total{{function="f",status="{status}"}} 1.0' in counts
    assert not caplog.records


def test_bodies_that_do_not_come_hold_no_more_memory_than_eight_of_the_largest(app: App) -> None:
    async def main() -> None:
        slow = [
            asyncio.ensure_future(asked(app, "POST", "/functions/root", (b" " * 1000,), ends=False)) for _ in range(80)
        ]
        await asyncio.sleep(0)
        found = await asked(app, "POST", "/functions/root", {"args": [[[4, 9]]]})
        assert (found.status, found.headers["retry-after"], found.headers["connection"]) == (503, "1", "close")
        assert found.message == "the bodies of too many requests are in memory; try again"
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        assert (await asked(app, "POST", "/functions/root", {"args": [[[4, 9]]]})).status == 200

    asyncio.run(main())


def test_metrics_are_those_of_prometheus(app: App) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    ask(app, "POST", "/functions/root", {"args": [[[4, 9]]]})
    ask(app, "POST", "/functions/root", b"{")
    found = ask(app, "GET", "/metrics")
    assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = {family.name: family.samples for family in text_string_to_metric_families(found.body.decode())}
    value = {
        (
            name,
            sample.labels.get("function"),
            sample.labels.get("status") or sample.labels.get("quantile"),
        ): sample.value
        for name, samples in families.items()
        for sample in samples
        if sample.name in (name, f"{name}_total", f"{name}_count")
    }
    assert value["graphc_ready", None, None] == 1
    assert value["graphc_requests", "root", "200"] >= 1
    assert value["graphc_requests", "root", "400"] >= 1
    assert value["graphc_request_seconds", "root", None] >= 2
    assert value["graphc_queries_answered", "root", None] >= 1
    assert 0 < value["graphc_query_seconds", "root", "0.5"] <= value["graphc_query_seconds", "root", "0.99"]
    assert families["graphc_replica_rows"][0].labels["device"] == "/device:CPU:0"


def test_a_client_that_is_silent_in_the_middle_of_its_body_is_answered_when_the_server_stops() -> None:
    app = App({"double": gx.function(lambda x: x * 2)}, examples={"double": (np.ones((1, 1)),)}, devices=["cpu:0"])
    app.wait_until_ready()

    async def stopped() -> Any:
        task = asyncio.ensure_future(asked(app, "POST", "/functions/double", b'{"args": [', ends=False))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not task.done()
        app.drain()
        task.cancel()  # as the server does when --stop seconds have passed
        for _ in range(20):
            await asyncio.sleep(0)
        assert task.done(), "it reads on"
        return task.result()

    found = asyncio.run(stopped())
    assert (found.status, found.message) == (503, "the server has stopped before the answer was there")
    assert found.headers["connection"] == "close"
    app.close()


def test_it_is_ready_when_everything_is_compiled_and_not_when_it_stops(gate: Gate) -> None:
    app = App({"slow": host(gate)}, examples={"slow": (np.ones((1, 1)),)}, devices=["cpu:0"], max_batch=1)
    assert gate.begun.acquire(timeout=60)
    found = ask(app, "GET", "/ready")
    assert (found.status, found.json) == (503, {"status": "compiling"})
    assert ask(app, "GET", "/health").status == 200
    gate.let_go.set()
    app.wait_until_ready()
    assert ask(app, "GET", "/ready").json == {"status": "ready"}
    app.drain()
    found = ask(app, "GET", "/ready")
    assert (found.status, found.json, found.headers["connection"]) == (503, {"status": "stopping"}, "close")
    found = ask(app, "POST", "/functions/slow", {"args": [[[1]]]})
    assert (found.status, found.headers["connection"]) == (503, "close")
    app.close()
    app.close()


def test_what_cannot_be_compiled_is_told() -> None:
    with App({"sum": lambda x: gx.sum(x)}, examples={"sum": (np.ones((1, 1)),)}, **_ONE) as app:
        with pytest.raises(gx.errors.FailedPreconditionError, match="returned an array of shape"):
            app.wait_until_ready()
        assert app.problem is not None
        assert ask(app, "GET", "/ready").json == {"status": "failed"}


def test_the_signature_of_a_compiled_function_is_that_of_its_queries() -> None:
    compiled = gx.function(scaled, input_signature=[gx.TensorSpec([None, 1]), gx.TensorSpec([None, 1], "int32")])
    with App(compiled, **_ONE) as app:
        assert app.names == ("scaled",)
        found = ask(app, "POST", "/functions/scaled", {"args": [[[1.5]], [[2]]]})
        assert found.json == {"result": [[3]]}
        found = ask(app, "POST", "/functions/scaled", {"args": [[[1.5]], [[2.5]]]})
        assert (found.status, found.message) == (400, "scaled: scale: expected numbers of int32, got float64")


def test_servers_tell_it_when_to_close_and_websockets_are_refused() -> None:
    app = App(lambda x: x, **_ONE)
    sent: list[Any] = []

    async def main() -> None:
        messages = iter(["startup", "shutdown"])

        async def receive() -> Any:
            return {"type": f"lifespan.{next(messages)}"}

        async def send(message: Any) -> None:
            sent.append(message["type"])

        await app({"type": "lifespan"}, receive, send)
        await app({"type": "websocket", "path": "/functions", "headers": []}, receive, send)

    asyncio.run(main())
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete", "websocket.close"]
    assert ask(app, "POST", f"/functions/{app.names[0]}", {"args": [[[1]]]}).status == 503


@pytest.mark.parametrize(
    ("functions", "options", "message"),
    [
        (3, {}, "App: expected a function, a layer, Replicas, a dict of them by name, or a folder, got 3"),
        ({}, {}, "App: functions is empty"),
        ({"a/b": scaled}, {}, "a name has letters, digits, '_', '-' and '.', got 'a/b'"),
        ({"a": scaled}, {"examples": {"b": ()}}, "examples of b, which are not served"),
        ("folder", {"examples": {"a": ()}}, "examples are for functions; saved ones are served as they were saved"),
        ({"a": scaled}, {"examples": {"a": 3}}, "the example of 'a' is a tuple of its arguments"),
        ({"a": scaled}, {"max_body_bytes": 0}, "max_body_bytes must be an int from 1"),
        ({"a": scaled}, {"body_timeout": 0}, "App: body_timeout"),
        ({"a": scaled, "b": 3}, {}, "Replicas: expected a function or a layer, got 3"),
    ],
)
def test_what_cannot_be_served_is_refused(functions: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(gx.errors.InvalidArgumentError, match=message):
        App(functions, **options)
