"""Queries about the mode, for the layers above: whether a function is being traced, and what depends on that.

Layers above do not use the trace directly. They apply ops, or call these functions for what differs by mode.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, cast

from graphc.compiler.base.errors import GraphcError, UnimplementedError
from graphc.compiler.core import context as _context
from graphc.compiler.ir import Node, Value

if TYPE_CHECKING:
    from graphc.compiler.core import Context, Tensor, Variable
    from graphc.compiler.tracing.reads import Reads
    from graphc.compiler.tracing.trace import Trace

# The context of the current thread, typed with the concrete class of its trace.

context = cast("Context[Trace]", _context)


# Scopes of control dependencies: nodes traced inside a scope run after the nodes that it lists.


class Controls:
    """A scope of control dependencies that is open in a trace."""

    # A node whose inputs were computed inside the scope already runs after the listed nodes and gets no control edge,
    # as in TensorFlow; only the first nodes of the scope's work do.

    def __init__(self, nodes: Sequence[Node], around: Controls | None) -> None:
        self._nodes = tuple(nodes)  # the nodes of the trace that the scope lists
        self._around = around  # the enclosing scope in the same trace; None if there is none
        self._inside: set[Node] = set()

    def before(self, values: Sequence[Value]) -> tuple[Node, ...]:
        """Returns the control inputs of a node with these inputs."""
        sources = {value.node for value in values}
        nodes: dict[Node, None] = {}
        scope: Controls | None = self
        while scope is not None:
            if scope._inside.isdisjoint(sources):
                nodes.update(dict.fromkeys(node for node in scope._nodes if node not in sources))
            scope = scope._around
        return tuple(nodes)

    def note(self, node: Node) -> None:
        """Registers a node that was made inside the scope."""
        scope: Controls | None = self
        while scope is not None:
            scope._inside.add(node)
            scope = scope._around


def is_tracing() -> bool:
    """Returns True while a function is traced or a graph is built by hand."""
    return context.trace is not None


def is_followed() -> bool:
    """Returns True if a trace or a tape records each op."""
    return context.trace is not None or bool(context.tapes)


def root_trace() -> Trace | None:
    """Returns the trace of the whole function or graph; None in eager code."""
    trace = context.trace
    return None if trace is None else trace.root


def in_region() -> bool:
    """Returns True while a branch, a loop body or another separate part of a function or graph is traced."""
    return context.trace is not None and context.trace.parent is not None


def graph_by_hand() -> Trace | None:
    """Returns the trace of the hand-built graph; None in eager code and while a function is traced."""
    root = root_trace()
    return root if root is not None and root.is_graph else None


def reads_here() -> Reads | None:
    """Returns the reads of the trace, which become guards; None in eager code."""
    root = root_trace()
    return None if root is None else root.reads


def refusal(error: GraphcError) -> GraphcError:
    """Adds the user's line to an error; a trace records it and raises it again if user code swallows it."""
    return error.here() if context.trace is None else context.trace.refuse(error)


def refuse_in_trace(text: str, kind: Callable[[str], GraphcError] = UnimplementedError) -> None:
    """Raises an error while a function is traced."""
    if context.trace is not None:
        raise context.trace.refuse(kind(text))


def lifted(value: Any, make: Callable[[Any], Tensor]) -> Tensor:
    """Returns a known value as a tensor: a constant of the trace, or in eager code the result of ``make``."""
    return make(value) if context.trace is None else context.trace.lift(value)


def last_node() -> Node | None:
    """Returns the last node traced; None in eager code and in an empty trace."""
    nodes = () if context.trace is None else context.trace.builder.nodes
    return nodes[-1] if nodes else None


@contextmanager
def after_nodes(nodes: Sequence[Node]) -> Generator[None]:
    """Opens a scope in which traced nodes run after ``nodes``, which belong to the same trace."""
    trace = context.trace
    if trace is None or not nodes:
        yield
        return
    saved, trace.controls = trace.controls, Controls(nodes, trace.controls)
    try:
        yield
    finally:
        trace.controls = saved


def making_state(variables: Sequence[Variable] = ()) -> AbstractContextManager[None]:
    """Opens a scope in which code runs eagerly, to make Variables that outlive the call."""
    return nullcontext() if context.trace is None else context.trace.making(variables)
