"""Tensor: the protocols of NumPy, DLPack and asyncio, operators, conversions, waiting."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphc as gx

X = np.asarray([[1.0, 2.0], [3.0, 4.0]], np.float32)
BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.matmul, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
]  # fmt: skip
BITWISE = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
UNARY = [operator.neg, operator.pos, operator.abs]


def same(tensor: Any, expected: Any) -> None:
    """A tensor with these values, to float32 rounding, and the dtype that JAX would give."""
    assert isinstance(tensor, gx.Tensor)
    expected = jnp.asarray(expected)
    assert tensor.dtype == expected.dtype
    np.testing.assert_allclose(tensor.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.__name__)
@pytest.mark.parametrize("other", ["tensor", "numpy", "jax", "list", "variable"])
def test_binary_operators_take_arrays_on_either_side(op: Callable[..., Any], other: str) -> None:
    values = np.asarray([[2.0, 1.0], [0.5, 3.0]], np.float32)
    make = {
        "tensor": gx.asarray, "numpy": np.asarray, "jax": jnp.asarray, "list": np.ndarray.tolist,
        "variable": gx.Variable,
    }[other]  # fmt: skip
    same(op(gx.asarray(X), make(values)), op(jnp.asarray(X), jnp.asarray(values)))
    if other != "jax":  # a jax.Array's own operator comes first there, and takes the tensor as an array
        same(op(make(values), gx.asarray(X)), op(jnp.asarray(values), jnp.asarray(X)))


@pytest.mark.drawn(4)
@pytest.mark.parametrize("op", [op for op in BINARY if op is not operator.matmul], ids=lambda op: op.__name__)
@pytest.mark.parametrize("scalar", [2, 0.5, True, np.float32(3), np.int32(2)], ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, jnp.bfloat16])
def test_scalars_take_the_dtype_that_jax_gives_them(op: Callable[..., Any], scalar: Any, dtype: Any) -> None:
    ours, theirs = gx.asarray(X, dtype=dtype), jax.ShapeDtypeStruct(np.shape(X), dtype)
    values = np.asarray(X, dtype).astype(np.float64)
    for left, right, by_jax, by_numpy in (
        (ours, scalar, lambda x: op(x, scalar), lambda: op(values, float(scalar))),
        (scalar, ours, lambda x: op(scalar, x), lambda: op(float(scalar), values)),
    ):
        try:
            wanted = jax.eval_shape(by_jax, theirs)
        except TypeError:
            with pytest.raises(TypeError):
                op(left, right)
        else:
            result = op(left, right)
            assert result.dtype == wanted.dtype
            rtol = 1e-2 if dtype is jnp.bfloat16 else 1e-6
            np.testing.assert_allclose(result.numpy().astype(np.float64), by_numpy(), rtol=rtol)


@pytest.mark.parametrize("op", BITWISE, ids=lambda op: op.__name__)
def test_bitwise_operators(op: Callable[..., Any]) -> None:
    a, b = np.asarray([1, 6, 12], np.int32), np.asarray([3, 2, 1], np.int32)
    same(op(gx.asarray(a), gx.asarray(b)), op(a, b))
    same(op(gx.asarray(a), 2), op(a, 2))
    same(op(5, gx.asarray(b)), op(np.int32(5), b))
    same(~gx.asarray(a), ~a)


@pytest.mark.parametrize("op", UNARY, ids=lambda op: op.__name__)
def test_unary_operators(op: Callable[..., Any]) -> None:
    same(op(gx.asarray(X - 2)), op(X - 2))


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1).filter(bool))
def test_integer_arithmetic_is_that_of_numpy_int32(a: int, b: int) -> None:
    ours, theirs = gx.asarray(a), np.int32(a)
    with np.errstate(over="ignore"):
        for op in (operator.add, operator.mul, operator.sub):
            assert op(ours, b).item() == op(theirs, np.int32(b)).item()
        if not (a == -(2**31) and b == -1):
            assert (ours // b).item() == a // b
            assert (ours % b).item() == a % b


class Foreign:
    """Knows how to be added to a tensor."""

    def __radd__(self, other: Any) -> str:
        return f"added to {type(other).__name__}"

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


def test_an_operator_leaves_what_it_does_not_know_to_the_other_side() -> None:
    assert gx.asarray(X) + Foreign() == "added to Tensor"
    assert (gx.asarray(X) == Foreign()) is True
    assert (gx.asarray(X) == None) is False  # noqa: E711
    assert (gx.asarray(X) != "text") is True
    with pytest.raises(TypeError, match="unsupported operand"):
        gx.asarray(X) + None
    with pytest.raises(TypeError, match="can only concatenate str"):
        "text" + gx.asarray(X)


def test_shapes_that_do_not_fit_name_the_op_its_arguments_and_the_line() -> None:
    with pytest.raises(gx.errors.InvalidArgumentError) as caught:
        gx.ones((2, 3)) + gx.ones((4,))  # the line
    message = str(caught.value)
    assert message.startswith("add(x1: f32[2,3], x2: f32[4]): ")
    assert "test_tensor.py" in message
    assert "# the line" in message
    with pytest.raises(ValueError, match=r"matmul\(x1: f32\[2,3\], x2: f32\[2,3\]\)"):
        gx.ones((2, 3)) @ gx.ones((2, 3))


def test_dtypes_that_do_not_fit_are_type_errors() -> None:
    with pytest.raises(gx.errors.InvalidTypeError, match=r"bitwise_and\(x1: f32\[2\], x2: f32\[2\]\)"):
        gx.ones((2,)) & gx.ones((2,))
    with pytest.raises(TypeError):
        gx.ones((2,)) << 1


@pytest.mark.parametrize("value", ["text", None, object(), np.asarray(["a"]), {1: 2}], ids=lambda v: type(v).__name__)
def test_what_is_no_tensor_is_refused_with_the_line(value: Any) -> None:
    with pytest.raises(gx.errors.InvalidTypeError, match=r"exp: (expected|cannot make|x is) a tensor") as caught:
        gx.exp(value)
    assert "gx.exp(value)" in str(caught.value)


def test_ragged_lists_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot make a tensor"):
        gx.asarray([[1.0], [2.0, 3.0]])


def test_a_tensor_is_no_key() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(gx.asarray(1))
    with pytest.raises(TypeError, match="unhashable"):
        hash(gx.Variable(1))


def test_python_conversions() -> None:
    assert bool(gx.asarray(0.0)) is False
    assert bool(gx.asarray([[3]])) is True
    assert int(gx.asarray(3.7)) == 3
    assert float(gx.asarray([2])) == 2.0
    assert complex(gx.asarray(1 + 2j)) == 1 + 2j
    assert [10, 20, 30][gx.asarray(1)] == 20
    assert list(range(gx.asarray(3))) == [0, 1, 2]
    assert f"{gx.asarray(0.125):.2f}" == "0.12"
    assert gx.asarray([1, 2]).tolist() == [1, 2]
    assert gx.asarray([5]).item() == 5


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda: bool(gx.ones((2,))), ValueError, r"exactly one element, this tensor is f32\[2\]; use gx.any"),
        (lambda: gx.ones((2,)).item(), ValueError, r"item\(\) needs exactly one element, this tensor is f32\[2\]"),
        (lambda: float(gx.ones((3,))), ValueError, r"exactly one element"),
        (lambda: [1][gx.asarray(0.0)], TypeError, r"only a 0-d integer tensor can be an index, got f32\[\]"),
        (lambda: [1][gx.asarray([0])], TypeError, r"only a 0-d integer tensor"),
        (lambda: len(gx.asarray(1)), TypeError, r"len\(\) of a 0-d tensor"),
        (lambda: list(gx.asarray(1)), TypeError, r"iteration over a 0-d tensor"),
    ],
)
def test_conversions_that_have_no_answer(use: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        use()
    assert isinstance(caught.value, gx.errors.GraphcError)
    assert "test_tensor.py" in str(caught.value)


def test_updates_make_copies() -> None:
    x = gx.ones((3,))
    assert x.at[1].set(5.0).tolist() == [1, 5, 1]
    assert x.at[1:].add(1.0).tolist() == [1, 2, 2]
    assert x.at[0].multiply(3.0).tolist() == [3, 1, 1]
    assert x.at[0].min(0.0).tolist() == [0, 1, 1]
    assert x.at[0].max(4.0).tolist() == [4, 1, 1]
    assert x.at[2].get().item() == 1
    assert x.tolist() == [1, 1, 1]


def test_attributes_and_methods() -> None:
    x = gx.asarray(X)
    assert (x.shape, x.ndim, x.size, len(x), x.dtype) == ((2, 2), 2, 4, 2, np.float32)
    assert x.T.tolist() == X.T.tolist()
    assert [row.tolist() for row in x] == X.tolist()
    assert x.reshape(4).shape == x.reshape((4,)).shape == x.reshape(-1).shape == (4,)
    assert x.sum(axis=0, keepdims=True).tolist() == [[4, 6]]
    assert (x.mean().item(), x.max().item(), x.min().item()) == (2.5, 4, 1)
    assert x.astype("int32").dtype == np.int32
    assert x.device == "/device:CPU:0"


def test_numpy_reads_tensors() -> None:
    x = gx.asarray(X)
    assert np.asarray(x).tolist() == X.tolist()
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    copy = np.array(x)
    copy[0, 0] = 100
    assert x.tolist() == X.tolist()


@pytest.mark.parametrize(
    ("ufunc", "count"), [(np.sin, 1), (np.absolute, 1), (np.power, 2), (np.arctan2, 2), (np.maximum, 2), (np.invert, 0)]
)
def test_numpy_ufuncs_of_tensors_are_graphc_ops(ufunc: np.ufunc, count: int) -> None:
    if count == 0:
        same(ufunc(gx.asarray([1, 2])), [-2, -3])
        return
    same(ufunc(*[gx.asarray(X)] * count), ufunc(*[X] * count))


def test_numpy_functions_of_tensors_are_graphc_ops() -> None:
    x = gx.asarray(X)
    same(np.sum(x, axis=1), X.sum(1))
    same(np.concatenate([x, x]), np.concatenate([X, X]))
    same(np.transpose(x), X.T)
    same(np.where(x > 2, x, 0.0), np.where(X > 2, X, 0).astype(np.float32))
    same(np.amax(x), X.max())
    with pytest.raises(gx.errors.InvalidTypeError, match=r"numpy\.place changes an array in place"):
        np.place(x, x > 1, [0.0])
    with pytest.raises(TypeError):
        np.add(x, x, out=X.copy())
    with pytest.raises(TypeError):
        np.add.reduce(x)


@pytest.mark.parametrize("size", [3, 1024, 1 << 20])
def test_numpy_memory_is_read_before_the_call_returns(size: int) -> None:
    """JAX by itself reads it later, or for good, depending on size and alignment."""
    assigned = gx.Variable(np.ones(size, np.float32))
    compiled = gx.function(lambda x: x * 1.0)
    for _ in range(5):
        values = np.zeros(size, np.float32)
        assigned.assign(values)
        results = [gx.asarray(values), gx.Variable(values), gx.add(values, 0.0), compiled(values), assigned]
        values[:] = 7
        for result in results:
            assert result.numpy()[[0, -1]].tolist() == [0, 0]


def test_dlpack_with_numpy_and_jax() -> None:
    x = gx.asarray(X)
    assert np.from_dlpack(x).tolist() == X.tolist()
    assert jnp.from_dlpack(x).tolist() == X.tolist()


def test_jax_reads_tensors_and_its_tracers_are_refused() -> None:
    assert jnp.sin(jnp.asarray(gx.asarray(X))).shape == (2, 2)
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"outside jax\.jit.*JAX function .*: gx\.to_jax\(f"):
        jax.jit(lambda x: gx.exp(x).raw)(X)
    with pytest.raises(gx.errors.InvalidArgumentError, match="call graphc from outside"):
        jax.grad(lambda x: (gx.asarray(1.0) * x).raw)(1.0)


def test_waiting() -> None:
    x = gx.ones((300, 300))
    y = x @ x
    assert y.wait() is y
    gx.wait_all()

    async def twice(value: gx.Tensor) -> tuple[gx.Tensor, float]:
        done = await value
        return done, (await (value * 2)).sum().item()

    done, total = asyncio.run(twice(y))
    assert done is y
    assert total == 2 * 300**3


def test_text() -> None:
    assert repr(gx.asarray([1.0, 2.0])) == "Tensor([1., 2.], shape=(2,), dtype=float32)"
    assert str(gx.asarray([1.0, 2.0])) == "[1. 2.]"
    assert "..." in repr(gx.zeros((1000,)))


def test_a_device_scope_keeps_dtypes_and_moves_values() -> None:
    with gx.device("cpu:2"):
        y = gx.asarray(np.int8(1)) + 1
        z = gx.ones((2,)) * gx.asarray(X)
        v = gx.Variable(1.0)
    assert (y.dtype, y.device, z.device, v.device) == (np.int8, "/device:CPU:2", "/device:CPU:2", "/device:CPU:2")
    assert (gx.ones((2,)) + 1).device == "/device:CPU:0"


def test_a_device_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(LookupError, match=r"there is no device gpu:7; this process has /device:CPU:0, ") as caught:
        gx.device("gpu:7")
    assert "test_tensor.py" in str(caught.value)
    with pytest.raises(gx.errors.GraphcError):
        gx.device("nonsense:x:y")


@pytest.mark.parametrize("compiled", [False, True])
def test_an_int_to_a_negative_power_is_refused(compiled: bool) -> None:
    def f(x: Any) -> Any:
        return x**-1

    with pytest.raises(gx.errors.InvalidArgumentError, match=r"pow: integers to negative .* i32\[\] \*\* -1.*astype"):
        (gx.function(f) if compiled else f)(gx.asarray(3))
    assert (gx.asarray(4.0) ** -1).item() == 0.25


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("power", [lambda x: x**-1, lambda x: gx.power(x, -1), lambda x: x ** np.asarray([2, -1])])
def test_truth_values_and_arrays_of_exponents_are_refused_alike(power: Any, compiled: bool) -> None:
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"integer powers are not .* bool\[2\] \*\* -1.*astype"):
        (gx.function(power) if compiled else power)(gx.asarray([True, False]))


def test_an_axis_that_is_not_there_is_out_of_range() -> None:
    with pytest.raises(gx.errors.OutOfRangeError, match=r"mean\(x: f32\[3\], axis=5\)"):
        gx.mean(gx.ones(3), axis=5)


def test_rows_are_taken_apart_many_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    x = gx.reshape(gx.arange(360), (120, 3))
    expected = x.numpy()
    with monkeypatch.context() as patch:
        patch.setattr(gx.Tensor, "__getitem__", None)  # one kernel for each row
        rows = list(x)
    assert len(rows) == 120
    np.testing.assert_array_equal(gx.stack(rows).numpy(), expected)
    a, b = gx.asarray([1.5, 2.5])
    assert (a.item(), b.item(), a.shape) == (1.5, 2.5, ())


def test_iteration_sees_the_rows_as_they_are_when_it_comes_to_them() -> None:
    x, found = gx.asarray([1, 2, 3, 4]), []
    for place, item in enumerate(x):
        if place < 3:
            x[place + 1] = item * 10
        found.append(item.item())
    assert found == [1, 10, 100, 1000]


def test_a_tape_follows_the_rows_from_where_it_is_opened() -> None:
    x = gx.asarray([1.0, 2.0, 3.0])
    rows = iter(x)
    next(rows)
    with gx.GradientTape() as tape:
        tape.watch(x)
        total = sum(row * row for row in rows)
    np.testing.assert_array_equal(tape.gradient(total, x).numpy(), [0.0, 4.0, 6.0])


@pytest.mark.parametrize("size", [3, 100_000])
def test_a_tensor_of_a_numpy_array_has_memory_of_its_own(size: int) -> None:
    array = np.ones(size, np.float32)
    x, y = gx.asarray(array), gx.zeros(size) + array
    array[:] = 7.0
    assert gx.all(x == 1.0)
    assert gx.all(y == 1.0)


def test_a_variable_of_a_numpy_array_is_updated_in_place() -> None:
    variable = gx.Variable(gx.asarray(np.ones(100_000, np.float32)))

    @gx.function
    def step() -> None:
        variable.assign_add(gx.ones(100_000))

    step()
    step()
    assert gx.all(variable == 3.0)


class _Own:
    """An object whose ``__array__`` gives its own memory, whatever it is asked for."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.array


@pytest.mark.parametrize("size", [4, 300])
@pytest.mark.parametrize(
    "make",
    [gx.asarray, lambda a: gx.asarray(a, "float32"), lambda a: gx.asarray(_Own(a)), gx.Variable],
    ids=["asarray", "dtype", "__array__", "Variable"],
)
def test_later_changes_of_a_numpy_array_are_not_seen(make: Callable[[Any], Any], size: int) -> None:
    # jnp.asarray copies in the background, and jax.device_put keeps the memory.
    for _ in range(5):
        array = np.zeros((size, size), np.float32)
        made = make(array)
        array[...] = 7
        assert not made.numpy().any()
