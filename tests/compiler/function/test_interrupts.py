"""Ctrl-C leaves the process usable."""

from __future__ import annotations

import _thread
import itertools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.core import held, in_flight, variable_lock
from graphc.compiler.ops import HostFunction, host_lock

LONG = 60.0


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """Python's own handler of Ctrl-C, there again at the end; the locks are free then."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)
    free: list[bool] = []

    def look() -> None:
        for lock in (variable_lock, host_lock):
            free.append(lock.acquire(timeout=LONG))
            lock.release()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert free == [True, True]


def press(_: Any = None) -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("how", [press, lambda _: _thread.interrupt_main()])
def test_from_within_a_host_call(how: Callable[[Any], None]) -> None:
    v = gx.Variable(1.0)
    presses = [True, False]

    def call(x: Any) -> Any:
        if presses.pop(0):
            how(x)
        return x

    @gx.function
    def step(x: gx.Tensor) -> gx.Tensor:
        v.assign_add(x)
        return gx.pyfunc(call, "float32", x) + v

    with pytest.raises(KeyboardInterrupt):
        step(gx.asarray(1.0)).wait()
    before = v.numpy()
    assert before in (1, 2)
    assert step(gx.asarray(1.0)).item() == before + 2


@pytest.mark.parametrize("taped", [False, True])
@pytest.mark.parametrize("late", [False, True])
def test_between_the_host_calls_of_a_program(taped: bool, late: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is code of JAX's, which would make another exception of it: it comes in the next call, or at the end."""
    v = gx.Variable(1.0)
    presses, calls = [True], list[Any]()
    run = HostFunction.__call__

    def pressing(self: Any, *values: Any) -> Any:
        if late:
            results = run(self, *values)
        if presses:
            presses.pop()
            press()
        return results if late else run(self, *values)

    monkeypatch.setattr(HostFunction, "__call__", pressing)

    @gx.function
    def step(x: gx.Tensor) -> gx.Tensor:
        v.assign_add(x)
        return gx.pyfunc(lambda x: calls.append(x) or x, "float32", x) + v

    with pytest.raises(KeyboardInterrupt), gx.GradientTape() if taped else nullcontext():
        step(gx.asarray(1.0))
    assert (v.numpy(), len(calls)) == (1, late)
    assert step(gx.asarray(1.0)).item() == 3


def test_a_handler_that_a_host_call_sets_stays() -> None:
    pressed: list[int] = []

    def call(x: Any) -> Any:
        signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
        return x

    gx.function(lambda x: gx.pyfunc(call, "float32", x))(gx.asarray(1.0)).wait()
    press()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert pressed == [signal.SIGINT]


@pytest.mark.parametrize("seconds", [None, LONG])
def test_while_another_thread_s_host_call_runs(seconds: float | None) -> None:
    """Waiting under a deadline ends at once; XLA's own cannot, so that there the call must go on."""
    begun, go_on = threading.Event(), threading.Event()
    v = gx.Variable(1.0)

    def call(x: Any) -> Any:
        begun.set()
        assert go_on.wait(LONG)
        return x

    @gx.function(timeout=seconds)
    def step(x: gx.Tensor) -> gx.Tensor:
        v.assign_add(x)
        return gx.pyfunc(call, "float32", x)

    def interrupt() -> None:
        assert begun.wait(LONG)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)  # wakes it, as Ctrl-C does
        if seconds is None:
            go_on.set()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        step(gx.asarray(1.0))
    go_on.set()
    thread.join()
    assert v.numpy() in ((1,) if seconds else (1, 2))
    before = v.numpy()
    step(gx.asarray(1.0))
    assert v.numpy() == before + 1


@pytest.mark.parametrize("calls_before", [0, 1, 3])
def test_when_it_comes_while_a_program_runs_that_took_its_variables(calls_before: int) -> None:
    """In the first call, in the long way of a call, and in the short one: the new value is there."""
    v = gx.Variable(0.0)

    @gx.function
    def step(n: gx.Tensor) -> gx.Tensor:
        x = v.value()
        while n > 0:
            x = x + 1.0
            n = n - 1
        v.assign(x)
        return n

    for _ in range(calls_before):
        step(gx.asarray(1))
    stopped = threading.Event()

    def interrupt() -> None:
        # Until one comes at such a time: the value is away while XLA runs the program in the main thread.
        while not stopped.is_set():
            if held(v) is None:
                _thread.interrupt_main()
                return

    thread = threading.Thread(target=interrupt)
    thread.start()
    done = 0
    try:
        for _ in itertools.repeat(None, 50):
            step(gx.asarray(300_000))
            done += 300_000
    except KeyboardInterrupt:
        pass
    finally:
        stopped.set()
        thread.join()
    found = v.numpy()
    assert found in (calls_before + done, calls_before + done + 300_000)  # it began just then, or ran to its end
    step(gx.asarray(1))
    assert v.numpy() == found + 1


def test_while_a_function_is_traced_and_compiled() -> None:
    v, presses = gx.Variable(1.0), [True]

    @gx.function(side_effects="ignore")
    def step(x: gx.Tensor) -> gx.Tensor:
        if presses.pop():
            press()
        v.assign_add(x)
        return v.value()

    with pytest.raises(KeyboardInterrupt):
        step(gx.asarray(1.0))
    presses.append(False)
    assert step(gx.asarray(1.0)).item() == 2


def test_in_a_data_parallel_step(monkeypatch: pytest.MonkeyPatch) -> None:
    parallel = gx.distribute.DataParallel(devices=["cpu:0", "cpu:1"])
    with parallel.scope():
        w = gx.Variable(1.0)

    def step(x: Any) -> Any:
        w.assign_add(gx.distribute.all_mean(gx.mean(x)))
        return w.value()

    launch, presses = in_flight.launch, [False, True]

    def launched(name: str, program: Any, limit: int) -> Any:
        results = launch(name, program, limit)
        if presses.pop():
            press()
        return results

    monkeypatch.setattr(in_flight, "launch", launched)
    with pytest.raises(KeyboardInterrupt):
        parallel.run(step, gx.ones(4))
    assert w.numpy() == 2
    parallel.run(step, gx.ones(4))
    assert w.numpy() == 3


@pytest.mark.parametrize("seconds", [None, LONG])
def test_steps_that_have_not_begun_do_not_begin_and_those_that_have_are_not_waited_for(seconds: float | None) -> None:
    begun, go_on = threading.Semaphore(0), threading.Event()
    calls: list[float] = []

    def call(x: Any) -> Any:
        calls.append(float(x))
        begun.release()
        assert go_on.wait(LONG)
        return x

    @gx.function
    def step(x: gx.Tensor) -> Any:
        return [gx.pyfunc(call, "float32", x + n, ordered=False) for n in range(4)]

    def interrupt() -> None:
        for _ in range(2):  # one thread of the pool, and one that waits for it
            assert begun.acquire(timeout=LONG)
        main = threading.main_thread().ident
        assert main is not None
        signal.pthread_kill(main, signal.SIGINT)

    step.trace(gx.asarray(1.0))
    thread = threading.Thread(target=interrupt)
    thread.start()
    with gx.config.scope(inter_op_threads=1):
        with gx.deadline(seconds), pytest.raises(KeyboardInterrupt):
            step(gx.asarray(1.0))
        thread.join(LONG)
        go_on.set()
        gx.submit(lambda: None, priority=-1).result(LONG)  # after all that was given before
        assert len(calls) == 2
        assert [x.item() for x in step(gx.asarray(1.0))] == [1, 2, 3, 4]
