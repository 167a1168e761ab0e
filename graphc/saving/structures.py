"""Nested values as JSON: structures of tensors and Python values, among arguments and results."""

from __future__ import annotations

import base64
import dataclasses
import keyword
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, cast

import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.ir import dtype_from_short, short_dtype

__all__ = ["Tree", "decoded", "encoded", "is_same", "leaves_of"]

Tree = Any
"""A JSON value: None, bool, int, str, a finite float, or an object whose one key names its kind."""

_SPECIAL = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


def encoded(value: Any, leaf: Callable[[Any], Tree | None]) -> Tree:
    """Returns a nested value as JSON.

    Args:
      value: the value.
      leaf: a function that encodes a leaf that is not a Python value as JSON; returns None if it cannot.

    Raises:
      InvalidTypeError: there is something in it that a file cannot hold.
    """
    found = leaf(value)
    if found is not None:
        return found
    kind = cast("type[Any]", type(value))
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if value - value == 0 else {"float": str(value)}
    if kind is complex:
        return {"complex": [encoded(value.real, leaf), encoded(value.imag, leaf)]}
    if kind is bytes:
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return {"dtype": short_dtype(np.dtype(cast("Any", value)))}
    parts = nest.children(value)
    if parts is None:
        raise InvalidTypeError(f"{kind.__name__} {value!r:.60}")
    items = [encoded(item, leaf) for item in parts[1]]
    if isinstance(value, dict):
        return {"dict": [[encoded(key, leaf), item] for key, item in zip(parts[0], items, strict=True)]}
    if kind in (list, tuple):
        return {kind.__name__: items}
    sort = "namedtuple" if isinstance(value, tuple) else "dataclass"
    return {sort: kind.__name__, "fields": [[key, item] for key, item in zip(parts[0], items, strict=True)]}


def decoded(tree: Tree, leaf: Callable[[str, Any], Any]) -> Any:
    """Returns the value that :func:`encoded` took apart; named tuples and dataclasses are of classes like theirs.

    Args:
      tree: the JSON.
      leaf: a function that makes a leaf from its kind and its content.

    Raises:
      ValueError, TypeError, KeyError: it is no such JSON.
    """
    if tree is None or type(tree) in (bool, int, float, str):
        return tree
    (sort, content), *rest = tree.items()
    if sort in ("namedtuple", "dataclass"):
        fields = [(name, decoded(item, leaf)) for name, item in tree["fields"]]
        return _record(sort, content, fields)
    if rest:
        raise ValueError(f"an object of one key is expected, not {sorted(tree)}")
    match sort:
        case "float":
            return _SPECIAL[content]
        case "complex":
            return complex(*[decoded(part, leaf) for part in content])
        case "bytes":
            return base64.b64decode(content, validate=True)
        case "dtype":
            return dtype_from_short(content)
        case "list" | "tuple":
            items = [decoded(item, leaf) for item in content]
            return items if sort == "list" else tuple(items)
        case "dict":
            return {decoded(key, leaf): decoded(item, leaf) for key, item in content}
        case _:
            return leaf(sort, content)


def _record(sort: str, name: str, fields: Sequence[tuple[str, Any]]) -> Any:
    names = tuple(field for field, _ in fields)
    values = [value for _, value in fields]
    kind = _class_of(sort, name, names)
    return nest.unflatten(nest.Structure(kind, names, (nest.LEAF,) * len(names)), values)


@cache
def _class_of(sort: str, name: str, names: tuple[str, ...]) -> type[Any]:
    # Python makes the classes from a text with these names in it.
    for text in (name, *names):
        if not (text.isidentifier() and not keyword.iskeyword(text)):
            raise ValueError(f"{text!r:.40} is no name")
    if sort == "namedtuple":
        return cast("type[Any]", namedtuple(name, names))  # pyright: ignore[reportUntypedNamedTuple]
    return dataclasses.make_dataclass(name, names)


def leaves_of(tree: Tree, sort: str) -> Iterator[Any]:
    """Yields the contents of the leaves of one sort, in order."""
    if isinstance(tree, Mapping):
        found = cast("Mapping[str, Any]", tree)
        if sort in found:
            yield found[sort]
            return
        for part in found.values():
            yield from leaves_of(part, sort)
    elif isinstance(tree, list):
        for part in cast("list[Any]", tree):
            yield from leaves_of(part, sort)


def is_same(first: Tree, second: Tree) -> bool:
    """Returns True if two Python values, as JSON, are the same: 1, 1.0 and True are three."""
    return type(first) is type(second) and first == second
