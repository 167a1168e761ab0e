"""Names that a loop binds first, where it may run zero times: whether they are bound is known at run time only."""

from __future__ import annotations

from typing import Any

from graphc.compiler.autograph.constructs.branches.checks import require
from graphc.compiler.autograph.constructs.loops.bodies import Extended, with_one_more
from graphc.compiler.autograph.constructs.loops.state import LoopVariables
from graphc.compiler.autograph.values.protocol import is_bound
from graphc.compiler.autograph.values.unbound import Unbound
from graphc.compiler.base import nest
from graphc.compiler.tracing import Region

__all__ = ["BoundByLoop", "split_unsure"]


class Unsure(Unbound):
    """The value of a name that is bound only if a loop has run.

    Args:
      name: the user's variable.
      value: what it holds in that case.
      ran: whether the loop has run: a boolean scalar.
    """

    __slots__ = ("ran", "value")

    may_be_bound = True

    def __init__(self, name: str, value: Any, ran: Any) -> None:
        super().__init__(name, "it is bound only inside a loop that may run zero times")
        self.value = value
        self.ran = ran

    def use(self) -> Any:
        """Returns the value; if the loop has not run the call fails as Python does."""
        # In CPython's words, since converted code fails as plain Python does.
        message = f"cannot access local variable {self.name!r} where it is not associated with a value"
        require(self.ran, lambda: UnboundLocalError(message))
        return self.value


def split_unsure(variables: LoopVariables) -> LoopVariables:
    """Returns the names of a loop, and for each of which it is not sure that it is bound by now, whether it is."""
    places = [place for place, value in enumerate(variables.get()) if isinstance(value, Unsure)]
    if not places:
        return variables
    count = len(variables.names)

    def get() -> tuple[Any, ...]:
        values, bound = list(variables.get()), list[Any]()
        for place in places:
            value = values[place]
            bound.append(value.ran if isinstance(value, Unsure) else is_bound(value))
            values[place] = value.value if isinstance(value, Unsure) else value
        return (*values, *bound)

    def set_all(values: tuple[Any, ...]) -> None:
        names = list(values[:count])
        for place, bound in zip(places, values[count:], strict=True):
            names[place] = names[place] if bound is True else Unsure(variables.names[place], names[place], bound)
        variables.set(tuple(names))

    titles = [f"whether {variables.names[place]!r} is bound" for place in places]
    return Extended(get, set_all, (*variables.names, *titles), variables)


_BOUND: Any = object()
"""Stands for what a name that is bound holds, which may be None."""


class BoundByLoop:
    """The names that are not bound before a loop that may run zero times.

    Args:
      variables: all names of the loop.

    Attributes:
      inner: these.
      variables: these, and where some are not bound, one that says whether the loop has run. What is not bound is there
        something for which zeros may stand, as long as the loop has not run.
    """

    def __init__(self, variables: LoopVariables) -> None:
        self.inner = variables = split_unsure(variables)
        self._before = [_BOUND if is_bound(value) or value.filler else value for value in variables.get()]
        self._fillers = [Unbound("" if before is _BOUND else before.name, filler=True) for before in self._before]
        self._ran: Any = False
        self.variables = variables
        if self:
            filled = Extended(self._get, self._set, variables.names, variables)
            self.variables = with_one_more(filled, "whether the loop has run", lambda: self._ran, self._set_ran)

    def __bool__(self) -> bool:
        return any(before is not _BOUND for before in self._before)

    def _get(self) -> tuple[Any, ...]:
        columns = zip(self.inner.get(), self._before, self._fillers, strict=True)
        return tuple([filler if value is before else value for value, before, filler in columns])

    def _set(self, values: tuple[Any, ...]) -> None:
        columns = zip(values, self._before, self._fillers, strict=True)
        self.inner.set(tuple([before if value is filler else value for value, before, filler in columns]))

    def _set_ran(self, value: Any) -> None:
        self._ran = value

    def end_iteration(self, region: Region) -> None:
        """Is called when an iteration has been traced."""
        if not self:
            return
        values = list(self.inner.get())
        for place, (before, value) in enumerate(zip(self._before, values, strict=True)):
            if before is _BOUND or value is before:
                continue
            if any(map(region.journal.owns, nest.flatten(value)[0])):
                values[place] = Unbound(before.name, "each iteration of a loop that may run zero times makes it anew")
        self.inner.set(tuple(values))
        self._ran = region.constant(True)

    def leave(self) -> None:
        """Is called when the names hold what they hold after the loop."""
        values = list(self.inner.get())
        for place, (before, value) in enumerate(zip(self._before, values, strict=True)):
            if before is not _BOUND and is_bound(value):
                values[place] = Unsure(before.name, value, self._ran)
        self.inner.set(tuple(values))
