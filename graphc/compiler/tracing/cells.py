"""Cells: the storage that an assignment changes: a tensor's values, an attribute, the items of a list.

Traced Python code changes Python objects as it runs. In a branch or a loop body that is not what the program means: the
other branch must see the object as it was, and the next iteration as this one left it. A trace therefore keeps a
journal of the cells that were written. After tracing a branch or body, graphc undoes its writes, merges or carries the
values that they left as it does for variables, and writes the results where the branch or loop stands.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from types import CellType
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from graphc.compiler.base import Location, nest, user_location
from graphc.compiler.core import SymbolicTensor, Tensor
from graphc.compiler.ir import TensorType
from graphc.compiler.tracing.mode import context

if TYPE_CHECKING:
    from graphc.compiler.tracing.reads import Reads
    from graphc.compiler.tracing.trace import Trace

MISSING: Any = object()
"""Content of a cell that holds nothing, such as an attribute that is not set yet."""


class Cell(ABC):
    """A storage location that can be assigned to."""

    __slots__ = ("owner", "title", "what")

    restorable: ClassVar[bool] = True
    """True if :meth:`set` restores the previous content."""

    def __init__(self, owner: Any, title: str, what: str) -> None:
        self.owner = owner
        self.title = title  # a description for messages: ``the attribute 'x' of a Model``
        self.what = what

    @property
    def key(self) -> tuple[Any, ...]:
        """A hashable key; equal for two objects that describe the same cell."""
        return (type(self), id(self.owner))

    def read_as(self, reads: Reads) -> tuple[Any, ...] | None:
        """The key of the source that reads this cell; None if no source does, or one that differs at each call."""
        return None

    @abstractmethod
    def get(self) -> Any:
        """Returns the content, as a value that later writes do not change."""

    @abstractmethod
    def set(self, value: Any) -> None:
        """Stores a value returned by :meth:`get`, or one of its kind, without notifying the trace."""

    @property
    def remedy(self) -> str:
        """Returns what to write instead of a write that would happen only once; empty for the default remedy."""
        return ""

    def holds(self, before: Any) -> bool:
        """Returns True if the content is unchanged: the same items of a container, the same bytes of an array."""
        return _same(before, self.get())


def _same(before: Any, after: Any) -> bool:
    if before is after:
        return True
    if isinstance(before, np.ndarray):
        old, new = cast("Any", before), after
        return old.shape == new.shape and old.tobytes() == new.tobytes()
    if type(before) is not type(after) or not isinstance(before, list | dict | set | bytes):
        return False
    parts, others = _parts(before), _parts(after)
    return len(parts) == len(others) and all(a is b for a, b in zip(parts, others, strict=True))


def _parts(value: Any) -> list[Any]:
    """Returns the items of a container in a deterministic order."""
    if isinstance(value, dict):
        return [part for item in cast("dict[Any, Any]", value).items() for part in item]
    return sorted(cast("set[Any]", value), key=id) if isinstance(value, set) else list(value)


class TensorCell(Cell):
    """The values of a traced tensor, which item assignment changes."""

    __slots__ = ()

    owner: SymbolicTensor

    def __init__(self, owner: SymbolicTensor) -> None:
        super().__init__(owner, "the tensor whose items are assigned", "the assignment to items of a tensor")

    def get(self) -> SymbolicTensor:
        """Returns the values as a separate tensor."""
        return SymbolicTensor(self.owner.raw, self.owner.trace)

    def set(self, value: Tensor) -> None:
        """Replaces the tensor's values by those of another tensor of its type."""
        symbolic = cast("SymbolicTensor", value)
        self.owner.raw, self.owner.trace = symbolic.raw, symbolic.trace


@dataclass
class Write:
    """A record of a write to a cell."""

    cell: Cell
    before: Any
    location: Location | None  # the user's line that wrote it first
    after: Any = None


# CallState: a value that lives for one call of a compiled function.


class CallState:
    """A value that is reset at each call of a compiled function, such as the call's status."""

    # Traces read and assign it like a Variable, and branches and loops carry it like one. In the outermost trace it is
    # an ordinary tensor, not an input or output of the program.

    __slots__ = ("differentiable", "initial", "name", "type")

    def __init__(self, name: str, initial: np.ndarray[Any, Any], *, differentiable: bool = False) -> None:
        self.name = name  # unique within a function; contains a dot, so that it cannot clash with a Variable's name
        self.initial = initial
        # Whether gradients flow from reads to the assigned value; for a Variable they do not.
        self.differentiable = differentiable
        self.type = TensorType(initial.shape, initial.dtype)

    def value(self) -> Any:
        """Returns the value at the current point of the open trace."""
        assert context.trace is not None
        return context.trace.read(self)

    def assign(self, value: Any) -> None:
        """Sets the value from this point of the trace on."""
        assert context.trace is not None
        context.trace.assign(self, value)


