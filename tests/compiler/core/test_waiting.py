"""Waiting for tensors: deadlines, cancellation, asyncio, the watchdog."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.ir import TensorType

LONG = 60.0
SHORT = 0.001


class SlowArray:
    """Stands for a ``jax.Array`` that is computed when the test says so."""

    weak_type = False
    shape = (2,)
    dtype = np.dtype("float32")

    def __init__(self) -> None:
        self.waited_for = threading.Semaphore(0)
        self._computed = threading.Event()
        self.error: Exception | None = None

    def compute(self) -> None:
        self._computed.set()

    def devices(self) -> set[Any]:
        return {jax.devices()[1]}

    def is_deleted(self) -> bool:
        return False

    def is_ready(self) -> bool:
        return self._computed.is_set()

    def block_until_ready(self) -> SlowArray:
        self.waited_for.release()
        assert self._computed.wait(LONG)
        if self.error is not None:
            raise self.error
        return self

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([1, 2], self.dtype)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowArray]:
    monkeypatch.setattr("graphc.compiler.core.waiting.type_of", lambda array: TensorType(array.shape, array.dtype))
    found = SlowArray()
    yield found
    found.compute()


READERS: dict[str, Callable[[gx.Tensor], Any]] = {
    "wait": lambda x: x.wait(),
    "numpy": lambda x: x.numpy(),
    "tolist": lambda x: x.tolist(),
    "item": lambda x: x.item(),
    "str": str,
    "repr": repr,
    "numpy's": np.asarray,
    "wait_all": lambda x: gx.wait_all({"x": [x]}),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())
def test_reading_keeps_to_the_deadline(slow: SlowArray, read: Callable[[gx.Tensor], Any]) -> None:
    x = gx.Tensor(slow)
    with gx.deadline(SHORT), pytest.raises(gx.errors.DeadlineExceededError) as caught:
        read(x)
    message = str(caught.value)
    what = "the tensor f32[2] on /device:CPU:1"
    assert message.startswith(f"the deadline of 0.001 s passed while waiting for {what}\n")
    assert "test_waiting.py" in message


def test_reading_keeps_to_a_token(slow: SlowArray) -> None:
    token, found = gx.CancellationToken(), list[BaseException]()

    def work() -> None:
        try:
            with token:
                gx.Tensor(slow).wait()
        except gx.errors.CancelledError as error:
            found.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert slow.waited_for.acquire(timeout=LONG)
    token.cancel("enough")
    thread.join(LONG)
    assert str(found[0]).startswith("cancelled (enough) while waiting for the tensor f32[2] on /device:CPU:1")


def test_what_is_computed_in_time_is_read(slow: SlowArray) -> None:
    def compute() -> None:
        assert slow.waited_for.acquire(timeout=LONG)
        slow.compute()

    threading.Thread(target=compute, daemon=True).start()
    with gx.deadline(LONG):
        assert gx.Tensor(slow).tolist() == [1, 2]


def test_what_is_ready_is_read_after_the_deadline(slow: SlowArray) -> None:
    slow.compute()
    with gx.deadline(SHORT) as found:
        assert found is not None
        while not found.expired:
            pass
        assert gx.Tensor(slow).tolist() == [1, 2]
        assert gx.Tensor(jnp.ones(2).block_until_ready()).tolist() == [1, 1]


def test_what_went_wrong_in_the_background_is_raised(slow: SlowArray) -> None:
    slow.error = ArithmeticError("bad")
    slow.compute()
    with gx.deadline(LONG), pytest.raises(ArithmeticError, match="bad"):
        gx.Tensor(slow).wait()


def test_the_thread_that_waits_ends_with_what_it_waits_for(slow: SlowArray) -> None:
    before = set(threading.enumerate())
    with gx.deadline(SHORT), pytest.raises(gx.errors.DeadlineExceededError):
        gx.Tensor(slow).wait()
    waiters = [thread for thread in set(threading.enumerate()) - before if thread.name.startswith("graphc.wait")]
    assert all(thread.daemon for thread in waiters)
    slow.compute()
    for thread in waiters:
        thread.join(LONG)
        assert not thread.is_alive()


def test_a_computation_of_jax_s_is_left_to_itself() -> None:
    @jax.jit
    def chain(x: Any) -> Any:
        return jax.lax.fori_loop(0, 60, lambda _, y: x @ y / 400, x)

    x = jnp.ones((400, 400))
    chain(x).block_until_ready()

    def given_up(wait: Callable[[gx.Tensor], Any]) -> tuple[gx.Tensor, str]:
        while True:  # until this thread, which may have to wait for its turn, is there before the result
            y = gx.Tensor(chain(x))
            try:
                with gx.deadline(SHORT):
                    wait(y)
            except gx.errors.DeadlineExceededError as error:
                return y, str(error)

    y, message = given_up(lambda y: y.wait())
    assert "f32[400,400] on /device:CPU:0" in message
    assert y.wait().numpy()[0, 0] == 1
    gx.wait_all()  # also for the thread that waited in vain, which a deadline would name first
    _, message = given_up(lambda _: gx.wait_all())
    assert "everything that was dispatched" in message
    gx.wait_all()


class TestAsyncio:
    def test_the_loop_goes_on(self, slow: SlowArray) -> None:
        events: list[str] = []

        async def wait() -> None:
            events.append("waits")
            await gx.Tensor(slow)
            events.append("has it")

        async def other() -> None:
            await asyncio.to_thread(slow.waited_for.acquire, timeout=LONG)
            events.append("works meanwhile")
            slow.compute()

        async def main() -> None:
            await asyncio.gather(wait(), other())

        asyncio.run(main())
        assert events == ["waits", "works meanwhile", "has it"]

    def test_a_deadline_holds_for_a_task(self, slow: SlowArray) -> None:
        async def main() -> None:
            with gx.deadline(SHORT):
                await gx.Tensor(slow)

        with pytest.raises(gx.errors.DeadlineExceededError, match="waiting for the tensor f32"):
            asyncio.run(main())

    def test_a_token_holds_for_a_task(self, slow: SlowArray) -> None:
        token = gx.CancellationToken()

        async def wait() -> None:
            with token:
                await gx.Tensor(slow)

        async def main() -> None:
            task = asyncio.create_task(wait())
            await asyncio.to_thread(slow.waited_for.acquire, timeout=LONG)
            token.cancel("later")
            await task

        with pytest.raises(gx.errors.CancelledError, match=r"cancelled \(later\) while waiting for the tensor"):
            asyncio.run(main())

    def test_many_at_once(self) -> None:
        async def main() -> list[gx.Tensor]:
            return [await (gx.ones(3) * n) for n in range(5)]

        assert [x.sum().item() for x in asyncio.run(main())] == [0, 3, 6, 9, 12]

    def test_several_tensors_for_what_takes_coroutines(self) -> None:
        async def main() -> tuple[list[float], list[float]]:
            x, y = gx.ones(3) * 2, gx.ones(3) * 3
            gathered = await asyncio.gather(x.wait_async(), y.wait_async())
            assert gathered[0] is x
            done = [await next_one for next_one in asyncio.as_completed([x.wait_async(), y.wait_async()])]
            return [t.sum().item() for t in gathered], sorted(t.sum().item() for t in done)

        assert asyncio.run(main()) == ([6, 9], [6, 9])

    def test_an_error_in_the_background_is_raised(self, slow: SlowArray) -> None:
        slow.error = ArithmeticError("bad")
        slow.compute()

        async def main() -> None:
            await gx.Tensor(slow)

        with pytest.raises(ArithmeticError, match="bad"):
            asyncio.run(main())

    def test_a_task_that_is_given_up_leaves_nothing_behind(self, slow: SlowArray) -> None:
        async def main() -> None:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(_wait(slow), SHORT)

        asyncio.run(main())  # the loop is closed before the array is there
        slow.compute()

    @pytest.mark.parametrize(("method", "use"), [("__await__", "await"), ("wait_async", r"wait_async\(\)")])
    def test_a_symbolic_tensor_is_refused(self, method: str, use: str) -> None:
        @gx.function(autograph=False)
        def step(x: gx.Tensor) -> gx.Tensor:
            getattr(x, method)()
            return x

        with pytest.raises(gx.errors.ConcretizationError, match=f"{use} needs a value"):
            step(gx.ones(2))


OUTSIDE = gx.ones(2)


def _waits_for_all(x: gx.Tensor) -> None:
    gx.wait_all()


def _waits_for_its_own(x: gx.Tensor) -> None:
    gx.wait_all(x, OUTSIDE)


def _waits_in_a_loop(x: gx.Tensor) -> None:
    for _ in range(100):
        x = x + 1
        gx.wait_all(x)


def _waits_in_a_branch(x: gx.Tensor) -> None:
    if gx.sum(x) > 0:
        gx.wait_all()


def _waits_for_one_from_outside(x: gx.Tensor) -> None:
    OUTSIDE.wait()


@pytest.mark.parametrize(
    ("program", "use"),
    [
        (_waits_for_all, "gx.wait_all"),
        (_waits_for_its_own, "gx.wait_all"),
        (_waits_in_a_loop, "gx.wait_all"),
        (_waits_in_a_branch, "gx.wait_all"),
        (_waits_for_one_from_outside, "wait()"),
    ],
)
def test_waiting_is_refused_in_a_compiled_function(program: Callable[[gx.Tensor], None], use: str) -> None:
    @gx.function
    def step(x: gx.Tensor) -> gx.Tensor:
        program(x)
        return x

    program(gx.ones(2))
    with pytest.raises(gx.errors.UnimplementedError) as caught:
        step(gx.ones(2))
    assert str(caught.value).startswith(f"{use} in a compiled function would wait once, when the function is traced")
    assert "gx.wait_all(" in str(caught.value) or "OUTSIDE.wait()" in str(caught.value)


async def _wait(slow: SlowArray) -> None:
    await gx.Tensor(slow)


def test_the_watchdog_reports_a_tensor_that_does_not_come(slow: SlowArray) -> None:
    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            texts.append(record.getMessage())
            slow.compute()

    texts: list[str] = []
    logger, handler = logging.getLogger("graphc.watchdog"), Handler()
    logger.addHandler(handler)
    try:
        with gx.config.scope(watchdog_seconds=SHORT):
            gx.Tensor(slow).wait()
    finally:
        logger.removeHandler(handler)
    assert "waits for the tensor f32[2] on /device:CPU:1\n" in texts[0]
    assert "gx.Tensor(slow).wait()" in texts[0]


def test_futures_are_waited_for() -> None:
    gate, done = threading.Event(), threading.Event()

    def work() -> int:
        assert gate.wait(LONG)
        done.set()
        return 3

    def fail() -> None:
        raise OSError("no such disk")

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        for submit in (gx.submit, pool.submit):
            gate.clear(), done.clear()
            future = submit(work)
            with pytest.raises(gx.errors.DeadlineExceededError) as caught, gx.deadline(0.01):
                gx.wait_all({"x": [future]}, gx.ones(2))
            assert "gx.wait_all(" in str(caught.value)
            assert not done.is_set()
            threading.Timer(0.01, gate.set).start()
            gx.wait_all([future])
            assert done.is_set()
            with pytest.raises(OSError, match="no such disk"):
                gx.wait_all(submit(fail))


def test_what_a_future_gives_is_waited_for(slow: SlowArray) -> None:
    future: concurrent.futures.Future[Any] = concurrent.futures.Future()
    future.set_result([gx.Tensor(slow)])
    with gx.deadline(SHORT), pytest.raises(gx.errors.DeadlineExceededError):
        gx.wait_all(future)


def test_a_token_has_tokens_as_parents_alone() -> None:
    with pytest.raises(gx.errors.InvalidTypeError, match=r"expected a token or None as parent, got 3\n") as caught:
        gx.CancellationToken(3)  # pyright: ignore[reportArgumentType]
    assert "gx.CancellationToken(3)" in str(caught.value)
