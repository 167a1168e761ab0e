"""How plans are run: what waits, what fails, and with how many threads."""

from __future__ import annotations

import threading
from typing import Any

import jax
import pytest

import graphc as gx
from graphc.compiler.runtime import inter_op_pool

KIND = gx.TensorSpec((), "float32")
ONE = gx.asarray(1.0)


@pytest.mark.parametrize("threads", [1, 2])
def test_few_threads_run_many_host_calls_in_loops_that_span_devices(threads: int) -> None:
    def double(value: Any) -> Any:
        return value * 2

    @gx.function
    def nested(x: Any) -> Any:
        parts = []
        for number in range(3):
            y = x + float(number)
            for _ in range(4):
                with gx.device("cpu:1"):
                    y = y + 1
                y = gx.pyfunc(double, KIND, y, ordered=False)
                while y > 50:
                    with gx.device("cpu:2"):
                        y = y / 2
            parts.append(gx.pyfunc(double, KIND, y, ordered=False))
        return parts[0] + parts[1] + parts[2]

    def expected(x: float) -> float:
        total = 0.0
        for number in range(3):
            y = x + number
            for _ in range(4):
                y = (y + 1) * 2
                while y > 50:
                    y = y / 2
            total += y * 2
        return total

    with gx.config.scope(inter_op_threads=threads), gx.deadline(60):
        assert nested(ONE).item() == pytest.approx(expected(1.0))
    with gx.config.scope(inter_op_threads=threads):
        assert nested(ONE).item() == pytest.approx(expected(1.0))


def test_what_fails_stops_what_has_not_begun() -> None:
    begun: list[str] = []
    both = threading.Barrier(2)

    def fail(value: Any) -> Any:
        begun.append("fail")
        both.wait(30)
        raise OSError("no such disk", float(value))

    def wait(value: Any) -> Any:
        begun.append("wait")
        both.wait(30)
        return value

    def later(value: Any) -> Any:
        begun.append("later")
        return value

    variable = gx.Variable(1.0)

    @gx.function
    def program(x: Any) -> Any:
        variable.assign_add(1.0)
        first = gx.pyfunc(fail, KIND, x, ordered=False)
        second = gx.pyfunc(wait, KIND, x, ordered=False)
        return gx.pyfunc(later, KIND, first + second, ordered=False)

    for _ in range(5):
        begun.clear()
        with pytest.raises(OSError, match="no such disk") as caught:
            program(ONE)
        assert caught.value.args == ("no such disk", 1.0)
        assert sorted(begun) == ["fail", "wait"]
    assert variable.item() == 1


def test_a_deadline_names_the_steps_that_are_waited_for() -> None:
    release, begun = threading.Event(), threading.Event()

    def hang(value: Any) -> Any:
        begun.set()
        release.wait(60)
        return value

    variable = gx.Variable(1.0)

    @gx.function
    def stuck(x: Any) -> Any:
        variable.assign(x)
        with gx.device("cpu:1"):
            y = x + 1
        return gx.pyfunc(hang, KIND, y, ordered=False) + 1

    release.set()
    stuck(ONE)  # which compiles it
    release.clear()
    begun.clear()
    try:
        for seconds in (0.1, 1.0, 10.0):  # on a busy machine it takes longer to come to the call
            with gx.deadline(seconds), pytest.raises(gx.errors.DeadlineExceededError) as caught:
                stuck(gx.asarray(5.0))
            if begun.is_set():
                break
    finally:
        release.set()
    text = str(caught.value)
    line = hang.__code__.co_firstlineno + 12
    assert f"the host call 'hang (test_executor.py:{line})' on host" in text
    assert "'stuck'" in text
    assert variable.item() == 1
    assert stuck(ONE).item() == 3  # as if nothing had been


def test_threads_of_the_pool_end_when_there_is_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inter_op_pool, "_idle_seconds", 0.001)
    meeting = threading.Barrier(3)

    def meet(value: Any) -> Any:
        meeting.wait(30)
        return value

    @gx.function
    def three(x: Any) -> Any:
        first, second, third = (gx.pyfunc(meet, KIND, x + number, ordered=False) for number in (0.0, 1.0, 2.0))
        return first + second + third

    with gx.config.scope(inter_op_threads=4):
        assert three(ONE).item() == 6
    for thread in inter_op_pool.threads:
        thread.join(30)
        assert not thread.is_alive()


def test_a_wide_dtype_of_one_thread_is_that_of_its_steps() -> None:
    with gx.config.scope(enable_x64=True):
        x = gx.asarray(2.0**40, dtype="float64")

        @gx.function
        def wide(x: Any) -> Any:
            with gx.device("cpu:1"):
                y = x + 1.0
            first = gx.pyfunc(lambda value: value + 1.0, gx.TensorSpec((), "float64"), y, ordered=False)
            second = gx.pyfunc(lambda value: value + 2.0, gx.TensorSpec((), "float64"), y, ordered=False)
            with gx.device("cpu:2"), gx.control_dependencies([first]):
                return first + second * 1.0

        found = wide(x)
        assert found.dtype == "float64"
        assert found.item() == 2 * (2.0**40 + 1) + 3


