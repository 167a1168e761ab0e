"""The trace of a hand-built graph, and strings in it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from graphc.compiler.base import config, nest
from graphc.compiler.base.errors import FailedPreconditionError, GraphcError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import (
    NO_ATTRS,
    STRING,
    STRING_RULES,
    SymbolicTensor,
    Tensor,
    Variable,
    as_strings,
    bytes_array,
    device_scope,
    is_text,
    trace_scope,
)
from graphc.compiler.ir import (
    OPEN,
    OPS,
    SHAPE_FACTS,
    Attrs,
    EffectKind,
    Node,
    OpDef,
    TensorType,
    Value,
    define_op,
    is_shape_value,
    widen,
)
from graphc.compiler.ir import Graph as GraphIR
from graphc.compiler.ops import HOST_VALUE
from graphc.compiler.tracing import CallState, Trace
from graphc.graphs.refusals import user_error
from graphc.graphs.session.graphs.naming import NamingBuilder
from graphc.graphs.session.graphs.tensor import GraphTensor

if TYPE_CHECKING:
    from graphc.graphs.session.graphs.graph import Graph

# Random numbers in graphs: each op draws its own, from the seeds of the graph and of the op, anew in each Session.

OUTSIDE = "python://"
"""Prefix of the resource of a Variable that was made in eager code and is used in a graph."""

RANDOM = "random://"
"""Prefix of the resource of a random op's state; its number and its seed follow."""


def is_random_state(resource: str) -> bool:
    """Returns True for the state of a random op, of which each Session has its own."""
    return resource.startswith(RANDOM)


def is_outside(resource: str) -> bool:
    """Returns True for a Variable of eager code."""
    return resource.startswith(OUTSIDE)


def first_state(graph_seed: int | None, resource: str) -> np.ndarray[Any, Any]:
    """Returns the initial state of a random op in a Session: ``uint32[2]``.

    Args:
      resource: the op's resource. Without a seed of the op or the graph, it starts differently in each Session.
    """
    number, _, op_seed = resource.removeprefix(RANDOM).partition("/")
    if op_seed == "None" and graph_seed is None:
        return np.random.SeedSequence().generate_state(2)
    entropy = [_word(graph_seed or 0), _word(int(number) if op_seed == "None" else int(op_seed))]
    return np.random.SeedSequence(entropy).generate_state(2)


def _word(seed: int) -> int:
    return seed % 2**64


def string_op(op: OpDef, types: Sequence[TensorType], attrs: Attrs) -> tuple[OpDef, Attrs]:
    """Returns the host op that does for strings what ``op`` does for numbers, and its attributes."""
    if op.name not in STRING_RULES:
        operands = ", ".join(map(str, types))
        raise user_error(
            f"{op.name}({operands}): strings are no numbers; gx.strings.to_number reads numbers from strings",
            InvalidTypeError,
        )
    return _ON_STRINGS, Attrs({"op": op.name, **attrs})


def _run(*arrays: Any, op: str, **attrs: Any) -> tuple[Any, ...]:
    texts = [_decoded(array) if array.dtype == STRING else array for array in arrays]
    results = nest.as_tuple(STRING_RULES[op].function(*texts, **attrs))
    return tuple(_encoded(result) for result in results)


def _decoded(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    strings = as_strings(array)
    return array if strings is None else strings.__array__()


def _encoded(result: Any) -> np.ndarray[Any, Any]:
    if isinstance(result, str):
        return bytes_array(result)
    array = np.asarray(result)
    return bytes_array(array) if array.dtype == STRING else array


def _types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[GraphIR]) -> tuple[TensorType, ...]:
    """Infers the types by a run on dummy strings, with two sizes for each open one."""
    del regions
    runs = [_run(*[_sample(type, size) for type in types], **attrs) for size in (2, 3)]
    columns = zip(*[[TensorType(array.shape, array.dtype) for array in arrays] for arrays in runs], strict=True)
    ranked = all(type.ranked for type in types)
    return tuple(widen(column) if ranked else TensorType((), column[0].dtype, ranked=False) for column in columns)


def _sample(type: TensorType, size: int) -> np.ndarray[Any, Any]:
    shape = [size if axis == OPEN else axis for axis in type.shape]
    return np.full(shape, b"0", object) if type.dtype == STRING else np.zeros(shape, type.dtype)


