"""Variables of graphs that are built by hand: nodes read and assign them, and each Session has its own values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from graphc.base import at, user_location
from graphc.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.core import FUNCTIONS, Variable, apply, context, variable_device
from graphc.ir import OPS, Attrs, TensorType, compatible
from graphc.session.graph import Graph, default_graph
from graphc.session.keys import GraphKeys
from graphc.session.randomness import RANDOM
from graphc.session.tensor import GraphTensor, Operation
from graphc.session.trace import GraphTrace

__all__ = ["GraphVariable"]


class GraphVariable(Variable):
    """A Variable of a graph: ``gx.Variable`` makes one inside ``with graph.as_default():``.

    It has a value in each Session of its own once its initializer has run there.

    Args:
      initial_value: a tensor of the graph, an array, a number, or a function of no arguments that returns one.
      trainable: whether optimizers change it where they are not told what to change.
      collections: the collections that it is put into; those of global variables if None.
      validate_shape: whether the shape stays; if not, it is open.
      caching_device: not used.
      name: of the variable, made unique.
      dtype: to convert to.
      **ignored: arguments of TensorFlow's that say nothing here (``use_resource``, ``aggregation``).

    Raises:
      InvalidArgumentError: there is no initial value.

    Example:
      >>> import graphc as gx
      >>> with gx.Graph().as_default() as graph:
      ...     count = gx.Variable(0, name="count")
      ...     increment = count.assign_add(1)
      >>> with gx.Session(graph=graph) as session:
      ...     session.run(count.initializer)
      ...     [int(session.run(increment)) for _ in range(3)]
      [1, 2, 3]
    """

    __slots__ = ("_initializer", "container", "graph", "initial_value", "pin", "read_once", "resource")

    def __init__(
        self, initial_value: Any = None, trainable: bool | None = None, collections: Sequence[str] | None = None,
        validate_shape: bool = True, caching_device: Any = None, name: str | None = None, *, dtype: Any = None,
        shape: Any = None, **ignored: Any,
    ) -> None:  # fmt: skip
        del caching_device, shape, ignored
        self.graph = graph = default_graph()
        if initial_value is None:
            error = InvalidArgumentError(f"Variable {name or 'Variable'!r}: expected an initial value")
            raise at(error, user_location())
        graph.trace.check_open()
        builder = graph.trace.builder
        self.name = builder.unique(name or "Variable")
        self.trainable = True if trainable is None else trainable
        self.container = graph.current_container
        self.resource = f"{self.container}//{self.name}" if self.container else self.name
        with graph.entered(), builder.naming(self.name + "/"):
            value = _initial(graph, initial_value, dtype)
            self.initial_value = value
            type = value.raw.type
            self._type = type if validate_shape else TensorType((), type.dtype, ranked=False)
            self.pin = _pin(self)
            self._initializer = Operation(graph, graph.trace.append_assignment(self, value))
            self.read_once: Any = graph.trace.read(self)
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        if self.trainable and collections and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
        graph.add_to_collections(collections, self)
        _variables(graph).append(self)

    @property
    def initializer(self) -> Operation:
        """The operation that gives it its initial value."""
        return self._initializer

    @property
    def op(self) -> Operation:
        """The operation that reads it."""
        return self.read_once.op

    @property
    def device(self) -> str:
        """The device that it is pinned to; empty where it is free."""
        return self.pin

    @property
    def raw(self) -> NoReturn:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Refused: it has a value in each Session."""
        self._refuse("its array")

    def value(self) -> GraphTensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Reads it: a tensor, which in each run is the value at that point of the graph."""
        with self.graph.entered():
            tensor: Any = context.trace.read(self) if context.trace is not None else None
            for tape in context.tapes:
                tape.record_read(self, tensor)
            return tensor

    read_value = value

    def initialized_value(self) -> GraphTensor:
        """Returns its initial value, for the initial value of another variable."""
        return self.initial_value

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Makes an operation that sets the value.

        Args:
          value: of the variable's shape.
          use_locking: not needed: each assignment is one step.
          name: of the operation.
          read_value: whether to return the new value as a tensor, and not the operation.

        Raises:
          InvalidArgumentError: another shape.
          InvalidTypeError: another dtype.
        """
        del use_locking
        return self._assigned(lambda: value, name or "Assign", read_value=read_value)

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Makes an operation that adds to the value; see :meth:`assign`."""
        del use_locking
        return self._assigned(lambda: operator.add(self.value(), delta), name or "AssignAdd", read_value=read_value)

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Makes an operation that subtracts from the value; see :meth:`assign`."""
        del use_locking
        return self._assigned(lambda: operator.sub(self.value(), delta), name or "AssignSub", read_value=read_value)

    def _updated(self, new_value: Callable[[], Any]) -> Any:
        return self._assigned(new_value, "Assign", read_value=True)

    def _assigned(self, new_value: Callable[[], Any], name: str, *, read_value: bool) -> Any:
        graph, region = self.graph, context.trace
        if region is not None and region is not graph.trace and region.is_inside(graph.trace):
            region.assign(self, self._checked(region.lift(new_value())))  # in a branch or a loop, which carries it
            return region.read(self)
        with graph.making(name):
            value = graph.trace.lift(new_value())
            node = graph.trace.append_assignment(self, self._checked(value))
            if not read_value:
                return graph.named(Operation(graph, node), name)
            with graph.control_dependencies([Operation(graph, node)]):
                return graph.named(apply(OPS["identity"], (node.inputs[0] and graph.tensor_of(node.inputs[0]),)), name)

    def _checked(self, value: Any) -> Any:
        given = value.raw.type
        if given.dtype != self._type.dtype and not given.weak:
            error = InvalidTypeError(
                f"assign to Variable {self.name!r}: {given} given, {self._type} expected; convert with "
                f"gx.astype(value, {self._type.dtype.name!r})"
            )
            raise at(error, user_location())
        if not compatible(TensorType(given.shape, self._type.dtype, ranked=given.ranked), _strong(self._type)):
            error = InvalidArgumentError(
                f"assign to Variable {self.name!r}: shape {list(given.shape)} given, {self._type} expected"
            )
            raise at(error, user_location())
        return value

    def eval(self, session: Any = None) -> Any:
        """Returns its value in a Session; see :meth:`GraphTensor.eval`."""
        return self.graph.default_session(session, "eval").run(self)

    def load(self, value: Any, session: Any = None) -> None:
        """Sets its value in a Session."""
        self.graph.default_session(session, "load").run(self.initializer, {self.initializer.inputs[0]: value})

    def set_shape(self, shape: Any) -> None:
        """Adds what is known of the shape; see :meth:`GraphTensor.set_shape`."""
        self.read_once.set_shape(shape)
        self._type = self.read_once.raw.type

    def numpy(self) -> NoReturn:
        """Refused: it has a value in each Session."""
        self._refuse("numpy()")

    def _seen(self) -> Any:
        return self.value()

    def _refuse(self, use: str) -> NoReturn:
        error = InvalidTypeError(
            f"{use} of Variable {self.name!r}: it has a value in each Session; use session.run(variable)"
        )
        raise at(error, user_location())

    def _as_graph_element(self) -> GraphTensor:
        return self.read_once

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        error = InvalidTypeError(
            f"items of Variable {self.name!r} of a graph are assigned by an operation: "
            "variable.assign(gx.update_item(variable, index, value))"
        )
        raise at(error, user_location())

    def __reduce__(self) -> NoReturn:
        self._refuse("pickling")

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Any:
        return self is other

    def __repr__(self) -> str:
        return f"<Variable {self.name!r} {self._type}>"