# The journal of a trace: the cells that its code has written, with their previous contents.


@dataclass(frozen=True)
class JournalMark:
    """A point that a journal can be rolled back to."""

    held: dict[Any, Any]  # the contents of the cells written before the mark, by cell key
    num_own_writes: int  # the number of writes to the trace's own cells before the mark


class Journal:
    """The writes of a trace to cells, kept so that they can be undone, joined, or carried by a loop."""

    def __init__(self, trace: Trace, around: Journal | None) -> None:
        self.writes: dict[Any, Write] = {}  # the cells written, in order, by cell key
        # These two belong to the whole function.
        # Writes that unconverted code may have made, anywhere in the function; they cannot be undone.
        self.native_writes: dict[Any, Write] = {} if around is None else around.native_writes
        self._written_at: dict[Any, Location | None] = {} if around is None else around._written_at
        self._trace = trace
        self._owned: dict[int, object] = {}
        # Writes to tensors made here (weak, since reference counts of tensors are inspected) and to the trace's own
        # cells.
        self._own_writes: list[tuple[Callable[[], Cell | None], Any]] = []

    def own(self, value: object) -> None:
        """Marks an object as the trace's own: made here or carried, so that no other code sees its changes."""
        self._owned[id(value)] = value

    def owns(self, value: object) -> bool:
        """Returns True if :meth:`own` was called with this very object."""
        return id(value) in self._owned

    def note(self, cell: Cell) -> None:
        """Records the content of a cell that is about to be written, unless its owner was made in this trace."""
        if cell.key in self.writes or self.owns(cell.owner):
            return
        if self._is_own_tensor(cell.owner):
            tensor = weakref.ref(cell.owner)
            self._own_writes.append((lambda: _tensor_cell(tensor), SymbolicTensor(cell.owner.raw, self._trace)))
        elif isinstance(cell.owner, CellType) and self._trace.parent is not None and self._holds_own_tensor(cell.get()):
            # No write before this one was noted, so this is a variable of a function that runs here, or a carried name.
            self.note_own(cell)
        else:
            # After a loop or branch its writes are repeated, at the line of the statement.
            location = self._written_at.setdefault(cell.key, user_location())
            self.writes[cell.key] = Write(cell, cell.get(), location)

    def note_own(self, cell: Cell) -> None:
        """Records the content of one of the trace's own cells, for rolling back to a mark."""
        self._own_writes.append((lambda: cell, cell.get()))

    def note_native(self, cell: Cell, before: Any) -> None:
        """Records the content of a cell that unconverted code is about to change, or has changed."""
        if cell.key not in self.writes:
            self.native_writes.setdefault(cell.key, Write(cell, before, user_location()))

    def undo(self, start: int = 0) -> None:
        """Undoes the writes from number ``start`` on and keeps the values that they left in :attr:`Write.after`."""
        undone = list(self.writes.values())[start:]
        for write in undone:
            write.after = write.cell.get()
        for write in reversed(undone):
            write.cell.set(write.before)

    def forget(self, start: int = 0) -> None:
        """Undoes the writes from number ``start`` on and forgets them."""
        for key in list(self.writes)[start:]:
            write = self.writes.pop(key)
            write.cell.set(write.before)

    def mark(self) -> JournalMark:
        """Returns a point to roll back to."""
        return JournalMark({key: write.cell.get() for key, write in self.writes.items()}, len(self._own_writes))

    def rollback(self, mark: JournalMark) -> None:
        """Undoes the writes made since a mark."""
        self.undo(len(mark.held))
        for key in list(self.writes)[len(mark.held) :]:
            del self.writes[key]
        for key, value in mark.held.items():
            self.writes[key].cell.set(value)
        for own_cell, before in reversed(self._own_writes[mark.num_own_writes :]):
            cell = own_cell()
            if cell is not None:
                cell.set(before)
        del self._own_writes[mark.num_own_writes :]

    def clear(self) -> None:
        """Drops all references to Python objects, so that the journal keeps none alive."""
        for table in (self.writes, self._owned, self._own_writes):
            table.clear()

    def _holds_own_tensor(self, value: object) -> bool:
        """Returns True if a value is, or holds, a tensor made in this very trace."""
        return any(isinstance(leaf, SymbolicTensor) and leaf.trace is self._trace for leaf in nest.flatten(value)[0])

    def _is_own_tensor(self, value: object) -> bool:
        """Returns True if a value is a tensor made in this very trace, but not an argument of the function."""
        if not isinstance(value, SymbolicTensor) or value.trace is not self._trace:
            return False
        return self._trace.parent is not None or value.raw.node is not None


def _tensor_cell(reference: weakref.ref[Any]) -> Cell | None:
    """Returns the cell of a tensor; None if the tensor is gone."""
    tensor = reference()
    return None if tensor is None else TensorCell(tensor)