_ON_STRINGS = define_op(
    "on_strings", _run, _types, ("*values",), differentiable=False, host=True, doc="Another op, on strings."
)


def _with_tensorflows_dtypes(inputs: Sequence[Any]) -> Sequence[Any]:
    """Converts inputs of an op: with TensorFlow's dtypes, NumPy's float64 takes the float dtype of the tensors."""
    if config.default_dtype_bits != 32 or not any(isinstance(value, np.ndarray | np.generic) for value in inputs):
        return inputs
    dtypes = [value.raw.type.dtype for value in inputs if isinstance(value, GraphTensor)]
    narrow = next((dtype for dtype in dtypes if dtype.kind == "f" and dtype.itemsize < 8), None)
    if narrow is None:
        return inputs
    return [
        value.astype(narrow) if isinstance(value, np.ndarray | np.generic) and value.dtype == np.float64 else value
        for value in inputs
    ]


def _changes(node: Node) -> bool:
    return any(effect.kind is EffectKind.WRITE for effect in node.op.effects(node.attrs))


class GraphTrace(Trace):
    """The trace that ops are added to while a graph is built by hand.

    Attributes:
      open_variables: the resources of Variables whose shape may change.
      carried: the assignments that run with the op that computes their value: random ops, loops and branches.
      colocated: for each colocated node, the node that it is colocated with.
    """

    is_graph = True
    random_state: Any

    def __init__(self, graph: Graph) -> None:
        from graphc.graphs.session.variables.variable import GraphVariable  # deferred, since it imports this file

        super().__init__("graph")
        self.variable_class = GraphVariable
        self.builder: NamingBuilder = NamingBuilder("graph")
        self.graph = graph
        self.outside: dict[str, Variable] = {}
        self.open_variables: set[str] = set()
        self.carried: set[Node] = set()
        self.colocation: Node | None = None
        self.colocated: dict[Node, Node] = {}
        self._tensors: dict[Value, GraphTensor] = {}
        self._lock = threading.RLock()

    def inlined(self, call: Callable[[], Any]) -> Any:
        """Calls a compiled function in the graph: a run that needs its result also runs its assignments and prints."""
        count = len(self.builder.nodes)
        result = call()
        added = [node for node in self.builder.nodes[count:] if node not in self.carried and _changes(node)]
        if not added:
            return result
        leaves, structure = nest.flatten(result, repeats=True)
        with self.graph.control_dependencies(list(map(self.graph.operation_of, added))):
            after = [
                self.apply(OPS["identity"], (leaf,))[0] if isinstance(leaf, GraphTensor) else leaf for leaf in leaves
            ]
        return nest.unflatten(structure, after)

    def wrap(self, value: Value) -> GraphTensor:
        """Returns the unique tensor of a value."""
        tensor = self._tensors.get(value)
        if tensor is None:
            tensor = self._tensors[value] = GraphTensor(value, self)
        return tensor

    def apply(
        self, op: OpDef, inputs: Sequence[Any], attrs: Attrs = NO_ATTRS, regions: Sequence[GraphIR] = ()
    ) -> list[SymbolicTensor]:
        """Appends a node; see :func:`graphc.compiler.core.dispatch.apply`."""
        self.check_open()
        lifted = [self.lift(value) for value in _with_tensorflows_dtypes(inputs)]
        if not op.host and any(value.raw.type.dtype == STRING for value in lifted):
            op, attrs = string_op(op, [value.raw.type for value in lifted], attrs)
        with self._lock:
            outputs = super().apply(op, lifted, attrs, regions)
            if self.colocation is not None:
                self.colocated[self.builder.nodes[-1]] = self.colocation
            return outputs

    def check_open(self) -> None:
        """Raises an error if the graph is finalized."""
        if self.graph.finalized:
            raise user_error("the graph is finalized and cannot be changed; build it before", FailedPreconditionError)

    def lift(self, value: Any) -> SymbolicTensor:
        """Returns the tensor of this graph for a value; strings become constants."""
        if isinstance(value, GraphTensor) and value.trace is not self:
            raise self.foreign(value)
        if isinstance(value, Variable):
            return self.read(value)
        if not isinstance(value, SymbolicTensor) and is_text(value):
            return self._constant(bytes_array(value), weak=False)
        return super().lift(value)

    def note_attribute(self, value: Value) -> None:
        """Forbids feeding the values behind one, because the graph was built for their values."""
        waiting = [value]
        while waiting:
            value = waiting.pop()
            if value in self.graph.unfed or value.node is None:
                continue
            self.graph.unfed[value] = "the graph was built with its value, as a shape or another static attribute"
            if value.node.op not in SHAPE_FACTS:
                waiting += value.node.inputs

    def late_input(self, tensor: SymbolicTensor) -> SymbolicTensor:
        """Returns a number that shapes depend on; a computed one passes through the host."""
        return tensor if is_shape_value(tensor.raw) else self.apply(HOST_VALUE, (tensor,))[0]

    def foreign(self, tensor: GraphTensor) -> GraphcError:
        """Makes the error for a tensor of another graph."""
        return user_error(
            f"the tensor {tensor.name!r} ({tensor.type}, {tensor.made_at()}) is of another graph; build what belongs "
            "together in one graph"
        )

    def capture(self, value: Any) -> SymbolicTensor:
        """Returns a constant for an eager tensor: graphs have no inputs but feeds."""
        array = np.asarray(value.raw if isinstance(value, Tensor) else value)
        return self._constant(array, weak=False)

    def leaked(self, tensor: SymbolicTensor) -> Any:
        """Makes the error for a tensor of the graph that is used in a compiled function."""
        return user_error(
            f"the tensor {tensor!r} of a graph has values only while a Session runs it; call the function inside "
            "`with graph.as_default():`, or pass what session.run gives"
        )

    def read(self, variable: Variable | CallState) -> SymbolicTensor:
        """Appends a read of a Variable: each run reads its current value."""
        if isinstance(variable, CallState):
            return super().read(variable)
        resource, device = self._resource(variable)
        with device_scope(device) if device else trace_scope(self):
            return self.apply(OPS["read_variable"], (), Attrs(variable=resource, type=variable.type))[0]

    def assign(self, variable: Variable | CallState, value: Any) -> None:
        """Appends an assignment."""
        if isinstance(variable, CallState):
            super().assign(variable, value)
        else:
            self.carried.add(self.append_assignment(variable, value))

    def append_assignment(self, variable: Variable, value: Any) -> Node:
        """Appends an assignment, and returns its node."""
        resource, device = self._resource(variable)
        cast = self.cast(value, variable.type)
        with device_scope(device) if device else trace_scope(self):
            self.apply(OPS["assign_variable"], (cast,), Attrs(variable=resource))
        return self.builder.nodes[-1]

    def _resource(self, variable: Variable) -> tuple[str, str]:
        """Returns the resource of a Variable and the device that it is pinned to."""
        resource: Any = getattr(variable, "resource", None)
        if resource is None:
            resource = OUTSIDE + variable.name
            self.outside[resource] = variable
            return resource, ""
        if cast("Any", variable).graph is not self.graph:
            raise user_error(f"the Variable {variable.name!r} is of another graph")
        return resource, cast("Any", variable).pin

    def making(self, reads: Any = ()) -> AbstractContextManager[None]:
        """Raises an error: objects with state must be made through the graph."""
        del reads
        raise user_error(
            "this makes state that is no Variable of the graph; make it outside of `with graph.as_default():`",
            UnimplementedError,
        )

    def refuse(self, error: GraphcError) -> GraphcError:
        """Adds the user's line to an error."""
        return error.here()

    note_refusal = refuse

    def replace(self, tensor: SymbolicTensor, new: SymbolicTensor) -> NoReturn:
        """Raises an error: see :meth:`GraphTensor.become`."""
        del new
        raise user_error(f"items of {tensor!r} cannot be assigned", UnimplementedError)

    def side_effect(self, what: str, *, certain: bool = False, remedy: str = "") -> None:
        """Does nothing: code that builds a graph obviously runs once."""
        del what, certain, remedy

    def read_once(self, what: str, remedy: str = "") -> None:
        """Does nothing, for the same reason."""
        del what, remedy

    def array(self, array: np.ndarray[Any, Any]) -> SymbolicTensor:
        """Appends a constant."""
        self.check_open()
        return self._constant(array, weak=False)

    def new_random_state(self) -> Any:
        """Returns a new :attr:`random_state`, for the op that is about to be appended."""
        from graphc.graphs.session.variables.variable import RandomState

        self.random_state = RandomState(self.graph, self.graph.op_seed)
        return self.random_state
