"""The operators of tensors: dtypes, weak types, values and refusals are those of jax.numpy, for all pairs of dtypes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.base.errors import GraphcError
from graphc.compiler.core import Tensor
from tests.compiler.ops.support import flat, trace
from tests.draws import examples

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: getattr(operator, name)
        for name in (
            *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift"),
            *("lt", "le", "gt", "ge", "eq", "ne", "matmul"),
            *("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor", "ilshift"),
            *("irshift", "imatmul"),
        )
    },
    "divmod": divmod,
}
DTYPES = (
    *("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32"),
    *("bfloat16", "float16", "float32", "float8_e4m3fn", "float8_e5m2", "complex64"),
)
SCALARS = (True, 2, 1.5, 2j)
VALUES = ([3, 1, 2], [1, 2, 1])


def array(dtype: str, which: int) -> Any:
    return jnp.asarray(VALUES[which], dtype)


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, Any, Any]:
    """An operator and its operands: two arrays, or an array and a Python scalar on either side."""
    name = draw(st.sampled_from(sorted(BINARY)))
    first: Any = array(draw(st.sampled_from(DTYPES)), 0)
    if draw(st.booleans()):
        return name, first, array(draw(st.sampled_from(DTYPES)), 1)
    scalar = draw(st.sampled_from(SCALARS))
    return (name, scalar, first) if draw(st.booleans()) and not name.startswith("i") else (name, first, scalar)


def found(function: Callable[..., Any], *operands: Any) -> Any:
    """The dtypes, weakness and shapes of the results; the error if there is one."""
    try:
        results = flat(function(*operands))
    except (GraphcError, TypeError, ValueError) as error:
        return error
    return [(np.dtype(result.dtype), tuple(result.shape), bool(result.weak_type)) for result in results]


@given(case=cases())
@settings(max_examples=examples(150))
def test_types_are_those_of_jax(case: tuple[str, Any, Any]) -> None:
    name, first, second = case
    function = BINARY[name]
    arrays = [value for value in (first, second) if isinstance(value, jax.Array)]

    def call(*tensors: Any) -> Any:
        rest = iter(tensors)
        return function(*(next(rest) if isinstance(value, jax.Array) else value for value in (first, second)))

    expected = found(lambda: jax.eval_shape(call, *arrays))
    try:
        types: Any = [
            (output.type.dtype, output.type.shape, output.type.weak) for output in trace(call, arrays).outputs
        ]
    except GraphcError as error:
        types = error
    if isinstance(expected, Exception):
        assert isinstance(types, TypeError | ValueError)
    else:
        assert types == expected


@given(case=cases())
@settings(max_examples=examples(40))
def test_values_are_those_of_jax(case: tuple[str, Any, Any]) -> None:
    name, first, second = case
    function = BINARY[name]
    ours = [Tensor(value) if isinstance(value, jax.Array) else value for value in (first, second)]
    try:
        expected = flat(function(first, second))
    except (TypeError, ValueError):
        with pytest.raises(GraphcError, match=r"test_operators\.py"):
            function(*ours)
        return
    for result, right in zip(flat(function(*ours)), expected, strict=True):
        assert type(result) is Tensor
        assert (result.dtype, result.type.weak) == (right.dtype, right.weak_type)
        kind = np.complex64 if right.dtype == np.complex64 else np.float32
        np.testing.assert_allclose(result.numpy().astype(kind), np.asarray(right).astype(kind), rtol=2e-6)


PROMOTED = st.sampled_from([*DTYPES, *SCALARS])


@given(values=st.lists(PROMOTED, min_size=1, max_size=3))
def test_result_type_is_that_of_jax(values: list[Any]) -> None:
    theirs = [value if not isinstance(value, str) else jnp.dtype(value) for value in values]
    ours = [value if not isinstance(value, str) else getattr(gx, value) for value in values]
    try:
        expected = jnp.result_type(*theirs)
    except ValueError:  # float8 types have no common one
        with pytest.raises(ValueError, match="promotion"):
            gx.result_type(*ours)
        return
    assert gx.result_type(*ours) == expected
    tensors = [gx.zeros(1, value) if isinstance(value, str) else value for value in values]
    assert gx.result_type(*tensors) == expected


@given(first=st.sampled_from(DTYPES), second=st.sampled_from(DTYPES))
def test_casts_and_kinds_are_those_of_jax(first: str, second: str) -> None:
    assert gx.can_cast(getattr(gx, first), second) == jnp.can_cast(first, second)
    assert gx.can_cast(gx.zeros(1, first), getattr(gx, second)) == jnp.can_cast(first, second)
    assert gx.isdtype(getattr(gx, first), getattr(gx, second)) == (first == second)
    for kind in ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating"):
        assert gx.isdtype(gx.zeros(1, first).dtype, kind) == jnp.isdtype(jnp.dtype(first), kind)


def test_what_the_namespace_says_of_dtypes_is_so() -> None:
    info = gx.__array_namespace_info__()
    kinds = ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric")
    listed = info.dtypes()
    for kind in kinds:
        assert info.dtypes(kind=kind) == {name: dtype for name, dtype in listed.items() if gx.isdtype(dtype, kind)}
    for name, dtype in listed.items():
        assert gx.zeros(1, dtype).dtype == name
    defaults = info.default_dtypes()
    assert gx.asarray([1.5]).dtype == gx.zeros(1).dtype == defaults["real floating"]
    assert gx.asarray([1]).dtype == gx.arange(3).dtype == defaults["integral"]
    assert gx.asarray([1j]).dtype == defaults["complex floating"]
    assert gx.argmax(gx.ones(3)).dtype == defaults["indexing"]


def test_python_numbers_of_tensors() -> None:
    for value in (3, -2):
        for dtype in ("int8", "int32"):
            assert operator.index(gx.asarray(value, dtype)) == value
        assert (int(gx.asarray(float(value))), float(gx.asarray(value))) == (value, float(value))
        assert complex(gx.asarray(value)) == complex(gx.asarray(float(value))) == complex(value)
    for tensor in (gx.asarray(3.0), gx.asarray([3]), gx.asarray(1j)):
        with pytest.raises(TypeError, match="only a 0-d integer tensor can be an index"):
            operator.index(tensor)
    for convert in (float, int):
        with pytest.raises(TypeError, match="complex"):
            convert(gx.asarray(1j))
    with pytest.raises(ValueError, match=r"item\(\) needs exactly one element"):
        complex(gx.asarray([1.0, 2.0]))


@pytest.mark.parametrize("how", [lambda f: f, gx.function], ids=["eager", "compiled"])
def test_powers_of_narrow_ints_wrap(how: Any) -> None:
    for dtype, values in (("int4", [-3, 2, 7]), ("uint4", [3, 2, 15])):
        x = gx.asarray(values, dtype)
        exponents = gx.asarray([3, 2, 1], dtype)
        for power, right in ((how(lambda x, n: x**n)(x, exponents), [3, 2, 1]), (how(lambda x: x**3)(x), [3, 3, 3])):
            assert power.dtype == dtype
            bits = [(value**n) % 16 for value, n in zip(values, right, strict=True)]
            assert power.tolist() == [n - 16 if dtype == "int4" and n > 7 else n for n in bits]


@pytest.mark.parametrize("how", [lambda f: f, gx.function], ids=["eager", "compiled"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32"])
def test_powers_of_ints_count_all_bits_of_the_exponent(dtype: str, how: Any) -> None:
    bases = np.asarray([3, 5, 7, 10, 0, 1], dtype)
    bases = np.concatenate([bases, -bases])
    for exponent in (0, 1, 2, 33, 63, 64, 100, 127, 129, 1000, 70_001, 2**31 - 1):
        if exponent > np.iinfo(dtype).max:
            break
        right = [pow(base, exponent, 2 ** (8 * bases.itemsize)) for base in bases.tolist()]
        n = gx.asarray(exponent, dtype)
        powers = [how(lambda x, e=exponent: x**e)(gx.asarray(bases)), how(lambda x, n: x**n)(gx.asarray(bases), n)]
        for power in powers:
            assert (power.dtype, power.shape) == (dtype, bases.shape)
            np.testing.assert_array_equal(np.asarray(power), np.asarray(right, np.uint64).astype(dtype))
    gradient = how(lambda w, x, n: gx.grad(lambda w: gx.sum(w * x**n))(w))
    x, n = gx.asarray([3, -1]), gx.asarray([3, 65])
    assert gradient(gx.ones(2), x, n).tolist() == [27, -1]
    assert how(gx.vmap(lambda x, n: x**n))(x, n).tolist() == [27, -1]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8"])
@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_divisors_of_the_smallest_int(name: str, dtype: str) -> None:
    # JAX's own functions never end here.
    least = np.iinfo(dtype).min
    pairs = np.asarray([(a, b) for a in (least, 0, 6, 100) for b in (least, 0, 4, 1)], dtype).T
    found = getattr(gx, name)(gx.asarray(pairs[0]), gx.asarray(pairs[1]))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.numpy(), getattr(np, name)(*pairs))
