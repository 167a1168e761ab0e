"""gx.flow: loops, choices and calls with TensorFlow's arguments, eagerly and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError

flow = gx.flow
BOTH = pytest.mark.parametrize("compile", [lambda f: f, gx.function], ids=["eager", "compiled"])


@BOTH
def test_loops_carry_structures_and_arrays_of_tensors(compile: Any) -> None:
    @compile
    def f(n: Any) -> Any:
        def body(i: Any, array: Any, more: Any) -> Any:
            return i + 1, array.write(i, i * i), {"x": more["x"] * 2.0}

        start = [0, gx.TensorArray("int32", size=4), {"x": 1.0}]
        return flow.while_loop(lambda i, array, more: i < n, body, start, maximum_iterations=3)

    i, array, more = f(gx.asarray(9))
    assert (i.item(), array.stack().tolist(), more["x"].item()) == (3, [0, 1, 4, 0], 8.0)
    assert isinstance(f(gx.asarray(1)), list)


@BOTH
def test_rows_are_mapped_scanned_and_folded(compile: Any) -> None:
    @compile
    def f(x: Any) -> Any:
        signs = flow.map_fn(lambda v: v if v > 1.5 else -v, x)
        back = flow.scan(lambda total, v: total - v, x, reverse=True)
        sums = flow.scan(lambda total, v: total + v, x, initializer=1.0)
        return signs, back, sums, flow.foldl(gx.subtract, x), flow.foldr(gx.subtract, x, 0.0)

    expected = [[-1, 2, 4], [1, 2, 4], [2, 4, 8], -5, -7]
    for found, right in zip(f(gx.asarray([1.0, 2.0, 4.0])), expected, strict=True):
        np.testing.assert_allclose(found.numpy(), right)


@BOTH
def test_one_of_several_functions(compile: Any) -> None:
    @compile
    def f(x: Any, i: Any) -> Any:
        first = flow.case([(x < 1.0, lambda: x), (x < 5.0, lambda: x * 10.0)], default=lambda: -x)
        return first, flow.switch_case(i, {1: lambda: x, 0: lambda: x + 1.0}, default=lambda: x + 2.0)

    for i, right in ((0, 4.0), (1, 3.0), (7, 5.0), (-1, 5.0)):
        first, second = f(gx.asarray(3.0), gx.asarray(i))
        assert (first.item(), second.item()) == (30.0, right)


def test_calls_and_prints(capsys: pytest.CaptureFixture[str]) -> None:
    @gx.function
    def f(x: Any) -> Any:
        flow.print_values(["x", x], sep="=")
        return flow.numpy_function(lambda v: v + np.float32(1), [x], "float32"), flow.py_function(
            gx.negative, [x], "float32"
        )

    first, second = f(gx.asarray(2.0))
    assert (first.item(), second.item()) == (3.0, -2.0)
    assert capsys.readouterr().err == "x=2.0\n"


def test_no_case_and_wrong_numbers_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"(?s)case: no condition holds, and there is no default.*test_flow"):
        flow.case([(gx.asarray(False), lambda: 1.0)])
    with pytest.raises(InvalidArgumentError, match=r"(?s)numbers must be 0, 1, \.\.\., got \[0, 2\].*test_flow"):
        flow.switch_case(0, {0: lambda: 1.0, 2: lambda: 2.0})


def test_devices_are_listed() -> None:
    assert gx.list_devices("CPU")[1] == ("/device:CPU:1", "CPU")
    assert gx.list_devices("CPU", physical=True)[0].name == "/physical_device:CPU:0"
    with pytest.raises(NotImplementedError, match="only GPUs can be hidden, not CPUs"):
        gx.set_visible_devices([], "CPU")
