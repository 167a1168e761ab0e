"""Cells: the storage that an assignment changes: a tensor's values, an attribute, the items of a list.

Traced Python code changes Python objects as it runs. In a branch or a loop body that is not what the program means: the
other branch must see the object as it was, and the next iteration as this one left it. A trace therefore keeps a
journal of the cells that were written. After tracing a branch or body, graphc undoes its writes, merges or carries the
values that they left as it does for variables, and writes the results where the branch or loop stands.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from graphc.compiler.base import Location
from graphc.compiler.core import SymbolicTensor, Tensor
from graphc.compiler.ir import TensorType
from graphc.compiler.tracing.context import context

if TYPE_CHECKING:
    from graphc.compiler.tracing.reads import Reads

__all__ = ["MISSING", "CallState", "Cell", "TensorCell", "Write"]

MISSING: Any = object()
"""Content of a cell that holds nothing, such as an attribute that is not set yet."""


class Cell(ABC):
    """A storage location that can be assigned to.

    Attributes:
      title: a description for messages: ``the attribute 'x' of a Model``.
      what: the statement that writes the cell, for messages.
    """

    __slots__ = ("owner", "title", "what")

    restorable: ClassVar[bool] = True
    """True if :meth:`set` restores the previous content."""

    def __init__(self, owner: Any, title: str, what: str) -> None:
        self.owner = owner
        self.title = title
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
    """A record of a write to a cell.

    Attributes:
      location: the user's line that wrote it first.
    """

    cell: Cell
    before: Any
    location: Location | None
    after: Any = None


# CallState: a value that lives for one call of a compiled function.


class CallState:
    """A value that is reset at each call of a compiled function, such as the call's status.

    Traces read and assign it like a Variable, and branches and loops carry it like one. In the outermost trace it is an
    ordinary tensor, not an input or output of the program.

    Args:
      name: unique within a function; contains a dot, so that it cannot clash with a Variable's name.
      differentiable: whether gradients flow from reads to the assigned value; for a Variable they do not.
    """

    __slots__ = ("differentiable", "initial", "name", "type")

    def __init__(self, name: str, initial: np.ndarray[Any, Any], *, differentiable: bool = False) -> None:
        self.name = name
        self.initial = initial
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
