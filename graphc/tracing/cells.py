"""Places: what an assignment can change besides a name: the values of a tensor, an attribute, the items of a list.

Python code that is traced changes Python objects as it runs. In a branch or a loop body that is not what the program
means: the other branch must see the object as it was, and the next iteration as this one left it. A trace therefore
keeps a journal of the cells that were written. When a branch or body has been traced its writes are taken back; what
they left is merged, or carried, as what names hold is, and then written where the branch or loop stands.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from graphc.base import Location
from graphc.core import SymbolicTensor, Tensor

if TYPE_CHECKING:
    from graphc.tracing.reads import Reads

__all__ = ["MISSING", "Cell", "TensorCell", "Write"]

MISSING: Any = object()
"""What a cell holds before anything was put there, as an attribute that is not set yet."""


class Cell(ABC):
    """Something that can be assigned to.

    Args:
      owner: the object that changes.

    Attributes:
      title: what it is, for messages: ``the attribute 'x' of a Model``.
      what: the statement that writes it, for messages.
    """

    __slots__ = ("owner", "title", "what")

    restorable: ClassVar[bool] = True
    """Whether :meth:`set` brings back what was held before."""

    def __init__(self, owner: Any, title: str, what: str) -> None:
        self.owner = owner
        self.title = title
        self.what = what

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for two cells that are the same."""
        return (type(self), id(self.owner))

    def read_as(self, reads: Reads) -> tuple[Any, ...] | None:
        """The key of the source by which the cell is read; None where it is read by none, or by one of each call's."""
        return None

    @abstractmethod
    def get(self) -> Any:
        """Returns what it holds: a value that later writes do not change."""

    @abstractmethod
    def set(self, value: Any) -> None:
        """Makes it hold a value that :meth:`get` gave, or one like it; tells no trace."""

    @property
    def remedy(self) -> str:
        """Returns what to write instead where the write happens once; empty for the remedy for any side effect."""
        return ""

    def holds(self, before: Any) -> bool:
        """Returns True if it still holds what it held; of a container, the same things; of an array, the same bytes."""
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
    """Returns the things in a container, in an order that depends on nothing else."""
    if isinstance(value, dict):
        return [part for item in cast("dict[Any, Any]", value).items() for part in item]
    return sorted(cast("set[Any]", value), key=id) if isinstance(value, set) else list(value)


class TensorCell(Cell):
    """The values of a tensor of a trace, which item assignment changes."""

    __slots__ = ()

    owner: SymbolicTensor

    def __init__(self, owner: SymbolicTensor) -> None:
        super().__init__(owner, "the tensor whose items are assigned", "the assignment to items of a tensor")

    def get(self) -> SymbolicTensor:
        """Returns the values as a tensor of its own."""
        return SymbolicTensor(self.owner.raw, self.owner.trace)

    def set(self, value: Tensor) -> None:
        """Gives the tensor the values of another of its type."""
        symbolic = cast("SymbolicTensor", value)
        self.owner.raw, self.owner.trace = symbolic.raw, symbolic.trace


@dataclass
class Write:
    """A cell that was written.

    Attributes:
      cell: which.
      before: what it held before.
      location: where in the user's code it was written first.
      after: what it held when the region ended.
    """

    cell: Cell
    before: Any
    location: Location | None
    after: Any = None
