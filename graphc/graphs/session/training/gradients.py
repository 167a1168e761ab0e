"""Gradients of an existing graph, computed by nodes that are added to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from graphc.compiler.base import at, nest, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import Variable
from graphc.compiler.gradients import GradientTape
from graphc.compiler.ir import Node, Value
from graphc.compiler.ops import READ_VARIABLE
from graphc.graphs.session.graphs.graph import Graph, graph_of
from graphc.graphs.session.graphs.tensor import GraphTensor
from graphc.graphs.session.plans.shape_changing import has_host_ops
from graphc.graphs.session.variables.variable import GraphVariable

__all__ = ["gradients"]


def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients", colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False, aggregation_method: Any = None, stop_gradients: Any = None,
    unconnected_gradients: str = "none",
) -> list[Any]:  # fmt: skip
    """Adds nodes that compute the gradients of the sum of ``ys`` with respect to each of ``xs``.

    Args:
      ys: a tensor or a list of them.
      xs: tensors and Variables of the graph.
      grad_ys: the initial gradients, a tensor or None for each of ``ys``; ones if None.
      name: the scope of the nodes.
      colocate_gradients_with_ops: ignored: the gradient of an op runs where the op does.
      gate_gradients: ignored: a run computes all values at once.
      aggregation_method: ignored: gradients are summed.
      stop_gradients: tensors through which no gradient flows.
      unconnected_gradients: ``"none"`` or ``"zero"``: the gradient where nothing depends on a tensor.

    Returns:
      A tensor for each of ``xs``, or None where nothing in ``ys`` depends on it.

    Raises:
      InvalidTypeError: an argument is neither a tensor nor a Variable of a graph.
      InvalidArgumentError: an argument belongs to another graph.

    Example:
      >>> import graphc as gx
      >>> with gx.Graph().as_default() as graph:
      ...     x = gx.placeholder("float32", shape=())
      ...     (slope,) = graph.gradients(x * x, [x])
      >>> with gx.Session(graph=graph) as session:
      ...     float(session.run(slope, {x: 3.0}))
      6.0
    """
    del colocate_gradients_with_ops, gate_gradients, aggregation_method
    targets, sources, stopped = _listed(ys, "ys"), _listed(xs, "xs"), _listed(stop_gradients, "stop_gradients")
    graph = graph_of(targets)
    given = None if grad_ys is None else _given(grad_ys)
    with graph.entered(), graph.name_scope(name):
        targets = [target.value() if isinstance(target, Variable) else target for target in targets]
        for item in (*targets, *sources, *stopped):
            _check_of(graph, item)
        tape = _noted(graph, targets, sources, {item.raw for item in stopped if isinstance(item, GraphTensor)})
        found: Any = tape.gradient(targets, sources, given, unconnected_gradients)  # pyright: ignore[reportArgumentType]
        return list(found)


def _listed(values: Any, name: str) -> list[Any]:
    if values is None:
        return []
    items = list(nest.as_tuple(values))
    for item in items:
        if not isinstance(item, GraphTensor | GraphVariable):
            error = InvalidTypeError(f"gradients: {name} are tensors and Variables of a graph, got {item!r:.60}")
            raise at(error, user_location())
    return items


def _given(grad_ys: Any) -> list[Any]:
    return list(nest.as_tuple(grad_ys))


def _check_of(graph: Graph, item: Any) -> None:
    if item.graph is not graph:
        raise at(InvalidArgumentError(f"gradients: {item.name!r} is of another graph than ys"), user_location())


def _noted(graph: Graph, targets: Sequence[Any], sources: Sequence[Any], stopped: set[Value]) -> GradientTape:
    """Returns a tape that has recorded the nodes from the sources to the targets."""
    tape = GradientTape(persistent=True, watch_accessed_variables=False)
    inexact = [source for source in sources if source.type.is_inexact]
    tape.watch(inexact)
    variables = {source.resource: source for source in sources if isinstance(source, GraphVariable)}
    nodes = graph.trace.builder.nodes[:]
    behind = _behind([target.raw for target in targets])
    tape.saw_pins = any(node.device for node in behind)
    for node in nodes:
        if node not in behind or any(output in stopped for output in node.outputs):
            continue
        if node.op is READ_VARIABLE and node.attrs["variable"] in variables:
            tape.record_read(variables[node.attrs["variable"]], graph.tensor_of(node.outputs[0]))
        elif node.op.differentiable and node.outputs and not node.op.host:
            inputs, outputs = list(map(graph.tensor_of, node.inputs)), map(graph.tensor_of, node.outputs)
            if has_host_ops(node):
                _check_apart(node, any(map(tape.follows, inputs)))
            else:
                tape.record(node.op, inputs, node.attrs, node.regions, list(outputs))
    return tape


def _check_apart(node: Node, depends: bool) -> None:
    """Raises an error for gradients through a loop or branch that runs step by step on the host."""
    if depends:
        error = UnimplementedError(
            f"gradients: {node.name!r} is a loop or branch with operations of the host, such as those of queues, "
            "through which no gradient flows; take what it needs from the queue before it, with dequeue_many"
        )
        raise at(error, node.location or user_location())


def _behind(values: Iterable[Value]) -> set[Node]:
    """Returns the nodes that compute these values."""
    found: set[Node] = set()
    waiting = [value.node for value in values if value.node is not None]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += [value.node for value in node.inputs if value.node is not None]
    return found
