"""Variables of graphs that are built by hand: nodes read and assign them, and each Session has its own values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NoReturn, Self, cast

import numpy as np

from graphc.compiler.base import user_location
from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.core import (
    FUNCTIONS,
    SCALARS,
    STRING,
    Variable,
    apply,
    context,
    device,
    is_text,
    trace_scope,
    variable_device,
)
from graphc.compiler.ir import OPEN, OPS, Attrs, TensorType, compatible, compatible_shapes
from graphc.compiler.tracing import current_trace
from graphc.graphs.refusals import user_error
from graphc.graphs.session.graphs.graph import Graph, default_graph
from graphc.graphs.session.graphs.naming import GraphKeys, check_name
from graphc.graphs.session.graphs.placeholders import graph_dtype, graph_type
from graphc.graphs.session.graphs.tensor import GraphTensor, Operation
from graphc.graphs.session.graphs.trace import RANDOM
from graphc.graphs.session.state import COUNT_UP_TO, INITIALIZED_VALUE, IS_INITIALIZED
from graphc.graphs.session.variables.scattering import Scattering

# Conversion of values that users assign to Variables into tensors of the graph.


def as_given(value: Any, dtype: np.dtype[Any]) -> Any:
    """Converts a list or array to a dtype that can represent it; returns anything else unchanged."""
    converted: Any = _array(value)
    if not isinstance(converted, np.ndarray) or cast("Any", converted).dtype == dtype:
        return cast("Any", converted)
    array = cast("np.ndarray[Any, Any]", converted)
    return array.astype(dtype) if _holds(dtype, array) else array


def _holds(dtype: np.dtype[Any], array: np.ndarray[Any, Any]) -> bool:
    if array.dtype.kind == "b":
        return dtype.kind == "b"
    if array.dtype.kind in "iu":
        if dtype.kind not in "iu":
            return dtype.kind in "fcV"
        bounds = np.iinfo(dtype)
        return not array.size or (int(array.min()) >= bounds.min and int(array.max()) <= bounds.max)
    return array.dtype.kind == dtype.kind or (array.dtype.kind == "f" and dtype.kind in "cV")


def initial_tensor(graph: Graph, initial: Any, dtype: Any) -> GraphTensor:
    """Returns an initial value as a tensor of the graph that no dtype of others changes.

    Args:
      dtype: the dtype to convert to; None for the value's, where Python floats are float32 and ints int32.
    """
    initial = initial() if callable(initial) else _array(initial.value() if isinstance(initial, Variable) else initial)
    if type(initial) in SCALARS:
        initial = _eager(initial)
    count = graph.version
    value: Any = graph.trace.lift(initial)
    if dtype is not None and value.raw.type.dtype != graph_dtype(dtype):
        value = FUNCTIONS["astype"](value, dtype)
    elif value.raw.type.weak:
        value = apply(OPS["astype"], (value,), Attrs(dtype=value.raw.type.dtype))
    if graph.version > count and not isinstance(initial, GraphTensor):
        graph.trace.builder.rename(value.raw.node, graph.trace.builder.unique("initial_value"))
    return value


def _array(value: Any) -> Any:
    """Returns lists of numbers as an array; anything else as it is."""
    if not isinstance(value, list | tuple):
        return value
    items = cast("list[Any]", value)
    if _holds_tensors(items) or is_text(items):
        return items
    return _eager(items)


def _eager(numbers: Any) -> np.ndarray[Any, Any]:
    """Returns Python's numbers as an array of the dtype that they have in eager code."""
    with trace_scope(None), device(None):
        return np.asarray(FUNCTIONS["asarray"](numbers).raw)


def _holds_tensors(items: Iterable[Any]) -> bool:
    return any(
        isinstance(item, GraphTensor)
        or (isinstance(item, list | tuple) and _holds_tensors(cast("Iterable[Any]", item)))
        for item in items
    )


