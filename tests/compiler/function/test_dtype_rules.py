"""Compiled functions under the switches of the dtypes: nothing that was compiled for one is used for the other."""

import math
from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import FailedPreconditionError, NumberOverflowError, OutOfRangeError


@gx.function(on_retrace="ignore")
def made_inside(x: Any) -> Any:
    return gx.zeros(2) + 0.1, gx.asarray(0.1), gx.arange(3), x * 2


def _dtypes(results: Any) -> Any:
    return [str(result.dtype) for result in results]


def test_each_setting_has_its_own_trace_and_program() -> None:
    x = gx.ones(3, dtype="float32")
    made_inside.clear_cache()
    narrow = ["float32", "float32", "int32", "float32"]
    for _ in range(2):  # the second time by what is kept
        for _ in range(3):  # the third time by the fast path
            assert _dtypes(made_inside(x)) == narrow
        with gx.config.scope(enable_x64=True):
            results = made_inside(x)
            assert _dtypes(results) == ["float64", "float64", "int64", "float32"]
            assert results[1].item() == 0.1
            with gx.config.scope(default_dtype_bits=32):
                # A new tensor meets a Python number: that yields.
                assert _dtypes(made_inside(x)) == narrow
            assert _dtypes(made_inside(x)) == ["float64", "float64", "int64", "float32"]
    assert made_inside.num_traces == 3
    assert "gx.config.enable_x64 was False, is True" in str(made_inside.trace_report()[-2])
    assert "gx.config.default_dtype_bits was 64, is 32" in str(made_inside.trace_report()[-1])


def test_jax_s_own_switch_is_seen_by_the_fast_path() -> None:
    double = gx.function(lambda x: x * 2 + gx.ones(3))
    x = gx.ones(3)
    assert [double(x).dtype for _ in range(3)] == ["float32"] * 3
    jax.config.update("jax_enable_x64", True)
    try:
        assert double(x).dtype == "float64"
    finally:
        jax.config.update("jax_enable_x64", False)
    assert double(x).dtype == "float32"


def test_eager_and_compiled_give_the_same_dtypes() -> None:
    def program(x: Any, n: Any) -> Any:
        counts = gx.zeros(2)
        for i in range(n):
            counts = counts + gx.full(2, i)
        return counts, gx.full(2, n), gx.sum(x), gx.where(x > 0, 1, 0), gx.mean(gx.arange(3)), x / 3, gx.sin(n)

    compiled = gx.function(program, on_retrace="ignore")
    for bits in (64, 32):
        with gx.config.scope(enable_x64=True, default_dtype_bits=bits):
            for x in (gx.ones(2, dtype="float32"), gx.ones(2, dtype="float64"), gx.ones(2, dtype="int32")):
                expected, found = program(x, 3), compiled(x, 3)
                assert _dtypes(found) == _dtypes(expected)
                for one, other in zip(found, expected, strict=True):
                    np.testing.assert_array_equal(one, other)


def test_gradients_have_64_bits() -> None:
    with gx.config.scope(enable_x64=True):
        x = gx.asarray([0.5, 0.25])

        @gx.function
        def gradient(x: Any) -> Any:
            with gx.GradientTape() as tape:
                tape.watch(x)
                y = gx.sum(gx.exp(x) * x)
            return tape.gradient(y, x)

        with gx.GradientTape() as tape:
            tape.watch(x)
            y = gx.sum(gx.exp(x) * x)
        expected = np.exp([0.5, 0.25]) * [1.5, 1.25]
        np.testing.assert_allclose(tape.gradient(y, x), expected, rtol=1e-15)
        np.testing.assert_allclose(gradient(x), expected, rtol=1e-15)


def test_variables_of_64_bits_are_updated() -> None:
    with gx.config.scope(enable_x64=True):
        total = gx.Variable(0.1)

        @gx.function
        def add(x: Any) -> Any:
            total.assign_add(x)
            return total.value()

        assert add(gx.asarray(0.2)).item() == 0.1 + 0.2
        assert total.dtype == "float64"


# --- the text of graphs


def test_graphs_of_64_bit_types_print_and_parse() -> None:
    with gx.config.scope(enable_x64=True):
        function = gx.function(lambda x, n: (x * 0.1 + 1j, n + 2**40))
        x, n = gx.ones(2), gx.arange(2)
        graph = function.graph(x, n)
        text = str(graph)
        assert "%x: f64[2]" in text
        assert "c128[2]" in text
        assert "i64[2]" in text
        assert gx.parse_graph(text) == graph
        rerun = gx.from_graph(gx.parse_graph(text))
        for one, other in zip(rerun(x, n), function(x, n), strict=True):
            np.testing.assert_array_equal(one, other)
    with pytest.raises(FailedPreconditionError, match=r"gx.config.enable_x64 .* has changed since the graph"):
        rerun(x, n)
    with pytest.raises(
        FailedPreconditionError, match=r"computes f64\[2\], but 64-bit types are disabled; set gx.config"
    ):
        gx.from_graph(gx.parse_graph(text))


# --- ints that depend on tensors


@gx.function(on_retrace="ignore")
def arithmetic(x: Any, y: Any) -> Any:
    n, k = int(x), int(y)
    return n + k, n - k, n * k, n**2


def test_numbers_keep_the_bounds_of_32_bits() -> None:
    with gx.config.scope(enable_x64=True):
        assert arithmetic(gx.asarray(1000), gx.asarray(-2000)) == (-1000, 3000, -2_000_000, 1_000_000)
        for x, y in ((2**31 - 1, 1), (-(2**31), 1), (2**16, 2**15), (50_000, 1)):
            with pytest.raises(NumberOverflowError, match="passes 32 bits"):
                arithmetic(gx.asarray(x), gx.asarray(y))
        for beyond in (2**31, -(2**31) - 1, 2**40):
            with pytest.raises(OutOfRangeError, match=r"beyond 32 bits, .* keep it a tensor"):
                arithmetic(gx.asarray(beyond), gx.asarray(0))


@pytest.mark.parametrize(
    "use",
    [
        lambda n, x: sum([x[i] for i in range(n)]),
        lambda n, x: next(iter([item + 0 for item in range(n, n + 1)])),
        lambda n, x: round(n) // 2**20,
        lambda n, x: n.item() // 2**20,
        lambda n, x: [k // 2**20 for k, _ in enumerate([x], n)],
        lambda n, x: [1, 2, 3][n],
    ],
    ids=["range", "start", "round", "item", "enumerate", "list"],
)
def test_large_64_bit_ints_do_not_pass_as_numbers(use: Any) -> None:
    compiled = gx.function(use, max_iterations=10, on_retrace="ignore")
    with gx.config.scope(enable_x64=True), pytest.raises((OutOfRangeError, IndexError, gx.errors.GraphcError)):
        compiled(gx.asarray(2**40), gx.ones(3))


def test_known_ints_beyond_32_bits_are_refused_with_numbers() -> None:
    compiled = gx.function(lambda x: 2**40 // int(x))
    with (
        gx.config.scope(enable_x64=True),
        pytest.raises(gx.errors.GraphcError, match="1099511627776 does not fit int32"),
    ):
        compiled(gx.asarray(3))


def test_logarithms_are_whole_in_64_bits() -> None:
    compiled = gx.function(lambda x: (math.log2(x), math.log10(x), math.log(x, 3)))
    with gx.config.scope(enable_x64=True):
        for exponent in (-1000, -3, 100, 1000):
            assert compiled(gx.asarray(2.0**exponent))[0] == exponent
        for exponent in (3, 15, 22):
            assert compiled(gx.asarray(10.0**exponent))[1] == exponent
