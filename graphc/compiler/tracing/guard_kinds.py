"""Guards for values that a trace has read: one function for each kind of value.

Each function takes the reads, the source of the value, the value and its type. It adds the guards and, if the object's
identity matters, registers where it was found.
"""

from __future__ import annotations

import array
import ctypes
import enum
import types
import weakref
from collections import ChainMap, UserDict, UserList, UserString, defaultdict, deque
from collections.abc import Callable, Collection, ItemsView, KeysView, Sequence, ValuesView
from dataclasses import dataclass
from functools import partial
from hashlib import sha1
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import jax
import numpy as np

from graphc.compiler.base import is_library_file, is_library_module, with_article
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import StringTensor, Tensor, Variable
from graphc.compiler.tracing.mode import context
from graphc.compiler.tracing.sources import (
    SMALL_BYTES,
    Source,
    attribute,
    attributes_of,
    contents_of,
    element,
    equals_only_itself,
    exact,
    is_fixed,
    is_opaque,
    item,
    places_of,
    result_of,
    result_of_call,
    same_mapping,
    typed_keys,
    typed_set,
)

if TYPE_CHECKING:
    from graphc.compiler.tracing.reads import Reads

_SINGLETONS = (type(None), bool, type(Ellipsis), type(NotImplemented))
_PLAIN = (int, float, complex, str, bytes)
_AS_PLAIN: dict[type[Any], Callable[[Any], Any]] = {
    int: int.__index__, float: float.__float__, complex: complex.__complex__, str: str.__str__, bytes: bytes.__bytes__
}  # fmt: skip
_ATOMS = frozenset((*_SINGLETONS, *_PLAIN))
_FIXED = (type, types.ModuleType, types.BuiltinFunctionType, enum.Enum, types.MethodDescriptorType)
_ARRAYS = (Tensor, jax.Array, np.ndarray, np.generic)
_BUFFERS = (bytearray, array.array, memoryview)
_MEMORY: Any = (ctypes.Array, ctypes.Structure, ctypes.Union, ctypes._SimpleCData)  # pyright: ignore[reportPrivateUsage]
_POINTER: Any = ctypes._Pointer  # pyright: ignore[reportPrivateUsage]
_NAMESPACES = ("Namespace", "SimpleNamespace")
_VIEWS: Any = (KeysView, ValuesView, ItemsView)
_WRAPPERS = (
    UserDict,
    UserList,
    UserString,
    ChainMap,
    weakref.WeakKeyDictionary,
    weakref.WeakValueDictionary,
    weakref.WeakSet,
)
_STEADY = ("graphc", "jax", "jaxlib")
"""Packages whose objects report their reads themselves, or never change."""
_OF_DATA = ("contextlib", "string")
"""Packages whose objects hold only what their attributes show."""
_LEAVES = (*_PLAIN, *_SINGLETONS, *_FIXED, *_ARRAYS, Variable, StringTensor, types.FunctionType)
_TEXT = 80

# Approximate costs: comparing a byte of an array; one of many plain items; any other guard; a key that is an object.
_SECONDS_A_BYTE = 1e-10
_SECONDS_AN_ITEM = 5e-9
_SECONDS_A_GUARD = 5e-8
_SECONDS_A_KEY = 4e-7
_SECONDS_AN_ARRAY = 1.5e-7

# Up to this many plain items are guarded one by one, inline; more of them by one call that compares them all.
_INLINE = 8

# Classes whose instances hold their items as a dict of the class ``dict`` does, in the same order.

# Comparing the bytes of a 1 MiB array takes about half a millisecond; larger arrays are compared by identity.
_MAX_ARRAY_BYTES = 1 << 20


def is_array(value: Any) -> bool:
    """Returns True if an argument is a tensor input of the graph."""
    return isinstance(value, _ARRAYS)


def is_unseen(value: Any) -> bool:
    """Returns True for a mutable library object whose state no guard can see."""
    # Objects that are equal and hashed by content, such as paths and dates, are considered immutable.
    kind = cast("type[Any]", type(value))
    if recorder(value) is not _instance or has_parts(value) or callable(value):
        return False
    by_identity = kind.__hash__ in (None, object.__hash__) or isinstance(value, _POINTER)
    return by_identity and kind.__module__.partition(".")[0] != "graphc"


def recorded_whole(value: Any) -> bool:
    """Returns True if a value is compared by content even if it is made anew for each call."""
    return recorder(value) not in (_instance, _same_object, _reference)


