"""Functions that hold what their closures hold now, for those who call them later than Python would."""

from __future__ import annotations

import dis
import operator
from collections import deque
from collections.abc import Callable
from functools import lru_cache, partial
from types import CellType, CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from graphc.compiler.tracing.guard_kinds import ReadGuard
from graphc.compiler.tracing.mode import root_trace
from graphc.compiler.tracing.sources import Source, content_of, is_fixed, item, same_items

if TYPE_CHECKING:
    from graphc.compiler.tracing.reads import Reads


class Closures:
    """Copies functions, and those that they hold, such that later assignments to their variables do not change them.

    A variable that a copied function assigns itself stays shared, as does one that has no value yet.

    Args:
      keep: takes the value of each variable that is no function, and each object whose method is called; returns the
        one to hold.
      is_shared: returns whether a variable of a function stays shared; with None, its defaults, and what a ``partial``
        holds.
    """

    def __init__(self, keep: Callable[[Any], Any], is_shared: Callable[[Any, CellType | None], bool]) -> None:
        self._keep, self._is_shared = keep, is_shared
        self._functions: dict[int, FunctionType] = {}
        self.cells: dict[int, CellType] = {}  # the new cells, by the ids of the old ones
        self.assigned: set[str] = set()  # the variables that stay shared because a copied function assigns them

    def of(self, value: Any) -> Any:
        """Returns a function, method or partial as it is now, itself if that cannot change; keeps anything else."""
        if isinstance(value, partial):
            callee: Any = cast("Any", value)
            if self._is_shared(callee, None):
                return callee
            old = [callee.func, *callee.args, *callee.keywords.values()]
            new = [*map(self.of, old)]
            if all(map(operator.is_, old, new)):
                return callee
            count = len(callee.args) + 1
            return partial(*new[:count], **dict(zip(callee.keywords, new[count:], strict=True)))
        if isinstance(value, MethodType):
            function, owner = self.of(value.__func__), self._keep(value.__self__)
            same = function is value.__func__ and owner is value.__self__
            return value if same else MethodType(function, owner)
        return self._function(value) if isinstance(value, FunctionType) else self._keep(value)

    def _function(self, function: FunctionType) -> FunctionType:
        if id(function) in self._functions:
            return self._functions[id(function)]
        old, assigned = function.__closure__ or (), _assigned(function.__code__)
        names = function.__code__.co_freevars
        shared = [content_of(cell) is cell or self._is_shared(function, cell) for cell in old]
        self.assigned |= {name for name, same in zip(names, shared, strict=True) if name in assigned and not same}
        shared = [same or name in assigned for name, same in zip(names, shared, strict=True)]
        defaults, named = function.__defaults__, function.__kwdefaults__
        if not self._is_shared(function, None):
            defaults = defaults and tuple(map(self.of, defaults))
            named = named and {name: self.of(value) for name, value in named.items()}
        if all(shared) and [*map(id, _values(defaults, named))] == [
            *map(id, _values(function.__defaults__, function.__kwdefaults__))
        ]:
            return function
        new = [cell if same else self.cells.get(id(cell), CellType()) for cell, same in zip(old, shared, strict=True)]
        copied = FunctionType(function.__code__, function.__globals__, function.__name__, defaults, tuple(new))
        copied.__kwdefaults__ = named
        for name in ("__qualname__", "__module__", "__doc__", "__annotations__"):
            setattr(copied, name, getattr(function, name))
        copied.__dict__.update(function.__dict__)
        self._functions[id(function)] = copied  # first, as a function may hold itself
        for cell, other in zip(old, new, strict=True):
            if other is not cell and id(cell) not in self.cells:
                self.cells[id(cell)] = other
                other.cell_contents = self.of(cell.cell_contents)
        return copied


def _values(defaults: tuple[Any, ...] | None, named: dict[str, Any] | None) -> list[Any]:
    return [*(defaults or ()), *(named or {}).values()]


def closures_now(keep: Callable[[Any], Any]) -> Closures:
    """Returns what copies functions, but for variables from outside of the open trace, whose reads are checked."""
    root = root_trace()
    assert root is not None
    reads = root.reads

    def is_shared(owner: Any, cell: CellType | None) -> bool:
        return reads.source(owner) is not None or (cell is not None and reads.variable(cell) is not None)

    return Closures(keep, is_shared)


@lru_cache(maxsize=1024)
def _assigned(code: CodeType) -> frozenset[str]:
    """Returns the variables of functions around that a function, or one inside it, assigns."""
    names = {one.argval for one in dis.get_instructions(code) if one.opname in ("STORE_DEREF", "DELETE_DEREF")}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            names |= _assigned(inner)
    return frozenset(names.intersection(code.co_freevars))


# Guards of what a function leaves as it was in a container from outside that it changes.

_INLINE = 8
_SECONDS_AN_ITEM = 5e-8
_MAX_ARRAY_BYTES = 1 << 20
_ABSENT = object()


def record_unchanged(reads: Reads, owner: Any, before: Any) -> None:  # before: its contents as the trace began
    """Records the items of a container that a trace changed, apart from those that it put in or replaced."""
    source = reads.source(owner)
    if source is None:
        return
    now, then = owner, before  # untyped, whatever they are found to be below
    if isinstance(owner, dict) and isinstance(before, dict):
        _record_items(reads, source, [pair for pair in now.items() if then.get(pair[0], _ABSENT) is pair[1]])
    elif isinstance(owner, list | deque) and isinstance(before, list):
        pairs = enumerate(zip(now, then, strict=False))
        _record_items(reads, source, [(position, value) for position, (value, old) in pairs if value is old])
    elif isinstance(owner, set) and isinstance(before, set):
        if common := frozenset(now & then):
            _add(reads, source, "{0} <= {v}", common, len(common))
    elif _is_plain_array(owner) and _is_plain_array(before):
        where = np.asarray(now == then)
        if where.any():
            _add(reads, source, "{0}({v})", partial(_has_elements, where, now[where]), now.size)


def _is_plain_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype.kind in "biufc" and value.nbytes <= _MAX_ARRAY_BYTES


def _record_items(reads: Reads, source: Source, pairs: list[tuple[Any, Any]]) -> None:
    fixed = [pair for pair in pairs if is_fixed(pair[1])]
    if len(fixed) > _INLINE:
        keys, values = zip(*fixed, strict=True)
        _add(reads, source, "{0}({v})", partial(_has_items, keys, values), len(fixed))
        pairs = [pair for pair in pairs if not is_fixed(pair[1])]
    for key, value in pairs:
        reads.record(item(source, key), value)


def _add(reads: Reads, source: Source, test: str, expected: Any, size: int) -> None:
    guard = ReadGuard(source, test, (expected,), "what the function leaves as it is", size=size, each=_SECONDS_AN_ITEM)
    reads.guards[*source.key, "unchanged"] = guard


def _has_items(keys: tuple[Any, ...], values: tuple[Any, ...], owner: Any) -> bool:
    return same_items([owner[key] for key in keys], values)


def _has_elements(where: Any, elements: Any, array: Any) -> bool:
    return array.shape == where.shape and array.dtype == elements.dtype and bool((array[where] == elements).all())
