"""Sources: how a call finds the values again that a trace read outside itself.

A source starts at an argument, a global name, a variable of an enclosing function, or a fixed object, and continues
with attributes and items. It can be written as code, and as text for messages.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import partial
from keyword import iskeyword
from types import CellType
from typing import Any, cast

from graphc.compiler.base import with_article
from graphc.compiler.tracing.same import is_one

__all__ = [
    "Source",
    "argument",
    "attribute",
    "cell",
    "closure_cell",
    "dispatched",
    "fixed",
    "global_name",
    "item",
    "length",
    "looked_up",
    "membership",
    "outer_cell",
    "result_of",
    "result_of_call",
]

_NONE: Any = object()


class Source:
    """The path to a value: ``base`` or ``constant``, followed by ``suffix``.

    Attributes:
      base: the source of the object that holds the value; None for the start of a path.
      constant: an object that the code names: the start of a path, or the key of an item.
      suffix: the code that follows; if there are parts, ``{0}`` in it is the first.
      parts: further sources that the code names.
      text: the path as text, for messages.
      of_call: whether the path starts at an argument, so that the next call may bring another object.
      key: equal for two equal sources.
    """

    __slots__ = ("base", "constant", "key", "of_call", "parts", "suffix", "text")

    def __init__(self, base: Source | None, constant: Any, suffix: str, text: str, key: tuple[Any, ...]) -> None:
        self.base = base
        self.constant = constant
        self.suffix = suffix
        self.parts: tuple[Source, ...] = ()
        self.text = text
        self.of_call = base is not None and base.of_call
        self.key = key

    def code(self, base: str, name: Callable[[Any], str]) -> str:
        """Returns the expression that finds the value.

        Args:
          base: the expression of the object that holds it.
          name: returns the code's name for an object.
        """
        if self.base is not None and self.constant is not _NONE:
            return f"{base}[{name(self.constant)}{self.suffix}]"
        return (base if self.constant is _NONE else name(self.constant)) + self.suffix

    def __repr__(self) -> str:
        return f"<source {self.text}>"


def argument(name: str) -> Source:
    """Returns the source of an argument of the call."""
    source = Source(None, _NONE, name, name, ("argument", name))
    source.of_call = True
    return source


def global_name(namespace: dict[str, Any], name: str, place: str) -> Source:
    """Returns the source of a module's global; ``place`` is where it is read."""
    return Source(None, namespace, f"[{name!r}]", f"global {name} ({place})", ("global", id(namespace), name))


def cell(holder: CellType, name: str, place: str) -> Source:
    """Returns the source of an enclosing function's variable; ``place`` is where it is read."""
    return Source(None, holder, ".cell_contents", f"outer {name} ({place})", ("cell", id(holder)))


def closure_cell(function: Source, position: int) -> Source:
    """Returns the source of a closure cell of a function that is looked up at each call."""
    return Source(function, _NONE, f".__closure__[{position}]", function.text, (*function.key, "closure", position))


def outer_cell(function: Source, position: int, name: str) -> Source:
    """Returns the source of a closure variable of a function that is looked up at each call."""
    suffix = f".__closure__[{position}].cell_contents"
    return Source(function, _NONE, suffix, f"outer {name} of {function.text}", (*function.key, "cell", position))


def fixed(value: Any, text: str) -> Source:
    """Returns the source of an object that is the same in all calls, such as a class or a module."""
    return Source(None, value, "", text, ("fixed", id(value)))


def attribute(base: Source, name: str) -> Source:
    """Returns the source of an attribute of another source's value."""
    suffix = f".{name}" if name.isidentifier() and not iskeyword(name) else f".__dict__[{name!r}]"
    return Source(base, _NONE, suffix, f"{base.text}.{name}", (*base.key, ".", name))


def item(base: Source, index: Any) -> Source:
    """Returns the source of an item of another source's value."""
    text, kind = f"{base.text}[{index!r}]", cast("type[Any]", type(index))
    if kind in (int, str):
        return Source(base, _NONE, f"[{index!r}]", text, (*base.key, "[]", kind, index))
    if weak := base.of_call and is_one(index) and kind.__weakrefoffset__:
        index = weakref.ref(index)  # do not keep the call's objects alive
    return Source(base, index, "()" if weak else "", text, (*base.key, "[]", kind, index))


def result_of(base: Source, code: str) -> Source:
    """Returns the source of a call's result that reads an object's contents; ``code`` follows the object."""
    return Source(base, _NONE, code, base.text + code, (*base.key, code))


def result_of_call(
    text: str, ask: Callable[..., Any], key: int, args: Sequence[Source], names: Sequence[str]
) -> Source:
    """Returns the source of what a function returns.

    Args:
      names: the names by which the last of them are passed.
    """
    base = Source(None, ask, "", text, ("function", key))
    names = [*[""] * (len(args) - len(names)), *names]
    given = [f"{name}={{{place}}}" if name else f"{{{place}}}" for place, name in enumerate(names)]
    texts = [f"{name}={part.text}" if name else part.text for name, part in zip(names, args, strict=True)]
    places = (*base.key, "call", *names, *(part.key for part in args))
    source = Source(base, _NONE, f"({', '.join(given)})", f"{text}({', '.join(texts)})", places)
    source.parts = tuple(args)
    source.of_call = any(part.of_call for part in args)
    return source


def membership(base: Source, key: str | int) -> Source:
    """Returns the source of whether a dict has a key."""
    suffix = f".__contains__({key!r})"
    return Source(base, _NONE, suffix, f"{key!r} in {base.text}", (*base.key, "in", type(key), key))


def length(base: Source) -> Source:
    """Returns the source of a container's length."""
    return Source(base, _NONE, ".__len__()", f"len({base.text})", (*base.key, "len"))


def element(holder: Source, value: Any) -> Source:
    """Returns the source of a set element or dict key: the object itself, not kept alive if it came with a call."""
    text = f"{with_article(type(value).__name__)} in {holder.text}"
    if not (holder.of_call and type(value).__weakrefoffset__):
        return fixed(value, text)
    source = Source(None, weakref.ref(value), "()", text, ("element", id(value)))
    source.of_call = True
    return source


def dispatched(dispatch: Callable[[type[Any]], Any], kind: type[Any], text: str, key: int) -> Source:
    """Returns the source of what ``functools.singledispatch`` chooses for a class; ``key`` identifies its function."""
    return Source(None, partial(dispatch, kind), "()", text, ("dispatched", key, kind))


def looked_up(find: Callable[[str], Any], name: str, text: str, key: tuple[Any, ...]) -> Source:
    """Returns the source of what a fixed function returns for a name; ``key`` identifies the function."""
    return Source(None, find, f"({name!r})", text, ("looked up", *key))
