"""Objects that are changed by code which nobody converts: iterators, readers, queues, generators of random numbers.

Converted code tells the trace what it is about to change. What a library, a builtin or a generator does is not known
before. So the state of what it is given is looked at, before and after: by kind, not by a list of functions. What has
changed, and outlives the call, is told as any other side effect.
"""

from __future__ import annotations

import array
import io
import itertools
import operator
import queue
import random
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Container, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, cast

import jax
import numpy as np

from graphc.compiler.autograph.constructs.storage.cells import ContentsCell, ObjectCell
from graphc.compiler.base import with_article
from graphc.compiler.tracing import Cell, context

# Reads the state of an object as far as it shows: attributes, contents, how far it was read.

_PLAIN = (str, bytes, int, float, complex)
OPAQUE = (*_PLAIN, type(None), type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, jax.Array)
"""Classes of values that have no state, or none that is looked at."""

_MOST_BYTES = 1 << 24
"""Of larger arrays the items are not looked at."""
_MOST_OBJECTS = 4096
_HEAP_TYPE = 1 << 9
"""The flag of a class that was made by a ``class`` statement (``Py_TPFLAGS_HEAPTYPE``)."""


def state_of(value: Any, consumed: bool, ends: Container[int] = ()) -> list[Any]:
    """Returns an object's state for :func:`equal_states`: plain values, and identities, which keep nothing alive.

    Args:
      consumed: whether an iterator, of which nobody can see how many items are left, is another one each time.
      ends: the identities of objects whose own state does not count.
    """
    states: list[Any] = []
    left, seen = [value], set[int]()
    while left:
        part = left.pop()
        states.append(part if isinstance(part, _PLAIN) else id(part))
        # Objects may hold each other, or a whole data set.
        if isinstance(part, OPAQUE) or is_internal(part) or id(part) in seen or id(part) in ends:
            continue
        if len(seen) > _MOST_OBJECTS:
            continue
        seen.add(id(part))
        read = next((read for kind, read in _READ.items() if isinstance(part, kind)), None)
        if read is not None:
            states.append(read(part))
            continue
        if isinstance(part, Iterator):
            states.append(_items_left(part, consumed))
        left += [*_contents(part), *_attributes(part)]
    return states


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
        values = list(object.__getattribute__(value, "__dict__").values())
    except AttributeError:
        values = []
    for base in cast("type[Any]", type(value)).__mro__:
        if not base.__flags__ & _HEAP_TYPE:  # static classes of C are immutable
            continue
        for member in base.__dict__.values():
            try:
                values.append(member.__get__(value) if isinstance(member, types.MemberDescriptorType) else member)
            except AttributeError:
                values.append(None)
    return values


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


STATEFUL = (*_READ, set, deque)
"""Classes of Python's and NumPy's whose objects change."""


_BATCHES = (
    "compile a step that is given one batch and call it in a Python loop, or stack the batches into one tensor and "
    "loop over its rows"
)
_GIVING = ("__next__", "get_nowait", "readline")
"""Methods of objects that give data."""
_NO_STATE = (*OPAQUE, tuple, frozenset, range)
_VIEWS = (np.ndarray, np.flatiter, np.void, memoryview)
_CONTAINERS: frozenset[type[Any]] = frozenset((list, dict, set, np.ndarray, bytearray, deque))
"""Classes from which items are taken without a change."""


class StatePlace(ObjectCell):
    """The state of an object, as far as it shows."""

    __slots__ = ("_consumed",)

    restorable = False

    def __init__(self, owner: Any, what: str, *, consumed: bool = False) -> None:
        super().__init__(owner, f"the state of {with_article(type(owner).__name__)}", what)
        self._consumed = consumed  # items are taken: as most iterators do not show the rest, this always counts

    @property
    def remedy(self) -> str:
        """For what gives data, how to give it to a compiled function."""
        return _BATCHES if self._consumed or any(hasattr(self.owner, name) for name in _GIVING) else ""

    def get(self) -> Any:
        """Returns the state, as a list to compare."""
        return state_of(self.owner, self._consumed or isinstance(self.owner, Iterator))

    def set(self, value: Any) -> None:
        """Does nothing: what such code did cannot be taken back."""

    def holds(self, before: Any) -> bool:
        """Returns True if the state is as it was, as far as it can be seen."""
        return equal_states(before, self.get())


class _IdentityPlace(Cell):
    """The identity of an object, which differs in each call."""

    __slots__ = ()

    @property
    def remedy(self) -> str:
        """Returns how to do without."""
        return "tell objects apart by an attribute, or by `is`"

    def get(self) -> None:
        """Nothing that is kept."""

    def set(self, value: None) -> None:
        """Does nothing."""

    def holds(self, before: None) -> bool:
        """No."""
        del before
        return False


def note_identity(value: Any, what: str) -> None:
    """Says that Python code gets to know which object an object is."""
    # A later call checks the identity of what it finds again; of what else outlives the call the journal is told.
    trace = context.trace
    if trace is None or isinstance(value, _NO_STATE):
        return
    if trace.root.reads.source(value) is not None:
        trace.root.reads.identify(value)
    else:
        trace.journal.note_native(_IdentityPlace(value, "", what), None)


def note_state(owner: Any, what: str) -> None:
    """Notes the state of an object that code which is not converted is about to change."""
    if context.trace is not None:
        state = StatePlace(owner, what)
        context.trace.journal.note_native(state, state.get())


