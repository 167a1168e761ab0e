"""Memory of the caller's arrays: the traced tensors that in plain Python share it, and their changes in place."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from graphc.compiler.base import Location, user_location
from graphc.compiler.core import SymbolicTensor

if TYPE_CHECKING:
    from graphc.compiler.ir import Value
    from graphc.compiler.tracing.aliases import AliasSet
    from graphc.compiler.tracing.reads import Reads

__all__ = ["SharedMemory"]

_NOTHING: frozenset[int] = frozenset()


class SharedMemory:
    """The tensors of a trace that, for a call with NumPy arrays, would be these arrays or views of them.

    A tensor is not changed by ``x += 1``: the name is bound to a new one. A NumPy array is changed, for its views and
    for the caller too. The trace serves both kinds of arguments; a call with arrays checks :attr:`changed`.

    Attributes:
      changed: the arguments that are changed in place, by position, with the operator and the line of the first change.
    """

    def __init__(self, aliases: AliasSet) -> None:
        self.changed: dict[int, tuple[str, Location | None]] = {}
        self._aliases = aliases
        self._given: dict[int, object] = {}
        self._places: weakref.WeakKeyDictionary[Value, frozenset[int]] = weakref.WeakKeyDictionary()

    def argument(self, place: int, tensor: SymbolicTensor, given: object) -> None:
        """Notes that a tensor stands for the argument at a position, and what this call gives."""
        self._places[tensor.raw] = frozenset([place])
        self._given[place] = given

    def given(self, place: int) -> object:
        """Returns what this call gives for the argument at a position."""
        return self._given.get(place)

    def view(self, tensor: SymbolicTensor, result: object) -> None:
        """Notes that a result has the memory of a tensor, if that is an array."""
        if isinstance(result, SymbolicTensor) and (places := self._of(tensor)):
            self._places[result.raw] = places | self._places.get(result.raw, _NOTHING)

    def separate(self, tensor: SymbolicTensor, reads: Reads) -> bool:
        """Notes that the program makes a tensor of an argument, with ``gx.asarray``.

        Returns:
          True if that is a copy, as of a NumPy array; the trace serves only calls that are alike in this.
        """
        places = self._of(tensor)
        copied = [isinstance(self._given[place], np.ndarray) for place in places]
        for place, is_array in zip(places, copied, strict=True):
            reads.array_or_tensor(reads.inputs[place], is_array=is_array)
        if any(copied) and not all(copied):  # one of several arguments, which depends on tensors
            self._places[tensor.raw] = _NOTHING
        return bool(copied) and all(copied)

    def change(self, tensor: SymbolicTensor, symbol: str) -> None:
        """Notes that a tensor is about to be changed by an in-place operator or, with ``""``, an item assignment."""
        for place in self._of(tensor):
            self.changed.setdefault(place, (symbol, user_location()))

    def of(self, values: Iterable[object]) -> frozenset[int]:
        """Returns the positions of the arguments whose memory some of these values may have."""
        return _NOTHING.union(*(self._of(value) for value in values if isinstance(value, SymbolicTensor)))

    def _of(self, tensor: SymbolicTensor) -> frozenset[int]:
        seen = {id(tensor)}
        places = _NOTHING
        todo = [tensor]
        for link in todo:  # what a loop carries may stand for itself
            alias = self._aliases.get(link)
            if alias is not None and alias.memory is not None:
                places |= alias.memory
                continue
            known = self._places.get(link.raw)
            places |= known or _NOTHING
            for source in () if alias is None or known is not None else alias.sources or ():
                if isinstance(source, SymbolicTensor) and id(source) not in seen:
                    seen.add(id(source))
                    todo.append(source)
        return places
