"""Reads the state of an object as far as it shows: attributes, contents, how far it was read."""

from __future__ import annotations

import array
import io
import itertools
import operator
import queue
import random
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, cast

import jax
import numpy as np

__all__ = ["OPAQUE", "equal_states", "is_internal", "state_of"]

_PLAIN = (str, bytes, int, float, complex)
OPAQUE = (*_PLAIN, type(None), type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, jax.Array)
"""Classes of values that have no state, or none that is looked at."""

_MOST_BYTES = 1 << 24
"""Of larger arrays the items are not looked at."""
_MOST_OBJECTS = 4096
_HEAP_TYPE = 1 << 9
"""The flag of a class that was made by a ``class`` statement (``Py_TPFLAGS_HEAPTYPE``)."""


def state_of(value: Any, consumed: bool) -> list[Any]:
    """Returns the state of an object, as a list to compare by :func:`equal_states`.

    It holds plain values, and the identities of all others, so as to keep no object alive.

    Args:
      value: the object.
      consumed: whether an iterator, of which nobody can see how many items are left, is another one each time.
    """
    found: list[Any] = []
    left, seen = [value], set[int]()
    while left:
        part = left.pop()
        found.append(part if isinstance(part, _PLAIN) else id(part))
        # Objects may hold each other, or a whole data set.
        if isinstance(part, OPAQUE) or is_internal(part) or id(part) in seen or len(seen) > _MOST_OBJECTS:
            continue
        seen.add(id(part))
        read = next((read for known, read in _READ.items() if isinstance(part, known)), None)
        if read is not None:
            found.append(read(part))
            continue
        if isinstance(part, Iterator):
            found.append(_items_left(part, consumed))
        left += [*_contents(part), *_attributes(part)]
    return found


def is_internal(value: Any) -> bool:
    """Returns True if a value is graphc's or JAX's: what these keep is no state of the user's."""
    kind = cast("type[Any]", type(value))
    return str(kind.__module__).partition(".")[0] in ("graphc", "jax", "jaxlib")


def _items_left(iterator: Any, consumed: bool) -> Any:
    """Returns how many items are left; of an iterator that is Python code its attributes tell."""
    if hasattr(cast("Any", type(iterator)), "__length_hint__"):
        return operator.length_hint(iterator)
    # Equal to nothing: it counts as changed.
    return object() if consumed and not hasattr(iterator, "__dict__") else None


def _contents(value: Any) -> list[Any]:
    """Returns the items of a container; of one with thousands, the first ones and their number."""
    if isinstance(value, dict):
        items: Iterable[Any] = [part for item in cast("dict[Any, Any]", value).items() for part in item]
    elif isinstance(value, set | frozenset):
        # Add and discard may leave another order of the same items.
        items = sorted(cast("Iterable[Any]", value), key=id)
    elif isinstance(value, list | tuple | deque):
        items = cast("Iterable[Any]", value)
    else:
        return []
    return [len(cast("Any", value)), *itertools.islice(items, _MOST_OBJECTS)]


def _attributes(value: Any) -> list[Any]:
    """Returns the values in an object's ``__dict__`` and slots, and those of its class if that is Python code."""
    try:
        # Not by value.__dict__: a __getattribute__ of the user's must not run.
        found = list(object.__getattribute__(value, "__dict__").values())
    except AttributeError:
        found = []
    for base in cast("type[Any]", type(value)).__mro__:
        if not base.__flags__ & _HEAP_TYPE:  # static classes of C are immutable
            continue
        for member in base.__dict__.values():
            try:
                found.append(member.__get__(value) if isinstance(member, types.MemberDescriptorType) else member)
            except AttributeError:
                found.append(None)
    return found


def equal_states(before: Any, after: Any) -> bool:
    """Returns True if two states are equal."""
    if before is after:
        return True
    if type(before) is not type(after):
        return False
    if isinstance(before, list | tuple):
        old, new = cast("list[Any]", before), cast("list[Any]", after)
        return len(old) == len(new) and all(map(equal_states, old, new))
    if isinstance(before, dict):
        old, new = cast("dict[Any, Any]", before), cast("dict[Any, Any]", after)
        return list(old) == list(new) and all(map(equal_states, old.values(), new.values()))
    if isinstance(before, np.ndarray):
        return cast("Any", before).tobytes() == after.tobytes()  # NaN equals itself here, and -0.0 is not 0.0
    # !=: a NaN is unequal to itself.
    return isinstance(before, _PLAIN) and bool(before == after or (before != before and after != after))


def _read_generator(generator: Any) -> Any:
    if isinstance(generator, np.random.Generator):
        return cast("Any", generator.bit_generator).state
    try:
        return generator.getstate() if isinstance(generator, random.Random) else generator.get_state()
    except NotImplementedError:  # the system's
        return None


def _read_array(value: Any) -> list[Any]:
    seen = value.nbytes <= _MOST_BYTES and not value.dtype.hasobject
    items = [id(item) for item in value.flat] if value.dtype.hasobject and value.size <= _MOST_OBJECTS else None
    return [str(value.dtype), value.shape, value.tobytes() if seen else items]


def _read_masked(value: Any) -> list[Any]:
    mask = cast("Any", np.ma.getmask(value))
    return [*_read_array(np.ma.getdata(value)), None if mask is np.ma.nomask else mask.tobytes()]


def _read_file(file: Any) -> list[Any]:
    """Returns how far a file was read or written; one that cannot say it counts as changed."""
    try:
        return [file.tell(), file.getvalue() if isinstance(file, io.StringIO | io.BytesIO) else None]
    except (OSError, ValueError):
        return [file.closed or object()]


_READ: dict[Any, Callable[[Any], Any]] = {
    np.ma.MaskedArray: _read_masked,
    np.ndarray: _read_array,
    bytearray: bytes,
    array.array: bytes,
    memoryview: memoryview.tobytes,
    io.IOBase: _read_file,
    **dict.fromkeys((random.Random, np.random.Generator, np.random.RandomState), _read_generator),
    ContextVar: lambda variable: id(variable.get(None)),
    queue.SimpleQueue: lambda waiting: waiting.qsize(),  # to look at its items is to take them
    itertools.count: repr,  # nothing else shows the next number
}
"""By class, what reads the state of an object that is not made of others."""