def has_parts(value: Any) -> bool:
    """Returns True if the guards may inspect an object's attributes; they do not for library objects."""
    kind = cast("type[Any]", type(value))
    if kind.__name__ in _NAMESPACES and kind.__module__ in ("argparse", "types"):
        return True
    attributes = isinstance(value, _PLAIN) and not isinstance(value, enum.Enum) and hasattr(value, "__dict__")
    return not ((isinstance(value, _LEAVES) and not attributes) or is_opaque(kind) or _is_library(kind))


def library_data(value: Any) -> list[tuple[str, Any]]:
    """Returns the numbers, strings and arrays in a library object's attributes, such as coefficients."""
    # Among them are callable objects of the same library, to which it may pass a call on. There are none
    # for objects about whose hidden state the user is warned.
    kind = cast("type[Any]", type(value))
    package = kind.__module__.partition(".")[0]
    if recorder(value) is not _instance or has_parts(value) or package in _STEADY:
        return []
    if is_unseen(value) and package not in _OF_DATA:
        return []
    parts = [(name, part) for name, part in attributes_of(value) if _is_data(part) or _is_delegate(part, package)]
    return [(name, part) for name, part in parts if _gives(value, name, part)]


def _is_delegate(value: Any, package: str) -> bool:
    kind = cast("type[Any]", type(value))
    return callable(value) and recorder(value) is _instance and kind.__module__.partition(".")[0] == package


def _is_data(value: Any) -> bool:
    if type(value) in (tuple, list):
        return all(map(_is_data, value))
    return type(value) in _ATOMS or isinstance(value, np.ndarray | np.generic)


def _gives(owner: Any, name: str, part: Any) -> bool:
    """Returns True if ``getattr`` returns an attribute as stored: no property has the same name."""
    actual = getattr(owner, name, None)
    return actual is part or type(actual) is type(part) is float


@dataclass(frozen=True, eq=False)
class ReadGuard:
    """A condition under which a trace may be used again."""

    source: Source
    test: str  # as code: ``{v}`` is the value, ``{0}`` the first constant, ``{s0}`` the first of ``others``
    constants: tuple[Any, ...] = ()
    was: str = ""  # the value as text, for retrace reasons; empty if its parts have guards of their own
    others: tuple[Source, ...] = ()
    size: int = 1  # the number of bytes or items that the test inspects
    each: float = _SECONDS_A_GUARD  # the approximate time for each of them, in seconds

    @property
    def seconds(self) -> float:
        """The approximate time of the test per call, from measured costs."""
        return self.size * self.each


