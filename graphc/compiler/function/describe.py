"""Descriptions of arguments: each leaf with the expression that reaches it, for reasons and reports."""

from __future__ import annotations

import enum
import types
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any, cast

import numpy as np

from graphc.compiler.base import has_mark, with_article
from graphc.compiler.base.errors import GraphcError
from graphc.compiler.core import StringTensor, Tensor, Variable, canonical_array, type_of
from graphc.compiler.tracing import attributes_of, contents_of, is_array

__all__ = ["describe"]

_MAX_DESCRIBED = 1_000
_LEAVES = (
    bool, int, float, complex, str, bytes, type, types.FunctionType, types.ModuleType, enum.Enum, np.dtype, range,
    slice, StringTensor, Variable,
)  # fmt: skip


def describe(values: dict[str, Any]) -> list[tuple[str, str]]:
    """Describes each leaf of the arguments, by its path, for retrace reasons."""
    found: list[tuple[str, str]] = []
    seen: set[int] = set()

    def walk(path: str, value: Any) -> None:
        if len(found) >= _MAX_DESCRIBED:
            return
        parts = [] if _is_leaf(value) or id(value) in seen else list(_parts(value))
        if not parts:
            found.append((path, _description(value)))
            return
        seen.add(id(value))
        for name, part in parts:
            walk(path + name, part)

    for name, value in values.items():
        walk(name, value)
    return found


def _is_leaf(value: Any) -> bool:
    return value is None or is_array(value) or isinstance(value, _LEAVES)


def _description(value: Any) -> str:
    if is_array(value):
        with suppress(GraphcError):  # an attribute may be an array of strings or dates, which no tensor can hold
            return str(value.type if isinstance(value, Tensor) else type_of(canonical_array(value)))
    if isinstance(value, Variable):
        return f"a Variable {value.type}"
    text = repr(value)
    return text if len(text) < 80 else with_article(type(value).__name__)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yields the parts of an object, each with the expression that reaches it from the object."""
    if isinstance(value, partial):
        made = cast("partial[Any]", value)
        yield from ((".func", made.func), (".args", made.args), (".keywords", made.keywords))
    elif isinstance(value, types.MethodType):
        yield from (("", value.__func__), (".__self__", value.__self__))
        return
    yield from _held(value)


def _held(value: Any) -> Iterator[tuple[str, Any]]:
    if not has_mark(value, "__graphc_opaque__"):
        yield from ((f".{name}", part) for name, part in attributes_of(value))
    if not isinstance(value, set | frozenset):
        yield from ((f"[{key!r}]", item) for key, item in contents_of(value))
