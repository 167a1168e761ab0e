"""What is refused: the message names what both sides hold, the line, and what to write instead."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import (
    GraphcError,
    InvalidArgumentError,
    InvalidTypeError,
    UndefinedNameError,
    UnimplementedError,
)
from tests.compiler.autograph.differential import f, n

CASES: list[Any] = []


def refused(kind: type[GraphcError], message: str, *args: Any) -> Any:
    def add(fn: Any) -> Any:
        CASES.append(pytest.param(fn, args, kind, message, id=fn.__name__))
        return fn

    return add


@refused(
    InvalidArgumentError,
    r"'y' is .*f32\[3\].* when the condition is true and .*f32\[\].*shapes \(3,\) and \(\) differ",
    f(1.0),
)
def shapes_of_branches(x: Tensor) -> Tensor:
    if x > 0:
        y = gx.ones(3)
    else:
        y = x
    return gx.sum(y)


@refused(
    InvalidTypeError,
    r"dtypes int32 and float32 differ; convert one, for example with gx\.astype\(x, 'float32'\)",
    f(1.0),
)
def dtypes_of_branches(x: Tensor) -> Any:
    if x > 0:
        y = gx.asarray(1)
    else:
        y = x
    return y


@refused(InvalidTypeError, r"the value of `and` is 5 when .* dtypes int32 and bool differ", f(1.0))
def dtypes_of_operands(x: Tensor) -> Any:
    return x > 0 and 5


@refused(InvalidArgumentError, "'y' is .* the structures differ; give it one structure on both sides", f(1.0))
def structures_of_branches(x: Tensor) -> Any:
    if x > 0:
        y = (x, x)
    else:
        y = [x, x]
    return y


@refused(InvalidArgumentError, r"'mode' is a tuple when .* the structures differ \(of 2 items and of 1\)", f(1.0))
def tuples_of_branches(x: Tensor) -> Any:
    if x > 0:
        mode = (x, x * 2)
    else:
        mode = (x,)
    return mode[0]


@refused(UndefinedNameError, "'y' is used, but it is bound only in the true branch of an if on a tensor", f(1.0))
def bound_in_one_branch(x: Tensor) -> Tensor:
    if x > 0:
        y = x
    return y


@refused(InvalidArgumentError, "return value is a tensor .* and None when it is false", f(1.0))
def a_return_on_one_path(x: Tensor) -> Any:
    if x > 5:
        return x
    return None


@refused(InvalidTypeError, "'s' is .*i32.* before the loop and .*f32.* after an iteration", f(1.0))
def dtype_of_a_while(x: Tensor) -> Tensor:
    s = gx.asarray(1)
    while x < 10:
        s = s * x
        x = x + 1
    return s


@refused(
    InvalidArgumentError,
    r"'s' is .* before the loop and .* after an iteration: the shapes \(1,\) and \(2,\) differ",
    f(1.0),
)
def shape_of_a_while(x: Tensor) -> Tensor:
    s = gx.ones(1)
    while x < 10:
        s = gx.concat([s, gx.ones(1)])
        x = x + 1
    return s


@refused(UnimplementedError, "'name' is 'a' before the loop and 'aa' after an iteration", f(1.0))
def string_of_a_while(x: Tensor) -> Any:
    name = "a"
    while x < 10:
        name = name + "a"
        x = x + 1
    return x, name


@refused(
    InvalidArgumentError,
    r"truth of a tensor with 2 elements \(bool\[2\].*is ambiguous; use gx\.any or gx\.all",
    f(1.0, 2.0),
)
def ambiguous_truth(x: Tensor) -> Tensor:
    if x > 0:
        x = x + 1
    return x


@refused(InvalidArgumentError, "ambiguous", f(1.0, 2.0))
def ambiguous_test_of_a_while(x: Tensor) -> Tensor:
    while x < 3:
        x = x + 1
    return x


@refused(UnimplementedError, r"range\(\) with a tensor bound runs only in a for loop", n(3))
def tensor_range_elsewhere(count: Tensor) -> Any:
    return dict.fromkeys(range(count), 0)


@refused(InvalidArgumentError, r"room the list needs; .*max_iterations", n(3))
def tensor_range_in_a_comprehension(count: Tensor) -> Any:
    return [i * 2 for i in range(count)]


@refused(InvalidArgumentError, r"range\(\) needs integer scalars, got a tensor f32\[\]", f(3.0))
def float_range(count: Tensor) -> Any:
    total = 0
    for i in range(count):
        total = total + i
    return total


@refused(InvalidArgumentError, r"iteration over a 0-d tensor f32\[\]", f(3.0))
def iteration_over_a_scalar(x: Tensor) -> Any:
    for row in x:
        x = x + row
    return x


@refused(GraphcError, "numpy", f(1.0))
def numpy_of_a_tensor(x: Tensor) -> Any:
    if x > 0:
        x = x + np.asarray(x)
    return x


@refused(GraphcError, "slice bound is a tensor", f(1.0, 2.0), n(1))
def slice_with_a_tensor(x: Tensor, k: Tensor) -> Any:
    return x[:k]


@refused(InvalidArgumentError, r"return a value on every path, or bind a name to None first", f(1.0))
def none_against_a_tensor(x: Tensor) -> Any:
    if x > 0:
        return x
    return None


@refused(UnimplementedError, r"the library function dumps is given a value that tensors chose", f(1.0))
def chosen_string_given_to_a_library(x: Tensor) -> Any:
    name = "a" if x > 0 else "b"
    try:
        return len(json.dumps([name]))
    except TypeError:
        return 0


@pytest.mark.parametrize(("fn", "args", "kind", "message"), CASES)
def test_refusals(fn: Any, args: tuple[Any, ...], kind: type[GraphcError], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        gx.function(fn)(*args)
    assert "test_control_flow_refusals.py" in str(caught.value)
    assert f"in {fn.__name__}" in str(caught.value)


@pytest.mark.parametrize("fn", [tuples_of_branches])
def test_a_refusal_cannot_be_swallowed(fn: Any) -> None:
    def program(x: Tensor) -> Tensor:
        try:
            return fn(x)
        except Exception:
            return x * 0

    with pytest.raises(GraphcError, match="'mode'"):
        gx.function(program)(f(1.0))


def test_a_refusal_cannot_be_swallowed_where_its_consequences_fail() -> None:
    def program(x: Tensor, y: Tensor) -> Any:
        log = [1, 2]
        try:
            if x > 3:
                pass
            else:
                log = [*log, x]
                y = x + 1
        except ValueError:
            pass
        return log, y

    with pytest.raises(InvalidArgumentError, match=r"'log' is .* the structures differ"):
        gx.function(program)(f(1.0), f(2.0))

    def other(x: Tensor) -> Any:
        try:
            tuples_of_branches(x)
        except Exception as error:
            raise RuntimeError("something of the user's") from error

    with pytest.raises(GraphcError, match="'mode'"):
        gx.function(other)(f(1.0))


def test_a_refusal_in_an_attempt_that_is_given_up_is_forgotten() -> None:
    def program(x: Tensor) -> Tensor:
        for i in range(8):
            assert i >= 0
            x = x + (1 if i in range(3) else 2)
        return x

    assert gx.function(program)(f(0.0)).item() == 13.0


def test_zero_step_raises_what_python_raises() -> None:
    def program(x: Tensor) -> Tensor:
        for i in range(0, 5, 0):
            x = x + i
        return x

    with pytest.raises(ValueError, match="must not be zero"):
        gx.function(program)(f(0.0))


def test_a_return_that_was_reached_before_is_named_as_such() -> None:
    def program(xs: Tensor) -> Any:
        for x in xs:
            if x > 2:
                return gx.ones(2)
        return gx.ones(3)

    message = (
        r"the return value is .*f32\[3\].* where it did not return before and .*f32\[2\].* where it returned before: "
    )
    with pytest.raises(InvalidArgumentError, match=message):
        gx.function(program)(gx.asarray([1.0, 3.0]))


def test_a_loop_that_would_never_end_is_refused_unless_it_does_something() -> None:
    counted = gx.Variable(0.0)

    def program(x: Tensor, y: Tensor) -> Tensor:
        while x > 0:  # for ever
            y = y + 1
        return y

    def counting(x: Tensor, y: Tensor) -> Tensor:
        while x > 0:
            counted.assign_add(1.0)
        return y

    with pytest.raises(UnimplementedError, match=r"would never end(.|\n)*# for ever"):
        gx.function(program)(f(-1.0), f(2.0))
    assert gx.function(counting)(f(-1.0), f(2.0)).item() == 2.0


def test_a_dict_that_a_loop_changes_is_named() -> None:
    def program(x: Tensor) -> Any:
        state = {"a": x}
        while x > 0:
            state["b"] = x
            x = x - 1
        return state["a"]

    with pytest.raises(InvalidArgumentError, match=r"the dict 'state' has the key 'b' only after an iteration"):
        gx.function(program)(f(1.0))


def test_an_int_that_does_not_fit_is_refused_with_its_line() -> None:
    def program(t: Tensor) -> Any:
        return t < 2**40  # the comparison

    with pytest.raises(
        InvalidArgumentError, match=r"1099511627776 does not fit int32; use a float(.|\n)*# the comparison"
    ):
        gx.function(program)(n(1))


def test_a_key_of_one_branch_only_is_named_with_its_side() -> None:
    def program(x: Tensor) -> Any:
        r = {"a": x}
        if x > 0:
            r["pos"] = x
        return r

    with pytest.raises(InvalidArgumentError, match="'r' has the key 'pos' only when the condition is true; set it on"):
        gx.function(program)(f(1.0))


def test_a_message_shows_the_value_of_a_variable_without_numpy() -> None:
    n = gx.Variable(3.0)

    def asked(x: Tensor) -> Any:
        if x > 0:
            raise ValueError(f"n is {n.numpy()}")
        return x

    def written(x: Tensor) -> Any:
        if x > 0:
            raise ValueError(f"n is {n}")
        return x

    with pytest.raises(
        GraphcError, match=r"in the text of an error, write the tensor or Variable itself, as in {self.n}"
    ):
        gx.function(asked)(f(1.0))
    with pytest.raises(ValueError, match=r"n is .*3\.0"):
        gx.function(written)(f(1.0))


def test_a_refusal_of_two_lists_does_not_call_them_by_one_name() -> None:
    @gx.function
    def last(x: Any) -> Any:
        while x < 9.0:
            rows: list[Any] = []
            for k in range(12):
                if x > k:
                    rows.append(x)  # noqa: PERF401
            x = x + 1.0
        return rows

    message = "'rows' is a list of unknown length before the loop and another one after an iteration"
    with pytest.raises(gx.errors.GraphcError, match=message):
        last(gx.asarray(1.0))
