"""The journal of a trace: which cells its code has written, and what they held before."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphc.base import Location, user_location
from graphc.core import SymbolicTensor
from graphc.tracing.cells import Cell, TensorCell, Write

if TYPE_CHECKING:
    from graphc.tracing.trace import Trace

__all__ = ["Journal", "JournalMark"]


@dataclass(frozen=True)
class JournalMark:
    """A point that a journal can be rolled back to.

    Attributes:
      held: what the cells hold that were written before, by their keys.
      num_own_writes: how many writes to the trace's own cells there were.
    """

    held: dict[Any, Any]
    num_own_writes: int


class Journal:
    """The cells that the code of a trace writes, so that the writes can be taken back, joined, or carried by a loop.

    Args:
      trace: whose code writes.
      around: the journal of the trace around it; None for that of a whole function.

    Attributes:
      writes: the cells that were written, in order, by their keys.
      native_writes: what code that is not converted may have changed, anywhere in the function; it cannot be taken
        back.
    """

    def __init__(self, trace: Trace, around: Journal | None) -> None:
        self.writes: dict[Any, Write] = {}
        # These two are the whole function's.
        self.native_writes: dict[Any, Write] = {} if around is None else around.native_writes
        self._written_at: dict[Any, Location | None] = {} if around is None else around._written_at
        self._trace = trace
        self._owned: dict[int, object] = {}
        # Each write to a tensor made here (weak, since who else refers to a tensor is asked) or to a cell of its own.
        self._own_writes: list[tuple[Callable[[], Cell | None], Any]] = []

    def own(self, value: object) -> None:
        """Notes that the trace's code may change an object and nobody else knows: it was made here, or is carried."""
        self._owned[id(value)] = value

    def owns(self, value: object) -> bool:
        """Returns True if :meth:`own` was called with this very object."""
        return id(value) in self._owned

    def note(self, cell: Cell) -> None:
        """Notes what a cell holds that is about to be written, unless its owner was made in this trace."""
        if cell.key in self.writes or self.owns(cell.owner):
            return
        if self._is_own_tensor(cell.owner):
            tensor = weakref.ref(cell.owner)
            self._own_writes.append((lambda: _tensor_cell(tensor), SymbolicTensor(cell.owner.raw, self._trace)))
        else:
            # Behind a loop or branch its writes are done again, at the line of the statement.
            location = self._written_at.setdefault(cell.key, user_location())
            self.writes[cell.key] = Write(cell, cell.get(), location)

    def note_own(self, cell: Cell) -> None:
        """Notes what a cell of the trace's own holds, for what takes back or tells what was done since a mark."""
        self._own_writes.append((lambda: cell, cell.get()))

    def note_native(self, cell: Cell, before: Any) -> None:
        """Notes what a cell held that code which is not converted is about to change, or has changed."""
        if cell.key not in self.writes:
            self.native_writes.setdefault(cell.key, Write(cell, before, user_location()))

    def undo(self, start: int = 0) -> None:
        """Takes back all writes since the one of that number; what they left is kept in :attr:`Write.after`."""
        undone = list(self.writes.values())[start:]
        for write in undone:
            write.after = write.cell.get()
        for write in reversed(undone):
            write.cell.set(write.before)

    def forget(self, start: int = 0) -> None:
        """Takes back all writes since the one of that number, and leaves no trace of them."""
        for key in list(self.writes)[start:]:
            write = self.writes.pop(key)
            write.cell.set(write.before)

    def mark(self) -> JournalMark:
        """Returns a point to roll back to."""
        return JournalMark({key: write.cell.get() for key, write in self.writes.items()}, len(self._own_writes))

    def rollback(self, mark: JournalMark) -> None:
        """Takes back what was written since a mark."""
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

    def changed_since(self, mark: JournalMark) -> dict[Any, tuple[Cell, Any]]:
        """Returns the cells that were written since a mark, by their keys, and what they held then."""
        found = {key: (write.cell, mark.held.get(key, write.before)) for key, write in self.writes.items()}
        for own_cell, before in self._own_writes[mark.num_own_writes :]:
            cell = own_cell()
            if cell is not None:
                found.setdefault(cell.key, (cell, before))
        return found

    def clear(self) -> None:
        """Drops what is known of Python objects in this trace, so as to keep none alive."""
        for known in (self.writes, self._owned, self._own_writes):
            known.clear()

    def _is_own_tensor(self, value: object) -> bool:
        """Returns True if a value is a tensor that was made in this very trace and is no argument of the function."""
        if not isinstance(value, SymbolicTensor) or value.trace is not self._trace:
            return False
        return self._trace.parent is not None or value.raw.node is not None


def _tensor_cell(reference: weakref.ref[Any]) -> Cell | None:
    """Returns the items of a tensor that is still there."""
    tensor = reference()
    return None if tensor is None else TensorCell(tensor)
