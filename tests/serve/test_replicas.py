"""Replicas on simulated devices: what queries get, from threads and asyncio, and what is refused."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx
from graphc.serve import Replicas


def host(f: Any) -> Any:
    """A function of rows that calls Python: tests wait in it, and fail in it."""

    def call(x: Any) -> Any:
        return gx.call_jax(lambda x: jax.pure_callback(f, jax.ShapeDtypeStruct(x.shape, x.dtype), x), x)

    return call


class Gate:
    """A function that waits, and says what it was given."""

    def __init__(self) -> None:
        self.begun, self.let_go = threading.Semaphore(0), threading.Event()
        self.batches: list[Any] = []

    def __call__(self, x: Any) -> Any:
        self.batches.append(np.array(x))
        self.begun.release()
        assert self.let_go.wait(60)
        return np.asarray(x) + 1


@pytest.fixture
def gate() -> Iterator[Gate]:
    found = Gate()
    yield found
    found.let_go.set()


def rows(*values: float) -> Any:
    return np.asarray(values, np.float32)[:, None]


def test_many_threads_get_each_their_own_rows_from_several_devices() -> None:
    model = gx.layers.Sequential([gx.layers.Dense(8, "tanh"), gx.layers.Dense(2)])
    x = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
    expected = model(x).numpy()
    names, before = ["cpu:1", "cpu:2"], threading.enumerate()
    together = threading.Barrier(8)
    wrong: list[Any] = []
    with Replicas(model, names, max_batch=16, max_delay_ms=1) as replicas:
        replicas.warm_up(x)

        def ask(worker: int) -> None:
            rng = np.random.default_rng(worker)
            together.wait()
            for _ in range(30):
                start = int(rng.integers(0, 150))
                stop = start + int(rng.integers(1, 40))  # also more than a batch holds
                found = replicas(x[start:stop])
                if not np.allclose(found, expected[start:stop], atol=1e-5):
                    wrong.append((start, stop))

        threads = [threading.Thread(target=ask, args=(worker,)) for worker in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stats = replicas.stats()
    assert not wrong
    assert stats.answered == 240
    assert [replica.device for replica in stats.replicas] == ["/device:CPU:1", "/device:CPU:2"]
    assert all(replica.batches and not replica.failures for replica in stats.replicas)
    assert stats.latencies is not None
    assert stats.latencies[0] <= stats.latencies[2]
    assert stats.to_dict()["rows"] == stats.rows == sum(replica.rows for replica in stats.replicas)
    assert "240 answered" in str(stats)
    left = {*threading.enumerate()} - {*before}
    assert not [thread for thread in left if thread.name.startswith("graphc.serve")]


def test_arguments_and_results_may_be_nested_and_asyncio_may_wait() -> None:
    @gx.function
    def split(pair: Any, *, scale: Any) -> Any:
        return {"sum": (pair["a"] + pair["b"]) * scale, "parts": [pair["a"], "constant"]}

    async def main(replicas: Replicas) -> list[Any]:
        queries = [{"a": rows(n, n + 1), "b": gx.asarray(rows(1, 2))} for n in range(5)]
        return await asyncio.gather(*[ask(replicas, query) for query in queries])

    async def ask(replicas: Replicas, query: Any) -> Any:
        return await replicas.submit(query, scale=rows(2, 2))

    with Replicas(split, ["cpu:0"], max_batch=4) as replicas:
        found = asyncio.run(main(replicas))
    for n, result in enumerate(found):
        np.testing.assert_array_equal(result["sum"], rows(2 * n + 2, 2 * n + 6))
        np.testing.assert_array_equal(result["parts"][0], rows(n, n + 1))
        assert result["parts"][1] == "constant"


def test_new_values_of_variables_are_taken_when_asked() -> None:
    w = gx.Variable(2.0)
    with Replicas(lambda x: x * w, ["cpu:1"], max_batch=1, max_delay_ms=0) as replicas:
        assert replicas(rows(3)).tolist() == [[6]]
        w.assign(5.0)
        assert replicas(rows(3)).tolist() == [[6]]
        replicas.refresh()
        assert replicas(rows(3)).tolist() == [[15]]


def test_what_waits_together_is_computed_together_and_filled_up(gate: Gate) -> None:
    with Replicas(host(gate), ["cpu:0"], max_batch=4, max_delay_ms=0) as replicas:
        first = replicas.submit(rows(1))
        assert gate.begun.acquire(timeout=60)
        others = [replicas.submit(rows(value)) for value in (2, 3, 4)]
        gate.let_go.set()
        assert [answer.result().tolist() for answer in (first, *others)] == [[[2]], [[3]], [[4]], [[5]]]
        stats = replicas.stats()
    assert [batch.ravel().tolist() for batch in gate.batches] == [[1], [2, 3, 4, 4], [2, 2, 2, 2]]  # the last: a check
    assert (stats.batches, stats.padded) == (2, 1)


@pytest.mark.timeout(120)
def test_all_devices_compute_at_once_what_one_query_or_several_ask_for() -> None:
    replicas = Replicas(lambda x: x + 1, [f"cpu:{n}" for n in range(4)], max_batch=2, max_delay_ms=0)
    replicas.warm_up(rows(1, 2))
    together, run = threading.Barrier(4), replicas._copies.run

    def all_at_once(*args: Any) -> Any:
        together.wait(30)
        return run(*args)

    replicas._copies.run = all_at_once
    with replicas:
        assert replicas(rows(*range(16))).ravel().tolist() == [value + 1 for value in range(16)]
        answers = [replicas.submit(rows(value, value)) for value in range(8)]
        assert [answer.result()[0].item() for answer in answers] == [value + 1 for value in range(8)]


def test_a_query_that_fails_fails_alone_and_with_its_own_exception(gate: Gate) -> None:
    wait = host(gate)

    @gx.function
    def root(x: Any) -> Any:
        if gx.any(x < 0):
            raise ValueError("a root of what is below zero")
        return gx.sqrt(wait(x))

    with Replicas(root, ["cpu:0", "cpu:1"], max_batch=4, max_delay_ms=20) as replicas:
        answers = [replicas.submit(rows(value)) for value in (3, -1, 8, 15)]  # a full batch
        gate.let_go.set()
        assert [answers[place].result().item() for place in (0, 2, 3)] == [2, 3, 4]
        with pytest.raises(ValueError, match=r"^a root of what is below zero"):
            answers[1].result()
        stats = replicas.stats()
    assert (stats.answered, stats.failed) == (3, 1)
    assert not any(replica.left_out for replica in stats.replicas)


@pytest.mark.timeout(60)
def test_a_function_that_exits_fails_its_query_and_the_next_is_answered() -> None:
    exits = [True]

    def leave(x: Any) -> Any:
        if exits:
            sys.exit("no model")
        return x + 1

    with Replicas(leave, ["cpu:0"], max_batch=2, max_delay_ms=0, timeout=20) as replicas:
        with pytest.raises(SystemExit, match="no model"):
            replicas(rows(1))
        exits.clear()
        assert replicas(rows(1)).item() == 2


def test_a_device_that_fails_is_left_out_and_that_is_told(caplog: pytest.LogCaptureFixture) -> None:
    replicas = Replicas(lambda x: x + 1, ["cpu:0", "cpu:1"], max_batch=2, max_delay_ms=0)
    launch = replicas._copies._launch

    def broken(place: int, *rest: Any) -> Any:
        if place == 0:
            raise RuntimeError("the device is lost")
        return launch(place, *rest)

    replicas._copies._launch = broken
    with replicas, caplog.at_level(logging.WARNING, "graphc"):
        for value in range(8):
            assert replicas(rows(value)).item() == value + 1
        first, second = replicas.stats().replicas
    assert first.left_out
    assert first.failures == 2
    assert not second.left_out
    assert "/device:CPU:0 is left out" in caplog.text
    assert "left out" in str(replicas.stats())


def test_a_deadline_names_the_request_and_others_go_on(gate: Gate) -> None:
    with Replicas(host(gate), ["cpu:0"], max_batch=1, max_delay_ms=0, timeout=60) as replicas:
        first = replicas.submit(rows(1))
        assert gate.begun.acquire(timeout=60)
        with gx.deadline(0.02):
            late = replicas.submit(rows(2))
        taken_back = replicas.submit(rows(3))
        assert taken_back.cancel()
        assert taken_back.cancelled()
        with pytest.raises(
            gx.errors.DeadlineExceededError,
            match=r"a request of 1 row to 'call', submitted at test_replicas.py:\d+ was not answered within 0\.0",
        ):
            late.result(60)
        gate.let_go.set()
        assert first.result().item() == 2
        assert not first.cancel()
        with pytest.raises(gx.errors.CancelledError):
            taken_back.result()
        stats = replicas.stats()
    assert (stats.answered, stats.expired, stats.cancelled) == (1, 1, 1)
    assert [batch.item() for batch in gate.batches] == [1]


def test_a_full_queue_refuses_and_closing_answers_what_was_accepted(gate: Gate) -> None:
    replicas = Replicas(host(gate), ["cpu:0"], max_batch=2, max_delay_ms=0, max_waiting=3)
    accepted = [replicas.submit(rows(1))]
    assert gate.begun.acquire(timeout=60)
    accepted += [replicas.submit(rows(2, 3, 4))]
    with pytest.raises(
        gx.errors.ResourceExhaustedError, match=r"3 rows already wait .* over max_waiting=3; try again later"
    ):
        replicas.submit(rows(5))
    waited = pytest.raises(gx.errors.DeadlineExceededError, match="2 requests to 'call', computed on /device:CPU:0")
    with waited, gx.deadline(0.01):
        replicas.close()
    gate.let_go.set()
    replicas.close()
    replicas.close()
    assert [answer.result(0).ravel().tolist() for answer in accepted] == [[2], [3, 4, 5]]
    with pytest.raises(gx.errors.FailedPreconditionError, match="closed"):
        replicas.submit(rows(1))
    assert replicas.stats().refused == 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x - gx.mean(x, axis=0), "depend on the other rows.*a mean over axis 0"),
        (lambda x: gx.sum(x), r"returned an array of shape \(\) for 2 rows"),
        (lambda x: x + gx.random.normal(x.shape), "assigns Variable .* random numbers as"),
        (lambda x: x @ gx.ones((3, 3)), "matmul"),
    ],
    ids=["mixes", "reduces", "assigns", "wrong"],
)
def test_what_cannot_be_served_is_refused_to_those_who_ask(function: Any, message: str) -> None:
    with Replicas(function, ["cpu:0"], max_batch=2) as replicas, pytest.raises(gx.errors.GraphcError, match=message):
        replicas(rows(1, 2))


def test_what_cannot_be_a_query_is_refused() -> None:
    def refused(kind: type[Exception], message: str, *args: Any) -> None:
        with pytest.raises(kind, match=message):
            replicas.submit(*args)

    with Replicas(lambda x, y: x, ["cpu:0"]) as replicas:
        invalid, kind = gx.errors.InvalidArgumentError, gx.errors.InvalidTypeError
        refused(kind, "expected arrays with a row for each query, got float 1.0", [1.0], rows(1))
        refused(invalid, r"same number of rows.*\(1, 1\), \(2, 1\)", rows(1), rows(1, 2))
        refused(invalid, r"shapes are \(\).*x\[None\]", np.float32(1))
        refused(invalid, "at least one", rows(), rows())

        @gx.function
        def inner(x: Any) -> Any:
            return replicas.submit(x, x)

        with pytest.raises(gx.errors.FailedPreconditionError, match="call the function itself there"):
            inner(gx.ones((1, 1)))
        assert repr(replicas) == "<replicas of <lambda> on /device:CPU:0>"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_batch": 0}, "max_batch must be an int from 1, got 0"),
        ({"max_delay_ms": -1}, "max_delay_ms must be a number from 0"),
        ({"timeout": 0}, "Replicas: timeout: expected a positive"),
        ({"max_waiting": True}, "max_waiting must be an int"),
        ({"sizes": [1, 4], "max_batch": 8}, "the largest of sizes must be max_batch=8"),
        ({"devices": []}, "devices is empty"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(gx.errors.InvalidArgumentError, match=message):
        Replicas(lambda x: x, **options)


def test_only_functions_are_served() -> None:
    with pytest.raises(gx.errors.InvalidTypeError, match="expected a function or a layer, got 3"):
        Replicas(3)  # pyright: ignore[reportArgumentType]
    assert gx.distribute.Replicas is Replicas


def test_who_asks_alone_computes_what_was_quick_and_threads_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphc.serve.copies._QUICK_SECONDS", float("inf"))
    with Replicas(lambda x: x + 1, ["cpu:0"], max_batch=2) as replicas:
        compute, by = replicas._answer, list[threading.Thread]()

        def watched(batch: Any) -> None:
            by.append(threading.current_thread())
            compute(batch)

        replicas._answer = watched

        def ask(*values: float) -> bool:
            """Whether this thread computes the answers."""
            by.clear()
            answers = [replicas.enqueue(rows(value)) for value in values]
            replicas.help()
            assert [answer.result().item() for answer in answers] == [value + 1 for value in values]
            return {*by} == {threading.current_thread()}

        here = [ask(value) for value in range(20)]
        assert here == [False] * 16 + [True] * 4, "not before some batches of this size were"
        assert not any(ask(1, 2) for _ in range(20)), "what several ask for is a thread's"
        monkeypatch.setattr("graphc.serve.copies._QUICK_SECONDS", 0.0)
        assert not ask(1), "what takes longer is a thread's"


def test_what_may_hang_is_always_a_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphc.serve.copies._QUICK_SECONDS", float("inf"))

    def halved(x: Any) -> Any:
        return gx.while_loop(lambda y: gx.max(y) > 1.0, lambda y: y / 2, x)

    with Replicas(halved, ["cpu:0"], max_batch=1) as replicas:
        for _ in range(20):
            replicas(rows(3.0))
        programs = list(replicas._copies._programs.values())
        assert [program.is_quick(0) for program in programs] == [False]
