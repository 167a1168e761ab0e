"""Compiled calls under deadlines and tokens: ``timeout=``, ``gx.deadline``, ``gx.CancellationToken``."""

from __future__ import annotations

import contextlib
import contextvars
import logging
import re
import threading
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, cast

import jax
import jax.numpy as jnp
import pytest

import graphc as gx
from graphc.compiler.base import blocking, deadlines, interruption, waiting
from graphc.compiler.runtime import inter_op_pool, program

LONG = 60.0
SHORT = 0.001


class Gate:
    """A Python function for programs, which goes on when the test says so."""

    def __init__(self) -> None:
        self.begun, self._open = threading.Semaphore(0), threading.Event()

    def __call__(self, x: Any) -> Any:
        self.begun.release()
        assert self._open.wait(LONG)
        return x

    def open(self) -> None:
        self._open.set()


@pytest.fixture(autouse=True)
def threads_that_end_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that have nothing to do end at once: the tests wait for that."""
    for pool in (blocking._threads, inter_op_pool):  # pyright: ignore[reportPrivateUsage]
        monkeypatch.setattr(pool, "_idle_seconds", SHORT)


def waiters() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(("graphc.wait", "graphc.pool"))]


def let_end(*threads: threading.Thread) -> None:
    for thread in threads or waiters():
        thread.join(LONG)
        assert not thread.is_alive()


def long_loop(n: Any) -> Any:
    """A loop that takes XLA about a third of a second for 10,000,000 rounds."""
    x = gx.asarray(1.0)
    while n > 0:
        x = gx.sin(x) + 1.0
        n = n - 1
    return x


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan"), float("inf")])
def test_a_timeout_is_positive_and_finite(seconds: float) -> None:
    message = f"gx.function: timeout: expected a positive, finite number of seconds or None, got {seconds!r}"
    with pytest.raises(gx.errors.InvalidArgumentError, match=message):
        gx.function(long_loop, timeout=seconds)


def test_a_timeout_is_a_number() -> None:
    with pytest.raises(TypeError, match="timeout: expected a number of seconds or None, got 'soon'"):
        gx.function(long_loop, timeout="soon")  # pyright: ignore[reportArgumentType]


def test_a_timeout_cannot_limit_a_part_of_a_program() -> None:
    @gx.function(timeout=LONG)
    def inner(x: Any) -> Any:
        return x + 1.0

    def outer(x: Any) -> Any:
        return inner(x) if x > 0.0 else x

    with pytest.raises(gx.errors.UnimplementedError, match=r"inner has timeout=60, .* \(outer\).*at most 60") as error:
        gx.function(outer)(gx.asarray(1.0))
    assert "return inner(x) if x > 0.0 else x" in str(error.value)
    assert gx.function(outer, timeout=LONG)(gx.asarray(1.0)).item() == 2.0  # which implies it


def test_the_loops_of_an_inner_function_keep_its_bound() -> None:
    @gx.function(max_iterations=3)
    def inner(x: Any) -> Any:
        while x < 100.0:
            x = x * 2.0
        return x

    def outer(x: Any) -> Any:
        y = inner(x)
        while x < 100.0:  # a loop of the outer function has its own
            x = x * 2.0
        return x + y

    assert gx.function(outer)(gx.asarray(20.0)).item() == 320.0
    with pytest.raises(gx.errors.FailedPreconditionError, match="after max_iterations=3 iterations"):
        gx.function(outer)(gx.asarray(1.0))


def test_a_call_that_is_done_in_time_is_as_any_other() -> None:
    v = gx.Variable(1.0)

    @gx.function(timeout=LONG)
    def step(x: gx.Tensor) -> gx.Tensor:
        v.assign_add(x)
        assert x > 0, "positive"
        return v * 2

    assert [step(gx.asarray(1.0)).item() for _ in range(3)] == [4, 6, 8]
    assert v.numpy() == 4
    with pytest.raises(AssertionError, match="positive"):
        step(gx.asarray(-1.0))
    assert v.numpy() == 4


def test_a_program_that_takes_too_long_is_given_up() -> None:
    v = gx.Variable(1.0)

    @gx.function(timeout=0.01)
    def step(n: gx.Tensor) -> gx.Tensor:
        x = gx.asarray(1.0)
        while n > 0:
            x = gx.sin(x) + 1.0
            n = n - 1
        v.assign(x)
        return x

    with pytest.raises(gx.errors.DeadlineExceededError) as caught:
        step(gx.asarray(10_000_000))
    message = "the deadline of 0.01 s passed while waiting for the compiled function 'step' on /device:CPU:0\n"
    assert str(caught.value).startswith(message)
    assert "step(gx.asarray(10_000_000))" in str(caught.value)
    assert v.numpy() == 1  # and it can be used while the program goes on
    v.assign(2.0)
    let_end()
    assert v.numpy() == 2


def test_a_program_that_goes_on_for_long_after_it_was_given_up_is_reported(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(blocking, "_REPORT_SECONDS", SHORT)
    reported, gate = threading.Event(), Gate()
    monkeypatch.setattr(blocking._logger, "handle", lambda record: (caplog.records.append(record), reported.set()))

    @gx.function(timeout=0.01)
    def step(x: gx.Tensor) -> gx.Tensor:
        return gx.pyfunc(gate, "float32", x)

    with pytest.raises(gx.errors.DeadlineExceededError):
        step(gx.asarray(1.0))
    assert reported.wait(LONG)
    gate.open()
    let_end()
    message = caplog.records[-1].getMessage()
    assert message.startswith("the compiled function 'step' on /device:CPU:0")
    assert "is still being computed" in message
    assert "step(gx.asarray(1.0))" in message


@pytest.mark.parametrize("device", [None, "cpu:1"])
def test_wait_all_waits_for_what_was_given_up(device: str | None) -> None:
    gate, ended, token = Gate(), list[bool](), gx.CancellationToken()

    def cancel() -> None:
        assert gate.begun.acquire(timeout=LONG)
        token.cancel()

    def call(x: Any) -> Any:
        gate(x)
        contextvars.Context().run(gx.wait_all)  # it waits not for the program that calls it, whatever is in force
        ended.append(True)
        return x

    @gx.function
    def step(x: gx.Tensor) -> Any:
        with gx.device(device):
            y = x * 2
        return gx.pyfunc(call, "float32", x), y

    thread = threading.Thread(target=cancel)
    thread.start()
    with token, pytest.raises(gx.errors.CancelledError):
        step(gx.asarray(1.0))
    thread.join()
    with gx.deadline(0.01), pytest.raises(gx.errors.DeadlineExceededError, match=r"'step'.*, which was abandoned"):
        gx.wait_all()
    gate.open()
    gx.wait_all()
    assert ended == [True]


def test_programs_on_several_devices_are_given_up() -> None:
    """XLA may compute what it is told to in the thread that tells it."""

    @gx.function
    def step(n: gx.Tensor) -> Any:
        with gx.device("cpu:1"):
            x = long_loop(n)
        return x, n + 1

    step(gx.asarray(1))
    n = gx.asarray(3_000_000)
    n.wait()
    for _ in range(2):
        with gx.deadline(0.01), pytest.raises(gx.errors.DeadlineExceededError) as caught:
            step(n)
        assert "passed while waiting for" in str(caught.value)
        assert "the compiled function 'step'" in str(caught.value)
        assert "step(n)" in str(caught.value)
        let_end()


def test_a_deadline_around_a_call_holds_for_it() -> None:
    step = gx.function(long_loop)
    n = gx.asarray(10_000_000)
    step(gx.asarray(1))
    with gx.deadline(0.01), pytest.raises(gx.errors.DeadlineExceededError, match="the compiled function 'long_loop'"):
        step(n)
    with gx.deadline(LONG):
        assert step(gx.asarray(0)).item() == 1
    assert step(gx.asarray(0)).item() == 1
    let_end()


@pytest.mark.parametrize("ordered", [True, False])
def test_what_was_not_begun_is_not_begun(ordered: bool) -> None:
    """The token is cancelled while the first call to Python runs; the second does not.

    A call out of order makes the calls steps of their own, between programs.
    """
    token, given_up, events = gx.CancellationToken(), threading.Event(), list[str]()
    v = gx.Variable(0.0)

    def first(x: Any) -> Any:
        events.append("first")
        token.cancel("by the first")
        assert given_up.wait(LONG)
        return x

    def second(x: Any) -> Any:
        events.append("second")
        return x

    @gx.function
    def step(x: gx.Tensor) -> gx.Tensor:
        v.assign_add(x)
        x = gx.pyfunc(first, "float32", x)
        for _ in gx.arange(3):
            x = gx.pyfunc(second, "float32", x)
        return gx.pyfunc(second, "float32", x, ordered=ordered)

    message = r"cancelled \(by the first\) while waiting for .*the compiled function 'step'"
    with token, pytest.raises(gx.errors.CancelledError, match=message):
        step(gx.asarray(1.0))
    given_up.set()
    let_end()
    assert events == ["first"]
    assert v.numpy() == 0
    token = gx.CancellationToken()
    step(gx.asarray(1.0))  # not waited for by anybody who may give it up
    assert events == ["first", "first", *["second"] * 4]
    assert v.numpy() == 1


def test_loops_in_programs_on_several_devices_are_given_up() -> None:
    token, given_up, events = gx.CancellationToken(), threading.Event(), list[str]()

    def turn(x: Any) -> Any:
        events.append("turn")
        token.cancel("by the first")
        assert given_up.wait(LONG)
        return x

    @gx.function
    def step(x: gx.Tensor) -> Any:
        with gx.device("cpu:1"):
            y = x + 1
        for _ in gx.arange(3):
            x = gx.pyfunc(turn, "float32", x)
        return x, y

    place = r"the segment '.*' on /device:CPU:0, which calls turn \(test_timeout.py:\d+\)"
    message = rf"cancelled \(by the first\) while waiting for {place} of the compiled function"
    with token, pytest.raises(gx.errors.CancelledError, match=message):
        step(gx.asarray(1.0))
    given_up.set()
    let_end()
    assert events == ["turn"]


def test_what_a_program_calls_has_the_deadline_of_the_call() -> None:
    found: list[Any] = []

    def look(x: Any) -> Any:
        current = interruption()
        found.append(None if current is None or current.deadline is None else current.deadline.seconds)
        return x

    @gx.function
    def step(x: gx.Tensor) -> gx.Tensor:
        return gx.pyfunc(look, "float32", x)

    step(gx.asarray(1.0)).wait()
    with gx.deadline(LONG):
        step(gx.asarray(1.0))
    timed = gx.function(step.python_function, timeout=2 * LONG)
    timed(gx.asarray(1.0))
    assert found == [None, LONG, 2 * LONG]


def test_a_program_that_prints_may_be_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    @gx.function(timeout=LONG)
    def step(x: gx.Tensor) -> gx.Tensor:
        print(x, f"and {x + 1}")
        assert x > 0, f"positive, not {x}"
        return x

    step(gx.asarray(1.0))
    assert capsys.readouterr().out == "1.0 and 2.0\n"
    with pytest.raises(AssertionError, match=r"positive, not -1\.0"):
        step(gx.asarray(-1.0))


def test_calls_that_wait_for_each_other_keep_to_their_deadlines() -> None:
    gate, v = Gate(), gx.Variable(0.0)

    @gx.function
    def slow(x: gx.Tensor) -> gx.Tensor:
        v.assign_add(gx.pyfunc(gate, "float32", x))
        return v.value()

    @gx.function
    def quick(x: gx.Tensor) -> gx.Tensor:
        v.assign_add(gx.pyfunc(lambda x: x, "float32", x))
        return v.value()

    with gx.deadline(LONG):
        quick(gx.asarray(0.0))  # which compiles it
    thread = threading.Thread(target=slow, args=(gx.asarray(1.0),), daemon=True)
    thread.start()
    assert gate.begun.acquire(timeout=LONG)
    expected = pytest.raises(gx.errors.DeadlineExceededError, match="the variables of the compiled function 'quick'")
    with gx.deadline(0.05), expected:
        quick(gx.asarray(10.0))
    gate.open()
    thread.join(LONG)
    assert quick(gx.asarray(10.0)).item() == 11


def test_calls_under_a_tape_keep_to_deadlines() -> None:
    v = gx.Variable(1.0)

    @gx.function
    def step(x: gx.Tensor) -> gx.Tensor:
        v.assign_add(x)
        return v * x

    x = gx.asarray(2.0)
    with gx.deadline(LONG), gx.GradientTape() as tape:
        tape.watch(x)
        y = step(x)
    assert y.item() == 6
    assert tape.gradient(y, x).item() == 3
    token = gx.CancellationToken()
    token.cancel()
    with token, gx.GradientTape(), pytest.raises(gx.errors.CancelledError, match="the compiled function 'step'"):
        step(x)
    assert v.numpy() == 3


@pytest.mark.parametrize("device", [None, "cpu:1"])
@pytest.mark.parametrize("tapes", [1, 2])
@pytest.mark.parametrize("bound", ["timeout", "token"])
def test_a_call_under_tapes_that_hangs_is_given_up(bound: str, tapes: int, device: str | None) -> None:
    gate, v, token = Gate(), gx.Variable(2.0), gx.CancellationToken()

    @gx.function(timeout=0.05 if bound == "timeout" else None)
    def step(x: gx.Tensor) -> gx.Tensor:
        with gx.device(device):
            y = gx.sin(x)
        v.assign_add(gx.pyfunc(gate, gx.TensorSpec(()), y))
        return v * x

    def call() -> None:
        with contextlib.ExitStack() as scopes:
            for scope in [token, *(gx.GradientTape() for _ in range(tapes))]:
                scopes.enter_context(scope)
            step(gx.asarray(1.0))

    def cancel() -> None:
        gate.begun.acquire(timeout=LONG)
        token.cancel("enough")

    canceller = threading.Thread(target=cancel)
    kind = gx.errors.DeadlineExceededError
    if bound == "token":
        canceller.start()
        kind = gx.errors.CancelledError
    try:
        with pytest.raises(kind, match=r"waiting for .*compiled function 'step'"):
            call()
        assert v.numpy() == 2
    finally:
        gate.open()
        if bound == "token":
            let_end(canceller)
    let_end()
    assert v.numpy() == 2


def test_a_call_under_a_tape_that_is_done_in_time_is_differentiated() -> None:
    v = gx.Variable(2.0)

    @gx.function(timeout=LONG)
    def step(x: gx.Tensor) -> gx.Tensor:
        return v * gx.pyfunc(lambda value: value + 1, gx.TensorSpec(()), x)

    for _ in range(2):
        with gx.GradientTape() as tape:
            y = step(gx.asarray(3.0))
        assert (y.item(), tape.gradient(y, v).item()) == (8.0, 4.0)


def test_the_time_to_compile_segments_does_not_count(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    in_the_run: list[str] = []

    @contextlib.contextmanager
    def bound(seconds: float | None) -> Iterator[None]:
        before = len(caplog.messages)
        with deadlines.deadline(seconds):
            yield
        in_the_run.extend(caplog.messages[before:])

    def compiled(messages: Sequence[str]) -> set[str]:
        return {name for text in messages for name in re.findall(r"Compiling jit\((\w+)\)", text)}

    monkeypatch.setattr(program, "deadline", bound)
    v = gx.Variable(2.0)

    @gx.function(timeout=LONG)
    def step(x: gx.Tensor, n: gx.Tensor) -> gx.Tensor:
        while n > 0:
            with gx.device("cpu:1"):
                x = gx.sin(x) * 3.0
            x = gx.pyfunc(lambda value: value, gx.TensorSpec(()), x)
            n = n - 1
        with gx.device("cpu:2"):
            v.assign_add(x)
        return x * v

    jax.config.update("jax_log_compiles", True)  # of all threads: the run has one of its own
    try:
        step(gx.asarray(0.5), gx.asarray(2))
    finally:
        jax.config.update("jax_log_compiles", False)
    assert "sin__multiply" in compiled(caplog.messages)
    assert compiled(in_the_run) <= {"copy", "_moved"}  # trivial, and the same for all programs


def test_arrays_elsewhere_are_another_program() -> None:
    @gx.function(timeout=LONG)
    def double(x: gx.Tensor) -> gx.Tensor:
        return x * 2

    assert double(gx.ones(2)).device == "/device:CPU:0"
    assert double(gx.ones(2).to_device("cpu:3")).device == "/device:CPU:3"
    assert double(jnp.ones(2)).tolist() == [2, 2]


def test_wide_types_go_with_the_call() -> None:
    @gx.function(timeout=LONG)
    def double(x: gx.Tensor) -> gx.Tensor:
        return x * 2 + 0.1

    with gx.config.scope(enable_x64=True):
        assert double(gx.asarray([1.0])).dtype == "float64"
    assert double(gx.asarray([1.0])).dtype == "float32"


@pytest.mark.parametrize("device", [None, "cpu:1"])
def test_settings_of_the_thread_go_with_the_call(device: str | None) -> None:
    """64-bit types and the precision of products, for Python that the program calls and for what XLA compiles."""
    found: list[tuple[str, Any]] = []

    def call(x: Any) -> Any:
        return x + gx.asarray([0.1])

    def look(x: Any) -> Any:
        found.append((gx.asarray(0.1).dtype.name, cast("Any", jax.config).jax_default_matmul_precision))
        return x

    def step(x: gx.Tensor) -> Any:
        with gx.device(device):
            y = gx.call_jax(look, x)
        for _ in gx.arange(2):
            x = gx.pyfunc(call, gx.TensorSpec((1,), "float64"), x)
        return gx.pyfunc(call, gx.TensorSpec((1,), "float64"), x), y

    with gx.config.scope(enable_x64=True), jax.default_matmul_precision("highest"):
        x = gx.asarray([2.0])
        ignored = partial(gx.function, step, side_effects="ignore")  # JAX calls `look` while it traces
        timed, other = ignored(timeout=LONG), ignored()
        for made, same in (timed(x), gx.submit(other, x).result()):
            assert (made.dtype, same.dtype) == ("float64", "float64")
            assert made.item() == pytest.approx(2.3, rel=1e-12)
    assert set(found) == {("float64", "highest")}


@pytest.mark.parametrize(
    ("device", "what"),
    [
        (None, "the compiled function 'step' on /device:CPU:0, which calls Gate (test_timeout.py:{line})\n"),
        ("cpu:1", " on /device:CPU:0, which calls Gate (test_timeout.py:{line}) of the compiled function 'step'\n"),
    ],
)
def test_a_deadline_names_the_python_that_a_program_calls(device: str | None, what: str) -> None:
    gate = Gate()

    @gx.function
    def step(x: gx.Tensor) -> gx.Tensor:
        with gx.device(device):
            y = x + 1
        if x > 0:
            x = gx.pyfunc(gate, "float32", x)
        return x + y

    with gx.deadline(LONG):
        step(gx.asarray(-1.0))  # which compiles it
    for seconds in (0.3, 3.0, 30.0):  # on a busy machine it takes longer to come to the call
        with pytest.raises(gx.errors.DeadlineExceededError) as caught, gx.deadline(seconds):
            step(gx.asarray(1.0))
        if gate.begun.acquire(blocking=False):
            break
    gate.open()
    let_end()
    assert what.format(line=step.__wrapped__.__code__.co_firstlineno + 5) in str(caught.value)


@pytest.mark.parametrize(
    ("device", "what"),
    [
        (None, "the compiled function 'step' on /device:CPU:0, which calls Gate (test_timeout.py:{line})\n"),
        ("cpu:1", "the host call 'Gate (test_timeout.py:{line})' on host of the compiled function 'step'\n"),
    ],
)
@pytest.mark.parametrize("tapes", [0, 1])
def test_the_watchdog_names_what_makes_no_progress(tapes: int, device: str | None, what: str) -> None:
    gate = Gate()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            texts.append(record.getMessage())
            if what in texts[-1]:  # it may have taken long to compile the program, too
                gate.open()

    @gx.function
    def step(x: gx.Tensor) -> gx.Tensor:
        with gx.device(device):
            y = x + 1
        return gx.pyfunc(gate, "float32", y) + x

    step_once = step.trace(gx.asarray(1.0))
    assert step_once is not None
    what = what.format(line=step.__wrapped__.__code__.co_firstlineno + 4)
    texts: list[str] = []
    logger, handler = logging.getLogger("graphc.watchdog"), Handler()
    logger.addHandler(handler)
    try:
        with gx.config.scope(watchdog_seconds=0.05), contextlib.ExitStack() as scopes:
            x = gx.asarray(1.0)
            for _ in range(tapes):
                scopes.enter_context(gx.GradientTape()).watch(x)
            assert step(x).item() == 3
    finally:
        gate.open()
        logger.removeHandler(handler)
    (text,) = [text for text in texts if f"waits for {what}" in text]
    assert "assert step(x)" in text


@pytest.mark.parametrize("device", [None, "cpu:1"], ids=["one program", "steps"])
def test_host_calls_that_are_done_are_progress(device: str | None) -> None:
    watches: list[Any] = []
    times: list[float] = []

    def call(x: Any) -> Any:
        watches.append(waiting._watch.get())  # pyright: ignore[reportPrivateUsage]
        assert not times or watches[-1].since >= times[-1]
        times.append(time.monotonic())
        return x

    @gx.function
    def step(x: gx.Tensor) -> gx.Tensor:
        for _ in gx.arange(3):
            with gx.device(device):
                x = x + 1
            x = gx.pyfunc(call, "float32", x)
        return x

    with gx.config.scope(watchdog_seconds=LONG):
        assert step(gx.asarray(1.0)).item() == 4
    assert len(watches) == 3
    assert len(set(watches)) == 1  # they are parts of one call
    assert watches[0].since >= times[-1]


def test_a_token_in_a_compiled_function_is_refused_and_its_cancellation_told() -> None:
    token = gx.CancellationToken()

    @gx.function
    def waits(x: gx.Tensor) -> gx.Tensor:
        with token:
            return x * 2

    @gx.function
    def cancels(x: gx.Tensor) -> gx.Tensor:
        token.cancel("done")
        return x * 2

    with pytest.raises(gx.errors.UnimplementedError, match=r"`with` on a gx\.CancellationToken in a compiled function"):
        waits(gx.ones(2))
    with pytest.warns(gx.errors.SideEffectWarning, match=r"the call of CancellationToken\.cancel happens once, when"):
        cancels(gx.ones(2))
    assert token.reason == "done"
    with token:
        assert gx.CancellationToken().cancel()  # in eager code nothing is told


def test_a_deadline_in_a_compiled_function_is_refused() -> None:
    @gx.function
    def step(x: gx.Tensor) -> gx.Tensor:
        with gx.deadline(LONG):
            return x * 2

    with pytest.raises(
        gx.errors.UnimplementedError, match=r"gx\.deadline in a compiled function would limit the tracing"
    ):
        step(gx.ones(2))
    with gx.deadline(LONG):
        assert gx.function(lambda x: x * 2)(gx.ones(2)).tolist() == [2, 2]
