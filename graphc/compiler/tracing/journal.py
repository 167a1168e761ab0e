"""The journal of a trace: the cells that its code has written, with their previous contents."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import CellType
from typing import TYPE_CHECKING, Any

from graphc.compiler.base import Location, nest, user_location
from graphc.compiler.core import SymbolicTensor
from graphc.compiler.tracing.cells import Cell, TensorCell, Write

if TYPE_CHECKING:
    from graphc.compiler.tracing.trace import Trace

__all__ = ["Journal", "JournalMark"]


@dataclass(frozen=True)
class JournalMark:
    """A point that a journal can be rolled back to.

    Attributes:
      held: the contents of the cells written before the mark, by cell key.
      num_own_writes: the number of writes to the trace's own cells before the mark.
    """

    held: dict[Any, Any]
    num_own_writes: int


class Journal:
    """The writes of a trace to cells, kept so that they can be undone, joined, or carried by a loop.

    Args:
      around: the journal of the enclosing trace; None for the trace of a whole function.

    Attributes:
      writes: the cells written, in order, by cell key.
      native_writes: writes that unconverted code may have made, anywhere in the function; they cannot be undone.
    """

    def __init__(self, trace: Trace, around: Journal | None) -> None:
        self.writes: dict[Any, Write] = {}
        # These two belong to the whole function.
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
        for known in (self.writes, self._owned, self._own_writes):
            known.clear()

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
