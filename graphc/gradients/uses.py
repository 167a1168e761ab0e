"""Checks of where a tape is used: in the same trace in which it was opened."""

from __future__ import annotations

from graphc.tracing import Region, Trace

__all__ = ["is_branch_of", "may_come_after"]


def is_branch_of(trace: Trace | None, around: Trace | None) -> bool:
    """Returns True if a trace belongs to a branch, possibly nested, of another trace."""
    while trace is not around and isinstance(trace, Region) and trace.once:
        trace = trace.parent
    return trace is around and trace is not None


def may_come_after(trace: Trace | None, used: Trace | None) -> bool:
    """Returns True if the code of a trace may run after code of an earlier trace."""
    return trace is used or (
        trace is not None and used is not None and (trace.is_inside(used) or used.is_inside(trace))
    )
