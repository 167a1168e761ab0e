"""The programs that JAX and XLA get for a graph."""

from __future__ import annotations

from typing import Any

import jax

from graphc.compiler.core import Variable
from graphc.compiler.ir import Graph
from graphc.compiler.lowering import lower

__all__ = ["to_jaxpr", "to_stablehlo"]


def to_jaxpr(graph: Graph, variables: dict[str, Variable]) -> str:
    """Returns JAX's program for a graph as a jaxpr; values of Variables come first.

    Args:
      graph: the graph.
      variables: the Variables that it reads or writes, by name.
    """
    function, shapes = _program(graph, variables)
    return str(jax.make_jaxpr(function)(*shapes))


def to_stablehlo(graph: Graph, variables: dict[str, Variable]) -> str:
    """Returns the StableHLO module that XLA compiles for a graph; see :func:`to_jaxpr`.

    Args:
      graph: the graph.
      variables: the Variables that it reads or writes, by name.
    """
    function, shapes = _program(graph, variables)
    named: Any = jax.jit(function)
    return named.lower(*shapes).as_text()


def _program(graph: Graph, variables: dict[str, Variable]) -> tuple[Any, list[Any]]:
    lowered = lower(graph)
    types = [variables[name].type for name in lowered.variables] + [value.type for value in graph.inputs]
    return lowered.function, [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in types]