class GraphVariable(Scattering, Variable):
    """A Variable of a graph: ``gx.Variable`` makes one inside ``with graph.as_default():``.

    It has a value in each Session of its own once its initializer has run there. Its name is that of a tensor, such as
    ``weights:0``, which stands for its value.

    Args:
      initial_value: a tensor of the graph, an array, a number, or a function of no arguments that returns one.
      trainable: whether optimizers change it where they are not told what to change; True if None.
      collections: the collections that it is put into; those of global variables if None, none at all if empty.
      validate_shape: whether the shape stays; if not, each assignment may give another one.
      caching_device: ignored.
      name: the name of the variable, made unique.
      dtype: the dtype to convert to; by default Python floats become float32 and ints int32.
      shape: the fixed part of the shape, None for a size that may change; the shape of ``initial_value`` if None.
      constraint: a function that optimizers apply to the value after each update.
      use_resource: ignored, like TensorFlow's other arguments.
      synchronization: ignored.
      aggregation: ignored.
      expected_shape: ignored.

    Raises:
      InvalidArgumentError: there is no initial value, or it is not of the shape.

    Example:
      >>> import graphc as gx
      >>> with gx.Graph().as_default() as graph:
      ...     count = gx.Variable(0, name="count")
      ...     increment = count.assign_add(1)
      >>> count.name
      'count:0'
      >>> with gx.Session(graph=graph) as session:
      ...     session.run(count.initializer)
      ...     [int(session.run(increment)) for _ in range(3)]
      [1, 2, 3]
    """

    __slots__ = (
        "_initializer", "constraint", "container", "graph", "initial_value", "made_at", "pin", "read_once", "resource",
    )  # fmt: skip

    if TYPE_CHECKING:

        def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...  # noqa: D102

    def __init__(
        self, initial_value: Any = None, trainable: bool | None = None, collections: Sequence[str] | None = None,
        validate_shape: bool = True, caching_device: Any = None, name: str | None = None, *, dtype: Any = None,
        shape: Any = None, constraint: Callable[[Any], Any] | None = None, use_resource: bool | None = None,
        synchronization: Any = None, aggregation: Any = None, expected_shape: Any = None,
    ) -> None:  # fmt: skip
        del caching_device, use_resource, synchronization, aggregation, expected_shape
        self.graph = graph = default_graph()
        if initial_value is None:
            raise user_error(f"Variable {name or 'Variable'!r}: expected an initial value")
        graph.trace.check_open()
        builder = graph.trace.builder
        label = builder.unique(check_name(name or "Variable", inside=bool(builder.scope)))
        self.name = f"{label}:0"
        self.made_at = user_location()
        self.trainable = True if trainable is None else trainable
        self.constraint = constraint
        self.container = graph.current_container
        self.resource = f"{self.container}//{label}" if self.container else label
        with trace_scope(graph.trace), graph.control_dependencies(None), builder.naming(label + "/"):
            with builder.naming("Initializer"):
                self.initial_value = value = initial_tensor(graph, initial_value, dtype)
            self._type = self._kept_type(value.raw.type, shape, validate_shape)
            if self._type.is_open:
                graph.trace.open_variables.add(self.resource)
            self.pin = _pin(self)
            self._initializer = Operation(graph, graph.trace.append_assignment(self, value))
            self.read_once: Any = graph.trace.read(self)
            builder.rename(self.read_once.raw.node, label)
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        if self.trainable and collections and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
        graph.add_to_collections(collections, self)

    def _kept_type(self, initial: TensorType, shape: Any, validate_shape: bool) -> TensorType:
        """Returns the type of all values that it may have, by the type of the first."""
        if initial.dtype == STRING:
            raise user_error(
                f"Variable {self.name!r}: strings given; Variables hold numbers, since devices hold no strings. Use a "
                "constant, or a queue",
                InvalidTypeError,
            )
        if not validate_shape:
            return TensorType((), initial.dtype, ranked=False)
        if shape is None:
            return initial
        declared = graph_type(initial.dtype, shape)
        if not compatible(initial, declared):
            raise user_error(f"Variable {self.name!r}: initial value {initial} given, shape {shape} expected")
        return declared

    @property
    def initializer(self) -> Operation:
        """The operation that gives it its initial value."""
        return self._initializer

    @property
    def op(self) -> Operation:
        """The operation that reads it."""
        return self.read_once.op

    @property
    def shape(self) -> Any:
        """The size of each axis, None where it may change; None if even the number of axes may."""
        type = self._type
        return tuple([None if size == OPEN else size for size in type.shape]) if type.ranked else None

    @property
    def device(self) -> str:
        """The device that it is pinned to; empty where it is free."""
        return self.pin

    @property
    def raw(self) -> NoReturn:  # pyright: ignore[reportIncompatibleVariableOverride, reportIncompatibleMethodOverride]
        """Refused: it has a value in each Session."""
        self._refuse("its array")

    def value(self) -> GraphTensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Reads it: a tensor, which in each run is the value at that point of the graph."""
        with self.graph.entered(), self._named_scope():
            tensor: Any = current_trace().read(self)
        for tape in context.tapes:
            tape.record_read(self, tensor)
        return tensor

    def _named_scope(self) -> AbstractContextManager[str]:
        return self.graph.name_scope(self.name.removesuffix(":0") + "/")

    read_value = value

    def initialized_value(self) -> Any:
        """Returns its value where it has one in the Session, else its initial value: for other initial values."""
        with self.graph.entered(), self.graph.control_dependencies(None), self._named_scope():
            attrs = Attrs(variable=self.resource, type=self._type)
            return apply(INITIALIZED_VALUE, (self.initial_value,), attrs)

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Makes an operation that sets the value.

        Args:
          value: a value of the Variable's shape.
          use_locking: ignored: each assignment is one step.
          name: the name of the operation.
          read_value: whether to return the new value as a tensor, and not the operation.

        Raises:
          InvalidArgumentError: another shape.
          InvalidTypeError: another dtype.
        """
        del use_locking
        return self.updated(lambda: value, name or "Assign", read_value=read_value)

    def assign_add(  # pyright: ignore[reportIncompatibleMethodOverride]  TensorFlow's name of the argument
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Makes an operation that adds to the value; see :meth:`assign`."""
        del use_locking
        return self.updated(lambda: operator.add(self.value(), delta), name or "AssignAdd", read_value=read_value)

    def assign_sub(  # pyright: ignore[reportIncompatibleMethodOverride]  likewise
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Makes an operation that subtracts from the value; see :meth:`assign`."""
        del use_locking
        return self.updated(lambda: operator.sub(self.value(), delta), name or "AssignSub", read_value=read_value)

    def count_up_to(self, limit: int) -> Any:
        """Makes an operation that gives the value and adds one to it.

        Run when the value is ``limit`` it raises OutOfRangeError, which ends loops that draw from queues.

        Args:
          limit: the first number that it does not give.

        Raises:
          InvalidTypeError: the variable is no integer.
        """
        if self._type.shape or self._type.dtype.kind not in "iu":
            raise user_error(f"count_up_to: {self!r} is no scalar integer", InvalidTypeError)
        attrs = Attrs(variable=self.resource, type=self._type, limit=operator.index(limit))
        with self.graph.entered():
            return apply(COUNT_UP_TO, (), attrs)

    def _updated(self, new_value: Callable[[], Any]) -> Any:
        return self.updated(new_value, "Assign")

    def updated(self, new_value: Callable[[], Any], name: str, *, read_value: bool = True) -> Any:
        """Makes an operation that sets the value to what a function makes; see :meth:`assign`.

        A value that is computed from the variable's own becomes one step with the read of it.
        """
        graph, region = self.graph, self.graph.inner_trace
        if region is not None:
            # In a branch or a loop, which carries it.
            region.assign(self, self._checked(region.lift(self.given(new_value()))))
            return region.read(self)
        with graph.making(name), graph.colocate_with(self):
            value = graph.trace.lift(self.given(new_value()))
            node = graph.trace.append_assignment(self, self._checked(value))
            if not read_value:
                return graph.named(Operation(graph, node), name)
            with graph.control_dependencies([Operation(graph, node)]):
                return graph.named(apply(OPS["identity"], (graph.tensor_of(node.inputs[0]),)), name)

    def given(self, value: Any) -> Any:
        """Returns a list or array of the user's as an array of the variable's dtype, if that can hold it."""
        return as_given(value, self._type.dtype)

    def _checked(self, value: Any) -> Any:
        actual, wanted = value.raw.type, self._type
        kind_fits = actual.weak and np.can_cast(actual.dtype, wanted.dtype, "same_kind")
        if actual.dtype != wanted.dtype and not kind_fits:
            raise user_error(
                f"assign to Variable {self.name!r}: {actual} given, {wanted} expected; convert with "
                f"gx.astype(value, {wanted.dtype.name!r})",
                InvalidTypeError,
            )
        if not compatible_shapes(actual, wanted):
            raise user_error(
                f"assign to Variable {self.name!r}: {actual} given, {wanted} expected; a Variable keeps its shape "
                "unless it is made with validate_shape=False"
            )
        return value

    def is_initialized(self, name: str | None = None) -> Any:
        """Returns a tensor that says whether it has a value in the Session."""
        with self.graph.making(name):
            return self.graph.named(apply(IS_INITIALIZED, (), Attrs(variable=self.resource)), name)

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
        raise user_error(
            f"{use} of Variable {self.name!r}: it has a value in each Session; use session.run(variable)",
            InvalidTypeError,
        )

    def _as_graph_element(self) -> GraphTensor:
        return self.read_once

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise user_error(
            f"items of Variable {self.name!r} of a graph are assigned by an operation: "
            "variable.assign(gx.update_item(variable, index, value))",
            InvalidTypeError,
        )

    def __reduce__(self) -> NoReturn:
        self._refuse("pickling")

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Any:
        return self is other

    def __repr__(self) -> str:
        return f"<Variable {self.name!r} {self._type}>"


def _pin(variable: GraphVariable) -> str:
    """Returns the device that the scopes around pin a variable to; empty for none."""
    if not context.device:
        return ""
    return variable_device(variable.name.removesuffix(":0"), variable.type, variable.trainable)


class RandomState(GraphVariable):
    """The state from which one op of a graph draws; it needs no initializer."""

    __slots__ = ()

    def __init__(self, graph: Graph, seed: int | None) -> None:
        self.graph, self.container, self.pin, self.trainable = graph, "", "", False
        self.name = self.resource = f"{RANDOM}{graph.version}/{seed}"
        self._type = TensorType((2,), np.dtype(np.uint32))

    def _named_scope(self) -> AbstractContextManager[str]:
        return nullcontext("")  # it is read beside the op
