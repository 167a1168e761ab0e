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

from graphc.compiler.base import at, nest, user_location
from graphc.compiler.base.errors import ConcretizationError, InvalidArgumentError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor, apply_all, dtype_rules, region_function, type_of
from graphc.compiler.ir import LATE, LATE_CONSTANT, OPS, Attrs, Graph, OpDef, TensorType, infer_types
from graphc.compiler.ops.values import on_host
from graphc.compiler.tracing import Region, Trace, current_trace, graph_by_hand

__all__ = ["COMPOSED", "sized"]

_KEPT = 32
"""Maximum number of graphs cached per composition, one for each combination of types."""


def sized(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Calls a function that adds nodes to the graph; if it fails and sizes are open, adds it as a single node.

    If it needs values, on which its result's shape depends, the host calls it in each run.

    Args:
      function: a pure function, which may be called again by the thread that runs the graph.
    """
    if graph_by_hand() is None:
        return function(*args, **kwargs)
    leaves, structure = nest.flatten((tuple(args), dict(kwargs)))
    given = [leaf for leaf in leaves if isinstance(leaf, SymbolicTensor)]
    if not given:
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
        if not any(tensor.type.is_open for tensor in given):
            raise
        trace.rollback(point)
        if any(tensor.type.dtype.kind == "O" for tensor in given):
            raise
        composition = _Composition(function, structure, leaves, trace)
        try:
            outputs = apply_all(COMPOSED, composition.inputs(), Attrs(function=composition))
        except Exception as problem:
            types = ", ".join(str(tensor.type) for tensor in given)
            reason = str(problem).partition("\n")[0]
            raise at(InvalidArgumentError(f"{composition.name}({types}): {reason}"), user_location()) from error
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
        found = self.captures.get(id(value.raw))
        if found is None:
            outer = self.parent.lift(value)
            found = self.captures[id(value.raw)] = (outer, self.input_for(outer))
        return found[1]

    def input_for(self, outer: SymbolicTensor) -> SymbolicTensor:
        """Adds an input for a tensor of the enclosing graph."""
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
        """Returns the outputs in the structure of the function's result."""
        structure, fixed = self._result
        rest = iter(outputs)
        return nest.unflatten(structure, [next(rest) if is_tensor else leaf for is_tensor, leaf in fixed])

    def graph(self, types: Sequence[TensorType]) -> Graph:
        """Returns the composition as a graph for inputs of these types."""
        key = (dtype_rules(), *types)
        with self._lock:
            found = self._graphs.get(key)
            if found is None:
                while len(self._graphs) >= _KEPT:
                    del self._graphs[next(iter(self._graphs))]
                found = self._graphs[key] = self._traced(types)
            return found

    def _traced(self, types: Sequence[TensorType]) -> Graph:
        count = len(self._given)
        known = zip(self._captured, types[count:], strict=False)
        body = _Body(self._trace, self.__qualname__, {id(outer.raw): type for outer, type in known})
        arguments = [body.argument(type, f"argument_{place}") for place, type in enumerate(types[:count])]
        with body.tracing():
            rest = iter(arguments)
            leaves = [next(rest) if isinstance(leaf, SymbolicTensor) else leaf for leaf in self._leaves]
            args, kwargs = nest.unflatten(self._structure, leaves)
            found, structure = nest.flatten(self._function(*args, **kwargs))
            outputs = [body.lift(leaf) for leaf in found if _is_tensor(leaf)]
        self._check_structure(structure, [(_is_tensor(leaf), None if _is_tensor(leaf) else leaf) for leaf in found])
        if body.states or any(node.op in (LATE, LATE_CONSTANT) or node.effects for node in body.builder.nodes):
            raise UnimplementedError(
                "it needs the sizes of its arguments while the graph is built, because it uses Variables or "
                "values; set the sizes of the placeholder"
            )
        return body.close([*arguments, *self._captures(body)], outputs)

    def _check_structure(self, structure: Any, leaves: list[tuple[bool, Any]]) -> None:
        """Records the structure of the first result; refuses others, such as that of a loop over no rows."""
        places = [is_tensor for is_tensor, _ in leaves]
        if self._result is None:
            self._result = structure, leaves
        elif structure != self._result[0] or places != [is_tensor for is_tensor, _ in self._result[1]]:
            raise ValueError(f"the result is {structure}, but {self._result[0]} for other sizes")

    def _captures(self, body: _Body) -> list[SymbolicTensor]:
        """Returns the inputs of the body for captured tensors, in the order of the node's inputs."""
        inner = {id(outer.raw): entry for outer, entry in body.captures.values()}
        known = {id(outer.raw) for outer in self._captured}
        new = [outer for outer, _ in body.captures.values() if id(outer.raw) not in known]
        self._captured += cast("list[SymbolicTensor]", new)
        places = [id(outer.raw) for outer in self._captured]
        return [
            inner[place] if place in inner else body.input_for(outer)
            for place, outer in zip(places, self._captured, strict=True)
        ]


def _is_tensor(leaf: Any) -> bool:
    return isinstance(leaf, Tensor | np.ndarray | np.generic | jax.Array)


def _composed(*values: Any, function: _Composition) -> tuple[Any, ...]:
    graph = function.graph([type_of(value) for value in values])
    return tuple(region_function(graph)(*values))


def _types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del regions
    return tuple(value.type for value in attrs["function"].graph(types).outputs)


COMPOSED = OPS.add(
    "composed",
    OpDef(
        "composed",
        impl=_composed,
        infer=_types,
        params=("*values",),
        doc="A composition of ops, traced once its sizes are known.",
    ),
)
