"""Python side effects of tracing: detected, then reported once or refused.

The trace records calls that touch the outside world as they happen. Its journal lists the writes to objects, globals
and variables of other functions, once it is known which of them outlive the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from graphc.compiler.base import at, warn_at
from graphc.compiler.base.errors import SideEffectWarning, UnimplementedError
from graphc.compiler.tracing import SideEffect, Trace, Write

__all__ = ["SideEffects", "changes", "find_side_effects"]


def find_side_effects(trace: Trace, writes: Sequence[Write]) -> list[SideEffect]:
    """Returns the side effects of tracing a function, which calls will not repeat; each once per line.

    Args:
      trace: the function's trace.
      writes: its writes to objects that outlive the call; undone if side effects are forbidden.

    Raises:
      UnimplementedError: side effects are forbidden.
    """
    changed = changes(writes)
    if changed and trace.forbids_side_effects:
        first = changed[0]
        for write in reversed(changed):
            write.cell.set(write.before)
        when = "when" if _is_followed(trace, first) else "once, when"
        error = UnimplementedError(
            f"{first.cell.what} would happen {when} {trace.builder.name} is traced, and not at each call, which "
            f"side_effects='error' forbids; {first.cell.remedy or 'return the value, or keep it in a Variable'}"
        )
        raise at(error, first.location)
    told = [
        SideEffect(write.cell.what, write.location, _is_followed(trace, write), write.cell.remedy or _STATE)
        for write in changed
    ]
    once: dict[Any, SideEffect] = {}
    for effect in (*trace.side_effects, *told):
        once.setdefault((effect.what, effect.location), effect)
    return list(once.values())


def changes(writes: Iterable[Write]) -> list[Write]:
    """Returns the writes that changed something."""
    return [write for write in writes if not write.cell.holds(write.before)]


def _is_followed(trace: Trace, write: Write) -> bool:
    """Returns True for a write to an attribute of an argument, which the trace depends on."""
    source = trace.reads.source(write.cell.owner)
    return hasattr(write.cell, "name") and source is not None and source.of_call


_REMEDY = (
    "put code that must run at each call into gx.pyfunc, state into a Variable, and draw random numbers from gx.random"
)
_STATE = (
    "later calls reuse what the function read there when it was traced. Keep what changes in a gx.Variable, or pass it "
    "in and return it; put code that must run at each call into gx.pyfunc"
)


class SideEffects:
    """Reports the side effects of one function, each of them once, however often it is traced.

    Args:
      name: the function's name.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._told: set[SideEffect] = set()

    def tell(self, found: Iterable[SideEffect]) -> None:
        """Warns of the effects not reported before, each at its own line."""
        for effect in found:
            if effect in self._told:
                continue
            self._told.add(effect)
            if effect.followed:
                message = (
                    f"{effect.what} happens when {self._name} is traced, and not at each call: graphc traces it anew "
                    "for each value that it finds there. Keep changing state in a Variable; side_effects='ignore' "
                    "accepts it"
                )
                warn_at(SideEffectWarning(message), effect.location)
                continue
            remedy = effect.remedy or _REMEDY
            message = (
                f"{effect.what} happens once, when {self._name} is traced, and not at each call. "
                f"{remedy[0].upper()}{remedy[1:]}; side_effects='ignore' accepts it"
            )
            warn_at(SideEffectWarning(message), effect.location)
