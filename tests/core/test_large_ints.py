"""Python ints that pass the dtype of weak integers: eager and compiled code take or refuse them alike."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.base.errors import InvalidArgumentError
from graphc.core.large_ints import fitted_int

BIG = 2**40


def _assigned(x: Any, value: Any) -> Any:
    x = x.copy()
    x[0] = value
    return x


USES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "x + n": lambda gx, x, n: x + n,
    "n - x": lambda gx, x, n: n - x,
    "x * n": lambda gx, x, n: x * n,
    "x / n": lambda gx, x, n: x / n,
    "n // x": lambda gx, x, n: n // x,
    "x < n": lambda gx, x, n: x < n,
    "x == n": lambda gx, x, n: x == n,
    "where": lambda gx, x, n: gx.where(x > 0, x, n),
    "maximum": lambda gx, x, n: gx.maximum(x, n),
    "clip": lambda gx, x, n: gx.clip(x, 0, n),
    "full": lambda gx, x, n: gx.full((2,), n, dtype=x.dtype),
    "full_like": lambda gx, x, n: gx.full_like(x, n),
    "asarray": lambda gx, x, n: gx.asarray(n, dtype=x.dtype),
    "x[0] = n": lambda gx, x, n: _assigned(x, n),
}
ARRAYS = {
    "float32": np.asarray([3.0, -2.5], np.float32),
    "bfloat16": np.asarray([3.0, -2.5], jnp.bfloat16),
    "complex64": np.asarray([3.0, -2.5j], np.complex64),
}
INTS = (2**31, -(2**31) - 1, 2**32, BIG, -(2**63) - 1, 2**100)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("dtype", ARRAYS)
def test_with_floats_they_are_floats(use: str, dtype: str) -> None:
    if dtype == "complex64" and use in ("n // x", "x < n", "where", "maximum", "clip"):
        pytest.skip("complex numbers have no order")
    x = gx.asarray(ARRAYS[dtype])
    for n in INTS:
        eager = USES[use](gx, x, n)
        compiled = gx.function(lambda x, n=n: USES[use](gx, x, n))(x)
        assert eager.dtype == compiled.dtype
        np.testing.assert_array_equal(eager.numpy(), compiled.numpy())
        np.testing.assert_array_equal(eager.numpy(), USES[use](gx, x, float(n)).numpy())
        if dtype in ("float32", "complex64") and abs(n) < 2**63:
            expected = USES[use](np, ARRAYS[dtype], n)
            assert eager.dtype == expected.dtype
            np.testing.assert_allclose(eager.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "use", ["x + n", "n - x", "x * n", "x < n", "where", "maximum", "full", "full_like", "asarray"]
)
@pytest.mark.parametrize("dtype", ["int32", "uint8", "int16"])
def test_with_integers_they_are_refused_alike(use: str, dtype: str) -> None:
    x = gx.ones(2, dtype)
    messages = []
    for function in (lambda: USES[use](gx, x, BIG), gx.function(lambda: USES[use](gx, x, BIG))):
        with pytest.raises(InvalidArgumentError, match=rf"the Python int {BIG} does not fit {dtype}; use a float") as e:
            function()
        messages.append(str(e.value).splitlines()[0])
    assert messages[0] == messages[1]
    assert "test_large_ints.py" in str(e.value)


def test_the_dtype_of_the_others_counts() -> None:
    x = gx.ones(2, "uint32")
    for function in (lambda x: x + (2**31 + 5), gx.function(lambda x: x + (2**31 + 5))):
        result = function(x)
        assert (result.dtype, result.tolist()) == (gx.uint32, [2**31 + 6] * 2)
    assert gx.asarray(2**31, "uint32").item() == 2**31
    assert gx.add(BIG, 1.5).item() == float(np.float32(BIG + 1.5))
    with pytest.raises(InvalidArgumentError, match=r"add\(x1: bool\[1\], x2: 1099511627776\): the Python int .* int32"):
        gx.add([True], BIG)
    with pytest.raises(InvalidArgumentError, match=r"asarray: the Python int 300 does not fit uint8"):
        gx.asarray(300, "uint8")
    with pytest.raises(InvalidArgumentError, match=r"the Python int of 1329 bits does not fit float32\n"):
        gx.ones(1) * 10**400


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv"])
def test_in_place(name: str) -> None:
    change = getattr(operator, name)
    expected = change(np.asarray([1.0, -2.0], np.float32), BIG)
    x = gx.asarray([1.0, -2.0])
    np.testing.assert_array_equal(change(x, BIG).numpy(), expected)
    np.testing.assert_array_equal(gx.function(lambda x: change(x, BIG))(x).numpy(), expected)


def test_variables() -> None:
    v = gx.Variable(1.0, name="large")
    v.assign(BIG)
    assert v.numpy() == BIG
    assert gx.function(lambda: v.assign_add(BIG).value())().item() == 2 * BIG
    n = gx.Variable(1, name="large_count")
    for function in (lambda: n.assign(BIG).value(), gx.function(lambda: n.assign(BIG).value())):
        with pytest.raises(InvalidArgumentError, match=r"assign to Variable 'large_count.*': the Python int .* int32"):
            function()
    with pytest.raises(InvalidArgumentError, match=r"Variable 'v': the Python int 1099511627776 does not fit int32"):
        gx.Variable(BIG, name="v")


def test_gradients() -> None:
    x = gx.asarray([1.0, 2.0])

    def loss(x: Any) -> Any:
        return gx.sum(x * BIG)

    for function in (gx.grad(loss), gx.function(gx.grad(loss))):
        assert function(x).tolist() == [BIG, BIG]


def test_a_loop_stays_rolled() -> None:
    @gx.function
    def grown(x: Any) -> Any:
        for _ in range(50):
            x = x + BIG
        return x

    assert grown(gx.asarray(0.0)).item() == 50 * BIG
    assert any(node.op.name == "scan" or node.regions for node in grown.graph(gx.asarray(0.0)).nodes)


def test_arange_gives_no_lower_bits() -> None:
    with pytest.raises(InvalidArgumentError, match=r"arange\(.*\): the Python int 549755813888 does not fit int32"):
        gx.arange(0, BIG, 2**39)
    with pytest.raises(InvalidArgumentError, match=r"the Python int -1 does not fit uint8"):
        gx.arange(3, -2, -1, dtype="uint8")
    assert gx.arange(0, 2**31, 2**30).tolist() == [0, 2**30]
    assert gx.arange(0, BIG, 2**39, dtype="float32").tolist() == [0.0, 2.0**39]


def test_fitted_int() -> None:
    assert fitted_int(BIG, np.dtype(np.float16)) == float(BIG)
    assert fitted_int(7, np.dtype(np.uint8)) == np.uint8(7)