def note_consumed(value: Any, what: str) -> None:
    """Says that Python is about to take items from an iterator or what makes one, outside branches and loops."""
    trace = context.trace
    if trace is None or trace.parent is not None or type(value) in _CONTAINERS or not _has_state(value):
        return
    state = StatePlace(value, what, consumed=True)
    trace.journal.note_native(state, state.get())


def memory_of(value: Any) -> Any:
    """Returns the array in whose memory a view, a record or an iterator of one looks; other values as they are."""
    # A view lives as long as the expression that makes it, and the array outlives the call.
    while isinstance(value, _VIEWS) and not isinstance(value, np.ma.MaskedArray):  # which has a mask besides
        whole = cast("Any", value).obj if isinstance(value, memoryview) else cast("Any", value).base
        if not isinstance(whole, np.ndarray):
            break
        value = cast("Any", whole)
    return cast("Any", value)


def memories_of(value: Any) -> list[Any]:
    """As :func:`memory_of`, as a list; of a masked array, which may be a view, also those of its items and its mask."""
    if not isinstance(value, np.ma.MaskedArray):
        return [memory_of(value)]
    array = cast("Any", value)
    mask = cast("Any", np.ma.getmask(array))
    return [array, memory_of(array.data), *([] if mask is np.ma.nomask else [memory_of(mask)])]


def run_watched(run: Callable[[], Any], operands: Iterable[Any], what: str) -> Any:
    """Runs code that is not converted (``what``, for messages), and notes what it changes of its operands."""
    trace = context.trace
    if trace is None:
        return run()
    if trace.parent is not None:
        return _run_in_region(run, operands, what)
    whole = [memory for value in operands for memory in memories_of(value)]
    slots = [StatePlace(value, what) for value in whole if _has_state(value)]
    before = [(slot, slot.get()) for slot in slots]
    try:
        return run()
    finally:  # code that raises may have changed them before
        for slot, state in before:
            if not slot.holds(state):
                trace.journal.note_native(slot, state)


def _has_state(value: Any) -> bool:
    return not isinstance(value, _NO_STATE) and not is_internal(value)


def _run_in_region(run: Callable[[], Any], operands: Iterable[Any], what: str) -> Any:
    """As :func:`run_watched`, in a branch or loop: an array or list must not change there, and is put back."""
    arrays: list[Any] = [value for value in operands if isinstance(value, np.ndarray | list)]
    before: list[tuple[Any, Any]] = [(value, value.copy()) for value in arrays]
    result = run()
    for value, old in before:
        is_array = isinstance(value, np.ndarray)
        # By bytes: a NaN equals itself.
        same = value.tobytes() == old.tobytes() if is_array else [*map(id, value)] == [*map(id, old)]
        if not same:
            value[... if is_array else slice(None)] = old
            assert context.trace is not None
            context.trace.side_effect(f"{what}, which changes {with_article(type(value).__name__)},")
    return result


# Changes of objects that branches and loops do not follow: sets, deques, byte arrays and NumPy's arrays.


def _fill_array(array: Any, values: Any) -> None:
    array[...] = values  # in place: others hold this very array, and views of it


def _refill(owner: Any, items: Any) -> None:
    owner.clear()
    (owner.update if isinstance(owner, set) else owner.extend)(items)


_KINDS: dict[type[Any], tuple[Callable[[Any], Any], Callable[[Any, Any], None]]] = {
    set: (set.copy, _refill),
    deque: (list, _refill),
    bytearray: (bytes, _refill),
    np.ndarray: (np.ndarray.copy, _fill_array),
}
"""By class, what copies the contents and what puts them back."""


class _UnfollowedPlace(ObjectCell):
    """The contents of an object of one of these classes."""

    __slots__ = ("_kind",)

    def __init__(self, owner: Any, kind: type[Any], what: str) -> None:
        super().__init__(owner, f"{with_article(type(owner).__name__)} that is changed", what)
        self._kind = kind

    def get(self) -> Any:
        """Returns a copy of the contents."""
        return _KINDS[self._kind][0](self.owner)

    def set(self, value: Any) -> None:
        """Puts the contents back."""
        _KINDS[self._kind][1](self.owner, value)


def _kind(owner: Any) -> type[Any] | None:
    if isinstance(owner, np.ma.MaskedArray):
        return None
    return next((kind for kind in _KINDS if isinstance(owner, kind)), None)


def is_noted(owner: Any) -> bool:
    """Returns True if the open trace's journal has what a container held before its first change."""
    if context.trace is None or not isinstance(owner, list | dict | set | deque | bytearray):
        return False
    keys = ContentsCell.key_of(owner), (_UnfollowedPlace, id(cast("Any", owner)))
    return not {*keys}.isdisjoint(context.trace.journal.writes)


def note_change(owner: Any, what: str) -> None:
    """Says that Python code is about to change an object in a way that no branch or loop follows."""
    trace = context.trace
    if trace is None:
        return
    trace.side_effect(what)
    if isinstance(owner, OrderedDict):  # whose order changes
        trace.journal.note(ContentsCell(cast("Any", owner), what))
        return
    for memory in memories_of(owner):
        kind = _kind(memory)
        if kind is None:
            note_state(memory, what)
        else:
            trace.journal.note(_UnfollowedPlace(memory, kind, what))
