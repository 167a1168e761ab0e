"""Sources: how a call finds the values again that a trace read outside itself.

A source starts at an argument, a global name, a variable of an enclosing function, or a fixed object, and continues
with attributes and items. It can be written as code, and as text for messages.
"""

from __future__ import annotations

import ctypes
import operator
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, partial
from keyword import iskeyword
from types import CellType
from typing import Any, cast

import numpy as np

from graphc.compiler.base import with_article

# Equality of Python values as a compiled function sees it: stricter than ``==``, since types and signs count.

_PLAIN = (bool, int, float, complex, str, bytes)
_FIXED = frozenset((*_PLAIN, type(None), type(Ellipsis), type(NotImplemented)))
_FEW = 8
"""Up to so many items are compared one by one."""


def exact(value: Any) -> Any:
    """Returns a stand-in for a plain value that equals only itself: 0.0 differs from -0.0, and nan equals nan."""
    if isinstance(value, float):
        return value if value and value == value else float.hex(value)
    return repr(value) if isinstance(value, complex) else value


def same_items(values: Collection[Any], expected: Collection[Any], identities: bytes = b"") -> bool:
    """Returns True if plain values equal the known ones, types included."""
    # identities: the identities of the expected values, from :func:`places_of`; empty if there are few.
    if len(values) != len(expected):
        return False
    if identities and places_of(values) == identities:
        return True
    return all(map(operator.is_, values, expected)) or all(
        a is b or (type(a) is type(b) and (exact(a) == exact(b) if type(a) in _PLAIN else typed(a) == typed(b)))
        for a, b in zip(values, expected, strict=True)
    )


def is_fixed(value: Any) -> bool:
    """Returns True for a plain value that never changes: a number or string, None, or a tuple or frozenset of such."""
    kind = cast("type[Any]", type(value))
    if kind in _FIXED:
        return True
    if kind in (tuple, frozenset):
        return all(map(is_fixed, value))
    return isinstance(value, np.number | np.bool_) and kind.__module__ == "numpy"


def places_of(values: Collection[Any]) -> bytes:
    """Returns the identities of objects, ten times as fast as ``id`` of each; empty for a few objects."""
    # The identities are valid as long as the objects live.
    return addresses(tuple(values)) if len(values) > _FEW else b""


def addresses(values: tuple[Any, ...]) -> bytes:
    """Returns the addresses of a tuple's items, which CPython stores behind its header: about 1 ns each."""
    return ctypes.string_at(id(values) + tuple.__basicsize__, len(values) * tuple.__itemsize__)


def _addresses_asked(values: tuple[Any, ...]) -> bytes:
    """Returns the same for a Python that stores tuples differently, at a tenth of the speed."""
    return np.fromiter(values, object, len(values)).tobytes()


def _are_addresses() -> bool:
    objects = tuple(map(object.__new__, [object] * 3))
    if sys.implementation.name != "cpython" or tuple.__itemsize__ != ctypes.sizeof(ctypes.c_void_p):
        return False
    return addresses(objects) == np.array([id(one) for one in objects], np.uintp).tobytes()


if not _are_addresses():
    addresses = _addresses_asked


def typed(value: Any) -> tuple[type[Any], Any]:
    """Returns a value with its type, since 1, 1.0, True and IntEnum members are equal; tuples item by item."""
    kind = cast("type[Any]", type(value))
    if kind is tuple:
        return (kind, tuple(map(typed, value)))
    if kind is frozenset:
        return (kind, typed_set(value))
    if isinstance(value, np.generic):
        return (kind, (value.dtype.str, value.tobytes()))
    if equals_only_itself(value) and kind.__weakrefoffset__:
        return (kind, weakref.ref(value))  # not kept alive
    return (kind, exact(value) if kind in _PLAIN else value)


def equals_only_itself(value: Any) -> bool:
    """Returns True if an object equals only itself."""
    return type(value).__hash__ is object.__hash__


def typed_keys(value: dict[Any, Any]) -> list[Any]:
    """Returns the keys of a dict, each with its type."""
    return [*map(typed, value)]


def typed_set(value: AbstractSet[Any]) -> frozenset[Any]:
    """Returns the elements of a set, each with its type."""
    return frozenset(map(typed, value))


def same_keys(value: dict[Any, Any], expected: list[Any], fixed: tuple[Any, ...] = ()) -> bool:
    """Returns True if a dict has exactly these :func:`typed_keys`, in order; ``fixed`` are they, if all are fixed."""
    # It compares identities first, at a thousandth of the time.
    if len(value) != len(expected):
        return False
    return (bool(fixed) and all(map(operator.is_, value, fixed))) or typed_keys(value) == expected


def same_mapping(
    value: Mapping[Any, Any], kind: type[Any], keys: list[Any], parts: tuple[Any, ...], identities: bytes
) -> bool:
    """Returns True if a mapping of this class has exactly these plain keys and values, in order."""
    if type(value) is not kind or len(value) != len(keys):
        return False
    if identities and addresses((*value, *value.values())) == identities:  # one tuple takes half the time of two
        return True
    return same_items(value.values(), parts) and same_items(value, keys)


def same_set(
    value: AbstractSet[Any], expected: frozenset[Any], fixed: tuple[Any, ...] = (), identities: bytes = b""
) -> bool:
    """Returns True if a set has exactly these :func:`typed_set` elements."""
    # fixed: the elements in the order of the set that they were read from, if all are fixed.
    if len(value) != len(expected):
        return False
    if fixed and (places_of(value) == identities if identities else all(map(operator.is_, value, fixed))):
        return True
    return typed_set(value) == expected


