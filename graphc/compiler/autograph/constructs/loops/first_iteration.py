"""The first iteration of a ``while`` whose test is a Python value before it, and depends on tensors after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphc.compiler.autograph.constructs.branches.branch import is_symbolic_condition
from graphc.compiler.autograph.constructs.exceptions.try_scope import attempt
from graphc.compiler.autograph.constructs.loops.bodies import arguments, forget_loops
from graphc.compiler.autograph.constructs.loops.state import LoopState, LoopVariables
from graphc.compiler.tracing import Region, RegionAborted, Trace

__all__ = ["makes_test_symbolic"]


def makes_test_symbolic(
    trace: Trace, test: Callable[[], Any], body: Callable[[], None], variables: LoopVariables
) -> bool:
    """Tells if the test of a loop depends on tensors once an iteration has run, as ``while stack:`` does.

    The iteration is traced on trial, and leaves nothing behind. It counts as one that needs Python if it has effects
    outside the trace, which the trial does not run.

    Args:
      trace: the trace around the loop.
      test: the test, which is a Python value now.
      body: the body.
      variables: the names of the loop.
    """
    before, identity = trace.checkpoint(), object()
    state = LoopState(variables, trace, runs=True)
    region = Region(trace, "the body of a while loop", attempt=identity)
    try:
        state.bind(arguments(region, state), iteration=True)
        with region.tracing():
            variables.own(region)
            _, failure = attempt(body)
            region.check_aborted()
            found = failure is None and is_symbolic_condition(test())
    except RegionAborted as aborted:
        if aborted.attempt is not identity:
            raise
        found = False
    except Exception:
        found = False  # what Python knows in the first iteration, the trial does not
    finally:
        state.restore()
        forget_loops(trace, before.num_loops)
        trace.rollback(before)
    return found
