"""Functions that hold what their closures hold now, for those who call them later than Python would."""

from __future__ import annotations

import dis
from collections.abc import Callable
from functools import lru_cache, partial
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any, cast

from graphc.compiler.tracing.mode import root_trace
from graphc.compiler.tracing.same import content_of

__all__ = ["Closures", "frozen"]


class Closures:
    """Copies functions, and those that they hold, such that later assignments to their variables do not change them.

    A variable that a copied function assigns itself stays shared, as does one that has no value yet.

    Args:
      keep: takes the value of each variable that is no function, and returns the one to hold.
      is_shared: tells of a function and a variable of it whether that stays shared.

    Attributes:
      cells: the new cells, by the ids of the old ones.
      assigned: the names of the variables that stay shared because a copied function assigns them.
    """

    def __init__(self, keep: Callable[[Any], Any], is_shared: Callable[[FunctionType, CellType], bool]) -> None:
        self._keep, self._is_shared = keep, is_shared
        self._functions: dict[int, FunctionType] = {}
        self.cells: dict[int, CellType] = {}
        self.assigned: set[str] = set()

    def of(self, value: Any) -> Any:
        """Returns a function, method or partial as it is now, itself if that cannot change; keeps anything else."""
        if isinstance(value, partial):
            given: Any = cast("Any", value)
            parts = [given.func, *given.args, *given.keywords.values()]
            if all(not isinstance(part, _FUNCTIONS) or self.of(part) is part for part in parts):
                return given
            return partial(
                self.of(given.func), *map(self.of, given.args),
                **{name: self.of(part) for name, part in given.keywords.items()},
            )  # fmt: skip
        if isinstance(value, MethodType):
            function = self.of(value.__func__)
            return value if function is value.__func__ else MethodType(function, value.__self__)
        return self._function(value) if isinstance(value, FunctionType) else self._keep(value)

    def _function(self, function: FunctionType) -> FunctionType:
        if id(function) in self._functions:
            return self._functions[id(function)]
        old, assigned = function.__closure__ or (), _assigned(function.__code__)
        names = function.__code__.co_freevars
        shared = [content_of(cell) is cell or self._is_shared(function, cell) for cell in old]
        self.assigned |= {name for name, same in zip(names, shared, strict=True) if name in assigned and not same}
        shared = [same or name in assigned for name, same in zip(names, shared, strict=True)]
        if all(shared):
            return function
        new = [cell if same else self.cells.get(id(cell), CellType()) for cell, same in zip(old, shared, strict=True)]
        copied = FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, tuple(new)
        )
        for name in ("__kwdefaults__", "__qualname__", "__module__", "__doc__", "__annotations__"):
            setattr(copied, name, getattr(function, name))
        copied.__dict__.update(function.__dict__)
        self._functions[id(function)] = copied  # first, as a function may hold itself
        for cell, other in zip(old, new, strict=True):
            if other is not cell and id(cell) not in self.cells:
                self.cells[id(cell)] = other
                other.cell_contents = self.of(cell.cell_contents)
        return copied


def frozen(function: Any, keep: Callable[[Any], Any]) -> tuple[Any, Closures]:
    """Returns a function as it is now, but for variables from outside of the open trace, whose reads are checked.

    Args:
      function: the function.
      keep: see :class:`Closures`.
    """
    root = root_trace()
    assert root is not None
    reads = root.reads

    def is_shared(owner: FunctionType, cell: CellType) -> bool:
        return reads.source(owner) is not None or reads.variable(cell) is not None

    closures = Closures(keep, is_shared)
    return closures.of(function) if isinstance(function, _FUNCTIONS) else function, closures


_FUNCTIONS = (FunctionType, MethodType, partial)


@lru_cache(maxsize=1024)
def _assigned(code: CodeType) -> frozenset[str]:
    """Returns the variables of functions around that a function, or one inside it, assigns."""
    found = {one.argval for one in dis.get_instructions(code) if one.opname in ("STORE_DEREF", "DELETE_DEREF")}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= _assigned(inner)
    return frozenset(found.intersection(code.co_freevars))
