"""Places: what an assignment can change besides a name: the values of a tensor, an attribute, the items of a list.

Python code that is traced changes Python objects as it runs. In a branch or a loop body that is not what the program
means: the other branch must see the object as it was, and the next iteration as this one left it. A trace therefore
keeps a journal of the places that were written. When a branch or body has been traced its writes are taken back; what
they left is merged, or carried, as what names hold is, and then written where the branch or loop stands.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from graphc.base import Location
from graphc.core.tensor import SymbolicTensor, Tensor

if TYPE_CHECKING:
    from graphc.core.reads import Reads

__all__ = ["MISSING", "Place", "TensorPlace", "Write"]

MISSING: Any = object()
"""What a place holds before anything was put there, as an attribute that is not set yet."""


class Place(ABC):
    """Something that can be assigned to.

    Args:
      owner: the object that changes.

    Attributes:
      title: what it is, for messages: ``the attribute 'x' of a Model``.
      what: the statement that writes it, for messages.
    """

    __slots__ = ("owner", "title", "what")

    def __init__(self, owner: Any, title: str, what: str) -> None:
        self.owner = owner
        self.title = title
        self.what = what

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for two places that are the same."""
        return (type(self), id(self.owner))

    def read_as(self, reads: Reads) -> tuple[Any, ...] | None:
        """The key of the source by which the place is read; None where it is read by none, or by one of each call's."""
        return None

    @abstractmethod
    def get(self) -> Any:
        """What it holds: a value that later writes do not change."""

    @abstractmethod
    def set(self, value: Any) -> None:
        """Makes it hold a value that :meth:`get` gave, or one like it; tells no trace."""


class TensorPlace(Place):
    """The values of a tensor of a trace, which item assignment changes."""

    __slots__ = ()

    owner: SymbolicTensor

    def __init__(self, owner: SymbolicTensor) -> None:
        super().__init__(owner, "the tensor whose items are assigned", "the assignment to items of a tensor")

    def get(self) -> SymbolicTensor:
        """The values as a tensor of its own."""
        return SymbolicTensor(self.owner.raw, self.owner.trace)

    def set(self, value: Tensor) -> None:
        """Gives the tensor the values of another of its type."""
        symbolic = cast("SymbolicTensor", value)
        self.owner.raw, self.owner.trace = symbolic.raw, symbolic.trace


@dataclass
class Write:
    """A place that was written.

    Attributes:
      place: which.
      before: what it held before.
      location: where in the user's code it was written first.
      after: what it held when the region ended.
    """

    place: Place
    before: Any
    location: Location | None
    after: Any = None
