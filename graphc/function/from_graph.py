"""A graph as a function again: what was printed and parsed back can be run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from graphc.base import at, user_location
from graphc.base.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from graphc.core import Tensor, Variable, apply_all, as_dtype, context, operand, scalar_array, type_of
from graphc.ir import CONSTANT, Graph, Interpreter, Node, verify
from graphc.lowering import Executable, TypesDiffer
from graphc.ops import ASSIGN_VARIABLE, READ_VARIABLE

__all__ = ["from_graph"]


def from_graph(graph: Graph, variables: Mapping[str, Variable] | None = None) -> Callable[..., Any]:
    """Compiles a graph, such as one that :func:`graphc.ir.parse_graph` read.

    Args:
      graph: what to run; it is verified first.
      variables: the variables that it reads and writes, by the names that it gives them.

    Returns:
      A function of one tensor for each input of the graph, of exactly its type. It returns a tensor, a tuple of tensors
      when the graph has several outputs, or None when it has none.

    Raises:
      VerificationError: the graph breaks a rule.
      NotFoundError: a variable of the graph is not given.
      FailedPreconditionError: it computes 64-bit types, which are not enabled, or were not when it was compiled.
      InvalidArgumentError: when called: a tensor of another type, or too few or too many.

    Example:
      >>> import graphc as gx
      >>> f = gx.function(lambda x: x * 2 + 1)
      >>> text = str(f.graph(gx.asarray(1.0)))
      >>> gx.from_graph(gx.parse_graph(text))(gx.asarray(20.0)).item()
      41.0
    """
    _check_wide_types(graph)
    verify(graph)
    executable = Executable(graph)
    given = dict(variables or {})
    missing = [name for name in executable.variables if name not in given]
    if missing:
        error = NotFoundError(
            f"the graph {graph.name!r} uses the variables {missing}; give them: from_graph(graph, "
            f"variables={{{missing[0]!r}: ...}})"
        )
        raise at(error, user_location())
    bound = [given[name] for name in executable.variables]

    def run(*args: Any) -> Any:
        if context.trace is not None or context.tapes:
            tensors = list(_Replay(graph, dict(zip(executable.variables, bound, strict=True))).run(*args))
        else:
            try:
                tensors = [Tensor(result) for result in executable(_arrays(graph, args), bound)]
            except TypesDiffer:
                error = FailedPreconditionError(
                    f"{graph.name}: gx.config.enable_x64 or gx.config.default_dtype_bits is another now than when the "
                    "graph was compiled; set it back, or call from_graph again"
                )
                raise at(error, user_location()) from None
        if len(tensors) == 1:
            return tensors[0]
        return tuple(tensors) or None

    run.__name__ = run.__qualname__ = graph.name
    return run


def _check_wide_types(graph: Graph) -> None:
    """Refuses a graph of 64-bit types where there are none: JAX would take 32-bit ones without a word."""
    values = (*graph.inputs, *(output for node in graph.walk() for output in node.outputs))
    for value in values:
        if as_dtype(value.type.dtype) != value.type.dtype:
            error = FailedPreconditionError(
                f"the graph {graph.name!r} computes {value.type}, but there are no 64-bit types; set "
                "gx.config.enable_x64 = True first"
            )
            raise at(error, user_location())


class _Replay(Interpreter):
    """Runs a graph op by op through the one door, so that tapes see it and a trace around it takes it in."""

    def __init__(self, graph: Graph, variables: Mapping[str, Variable]) -> None:
        super().__init__(graph)
        self._variables = variables

    def run_node(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        if node.op is CONSTANT:
            array = node.attrs["value"].array
            return (array.item() if node.attrs.get("weak") else array,)
        if node.op is READ_VARIABLE:
            return (self._variables[node.attrs["variable"]].value(),)
        if node.op is ASSIGN_VARIABLE:
            self._variables[node.attrs["variable"]].assign(inputs[0])
            return ()
        return apply_all(node.op, inputs, node.attrs, node.regions)


def _arrays(graph: Graph, args: tuple[Any, ...]) -> list[Any]:
    """The arguments as arrays of the graph's input types."""
    if len(args) != len(graph.inputs):
        error = InvalidArgumentError(f"{graph.name}: {len(args)} arguments given, the graph takes {len(graph.inputs)}")
        raise at(error, user_location())
    arrays: list[Any] = []
    for value, expected in zip(args, graph.inputs, strict=True):
        raw = operand(value)
        array: Any = raw.raw if isinstance(raw, Tensor) else raw
        if isinstance(array, bool | int | float | complex):
            array = scalar_array(array)
        found, wanted = type_of(array), expected.type
        if found.shape != wanted.shape or found.dtype != wanted.dtype:
            error = InvalidArgumentError(
                f"{graph.name}: argument {expected.name or expected.index!r} is {found}, the graph takes {wanted}"
            )
            raise at(error, user_location())
        if wanted.weak:  # only Python numbers are weak
            array = np.asarray(array).item()
        elif found.weak:
            array = jnp.asarray(array, wanted.dtype)
        arrays.append(array)
    return arrays