def same_array(value: Any, kind: type[Any], dtype: np.dtype[Any], shape: tuple[int, ...], expected: bytes) -> bool:
    """Returns True if a value is a NumPy array of this class, dtype and shape with exactly these bytes."""
    if type(value) is not kind or value.dtype != dtype or value.shape != shape:
        return False
    if kind is np.ndarray and len(expected) > SMALL_BYTES and dtype.kind in BUFFERED and value.flags.c_contiguous:
        return expected.startswith(value)  # no copy: half the time
    return value.tobytes() == expected


SMALL_BYTES = 4096
"""The bytes of an array of this size or smaller are compared faster if they are copied."""

BUFFERED = "biufc"
"""The kinds of dtypes whose arrays give their memory to others."""


def lacks_attribute(value: Any, name: str) -> bool:
    """Returns True if an object has no such attribute, ignoring ``__getattr__``."""
    find: Any = type.__getattribute__ if isinstance(value, type) else type(value).__getattribute__
    if isinstance(find, types.FunctionType):
        find = object.__getattribute__
    try:
        find(value, name)
    except AttributeError:
        return True
    return False


def content_of(cell: types.CellType) -> Any:
    """Returns the content of a closure cell, or the cell itself if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return cell


def contents_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yields the parts of a built-in container, each with its index or key."""
    if isinstance(value, dict):
        yield from cast("dict[Any, Any]", value).items()
    elif isinstance(value, types.MappingProxyType):
        yield from cast("Any", value).items()
    elif isinstance(value, list | tuple | deque):
        yield from enumerate(cast("list[Any]", value))
    elif isinstance(value, set | frozenset):
        yield from ((None, part) for part in cast("set[Any]", value))


def attributes_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Yields the attributes that an object itself holds, including slots."""
    yield from list(getattr(value, "__dict__", {}).items())
    for name in slots_of(cast("type[Any]", type(value))):
        if hasattr(value, name):
            yield name, getattr(value, name)


@cache
def slots_of(kind: type[Any]) -> tuple[str, ...]:
    """Returns the names of the slots of a class and its bases."""
    slots: list[str] = []
    for base in kind.__mro__:
        names: Any = base.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else tuple(names):
            private = name.startswith("__") and not name.endswith("__")
            slots.append(f"_{base.__name__.lstrip('_')}{name}" if private else name)
    return tuple(name for name in slots if name not in ("__dict__", "__weakref__"))


def is_opaque(kind: type[Any]) -> bool:
    """Returns True if objects of a class hold state that their attributes do not show, so that only identity counts."""
    # Not cached: a compiled function may define a class, which must not outlive it.
    return getattr(kind, "__graphc_opaque__", False) or _is_opaque(kind)


@cache
def _is_opaque(kind: type[Any]) -> bool:
    if issubclass(kind, (*_PLAIN, list, tuple, deque, dict, set, frozenset, partial, types.MethodType)):
        return False
    in_c = any(isinstance(base.__dict__.get("__new__"), types.BuiltinFunctionType) for base in kind.__mro__[:-1])
    return in_c or not (slots_of(kind) or kind.__dictoffset__)


_NONE: Any = object()


class Source:
    """The path to a value: ``base`` or ``constant``, followed by ``suffix``."""

    __slots__ = ("base", "constant", "key", "of_call", "parts", "suffix", "text")

    def __init__(self, base: Source | None, constant: Any, suffix: str, text: str, key: tuple[Any, ...]) -> None:
        self.base = base  # the source of the object that holds the value; None for the start of a path
        self.constant = constant  # an object that the code names: the start of a path, or the key of an item
        self.suffix = suffix  # the code that follows; if there are parts, ``{0}`` in it is the first
        self.parts: tuple[Source, ...] = ()  # further sources that the code names
        self.text = text
        # Whether the path starts at an argument, so that the next call may bring another object.
        self.of_call = base is not None and base.of_call
        self.key = key  # equal for two equal sources

    def code(self, base: str, name: Callable[[Any], str]) -> str:
        """Returns the expression that finds the value."""
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


def global_name(namespace: dict[str, Any], name: str, where: str) -> Source:
    """Returns the source of a module's global; ``where`` is where it is read."""
    return Source(None, namespace, f"[{name!r}]", f"global {name} ({where})", ("global", id(namespace), name))


def cell(holder: CellType, name: str, where: str) -> Source:
    """Returns the source of an enclosing function's variable; ``where`` is where it is read."""
    return Source(None, holder, ".cell_contents", f"outer {name} ({where})", ("cell", id(holder)))


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
    if weak := base.of_call and equals_only_itself(index) and kind.__weakrefoffset__:
        index = weakref.ref(index)  # do not keep the call's objects alive
    return Source(base, index, "()" if weak else "", text, (*base.key, "[]", kind, index))


def result_of(base: Source, code: str) -> Source:
    """Returns the source of a call's result that reads an object's contents; ``code`` follows the object."""
    return Source(base, _NONE, code, base.text + code, (*base.key, code))


def result_of_call(
    text: str, ask: Callable[..., Any], key: int, args: Sequence[Source], names: Sequence[str]
) -> Source:
    """Returns the source of what a function returns."""
    base = Source(None, ask, "", text, ("function", key))
    names = [*[""] * (len(args) - len(names)), *names]
    slots = [f"{name}={{{index}}}" if name else f"{{{index}}}" for index, name in enumerate(names)]
    texts = [f"{name}={part.text}" if name else part.text for name, part in zip(names, args, strict=True)]
    path = (*base.key, "call", *names, *(part.key for part in args))
    source = Source(base, _NONE, f"({', '.join(slots)})", f"{text}({', '.join(texts)})", path)
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
