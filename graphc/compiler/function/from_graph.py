"""Graphs as functions: runs a graph that was printed and parsed back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import deep_recursion
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    UnimplementedError,
    VerificationError,
)
from graphc.compiler.core import (
    Tensor,
    Variable,
    apply_all,
    as_dtype,
    device_scope,
    dtype_rules,
    operand,
    scalar_array,
    type_of,
)
from graphc.compiler.devices import find_device, to_device
from graphc.compiler.ir import CONSTANT, Graph, Interpreter, Node, is_world, verify
from graphc.compiler.lowering import raise_at
from graphc.compiler.ops import ASSIGN_VARIABLE, CALL_STATUS, READ_VARIABLE, asarray, host_error
from graphc.compiler.runtime import compile_graph
from graphc.compiler.tracing import after_nodes, is_followed, last_node, type_of_any


def from_graph(graph: Graph, variables: Mapping[str, Variable] | None = None) -> Callable[..., Any]:
    """Compiles a graph, such as one that :func:`graphc.compiler.ir.parse_graph` read.

    Nodes run on the devices that they are pinned to.

    Args:
      graph: the graph to run; it is verified first.
      variables: the variables that it reads and writes, by their names in the graph.

    Returns:
      A function of one tensor for each input of the graph, of exactly its type. It returns a tensor, a tuple of tensors
      when the graph has several outputs, or None when it has none.

    Raises:
      VerificationError: the graph is invalid.
      NotFoundError: a variable of the graph is missing, or a device or Python function that it names does not exist.
      UnimplementedError: the graph's function raises depending on tensor values: the text does not contain the
        exceptions. Or the graph calls Python, and is called under a tape or in a compiled function.
      FailedPreconditionError: it has 64-bit types, which are not enabled, or were not when it was compiled.
      InvalidArgumentError: a variable has another type than in the graph. When called: a tensor has another type, or
        the number of tensors is wrong.

    Example:
      >>> import graphc as gx
      >>> f = gx.function(lambda x: x * 2 + 1)
      >>> text = str(f.graph(gx.asarray(1.0)))
      >>> gx.from_graph(gx.parse_graph(text))(gx.asarray(20.0)).item()
      41.0
    """
    _check_wide_types(graph)
    verify(graph)
    status = _status_of(graph)
    bound = _bound(graph, variables or {})
    with deep_recursion():
        program = compile_graph(graph, None if status is None else partial(_look, graph.name, status), bound, "")
    touched = [bound[name] for name in program.variables]
    pin = program.devices[0] if len(program.devices) == 1 else ""
    rules = dtype_rules()

    def run(*args: Any) -> Any:
        if is_followed():
            _check_alone(graph, status)
            tensors = list(Replay(graph, bound).run(*args))
        else:
            if dtype_rules() != rules:
                raise FailedPreconditionError(
                    f"{graph.name}: gx.config.enable_x64 or gx.config.default_dtype_bits has changed since the "
                    "graph was compiled; restore it, or call from_graph again"
                ).here()
            arrays = _arrays(graph, args)
            if pin:
                arrays = [to_device(array, find_device(pin)) for array in arrays]
            with deep_recursion():
                results = program.launch(arrays, touched)
            tensors = [Tensor(result) for result in results[:status]]
        if len(tensors) == 1:
            return tensors[0]
        return tuple(tensors) or None

    run.__name__ = run.__qualname__ = graph.name
    return run


def _status_of(graph: Graph) -> int | None:
    """Returns the index of the call's status among the graph's outputs; the result's outputs come before it."""
    for index, output in enumerate(graph.outputs):
        node = output.node
        if node is None or node.op is not CALL_STATUS:
            continue
        raises = node.attrs["raises"]
        if raises:
            raise UnimplementedError(
                f"the graph {graph.name!r} belongs to a function that raises {', '.join(raises)} depending on "
                "tensors, and does not contain the exceptions; call the function itself, or move raise and assert to "
                "the calling code and make the graph again"
            ).here()
        return index
    return None


def _look(name: str, index: int, outputs: Sequence[Any]) -> None:
    """Raises the exception of Python code that the program called."""
    status = int(np.asarray(outputs[index]))
    if status:
        error, locations = host_error(status)
        error.add_note(f"raised by the graph {name!r}")
        raise_at(locations, error)


def _check_alone(graph: Graph, status: int | None) -> None:
    if status is not None:
        raise UnimplementedError(
            f"the graph {graph.name!r} calls Python, and runs under a tape or in a compiled function, which would "
            "not notice a failure of the Python code; call it outside, or use the function that the graph was made from"
        ).here()


