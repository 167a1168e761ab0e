import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError


@pytest.fixture
def wide() -> Iterator[None]:
    with gx.config.scope(enable_x64=True):
        yield


# --- the switch


def test_without_the_switch_there_are_32_bit_types() -> None:
    assert gx.config.enable_x64 is False
    assert gx.zeros(2, dtype="float64").dtype == "float32"
    assert gx.asarray(np.arange(3)).dtype == "int32"
    assert "float64" not in gx.__array_namespace_info__().dtypes()


def test_the_switch_is_jax_s_own() -> None:
    gx.config.enable_x64 = True
    try:
        assert jax.config.jax_enable_x64
        assert gx.zeros(2).dtype == "float64"
    finally:
        gx.config.enable_x64 = False
    assert not jax.config.jax_enable_x64
    with jax.enable_x64(True):
        assert gx.config.enable_x64
        assert gx.zeros(2).dtype == "float64"
    assert gx.zeros(2).dtype == "float32"


def test_a_scope_ends_also_when_it_fails() -> None:
    inside = _settings()
    with pytest.raises(ZeroDivisionError), gx.config.scope(enable_x64=True, default_dtype_bits=32, max_traces=3):
        inside = _fail(_settings())
    assert _settings() == inside == (False, 64, 64)
    with gx.config.scope(enable_x64=True, default_dtype_bits=32, max_traces=3):
        assert _settings() == (True, 32, 3)
    assert _settings() == (False, 64, 64)


def _settings() -> tuple[bool, int, int]:
    return gx.config.enable_x64, gx.config.default_dtype_bits, gx.config.max_traces


def _fail(settings: Any) -> Any:
    assert settings == (True, 32, 3)
    raise ZeroDivisionError


def test_dtypes_are_asked_for_by_what_holds_now() -> None:
    # Attributes are kept with the dtype that they meant when they were first seen.
    for _ in range(2):
        assert gx.zeros(2, dtype="float64").dtype == "float32"
        assert gx.sum(gx.ones(2), dtype="float64").dtype == "float32"
        assert gx.ones(2).astype(float).dtype == "float32"
        with gx.config.scope(enable_x64=True):
            assert gx.zeros(2, dtype="float64").dtype == "float64"
            assert gx.sum(gx.ones(2), dtype="float64").dtype == "float64"
            assert gx.ones(2, dtype="float32").astype(float).dtype == "float64"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"enable_x64": 1}, "gx.config.enable_x64: expected True or False, got 1"),
        ({"default_dtype_bits": 16}, "gx.config.default_dtype_bits: expected 32 or 64, got 16"),
        ({"enable_64": True}, "gx.config.scope: there is no setting 'enable_64'; the settings are verify, "),
        ({"_wide_types": None}, "gx.config.scope: there is no setting '_wide_types'"),
    ],
)
def test_wrong_settings_are_refused(settings: Any, message: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=message), gx.config.scope(**settings):
        pass


@pytest.mark.drawn(3)
@pytest.mark.parametrize(
    ("variables", "dtypes"),
    [
        ({"GRAPHC_ENABLE_X64": "1"}, "float64 int64"),
        ({"JAX_ENABLE_X64": "1"}, "float64 int64"),
        ({"GRAPHC_ENABLE_X64": "1", "GRAPHC_DEFAULT_DTYPE_BITS": "32"}, "float32 int32"),
    ],
)
def test_the_environment_sets_it(variables: Any, dtypes: Any, monkeypatch: Any) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    program = "import graphc as gx; print(gx.asarray(1.0).dtype, gx.arange(3).dtype)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == dtypes.split()


# --- what has 64 bits


def test_numbers_and_new_tensors_have_64_bits(wide: Any) -> None:
    assert gx.asarray(0.1).item() == 0.1
    assert gx.asarray(2**40).item() == 2**40
    assert gx.asarray([2**40, 1]).dtype == "int64"
    assert [x.dtype for x in (gx.zeros(2), gx.eye(2), gx.linspace(0, 1, 3), gx.full(2, 1.5))] == ["float64"] * 4
    assert [x.dtype for x in (gx.arange(3), gx.full(2, 1), gx.argmax(gx.zeros(2)))] == ["int64"] * 3
    assert gx.asarray(1j).dtype == "complex128"
    assert gx.asarray(np.uint64(2**63)).item() == 2**63
    assert gx.Variable(0.1).dtype == gx.Variable(np.float64(1)).dtype == "float64"
    assert gx.asarray(np.ones(2)).dtype == "float64"


