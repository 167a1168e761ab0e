"""Item assignment in eager code, with NumPy as the oracle."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, OutOfRangeError
from tests.draws import examples

# --- what NumPy does

SHAPES = [(), (4,), (3, 2), (2, 3, 2)]


@st.composite
def masks(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    axes = draw(st.integers(1, len(shape)))
    return draw(hnp.arrays(np.bool_, shape[:axes]))


def indices(shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    basic = hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True)
    if not shape:
        return basic
    positions = hnp.integer_array_indices(shape, result_shape=hnp.array_shapes(max_dims=2, max_side=3))
    return st.one_of(basic, positions, masks(shape))


@st.composite
def assignments(draw: st.DrawFn) -> tuple[np.ndarray[Any, Any], Any, np.ndarray[Any, Any]]:
    """An array, an index, and values that fit; where the index may name an element twice, one value for all."""
    shape = draw(st.sampled_from(SHAPES))
    array = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    index = draw(indices(shape))
    fits = array[index].shape
    repeats = isinstance(index, tuple) and any(isinstance(part, np.ndarray) for part in index)
    kept = [1 if draw(st.booleans()) else size for size in fits]
    dropped = draw(st.integers(0, len(kept)))
    value_shape = () if repeats else tuple(kept[dropped:])
    count = int(np.prod(value_shape, dtype=int))
    return array, index, (100 + np.arange(count, dtype=np.float32)).reshape(value_shape)


@settings(max_examples=examples(50), deadline=None)
@given(assignments())
def test_it_does_what_numpy_does(case: Any) -> None:
    array, index, values = case
    tensor, numpy_before = gx.asarray(array), array.copy()
    same_object, earlier = tensor, tensor.numpy()
    tensor[index] = values
    array[index] = values
    np.testing.assert_array_equal(same_object.numpy(), array)
    np.testing.assert_array_equal(earlier, numpy_before)
    assert tensor.dtype == np.float32
    assert tensor.shape == array.shape


@settings(max_examples=examples(20), deadline=None)
@given(assignments())
def test_compiled_it_does_the_same(case: Any) -> None:
    array, index, values = case

    def assign(x: Any, v: Any) -> Any:
        x[index] = v
        return x + 1

    tensor = gx.asarray(array)
    found = gx.function(assign)(tensor, gx.asarray(values))
    array[index] = values
    np.testing.assert_array_equal(tensor.numpy(), array)
    np.testing.assert_array_equal(found.numpy(), array + 1)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize(
    ("shape", "axes", "values"),
    [
        ((4,), 1, ()),
        ((4,), 1, (1,)),
        ((2, 3), 1, (3,)),
        ((2, 3), 1, (1, 3)),
        ((2, 3), 2, (1,)),
        ((2, 3, 2), 2, (2,)),
        ((2, 3, 2), 1, (3, 1)),
    ],
)
def test_a_mask_without_a_value_takes_values_that_fit_any_number(
    shape: tuple[int, ...], axes: int, values: tuple[int, ...], compiled: bool
) -> None:
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    mask = (np.arange(np.prod(shape[:axes])) % 3 != 1).reshape(shape[:axes])
    put = 50 + np.arange(np.prod(values, dtype=int), dtype=np.float32).reshape(values)

    def assign(x: Any, m: Any, v: Any) -> None:
        x[m] = v

    x = gx.asarray(array)
    (gx.function(assign) if compiled else assign)(x, gx.asarray(mask), gx.asarray(put))
    array[mask] = put
    np.testing.assert_array_equal(x.numpy(), array)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_a_mask_beside_other_parts_of_an_index(compiled: bool) -> None:
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    rows, columns = np.array([True, False, True]), np.array([False, True, True, False])

    def assign(x: Any, m: Any, n: Any, k: Any) -> None:
        x[:, m] = -1.0
        x[1, m, 0] = -2.0
        x[..., n] = -3.0
        x[k, :, n] = -4.0
        x[None, :, m, 1:3] = x[0, 0, 1:3]
        x[0:1, m, ::2] = [[[7.0, 8.0]]]

    x = gx.asarray(array)
    (gx.function(assign) if compiled else assign)(x, gx.asarray(rows), gx.asarray(columns), gx.asarray(0))
    assign(array, rows, columns, 0)
    np.testing.assert_array_equal(x.numpy(), array)


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%", "**"])
def test_augmented_assignment_by_a_mask(symbol: str) -> None:
    source = f"def change(x, m):\n    x[m] {symbol}= 3.0\n    x[0, 1] {symbol}= 2.0\n"
    scope: dict[str, Any] = {}
    exec(source, scope)
    array = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]], np.float32)
    x, mask = gx.asarray(array), np.array([True, False])
    scope["change"](x, gx.asarray(mask))
    scope["change"](array, mask)
    np.testing.assert_allclose(x.numpy(), array, rtol=1e-6)


def test_an_index_named_twice_is_changed_once_by_augmented_assignment() -> None:
    x = gx.zeros(3)
    x[[0, 0, 1]] += 1.0
    assert x.tolist() == [1.0, 1.0, 0.0]


def test_scalars() -> None:
    x = gx.asarray(1.0)
    x[...] = 2.0
    assert x.item() == 2.0
    x[()] += 3
    assert x.item() == 5.0
    assert x.shape == ()


@pytest.mark.parametrize("values", [[1.0, 2.0], (1.0, 2.0), np.float64([1, 2]), [gx.asarray(1.0), 2.0]])
def test_values_of_many_kinds(values: Any) -> None:
    x = gx.zeros(3)
    x[1:] = values
    assert x.tolist() == [0.0, 1.0, 2.0]


def test_the_dtype_and_the_weakness_stay() -> None:
    strong, weak, half = gx.zeros(2), gx.asarray(1.0) * 1, gx.asarray([0, 0], dtype="float16")
    types = strong.type, weak.type, half.type
    strong[0], weak[...], half[1] = 3, np.float32(2), np.float32(0.5)
    assert (strong.type, weak.type, half.type) == types
    assert (strong.tolist(), weak.item(), half.tolist()) == ([3.0, 0.0], 2.0, [0.0, 0.5])


# --- one object


def test_every_name_sees_it_and_what_was_computed_before_does_not() -> None:
    x = gx.asarray([1.0, 2.0, 3.0])
    same, doubled, seen = x, x * 2, np.asarray(x)
    x[0] = 9.0
    assert same.tolist() == [9.0, 2.0, 3.0]
    assert doubled.tolist() == [2.0, 4.0, 6.0]
    assert seen.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "part", [lambda x: x[1:], lambda x: x[...], lambda x: x.T, lambda x: x.reshape(3, 1), gx.copy, copy.copy, np.copy]
)
def test_parts_and_copies_are_tensors_of_their_own(part: Any) -> None:
    x = gx.asarray([1.0, 2.0, 3.0])
    other = part(x)
    other[0] = 9.0
    assert x.tolist() == [1.0, 2.0, 3.0]
    assert np.ravel(other)[0] == 9.0
    x[:] = 0.0
    assert np.ravel(other)[0] == 9.0


def test_a_plain_augmented_assignment_binds_the_name_anew() -> None:
    x = y = gx.zeros(2)
    x += 1
    assert y.tolist() == [0.0, 0.0]
    assert x.tolist() == [1.0, 1.0]


def test_copies() -> None:
    x = gx.asarray([1.0, 2.0])
    deep, pickled, made = copy.deepcopy([x, x]), pickle.loads(pickle.dumps(x)), gx.asarray(x, copy=True)
    assert deep[0] is deep[1]
    assert gx.asarray(x) is x
    x[0] = 5.0
    assert [tensor.tolist() for tensor in (*deep, pickled, made, x)] == [[1.0, 2.0]] * 4 + [[5.0, 2.0]]


def test_the_same_array_in_two_tensors() -> None:
    array = gx.asarray([1.0, 2.0]).raw
    first, second = gx.Tensor(array), gx.Tensor(array)
    first[0] = 7.0
    assert second.tolist() == [1.0, 2.0]


def test_a_variable() -> None:
    variable = gx.Variable([1.0, 2.0, 3.0])
    before = variable.value()
    variable[1] = 5
    variable[variable > 2.5] *= 2
    assert variable.tolist() == [1.0, 10.0, 6.0]
    assert before.tolist() == [1.0, 2.0, 3.0]
    before[0] = 9.0
    assert variable.tolist() == [1.0, 10.0, 6.0]
    copied = variable.copy()
    copied[0] = 3.0
    assert variable.tolist() == [1.0, 10.0, 6.0]


def test_assigning_a_tensor_to_a_variable_does_not_tie_them() -> None:
    variable, x = gx.Variable([1.0, 2.0]), gx.asarray([3.0, 4.0])
    variable.assign(x)
    x[0] = 0.0
    variable[1] = 7.0
    assert (variable.tolist(), x.tolist()) == ([3.0, 7.0], [0.0, 4.0])


def test_a_failed_first_call_that_makes_variables_takes_assignments_back() -> None:
    holder: dict[str, Any] = {}

    @gx.function
    def fails(x: Any) -> Any:
        if "v" not in holder:
            holder["v"] = gx.Variable(1.0)
        x[0] = 5.0
        raise KeyError("x")

    x = gx.zeros(2)
    with pytest.raises(KeyError):
        fails(x)
    assert x.tolist() == [0.0, 0.0]


# --- bad input

X = gx.asarray([1, 2, 3])


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize(
    ("index", "value", "kind", "message"),
    [
        (3, 1, OutOfRangeError, "index 3 is out of range for axis 0 of size 3"),
        (-4, 1, OutOfRangeError, "index -4 is out of range"),
        ([0, 5], 1, OutOfRangeError, "index 5 is out of range"),
        ((0, 0), 1, OutOfRangeError, "2 indices for 1 axes"),
        ("a", 1, InvalidTypeError, "'a' is not an index"),
        (0, 1.5, InvalidTypeError, "values of dtype float32 cannot be put into a tensor of dtype int32 without loss"),
        (0, 1j, InvalidTypeError, "values of dtype complex64 cannot be put into a tensor of dtype int32"),
        (0, "a", InvalidTypeError, "update_item: expected a tensor, an array, a number .* got str 'a'"),
        (slice(0, 2), [1, 2, 3], InvalidArgumentError, r"values of shape \(3,\) do not fit elements of shape \(2,\)"),
        (0, [1, 2], InvalidArgumentError, r"values of shape \(2,\) do not fit elements of shape \(\)"),
        (np.ones(4, bool), 0, OutOfRangeError, r"a mask of shape \(4,\) on axes of shape \(3,\)"),
        (0, 2**40, InvalidArgumentError, "the Python int 1099511627776 does not fit int32"),
    ],
)
def test_what_is_refused(index: Any, value: Any, kind: type[Exception], message: str, compiled: bool) -> None:
    def assign(x: Any) -> None:
        x[index] = value

    x = gx.copy(X)
    with pytest.raises(kind, match=message) as caught:
        (gx.function(assign) if compiled else assign)(x)
    assert "test_item_assignment.py" in str(caught.value)
    assert x.tolist() == [1, 2, 3]


def test_python_ints_that_do_not_fit() -> None:
    x = gx.asarray([1, 2], dtype="uint8")
    for value in (300, -1):
        with pytest.raises(InvalidArgumentError, match=f"the Python int {value} does not fit uint8; use a float, or"):
            x[0] = value
    with pytest.raises(InvalidArgumentError, match="the Python int 256 does not fit uint8"):
        x[:] = [1, 256]
    x[:] = np.array([1, 256])  # an array wraps around, as in NumPy
    assert x.tolist() == [1, 0]


def test_values_that_depend_on_what_a_mask_holds() -> None:
    x = gx.asarray([1.0, 2.0, 3.0])
    x[x > 1.5] = [8.0, 9.0]
    assert x.tolist() == [1.0, 8.0, 9.0]

    @gx.function
    def assign(x: Any, values: Any) -> None:
        x[x > 1.5] = values

    @gx.function
    def change(x: Any, values: Any) -> None:
        x[x > 1.5] += values

    for function in (assign, change):
        with pytest.raises(InvalidArgumentError, match=r"a mask .* values of shape \(2,\) .* use gx.where\(mask"):
            function(x, gx.asarray([8.0, 9.0]))


def test_items_cannot_be_deleted() -> None:
    def delete(x: Any) -> None:
        del x[0]

    for run in (delete, gx.function(delete)):
        with pytest.raises(InvalidTypeError, match=r"items of a tensor .*cannot be deleted") as caught:
            run(gx.zeros(2))
        assert "test_item_assignment.py" in str(caught.value)


def test_asarray_without_a_copy() -> None:
    x = gx.zeros(2)
    assert gx.asarray(x, copy=False) is x
    for value, options in (([1.0], {}), (x, {"dtype": "int32"})):
        with pytest.raises(InvalidArgumentError, match="copy=False"):
            gx.asarray(value, copy=False, **options)


def test_a_ufunc_does_not_write_into_a_tensor() -> None:
    x = gx.zeros(2)
    with pytest.raises(TypeError):
        np.add(x, 1, out=x)
    with pytest.raises(TypeError):
        np.add.at(x, [0], 1)
    assert x.tolist() == [0.0, 0.0]
