"""Steps of a plan: programs that read and assign Variables, whose shapes may change, and what runs on the host."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn

import jax
import numpy as np

from graphc.compiler.base import interruption, nest, slow_path_reasons
from graphc.compiler.base.errors import GraphcError, InternalError
from graphc.compiler.core import Variable, array_of, context, resources_scope, type_of, variable_lock
from graphc.compiler.devices import find_device
from graphc.compiler.ir import OPS, Attrs, Graph, Rewriter, TensorType, Value
from graphc.compiler.ir.passes import NotSpecializedError, is_open, run_passes, shape_inputs, specialize
from graphc.compiler.lowering import DISPATCH, Executable, evaluate, lower
from graphc.compiler.ops import ASSIGN_VARIABLE, COND, READ_VARIABLE, SWITCH, WHILE
from graphc.compiler.runtime import Step
from graphc.graphs.session.graphs.tensor import Operation
from graphc.graphs.session.plans.shape_changing import Stepped, on_host
from graphc.graphs.session.state import SessionState, check_type, dummy


def open_resources(graph: Graph, state: SessionState) -> tuple[str, ...]:
    """Returns the resources of the Variables of a graph whose shape may change."""
    changeable: Collection[str] = state.graph.trace.open_variables
    if not changeable:
        return ()
    touched = [
        str(node.attrs["variable"]) for node in graph.nodes if node.op is READ_VARIABLE or node.op is ASSIGN_VARIABLE
    ]
    return tuple(dict.fromkeys(resource for resource in touched if resource in changeable))


def current_types(resources: Sequence[str], state: SessionState) -> dict[str, TensorType | None]:
    """Returns the current types of Variables; None for one without a value."""
    holders = {resource: state.find(resource) for resource in resources}
    return {resource: None if holder is None else type_of(array_of(holder)) for resource, holder in holders.items()}


def with_types(graph: Graph, types: Mapping[str, TensorType | None], state: SessionState) -> Graph:
    """Returns a graph in which reads of Variables have the types of their current values.

    A read after an assignment in the graph returns the assigned value.
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


_PROGRAMS_KEPT = 32
"""Maximum number of programs that a segment keeps, one for each combination of shapes."""


class SessionStep(Step):
    """A step of a run of a Session, which no gradient follows."""

    def follow(self, values: Any, execution: Any) -> NoReturn:
        """Never called: a run cannot be differentiated."""
        raise InternalError("a run of a Session is not followed")


