"""Programs that may be given up: which are sure to be short, and what becomes of a call of one."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base import blocking
from graphc.compiler.core import InFlight, variable_lock
from graphc.compiler.lowering import DISPATCH, LaunchPolicy, XlaFunction, current_policy, launch

LONG = 60.0


_lax: Any = jax.lax
_linalg: Any = jnp.linalg


def _rounds(count: int) -> Callable[[Any], Any]:
    def turn(_: Any, x: Any) -> Any:
        return jnp.sin(x) + 1

    return lambda x: _lax.fori_loop(0, count, turn, x)


def _until(x: Any) -> Any:
    while_loop: Callable[[Callable[[Any], Any], Callable[[Any], Any], Any], Any] = _lax.while_loop
    return while_loop(lambda x: x.sum() < 100, lambda x: x + 1, x)


_PROGRAMS: list[tuple[Callable[[Any], Any], tuple[int, ...], bool]] = [
    (lambda x: x + 1, (4, 4), True),
    (lambda x: x @ x, (64, 64), True),
    (lambda x: x @ x, (512, 512), False),
    (lambda x: x.T + 0, (4000, 1000), False),
    (_rounds(10), (4, 4), True),
    (_rounds(100_000), (), False),
    (_until, (4, 4), False),
    (lambda x: _lax.map(_rounds(100), x), (100,), False),
    (lambda x: _linalg.eigh(x)[0], (4, 4), False),
]


@pytest.mark.parametrize(("function", "shape", "short"), _PROGRAMS)
def test_a_program_is_short_if_the_compiler_can_tell(function: Any, shape: tuple[int, ...], short: bool) -> None:
    def step(x: Any) -> Any:
        return function(x)

    program = XlaFunction(step, "step", calls_host=False)
    x = jnp.ones(shape)
    found = program.launch([x], LaunchPolicy(interruptible=True))
    np.testing.assert_allclose(np.asarray(found), np.asarray(cast("Any", jax).jit(function)(x)))
    assert (program.short is not None) == short


def test_a_short_program_with_a_timeout_runs_in_the_thread_that_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    v = gx.Variable(1.0)

    @gx.function(timeout=LONG)
    def step(x: gx.Tensor) -> Any:
        for _ in gx.arange(3):
            v.assign_add(x)
        return {"v": v * 2, "x": x}

    x = gx.asarray(1.0)
    assert step(x)["v"].item() == 8

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a thread of its own")

    monkeypatch.setattr(blocking._threads, "give", refuse)  # pyright: ignore[reportPrivateUsage]
    kept = v.value()
    for expected in (14.0, 20.0):
        result = step(x)
        assert (result["v"].item(), v.numpy()) == (expected, expected / 2)
        assert result["x"] is x
    assert kept.item() == 4  # nothing is donated
    assert step.num_traces == 1


def test_each_device_has_its_own_way_of_running_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([True, False, True])
    monkeypatch.setattr(launch, "_is_short", lambda _: next(answers))
    given: list[Any] = []
    own = launch.run_on_thread
    monkeypatch.setattr(launch, "run_on_thread", lambda run, what: given.append(what) or own(run, what))
    program = XlaFunction(lambda x: x + 1, "step", calls_host=False)
    arrays = [jax.device_put(np.ones(3), device) for device in jax.devices()[:3]]
    for _ in range(2):
        for array in arrays:
            program.launch([array], LaunchPolicy(interruptible=True))
    assert len(given) == 2, "those of the second device"
    assert program.short is None


def test_a_short_program_whose_arguments_do_not_come_in_time_is_given_up() -> None:
    v = gx.Variable(np.ones((), np.float32))

    @gx.function(timeout=0.001)
    def step(x: gx.Tensor) -> gx.Tensor:
        v.assign_add(x)
        return v * 2

    def late() -> gx.Tensor:
        found = jnp.full((1000, 1000), 1e-3)
        for _ in range(10):
            found = found @ found
        return gx.asarray(found[0, 0] * 0)

    def done(x: gx.Tensor) -> float:
        while True:
            try:
                return step(x).item()
            except gx.errors.DeadlineExceededError:  # on a busy machine
                continue

    zero, one = late().wait(), (late() + 1).wait()
    assert [done(zero) for _ in range(2)] == [2, 2]
    given_up = r"the deadline of 0.001 s passed while waiting for .*compiled function 'step' on /device:CPU:0\n"
    for scope in (contextlib.nullcontext(), gx.deadline(LONG)):  # by the entry, and the long way
        x = late()
        with scope, pytest.raises(gx.errors.DeadlineExceededError, match=given_up):
            step(x)
        gx.wait_all()
    assert v.numpy() == 1
    assert done(one) == 4
    assert step.num_traces == 1
    assert v.numpy() == 2


def test_a_short_program_waits_for_variables_that_another_thread_uses() -> None:
    v, begun, go = gx.Variable(1.0), threading.Event(), threading.Event()

    @gx.function(timeout=LONG)
    def step(x: gx.Tensor) -> gx.Tensor:
        v.assign_add(x)
        return v * 1

    x = gx.asarray(1.0)
    for _ in range(2):
        step(x)

    def hold() -> None:
        with variable_lock:
            begun.set()
            assert go.wait(LONG)

    thread = threading.Thread(target=hold)
    thread.start()
    assert begun.wait(LONG)
    results: list[Any] = []
    other = threading.Thread(target=lambda: results.append(step(x)))
    other.start()
    go.set()
    for each in (thread, other):
        each.join(LONG)
        assert not each.is_alive()
    assert results[0].item() == 4


def test_the_policy_says_what_is_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    assert current_policy() is DISPATCH
    assert current_policy(2.0) == LaunchPolicy(interruptible=True, timeout=2.0)
    with gx.deadline(LONG):
        assert current_policy() == LaunchPolicy(interruptible=True)
    monkeypatch.setattr(gx.config, "max_in_flight", 3)
    assert current_policy() == LaunchPolicy(max_in_flight=3)
    monkeypatch.setattr(gx.config, "watchdog_seconds", LONG)
    assert current_policy() == LaunchPolicy(max_in_flight=3, watched=True)
    assert current_policy(calls_host=True).interruptible, "what the host calls do is progress"


def test_a_launch_takes_the_policy_that_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    v = gx.Variable(np.ones((3,), np.float32))

    @gx.function
    def step(x: gx.Tensor) -> gx.Tensor:
        v.assign_add(x)
        return v * 2

    executable = step.trace(gx.asarray([1.0] * 3)).executable
    x, old = jnp.ones(3), v.raw
    (result,) = executable.launch([x], [v], LaunchPolicy(interruptible=True))
    assert result.tolist() == [4.0] * 3
    assert not old.is_deleted(), "an interruptible program donates nothing"
    with gx.deadline(LONG):
        (result,) = executable.launch([x], [v], DISPATCH)
    assert result.tolist() == [6.0] * 3
    monkeypatch.setattr("graphc.compiler.lowering.launch.in_flight", steps := InFlight())
    executable.launch([x], [v], LaunchPolicy(max_in_flight=2))
    assert len(steps) == 1
