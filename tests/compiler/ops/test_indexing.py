"""Reading and replacing elements, held to NumPy eagerly and in graphs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, OutOfRangeError
from graphc.compiler.core import SymbolicTensor, Tensor, Variable, kernel, operand
from graphc.compiler.ops import asarray, get_item, update_item
from graphc.compiler.ops.indexing import GET_ITEM, UPDATE_ITEM
from tests.compiler.ops.support import KernelInterpreter, run, trace, types
from tests.draws import examples

X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)


@st.composite
def indices(draw: st.DrawFn, shape: tuple[int, ...] = X.shape) -> Any:
    """Indices that NumPy takes for an array of this shape: ints, slices, new axes, an ellipsis, arrays."""
    used = draw(st.integers(0, len(shape)))
    broadcast = draw(st.sampled_from([(2,), (1, 2), (3, 1)]))
    axes = list(range(used))
    ellipsis = draw(st.one_of(st.none(), st.integers(0, used)))
    if ellipsis is not None:
        axes = [*range(ellipsis), *range(len(shape) - (used - ellipsis), len(shape))]
    parts: list[Any] = []
    for axis in axes:
        size = shape[axis]
        position = st.integers(-size, size - 1)
        bound = st.one_of(st.none(), st.integers(-size - 2, size + 2))
        step = st.one_of(st.none(), st.sampled_from([1, 2, -1, -2]))
        array = st.lists(position, min_size=int(np.prod(broadcast)), max_size=int(np.prod(broadcast))).map(
            lambda values: np.asarray(values, np.int32).reshape(broadcast)
        )
        parts.append(draw(st.one_of(position, st.builds(slice, bound, bound, step), array)))
    if ellipsis is not None:
        parts.insert(ellipsis, Ellipsis)
    for place in draw(st.lists(st.integers(0, len(parts)), max_size=2)):
        parts.insert(place, None)
    return parts[0] if len(parts) == 1 and draw(st.booleans()) else tuple(parts)


@settings(max_examples=examples(60))
@given(index=indices())
def test_reading_is_that_of_numpy(index: Any) -> None:
    expected = X[index]
    np.testing.assert_array_equal(get_item(X, index).numpy(), expected)
    graph = trace(lambda x: get_item(x, index), [X])
    (output,) = KernelInterpreter(graph).run(X)
    np.testing.assert_array_equal(output, expected)
    assert [value.type for value in graph.outputs] == types([output])


@settings(max_examples=examples(40))
@given(index=indices(), fill=st.booleans())
def test_replacing_is_that_of_numpy(index: Any, fill: bool) -> None:
    # Equal values, since which of several is kept where an index names an element twice is not said.
    values = np.float32(-1) if fill else np.full(X[index].shape, -1, np.float32)
    expected = X.copy()
    expected[index] = values
    np.testing.assert_array_equal(update_item(X, index, values).numpy(), expected)
    graph = trace(lambda x, v: update_item(x, index, v), [X, values])
    (output,) = KernelInterpreter(graph).run(X, values)
    np.testing.assert_array_equal(output, expected)
    assert [value.type for value in graph.outputs] == types([output])


@pytest.mark.parametrize(
    ("how", "expected"), [("add", [9, 10, 21]), ("multiply", [20, 10, 120]), ("min", [4, 10, 1]), ("max", [5, 10, 20])]
)
def test_an_index_named_twice_counts_twice(how: str, expected: list[int]) -> None:
    x = asarray([5, 10, 20])
    result = update_item(x, [0, 2], [4, 1], how)
    twice = update_item(x, [2, 0, 2], [1, 4, 6], how)
    if how == "add":
        assert result.tolist() == expected
        assert twice.tolist() == [9, 10, 27]
    elif how == "multiply":
        assert twice.tolist() == expected
    else:
        assert result.tolist() == expected


def test_at_methods() -> None:
    x = asarray([1.0, 2.0, 3.0])
    assert x.at[1].set(7.0).tolist() == [1, 7, 3]
    assert x.at[1:].add(1.0).tolist() == [1, 3, 4]
    assert x.at[-1].multiply(2.0).tolist() == [1, 2, 6]
    assert x.at[0].min(0.0).tolist() == [0, 2, 3]
    assert x.at[0].max(9.0).tolist() == [9, 2, 3]
    assert x.at[1].get().item() == 2.0
    assert x.tolist() == [1, 2, 3]


def test_masks_with_values() -> None:
    mask = X % 2 == 0
    for given_mask in (mask, asarray(mask), jnp.asarray(mask)):
        np.testing.assert_array_equal(get_item(X, given_mask).numpy(), X[mask])
    rows = np.asarray([True, False, True])
    np.testing.assert_array_equal(get_item(X, (rows, slice(None), 1)).numpy(), X[rows, :, 1])
    expected = X.copy()
    expected[mask] = 0
    np.testing.assert_array_equal(update_item(X, mask, 0).numpy(), expected)
    (output,) = run(trace(lambda x: x[mask], [X]), [X])
    np.testing.assert_array_equal(output, X[mask])


def test_tensor_positions_wrap_and_clamp() -> None:
    x = asarray([10, 20, 30])
    assert x[asarray(-1)].item() == 30
    assert x[asarray([0, 7, -9])].tolist() == [10, 30, 10]
    graph = trace(lambda x, i: x[i], [np.asarray([10, 20, 30], np.int32), np.int32(0)])
    for position, expected in [(0, 10), (-1, 30), (5, 30)]:
        assert run(graph, [np.asarray([10, 20, 30], np.int32), np.int32(position)])[0] == expected


def test_update_out_of_range_is_left_out() -> None:
    assert asarray([1, 2, 3]).at[asarray(5)].set(9).tolist() == [1, 2, 3]


def test_variables_are_read() -> None:
    variable = Variable([1.0, 2.0, 3.0])
    assert variable[1].item() == 2.0
    assert variable[1:].tolist() == [2.0, 3.0]
    assert variable.at[0].set(5.0).tolist() == [5.0, 2.0, 3.0]


def test_empty_and_scalar() -> None:
    assert asarray([1, 2])[[]].shape == (0,)
    assert get_item(3.0, ...).item() == 3.0
    assert get_item(3.0, None).shape == (1,)
    assert asarray([1, 2])[5:].shape == (0,)


def test_eager_loop_over_positions_compiles_one_program() -> None:
    x = asarray(np.arange(257, dtype=np.float32))
    before = len(GET_ITEM.caches)
    assert [x[i].item() for i in range(5)] == [0, 1, 2, 3, 4]
    assert [x[i : i + 3].tolist() for i in range(5)] == [[i, i + 1, i + 2] for i in range(5)]
    assert len(GET_ITEM.caches) <= before + 2
    for attrs in list(GET_ITEM.caches)[before:]:
        compiled: Any = kernel(GET_ITEM, attrs)
        assert compiled._cache_size() == 1


def test_graph_keeps_positions_static() -> None:
    graph = trace(lambda x: x[1, ..., 2:, None], [X])
    (node,) = graph.nodes
    assert node.attrs["index"] == (1, "...", (2, None, None), None)


class RolledIndex:
    """What the operators of the decorator give a rolled loop as its index."""

    __graphc_index__ = True

    def __init__(self, tensor: Any, low: int, high: int) -> None:
        self.tensor = tensor
        self.low = low
        self.high = high
        self.reasons: list[str] = []

    def give_up(self, reason: str) -> Any:
        raise GivenUpError(reason)

    def window(self, bounds: slice, size: int) -> tuple[Any, int]:
        return self.give_up(f"a slice of an axis of size {size}")


class GivenUpError(Exception):
    pass


def test_index_of_a_rolled_loop() -> None:
    graph = trace(lambda x, i: x[RolledIndex(i, -3, 2)], [X, np.int32(0)])
    np.testing.assert_array_equal(run(graph, [X, np.int32(-1)])[0], X[-1])
    for low, high in [(0, 3), (-4, 0)]:
        with pytest.raises(GivenUpError, match=f"from {low} to {high}, outside axis 0 of size 3"):
            trace(lambda x, i, low=low, high=high: x[RolledIndex(i, low, high)], [X, np.int32(0)])
    with pytest.raises(GivenUpError, match="a slice of an axis of size 3"):
        trace(lambda x, i: x[RolledIndex(i, 0, 1) :], [X, np.int32(0)])


@pytest.mark.parametrize("how", ["eager", "graph"])
@pytest.mark.parametrize(
    ("index", "kind", "message"),
    [
        (3, OutOfRangeError, "index 3 is out of range for axis 0 of size 3"),
        ((0, -5), OutOfRangeError, "index -5 is out of range for axis 1 of size 4"),
        ((..., 5), OutOfRangeError, "index 5 is out of range for axis 2 of size 5"),
        ([0, 9], OutOfRangeError, "index 9 is out of range for axis 0 of size 3"),
        ((0, 0, 0, 0), OutOfRangeError, "4 indices for 3 axes"),
        ((..., 0, ...), InvalidArgumentError, "'...' may occur only once"),
        ("a", InvalidTypeError, "'a' is not an index"),
        (1.5, InvalidTypeError, "an index must have integers or bools, got ~f32"),
        (True, InvalidTypeError, "True is not an index; use None for a new axis, and gx.where to choose"),
        (slice(0.5, None), InvalidTypeError, "a slice bound must be an int or None, got 0.5"),
        (np.ones(4, bool), OutOfRangeError, r"a mask of shape \(4,\) on axes of shape \(3,\)"),
    ],
)
def test_bad_index(how: str, index: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        get_item(X, index) if how == "eager" else trace(lambda x: get_item(x, index), [X])
    assert "test_indexing.py" in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_mask_without_values_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"a mask .* use gx.sum\(gx.where\(mask, x, 0\)\)"):
        trace(lambda x: x[x > 0], [X])


def test_slice_by_a_tensor_without_value_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"use gx.dynamic_slice\(x, starts, sizes\)"):
        trace(lambda x, i: x[i:], [X, np.int32(0)])
    assert asarray([1, 2, 3])[asarray(1) :].tolist() == [2, 3]


def test_bad_update() -> None:
    x = asarray([1, 2, 3])
    with pytest.raises(InvalidTypeError, match=r"values of dtype float32 cannot be put into a tensor of dtype int32"):
        x.at[0].set(1.5)
    with pytest.raises(InvalidArgumentError, match=r"update_item\(x: i32\[3\], values: i32\[2\]"):
        x.at[:].set(np.asarray([1, 2], np.int32))
    with pytest.raises(InvalidArgumentError, match="how is 'divide', expected one of set, add"):
        update_item(x, 0, 1, "divide")
    with pytest.raises(OutOfRangeError, match="index 3 is out of range"):
        x.at[3].set(0)


def test_values_take_the_dtype_of_the_tensor() -> None:
    assert asarray([1.0, 2.0]).at[0].set(5).dtype == np.float32
    assert asarray([1.0, 2.0], dtype="float16").at[0].set(np.float32(5)).dtype == np.float16
    assert asarray([True, False]).at[1].set(True).dtype == np.bool_


def test_operand_of_an_index_that_is_a_sequence_of_tensors() -> None:
    one = asarray(1)
    assert isinstance(operand([one, one]), Tensor)
    assert asarray([5, 6])[[one, one]].tolist() == [6, 6]


def test_symbolic_result() -> None:
    seen: list[Any] = []
    trace(lambda x: seen.append(x[0]) or x[0], [X])
    assert isinstance(seen[0], SymbolicTensor)
    assert seen[0].shape == (4, 5)
    assert isinstance(get_item(jax.numpy.asarray(X), 0), Tensor)


class Position:
    """An object that stands for an int, another one each time it is set."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


