"""Python objects in results: what the function makes is made anew for each call, or refused.

A function is traced once, and so makes its objects once. Tuples, lists, dicts, named tuples and dataclasses are rebuilt
for each call (see :mod:`graphc.compiler.function.results`); this module decides about all others.
"""

from __future__ import annotations

import copy
import gc
import random
import types
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from graphc.compiler.base import Location, at, nest, with_article
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor
from graphc.compiler.tracing import Reads, SideEffect, Trace

__all__ = ["Fresh", "from_outside", "settled"]

_COPIED = (
    *(bytearray, deque, dict, list, np.ndarray, set),
    *(types.SimpleNamespace, random.Random, np.random.RandomState, np.random.Generator),
)
_PLAIN = (bool, int, float, complex, str, bytes, range, type, types.ModuleType, types.CodeType, Tensor)
_MOST_OBJECTS = 10_000


@dataclass(frozen=True, slots=True)
class Fresh:
    """A placeholder for an object that the function makes: each call returns a copy.

    Attributes:
      pattern: the object.
      kept: what it holds and the function did not make, by identity: all copies hold the same.
    """

    pattern: Any
    kept: dict[int, Any]

    def make(self) -> Any:
        """Returns a new copy."""
        return copy.deepcopy(self.pattern, dict(self.kept))


def from_outside(reads: Reads, value: Any) -> dict[int, Any]:
    """Returns the containers of a result that the function did not make, as the caller knows them, by identity.

    Containers of the arguments that hold tensors are left out: they are rebuilt, with the tensors of each call.

    Args:
      reads: the reads of the function's trace.
      value: the returned value.
    """
    found: dict[int, Any] = {}
    for part in _containers(value):
        original = reads.original(part)
        if reads.source(original) is None or not nest.is_mutable(part):
            continue
        kind = SymbolicTensor if original is part else Tensor  # symbolic: what the trace has put in, which is refused
        if not any(isinstance(leaf, kind) for leaf in nest.flatten(part)[0]):
            found[id(part)] = original
    return found


def _containers(value: Any) -> Iterator[Any]:
    parts = nest.children(value)
    if parts is not None and value is not None:
        yield value
        for part in parts[1]:
            yield from _containers(part)


def settled(trace: Trace, leaf: Any, location: Location | None) -> Any:
    """Returns what stands for an object of a result: the object itself, or :class:`Fresh` for one made in the trace.

    Args:
      trace: the function's trace.
      leaf: an object of the result that is no tensor and no container which is rebuilt.
      location: the function's definition.

    Raises:
      UnimplementedError: the object holds a tensor of the trace, or is an iterator.
    """
    if leaf is None or isinstance(leaf, _PLAIN) or trace.reads.source(leaf) is not None:
        return leaf
    if isinstance(leaf, Iterator):
        raise _refusal(trace, leaf, "is used up once", location)
    if _is_graphcs(leaf):
        return leaf
    if _holds_tensor(trace, leaf):
        raise _refusal(trace, leaf, "holds a tensor that has no value yet", location)
    if isinstance(leaf, _COPIED):
        kept = {id(part): part for part in _reached(trace, leaf) if _is_graphcs(part) or trace.reads.source(part)}
        if any(source.of_call for part in kept.values() if (source := trace.reads.source(part)) is not None):
            raise _refusal(trace, leaf, "holds an object of the call's arguments", location)
        try:
            return Fresh(copy.deepcopy(cast("Any", leaf), dict(kept)), kept)
        except Exception as error:  # the user's code, such as a __getattr__ that answers for __deepcopy__
            raise _refusal(trace, leaf, "cannot be copied", location) from error
    if isinstance(leaf, types.FunctionType) and any(_is_state(trace, part) for part in _parts_of_function(leaf)):
        name = trace.builder.name
        what = f"making the function {leaf.__name__!r}, which {name} returns and which keeps state in a closure,"
        remedy = "make the function outside and keep its state in a Variable"
        trace.side_effects.append(SideEffect(what, location, False, remedy))
    return leaf


def _refusal(trace: Trace, leaf: Any, why: str, location: Location | None) -> BaseException:
    name, kind = trace.builder.name, with_article(type(leaf).__name__)
    error = UnimplementedError(
        f"{name} returns {kind}, which {why}: it is made once, when {name} is traced, and calls cannot make it anew. "
        "Return a tuple, a list, a dict, a named tuple or a dataclass"
    )
    return at(error, location)


def _is_state(trace: Trace, value: Any) -> bool:
    return isinstance(value, _COPIED) and trace.reads.source(trace.reads.original(value)) is None


def _holds_tensor(trace: Trace, value: Any) -> bool:
    """Returns True if a tensor of the trace can be reached from an object that the trace made."""
    return any(isinstance(part, SymbolicTensor) and part.trace is trace for part in _reached(trace, value))


def _reached(trace: Trace, value: Any) -> Iterator[Any]:
    """Yields an object and what it holds, up to what is from outside or graphc's own."""
    seen: set[int] = set()
    found = [value]
    while found and len(seen) < _MOST_OBJECTS:
        part = found.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, _PLAIN) or _is_graphcs(part) or trace.reads.source(part) is not None:
            continue
        found += _parts_of_function(part) if isinstance(part, types.FunctionType) else gc.get_referents(part)


def _is_graphcs(value: Any) -> bool:
    """Returns True for objects of graphc, such as Variables and compiled functions, which keep no tensor of a trace."""
    return type(value).__module__.partition(".")[0] in ("graphc", "jax", "jaxlib")


def _parts_of_function(function: types.FunctionType) -> list[Any]:
    """Returns what a function holds: its free variables and its defaults."""
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != _EMPTY]
    return [*cells, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]


_EMPTY = types.CellType()
