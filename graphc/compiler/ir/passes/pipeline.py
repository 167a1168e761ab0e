"""The pipeline: runs passes in order, with checks between them."""

from __future__ import annotations

from collections.abc import Sequence

from graphc.compiler.base import config, errors, user_location, warn_at
from graphc.compiler.ir.graph import Graph
from graphc.compiler.ir.passes.base import Pass, starts
from graphc.compiler.ir.passes.cse import CSE
from graphc.compiler.ir.passes.dce import DCE
from graphc.compiler.ir.passes.flatten import Flatten
from graphc.compiler.ir.passes.fold import Fold
from graphc.compiler.ir.passes.if_convert import IfConvert
from graphc.compiler.ir.passes.loops import Loops
from graphc.compiler.ir.passes.order import Order
from graphc.compiler.ir.passes.pretest import Pretest
from graphc.compiler.ir.passes.shift import Shift
from graphc.compiler.ir.passes.speculate import Speculate
from graphc.compiler.ir.passes.unroll import Unroll
from graphc.compiler.ir.verifier import verify

__all__ = ["DEFAULT", "LATE", "run_passes"]


# Flattening goes first, because the other passes take longer on deeply nested branches. Folding precedes merging
# because it makes equal constants, and removal comes last but one because the others leave unused nodes. Order is last:
# it must see exactly the remaining effects. Loops come after merging, so that equal loops are merged.
DEFAULT: tuple[Pass, ...] = (Flatten(), DCE(), Fold(), CSE(), Loops(), DCE(), Order())

# These apply only to code that XLA compiles as a unit: gradients are taken of the graph before them. After a branch is
# converted, its test and its body may read the same items, and a body may be light enough to unroll its loop. Branches
# that stay and tests give up what is invariant. Shifts come last: the other passes know divisions.
LATE: tuple[Pass, ...] = (IfConvert(), Unroll(), Speculate(), Pretest(), Shift())


_failed: set[str] = set()
"""The passes whose failure was reported."""


def run_passes(graph: Graph, passes: Sequence[Pass] = DEFAULT) -> Graph:
    """Runs passes in order.

    With ``config.verify`` (``GRAPHC_VERIFY=1``) the graph is verified before the first pass and after each one that
    changed it. A pass with an internal error is skipped for this graph, which is reported once.

    Raises:
      VerificationError: the given graph is invalid, or a pass made it so; the message names the pass.
    """
    if config.verify:
        verify(graph)
    for step in passes:
        if not starts(step, graph):
            continue
        before = graph
        try:
            graph = step(graph)
        except errors.GraphcError:
            raise
        except Exception as error:
            if config.verify:
                raise
            _report(step, graph, error)
        if config.verify and graph is not before:
            try:
                verify(graph)
            except errors.VerificationError as error:
                raise errors.VerificationError(f"the pass {step.name!r} broke the graph: {error}") from error
    return graph


def _report(step: Pass, graph: Graph, error: Exception) -> None:
    """Warns that a pass was skipped, once for each pass."""
    if step.name in _failed:
        return
    _failed.add(step.name)
    warning = errors.GraphcWarning(
        f"the compiler pass {step.name!r} failed on {graph.name!r} ({type(error).__name__}: {error}) and was skipped: "
        "results are right, but the program may be slower. Please report it, with the output of GRAPHC_VERIFY=1"
    )
    warn_at(warning, user_location())
