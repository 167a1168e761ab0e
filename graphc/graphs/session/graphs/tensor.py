"""Tensors and operations of a graph built by hand."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, cast

from graphc.compiler.base.errors import InvalidTypeError, UnimplementedError
from graphc.compiler.core import ArrayMethods, Dimension, SymbolicTensor, Tensor, TensorShape
from graphc.compiler.ir import OPEN, Node, TensorType, Value, compatible, merge
from graphc.graphs.refusals import user_error

if TYPE_CHECKING:
    from graphc.graphs.session.graphs.graph import Graph
    from graphc.graphs.session.graphs.trace import GraphTrace
    from graphc.graphs.session.session import Session

# Shapes that users pass to graphs, with None for unknown sizes.


def sizes_of(shape: Any) -> tuple[int, ...] | None:
    """Converts a shape to sizes, with ``OPEN`` for unknown ones; None if the number of axes is unknown."""
    if hasattr(shape, "as_list"):
        shape = None if shape.rank is None else shape.as_list()
    if shape is None:
        return None
    try:
        items = [shape] if isinstance(shape, int) else list(shape)
        return tuple(_size(item) for item in items)
    except TypeError:
        raise InvalidTypeError(
            f"expected a shape, such as (None, 10) or None for any, got {shape!r:.60}"
        ).here() from None


def _size(item: Any) -> int:
    value = getattr(item, "value", item)
    return OPEN if value is None or value == OPEN else operator.index(value)


class _Dimensions(TensorShape):
    def __iter__(self) -> Iterator[Any]:
        return map(Dimension, super().__iter__())

    def __getitem__(self, index: Any) -> Any:
        size = super().__getitem__(index)
        return size if isinstance(index, slice) else Dimension(size)

    def as_list(self) -> list[int | None]:
        return [item.value for item in super().as_list()]  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]


class GraphTensor(SymbolicTensor):
    """A tensor of a graph built by hand: it has a value in each run of a Session.

    It is hashed by identity, so it can be a key of ``feed_dict``; ``==`` compares elements.

    Example:
      >>> import graphc as gx
      >>> with gx.Graph().as_default():
      ...     x = gx.placeholder("float32", shape=(None, 2), name="x")
      ...     y = gx.sum(x * 2.0)
      >>> x.name, x.shape
      ('x:0', TensorShape([None, 2]))
      >>> with gx.Session(graph=x.graph) as session:
      ...     y.eval({x: [[1.0, 2.0]]}).item()
      6.0
    """

    __slots__ = ()

    trace: GraphTrace  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def graph(self) -> Graph:
        """The graph that it belongs to."""
        return self.trace.graph

    @property
    def op(self) -> Operation:
        """The operation that computes it."""
        assert self.raw.node is not None
        return self.graph.operation_of(self.raw.node)

    @property
    def name(self) -> str:
        """The name of its operation with the index of the output: ``add_1:0``."""
        assert self.raw.node is not None
        return f"{self.raw.node.name}:{self.raw.index}"

    @property
    def value_index(self) -> int:
        """The index of the output of its operation."""
        return self.raw.index

    @property
    def shape(self) -> Any:
        """The size of each axis, None if unknown; None if the number of axes is unknown."""
        return TensorShape.of(self.raw.type) if self.raw.type.ranked else None

    def get_shape(self) -> TensorShape:
        """Returns the shape with Dimension items, as in TensorFlow 1: ``x.get_shape()[0].value``."""
        return _Dimensions.of(self.raw.type)

    def set_shape(self, shape: Any) -> None:
        """Adds information about the shape.

        Args:
          shape: sizes, None for unknown ones.

        Raises:
          InvalidArgumentError: it contradicts the known shape.
        """
        sizes = sizes_of(shape)
        declared = TensorType(sizes or (), self.raw.type.dtype, self.raw.type.weak, sizes is not None)
        if not compatible(self.raw.type, declared):
            raise user_error(f"{self.name}: set_shape({shape}) contradicts its type, {self.raw.type}")
        self.raw.type = merge(self.raw.type, declared)

    def eval(self, feed_dict: Mapping[Any, Any] | None = None, session: Session | None = None) -> Any:
        """Computes the tensor in a Session.

        Args:
          feed_dict: values for tensors, see :meth:`Session.run`.
          session: the Session; the default one if None.

        Returns:
          A NumPy array, or ``bytes`` for a scalar string.
        """
        return self.graph.default_session(session, "eval").run(self, feed_dict)

    def consumers(self) -> list[Operation]:
        """Returns the operations that use it."""
        nodes = [node for node in self.trace.builder.nodes if self.raw in node.inputs]
        return [self.graph.operation_of(node) for node in nodes]

    def snapshot(self) -> GraphTensor:
        """Returns the tensor itself, which never changes."""
        return self

    fork = snapshot

    def become(self, other: Tensor) -> NoReturn:
        """Raises an error: items of a graph's tensors cannot be assigned."""
        raise user_error(
            f"items of {self.name}, a tensor of a graph, cannot be assigned; use gx.update_item, or a Variable",
            UnimplementedError,
        )

    def _refuse(self, use: str, remedy: str) -> NoReturn:
        raise user_error(
            f"{use} needs a value, and the tensor {self.name} of a graph has one only while a Session runs it; use "
            "session.run(tensor), gx.cond and gx.while_loop for control flow",
            InvalidTypeError,
        )

    def __hash__(self) -> int:
        return hash(self.raw)

    def __str__(self) -> str:
        return repr(self)

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __repr__(self) -> str:
        sizes = self.shape
        shape = "<unknown>" if sizes is None else str(tuple(sizes))
        dtype = "string" if self.raw.type.dtype == object else self.raw.type.dtype.name
        return f"<Tensor {self.name!r} shape={shape} dtype={dtype}>"


