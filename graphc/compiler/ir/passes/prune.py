"""Pruning of outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.base import errors
from graphc.compiler.ir.graph import Graph
from graphc.compiler.ir.passes.dce import DCE

__all__ = ["Prune"]


@dataclass(frozen=True)
class Prune:
    """Keeps some of a graph's outputs, with the nodes that they and the writes need.

    Before: a valid graph. After: a graph with the same inputs and writes whose outputs are the chosen ones, in the
      chosen order, without the nodes that only the other outputs needed.

    Attributes:
      outputs: the positions of the outputs to keep, from 0.
    """

    outputs: tuple[int, ...]
    name: ClassVar[str] = "prune"
    needs: ClassVar[frozenset[str]] = frozenset()

    def __call__(self, graph: Graph) -> Graph:
        """Keeps the chosen outputs.

        Raises:
          OutOfRangeError: the graph has no output at a position.
        """
        for position in self.outputs:
            if not 0 <= position < len(graph.outputs):
                raise errors.OutOfRangeError(
                    f"the graph {graph.name!r} has {len(graph.outputs)} outputs, but output {position} was requested; "
                    f"valid positions are 0 to {len(graph.outputs) - 1}"
                )
        chosen = [graph.outputs[position] for position in self.outputs]
        return DCE()(Graph(graph.inputs, graph.nodes, chosen, graph.name))
