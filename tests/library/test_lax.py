"""gx.lax: the names and arguments of ``jax.lax``, its control flow, and what it says of a name that is missing."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx

# How XLA is to compute or to place it, which is said otherwise here; what JAX 0.11 has and 0.10 has not.
_LEFT_OUT = {"accuracy", "out_sharding", "sharding", "out_dtype", "operand", "_split_transpose", "is_stable"}
_FUNCTIONS = [name for name in gx.lax.__all__ if inspect.isfunction(getattr(gx.lax, name))]


def _arguments(function: Callable[..., Any]) -> list[tuple[str, bool]]:
    found = inspect.signature(function).parameters.values()
    return [(item.name, item.kind is item.KEYWORD_ONLY) for item in found]


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_arguments_are_those_of_jax_in_its_order(name: str) -> None:
    function = getattr(jax.lax, name)
    if list(inspect.signature(function).parameters) == ["args"]:
        pytest.skip("JAX names no arguments")
    ours, theirs = _arguments(getattr(gx.lax, name)), _arguments(function)
    assert ours == [item for item in theirs if item in ours or item[0] not in _LEFT_OUT]


X = np.asarray([1.0, 2.0, 3.0], np.float32)
CONTROL: dict[str, Callable[[Any, Any], Any]] = {
    "cond": lambda lax, x: lax.cond(x[0] > 0, lambda a: a + 1, lambda a: a - 1, x),
    "switch": lambda lax, x: lax.switch(1, [lambda a: a, lambda a: a * 2], x),
    "while_loop": lambda lax, x: lax.while_loop(cond_fun=lambda a: a[0] < 9.0, body_fun=lambda a: a * 2.0, init_val=x),
    "fori_loop": lambda lax, x: lax.fori_loop(0, 3, lambda i, a: a * 2, init_val=x, unroll=True),
    "scan": lambda lax, x: lax.scan(lambda c, a: (c + a, c * a), init=x[0], xs=x, reverse=True, unroll=2)[1],
    "map": lambda lax, x: lax.map(lambda a: lax.square(a), x, batch_size=2),
}


@pytest.mark.parametrize("program", CONTROL.values(), ids=CONTROL)
def test_control_flow_is_called_as_in_jax(program: Callable[[Any, Any], Any]) -> None:
    expected = program(jax.lax, jax.numpy.asarray(X))
    run = lambda x: program(gx.lax, x)  # noqa: E731
    np.testing.assert_array_equal(run(gx.asarray(X)), expected)
    np.testing.assert_array_equal(gx.function(run)(gx.asarray(X)), expected)


def test_a_missing_name_says_how_jax_is_called() -> None:
    message = r"^graphc\.lax has no 'associative_scan'; use JAX's: gx\.call_jax\(jax\.lax\.associative_scan, \.\.\.\)$"
    with pytest.raises(AttributeError, match=message):
        gx.lax.associative_scan  # noqa: B018
    with pytest.raises(AttributeError, match=r"^module 'graphc\.lax' has no attribute 'nothing'$"):
        gx.lax.nothing  # noqa: B018
    with pytest.raises(AttributeError, match=r"did you mean gx\.lax\.broadcasted_iota\?"):
        gx.broadcasted_iota  # noqa: B018


def test_dtypes_must_agree_as_in_jax() -> None:
    def run(x: Any) -> Any:
        return gx.lax.add(x, gx.asarray([1, 2, 3]))

    for call in (run, gx.function(run)):
        with pytest.raises(gx.errors.InvalidTypeError, match=r"lax\.add.*same dtypes, got float32, int32"):
            call(gx.asarray(X))


def test_several_tensors_are_sorted_by_the_first() -> None:
    def run(keys: Any, values: Any) -> Any:
        return gx.lax.sort((keys, values)), gx.lax.sort(values, dimension=0)

    keys, values = np.asarray([3, 1, 2], np.int32), -X
    for call in (run, gx.function(run)):
        both, one = call(gx.asarray(keys), gx.asarray(values))
        for found, right in zip(both, jax.lax.sort((keys, values)), strict=True):
            np.testing.assert_array_equal(found, right)
        np.testing.assert_array_equal(one, [-3, -2, -1])
    with gx.GradientTape() as tape:
        x = gx.asarray(X)
        tape.watch(x)
        y = gx.lax.sort((gx.asarray(keys), x))[1]
    np.testing.assert_array_equal(tape.gradient(y, x, output_gradients=gx.asarray([1.0, 2.0, 3.0])), [3, 1, 2])


@pytest.mark.parametrize("mode", ["clip", "fill", gx.lax.GatherScatterMode.CLIP])
def test_members_of_enumerations_and_words_for_them(mode: Any) -> None:
    numbers = gx.lax.GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,))

    def run(x: Any, at: Any) -> Any:
        return gx.lax.gather(x, at, numbers, (1,), mode=mode)

    expected = jax.lax.gather(X, np.asarray([[0], [9]]), numbers, (1,), mode=mode)
    for call in (run, gx.function(run)):
        np.testing.assert_array_equal(call(gx.asarray(X), gx.asarray([[0], [9]])), expected)


def test_graphs_of_static_attributes_are_written_and_read() -> None:
    @gx.function
    def run(x: Any) -> Any:
        products = gx.lax.dot(x, x, precision=gx.lax.Precision.HIGHEST)
        rows = gx.lax.GatherDimensionNumbers((), (0,), (0,))
        return products, gx.lax.gather(x, gx.asarray([[1]]), rows, (1,), mode=gx.lax.GatherScatterMode.CLIP)

    graph = run.graph(gx.asarray(X))
    assert str(gx.parse_graph(str(graph))) == str(graph)


def test_ways_to_say_how_halves_are_rounded() -> None:
    for even in (gx.lax.RoundingMethod.TO_NEAREST_EVEN, "TO_NEAREST_EVEN", 1):
        assert gx.lax.round(gx.asarray([0.5, 1.5]), even).tolist() == [0.0, 2.0]
    with pytest.raises(gx.errors.InvalidArgumentError, match="'UP' is not a valid RoundingMethod"):
        gx.lax.round(gx.asarray([0.5]), "UP")