@dataclass(frozen=True, eq=False)
class HostStep(SessionStep):
    """A host op."""

    operation: Operation = field(kw_only=True)
    state: SessionState = field(kw_only=True)
    count: int = field(kw_only=True)  # the number of inputs that it uses; the others only order it
    kind: ClassVar[str] = "host call"
    _attrs: dict[str, Any] = field(init=False, repr=False, default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        self._attrs.update(self.operation.node.attrs)

    @property
    def blocks(self) -> bool:
        """True: the op may wait."""
        return True

    def run(self, arrays: Sequence[Any], execution: Any) -> Sequence[Any]:
        """Runs the op."""
        del execution
        node = self.operation.node
        try:
            with resources_scope(self.state.resources):
                inputs = arrays[: self.count]
                if node.regions:
                    results: Any = Stepped(node.regions[0], None, evaluate).run_node(node, list(inputs))
                else:
                    results = node.op.impl(*on_host(inputs), **self._attrs)
        except GraphcError as error:
            raise of_operation(error, self.operation) from error.__cause__
        values = () if results is None else nest.as_tuple(results)
        if len(values) != len(node.outputs):
            raise InternalError(f"{node.op.name} gave {len(values)} results for {len(node.outputs)} outputs")
        return [*[value if hasattr(value, "dtype") else np.asarray(value) for value in values], None]


def of_operation(error: GraphcError, operation: Operation) -> GraphcError:
    """Adds the failed operation, its name and its line, to an error."""
    if getattr(error, "op", None) is None:
        error.op = operation  # pyright: ignore[reportAttributeAccessIssue]
        message = str(error.args[0] if error.args else "").partition("\n  at ")[0]
        error.args = (f"{message} [operation {operation.name!r}]",)
        error.at(operation.node.location)
    return error


@dataclass(frozen=True, eq=False)
class StateSegment(SessionStep):
    """Nodes on one device as one program, compiled for the shapes of its inputs.

    Attributes:
      note_compiled: a function called for each compiled program, with the types of its inputs, and of the values of
        those that shapes depend on.
    """

    graph: Graph = field(kw_only=True)
    state: SessionState = field(kw_only=True)
    pinned: bool = field(kw_only=True)
    note_compiled: Callable[[StateSegment, Sequence[TensorType], Mapping[int, np.ndarray[Any, Any]]], None] = field(
        kw_only=True
    )
    kind: ClassVar[str] = "segment"
    _programs: dict[Any, Any] = field(init=False, repr=False, default_factory=dict[Any, Any])
    _lock: Any = field(init=False, repr=False, default_factory=threading.RLock)
    _count: int = field(init=False, repr=False, default=0)
    _shapes: tuple[int, ...] = field(init=False, repr=False, default=())
    _open: tuple[str, ...] = field(init=False, repr=False, default=())
    _only: list[Any] = field(init=False, repr=False, default_factory=list[Any])

    def __post_init__(self) -> None:
        object.__setattr__(self, "_count", len(self.graph.inputs))
        object.__setattr__(self, "_shapes", shape_inputs(self.graph) if is_open(self.graph) else ())
        object.__setattr__(self, "_open", open_resources(self.graph, self.state))

    @property
    def has_programs(self) -> bool:
        """True if it was compiled before, for other shapes."""
        return bool(self._programs)

    def run(self, arrays: Sequence[Any], execution: Any) -> Sequence[Any]:
        """Dispatches the program; the results may still be computing."""
        del execution
        return [*self.program(arrays[: self._count]), None]

    def program(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Runs the program for arrays of these shapes."""
        if self._only:
            return self._only[0](arrays)
        key = tuple([(array.shape, array.dtype) for array in arrays])
        if self._shapes:
            key += tuple([np.asarray(arrays[index]).tobytes() for index in self._shapes])
        if self._open:
            with variable_lock:  # until the values for the program are taken
                types = current_types(self._open, self.state)
                key += tuple(types.items())
                return (self._programs.get(key) or self._compiled(key, arrays, types))(arrays)
        compiled = self._programs.get(key)
        if compiled is None:
            compiled = self._compiled(key, arrays)
        return compiled(arrays)

    def _compiled(
        self, key: Any, arrays: Sequence[Any], open_types: Mapping[str, TensorType | None] | None = None
    ) -> Callable[[Sequence[Any]], Sequence[Any]]:
        with self._lock:
            compiled = self._programs.get(key)
            if compiled is None:
                types = [type_of(array) for array in arrays]
                values = {index: np.asarray(arrays[index]) for index in self._shapes}
                self.note_compiled(self, types, values)
                try:
                    compiled = SegmentProgram(self, types, values, open_types)
                except NotSpecializedError:
                    branches = any(node.op in (COND, SWITCH, WHILE) for node in self.graph.nodes)
                    if self.pinned or not branches:
                        raise
                    # Shapes change in loops or differ between branches, which XLA cannot compile as one program.
                    stepped = Stepped(self.graph, self.state, evaluate)

                    def in_steps(arrays: Sequence[Any]) -> Sequence[Any]:
                        return stepped.run(*arrays)

                    compiled = in_steps
                while len(self._programs) >= _PROGRAMS_KEPT:
                    del self._programs[next(iter(self._programs))]
                self._programs[key] = compiled
                if not self._shapes and not self._open and not is_open(self.graph):
                    self._only.append(compiled)  # its inputs have no other types
            return compiled


def reason_of(
    segment: StateSegment, types: Sequence[TensorType], values: Mapping[int, np.ndarray[Any, Any]], where: str = ""
) -> str:
    """Returns a line that says that a program is compiled, and why."""
    inputs = zip(segment.graph.inputs, types, strict=True)
    arguments = ", ".join(
        f"{value.name or value.index}: {type}" + (f" = {values[value.index].tolist()}" if value.index in values else "")
        for value, type in inputs
    )
    why = "for other shapes" if segment.has_programs else "the first run of these fetches and feeds"
    return f"{segment.name} on {where}{segment.device}({arguments}): {why}"


class SegmentProgram:
    """A segment, compiled for the types of its inputs."""

    def __init__(
        self, segment: StateSegment, types: Sequence[TensorType], values: Mapping[int, np.ndarray[Any, Any]],
        open_types: Mapping[str, TensorType | None] | None = None,
    ) -> None:  # fmt: skip
        self._state = segment.state
        self._keeps_values = open_types is not None
        graph = with_types(segment.graph, open_types, segment.state) if open_types else segment.graph
        if is_open(graph):
            graph = specialize(graph, types, evaluate, values)
        graph = run_passes(graph)
        self._executable = Executable(graph, None, (segment.device,) if segment.pinned else ())
        self._is_pure = self._executable.is_pure
        self._pin = find_device(segment.device, quiet=True) if segment.pinned else None
        self._undonated: Any = None
        self._variables: list[Variable] | None = None
        self._resets = 0

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Runs the program on the Variables of the Session."""
        if self._is_pure and not slow_path_reasons:
            context.launched()
            return self._executable.jitted(*arrays)
        variables, resets = self._variables, self._state.resources.resets
        if variables is None or resets != self._resets:
            holders = [self._state.find(resource) for resource in self._executable.variables]
            self._check_types(holders)
            if self._keeps_values:
                return self._with_other_shapes(holders, arrays)
            if any(variable is None for variable in holders):
                return self._first(holders, arrays)
            variables = self._variables = [variable for variable in holders if variable is not None]
            self._resets = resets
        current = interruption()
        waits = current is not None and current.deadline is not None
        return self._executable.launch(arrays, variables, None if waits else DISPATCH)

    def _first(self, holders: Sequence[Variable | None], arrays: Sequence[Any]) -> Sequence[Any]:
        """Runs it while Variables have no values yet, which must not be read."""
        executable = self._executable
        missing = [name for name, holder in zip(executable.variables, holders, strict=True) if holder is None]
        self._check_unread(set(missing))
        assigned = {node.attrs["variable"]: node for node in executable.graph.nodes if node.op is ASSIGN_VARIABLE}
        with variable_lock:  # nothing reads the dummies before the program has assigned them
            for name in missing:
                self._state.put(name, jax.device_put(dummy(assigned[name]), self._pin))
            variables = [holder for name in executable.variables if (holder := self._state.find(name)) is not None]
            try:
                return executable.launch(arrays, variables, DISPATCH)
            except BaseException:
                self._state.forget(missing)
                raise

    def _with_other_shapes(self, holders: Sequence[Variable | None], arrays: Sequence[Any]) -> Sequence[Any]:
        """Runs it if Variables may get values of other shapes, which replace theirs."""
        executable = self._executable
        self._check_unread({name for name, holder in zip(executable.variables, holders, strict=True) if holder is None})
        assigned = {node.attrs["variable"]: node for node in executable.graph.nodes if node.op is ASSIGN_VARIABLE}
        values = [
            dummy(assigned[name]) if holder is None else array_of(holder)
            for name, holder in zip(executable.variables, holders, strict=True)
        ]
        if self._undonated is None:
            sharding = None if self._pin is None else jax.sharding.SingleDeviceSharding(self._pin)
            self._undonated = jax.jit(lower(executable.graph).function, in_shardings=sharding, out_shardings=sharding)
        results = list(self._undonated(*values, *arrays))
        count = len(results) - executable.num_written
        for name, array in zip(executable.variables, results[count:], strict=False):
            self._state.put(name, array)
        return results[:count]

    def _check_types(self, holders: Sequence[Variable | None]) -> None:
        """Raises an error if another graph made a Variable with a type that this one does not declare."""
        by_name = dict(zip(self._executable.variables, holders, strict=True))
        open_variables = self._state.graph.trace.open_variables
        for node in self._executable.graph.nodes:
            name = str(node.attrs.get("variable"))
            variable = by_name.get(name)
            if variable is None or name in open_variables or node.op not in (READ_VARIABLE, ASSIGN_VARIABLE):
                continue
            try:
                check_type(name, variable, (node.outputs or node.inputs)[0].type)
            except GraphcError as error:
                raise error.at(node.location) from None

    def _check_unread(self, missing: set[str]) -> None:
        written: set[str] = set()
        for node in self._executable.graph.nodes:
            name = str(node.attrs.get("variable"))
            if node.op is READ_VARIABLE and name in missing and name not in written:
                raise self._state.uninitialized(name, node)
            if node.op is ASSIGN_VARIABLE:
                written.add(name)
