"""The graph that the operations of TensorFlow 1's functions are added to."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.core import StringTensor, SymbolicTensor, Tensor, context
from graphc.compiler.tracing import current_trace, is_tracing
from graphc.graphs.session import default_graph

__all__ = ["in_default_graph", "making"]


@contextmanager
def making(name: str, seed: int | None = None) -> Generator[Callable[[Any], Any]]:
    """Opens a scope that adds operations to the default graph, unless a function is traced, or runs for a dataset.

    Args:
      name: the name of the scope's operation; made unique.
      seed: the seed of the scope's random operations; None for the graph's seed alone.

    Yields:
      A function that makes a tensor of the graph of what is known already, names the result, and returns it.
    """
    graph = default_graph()
    if context.on_host or (is_tracing() and graph.trace_here is None):
        yield lambda result: result
        return
    with graph.making(name), nullcontext() if seed is None else graph.seeded(seed):
        yield lambda result: graph.named(nest.map_structure(_in_graph, result), name)


def _in_graph(value: Any) -> Any:
    """Returns an array, eager tensor or string as a constant of the graph that is built; other values as they are."""
    known = isinstance(value, np.ndarray | np.generic | StringTensor)
    known = known or (isinstance(value, Tensor) and not isinstance(value, SymbolicTensor))
    return current_trace().lift(value) if known else value


def in_default_graph(kind: Callable[..., Any], *args: Any) -> Any:
    """Returns what a class makes in the default graph, unless a compiled function is traced.

    Args:
      kind: the class.
      *args: the function's arguments.
    """
    graph = default_graph()
    if is_tracing() and graph.trace_here is None:
        return kind(*args)
    with graph.entered():
        return kind(*args)