def _entering(method: Any) -> Any:
    """Returns a method that runs with its tensor's graph as the current one."""

    @functools.wraps(method)
    def call(self: GraphTensor, *args: Any, **kwargs: Any) -> Any:
        with self.graph.entered():
            return method(self, *args, **kwargs)

    return call


for _name in ("__getitem__", "__len__", "__iter__"):
    setattr(GraphTensor, _name, _entering(getattr(Tensor, _name)))
for _name, _method in vars(ArrayMethods).items():
    if isinstance(_method, FunctionType) and not _name.startswith("_") and getattr(GraphTensor, _name) is _method:
        setattr(GraphTensor, _name, _entering(_method))


class Operation:
    """A node of a graph built by hand.

    Attributes:
      graph: the graph.
      node: the node.
    """

    __slots__ = ("graph", "node")

    def __init__(self, graph: Graph, node: Node) -> None:
        self.graph = graph
        self.node = node

    @property
    def name(self) -> str:
        """The name, unique in the graph."""
        return self.node.name

    @property
    def type(self) -> str:
        """TensorFlow's name for the op: ``MatMul``."""
        return self.graph.op_type(self.node)

    @property
    def device(self) -> str:
        """The device that it is pinned to; empty if none."""
        return self.node.device

    @property
    def inputs(self) -> Sequence[GraphTensor]:
        """The tensors that it uses."""
        return [self.graph.tensor_of(value) for value in self.node.inputs]

    @property
    def outputs(self) -> Sequence[GraphTensor]:
        """The tensors that it computes."""
        return [self.graph.tensor_of(value) for value in self.node.outputs]

    @property
    def control_inputs(self) -> Sequence[Operation]:
        """The operations that it waits for without using their values."""
        return [self.graph.operation_of(node) for node in self.node.control_inputs]

    def get_attr(self, name: str) -> Any:
        """Returns an attribute.

        Raises:
          InvalidArgumentError: the attribute does not exist.
        """
        if name not in self.node.attrs:
            available = ", ".join(self.node.attrs) or "none"
            raise user_error(f"the operation {self.name!r} has no attribute {name!r}; it has {available}")
        return self.node.attrs[name]

    def values(self) -> tuple[GraphTensor, ...]:
        """Returns :attr:`outputs`."""
        return tuple(self.outputs)

    def run(self, feed_dict: Mapping[Any, Any] | None = None, session: Session | None = None) -> None:
        """Runs the operation in a Session; see :meth:`GraphTensor.eval`."""
        self.graph.default_session(session, "run").run(self, feed_dict)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Operation) and other.node is self.node

    def __hash__(self) -> int:
        return hash(self.node)

    def __repr__(self) -> str:
        return f"<Operation {self.name!r} type={self.type}>"


def value_of(tensor: Any) -> Value:
    """Returns the value of a tensor in its graph."""
    return cast("GraphTensor", tensor).raw
