"""Deferred compositions: functions of sizes, applied to tensors whose sizes are known only at run time.

A composed function may compute with ``x.shape`` in Python, for example to pad, gather or loop over rows. In a
hand-built graph it cannot if a size is open. The whole composition is then one node: its types are inferred by tracing
it for trial sizes, like those of any op, and a run traces it for the actual sizes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import jax
import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.base.errors import ConcretizationError, InvalidArgumentError, UnimplementedError
from graphc.compiler.core import (
    FUNCTIONS,
    SymbolicTensor,
    Tensor,
    apply,
    apply_all,
    dtype_rules,
    region_function,
    type_of,
)
from graphc.compiler.ir import LATE, LATE_CONSTANT, OPS, Attrs, Graph, TensorType, Value, define_op, infer_types
from graphc.compiler.ops.values import on_host
from graphc.compiler.tracing import LateRow, Region, Trace, current_trace, graph_by_hand, trace_of

_KEPT = 32
"""Maximum number of graphs cached per composition, one for each combination of types."""


def sized(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Calls a function that adds nodes to the graph; if it fails and sizes are open, adds it as a single node."""
    # If it needs values, on which its result's shape depends, the host calls it in each run.
    # function: a pure function, which may be called again by the thread that runs the graph.
    if graph_by_hand() is None:
        return function(*args, **kwargs)
    leaves, structure = nest.flatten((tuple(args), dict(kwargs)))
    tensors = [leaf for leaf in leaves if isinstance(leaf, SymbolicTensor)]
    if not tensors:
        return function(*args, **kwargs)
    trace = current_trace()
    point = trace.checkpoint()
    try:
        return function(*args, **kwargs)
    except ConcretizationError:
        trace.rollback(point)
        if trace.parent is not None:
            raise
        return on_host(function, args, kwargs)
    except Exception as error:
        if not any(tensor.type.is_open for tensor in tensors):
            raise
        trace.rollback(point)
        if any(tensor.type.dtype.kind == "O" for tensor in tensors):
            raise
        composition = _Composition(function, structure, leaves, trace)
        try:
            outputs = apply_all(COMPOSED, composition.inputs(), Attrs(function=composition))
        except Exception as problem:
            types = ", ".join(str(tensor.type) for tensor in tensors)
            reason = str(problem).partition("\n")[0]
            raise InvalidArgumentError(f"{composition.name}({types}): {reason}").here() from error
        return composition.result(outputs)


class _Body(Region):
    """The trace of a composition for some types."""

    def __init__(self, parent: Trace, name: str, types: Mapping[int, TensorType]) -> None:
        super().__init__(parent, name)
        self.types = types

    def capture(self, value: Tensor | jax.Array) -> SymbolicTensor:
        """Returns the input for a tensor of the enclosing graph, with its type in this run; others become constants."""
        if not isinstance(value, SymbolicTensor):
            return self._constant(np.asarray(value.raw if isinstance(value, Tensor) else value), weak=False)
        entry = self.captures.get(id(value.raw))
        if entry is None:
            outer = self.parent.lift(value)
            entry = self.captures[id(value.raw)] = (outer, self.input_for(outer))
        return entry[1]

    def input_for(self, outer: SymbolicTensor) -> SymbolicTensor:
        return self.argument(self.types.get(id(outer.raw), outer.type), "captured")