def _plain(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    token = exact(value)
    how = "{v} == {0}" if token is value else "exact({v}) == {2}"
    reads.add(
        ReadGuard(source, f"{{v}} is {{0}} or type({{v}}) is {{1}} and {how}", (value, kind, token), _text(value))
    )


def _value(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    """Guards an instance of a user's class that derives from a number or a string."""
    reads.register(source, value)
    plain = next(
        as_plain for base, as_plain in _AS_PLAIN.items() if isinstance(value, base)
    )  # past an __eq__ of theirs
    test = "type({v}) is {0} and exact({1}({v})) == {2}"
    reads.add(ReadGuard(source, test, (kind, plain, exact(plain(value))), _text(value)))


def _identical(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    del kind
    reads.add(identity(source, value))


def _same_object(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    del kind
    reads.register(source, value)
    reads.add(identity(source, value))


def _tensor(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    reads.register(source, value)
    aval = value.raw.aval
    reads.add(ReadGuard(source, "type({v}) is {0} and {v}.raw.aval == {1}", (kind, aval), str(value.type)))


def _variable(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    reads.register(source, value)
    if not source.of_call:
        reads.add(ReadGuard(source, "{v} is {0} and {v}.trainable is {1}", (value, value.trainable), _text(value)))
        return
    test = "type({v}) is {0} and ({v}._type is {1} or {v}._type == {1}) and {v}.trainable is {2}"
    reads.add(ReadGuard(source, test, (kind, value.type, value.trainable), f"a Variable {value.type}"))


def _array(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    reads.register(source, value)
    if value.dtype.hasobject:
        reads.add(identity(source, value))
        reads.record(result_of(source, ".tolist()"), value.tolist())
    elif value.nbytes <= _MAX_ARRAY_BYTES:
        expected, test = (kind, value.dtype, value.shape, value.tobytes()), "same_array({v}, {0}, {1}, {2}, {3})"
        if value.nbytes <= SMALL_BYTES:  # a third of the time of the call
            shape = "{v}.shape == {2}"
            if value.size and value.ndim < 3:  # the number of bytes tells the rest, at half the price
                shape = f"{{v}}.ndim == {value.ndim}" + (f" and len({{v}}) == {len(value)}" if value.ndim == 2 else "")
            test = f"type({{v}}) is {{0}} and ({{v}}.dtype is {{1}} or {{v}}.dtype == {{1}}) and {shape}"
            test += " and {v}.tobytes() == {3}"
        elif value.flags.f_contiguous and not value.flags.c_contiguous:
            test = "same_array({v}.T, {0}, {1}, {2}, {3})"  # in the order of its memory: a tenth of the time
            expected = kind, value.dtype, value.T.shape, value.T.tobytes()
        size = max(value.nbytes, 1)
        each = _SECONDS_A_BYTE + _SECONDS_AN_ARRAY / size
        reads.add(ReadGuard(source, test, expected, _array_text(value), size=size, each=each))
    else:
        reads.add(identity(source, value))
        if context.trace is not None and _may_be_written(value):
            what = f"the use of {source.text}, a NumPy array of {value.nbytes / 2**20:.0f} MiB that may be written to,"
            context.trace.read_once(what, "pass it as an argument, make a tensor of it once, or setflags(write=False)")


def _may_be_written(array: Any) -> bool:
    """Returns True if the memory of an array may be written to by it or by the arrays that it is a view of."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = cast("Any", array).base
    return False


def _buffer(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    reads.register(source, value)
    reads.add(
        ReadGuard(source, "type({v}) is {0} and bytes({v}) == {1}", (kind, bytes(value)), with_article(kind.__name__))
    )


def _number(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    test = "type({v}) is {0} and {v}.dtype == {1} and {v}.tobytes() == {2}"
    reads.add(ReadGuard(source, test, (kind, value.dtype, value.tobytes()), _text(value)))


def _strings(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    reads.register(source, value)
    reads.add(ReadGuard(source, "type({v}) is {0} and {v}.contents == {1}", (kind, value.contents), _text(value)))


def _by_text(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    test, expected = "type({v}) is {0} and repr({v}) == {1}", (kind, repr(value))
    if all(map(is_fixed, (value.start, value.stop, value.step))):
        test, expected = "{v} is {2} or " + test, (*expected, value)
    reads.add(ReadGuard(source, test, expected, _text(value)))


def _python_function(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    """Guards a function by its code, defaults and closure, since it may be made anew for each call, as a lambda is."""
    reads.register(source, value)
    if is_library_file(value.__code__.co_filename):
        reads.add(identity(source, value))
        return
    names = [name for name in ("__code__", "__defaults__", "__kwdefaults__") if getattr(value, name) is not None]
    parts = [getattr(value, name) for name in names]
    test = " and ".join(f"{{v}}.{name} is {{{index}}}" for index, name in enumerate(names))
    reads.add(ReadGuard(source, test, tuple(parts), _function_text(value)))
    if source.of_call:  # a different function may have the same code
        reads.add(ReadGuard(attribute(source, "__globals__"), "{v} is {0}", (value.__globals__,)))
    for name in names[1:]:
        for key, default in contents_of(getattr(value, name)):
            reads.record(item(attribute(source, name), key), default)


def _builtin(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    """Guards a function written in C; for a bound method such as ``table.get`` also its object."""
    owner = getattr(value, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType | type):
        reads.add(identity(source, value))
        return
    reads.register(source, value)
    reads.add(ReadGuard(source, "type({v}) is {0} and {v}.__name__ == {1}", (kind, value.__name__)))
    reads.record(attribute(source, "__self__"), owner)


class BoundMethod:
    """An object that is guarded as a bound method of Python's, by its ``__func__`` and ``__self__``."""

    __slots__ = ()


def _bound_method(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    reads.add(ReadGuard(source, "type({v}) is {0}", (kind,)))
    reads.record(attribute(source, "__func__"), value.__func__)
    reads.record(attribute(source, "__self__"), value.__self__)


def _partial_call(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    reads.register(source, value)
    reads.add(ReadGuard(source, "type({v}) is {0}", (kind,)))
    for name in ("func", "args", "keywords"):
        reads.record(attribute(source, name), getattr(value, name))


def items(
    reads: Reads, source: Source, value: Sequence[Any], kind: type[Any], record: Callable[[Source, Any], None]
) -> None:
    """Guards the length of a sequence and passes its items to ``record``."""
    reads.add(ReadGuard(source, f"type({{v}}) is {{0}} and len({{v}}) == {len(value)}", (kind,)))
    for position, part in enumerate(value):
        record(item(source, position), part)


def _sequence(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    if kind is not tuple:
        reads.register(source, value)
    if len(value) > _INLINE and all(map(is_fixed, value)):
        test = "type({v}) is {0} and (addresses(tuple({v})) == {2} or same_items({v}, {1}, {2}))"
        expected = kind, tuple(value), places_of(value)
        if kind is tuple:
            test = "{v} is {1} or " + test
        reads.add(ReadGuard(source, test, expected, _text(value), size=len(value), each=_SECONDS_AN_ITEM))
    else:
        items(reads, source, value, kind, reads.record)


def keyed(
    reads: Reads, source: Source, value: dict[Any, Any], kind: type[Any], record: Callable[[Source, Any], None]
) -> None:
    """Guards the keys of a dict and passes its values to ``record``."""
    if all(type(key) is str for key in value):
        test, keys = "type({v}) is {0} and [*{v}] == {1}", list(value)
    else:
        test, keys = "type({v}) is {0} and same_keys({v}, {1}, {2})", cast("Any", typed_keys(value))
    reads.add(ReadGuard(source, test, (kind, keys, _if_fixed(value))))
    if isinstance(value, defaultdict):
        reads.record(attribute(source, "default_factory"), cast("Any", value).default_factory)
    for index, (key, part) in enumerate(value.items()):
        _element(reads, source, index, key)
        record(item(source, key), part)


def _mapping(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    reads.register(source, value)
    try:
        list(value)
    except Exception as error:  # of the user's own __iter__
        text = f"{source.text} cannot be followed: iterating over it raises {error!r:.80}; pass it as an argument"
        raise UnimplementedError(text).here() from error
    if len(value) <= _INLINE or not all(map(is_fixed, value)) or not all(map(is_fixed, value.values())):
        keyed(reads, source, value, kind, reads.record)
        return
    keys, parts = list(value), tuple(value.values())
    same = partial(same_mapping, kind=kind, keys=keys, parts=parts, identities=places_of((*keys, *parts)))
    reads.add(ReadGuard(source, "{0}({v})", (same,), _text(value), size=2 * len(value), each=_SECONDS_AN_ITEM))
    if isinstance(value, defaultdict):
        reads.record(attribute(source, "default_factory"), cast("Any", value).default_factory)


def _elements(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    reads.register(source, value)
    fixed = _if_fixed(value)
    test = "type({v}) is {0} and same_set({v}, {1}, {2}, {3})"
    if kind is frozenset and fixed:
        test = "{v} is {4} or " + test
    expected = (kind, typed_set(value), fixed, places_of(fixed), value if kind is frozenset and fixed else None)
    each = _SECONDS_AN_ITEM if fixed else _SECONDS_A_KEY
    reads.add(ReadGuard(source, test, expected, _text(value), size=len(value), each=each))
    for index, part in enumerate(value):
        _element(reads, source, index, part)


def _if_fixed(value: Collection[Any]) -> tuple[Any, ...]:
    """Returns the keys or elements of a container if all are fixed; otherwise none, to keep no object alive."""
    return tuple(value) if all(map(is_fixed, value)) else ()


def _element(reads: Reads, source: Source, index: int, value: Any) -> None:
    """Guards an element of a set, or a key, whose attributes may be read."""
    # One that equals only itself is the object itself; of others, equal ones that differ in what they hold may come.
    if has_parts(value):
        reads.record(element(source, value) if equals_only_itself(value) else item(_listed(source), index), value)


def _listed(source: Source) -> Source:
    """Returns the source of the elements of a set, or of the keys of a dict, in a list."""
    return result_of_call("list", list, id(list), [source], [])


def _wrapper(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    """Guards a library's container that keeps its contents in one attribute."""
    _instance(reads, source, value, kind)
    name = "maps" if isinstance(value, ChainMap) else "data"
    reads.record(attribute(source, name), getattr(cast("Any", value), name))


def _view(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    reads.register(source, value)
    reads.add(ReadGuard(source, "type({v}) is {0}", (kind,)))
    reads.record(attribute(source, "mapping"), value.mapping)


def _reference(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    _same_object(reads, source, value, kind)
    referent = result_of(source, "()")
    referent.of_call = True  # it is not kept alive
    reads.record(referent, value())


def _in_memory(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    """Guards memory of ``ctypes``, which other code and other processes write."""
    if ctypes.sizeof(value) <= _MAX_ARRAY_BYTES:
        _buffer(reads, source, value, kind)
    else:
        _same_object(reads, source, value, kind)


def _flat_array(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    """Guards ``array.flat`` through its array."""
    _same_object(reads, source, value, kind)
    reads.record(attribute(source, "base"), value.base)


def _masked_array(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    _same_object(reads, source, value, kind)
    for part in ("data", "mask", "fill_value"):
        reads.record(attribute(source, part), getattr(value, part))


def _instance(reads: Reads, source: Source, value: Any, kind: type[Any]) -> None:
    reads.register(source, value)
    if is_opaque(kind) or _is_library(kind):
        reads.add(identity(source, value))
    elif not source.of_call:  # an argument's object may have another class
        reads.add(ReadGuard(source, "{v} is {0} and type({v}) is {1}", (value, kind), _text(value)))
    else:
        reads.add(ReadGuard(source, "type({v}) is {0}", (kind,), with_article(kind.__name__)))


_Recorder: TypeAlias = "Callable[[Reads, Source, Any, type[Any]], None]"

# By exact type for types without subclasses, otherwise in this order.
_BY_TYPE: dict[type[Any], _Recorder] = {
    **dict.fromkeys((*_SINGLETONS, type, types.ModuleType, type(np.ma.masked)), _identical),
    **dict.fromkeys((types.BuiltinFunctionType, types.MethodWrapperType), _builtin),
    **dict.fromkeys(_PLAIN, _plain),
    **dict.fromkeys((range, slice), _by_text),
    Tensor: _tensor,
    Variable: _variable,
    StringTensor: _strings,
    types.FunctionType: _python_function,
    partial: _partial_call,
}
_BY_KIND: tuple[tuple[Any, _Recorder], ...] = (
    (_FIXED, _identical),
    ((types.MethodType, BoundMethod), _bound_method),
    (np.ma.MaskedArray, _masked_array),
    (np.ndarray, _array),
    (np.generic, _number),
    (np.flatiter, _flat_array),
    (_PLAIN, _value),
    ((np.dtype, jax.Array), _same_object),
    (_BUFFERS, _buffer),
    (_MEMORY, _in_memory),
    (_VIEWS, _view),
    (weakref.ref, _reference),
    (_WRAPPERS, _wrapper),
    ((list, tuple, deque), _sequence),
    ((dict, types.MappingProxyType), _mapping),
    ((set, frozenset), _elements),
)


def recorder(value: Any) -> _Recorder:
    """Returns the function that guards values of this kind."""
    registered = _BY_TYPE.get(cast("type[Any]", type(value)))
    return registered or next((record for kinds, record in _BY_KIND if isinstance(value, kinds)), _instance)


def identity(source: Source, value: Any) -> ReadGuard:
    """Returns the guard that a source still finds this very object."""
    if source.of_call:
        try:  # do not keep the call's objects alive
            return ReadGuard(source, "{v} is not None and {v} is {0}()", (weakref.ref(value),), _text(value))
        except TypeError:
            pass
    return ReadGuard(source, "{v} is {0}", (value,), _text(value))


def _is_library(kind: type[Any]) -> bool:
    """Returns True if a class belongs to Python or to an installed package other than graphc."""
    return kind.__module__.partition(".")[0] != "graphc" and is_library_module(kind.__module__)


def _array_text(value: Any) -> str:
    text = repr(value)
    return text if len(text) < _TEXT else f"{value.dtype}{[*value.shape]} of hash {_hash(value)}"


def _hash(array: np.ndarray[Any, Any]) -> str:
    return sha1(array.tobytes(), usedforsecurity=False).hexdigest()[:8]


def _function_text(value: types.FunctionType) -> str:
    code = value.__code__
    return f"the function {value.__qualname__} ({code.co_filename.rpartition('/')[2]}:{code.co_firstlineno})"


def _text(value: Any) -> str:
    if isinstance(value, Variable):
        return f"the Variable {value.name!r}"
    try:
        text = repr(value)
    except Exception:  # raised by the user's __repr__, which plain Python would not have called
        text = ""
    return text if 0 < len(text) < _TEXT else with_article(type(value).__name__)
