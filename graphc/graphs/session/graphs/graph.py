"""Graphs that are built by hand, op by op, and run by a Session."""

from __future__ import annotations

import re
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from graphc.compiler.base import nest
from graphc.compiler.base.errors import FailedPreconditionError, InvalidTypeError, NotFoundError
from graphc.compiler.core import Tensor, Variable, device_later, trace_scope
from graphc.compiler.ir import CONSTANT, Node, Value
from graphc.compiler.ir import Graph as GraphIR
from graphc.compiler.ops import Operation as Grouped
from graphc.compiler.ops import control_dependencies as branch_dependencies
from graphc.compiler.tracing import Controls, context
from graphc.graphs.refusals import user_error
from graphc.graphs.session.graphs.naming import op_type
from graphc.graphs.session.graphs.tensor import GraphTensor, Operation
from graphc.graphs.session.graphs.trace import GraphTrace

if TYPE_CHECKING:
    from graphc.compiler.tracing import Trace
    from graphc.graphs.session.session import Session


class Graph:
    """A graph that is built once, op by op; a Session runs parts of it.

    Inside ``with graph.as_default():``, graphc's functions add nodes to it and return tensors without values. It has
    the same representation as compiled functions: :attr:`ir` prints, parses back and can be drawn.

    Attributes:
      trace: the trace that ops are added to.
      seed: the seed of random ops: the same seed gives the same numbers in each Session; None for different ones.
      op_seed: the seed set by :meth:`seeded`.
      finalized: whether the graph is read-only.
      unfed: the values that may not be fed, and why.
      functions: the Python functions that it calls, to keep them alive.
      parts: data that other modules keep for the graph, by kind.

    Example:
      >>> import graphc as gx
      >>> graph = gx.Graph()
      >>> with graph.as_default():
      ...     x = gx.placeholder("float32", shape=(), name="x")
      ...     y = x * x + 1.0
      >>> with gx.Session(graph=graph) as session:
      ...     float(session.run(y, {x: 3.0}))
      10.0
    """

    def __init__(self) -> None:
        self.trace = GraphTrace(self)
        self.seed: int | None = None
        self.op_seed: int | None = None
        self.finalized = False
        self.unfed: dict[Value, str] = {}
        self.functions: list[Any] = []
        self.parts: dict[Any, Any] = {}
        self._containers = [""]
        self._collections: dict[str, list[Any]] = {}
        self._operations: dict[Node, Operation] = {}
        self._by_name: dict[str, Node] = {}
        self._indexed = 0

    # Building

    @contextmanager
    def as_default(self) -> Generator[Graph]:
        """Makes this the graph that functions add nodes to, inside the scope."""
        stacks.graphs.append(self)
        try:
            with trace_scope(self.trace):
                yield self
        finally:
            stacks.graphs.remove(self)

    def entered(self) -> AbstractContextManager[None]:
        """Returns a scope in which ops go to this graph, or to its branch or loop that is being built."""
        return trace_scope(self.trace) if self.trace_here is None else nullcontext()

    @property
    def trace_here(self) -> Trace | None:
        """The current trace, if it belongs to this graph, or to a branch or loop of it; None otherwise."""
        trace = context.trace
        return trace if trace is not None and trace.is_inside(self.trace) else None

    @property
    def inner_trace(self) -> Trace | None:
        """The trace of this graph's branch or loop that is being built; None if there is none."""
        trace = self.trace_here
        return None if trace is self.trace else trace

    @contextmanager
    def making(self, name: str | None) -> Generator[None]:
        """Makes ops under a user's name, if there is one, which is then their scope."""
        with self.entered(), self.trace.builder.naming(name) if name else nullcontext():
            yield

    def named(self, result: Any, name: str | None) -> Any:
        """Gives the result of :meth:`making` the name itself, and returns it."""
        if name:
            first: Any = next(iter(nest.as_tuple(result)), None)
            node = first.raw.node if isinstance(first, GraphTensor) else getattr(first, "node", None)
            if node is not None and node.name.startswith(self.trace.builder.scope):
                self.trace.builder.rename(node, self.trace.builder.scope.rstrip("/"))
        return result

    @contextmanager
    def seeded(self, seed: int | None) -> Generator[None]:
        """Makes random ops inside use this seed and the graph's; None for the graph's alone."""
        before, self.op_seed = self.op_seed, seed
        try:
            yield
        finally:
            self.op_seed = before

    def name_scope(self, name: str | None) -> AbstractContextManager[str]:
        """Adds a prefix to the names of ops made inside; see :meth:`NamingBuilder.naming`."""
        return self.trace.builder.naming(name)

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Returns an unused name in the current scope."""
        builder = self.trace.builder
        return builder.unique(name) if mark_as_used else builder.next_name(name)

    def device(self, spec: Any) -> AbstractContextManager[None]:
        """Pins ops made inside; see :func:`graphc.device`. The device must exist only when a Session runs."""
        return device_later(spec)

    @contextmanager
    def control_dependencies(self, control_inputs: Sequence[Any] | None) -> Generator[None]:
        """Makes ops inside run after the listed ones.

        Args:
          control_inputs: tensors, operations and Variables; None lifts the enclosing scopes.
        """
        if self.inner_trace is not None:
            # Nodes of the graph itself run before a branch or a loop begins.
            items: list[Any] = nest.flatten(control_inputs)[0]
            with branch_dependencies([item for item in items if not isinstance(item, Operation)]):
                yield
            return
        saved = self.trace.controls
        if control_inputs is None:
            self.trace.controls = None
        else:
            nodes = [node for item in nest.flatten(control_inputs)[0] for node in self.nodes_of(item)]
            self.trace.controls = Controls([node for node in nodes if node.op is not CONSTANT], saved)
        try:
            with self.entered():
                yield
        finally:
            self.trace.controls = saved

    @contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Generator[None]:
        """Places ops made inside on the device of an operation or tensor, without any other pin.

        Args:
          op: the operation or tensor; a Variable stands for its own place.
          ignore_existing: ignored: device scopes around this one do not apply inside.
        """
        del ignore_existing
        element = self.as_graph_element(op, allow_tensor=True)
        node: Any = element.raw.node if isinstance(element, GraphTensor) else element.node
        before, self.trace.colocation = self.trace.colocation, node
        try:
            with device_later(None), device_later(node.device or None):
                yield
        finally:
            self.trace.colocation = before

    @contextmanager
    def container(self, name: str) -> Generator[str]:
        """Keeps the Variables and queues made inside in a container of that name."""
        self._containers.append(name)
        try:
            yield name
        finally:
            self._containers.pop()

    @property
    def current_container(self) -> str:
        """The current container; empty for the default one."""
        return self._containers[-1]

    def gradients(self, ys: Any, xs: Any, grad_ys: Any = None, stop_gradients: Any = None) -> list[Any]:
        """Adds nodes that compute gradients; see :func:`graphc.session.training.optimizer.gradients`."""
        from graphc.graphs.session.training.optimizer import gradients

        with self.entered():
            return gradients(ys, xs, grad_ys, stop_gradients=stop_gradients)

    def finalize(self) -> None:
        """Makes the graph read-only."""
        self.finalized = True

    # Lookup

    @property
    def ir(self) -> GraphIR:
        """The current graph in the form of compiled functions: it prints, parses back, and can be drawn."""
        return self.trace.builder.build(())

    @property
    def version(self) -> int:
        """The number of operations, which grows with every addition."""
        return len(self.trace.builder.nodes)

    def tensor_of(self, value: Value) -> GraphTensor:
        """Returns the tensor for a value of the graph."""
        return self.trace.wrap(value)

    def operation_of(self, node: Node) -> Operation:
        """Returns the operation for a node of the graph."""
        operation = self._operations.get(node)
        if operation is None:
            operation = self._operations[node] = Operation(self, node)
        return operation

    def op_type(self, node: Node) -> str:
        """Returns TensorFlow's name for a node's op."""
        return op_type(node)

    def get_operations(self) -> list[Operation]:
        """Returns all operations, in the order of their creation."""
        return [self.operation_of(node) for node in self.trace.builder.nodes]

    def get_operation_by_name(self, name: str) -> Operation:
        """Returns the operation of that name.

        Raises:
          NotFoundError: the operation does not exist.
        """
        return self.as_graph_element(name, allow_tensor=False)

    def get_tensor_by_name(self, name: str) -> GraphTensor:
        """Returns the tensor of that name, such as ``add:0``.

        Raises:
          NotFoundError: the tensor does not exist.
        """
        return self.as_graph_element(name, allow_operation=False)

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """Returns the tensor or operation of this graph for an object or a name.

        Raises:
          NotFoundError: the name does not exist.
          InvalidArgumentError: the object belongs to another graph.
          InvalidTypeError: the object is neither.
        """
        if isinstance(obj, str):
            element = self._named(obj, allow_tensor=allow_tensor, allow_operation=allow_operation)
        else:
            element = obj._as_graph_element() if hasattr(obj, "_as_graph_element") else obj
        if isinstance(element, Grouped):
            element = self.operation_of(element.token.raw.node)  # pyright: ignore[reportAttributeAccessIssue]
        if isinstance(element, GraphTensor) and not allow_tensor:
            element = element.op
        kinds = (GraphTensor, Operation) if allow_operation else (GraphTensor,)
        if not isinstance(element, kinds):
            wanted = "a tensor or an operation" if allow_operation else "a tensor"
            raise user_error(
                f"{obj!r:.80} ({type(obj).__name__}) is not {wanted} of a graph, nor the name of one", InvalidTypeError
            )
        if element.graph is not self:
            raise user_error(f"{element.name!r} is of another graph")
        return element

    def _named(self, name: str, *, allow_tensor: bool, allow_operation: bool) -> Any:
        self._index()
        label, _, index = name.partition(":")
        node = self._by_name.get(label)
        if node is None:
            raise user_error(f"the graph has no operation {label!r}{_similar(label, self._by_name)}", NotFoundError)
        if not index:
            if allow_operation:
                return self.operation_of(node)
            raise user_error(f"{name!r} names an operation; its first tensor is {name + ':0'!r}")
        if not allow_tensor:
            raise user_error(f"{name!r} names a tensor, and its operation is {label!r}")
        if not index.isdecimal() or int(index) >= len(node.outputs):
            raise user_error(
                f"the operation {label!r} has {len(node.outputs)} outputs, and {name!r} is none of them", NotFoundError
            )
        return self.tensor_of(node.outputs[int(index)])

    def _index(self) -> None:
        nodes = self.trace.builder.nodes
        if self._indexed != len(nodes):
            self._by_name = {node.name: node for node in nodes}
            self._indexed = len(nodes)

    def nodes_of(self, item: Any) -> list[Node]:
        """Returns the nodes of a tensor, operation or Variable, for ordering."""
        if isinstance(item, Variable) and not hasattr(item, "_as_graph_element"):
            return []
        if isinstance(item, Tensor) and not isinstance(item, GraphTensor):
            return []
        element = self.as_graph_element(item)
        node: Any = element.raw.node if isinstance(element, GraphTensor) else element.node
        return [node]

    # Feeding and fetching

    def prevent_feeding(self, tensor: GraphTensor, reason: str = "") -> None:
        """Forbids feeding a tensor."""
        self.unfed[tensor.raw] = reason

    # Collections

    def add_to_collection(self, name: str, value: Any) -> None:
        """Adds a value to the collection of that name; see :class:`GraphKeys` for the standard ones."""
        if self.finalized:
            raise user_error("the graph is finalized and cannot be changed", FailedPreconditionError)
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: str | Iterable[str], value: Any) -> None:
        """Adds a value to several collections, once to each."""
        for name in [names] if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection(self, name: str, scope: str | None = None) -> list[Any]:
        """Returns a copy of a collection; empty if it does not exist.

        Args:
          name: the name of the collection.
          scope: a regular expression that the names of the values begin with; values without names are left out then.
        """
        items = self._collections.get(name, [])
        if scope is None:
            return list(items)
        begins = re.compile(scope)
        return [item for item in items if hasattr(item, "name") and begins.match(item.name)]

    def get_collection_ref(self, name: str) -> list[Any]:
        """Returns the collection itself."""
        return self._collections.setdefault(name, [])

    def clear_collection(self, name: str) -> None:
        """Empties a collection."""
        self._collections.pop(name, None)

    def get_all_collection_keys(self) -> list[str]:
        """Returns the names of all collections that are not empty."""
        return [name for name, values in self._collections.items() if values]

    @property
    def collections(self) -> list[str]:
        """The names of all collections."""
        return self.get_all_collection_keys()

    # Running

    def default_session(self, session: Session | None, use: str) -> Session:
        """Returns the Session that ``eval`` and ``run`` use.

        Raises:
          FailedPreconditionError: none is given, and there is no default Session.
          InvalidArgumentError: the Session runs another graph.
        """
        chosen = session or stacks.default_session
        if chosen is None:
            raise user_error(
                f"{use}: there is no default Session; use `with gx.Session() as session:`, or pass one",
                FailedPreconditionError,
            )
        if chosen.graph is not self:
            raise user_error(f"{use}: the default Session runs another graph; pass one with this graph")
        return chosen

    def __str__(self) -> str:
        return str(self.ir)

    def __repr__(self) -> str:
        return f"<Graph of {self.version} operations>"


class Stacks(threading.local):
    """The default graphs and Sessions of this thread, innermost last."""

    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.sessions: list[Any] = []

    @property
    def default_session(self) -> Any:
        """The innermost Session, or None."""
        return self.sessions[-1] if self.sessions else None


stacks = Stacks()


class _Global:
    """The default graph of all threads without their own."""

    graph: Graph | None = None


def default_graph() -> Graph:
    """Returns the graph that functions add nodes to: the innermost scope's, else the process's."""
    if stacks.graphs:
        return stacks.graphs[-1]
    if _Global.graph is None:
        _Global.graph = Graph()
    return _Global.graph


def reset_default_graph() -> None:
    """Makes a new default graph for the process.

    Raises:
      FailedPreconditionError: a graph is entered by ``with graph.as_default():``.
    """
    if stacks.graphs:
        raise user_error(
            "reset_default_graph() inside `with graph.as_default():`; leave the block first", FailedPreconditionError
        )
    _Global.graph = Graph()


def graph_of(values: Iterable[Any]) -> Graph:
    """Returns the graph of the first of these values that belongs to one; else the default graph."""
    for value in values:
        if isinstance(value, GraphTensor | Operation):
            return value.graph
    return default_graph()


def _similar(name: str, candidates: Iterable[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, list(candidates), 3)
    return f"; did you mean {', '.join(map(repr, close))}?" if close else ""
