"""Names of other scopes as places: globals, and variables of the functions around.

Python assigns them without asking any operator. Which ones a function may assign is told by its code, so they are noted
before it runs, and compared when the trace ends.
"""

from __future__ import annotations

from types import CellType
from typing import Any

from graphc.compiler.base import Location
from graphc.compiler.tracing import MISSING, Cell, Reads, Trace, global_name

__all__ = ["ClosureCell", "GlobalCell", "note_name"]


class GlobalCell(Cell):
    """A global name of a module."""

    __slots__ = ("name",)

    def __init__(self, owner: dict[str, Any], name: str) -> None:
        super().__init__(owner, f"the global {name!r}", f"the assignment to the global {name!r}")
        self.name = name

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for two places that are the same."""
        return (*super().key, self.name)

    def read_as(self, reads: Reads) -> tuple[Any, ...]:
        """Returns the key of the source by which the name is read."""
        return global_name(self.owner, self.name, "").key

    def get(self) -> Any:
        """Returns what the name stands for."""
        return self.owner.get(self.name, MISSING)

    def set(self, value: Any) -> None:
        """Binds the name, or unbinds it."""
        if value is MISSING:
            self.owner.pop(self.name, None)
        else:
            self.owner[self.name] = value


class ClosureCell(Cell):
    """A variable of a function that functions inside it share."""

    __slots__ = ()

    def __init__(self, owner: CellType, name: str) -> None:
        super().__init__(owner, f"{name!r} of another function", f"the assignment to {name!r} of another function")

    def read_as(self, reads: Reads) -> tuple[Any, ...] | None:
        """Returns the key of the source by which the variable is read, of a function that is the same in all calls."""
        source = reads.variable(self.owner)
        return None if source is None or source.of_call else source.key

    def get(self) -> Any:
        """Returns what the variable holds."""
        try:
            return self.owner.cell_contents
        except ValueError:  # unbound; Python has no other way to ask
            return MISSING

    def set(self, value: Any) -> None:
        """Binds the variable, or unbinds it."""
        if value is not MISSING:
            self.owner.cell_contents = value
        elif self.get() is not MISSING:
            del self.owner.cell_contents


def note_name(trace: Trace, place: GlobalCell | ClosureCell, location: Location) -> None:
    """Notes in a journal what a name stands for, before a function runs that may assign it at ``location``."""
    if place.key not in trace.journal.writes:  # the first note holds what the name stood for before
        trace.journal.note(place)
        trace.journal.writes[place.key].location = location
