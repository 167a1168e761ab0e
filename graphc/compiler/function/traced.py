"""One trace of a function: its graph, its program, and the construction of its results."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import jax
from jax.sharding import SingleDeviceSharding

from graphc.compiler.base import Location, nest, slow_path_reasons, user_location
from graphc.compiler.base.errors import FailedPreconditionError, InvalidTypeError
from graphc.compiler.core import (
    NO_ATTRS,
    Tensor,
    Variable,
    apply_all,
    brought,
    context,
    device_scope,
    dtype_rules,
    is_examining,
    is_spread,
    only_tape,
    type_text,
    variable_lock,
)
from graphc.compiler.devices import NO_PINS, device_name, devices, find_device, placed, to_device
from graphc.compiler.function.arguments import Arguments
from graphc.compiler.function.guards import MISS, matcher
from graphc.compiler.function.results import (
    OperandReference,
    OwnTensor,
    Result,
    WriteBack,
    array_leaves,
    check_changed,
    is_late,
    is_written,
    packer,
)
from graphc.compiler.ir import Attrs, Graph
from graphc.compiler.lowering import Executable, run_timeout
from graphc.compiler.ops import ASSIGN_VARIABLE, CALL, READ_VARIABLE
from graphc.compiler.runtime import PlacedProgram, Plan, compile_graph, observer
from graphc.compiler.tracing import AfterCall, LoopReport, SideEffect, Source, Trace


@dataclass(frozen=True)
class TraceNotes:
    """Information from tracing other than the program."""

    unoptimized: Graph
    loops: list[LoopReport]
    side_effects: list[SideEffect]
    unconverted: dict[str, str]  # the functions whose control flow was not converted, with the reason
    seconds: float


class TracedFunction:
    """A function, traced for arguments of certain types and values.

    Attributes:
      variables: the variables that it reads or writes, by name; those that came with the arguments of the traced call
        are not kept alive.
      after_call: the work after each run, with the graph outputs that it receives.
      can_fail: whether the first of them checks for failure of the call.
      write_back: the one of them that assigns items of arguments, or None.
      observed: the tensors from outside whose values Python code observed.
      num_results: the number of outputs, from the first, that belong to the function's result.
      inputs: the sources of the tensors among the arguments; ``types`` are their types, as JAX has them.
      entries: the entries of its calls, by the kinds of arguments; ``bounded`` those under a deadline or a token.
      tell_changed: told which read Python code that the program called has changed, and where it is called; or None.
      was_spread: whether a call had arrays on several devices, which requires the slow path.
      wanted: the sources of the program's further operands, found again at each call.
      variable_places: for each variable its index in ``wanted``; the variable itself if it is always the same.
      own: for results that are tensors of the caller, their place: among the arguments, or as for variables.
      captured_places: for each tensor used from outside, its place, as for variables.
      distinct: variables that must be distinct: their sources, and the variables that are always the same.
    """

    def __init__(
        self, graph: Graph, trace: Trace, after_call: Sequence[tuple[AfterCall, int]], result: Result,
        arguments: Arguments, notes: TraceNotes, device: str,
    ) -> None:  # fmt: skip
        self.graph = graph
        self._names = list(arguments.values)
        self._changed = trace.memory.changed
        self.variables = weakref.WeakValueDictionary(trace.variables)
        self.notes = notes
        self.after_call = _slices(after_call, len(graph.outputs))
        self._check = trace.check
        self.can_fail = self._check is not None
        reads = trace.reads
        self.guards = list(reads.guards.values())
        self.inputs, self.types, self.settings = list(reads.inputs), arguments.types, settings()
        self.wanted: list[Source] = []
        self.entries: dict[Any, Callable[..., Any]] = {}
        self.bounded: dict[Any, Callable[..., Any]] = {}
        self.tell_changed: Callable[[str, Location | None], None] | None = None
        self.was_spread = False
        self.num_results = self.after_call[0][1].start if self.after_call else len(graph.outputs)
        self.executable = compile_graph(graph, self.look if self.can_fail else None, trace.variables, device)
        self.observed = [tensor for tensor, _ in trace.observed.values()]
        self.write_back = next((after for after, _ in self.after_call if isinstance(after, WriteBack)), None)
        self.structure = result.structure
        self._reread = _read_after_assignment(graph)
        self.device = self.devices[0] if len(self.devices) == 1 else ""
        # Objects that come with the arguments are found again at each call, and so are tensors and containers from
        # anywhere, of which only the contents are guarded.
        values: list[Any] = []

        def place(value: Any) -> Any:
            source = reads.source(value)
            if source is None or not (source.of_call or isinstance(value, Tensor) or nest.is_mutable(value)):
                return value
            if source not in self.wanted:
                self.wanted.append(source)
                values.append(value)
            return OperandReference(self.wanted.index(source))

        used = [trace.variables[name] for name in self.executable.variables]
        self.variable_places = [place(variable) for variable in used]
        self.captured_places = [place(outer) for outer, _ in trace.captures.values()]
        self.leaves = [place(leaf) for leaf in result.leaves]
        self.own = {spot: leaf if isinstance(leaf, int) else place(leaf) for spot, leaf in result.own.items()}
        spots = [spot for spot in self.variable_places if isinstance(spot, OperandReference)]
        others = [spot for spot in self.variable_places if not isinstance(spot, OperandReference)]
        self.distinct = [self.wanted[spot.index] for spot in spots], others
        self._returns_passed = any(isinstance(leaf, OperandReference) for leaf in self.leaves)
        self.pack = packer(self.structure, self.leaves)
        arguments.found = tuple(values)

    def __reduce__(self) -> Any:
        raise InvalidTypeError(
            f"a trace of {self.graph.name} belongs to this process; pickle the function, or the trace's graph"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> TracedFunction:
        return self

    def from_outside(self) -> list[tuple[Source, Any]]:
        """Returns the program's operands from outside the call, as they are now, each with its source."""
        sources = [source for source in self.wanted if not source.of_call]
        return list(zip(sources, matcher([], (), sources, ((), ()))(), strict=True)) if sources else []

    @property
    def unused_inputs(self) -> set[Source]:
        """The sources of the tensors among the arguments that the program does not use; empty for several programs."""
        if not self.is_simple:
            return set()
        used = {value for node in self.graph.walk() for value in node.inputs} | set(self.graph.outputs)
        return {source for source, value in zip(self.inputs, self.graph.inputs, strict=False) if value not in used}

    @property
    def loops(self) -> list[LoopReport]:
        """The reports of the user's loops."""
        return self.notes.loops

    @property
    def seconds(self) -> float:
        """The tracing time in seconds."""
        return self.notes.seconds

    @property
    def ends_in_python(self) -> bool:
        """True if tracing ended in an exception, so that there is nothing to run."""
        return self._check is not None and self._check.is_final

    @property
    def plan(self) -> Plan | None:
        """The steps of a function on several devices, or split from the host; None for a single program."""
        return self.executable.plan if isinstance(self.executable, PlacedProgram) else None

    @property
    def devices(self) -> Sequence[str]:
        """The devices that the function is pinned to; none if it runs where its arguments are."""
        return self.executable.devices

    @property
    def raises(self) -> Mapping[int, tuple[str, Location | None]]:
        """The exceptions that depend on tensors, with their lines, by the status of the failed call."""
        return {} if self._check is None else self._check.raises

    @property
    def host_calls(self) -> Sequence[tuple[str, Location | None]]:
        """The calls that the program makes on the host, such as ``print``, with their lines."""
        return () if self._check is None else self._check.host_calls

    @cached_property
    def _calls_python(self) -> bool:
        """True if functions of the user's run during the program, which may change tensors meanwhile."""
        return any(kind.startswith("pyfunc") for kind, _ in self.host_calls)

    @property
    def grows(self) -> bool:
        """True if the result holds lists whose length is known only after a run, or strings made of tensors."""
        return is_late(self.structure)

    def result_leaves(self, arguments: Arguments) -> list[Any]:
        """Returns the leaves of the result; those that are not tensors are Python values and Variables of this call."""
        operands = self._found(arguments)
        return [operands[leaf.index] if isinstance(leaf, OperandReference) else leaf for leaf in self.leaves]

    @property
    def is_simple(self) -> bool:
        """True if a call only runs one program on one device, wraps its results, and assigns items of arguments."""
        # A program that can fail may do so too, if its status alone says that it has.
        packed = not (self.own or self._returns_passed) or is_written(self.structure)
        others = len(self.after_call) > (self.write_back is not None) + self.can_fail
        special = others or not packed or self.plan is not None or bool(self.executable.place) or self._calls_python
        program = self.executable
        checks = not self.can_fail or (isinstance(program, Executable) and program.status is not None)
        return checks and not special and (self.executable.timeout is None or self.executable.is_short)

    @property
    def waits_shortly(self) -> bool:
        """True if an entry may wait for its results, since the program is certainly short."""
        return self.is_simple and self.executable.is_short

    @cached_property
    def match(self) -> Callable[..., Any]:
        """The function from argument values to the values of :attr:`wanted`, or MISS if a guard fails."""
        return matcher(self.guards, self._names, self.wanted, self.distinct)

    def fits(self, arguments: Arguments) -> bool:
        """Returns True if the trace fits a call; stores its operands in the arguments."""
        if self.types != arguments.types or self.settings != settings():
            return False
        operands = self.match(*arguments.values.values())
        if operands is MISS:
            return False
        arguments.found = operands
        return True

    def forget_changed(self, arguments: Arguments) -> None:
        """Drops the guards of objects that the function itself changed while it was traced, which is reported."""
        values = arguments.values.values()
        if self.match(*values) is MISS:
            self.guards = [
                guard
                for guard in self.guards
                if guard.source.of_call or matcher([guard], self._names, [], ((), ()))(*values) is not MISS
            ]
            del self.match

    def value_of(self, source: Source, arguments: Arguments) -> Any:
        """Returns the current value of something that the trace read; :data:`MISS` if it is gone."""
        matched = matcher([], self._names, [source], ((), ()))(*arguments.values.values())
        return MISS if matched is MISS else matched[0]

    @cached_property
    def _find(self) -> Callable[..., Any]:
        return matcher([], self._names, self.wanted, ((), ()))

    def _found(self, arguments: Arguments) -> tuple[Any, ...]:
        if arguments.found is None:
            arguments.found = self._find(*arguments.values.values())
        assert arguments.found is not None
        return arguments.found

    def described(self) -> list[tuple[str, str]]:
        """Returns the trace's dependencies, each as text with its value, for retrace reasons."""
        avals = zip(self.inputs, self.types, strict=True)
        types = [(source.text, type_text(aval)) for source, aval in avals]
        return [*types, *((guard.source.text, guard.was) for guard in self.guards if guard.was)]

    def captured(self, arguments: Arguments) -> list[Tensor]:
        """Returns the tensors that the function uses from outside."""
        operands = self._found(arguments)
        return [operands[spot.index] if isinstance(spot, OperandReference) else spot for spot in self.captured_places]

    def captures(self, arguments: Arguments) -> list[Any]:
        """Returns the current arrays of the captured tensors."""
        return [tensor.raw for tensor in self.captured(arguments)]

    def tensors(self, arguments: Arguments) -> list[Any]:
        """Returns the tensors of a call: its arguments and the captured ones."""
        return [*_tensors_of(arguments), *self.captured(arguments)]

    def __call__(self, arguments: Arguments) -> Any:
        """Runs the program on the tensors and variables of a call."""
        self.check(arguments)
        arrays = [*arguments.arrays, *self.captures(arguments)]
        variables = self.bound_variables(arguments)
        before = self._snapshots(arguments)
        if self.device:
            device = find_device(self.device)
            arrays = [to_device(array, device) for array in arrays]
        timeline = observer()
        start = 0.0 if timeline is None else time.perf_counter()
        try:
            results = self.executable.launch(arrays, variables)
        except ValueError as error:
            if "incompatible devices" not in str(error):  # JAX has no exception class for this
                raise
            target = _place_of(variables)
            arrays = [placed(array, target) if isinstance(array, jax.Array) else array for array in arrays]
            with brought(variables, target):
                results = self.executable.launch(arrays, variables)
        if timeline is not None and self.plan is None:
            written = [variable.raw for variable in variables[: self.executable.num_written]]
            where = self._place(arrays, variables)
            line = "" if (location := user_location()) is None else location.short
            timeline.launched(self.graph.name, "program", where, start, [*results, *written], line=line)
        self._check_unchanged(before, arguments)
        for after, target in self.after_call[self.can_fail :]:
            after.run(results[target], arguments)
        return self.packer(arguments, own=True)(map(Tensor, results[: self.num_results]))

    def _snapshots(self, arguments: Arguments) -> list[tuple[Tensor, Any]]:
        """Returns the tensors of a call with their arrays, if Python code may change them while the program runs."""
        return [(tensor, tensor.raw) for tensor in self.tensors(arguments)] if self._calls_python else []

    def _check_unchanged(self, before: Sequence[tuple[Tensor, Any]], arguments: Arguments) -> None:
        """Refuses that Python code which the program called has changed a tensor that the program took before."""
        # Of other changes, to what the trace read, it tells: the program may have used it only before.
        for tensor, array in before:
            if tensor.raw is not array:
                raise FailedPreconditionError(
                    f"a tensor {tensor.type} was changed by Python code while the compiled function "
                    f"{self.graph.name!r} ran on its previous value; return the new value from gx.pyfunc, or assign "
                    "it inside the compiled function"
                ).here()
        values = arguments.values.values()
        if self._calls_python and self.tell_changed is not None and self.match(*values) is MISS:
            changed = [one for one in self.guards if matcher([one], self._names, [], ((), ()))(*values) is MISS]
            if changed:
                where = next(location for kind, location in self.host_calls if kind.startswith("pyfunc"))
                self.tell_changed(changed[0].source.text, where or user_location())

    def _place(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> str:
        """Returns the device or devices that a call runs on."""
        operands = [
            array for array in [*arrays, *(variable.raw for variable in variables)] if isinstance(array, jax.Array)
        ]
        names = {device_name(device) for array in operands for device in array.devices()}
        return self.device or self.executable.place or ", ".join(sorted(names)) or device_name(devices()[0])

    def look(self, outputs: Sequence[Any]) -> None:
        """Raises if the program's outputs report that the call has failed."""
        look, span = self.after_call[0]
        look.run(outputs[span], None)

    def check(self, arguments: Arguments) -> None:
        """Refuses a call whose arguments would not change as in the Python function."""
        if self.write_back is not None:
            self.write_back.check(arguments, [*self.captured(arguments), *self.observed])
        if self._changed:
            check_changed(self.graph.name, self._changed, arguments)

    def packer(self, arguments: Arguments, *, own: bool = False) -> Callable[[Iterator[Any]], Any]:
        """Returns the function that turns the program's outputs into the result of the user's function."""
        # With ``own``, a tensor that the function returns unchanged, from its arguments or from outside, is returned as
        # that very object, so that item assignments are visible through both.
        own = own and bool(self.own)
        if not (own or self._returns_passed):
            return self.pack
        leaves = self.result_leaves(arguments)
        if own:
            tensors = [leaf for _, leaf in array_leaves(arguments)]
            for position, source in self.own.items():
                tensor = tensors[source] if isinstance(source, int) else source
                if isinstance(source, OperandReference):
                    tensor = self._found(arguments)[source.index]
                if isinstance(tensor, Tensor):
                    leaves[position] = OwnTensor(tensor)
        return packer(self.structure, leaves)

    def note_spread(self, arguments: Arguments) -> bool:
        """Returns True if this call, or an earlier one, had arrays on several devices."""
        if not self.was_spread:
            variables = [variable.raw for variable in self.bound_variables(arguments)]
            self.was_spread = any(map(is_spread, (*arguments.arrays, *self.captures(arguments), *variables)))
        return self.was_spread

    def bound_variables(self, arguments: Arguments) -> list[Variable]:
        """Returns the variables to use: those of this call's arguments in place of the traced call's."""
        operands = self._found(arguments)
        return [operands[spot.index] if isinstance(spot, OperandReference) else spot for spot in self.variable_places]

    @cached_property
    def _is_bare(self) -> bool:
        """True if a call does nothing but run one program, where its arguments are, and wrap its results."""
        program = self.executable
        placed = self.device or self.plan is not None or program.place or len(self.devices) > 1
        return not (placed or self.after_call or program.timeout or program.num_written or self._reread)

    def call_recorded(self, arguments: Arguments) -> Any:
        """Runs the graph as one op, so that open tapes can differentiate it; variables are not donated."""
        self.check(arguments)
        variables = self.bound_variables(arguments)
        tensors, before = self.tensors(arguments), self._snapshots(arguments)
        if self._is_bare and not slow_path_reasons and (tape := only_tape()) is not None:
            with variable_lock:
                outputs = tape.call(self.graph, variables, tensors)
            if outputs is not None:
                return self.packer(arguments, own=True)(iter(outputs))
        # As for loops: a variable read after its assignment is not the variable that a tape watches.
        placed = self.executable
        graph = placed.pinned if isinstance(placed, PlacedProgram) and len(self.devices) > 1 else self.graph
        names = zip(self.executable.variables, variables, strict=True)
        assigned = tuple([variable.name for name, variable in names if name in self._reread])
        attrs = Attrs(assigned=assigned) if assigned else NO_ATTRS
        results: list[Tensor] = []

        def program(_: Sequence[Any]) -> Sequence[Any]:
            values = [variable.value() for variable in variables]
            results[:] = apply_all(CALL, (*values, *tensors), attrs, (graph,))
            return [result.raw for result in results]

        with device_scope(self.device or context.device), run_timeout(self.executable.timeout):
            self.executable.transaction.run(program, variables)
        self._check_unchanged(before, arguments)
        for after, span in self.after_call[self.can_fail :]:
            outputs = results[span]
            after.run(outputs if after is self.write_back else [tensor.raw for tensor in outputs], arguments)
        return self.packer(arguments, own=True)(iter(results[: self.num_results]))

    def lower(self, arguments: Arguments) -> Any:
        """Returns JAX's lowered program (``jax.stages.Lowered``)."""
        return self.executable.lower([*arguments.arrays, *self.captures(arguments)], self.bound_variables(arguments))


def _place_of(variables: Sequence[Variable]) -> Any:
    """Returns the devices of a function whose arrays JAX does not move together: those with most Variable copies."""
    sharding: Any = SingleDeviceSharding(cast("Any", devices()[0]))
    return max(
        [variable.raw.sharding for variable in variables] or [sharding], key=lambda sharding: sharding.num_devices
    )


def _slices(after_call: Sequence[tuple[AfterCall, int]], num_outputs: int) -> list[tuple[AfterCall, slice]]:
    """Returns the slice of a graph's outputs that each item of work receives; together they cover the last outputs."""
    start = num_outputs - sum(count for _, count in after_call)
    pairs: list[tuple[AfterCall, slice]] = []
    for after, count in after_call:
        pairs.append((after, slice(start, start + count)))
        start += count
    return pairs


def _tensors_of(arguments: Arguments) -> list[Tensor]:
    """Returns the call's own tensors, which tapes know; arrays and numbers become tensors."""
    leaves = list(arguments.values.values())
    if not all(isinstance(leaf, Tensor) for leaf in leaves) or len(leaves) != len(arguments.arrays):
        leaves = [leaf for _, leaf in array_leaves(arguments)]
    return [
        leaf if isinstance(leaf, Tensor) else Tensor(jax.numpy.asarray(array))
        for leaf, array in zip(leaves, arguments.arrays, strict=True)
    ]


def settings() -> tuple[Any, ...]:
    """Returns the settings that a trace depends on: the dtype rules, the device scopes, and the examining of ops."""
    return dtype_rules(), is_examining(), context.device or NO_PINS


def _read_after_assignment(graph: Graph) -> frozenset[str]:
    """Returns the variables that the graph reads after assigning them, including in loops and branches."""
    assigned: set[str] = set()
    names: set[str] = set()
    for node in graph.walk():
        names.update(node.attrs.get("assigned", ()))
        if node.op is ASSIGN_VARIABLE:
            assigned.add(node.attrs["variable"])
        elif node.op is READ_VARIABLE and node.attrs["variable"] in assigned:
            names.add(node.attrs["variable"])
    return frozenset(names)
