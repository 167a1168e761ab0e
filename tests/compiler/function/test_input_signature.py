"""input_signature: numbers become tensors, and what methods are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc import TensorSpec

ONE = gx.asarray(1.0)


@pytest.mark.parametrize(
    ("dtype", "given"),
    [
        ("float32", 3),
        ("float32", 3.5),
        ("float32", [1, 2.5]),
        ("bfloat16", [[1.0], [2.0]]),
        ("int8", (1, 2)),
        ("bool", [True, False]),
        ("complex64", 2),
        ("float32", []),
    ],
)
def test_python_numbers_become_tensors(dtype: str, given: Any) -> None:
    seen: list[str] = []
    shape = np.shape(given)

    @gx.function(input_signature=[TensorSpec((None,) * len(shape), dtype)], side_effects="ignore")
    def function(x: Any) -> Any:
        seen.append(str(x.type))
        return x

    for value in (given, gx.asarray(given, dtype=dtype), given):
        result = function(value)
        assert (result.shape, result.dtype) == (shape, dtype)
        np.testing.assert_array_equal(result.numpy(), gx.asarray(given, dtype=dtype).numpy())
    assert len(seen) == 1


def test_calls_with_other_numbers_share_a_trace_and_other_shapes_do_not() -> None:
    function = gx.function(lambda x: x * 2, input_signature=[TensorSpec((None,), "int32")])
    assert [function([n]).tolist() for n in range(5)] == [[0], [2], [4], [6], [8]]
    assert function.num_traces == 1
    assert function([1, 2]).tolist() == [2, 4]
    assert function.num_traces == 2


def test_a_specification_of_any_shape() -> None:
    spec = TensorSpec(None, "int32")
    assert (str(spec), str(spec.type), str(TensorSpec([None, 3]).type)) == ("int32[*]", "i32[*]", "f32[?,3]")
    assert TensorSpec([None, 3]) == TensorSpec((None, 3))
    function = gx.function(lambda x: gx.sum(x), input_signature=[spec])
    assert [function(value).item() for value in (3, [1, 2], [[4], [5]])] == [3, 3, 9]
    with pytest.raises(ValueError, match=r"argument 'x' is f32\[2\], but input_signature requires int32\[\*\]"):
        function(gx.ones(2))


def test_numbers_in_structures() -> None:
    spec = {"k": [TensorSpec((), "float32"), TensorSpec((2,), "int32")], "n": None}
    function = gx.function(lambda x, n: (x["k"][0] * n, x["k"][1]), input_signature=[spec])
    first, second = function({"k": [1, [2, 3]], "n": None}, n=2)
    assert (first.dtype, first.item(), second.dtype, second.tolist()) == ("float32", 2, "int32", [2, 3])
    first, second = function({"k": [1, gx.asarray([2, 3])], "n": None}, n=2)  # a number beside a tensor
    assert (first.dtype, first.item(), second.tolist()) == ("float32", 2, [2, 3])


@pytest.mark.parametrize("size", [2, 4])
def test_a_size_that_is_said_is_that_size(size: int) -> None:
    function = gx.function(lambda x: x, input_signature=[TensorSpec((3, None), "float32")])
    assert function(gx.ones((3, 5))).shape == (3, 5)
    with pytest.raises(ValueError, match=rf"argument 'x' is f32\[{size},5\], but input_signature requires float32\[3,"):
        function(gx.ones((size, 5)))


def test_every_way_to_run_sees_the_same_numbers() -> None:
    made: list[gx.Variable] = []

    @gx.function(input_signature=[TensorSpec((), "float32")])
    def half(x: Any) -> Any:
        if not made:
            made.append(gx.Variable(0.0))
        return x // 2 + made[0]

    assert [str(half(3).type), str(half(3).type)] == ["f32[]", "f32[]"]
    assert gx.function(lambda x: half(3) + x)(ONE).item() == 2
    gx.run_functions_eagerly(True)
    try:
        assert half(3).dtype == "float32"
    finally:
        gx.run_functions_eagerly(False)
    with gx.GradientTape() as tape:
        y = half(3)
    assert tape.gradient(y, made[0]).item() == 1
    assert half.graph(3) is half.graph(gx.asarray(5.0))


@pytest.mark.parametrize(
    ("dtype", "given", "message"),
    [
        ("int32", 1.5, r"argument 'x': 1.5 cannot be a tensor of int32, which input_signature requires \(int32\[\]\)"),
        ("float32", 1j, r"argument 'x': 1j cannot be a tensor of float32"),
        ("int32", True, r"argument 'x': True cannot be a tensor of int32"),
        ("bool", 1, r"argument 'x': 1 cannot be a tensor of bool"),
        ("int8", 300, r"argument 'x': .*300.* out of bounds for int8"),
        ("int32", 2**70, r"argument 'x': .*too large"),
        ("int32", [[1], [2, 3]], r"argument 'x': .*inhomogeneous"),
        ("float32", "a", r"argument 'x' must be a tensor \(float32\[\]\), got 'a'"),
        ("float32", None, r"argument 'x' has the structure None, but input_signature requires \*"),
        ("float32", [1.0, 2.0], r"argument 'x' is f32\[2\], but input_signature requires float32\[\]"),
    ],
)
def test_numbers_that_do_not_fit(dtype: str, given: Any, message: str) -> None:
    function = gx.function(lambda x: x, input_signature=[TensorSpec((), dtype)])
    with pytest.raises(gx.errors.InvalidArgumentError, match=message) as caught:
        function(given)
    assert "function(given)" in str(caught.value)


class Model:
    @gx.function(input_signature=[TensorSpec((2,))])
    def double(this, x: Any) -> Any:  # noqa: N805  the instance may be called anything
        return x * 2

    @staticmethod
    @gx.function(input_signature=[TensorSpec((2,))])
    def triple(x: Any) -> Any:
        return x * 3


def test_the_instance_of_a_method_is_not_among_the_specifications() -> None:
    model = Model()
    assert Model.double(model, [1, 2]).tolist() == [2, 4]
    assert model.double([1, 2]).tolist() == [2, 4]
    assert model.triple([1, 2]).tolist() == Model.triple([1, 2]).tolist() == [3, 6]
    assert model.double.compare(gx.ones((2,)), rounds=0, show=False).equal
    with pytest.raises(ValueError, match=r"argument 'x' is f32\[3\], but input_signature requires float32\[2\]"):
        model.double(gx.ones((3,)))


def test_a_function_that_becomes_a_method_later() -> None:
    class Late:
        pass

    Late.double = gx.function(lambda me, x: x * 2, input_signature=[TensorSpec(())])  # pyright: ignore[reportAttributeAccessIssue]
    assert Late().double(3).item() == 6  # pyright: ignore[reportAttributeAccessIssue]


def test_a_first_argument_called_self_is_like_any_other() -> None:
    function = gx.function(lambda self, x: self + x, input_signature=[TensorSpec(()), TensorSpec(())])
    assert function(1, 2).item() == 3


def test_lists_are_taken_the_short_way_and_refused_as_the_first_time() -> None:
    double = gx.function(lambda x: x * 2, input_signature=[gx.TensorSpec((2,), "int32")])
    for given in ([1, 2], [3, 4], (5, 6), [7, 8], np.array([1, 2], "int32"), [9, 10]):
        assert double(given).tolist() == (np.asarray(given) * 2).tolist()
    for wrong in (
        [1, 2**31],
        [1, 2**70],
        [1.0, 2.0],
        [1, 2, 3],
        [[1, 2]],
        [1, [2]],
        [1, None],
        [True, False],
        [1, gx.asarray(2)],
    ):
        with pytest.raises((gx.errors.InvalidTypeError, gx.errors.InvalidArgumentError), match="argument 'x'"):
            double(wrong)
        assert double([3, 4]).tolist() == [6, 8]
    assert len(double.trace_report()) == 1


def test_lists_of_ints_and_of_floats_take_turns() -> None:
    half = gx.function(lambda x: x / 2, input_signature=[gx.TensorSpec((2, 1))])
    for number in range(4):
        assert half([[number], [2]]).tolist() == [[number / 2], [1]]
        assert half([[number + 0.5], [2.0]]).tolist() == [[number / 2 + 0.25], [1]]
    assert len(half.trace_report()) == 1
