"""Variables whose shape may change: the types that a program reading or assigning them is compiled for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from graphc.compiler.core import array_of, type_of
from graphc.compiler.ir import OPS, Attrs, Graph, Rewriter, TensorType, Value
from graphc.compiler.ops import ASSIGN_VARIABLE, READ_VARIABLE
from graphc.graphs.session.state import SessionState

__all__ = ["current_types", "open_resources", "with_types"]


def open_resources(graph: Graph, state: SessionState) -> tuple[str, ...]:
    """Returns the resources of the Variables of a graph whose shape may change."""
    known: Collection[str] = state.graph.trace.open_variables
    if not known:
        return ()
    touched = [
        str(node.attrs["variable"]) for node in graph.nodes if node.op is READ_VARIABLE or node.op is ASSIGN_VARIABLE
    ]
    return tuple(dict.fromkeys(resource for resource in touched if resource in known))


def current_types(resources: Sequence[str], state: SessionState) -> dict[str, TensorType | None]:
    """Returns the current types of Variables; None for one without a value."""
    found = {resource: state.find(resource) for resource in resources}
    return {resource: None if held is None else type_of(array_of(held)) for resource, held in found.items()}


def with_types(graph: Graph, types: Mapping[str, TensorType | None], state: SessionState) -> Graph:
    """Returns a graph in which reads of Variables have the types of their current values.

    A read after an assignment in the graph returns the assigned value.

    Args:
      graph: the segment's graph.
      types: the types of the values of the Variables whose shape may change.
      state: the state of the Session.

    Raises:
      FailedPreconditionError: a Variable is read that has no value.
    """
    rewriter = Rewriter(graph)
    assigned: dict[str, Value] = {}
    for node in graph.nodes:
        resource = str(node.attrs.get("variable"))
        if resource not in types or node.op not in (READ_VARIABLE, ASSIGN_VARIABLE):
            rewriter.keep(node)
        elif node.op is ASSIGN_VARIABLE:
            assigned[resource] = rewriter.inputs(node)[0]
            rewriter.keep(node)
        elif resource in assigned:
            rewriter.replace(
                node, OPS["identity"], (assigned[resource],), Attrs(), control_inputs=rewriter.controls(node)
            )
        else:
            type = types[resource]
            if type is None:
                raise state.uninitialized(resource, node)
            attrs = Attrs({**node.attrs, "type": type})
            rewriter.replace(node, node.op, (), attrs, control_inputs=rewriter.controls(node))
    return rewriter.finish()