def test_promotion_is_jax_s(wide: Any) -> None:
    for first in ("int32", "int64", "uint64", "float32", "bfloat16", "complex64"):
        for second in ("int8", "uint32", "int64", "float64", "complex128"):
            expected = (jax.numpy.ones(2, first) + jax.numpy.ones(2, second)).dtype
            assert (gx.ones(2, first) + gx.ones(2, second)).dtype == expected == gx.result_type(first, second)
    assert (gx.ones(2, dtype="float32") + 1.0).dtype == "float32"
    assert (gx.ones(2, dtype="int32") / 2).dtype == (jax.numpy.ones(2, "int32") / 2).dtype
    assert gx.sum(gx.ones(2, dtype="int32"), dtype="float64").dtype == "float64"
    assert (gx.ones(2, dtype="int64") * 2**40).numpy().tolist() == [2**40, 2**40]


def test_what_tells_about_dtypes(wide: Any) -> None:
    assert gx.finfo(gx.float64).bits == gx.finfo("complex128").bits == 64
    assert gx.iinfo("int64").max == 2**63 - 1
    info = gx.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] == "float64"
    assert info.default_dtypes()["integral"] == "int64"
    assert {"float64", "complex128", "int64", "uint64"} <= set(info.dtypes())
    assert gx.can_cast("int32", "float64")


def test_draws(wide: Any) -> None:
    gx.random.seed(1)
    for name in ("normal", "uniform", "exponential", "logistic"):
        assert getattr(gx.random, name)((2,)).dtype == "float64"
        assert getattr(gx.random, name)((2,), dtype="float32").dtype == "float32"
    assert gx.random.randint((2,), 0, 2**40, dtype="int64").dtype == "int64"


def test_arrays_of_other_libraries(wide: Any) -> None:
    array = np.arange(3.0)
    assert gx.from_dlpack(array).dtype == "float64"
    assert np.from_dlpack(gx.asarray(array)).dtype == "float64"
    assert np.asarray(gx.asarray(array)).dtype == "float64"
    assert isinstance(gx.asarray(1.5) + np.float64(1), gx.Tensor)
    assert (gx.ones(2, dtype="float32") + np.float64(1)).dtype == "float64"


# --- 32 bits where none are said


def test_tensorflow_s_manner() -> None:
    with gx.config.scope(enable_x64=True, default_dtype_bits=32):
        new = (gx.asarray(1.0), gx.asarray([1.0, 2.0]), gx.zeros(2), gx.eye(2), gx.tri(2), gx.linspace(0, 1, 3))
        assert {str(x.dtype) for x in new} == {"float32"}
        assert {str(x.dtype) for x in (gx.asarray(3), gx.arange(3), gx.full(2, 3), gx.asarray([1]))} == {"int32"}
        assert {str(x.dtype) for x in (gx.random.normal((2,)), gx.Variable(1.0), gx.logspace(0, 1))} == {"float32"}
        assert gx.asarray(1j).dtype == "complex64"
        assert gx.asarray(np.ones(2)).dtype == gx.asarray(1.0, "float64").dtype == gx.ones(2, np.float64).dtype
        assert gx.asarray(0.1, dtype="float64").item() == 0.1
        assert gx.ones(2, dtype=float).dtype == "float32"
        assert gx.linspace(np.float64(0), 1, 3).dtype == gx.full(2, np.float64(1)).dtype == "float64"
        assert (gx.asarray(np.ones(2)) + 1.0).dtype == "float64"
        assert gx.__array_namespace_info__().default_dtypes()["real floating"] == "float32"
    assert gx.asarray(1.0).dtype == "float32"
    with gx.config.scope(enable_x64=True):
        assert {str(x.dtype) for x in (gx.asarray(1.0), gx.zeros(2), gx.logspace(0, 1))} == {"float64"}


def test_ints_that_do_not_fit_are_refused_in_lists_too() -> None:
    with pytest.raises(
        InvalidArgumentError, match="the Python int 1099511627776 does not fit int32; use a float, or 64"
    ):
        gx.asarray([1, 2**40])
    with gx.config.scope(enable_x64=True, default_dtype_bits=32):
        with pytest.raises(InvalidArgumentError, match="does not fit int32"):
            gx.asarray([-(2**40)])
        assert gx.asarray(2**40, "int64").item() == 2**40


@pytest.mark.parametrize("make", [gx.asarray, gx.Variable, lambda x: gx.add(x, 1)], ids=["asarray", "Variable", "add"])
def test_a_long_double_is_refused(make: Any) -> None:
    with pytest.raises(InvalidTypeError, match="JAX has no long double; convert to float64 or complex128 first"):
        make(np.ones(1, np.longdouble))
