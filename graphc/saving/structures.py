"""Nested values as JSON: structures of tensors and Python values, among arguments and results."""

from __future__ import annotations

import base64
import builtins
import dataclasses
import json
import keyword
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph import require
from graphc.compiler.base import Location, errors, nest
from graphc.compiler.base.errors import GraphcError, InvalidTypeError
from graphc.compiler.core import apply
from graphc.compiler.ir import OPS, dtype_from_short, short_dtype
from graphc.saving.signature import Expression, Sizes

__all__ = [
    "LOST",
    "Tree",
    "decoded",
    "encoded",
    "is_same",
    "kind_of",
    "leaves_of",
    "raise_by_status",
    "raised",
    "sized",
]

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
    match kind_of(value):
        case "dict", _:
            return {"dict": [[encoded(key, leaf), item] for key, item in zip(parts[0], items, strict=True)]}
        case "list" | "tuple" as sort, _:
            return {sort: items}
        case sort, name:
            return {sort: name, "fields": [[key, item] for key, item in zip(parts[0], items, strict=True)]}


def kind_of(value: Any) -> tuple[str, str]:
    """Returns the kind of a container as JSON has it, and the name of a class with fields."""
    kind = cast("type[Any]", type(value))
    if isinstance(value, dict) or kind in (list, tuple):
        return "dict" if isinstance(value, dict) else kind.__name__, ""
    return "namedtuple" if isinstance(value, tuple) else "dataclass", kind.__name__


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
    """Returns True if two values, as JSON, are the same: 1, 1.0 and True are three."""
    return json.dumps(first) == json.dumps(second)


def sized(tree: Tree, sizes: Sizes) -> Tree:
    """Returns a value, as JSON, with the numbers that follow from open sizes, which are also in texts."""
    if isinstance(tree, list):
        return [sized(part, sizes) for part in cast("list[Any]", tree)]
    if not isinstance(tree, Mapping):
        return tree
    found = {key: sized(part, sizes) for key, part in cast("Mapping[str, Any]", tree).items()}
    if found.keys() == {"size"}:
        symbols, *numbers = found["size"]
        if list(map(type, numbers)) != [int, int, int] or numbers[2] < 1:
            raise ValueError(f"{numbers!r:.40} are no numbers of a size")
        return Expression(tuple(symbols), *numbers)(sizes)
    return "".join(map(str, found["text"])) if found.keys() == {"text"} else found


# The exceptions of a saved function: Python's and graphc's own classes, by the status of the call.


LOST = "the message has {}, which the saved function does not hold"


def raised(exceptions: Mapping[int, tuple[BaseException | None, type[BaseException], Sequence[Location]]]) -> Tree:
    """Converts exceptions to JSON.

    Args:
      exceptions: by the status of a call that raises one: the exception, or None where tensors are in it; its class;
        and the lines of the calls that led to it.
    """
    found: dict[str, Tree] = {}
    for number, (error, kind, places) in exceptions.items():
        known = next(base for base in kind.__mro__ if _class_named(base.__name__) is base)
        prefix = "" if known is kind else f"{kind.__name__}: "
        args = (LOST.format("values of tensors"),)
        if error is not None:
            try:
                args = tuple(error.args)
                encoded(args, _no_leaf)
            except InvalidTypeError:
                args = (str(error),)
        if prefix:
            args = (prefix + (str(args[0]) if args else ""), *args[1:])
        place = f"{places[-1].short}, in {places[-1].function}" if places else ""
        found[str(number)] = {"class": known.__name__, "args": encoded(args, _no_leaf), "place": place}
    return found


def _no_leaf(value: Any) -> None:
    del value


def _class_named(name: str) -> type[BaseException] | None:
    """Returns an exception class of Python or graphc by name; files can raise no others."""
    for home in (builtins, errors):
        found = vars(home).get(name)
        if isinstance(found, type) and issubclass(found, Exception):
            return found
    return Exception if name in ("BaseException", "object") else None


def raise_by_status(raises: Mapping[str, Tree], name: str) -> Callable[[Any], None]:
    """Returns a function that raises the exception for a call's status."""
    makers = {int(number): _maker(tree, name) for number, tree in raises.items()}

    def check(status: Any) -> None:
        for number, make in makers.items():
            require(apply(OPS["not_equal"], (status, number)), make)

    return check


def _maker(tree: Mapping[str, Any], name: str) -> Callable[[], Exception]:
    kind, args, place = _class_named(tree["class"]), decoded(tree["args"], _refuse_leaf), str(tree["place"])
    if kind is None or not isinstance(args, tuple):
        raise ValueError(f"{tree['class']!r:.40} is no exception of Python's or graphc's")

    def make() -> Exception:
        try:
            error = cast("Any", kind)(*cast("tuple[Any, ...]", args))
        except TypeError:  # an exception that takes other arguments
            error = GraphcError(f"{tree['class']}: {args}")
        error.add_note(f"raised by the saved function {name!r}" + (f" ({place})" if place else ""))
        return error

    return make


def _refuse_leaf(sort: str, content: Any) -> Any:
    raise ValueError(f"{sort!r:.40} in an exception: {content!r:.40}")