def test_what_runs_when_a_step_fails_has_ended_when_the_call_raises() -> None:
    both = threading.Barrier(2)
    raised = threading.Event()
    ended: list[str] = []

    def fail(value: Any) -> Any:
        both.wait(30)
        raise OSError("no such disk")

    def other(value: Any) -> Any:
        both.wait(30)
        ended.append("too late" if raised.wait(0.3) else "in time")
        return value

    @gx.function
    def program(x: Any) -> Any:
        return gx.pyfunc(other, KIND, x, ordered=False) + gx.pyfunc(fail, KIND, x, ordered=False)

    with pytest.raises(OSError, match="no such disk"):
        program(ONE)
    raised.set()
    assert ended == ["in time"]


@pytest.mark.parametrize("device", ["cpu:1", None], ids=["driven", "one program"])
def test_a_loop_that_calls_python_stops_when_another_step_fails(device: str | None) -> None:
    turning = threading.Event()
    turns: list[int] = []

    def fail(value: Any) -> Any:
        assert turning.wait(30)
        raise OSError("no such disk")

    def turn(value: Any) -> Any:
        turns.append(len(turns))
        turning.set()
        return value

    @gx.function
    def program(x: Any) -> Any:
        y = x
        while y < 1e6:
            with gx.device(device):
                y = y + 1
            y = gx.pyfunc(turn, KIND, y, ordered=False)
        return y + gx.pyfunc(fail, KIND, x, ordered=False)

    with pytest.raises(OSError, match="no such disk"):
        program(ONE)
    assert 0 < len(turns) < 100_000
    count = len(turns)
    assert gx.function(lambda: gx.ones(()) + 1)().item() == 2
    assert len(turns) == count


def test_what_becomes_ready_does_not_wait_for_other_steps() -> None:
    """The second step of a chain runs while a step runs that is ready from the beginning."""
    reached = threading.Event()

    def wait(value: Any) -> Any:
        assert reached.wait(30)
        return value

    def reach(value: Any) -> Any:
        reached.set()
        return value

    @gx.function
    def program(x: Any) -> Any:
        first = gx.pyfunc(lambda value: value, KIND, x, ordered=False)
        second = gx.pyfunc(reach, KIND, first, ordered=False)
        return second + gx.pyfunc(wait, KIND, x, ordered=False)

    assert program(ONE).item() == 2


def test_a_loop_that_calls_python_runs_beside_other_steps() -> None:
    meeting = threading.Barrier(2)

    def meet(value: Any) -> Any:
        meeting.wait(30)
        return value

    @gx.function
    def program(x: Any) -> Any:
        with gx.device("cpu:1"):
            y = x
            for _ in gx.arange(3):
                y = gx.pyfunc(meet, KIND, y) + 1
        for _ in range(3):
            x = gx.pyfunc(meet, KIND, x, ordered=False)
        return x, y

    assert [found.item() for found in program(ONE)] == [1, 4]


def test_the_first_failure_is_raised_though_what_only_stops_is_done_before() -> None:
    both = threading.Barrier(2)

    def fail(value: Any) -> Any:
        both.wait(30)
        raise OSError("no such disk")

    def go_on(value: Any) -> Any:
        both.wait(30)
        threading.Event().wait(0.1)  # time for the other loop to stop; the call returns only after this
        return value

    @gx.function
    def program(x: Any) -> Any:
        y, z = x, x
        while y < 1e6:
            with gx.device("cpu:1"):
                y = y + 1
            with gx.device("cpu:2"):
                y = y * 1
        while z < 1e6:
            with gx.device("cpu:1"):
                z = z + 1
            z = gx.pyfunc(fail, KIND, z, ordered=False) + gx.pyfunc(go_on, KIND, z, ordered=False)
        return y + z

    with gx.config.scope(inter_op_threads=3), pytest.raises(OSError, match="no such disk"):
        program(ONE)


@pytest.mark.parametrize("seconds", [None, 60])
def test_with_one_thread_programs_that_wait_for_programs_do_not_hang(seconds: float | None) -> None:
    @gx.function
    def inner(x: Any) -> Any:
        return gx.pyfunc(lambda value: value + 1, KIND, x, ordered=False) * 2

    @gx.function
    def middle(x: Any) -> Any:
        for _ in gx.arange(2):
            with gx.device("cpu:1"):
                x = x + 1
            x = gx.pyfunc(lambda value: inner(gx.asarray(value)), KIND, x)
        return x

    @gx.function
    def outer(x: Any) -> Any:
        return gx.pyfunc(lambda value: gx.submit(middle, gx.asarray(value)).result(), KIND, x)

    with gx.config.scope(inter_op_threads=1), gx.deadline(seconds):
        assert gx.submit(outer, ONE).result().item() == 16
        assert outer(ONE).item() == 16


def test_values_are_released_while_later_steps_run() -> None:
    alive: list[int] = []

    def count(value: Any) -> Any:
        alive.append(sum(array.shape == (17, 19) for array in jax.live_arrays()))
        return value

    @gx.function
    def program(x: Any) -> Any:
        large = x + gx.ones((17, 19))
        with gx.device("cpu:1"):
            total = gx.sum(large * 2)
        return gx.pyfunc(count, KIND, total, ordered=False) + 1

    assert program(ONE).item() == 17 * 19 * 4 + 1
    assert program(ONE).item() == 17 * 19 * 4 + 1
    assert alive == [0, 0]