def _strong(type: TensorType) -> TensorType:
    return TensorType(type.shape, type.dtype, ranked=type.ranked)


def _initial(graph: Graph, given: Any, dtype: Any) -> GraphTensor:
    """Returns an initial value as a tensor of the graph that no dtype of others changes."""
    value: Any = graph.trace.lift(given() if callable(given) else _value(given))
    if dtype is not None:
        return FUNCTIONS["astype"](value, dtype)
    if value.raw.type.weak:
        return apply(OPS["astype"], (value,), Attrs(dtype=value.raw.type.dtype))
    return value


def _value(given: Any) -> Any:
    if isinstance(given, Variable):
        return given.value()
    return np.asarray(given) if isinstance(given, list | tuple) and not _holds_tensors(given) else given


def _holds_tensors(items: Iterable[Any]) -> bool:
    return any(
        isinstance(item, GraphTensor) or (isinstance(item, list | tuple) and _holds_tensors(item)) for item in items
    )


def _pin(variable: GraphVariable) -> str:
    """Returns the device that the scopes around pin a variable to; empty for none."""
    if not context.device:
        return ""
    return variable_device(variable.name, variable.type, variable.trainable)


def _variables(graph: Graph) -> list[GraphVariable]:
    """Returns the variables of a graph, those outside of all collections included."""
    return graph.get_collection_ref("graphc/all_variables")


class RandomState(GraphVariable):
    """The state from which one op of a graph draws; it needs no initializer.

    Args:
      graph: the graph.
      seed: of the op; None for none.
    """

    __slots__ = ()

    def __init__(self, graph: Graph, seed: int | None) -> None:
        self.graph, self.container, self.pin, self.trainable = graph, "", "", False
        self.name = self.resource = f"{RANDOM}{graph.version}/{seed}"
        self._type = TensorType((2,), np.dtype(np.uint32))


GraphTrace.variable_class = GraphVariable
GraphTrace.random_state_class = RandomState
