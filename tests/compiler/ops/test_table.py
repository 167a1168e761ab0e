"""The mechanism of the table: binding of arguments, attributes, inference, folding, messages."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphc.compiler.base.errors import ConcretizationError, InternalError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import FUNCTIONS, Tensor
from graphc.compiler.ir import OPS, Attrs, TensorType
from graphc.compiler.ops import add, asarray, clip, concat, full, matmul, reshape, split, where, zeros
from graphc.compiler.ops import sum as sum_
from graphc.compiler.ops.public import combinations
from graphc.compiler.ops.signature import REQUIRED, RowSignature
from graphc.compiler.ops.table import ROWS, define, infer_by_evaluation, row
from tests.compiler.ops.support import run, trace, types

X = asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.fixture
def restored() -> Iterator[None]:
    """Takes back what a test adds to the registries."""
    tables: list[Any] = [OPS._entries, OPS._makers, FUNCTIONS._entries, FUNCTIONS._makers, ROWS._entries]
    saved = [dict(table) for table in tables]
    yield
    for table, entries in zip(tables, saved, strict=True):
        table.clear()
        table.update(entries)


def test_signature() -> None:
    parsed = RowSignature.parse("x, axis: Axis = None, *rest, keepdims: bool = False, dtype: DType")
    assert parsed.tensors == ("x", "*rest")
    assert parsed.defaults == {"axis": None, "keepdims": False, "dtype": REQUIRED}
    assert parsed.typed == ("x: ArrayLike, axis: Axis = None, *rest: ArrayLike, keepdims: bool = False, dtype: DType")
    assert set(parsed.words) == {"x", "axis", "rest", "keepdims", "dtype"}
    assert RowSignature.parse("arrays: Tensors").tensors == ("*arrays",)


@pytest.mark.usefixtures("restored")
def test_a_row_makes_an_op_and_a_function() -> None:
    entries = (row("test.scale", lambda x, by=2.0: x * by, "x, by: float = 2.0", "x times by.", aliases=("grow",)),)
    module = ModuleType("tests")
    define(vars(module), entries)
    assert module.__all__ == ["grow", "scale"]
    assert {"grow", "scale"} <= set(dir(module))
    assert "test.scale" in OPS
    assert "scale" not in vars(module), "made when it is first used"
    assert module.scale(X, by=3).tolist() == [[3, 6, 9], [12, 15, 18]]
    assert module.grow is module.scale is FUNCTIONS["test.grow"]
    (node,) = trace(lambda x: module.scale(x), [np.float32(1)]).nodes
    assert node.op is OPS["test.scale"]
    assert dict(node.attrs) == {}
    with pytest.raises(InternalError, match=r"the op 'test.scale' is registered twice"):
        define(vars(module), entries)


def test_optional_tensors_show_without_parsing_a_signature() -> None:
    for entry in itertools.chain.from_iterable(ROWS.values()):
        for names in combinations(RowSignature.parse(entry.signature).optional):
            assert ".".join((entry.name, *names)) in OPS


def test_python_binds_the_arguments() -> None:
    with pytest.raises(TypeError, match=r"add\(\) missing 1 required positional argument: 'x2'"):
        add(X)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="unexpected keyword argument 'axes'"):
        sum_(X, axes=0)  # pyright: ignore[reportCallIssue]


def test_attributes_are_canonical() -> None:
    def attrs(function: Any) -> dict[str, Any]:
        return dict(trace(function, [np.zeros((2, 3), np.float32)]).nodes[0].attrs)

    assert attrs(lambda x: sum_(x)) == attrs(lambda x: sum_(x, axis=None, keepdims=False)) == {}
    for axis in ([0], (0,), np.asarray([0]), (np.int64(0),), asarray([0])):
        assert attrs(lambda x, axis=axis: sum_(x, axis)) == {"axis": (0,)}
    for size in (6, np.int32(6), asarray(6), jnp.asarray(6)):
        assert attrs(lambda x, size=size: reshape(x, size)) == {"shape": 6}
    assert attrs(lambda x: sum_(x, dtype="float16")) == attrs(lambda x: sum_(x, dtype=np.float16))
    assert attrs(lambda x: sum_(x, keepdims=True))["keepdims"] is True


def test_inference_is_cached_by_types_and_attributes() -> None:
    calls: list[Any] = []

    def impl(x: Any, n: int = 1) -> Any:
        calls.append(x)
        return x * n

    infer = infer_by_evaluation(impl)
    vector = TensorType((3,), np.dtype(np.float32))
    assert infer([vector], Attrs(), ()) == infer([vector], Attrs(), ()) == (vector,)
    assert len(calls) == 1
    infer([vector], Attrs(n=2), ())
    infer([TensorType((), np.dtype(np.int32), weak=True)], Attrs(), ())
    assert len(calls) == 3


def test_a_sequence_of_outputs_is_a_tuple_of_any_length() -> None:
    assert [part.shape for part in split(X, 1)] == [(2, 3)]
    assert isinstance(split(X, 1), tuple)


def test_weak_scalars_keep_the_dtype_of_tensors() -> None:
    half = asarray([1.0], dtype="float16")
    assert add(half, 1.5).dtype == np.float16
    assert where(asarray([True]), half, 0).dtype == np.float16
    assert add(asarray([1], dtype="int8"), 1).dtype == np.int8


@pytest.mark.parametrize("how", ["eager", "graph"])
def test_shapes_that_do_not_fit(how: str) -> None:
    y = np.ones(2, np.int32)
    with pytest.raises(
        InvalidArgumentError, match=r"add\(x1: f32\[2,3\], x2: i32\[2\]\): .*\(2, 3\), \(2,\)"
    ) as caught:
        add(X, y) if how == "eager" else trace(lambda x: add(x, y), [X.numpy()])
    assert "test_table.py" in str(caught.value)
    assert "add(X, y)" in str(caught.value) or "add(x, y)" in str(caught.value)


def test_the_message_names_each_argument_and_attribute() -> None:
    with pytest.raises(InvalidArgumentError, match=r"concat\(arrays\[0\]: f32\[2,3\], arrays\[1\]: f32\[2\], axis=1\)"):
        concat([X, asarray([1.0, 2.0])], axis=1)
    with pytest.raises(InvalidArgumentError, match=r"sum\(x: f32\[2,3\], axis=2\): .*out of bounds"):
        sum_(X, axis=2)
    with pytest.raises(InvalidArgumentError, match=r"reshape\(x: f32\[2,3\], shape=\(4, 2\)\)"):
        reshape(X, (4, 2))


def test_what_is_no_tensor() -> None:
    with pytest.raises(InvalidTypeError, match=r"add: expected a tensor, an array, a number .* got object") as caught:
        add(X, object())  # pyright: ignore[reportArgumentType]
    assert isinstance(caught.value, TypeError)
    assert "test_table.py" in str(caught.value)
    with pytest.raises(InvalidTypeError, match=r"matmul: expected a tensor.* got NoneType None"):
        matmul(X, None)  # pyright: ignore[reportArgumentType]


def test_what_is_not_static() -> None:
    with pytest.raises(InvalidTypeError, match=r"sum: axis must be static .* got <object") as caught:
        sum_(X, axis=object())  # pyright: ignore[reportArgumentType]
    assert "test_table.py" in str(caught.value)
    with pytest.raises(InvalidTypeError, match="zeros: 'floot' is not a dtype") as caught:
        zeros(2, "floot")
    assert "test_table.py" in str(caught.value)
    with pytest.raises(ConcretizationError, match="zeros: shape must be known while the function is traced") as error:
        trace(lambda n: zeros((n, 2)), [np.int32(2)])
    assert "pass a Python number" in str(error.value)


def test_asarray() -> None:
    assert asarray(X) is X
    assert asarray(1.5).type == TensorType((), np.dtype(np.float32))
    assert asarray(True).dtype == np.bool_
    assert asarray([1, 2], dtype="bfloat16").dtype == jnp.bfloat16
    assert asarray([X, X]).shape == (2, 2, 3)
    assert asarray(X, dtype="int32").tolist() == [[1, 2, 3], [4, 5, 6]]
    source = np.zeros(1000, np.float32)
    copied = asarray(source)
    source += 1
    assert not copied.numpy().any()
    graph = trace(lambda x: asarray([1.0, 2.0]) + asarray(3, "float32") + asarray(x, "float32"), [np.int32(1)])
    assert np.asarray(run(graph, [np.int32(1)])[0]).tolist() == [5, 6]


def test_asarray_refuses() -> None:
    with pytest.raises(InvalidArgumentError, match="asarray: cannot make a tensor from") as caught:
        asarray([[1], [2, 3]])
    assert "test_table.py" in str(caught.value)
    with pytest.raises(InvalidTypeError, match=r"asarray: .*is not numeric"):
        asarray(["a", 1])
    with pytest.raises(InvalidTypeError, match=r"asarray: expected a tensor.* got object"):
        asarray(object())  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidTypeError, match="'floot' is not a dtype"):
        asarray(1, "floot")


def test_clip() -> None:
    assert clip([-1.0, 0.5, 2.0], 0.0, 1.0).tolist() == [0.0, 0.5, 1.0]
    assert clip([1, 5], max=3).tolist() == [1, 3]
    assert clip([1, 5], min=[2, 2]).tolist() == [2, 5]
    assert clip([1.0]).tolist() == [1.0]


def test_filled_tensors_do_not_yield_in_promotion() -> None:
    assert not full(2, 1.5).type.weak
    assert add(full(2, 1.5), asarray([1], dtype="float16")).dtype == np.float32


# Folding: where NumPy's result has the type that inference gives, it has the bits that XLA gives.

_DTYPES = ("bool", "int8", "int32", "uint8", "uint32", "float16", "bfloat16", "float32", "complex64")


def vectors(name: str) -> st.SearchStrategy[np.ndarray[Any, Any]]:
    """Vectors of a dtype. Subnormal numbers are left out: XLA may flush them."""
    if name == "bfloat16":
        numbers = st.lists(st.floats(-1000, 1000, width=16, allow_subnormal=False), min_size=4, max_size=4)
        return numbers.map(lambda values: np.asarray(values, ml_dtypes.bfloat16))
    dtype = np.dtype(name)
    plain = {"allow_subnormal": False} if dtype.kind in "fc" else {}
    return hnp.arrays(dtype, (4,), elements=hnp.from_dtype(dtype, **plain))


PAIRS = st.tuples(st.sampled_from(_DTYPES), st.sampled_from(_DTYPES)).flatmap(
    lambda names: st.tuples(vectors(names[0]), st.one_of(vectors(names[0]), vectors(names[1])))
)
BINARY = sorted(name for name, op in OPS.items() if op.fold is not None and op.params == ("x1", "x2"))


@given(name=st.sampled_from(BINARY), operands=PAIRS)
def test_folding_gives_the_bits_of_xla(name: str, operands: tuple[Any, Any]) -> None:
    op = OPS[name]
    x1, x2 = operands
    assert op.fold is not None
    try:
        with np.errstate(all="raise"):
            folded = np.asarray(op.fold(x1, x2))
    except Exception:
        return  # not folded
    result = jax.jit(op.impl)(x1, x2)
    if types([result]) == types([folded]):
        np.testing.assert_array_equal(np.asarray(result), folded)


@pytest.mark.parametrize("name", ["less", "equal", "add"])
def test_mixed_dtypes_are_not_folded(name: str) -> None:
    fold = OPS[name].fold
    assert fold is not None
    with pytest.raises(NotImplementedError, match="operands of one real dtype"):
        # float32 cannot hold 16777217, and JAX compares in float32.
        fold(np.asarray([16777217], np.int32), np.asarray([16777216], np.float32))


def test_tensors_are_results() -> None:
    assert type(add(1, 2)) is Tensor
