"""The state of a thread: scopes nest, are restored after errors, and belong to one thread."""

from __future__ import annotations

import threading

import pytest

import graphc as gx
from graphc.compiler.core import context, count_launches, creation_scope, device_scope, tape_scope, trace_scope
from graphc.compiler.devices import NO_PINS
from graphc.compiler.tracing import Trace


def test_eager_sums_up_the_scopes() -> None:
    assert context.eager
    for scope in (
        device_scope("/device:CPU:1"),
        trace_scope(Trace("t")),
        tape_scope((gx.GradientTape(),)),
        count_launches(),
    ):
        with scope:
            assert not context.eager
        assert context.eager


def test_scopes_are_restored_after_an_error() -> None:
    with pytest.raises(KeyError), device_scope("/device:CPU:1"), trace_scope(Trace("t")):
        raise KeyError
    assert context.eager
    assert (context.trace, context.device) == (None, NO_PINS)


def test_a_trace_hides_the_tapes_around_it() -> None:
    tape = gx.GradientTape()
    with tape:
        assert context.tapes == (tape,)
        with trace_scope(Trace("t")):
            assert context.tapes == ()
        assert context.tapes == (tape,)


def test_scopes_belong_to_one_thread() -> None:
    seen: list[bool] = []
    with device_scope("/device:CPU:1"):
        thread = threading.Thread(target=lambda: seen.append(context.eager))
        thread.start()
        thread.join()
    assert seen == [True]


@pytest.mark.parametrize(("keep", "fails", "expected"), [(True, False, 5), (False, False, 1), (True, True, 1)])
def test_what_a_creating_call_leaves(keep: bool, fails: bool, expected: float) -> None:
    old, made = gx.Variable(1.0), []
    try:
        with creation_scope(keep=keep):
            made.append(gx.Variable(1.0))
            for variable in (old, *made):
                variable.assign(3.0)
                variable.assign_add(2.0)
            if fails:
                raise KeyError
    except KeyError:
        pass
    assert context.creating is None
    assert [old.item(), made[0].item()] == [expected, expected]


def test_launches_are_counted() -> None:
    variable = gx.Variable(0.0)
    function = gx.function(lambda x: variable.assign_add(x))
    x = gx.asarray(1.0)
    function(x)
    with count_launches() as eager:
        _ = x + 1 + x
    with count_launches() as compiled:
        function(x)
    assert (eager.count, compiled.count) == (2, 1)