class _Composition:
    """A function of tensors for one structure of its arguments, used as an attribute of the node."""

    def __init__(self, function: Callable[..., Any], structure: Any, leaves: Sequence[Any], trace: Trace) -> None:
        self.__qualname__ = str(getattr(function, "__qualname__", "function"))
        self.name = self.__qualname__.rpartition(".")[2]
        self._function = function
        self._structure = structure
        self._leaves = leaves
        self._trace = trace
        self._given = [leaf for leaf in leaves if isinstance(leaf, SymbolicTensor)]
        self._captured: list[SymbolicTensor] = []
        self._graphs: dict[Any, Graph] = {}
        self._result: Any = None
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"<{self.__qualname__}>"

    def inputs(self) -> list[SymbolicTensor]:
        """Returns the tensors of the arguments, and the captured tensors that a trace of the function finds."""
        # Captured tensors show when the function is traced for sizes that fit.
        infer_types(COMPOSED, [tensor.type for tensor in self._given], Attrs(function=self), ())
        return [*self._given, *self._captured]

    def result(self, outputs: Sequence[Any]) -> Any:
        structure, fixed = self._result
        rest = iter(outputs)
        return nest.unflatten(structure, [next(rest) if is_tensor else leaf for is_tensor, leaf in fixed])

    def graph(self, types: Sequence[TensorType]) -> Graph:
        """Returns the composition as a graph for inputs of these types."""
        key = (dtype_rules(), *types)
        with self._lock:
            traced = self._graphs.get(key)
            if traced is None:
                while len(self._graphs) >= _KEPT:
                    del self._graphs[next(iter(self._graphs))]
                traced = self._graphs[key] = self._traced(types)
            return traced

    def _traced(self, types: Sequence[TensorType]) -> Graph:
        count = len(self._given)
        captured = zip(self._captured, types[count:], strict=False)
        body = _Body(self._trace, self.__qualname__, {id(outer.raw): type for outer, type in captured})
        arguments = [body.argument(type, f"argument_{index}") for index, type in enumerate(types[:count])]
        with body.tracing():
            rest = iter(arguments)
            leaves = [next(rest) if isinstance(leaf, SymbolicTensor) else leaf for leaf in self._leaves]
            args, kwargs = nest.unflatten(self._structure, leaves)
            results, structure = nest.flatten(self._function(*args, **kwargs))
            outputs = [body.lift(leaf) for leaf in results if _is_tensor(leaf)]
        self._check_structure(structure, [(_is_tensor(leaf), None if _is_tensor(leaf) else leaf) for leaf in results])
        if body.states or any(node.op in (LATE, LATE_CONSTANT) or node.effects for node in body.builder.nodes):
            raise UnimplementedError(
                "it needs the sizes of its arguments while the graph is built, because it uses Variables or "
                "values; set the sizes of the placeholder"
            )
        return body.close([*arguments, *self._captures(body)], outputs)

    def _check_structure(self, structure: Any, leaves: list[tuple[bool, Any]]) -> None:
        """Records the structure of the first result; refuses others, such as that of a loop over no rows."""
        mask = [is_tensor for is_tensor, _ in leaves]
        if self._result is None:
            self._result = structure, leaves
        elif structure != self._result[0] or mask != [is_tensor for is_tensor, _ in self._result[1]]:
            raise ValueError(f"the result is {structure}, but {self._result[0]} for other sizes")

    def _captures(self, body: _Body) -> list[SymbolicTensor]:
        """Returns the inputs of the body for captured tensors, in the order of the node's inputs."""
        inner = {id(outer.raw): entry for outer, entry in body.captures.values()}
        captured = {id(outer.raw) for outer in self._captured}
        new = [outer for outer, _ in body.captures.values() if id(outer.raw) not in captured]
        self._captured += cast("list[SymbolicTensor]", new)
        keys = [id(outer.raw) for outer in self._captured]
        return [
            inner[key] if key in inner else body.input_for(outer)
            for key, outer in zip(keys, self._captured, strict=True)
        ]


def _is_tensor(leaf: Any) -> bool:
    return isinstance(leaf, Tensor | np.ndarray | np.generic | jax.Array)


def _composed(*values: Any, function: _Composition) -> tuple[Any, ...]:
    graph = function.graph([type_of(value) for value in values])
    return tuple(region_function(graph)(*values))


def _types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del regions
    return tuple(value.type for value in attrs["function"].graph(types).outputs)


COMPOSED = define_op(
    "composed",
    impl=_composed,
    infer=_types,
    params=("*values",),
    doc="A composition of ops, traced once its sizes are known.",
)


# Rows that were taken from one array, joined again.


def rows_of(values: Sequence[Any]) -> tuple[Value, range] | None:
    """Returns the array of which some values are evenly spaced rows, and which rows they are; None for other values."""
    # A list that a loop has filled is one array, of which each item is a row. So are its reverse and its slices.
    if len(values) < 2:
        return None
    first, second = _row(values[0]), _row(values[1])
    if first is None or second is None or first[0] is not second[0] or first[1] == second[1]:
        return None
    (source, start), step = first, second[1] - first[1]
    rows = range(start, start + step * len(values), step)
    aligned = all(_row(value) == (source, row) for value, row in zip(values, rows, strict=True))
    aligned = aligned and all(value.trace is values[0].trace for value in values)
    root = values[0].trace.root
    if not aligned or source in root.watched_rows:
        return None
    root.joined_rows.append(source)
    return source, rows


