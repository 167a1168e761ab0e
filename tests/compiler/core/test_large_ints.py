"""Python ints that pass the dtype of weak integers: eager and compiled code take or refuse them alike."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core.dtypes import fitted_int

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


@pytest.mark.drawn(3)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("dtype", ARRAYS)
def test_with_floats_they_are_floats(use: str, dtype: str) -> None:
    if dtype == "complex64" and use in ("n // x", "x < n", "where", "maximum", "clip"):
        pytest.skip("complex numbers have no order")
    x = gx.asarray(ARRAYS[dtype])
    all_compiled = gx.function(lambda x: [USES[use](gx, x, n) for n in INTS])(x)
    for n, compiled in zip(INTS, all_compiled, strict=True):
        eager = USES[use](gx, x, n)
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


NUMPYS: dict[str, Callable[[Any], Any]] = {
    "x + n": lambda n: gx.ones(2) + n,
    "n * x": lambda n: gx.multiply(n, gx.ones(2, "int32")),
    "where": lambda n: gx.where([True], n, 1.0),
    "full": lambda n: gx.full((2,), n),
    "asarray": lambda n: gx.asarray(n),
    "asarray of ints": lambda n: gx.asarray(n, "int64"),
    "array": lambda n: gx.array(n),
    "x.at[0].set(n)": lambda n: gx.zeros(2, "int32").at[0].set(n),
    "x[0] = n": lambda n: _assigned(gx.zeros(2), n),
}


@pytest.mark.parametrize("use", NUMPYS)
@pytest.mark.parametrize("n", [np.int64(BIG), np.int64(-BIG), np.uint64(2**63)], ids=str)
def test_numpys_ints_of_64_bits_are_refused_where_they_do_not_fit(use: str, n: Any) -> None:
    fits = "uint32" if n.dtype.kind == "u" and use != "asarray of ints" else r"u?int32"
    match = (
        rf"the NumPy {n.dtype} {n} does not fit {fits}; use a float, or 64-bit types \(gx\.config\.enable_x64 = True\)"
    )

    for given in (n,) if "[0]" in use else (n, np.asarray([n])):
        bound = partial(NUMPYS[use], given)
        messages = []
        for function in (bound, gx.function(lambda bound=bound: bound())):
            with pytest.raises(InvalidArgumentError, match=match) as caught:
                function()
            messages.append(str(caught.value).splitlines()[0])
            assert "test_large_ints.py" in str(caught.value)
        assert messages[0] == messages[1]


def test_numpys_ints_of_64_bits_that_fit() -> None:
    for given in (np.int64(2**31 - 1), np.asarray([-(2**31)]), np.asarray([], np.int64)):
        assert gx.asarray(given).dtype == gx.int32
        np.testing.assert_array_equal(gx.asarray(given).numpy(), given)
    assert gx.asarray(np.uint64(2**32 - 1)).item() == 2**32 - 1
    with pytest.raises(InvalidArgumentError, match=r"argument 'x': the NumPy int64 1099511627776 does not"):
        gx.function(lambda x: x)(np.asarray([BIG]))
    with pytest.raises(InvalidArgumentError, match=r"Variable 'v': the NumPy int64 1099511627776 does not fit int32"):
        gx.Variable(np.int64(BIG), name="v")
    with pytest.raises(InvalidArgumentError, match=r"asarray: the Python int 9223372036854775808 does not fit uint32"):
        gx.asarray([2**63])
    with gx.config.scope(enable_x64=True):
        assert (gx.ones(1, "float32") + np.int64(BIG)).tolist() == [float(np.float32(BIG))]
        assert gx.asarray(np.asarray([BIG])).tolist() == [BIG]


@pytest.mark.parametrize("how", [lambda f: f, gx.function], ids=["eager", "compiled"])
def test_numpy_converts_its_own_to_the_dtype_that_is_asked_for(how: Any) -> None:
    assert how(lambda: gx.asarray(np.asarray([BIG]), "float32"))().tolist() == [BIG]
    assert how(lambda: gx.asarray(np.asarray([2**31]), "uint32"))().tolist() == [2**31]
    assert how(lambda: gx.asarray(np.asarray([300]), "uint8"))().tolist() == [300 - 256]


def test_a_number_that_depends_on_tensors_becomes_a_tensor() -> None:
    def made(x: Any) -> Any:
        n = 2 if x > 0 else 3
        flag = bool(x > 1)
        total = gx.zeros((), "int32")
        for i in range(n):
            total += gx.asarray(i) * 2**30
        tensor = gx.asarray(n)
        assert isinstance(tensor, gx.Tensor)
        assert isinstance(gx.asarray(flag), gx.Tensor)
        return (
            tensor,
            tensor * 2**30,
            tensor + gx.ones(1, "float16"),
            gx.asarray(n, "float32") / 4,
            gx.asarray(flag),
            total,
        )

    x = gx.asarray(3)
    for found, expected in zip(gx.function(made)(x), made(x), strict=True):
        assert (found.type, found.tolist()) == (expected.type, expected.tolist())
