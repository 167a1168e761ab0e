"""Memory of the caller's arrays: the traced tensors that in plain Python share it, and their changes in place."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from graphc.base import Location, user_location
from graphc.core import SymbolicTensor

if TYPE_CHECKING:
    from graphc.ir import Value
    from graphc.tracing.aliases import AliasSet

__all__ = ["SharedMemory"]

_NOTHING: frozenset[int] = frozenset()


class SharedMemory:
    """The tensors of a trace that, for a call with NumPy arrays, would be these arrays or views of them.

    A tensor is not changed by ``x += 1``: the name is bound to a new one. A NumPy array is changed, for its views and
    for the caller too. The trace serves both kinds of arguments; a call with arrays checks :attr:`changed`.

    Args:
      aliases: the aliases of the trace.

    Attributes:
      changed: the arguments that are changed in place, by position, with the operator and the line of the first change.
    """

    def __init__(self, aliases: AliasSet) -> None:
        self.changed: dict[int, tuple[str, Location | None]] = {}
        self._aliases = aliases
        self._places: weakref.WeakKeyDictionary[Value, frozenset[int]] = weakref.WeakKeyDictionary()

    def argument(self, place: int, tensor: SymbolicTensor) -> None:
        """Notes that a tensor stands for the argument at a position."""
        self._places[tensor.raw] = frozenset([place])

    def view(self, tensor: SymbolicTensor, result: object) -> None:
        """Notes that a result has the memory of a tensor, if that is an array."""
        if isinstance(result, SymbolicTensor) and (places := self._of(tensor)):
            self._places[result.raw] = places

    def separate(self, tensor: SymbolicTensor) -> None:
        """Notes that the program made a tensor of its own of an argument, with ``gx.asarray``."""
        if self._of(tensor):
            self._places[tensor.raw] = _NOTHING

    def change(self, tensor: SymbolicTensor, symbol: str) -> None:
        """Notes that a tensor is about to be changed by an in-place operator or, with ``""``, an item assignment."""
        for place in self._of(tensor):
            self.changed.setdefault(place, (symbol, user_location()))

    def _of(self, tensor: SymbolicTensor) -> frozenset[int]:
        """Returns the positions of the arguments whose memory a tensor may have."""
        seen = {id(tensor)}
        places = _NOTHING
        todo = [tensor]
        for link in todo:  # what a loop carries may stand for itself
            known = self._places.get(link.raw)
            alias = self._aliases.get(link) if known is None else None
            places |= known or _NOTHING
            for source in () if alias is None else alias.sources or ():
                if isinstance(source, SymbolicTensor) and id(source) not in seen:
                    seen.add(id(source))
                    todo.append(source)
        return places