def note_watched(tensor: Tensor) -> None:
    """Notes that a tape watches a tensor: if it is a row, what is joined of such rows from now on is no array."""
    row = _row(tensor)
    if row is not None:
        trace_of(cast("SymbolicTensor", tensor)).root.watched_rows.add(row[0])


def was_joined(tensor: Tensor, start: int) -> bool:
    """Returns True if rows of the array of which a tensor is a row were joined, since ``start`` arrays were."""
    row = _row(tensor)
    return row is not None and row[0] in trace_of(cast("SymbolicTensor", tensor)).root.joined_rows[start:]


def _row(tensor: Any) -> tuple[Value, int] | None:
    """Returns the array and the place, if a tensor is a row of an array of a trace at a place that is known."""
    if type(tensor) is LateRow and tensor.source is not None:
        return tensor.source, tensor.place
    is_own = type(tensor) is SymbolicTensor and not tensor.trace.is_graph  # whose nodes people see by name
    node = tensor.raw.node if is_own else None
    if node is None or node.op.name != "get_item" or len(node.inputs) != 1 or node.control_inputs or node.device:
        return None
    (source,), index = node.inputs, node.attrs["index"]
    if source.type.is_open or len(index) != 1 or type(index[0]) is not int or index[0] < 0:
        return None
    return source, index[0]


def _stacked(arrays: Any) -> Tensor | None:
    """Returns the stack of rows of one array along a new first axis: a slice of it."""
    # A tape that saw 400 rows and their stack would trace 400 gradients, each as large as the array, and their sums,
    # and XLA takes seconds for a stack of thousands.
    origin = rows_of(arrays) if type(arrays) in (list, tuple) else None
    if origin is None or origin[0].type.weak:
        return None
    source, indices = origin
    rows = cast("Sequence[Any]", arrays)
    whole = SymbolicTensor(source, rows[0].trace)
    if indices == range(source.type.shape[0]):
        return apply(OPS["identity"], (whole,))  # another tensor, for tapes
    stop = indices.stop if indices.step > 0 or indices.stop >= 0 else None
    step = None if indices.step == 1 else indices.step
    attrs = Attrs(index=((indices.start, stop, step),))
    return apply(OPS["get_item"], (whole,), attrs)


def stack_of_rows(arrays: Any, axis: Any) -> Tensor | None:
    """Returns the stack of rows of one array along a new axis; None for anything else."""
    rank = len(arrays[0].shape) + 1 if _are_tensors(arrays) else 0
    if type(axis) is not int or not -rank <= axis < rank:
        return None
    part = _stacked(arrays)
    return part if part is None or axis % rank == 0 else FUNCTIONS["moveaxis"](part, 0, axis)


def concat_of_rows(arrays: Any, axis: Any) -> Tensor | None:
    """Returns rows of one array, joined along an axis that they have; None for anything else."""
    shape = arrays[0].shape if _are_tensors(arrays) else ()
    if not shape or not (axis is None or (type(axis) is int and -len(shape) <= axis < len(shape))):
        return None
    part = _stacked(arrays)
    if part is None or axis is None:
        return None if part is None else FUNCTIONS["reshape"](part, (-1,))
    axis %= len(shape)
    part = FUNCTIONS["moveaxis"](part, 0, axis) if axis else part
    return FUNCTIONS["reshape"](part, (*shape[:axis], len(arrays) * shape[axis], *shape[axis + 1 :]))


def _are_tensors(arrays: Any) -> bool:
    return type(arrays) in (list, tuple) and len(arrays) > 1 and isinstance(arrays[0], SymbolicTensor)


def _by_rank(stacks: tuple[int, int] | None, axis: int) -> Callable[[Any], Tensor | None]:
    """Returns what joins rows along a new axis if they have few axes, and along one of theirs if they have more."""
    # stacks: the least number of axes with which they are joined along a new one, and the first with which they are
    # not; None where none is new.

    def joined(arrays: Any) -> Tensor | None:
        rank = len(arrays[0].shape) if _are_tensors(arrays) else 0
        if stacks is not None and rank < stacks[1]:
            return stack_of_rows(arrays, axis) if rank >= stacks[0] else None
        return concat_of_rows(arrays, min(axis, rank - 1)) if rank else None

    return joined


vstack_of_rows = _by_rank((1, 2), 0)
hstack_of_rows = _by_rank(None, 1)
columns_of_rows = _by_rank((1, 2), 1)
depth_of_rows = _by_rank((2, 3), 2)
