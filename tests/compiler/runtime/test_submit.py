"""Calls that run beside the program: futures, cancelling, retries, priorities."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base import interruption, pause
from graphc.compiler.runtime import inter_op_pool

LONG = 60.0
SHORT = 0.001


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    with gx.config.scope(inter_op_threads=2):
        yield


class Busy:
    """Keeps threads of the pool busy."""

    def __init__(self, threads: int) -> None:
        together, self._end = threading.Barrier(threads + 1), threading.Event()

        def work() -> None:
            together.wait(LONG)
            assert self._end.wait(LONG)

        self.futures = [gx.submit(work, priority=10) for _ in range(threads)]
        together.wait(LONG)

    def __enter__(self) -> Busy:
        return self

    def __exit__(self, *exception: object) -> None:
        self._end.set()
        for future in self.futures:
            future.result(LONG)


def test_results_are_computed_when_the_future_is_done() -> None:
    @gx.function
    def step(x: gx.Tensor) -> Any:
        return {"y": x @ x, "z": [x.sum()]}

    future = gx.submit(step, gx.ones((300, 300)))
    found = future.result()
    assert found["y"].raw.is_ready()
    assert found["z"][0].item() == 90_000
    assert future.done()
    assert future.exception() is None


def test_exceptions_are_those_of_the_call() -> None:
    v = gx.Variable(1.0)

    @gx.function
    def step(x: gx.Tensor) -> gx.Tensor:
        v.assign_add(x)
        assert x > 0, "positive"
        return x

    future = gx.submit(step, gx.asarray(-1.0))
    with pytest.raises(AssertionError, match="positive"):
        future.result()
    assert isinstance(future.exception(), AssertionError)
    assert v.numpy() == 1


def test_arguments_and_the_device_go_with_the_call() -> None:
    def call(a: int, *, b: int) -> tuple[int, str]:
        return a + b, gx.ones(2).device

    with gx.device("cpu:3"):
        future = gx.submit(call, 1, b=2)
    assert future.result() == (3, "/device:CPU:3")


def test_it_is_a_future_of_python_s() -> None:
    futures = [gx.submit(pow, 2, n) for n in range(4)]
    done, left = concurrent.futures.wait(futures, LONG)
    assert not left
    assert sorted(future.result() for future in done) == [1, 2, 4, 8]
    calls: list[Any] = []
    futures[0].add_done_callback(calls.append)
    assert calls == [futures[0]]


def test_no_more_calls_at_once_than_allowed() -> None:
    with Busy(2):
        future = gx.submit(lambda: 1)
        assert not future.done()
        assert not future.running()
        assert len(inter_op_pool.threads) <= 2
    assert future.result(LONG) == 1


def test_higher_priorities_run_first() -> None:
    order: list[str] = []
    with gx.config.scope(inter_op_threads=1), Busy(1):
        futures = [gx.submit(order.append, name, priority=priority)
                   for name, priority in [("low", -1), ("first", 0), ("second", 0), ("high", 2.5)]]  # fmt: skip
    concurrent.futures.wait(futures, LONG)
    assert order == ["high", "first", "second", "low"]


@pytest.mark.parametrize("threads", [1, 2])
def test_calls_that_wait_for_calls_do_not_hang(threads: int) -> None:
    def total(n: int) -> int:
        parts = [gx.submit(total, n - 1) for _ in range(2)] if n else []
        return 1 + sum(part.result() for part in parts)

    with gx.config.scope(inter_op_threads=threads):
        assert gx.submit(total, 5).result(LONG) == 63


def test_calls_that_await_calls_do_not_hang() -> None:
    async def both() -> list[int]:
        return await asyncio.gather(*(gx.submit(lambda n=n: n) for n in range(2)))

    with gx.config.scope(inter_op_threads=1):
        assert gx.submit(lambda: asyncio.run(both())).result(LONG) == [0, 1]


class TestCancel:
    def test_a_call_that_has_not_begun_does_not_run(self) -> None:
        calls: list[int] = []
        with Busy(2):
            future = gx.submit(calls.append, 1)
            assert future.cancel()
            assert future.cancelled()
            assert future.cancel()
            for ask in (future.result, future.exception):
                with pytest.raises(
                    gx.errors.CancelledError, match=r"the call of 'append', submitted at test_submit.py:"
                ):
                    ask()
        assert concurrent.futures.wait([future], LONG).done == {future}
        assert calls == []

    def test_awaited_it_raises_and_the_task_is_not_cancelled(self) -> None:
        async def main(future: gx.Future[Any]) -> str:
            try:
                await future
            except gx.errors.CancelledError as error:
                return str(error)
            return ""

        with Busy(2):
            future = gx.submit(lambda: 1)
            future.cancel()
            assert "the call of '<lambda>', submitted at" in asyncio.run(main(future))

    def test_cancelled_while_awaited(self) -> None:
        async def main() -> None:
            with Busy(2):
                future = gx.submit(lambda: 1)
                task = asyncio.ensure_future(_await(future))
                await asyncio.sleep(0)
                assert future.cancel()
                with pytest.raises(gx.errors.CancelledError, match="was cancelled before it began"):
                    await task

        asyncio.run(main())

    def test_a_call_that_runs_is_asked_to_stop(self) -> None:
        begun = threading.Event()

        def call() -> None:
            begun.set()
            pause(LONG, "the end of days")

        future = gx.submit(call)
        assert begun.wait(LONG)
        assert not future.cancel()
        message = r"cancelled \(the future was cancelled\) while waiting for the end of days"
        with pytest.raises(gx.errors.CancelledError, match=message):
            future.result(LONG)

    def test_one_that_is_done_stays_so(self) -> None:
        future = gx.submit(lambda: 1)
        assert future.result(LONG) == 1
        assert not future.cancel()
        assert future.result() == 1

    def test_a_token_around_holds_for_the_call(self) -> None:
        token = gx.CancellationToken()
        with Busy(2):
            with token:
                future = gx.submit(lambda: 1)
            token.cancel("all of it")
        with pytest.raises(gx.errors.CancelledError, match=r"cancelled \(all of it\) while waiting for the call of"):
            future.result(LONG)


class TestTimeout:
    def test_counts_from_the_call_of_submit(self) -> None:
        with Busy(2):
            future = gx.submit(lambda: 1, timeout=SHORT)
            current = threading.Event()
            current.wait(2 * SHORT)
        with pytest.raises(gx.errors.DeadlineExceededError, match=r"0\.001 s passed while waiting for the call of"):
            future.result(LONG)

    def test_holds_in_the_call(self) -> None:
        def call() -> float:
            current = interruption()
            assert current is not None
            assert current.deadline is not None
            return current.deadline.seconds

        assert gx.submit(call, timeout=LONG).result() == LONG
        assert interruption() is None

    def test_of_result_leaves_the_call_alone(self) -> None:
        with Busy(2):
            future = gx.submit(lambda: 1)
            for seconds in (0, SHORT):
                with pytest.raises(gx.errors.DeadlineExceededError, match=f"was not done within {seconds:g} s"):
                    future.result(seconds)
            with (
                gx.deadline(SHORT),
                pytest.raises(TimeoutError, match="passed while waiting for the call of '<lambda>'"),
            ):
                future.result()
        assert future.result(LONG) == 1

    def test_a_deadline_holds_for_who_awaits(self) -> None:
        async def main(future: gx.Future[Any]) -> None:
            with gx.deadline(SHORT):
                await future

        with Busy(2):
            future = gx.submit(lambda: 1)
            with pytest.raises(gx.errors.DeadlineExceededError, match="waiting for the call of '<lambda>'"):
                asyncio.run(main(future))
        assert future.result(LONG) == 1


class TestRetry:
    @staticmethod
    def failing(times: int, error: Exception) -> tuple[Callable[[], int], list[int]]:
        attempts: list[int] = []

        def call() -> int:
            attempts.append(len(attempts) + 1)
            if len(attempts) <= times:
                raise error
            return attempts[-1]

        return call, attempts

    def test_until_it_works(self) -> None:
        call, attempts = self.failing(2, OSError("net"))
        policy = gx.RetryPolicy(3, on=(OSError,), backoff=SHORT)
        assert gx.submit(call, retry=policy).result(LONG) == 3
        assert attempts == [1, 2, 3]

    def test_no_more_often_than_asked_for(self) -> None:
        call, attempts = self.failing(5, OSError("net"))
        with pytest.raises(OSError, match="net") as caught:
            gx.submit(call, retry=gx.RetryPolicy(2)).result(LONG)
        assert attempts == [1, 2]
        assert "in attempt 2 of the call of 'call'" in caught.value.__notes__[0]

    def test_only_after_those_exceptions(self) -> None:
        call, attempts = self.failing(5, KeyError("k"))
        with pytest.raises(KeyError):
            gx.submit(call, retry=gx.RetryPolicy(3, on=(OSError,))).result(LONG)
        assert attempts == [1]

    def test_ends_with_the_deadline(self) -> None:
        call, attempts = self.failing(5, OSError("net"))
        policy = gx.RetryPolicy(3, backoff=LONG)
        for seconds in (0.3, 3.0, 30.0):  # on a busy machine it takes longer to come to the first attempt
            with pytest.raises(gx.errors.DeadlineExceededError) as caught:
                gx.submit(call, retry=policy, timeout=seconds).result(LONG)
            if attempts:
                break
        assert "waiting for the next attempt of the call of 'call'" in str(caught.value)
        assert attempts == [1]

    def test_waits_longer_each_time(self) -> None:
        policy = gx.RetryPolicy(5, backoff=0.5, factor=3)
        assert [policy.delay(attempt) for attempt in (1, 2, 3)] == [0.5, 1.5, 4.5]
        assert gx.RetryPolicy(5).delay(3) == 0

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"max_attempts": 0}, "max_attempts must be a positive int, got 0"),
            ({"max_attempts": True}, "max_attempts must be a positive int, got True"),
            ({"max_attempts": 2, "on": "OSError"}, "on must be exception classes, got 'OSError'"),
            ({"max_attempts": 2, "on": (BaseException,)}, "on must be exception classes"),
            ({"max_attempts": 2, "backoff": 0}, "backoff: expected a positive, finite number of seconds or None"),
            ({"max_attempts": 2, "factor": 0.5}, "factor must be a number of at least 1, got 0.5"),
            ({"max_attempts": 2, "factor": "2"}, "factor must be a number of at least 1, got '2'"),
        ],
    )
    def test_bad_policies(self, options: Any, message: str) -> None:
        with pytest.raises(gx.errors.InvalidArgumentError, match=f"gx.RetryPolicy: {message}") as caught:
            gx.RetryPolicy(**options)
        assert str(caught.value).endswith("gx.RetryPolicy(**options)")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"timeout": 0},
            ValueError,
            r"gx\.submit: timeout: expected a positive, finite number of seconds or None, got 0",
        ),
        ({"timeout": "1"}, TypeError, r"gx\.submit: timeout: expected a number of seconds or None, got '1'"),
        ({"priority": "high"}, ValueError, "priority must be a number, got 'high'"),
        ({"priority": float("nan")}, ValueError, "priority must be a number, got nan"),
        ({"retry": 3}, TypeError, r"retry must be a gx\.RetryPolicy or None, got 3"),
    ],
)
def test_bad_options(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        gx.submit(lambda: 1, **options)
    assert isinstance(caught.value, gx.errors.GraphcError)


def test_a_bad_function_and_a_bad_wait() -> None:
    with pytest.raises(TypeError, match=r"gx\.submit: expected a function, got 3"):
        gx.submit(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="expected a nonnegative timeout or None, got -1"):
        gx.submit(lambda: 1).result(-1)


def test_it_is_refused_in_a_compiled_function() -> None:
    @gx.function
    def step(x: gx.Tensor) -> gx.Tensor:
        gx.submit(print, 1)
        return x

    with pytest.raises(gx.errors.UnimplementedError, match=r"gx\.submit in a compiled function"):
        step(gx.ones(2))


def test_await() -> None:
    async def main() -> list[float]:
        futures = [gx.submit(lambda n=n: gx.sum(gx.ones(n))) for n in range(4)]
        return [x.item() for x in await asyncio.gather(*futures)]

    assert asyncio.run(main()) == [0, 1, 2, 3]


def test_steps_of_several_threads_take_turns_with_variables() -> None:
    v = gx.Variable(np.float32(0))

    @gx.function
    def step() -> None:
        v.assign_add(1.0)

    futures = [gx.submit(lambda: [step() for _ in range(25)] and None) for _ in range(4)]
    for future in futures:
        future.result(LONG)
    assert v.numpy() == 100


async def _await(future: Any) -> Any:
    return await future
