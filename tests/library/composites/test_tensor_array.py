"""TensorArray: eagerly, in rolled loops and branches, with gradients, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    OutOfRangeError,
    UnimplementedError,
)

BOTH = pytest.mark.parametrize("compile", [lambda f: f, gx.function], ids=["eager", "compiled"])


@BOTH
def test_writes_in_loops_and_branches(compile: Any) -> None:
    @compile
    def f(n: Any, x: Any) -> Any:
        array = gx.TensorArray("float32", size=5)
        other = gx.TensorArray("float32", size=5)
        for i in range(n):
            if x[i] > 1:
                array = array.write(i, [x[i], -x[i]])
            other = other.write(i, x[i])
        return array, other.gather([2, 0]), array.concat(), array.read(2), array.size()

    for n in (5, gx.asarray(3)):
        array, gathered, joined, third, size = f(n, gx.arange(5.0))
        expected = (
            [[0, 0], [0, 0], [2, -2], [3, -3], [4, -4]]
            if isinstance(n, int)
            else [[0, 0], [0, 0], [2, -2], [0, 0], [0, 0]]
        )
        assert array.stack().tolist() == expected
        assert (gathered.tolist(), joined.tolist(), size.item()) == ([2, 0], np.ravel(expected).tolist(), 5)
        assert third.tolist() == [2, -2]


def test_a_rolled_loop_keeps_one_buffer() -> None:
    @gx.function
    def f(n: Any) -> Any:
        array, x, i = gx.TensorArray("float32", size=8), gx.ones(2), 0
        while i < n:
            array = array.write(i, x)
            x, i = x * 2, i + 1
        return array.stack()

    assert f(gx.asarray(3)).tolist()[:4] == [[1, 1], [2, 2], [4, 4], [0, 0]]
    assert [report.kind for report in f.trace(gx.asarray(3)).loops] == ["while"]
    found = gx.while_loop(
        lambda state: state[0] < 3,
        lambda state: (state[0] + 1, state[1].write(state[0], state[0])),
        (gx.asarray(0), gx.TensorArray("int32", size=3)),
    )
    assert found[1].stack().tolist() == [0, 1, 2]


@BOTH
def test_an_array_may_grow_where_positions_are_known(compile: Any) -> None:
    @compile
    def f(x: Any) -> Any:
        array = gx.TensorArray("float32", size=0, dynamic_size=True)
        for i in range(3):
            array = array.write(2 * i, x + i)
        return array.stack()

    assert f(gx.asarray(1.0)).tolist() == [1, 0, 2, 0, 3]
    grown = gx.TensorArray("int32", dynamic_size=True).scatter([3, 0], [7, 8])
    assert (len(grown), grown.stack().tolist()) == (4, [8, 0, 0, 7])


@BOTH
def test_arrays_are_arguments_and_results(compile: Any) -> None:
    write = compile(lambda array, x: array.write(1, x))
    first = gx.TensorArray("float32", size=2, element_shape=[])
    second = write(first, gx.asarray(2.0))
    assert (first.stack().tolist(), second.stack().tolist()) == ([0, 0], [0, 2])
    assert write(gx.TensorArray("float32", size=2), gx.asarray([3.0])).stack().tolist() == [[0], [3]]
    assert gx.TensorArray("float32", size=2).unstack([[1.0], [2.0]]).read(1).tolist() == [2]
    assert gx.TensorArray("float32", size=2).split([1.0, 2.0, 3.0, 4.0], [2, 2]).read(1).tolist() == [3, 4]
    assert repr(second) == "TensorArray(float32, size=2, element_shape=())"
    assert gx.TensorArray("float32").dynamic_size
    assert not gx.TensorArray("float32", size=1).dynamic_size


@BOTH
def test_gradients_flow_through_writes(compile: Any) -> None:
    @compile
    def slope(x: Any, n: Any) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            array = gx.TensorArray("float32", size=4)
            for i in range(n):
                array = array.write(i, x * gx.astype(i, "float32"))
            y = gx.sum(array.stack())
        return tape.gradient(y, x)

    assert slope(gx.asarray(2.0), 4).item() == 6.0
    assert slope(gx.asarray(2.0), gx.asarray(3)).item() == 3.0


@pytest.mark.parametrize("index", [0, 2, 3, -1])
@pytest.mark.parametrize("as_int", [False, True])
def test_a_position_out_of_range_raises_when_the_program_runs(index: int, as_int: bool) -> None:
    def written(index: Any) -> Any:
        array = gx.TensorArray("float32", size=3)
        return array.write(int(index) if as_int else index, 1.0).stack()

    def read(index: Any, count: Any) -> Any:
        array, total = gx.TensorArray("float32", size=3).unstack([1.0, 2.0, 4.0]), 0.0
        for i in gx.arange(count):
            total = total + array.read(i - index)
        return total

    for program, args in ((written, (gx.asarray(index),)), (read, (gx.asarray(index), gx.asarray(index + 1)))):
        if 0 <= index < 3 and program is written:
            assert gx.function(program)(*args).tolist() == program(*args).tolist()
        elif program is written or index > 0:
            with pytest.raises(OutOfRangeError, match=r"position .* in an array of 3"):
                gx.function(program)(*args)


A = gx.TensorArray("float32", size=2)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: gx.stack([A, A]), InvalidTypeError, r"a TensorArray is no tensor here; array\.stack\(\) is one"),
        (lambda: A.write(2, 1.0), OutOfRangeError, "TensorArray.write: position 2 in an array of 2 tensors"),
        (lambda: A.write(0, 1.0).read(-1), OutOfRangeError, "TensorArray.read: position -1 in an array of 2 tensors"),
        (lambda: A.write(0, gx.asarray(1)), InvalidTypeError, "of float32: a tensor of int32 is given; convert it by"),
        (
            lambda: A.write(0, 1.0).write(1, [1.0]),
            InvalidArgumentError,
            r"of shape \(1,\) is given, the others have \(\)",
        ),
        (lambda: A.stack(), FailedPreconditionError, r"nothing was written .* = array\.write\(i, x\)"),
        (lambda: A.write(0, 1.0).concat(), InvalidArgumentError, "the tensors are scalars, which stack"),
        (lambda: A.unstack([1.0]), InvalidArgumentError, r"a tensor of shape \(1,\) has not 2 parts"),
        (lambda: A.split([1.0, 2.0, 3.0], [1, 2]), UnimplementedError, r"pieces of different lengths, \[1, 2\]; use a"),
        (lambda: gx.TensorArray("float32", size=-1), InvalidArgumentError, "size must be a count, got -1"),
        (
            lambda: gx.function(lambda i: gx.TensorArray("float32").write(i, 1.0))(gx.asarray(0)),
            UnimplementedError,
            "a position that is known at run time only cannot make the array longer; give it the size",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"(?s){message}.*test_tensor_array"):
        call()
