"""Helpers of the op tests: tracing a function into a graph, and running the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from graphc.compiler.core import Tensor, kernel, trace_scope, type_of
from graphc.compiler.ir import CONSTANT, Graph, Interpreter, Node, TensorType, verify
from graphc.compiler.tracing import Trace

__all__ = ["KernelInterpreter", "flat", "run", "trace"]


def flat(result: Any) -> tuple[Any, ...]:
    """The outputs of a function as a tuple."""
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def trace(function: Callable[..., Any], inputs: Sequence[Any]) -> Graph:
    """The verified graph of a function of tensors."""
    recording = Trace("f")
    arguments = [recording.argument(type_of(value), f"x{index}") for index, value in enumerate(inputs)]
    with trace_scope(recording):
        outputs: Sequence[Any] = flat(function(*arguments))
    graph = recording.finish([recording.lift(output) for output in outputs])
    verify(graph)
    return graph


def run(graph: Graph, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a graph, compiled as one program."""
    return jax.jit(Interpreter(graph).run)(*inputs)


class KernelInterpreter(Interpreter):
    """Runs a graph by the functions that eager code compiled, so that an op is compiled once for both."""

    def run_node(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        if node.op is CONSTANT:
            return super().run_node(node, inputs)
        result = kernel(node.op, node.attrs)(*inputs)
        return result if isinstance(result, tuple | list) else (result,)


def types(values: Sequence[Any]) -> list[TensorType]:
    return [type_of(value.raw if isinstance(value, Tensor) else value) for value in values]


def arrays(values: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(value) for value in values]
