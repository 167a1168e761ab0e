"""NumPy arrays as defaults: the program takes a kept tensor while nobody changes them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.function.guards import GuardWriter


def shifted(x: Any, by: Any) -> Any:
    return x + by


def first(x: Any, by: Any) -> Any:
    return x + by[0]


def second(x: Any, by: Any) -> Any:
    return x + by["b"]


def with_default(function: Callable[..., Any], default: Any) -> Callable[..., Any]:
    def outer(x: Any, by: Any = default) -> Any:
        return function(x, by)

    return outer


KINDS: dict[str, Callable[[np.ndarray[Any, Any]], Callable[..., Any]]] = {
    "a default": lambda array: with_default(shifted, array),
    "a list": lambda array: with_default(first, [array, array + 1]),
    "a dict": lambda array: with_default(second, {"a": array + 1, "b": array}),
    "a partial": lambda array: functools.partial(shifted, by=array),
}
DTYPES = ["float32", "float64", "int64", "bool", "float16"]


def zero(array: np.ndarray[Any, Any]) -> None:
    array[...] = 0


CHANGES: dict[str, Callable[[np.ndarray[Any, Any]], None]] = {
    "all items": zero,
    "one item": lambda array: array.__setitem__((1, 1), 0),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("size", [2, 200])
@pytest.mark.parametrize("kind", KINDS)
def test_a_write_into_a_default_is_seen(kind: str, size: int, change: str) -> None:
    array = np.arange(3.0 * size, dtype=np.float32).reshape(size, 3)
    plain = KINDS[kind](array)
    compiled = gx.function(plain)
    x = gx.ones((size, 3))
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x), plain(np.ones((size, 3), np.float32)))
    before = compiled(x)
    CHANGES[change](array)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x), plain(np.ones((size, 3), np.float32)))
    assert before[1, 1].item() == 5.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_defaults_of_each_dtype(dtype: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    compiled = gx.function(with_default(shifted, array))
    x = gx.ones((2, 3))
    for given in (array, array, ~array if dtype == "bool" else array + array, array):
        np.testing.assert_allclose(compiled(x, given), given + 1.0)
        np.testing.assert_allclose(compiled(x), array + 1.0)


@pytest.mark.filterwarnings("ignore:Setting the dtype on a NumPy array:DeprecationWarning")  # NumPy 2.5
def test_a_default_that_is_another_view_of_its_bytes() -> None:
    array = np.ones((2, 2), np.float32)
    compiled = gx.function(with_default(shifted, array))
    x = gx.ones((2, 2))
    assert compiled(x).tolist() == compiled(x).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    array.dtype = np.dtype(np.int32)
    assert compiled(x)[0, 0].item() == np.float32(1).view(np.int32)


def test_a_default_of_float32_of_numpy_and_another_one() -> None:
    plain = with_default(shifted, np.float32(2))
    compiled = gx.function(plain)
    x = gx.ones(())
    assert [compiled(x).item(), compiled(x).item(), compiled(x, np.float32(5)).item()] == [3.0, 3.0, 6.0]
    plain.__defaults__ = (np.float32(7),)  # pyright: ignore[reportFunctionMemberAccess]
    assert [compiled(x).item(), compiled(x).item()] == [8.0, 8.0]


def test_a_default_goes_where_the_call_runs() -> None:
    compiled = gx.function(with_default(shifted, np.ones(3, np.float32)))
    here, there = jax.devices()[0], jax.devices()[1]
    for _ in range(3):
        assert compiled(gx.ones(3)).raw.devices() == {here}
        with gx.device("cpu:1"):
            x = gx.ones(3)
            assert compiled(x).raw.devices() == {there}
        assert compiled(x).raw.devices() == {there}


def test_a_default_is_not_copied_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry passes the same array to the program, and copies only if the argument is another or has changed."""
    texts: list[str] = []
    written = GuardWriter.function

    def function(self: GuardWriter, parameters: str, body: Any) -> Any:
        texts.append("\n".join(body))
        return written(self, parameters, body)

    monkeypatch.setattr(GuardWriter, "function", function)
    compiled = gx.function(with_default(shifted, np.ones(3, np.float32)))
    compiled(gx.ones(3))
    compiled(gx.ones(3))
    assert any(re.search(r"if v\d+ is None:\n.*\n.* = .*\.astype\(", text) for text in texts)
