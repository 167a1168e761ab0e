"""Ints that depend on tensors, as positions in a tensor: out of range they raise; what is in range is not checked."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import OutOfRangeError


def _compare(fn: Any, *args: Any) -> None:
    """Calls a function eagerly and compiled, with tensors of the same values."""
    compiled = gx.function(fn)
    outcomes: list[Any] = []
    for run in (fn, compiled, compiled):
        try:
            outcomes.append(run(*map(gx.asarray, args)))
        except OutOfRangeError as error:
            outcomes.append(str(error))
    assert len({repr(outcome) for outcome in outcomes}) == 1, outcomes


@pytest.mark.parametrize("position", [0, 2, 3, 7, -1, -3, -4])
def test_a_read_out_of_range_raises_what_eager_code_raises(position: int) -> None:
    def read(x: Any, k: Any) -> Any:
        return x[int(k)]

    def read_of_two_axes(x: Any, k: Any) -> Any:
        return x[None, ..., 0, int(k)]

    _compare(read, [1.0, 2.0, 3.0], position)
    _compare(read_of_two_axes, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], position)


@pytest.mark.parametrize("position", [0, 2, 3, -3, -4])
def test_a_store_out_of_range_raises_what_eager_code_raises(position: int) -> None:
    def store(x: Any, k: Any) -> Any:
        y = x * 2
        y[int(k)] = 7.0
        y[int(k)] += 1.0
        return y

    _compare(store, [1.0, 2.0, 3.0], position)


def test_the_call_leaves_its_argument_as_it_was() -> None:
    @gx.function
    def fill(x: Any, k: Any) -> None:
        for place in range(int(k)):
            x[place] = 0.0

    x = gx.asarray([1.0, 2.0, 3.0])
    with pytest.raises(IndexError, match=r"index 3 is out of range for axis 0 of size 3(.|\n)*x\[place\] = 0.0"):
        fill(x, gx.asarray(5))
    assert x.tolist() == [1.0, 2.0, 3.0]
    fill(x, gx.asarray(2))
    assert x.tolist() == [0.0, 0.0, 3.0]


def test_gradients_flow_through_a_checked_read() -> None:
    def total(x: Any, k: Any) -> Any:
        n, found = int(k), x[0] * 0
        while x[n] > 1.0:
            found = found + x[n] ** 2
            n = n + 1
        return found

    x = gx.asarray([5.0, 2.0, 3.0, 0.0])
    compiled = gx.function(gx.grad(total))
    assert compiled(x, gx.asarray(1)).tolist() == gx.grad(total)(x, gx.asarray(1)).tolist() == [0.0, 4.0, 6.0, 0.0]
    with pytest.raises(OutOfRangeError, match="index 4 is out of range"):
        compiled(x, gx.asarray(4))


# --- what is not checked


def _counted(x: Any, t: Any) -> Any:
    i, total = 0, 0.0
    while i < 3 and x[i] > 0:
        total = total + x[i] * t
        i += 1
    return total


def _until(x: Any, t: Any) -> Any:
    i, y = 0, x * 1
    while i < len(x):
        y[i] = y[i] + t
        i += 1
        if y[i - 1] > 5:
            break
    return y


def _in_a_branch(x: Any, t: Any) -> Any:
    n = int(t)
    if n < 0 or not n <= 2:
        return x[0] * 0
    return x[n] if 0 <= n - 1 < 2 else x[n] * 2


def _remainder(x: Any, t: Any) -> Any:
    n = int(t) % 3
    return x[n] + x[n - 3]


def _argmax(x: Any, t: Any) -> Any:
    return x[int(gx.argmax(x))] * t


def _last(x: Any, t: Any) -> Any:
    n = -1
    for value in x:
        n += 1
        if value > t:
            break
    return x[n]


@pytest.mark.drawn(3)
@pytest.mark.parametrize("fn", [_counted, _until, _in_a_branch, _remainder, _argmax, _last])
@pytest.mark.parametrize("value", [-3, 0, 2, 7])
def test_what_is_in_range_is_not_checked(fn: Any, value: int) -> None:
    _compare(fn, [1.0, 2.0, 3.0], value)
    graph = gx.function(fn).graph(gx.asarray([1.0, 2.0, 3.0]), gx.asarray(value))
    assert len(graph.outputs) == 1, "it can fail"


# --- bounds that a loop widens


def _filled_from(x: Any, t: Any) -> Any:
    top, out = int(t) % 10, gx.zeros(10)
    for k in range(5):
        if x[k] > 0:
            out[top] = x[k]
            top += 1
    return out


def _filled_from_anywhere(x: Any, t: Any) -> Any:
    top, out = int(t), gx.zeros(3)
    for k in range(5):
        if x[k] > 2:
            out[top] = x[k]
            top += 1
    return out


def _filled_in_a_nest(x: Any, t: Any) -> Any:
    top, out = int(t) % 10, gx.zeros(12)
    for k in range(5):
        for _ in range(2):
            if x[k] > 0:
                out[top] = x[k]
                top += 1
    return out


def _filled_by_another_loop(x: Any, t: Any) -> Any:
    top, out = int(t) % 10, gx.zeros(10)
    for k in range(5):
        for _ in range(2):
            out[top] += x[k]
        top += 1
    return out


@pytest.mark.parametrize("fn", [_filled_from, _filled_in_a_nest, _filled_by_another_loop])
@pytest.mark.parametrize("start", [3, 8])
def test_a_loop_that_moves_a_number_out_of_its_first_bounds_checks_it(fn: Any, start: int) -> None:
    _compare(fn, [1.0, 2.0, 3.0, 4.0, 5.0], start)


@pytest.mark.parametrize("start", [-(2**31), -4, -3, -1, 0, 1, 3, 2**31 - 4])
def test_a_check_that_is_made_after_the_loop_tells_the_first_index_out_of_range(start: int) -> None:
    _compare(_filled_from_anywhere, [1.0, 2.0, 3.0, 4.0, 5.0], start)
    _compare(_filled_from_anywhere, [1.0, 2.0, 0.0, 2.0, 1.0], start)


# --- what passes a check has its bounds


def _after_an_index(x: Any, t: Any) -> Any:
    n = int(t)
    found = x[n]
    return found + x[n] + x[n % 3], n * n + n


def _after_an_assert(x: Any, t: Any) -> Any:
    n = int(t)
    assert -2 <= n <= 2
    return x[n], n**8


def _after_a_raise(x: Any, t: Any) -> Any:
    n = int(t)
    if n > 2 or n < -3:
        raise OutOfRangeError("outside")
    return x[n] * 2


def _outcome(fn: Any, *args: Any) -> Any:
    try:
        return repr(fn(*args))
    except (AssertionError, OutOfRangeError) as error:
        return type(error).__name__, str(error) if isinstance(error, OutOfRangeError) else ""


def _marks(graph: Any) -> list[bool]:
    """Tells of each read and update at a computed place if the program knows that the place is there."""
    nodes = [
        node for node in graph.walk() if node.op.name in ("get_item", "update_item") and "tensor" in node.attrs["index"]
    ]
    return [bool(node.attrs.get("inside")) for node in nodes]


def _pops_and_pushes(x: Any, t: Any) -> Any:
    stack, top = gx.copy(x), int(t)
    while top > 0:
        top -= 1
        found = stack[top]
        if found > 2.0:
            stack[top] = found - 2.0
            top += 1
    return stack


def _may_count_from_the_end(x: Any, t: Any) -> Any:
    y, n = gx.copy(x), int(t)
    while n < 3:
        y[n] += 1.0
        n += 1
    return y


@pytest.mark.parametrize(("fn", "inside"), [(_pops_and_pushes, True), (_may_count_from_the_end, False)])
def test_what_passed_a_check_is_known_to_be_there(fn: Any, inside: bool) -> None:
    x, compiled = gx.asarray([1.0, 5.0, 2.5]), gx.function(fn)
    for value in (-4, -3, -1, 0, 2, 3, 4, 6):
        assert _outcome(compiled, x, gx.asarray(value)) == _outcome(fn, x, gx.asarray(value)), value
    assert set(_marks(compiled.graph(x, gx.asarray(1)))) == {inside}


@pytest.mark.parametrize("fn", [_after_an_index, _after_an_assert, _after_a_raise])
def test_what_passed_a_check_is_not_checked_again(fn: Any) -> None:
    x, compiled = gx.asarray([1.0, 2.0, 3.0]), gx.function(fn)
    for value in (-(2**31), -4, -3, -2, 2, 3, 2**31 - 1):
        assert _outcome(compiled, x, gx.asarray(value)) == _outcome(fn, x, gx.asarray(value))
    (status,) = [node for node in compiled.graph(x, gx.asarray(1)).nodes if node.op.name == "call_status"]
    assert len(status.attrs["raises"]) == 1


def _in_a_branch_only(x: Any, t: Any) -> Any:
    n, found = int(t), x[0] * 0
    if x[1] > 5:
        found = x[n]
    return found + x[n]


def _in_a_test_that_is_tried(x: Any, t: Any) -> Any:
    n = int(t)
    while x[n] > 1.0:
        n += 1
    return x[n - 1]


def _in_a_test_that_is_not_evaluated(x: Any, t: Any) -> Any:
    n, k = int(t), 3
    while k < 3 and x[n] > 0:
        k += 1
    return x[n]


@pytest.mark.parametrize("fn", [_in_a_branch_only, _in_a_test_that_is_tried, _in_a_test_that_is_not_evaluated])
def test_a_check_holds_only_behind_it(fn: Any) -> None:
    x, compiled = gx.asarray([3.0, 1.0, 2.0]), gx.function(fn)
    for value in (-4, -3, 0, 2, 3, 4, 9):
        assert _outcome(compiled, x, gx.asarray(value)) == _outcome(fn, x, gx.asarray(value)), value
