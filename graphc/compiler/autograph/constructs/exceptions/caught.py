"""An exception that a ``try`` statement catches, and what everything held when it was raised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphc.compiler.autograph.constructs.exceptions.failure import failures
from graphc.compiler.autograph.values.deferred import RAISED, DeferredError, Frozen, Opaque, rebuilt, reopened
from graphc.compiler.autograph.values.join import same_values
from graphc.compiler.autograph.values.protocol import as_tensor
from graphc.compiler.base import Location, nest
from graphc.compiler.core import SymbolicTensor, Variable, apply
from graphc.compiler.ir import OPS
from graphc.compiler.ops import STATUS
from graphc.compiler.tracing import CallState, Cell, Checkpoint, Trace, context

__all__ = ["Caught", "up_to"]


class Caught:
    """An exception that a ``try`` statement catches, and what everything held when it was raised.

    Args:
      around: the trace that the statement stands in.
      start: where its body begins.
      values: of the names that the statement binds.
      error: the exception.
      places: where it is raised.
    """

    def __init__(
        self, around: Trace, start: Checkpoint, values: list[Any], error: BaseException, places: Sequence[Location]
    ) -> None:
        trace = context.trace
        assert trace is not None
        self._around, self._start = around, start
        self._places = places
        written: dict[Any, Cell] = {}
        variables: dict[str, Variable] = {}
        for region in up_to(trace, around):
            if region is around:
                changed = region.journal.changed_since(start.journal)  # what was stored before the statement stays
                written.update({key: cell for key, (cell, _) in changed.items()})
            written.update({key: write.cell for key, write in region.journal.writes.items()})
            variables.update({variable.name: variable for variable in region.assigned_since(start)})
        self._written = list(written.values())
        self._variables = list(variables)
        parts = (
            values,
            [place.get() for place in self._written],
            [variable.value() for variable in variables.values()],
        )
        view = (DeferredError.of(error), *(_seen_from(around, part) for part in parts))
        error.__traceback__ = None  # its frames would keep all of the trace alive
        self.site = failures(trace).add_caught(Frozen.of(view), places, around)
        self.condition: Any = None
        self.error = error

    def handle(self) -> list[Any]:
        """Begins what the handlers do about it: puts back what objects and variables held.

        Returns:
          What the names held.
        """
        names, contents, values = self._open()
        written = list(zip(self._written, contents, strict=True))
        _put_back(self._around, self._start, written, dict(zip(self._variables, values, strict=True)))
        return names

    def take(self) -> BaseException:
        """Returns the exception, of which the status says no more that it was raised."""
        self._open()
        return self.error

    def _open(self) -> Any:
        status = STATUS.value()
        STATUS.assign(apply(OPS["where"], (self.condition, STATUS.initial, status)))
        payload = [part.value() if isinstance(part, CallState) else part for part in self.site.payload]
        self.error, *held = reopened(self.site.error.filled(payload))
        self.error.__dict__[RAISED] = list(self._places)  # raised again, it keeps the lines where it was raised first
        return held


def _put_back(around: Trace, point: Checkpoint, contents: Sequence[tuple[Cell, Any]], values: dict[str, Any]) -> None:
    """Undoes, in the trace that is open, what was done in a trace around it since ``point``.

    Args:
      around: the trace.
      point: of that trace.
      contents: what places are to hold, where it is not what they held then.
      values: what variables are to hold, by their names, likewise.
    """
    trace = context.trace
    assert trace is not None
    # What a branch wrote that always raises, its own trace alone knows.
    changed = around.journal.changed_since(point.journal) | {place.key: (place, value) for place, value in contents}
    for place, value in changed.values():
        # A store of the same would make the branch change the place, and join it for nothing.
        if not same_values(place.get(), value):
            trace.journal.note(place)
            place.set(value)
    for variable in around.assigned_since(point):
        value = values.get(variable.name)
        variable.assign(around.value_at(point, variable) if value is None else value)


def up_to(trace: Trace, around: Trace) -> Iterator[Trace]:
    """Yields the trace and those around it up to ``around``."""
    inner: Trace | None = trace
    while inner is not None:
        yield inner
        inner = None if inner is around else inner.parent


def _seen_from(trace: Trace, value: Any) -> Any:
    """A value as a structure in which what a trace knows is what it is, and tensors from further inside are leaves."""
    parts = nest.children(value)
    if parts is None or not parts[1]:
        tensor = as_tensor(value)
        hidden = isinstance(tensor, SymbolicTensor) and not trace.is_inside(tensor.trace)
        return tensor.snapshot() if hidden else Opaque(value)
    changed = rebuilt(value, lambda part: _seen_from(trace, part))
    return Opaque(value) if all(isinstance(leaf, Opaque) for leaf in nest.flatten(changed)[0]) else changed
