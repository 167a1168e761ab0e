"""Values and nodes. Both are frozen: a pass makes new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphc.compiler.base import Location
from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.ir.effects import Effect
from graphc.compiler.ir.opdef import OpDef
from graphc.compiler.ir.types import Attrs, TensorType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphc.compiler.ir.graph import Graph

__all__ = ["Node", "Value"]


class Value:
    """A tensor in a graph: an output of a node, or an input of the graph. Compared by identity.

    Attributes:
      type: shape and dtype.
      node: the node that computes it; None for an input of the graph.
      index: the index among the node's outputs, or among the graph's inputs.
      name: the name of a graph input; empty for outputs of nodes.
    """

    __slots__ = ("__weakref__", "index", "name", "node", "type")

    def __init__(self, type: TensorType, node: Node | None, index: int, name: str = "") -> None:
        self.type = type
        self.node = node
        self.index = index
        self.name = name

    def __deepcopy__(self, memo: dict[int, Any]) -> Value:
        return self  # compared by identity

    def __repr__(self) -> str:
        source = f"input {self.name!r}" if self.node is None else f"output {self.index} of {self.node.name}"
        return f"<Value {self.type} {source}>"


class Node:
    """One application of an op.

    Attributes:
      op: the op that the node applies.
      inputs: the tensors that it takes.
      attrs: the static attributes.
      outputs: the tensors that it computes.
      regions: the bodies of loops and branches, each a graph.
      control_inputs: nodes that must run first.
      device: the device spec that the user pinned it to, as text; empty for none.
      name: a name unique in its graph.
      location: the user's line that made the node.
    """

    __slots__ = (
        "__weakref__",
        "attrs",
        "control_inputs",
        "device",
        "inputs",
        "location",
        "name",
        "op",
        "outputs",
        "regions",
    )

    def __init__(
        self,
        op: OpDef,
        inputs: Sequence[Value],
        attrs: Attrs,
        types: Sequence[TensorType],
        *,
        regions: Sequence[Graph] = (),
        control_inputs: Sequence[Node] = (),
        device: str = "",
        name: str = "",
        location: Location | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "op", op)
        put(self, "inputs", tuple(inputs))
        put(self, "attrs", attrs)
        put(self, "regions", tuple(regions))
        put(self, "control_inputs", tuple(control_inputs))
        put(self, "device", device)
        put(self, "name", name or op.name)
        put(self, "location", location)
        put(self, "outputs", tuple(Value(type, self, i) for i, type in enumerate(types)))

    op: OpDef
    inputs: tuple[Value, ...]
    attrs: Attrs
    regions: tuple[Graph, ...]
    control_inputs: tuple[Node, ...]
    device: str
    name: str
    location: Location | None
    outputs: tuple[Value, ...]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"a Node is frozen: cannot set {name!r}; build a new node (graphc.compiler.ir.GraphBuilder)"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Node is frozen: cannot delete {name!r}")

    def __deepcopy__(self, memo: dict[int, Any]) -> Node:
        return self

    def __reduce__(self) -> Any:
        raise InvalidTypeError(f"the node {self.name!r} cannot be pickled by itself; pickle its graph")

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The node's effects, including those of its regions."""
        own = self.op.effects(self.attrs)
        if not self.regions:
            return own
        inner = (effect for region in self.regions for node in region.nodes for effect in node.effects)
        return tuple(dict.fromkeys((*own, *inner)))

    def __repr__(self) -> str:
        types = ", ".join(str(output.type) for output in self.outputs)
        place = f" at {self.location.short}" if self.location else ""
        return f"<Node {self.name}: {self.op.name} -> {types}{place}>"