@pytest.mark.parametrize(
    "use",
    [
        lambda i: gx.zeros(i).shape,
        lambda i: gx.reshape(gx.zeros(6), (i, -1)).shape,
        lambda i: gx.roll(gx.arange(6), i).tolist(),
        lambda i: gx.sum(gx.ones((2, 3, 4, 5)), axis=i).shape,
        lambda i: gx.arange(9)[i].item(),
        lambda i: gx.arange(9)[i:].tolist(),
    ],
)
def test_an_object_that_stands_for_an_int_is_asked_each_time(use: Callable[[Any], Any]) -> None:
    position = Position(2)
    assert use(position) == use(2)
    position.number = 3
    assert use(position) == use(3) != use(2)


@pytest.mark.parametrize(
    ("index", "shape", "how"),
    [
        (((None, None, 2),), (2, 4, 5), "set"),
        (((1, None, None), (1, None, 2)), (2, 2, 5), "add"),
        (("...", (1, 4, 2)), (2,), "max"),
        (((1, 3, None), "...", (None, None, 3)), (), "set"),
        (((None, None, 2), (None, None, 3), (1, None, 2)), (1, 2, 1, 2), "multiply"),
    ],
)
def test_places_that_lie_apart_are_written_without_a_scatter(index: Any, shape: tuple[int, ...], how: str) -> None:
    values = np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape) - 30
    combine: Any = {"set": lambda old, new: new, "add": np.add, "max": np.maximum, "multiply": np.multiply}[how]
    expected = X.copy()
    key = tuple(Ellipsis if item == "..." else slice(*item) for item in index)
    expected[key] = combine(expected[key], values[0] if len(shape) == 4 else values)
    program = jax.make_jaxpr(partial(UPDATE_ITEM.impl, index=index, how=how))(X, values)
    assert "scatter" not in str(program)
    np.testing.assert_array_equal(jax.core.eval_jaxpr(program.jaxpr, program.consts, X, values)[0], expected)


def test_few_places_that_lie_apart_are_written_one_by_one() -> None:
    assert "scatter" in str(
        jax.make_jaxpr(partial(UPDATE_ITEM.impl, index=((None, None, 9),), how="set"))(np.ones(90), 0.0)
    )