def _bound(graph: Graph, variables: Mapping[str, Variable]) -> dict[str, Variable]:
    names = [effect.resource for effect in graph.effects if not is_world(effect.resource)]
    missing = [name for name in dict.fromkeys(names) if name not in variables]
    if missing:
        raise NotFoundError(
            f"the graph {graph.name!r} uses the variables {missing}; pass them: from_graph(graph, "
            f"variables={{{missing[0]!r}: ...}})"
        ).here()
    outermost = set(graph.nodes)
    for node in graph.walk():
        if node.op not in (READ_VARIABLE, ASSIGN_VARIABLE):
            continue
        name, type = node.attrs["variable"], (node.inputs or node.outputs)[0].type
        bound = variables[name]
        if node not in outermost:
            raise VerificationError(f"a loop or branch of {graph.name!r} touches the variable {name!r}").at(
                node.location
            )
        if (bound.shape, bound.dtype) != (type.shape, type.dtype):
            raise InvalidArgumentError(
                f"the graph {graph.name!r} has a variable {name!r} of type {type}, but got one of type {bound.type}"
            ).here()
    return {name: variables[name] for name in names}


def _check_wide_types(graph: Graph) -> None:
    """Raises for a graph of 64-bit types if they are disabled: JAX would silently use 32-bit ones."""
    values = (*graph.inputs, *(output for node in graph.walk() for output in node.outputs))
    for value in values:
        if as_dtype(value.type.dtype) != value.type.dtype:
            raise FailedPreconditionError(
                f"the graph {graph.name!r} computes {value.type}, but 64-bit types are disabled; set "
                "gx.config.enable_x64 = True first"
            ).here()


class Replay(Interpreter):
    """Runs a graph in eager code, in a trace, and under tapes."""

    def __init__(
        self, graph: Graph, variables: Mapping[str, Variable], raise_for: Callable[[Any], None] | None = None,
        *, checked: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(graph)
        self._variables = variables  # the Variables that it reads and writes, by their names in the graph
        # Takes the call's status, if the graph has one, and raises the exception that it encodes.
        self._raise_for = raise_for
        # Whether to check each result's type against the graph, since types depend on the dtype settings.
        self._checked = checked
        self._made: dict[Node, Node] = {}

    def run(self, *inputs: Any) -> tuple[Any, ...]:
        """Runs the graph; its results are tensors, also those that are constants or inputs."""
        results = zip(super().run(*inputs), self.graph.outputs, strict=True)
        return tuple([
            result if isinstance(result, Tensor) else asarray(result, value.type.dtype) for result, value in results
        ])  # fmt: skip

    def run_node(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        """Applies one node."""
        if node.op is CONSTANT:
            array = node.attrs["value"].array
            return (array.item() if node.attrs.get("weak") else array,)
        before = last_node()
        controls = [self._made[control] for control in node.control_inputs if control in self._made]
        with after_nodes(controls), device_scope(node.device) if node.device else nullcontext():
            results = self._applied(node, inputs)
        last = last_node()
        if last is not None and last is not before:
            self._made[node] = last
        if self._checked:
            self._check(node, results)
        return results

    def _applied(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        if node.op is READ_VARIABLE:
            return (self._variables[node.attrs["variable"]].value(),)
        if node.op is ASSIGN_VARIABLE:
            self._variables[node.attrs["variable"]].assign(inputs[0])
            return ()
        if node.op is CALL_STATUS and self._raise_for is not None:
            self._raise_for(inputs[0])
            return inputs
        return apply_all(node.op, inputs, node.attrs, node.regions)

    def _check(self, node: Node, results: Sequence[Any]) -> None:
        for output, result in zip(node.outputs, results, strict=True):
            wanted, actual = output.type, type_of_any(result)
            if (actual.shape, actual.dtype) != (wanted.shape, wanted.dtype):
                raise FailedPreconditionError(
                    f"{node.op.name}, the node {node.name!r} of the graph {self.graph.name!r}, returns {actual} here, "
                    f"but returned {wanted} where the graph was made; set gx.config.enable_x64 and "
                    "gx.config.default_dtype_bits as they were there"
                ).at(node.location)


def _arrays(graph: Graph, args: tuple[Any, ...]) -> list[Any]:
    """Returns the arguments as arrays of the graph's input types."""
    if len(args) != len(graph.inputs):
        raise InvalidArgumentError(
            f"{graph.name}: got {len(args)} arguments, the graph takes {len(graph.inputs)}"
        ).here()
    arrays: list[Any] = []
    for value, expected in zip(args, graph.inputs, strict=True):
        raw = operand(value)
        array: Any = raw.raw if isinstance(raw, Tensor) else raw
        if isinstance(array, bool | int | float | complex):
            array = scalar_array(array)
        actual, wanted = type_of(array), expected.type
        if actual.shape != wanted.shape or actual.dtype != wanted.dtype:
            raise InvalidArgumentError(
                f"{graph.name}: argument {expected.name or expected.index!r} is {actual}, the graph takes {wanted}"
            ).here()
        if wanted.weak:  # only Python numbers are weak
            array = np.asarray(array).item()
        elif actual.weak:
            array = jnp.asarray(array, wanted.dtype)
        arrays.append(array)
    return arrays
