"""One trace of a function: its graph, its program, and how results are put together."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import jax
from jax.sharding import SingleDeviceSharding

from graphc.base import Location, collections_so_far, detours, user_location
from graphc.base.errors import GraphcError, InvalidTypeError
from graphc.core import (
    NO_ATTRS,
    NO_PINS,
    AfterCall,
    CreationInTrace,
    Lifting,
    LoopReport,
    SideEffect,
    Source,
    Tensor,
    Trace,
    Variable,
    Write,
    apply_all,
    brought,
    context,
    device_name,
    device_scope,
    devices,
    dtype_rules,
    find_device,
    is_examining,
    placed,
    to_device,
    trace_scope,
    type_of,
)
from graphc.function import front_end
from graphc.function.arguments import Arguments, Binder
from graphc.function.escapes import (
    ArgumentWatch,
    check_repeatable,
    check_stores,
    is_repeatable,
    take_back_tensors,
)
from graphc.function.guards import MISS, matcher
from graphc.function.options import TraceOptions
from graphc.function.results import OwnTensor, Place, Result, packer, written_packer
from graphc.function.side_effects import changes, find_side_effects
from graphc.function.write_back import WriteBack, array_leaves
from graphc.ir import Attrs, Graph, TensorType
from graphc.ir.passes import DEFAULT, run_passes
from graphc.lowering import run_timeout
from graphc.ops import ASSIGN_VARIABLE, CALL, READ_VARIABLE
from graphc.runtime import PlacedProgram, Plan, compile_graph, observer

__all__ = ["TraceNotes", "TracedFunction", "converted", "trace_function"]


@dataclass(frozen=True)
class TraceNotes:
    """What tracing found out besides the program.

    Attributes:
      unoptimized: the graph before the passes.
      loops: what became of each loop of the user's code.
      side_effects: what Python did then that the program does not.
      unconverted: the functions whose control flow was not converted, by name, and why.
      seconds: how long tracing took.
    """

    unoptimized: Graph
    loops: list[LoopReport]
    side_effects: list[SideEffect]
    unconverted: dict[str, str]
    seconds: float


class TracedFunction:
    """A function, traced for arguments of certain types and values.

    Attributes:
      graph: the graph, after the passes.
      variables: the variables that it reads or writes, by name; those that came with the arguments of the traced call
        are not kept alive.
      notes: what tracing found out besides.
      after_call: what is done after each run, and which outputs of the graph it is given.
      can_fail: whether the first of them looks whether the call has failed.
      num_results: how many outputs, the first ones, belong to the function's result.
      guards: what must hold for it to be used again.
      inputs: where the tensors among the arguments are.
      types: of these, as JAX has them.
      settings: what else it depends on; see :func:`settings`.
      entries: the short ways of a call, by the kinds of its arguments.
      wanted: what its program works on besides, and is found again at each call.
      variable_places: of each variable, its place in that; the variable itself if it is always the same.
      own: of results that are tensors which the caller has, where: among the arguments, or in the same way.
      captured_places: of each tensor that the function uses from outside, in the same way.
      distinct: variables that must not be one another: where they are found, and those that are always the same.
    """

    def __init__(
        self, graph: Graph, trace: Trace, after_call: Sequence[tuple[AfterCall, int]], result: Result,
        arguments: Arguments, notes: TraceNotes, device: str,
    ) -> None:  # fmt: skip
        self.graph = graph
        self._names = list(arguments.values)
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
        self.num_results = self.after_call[0][1].start if self.after_call else len(graph.outputs)
        self.executable = compile_graph(graph, self._look if self.can_fail else None, trace.variables, device)
        self._looked_at = [tensor for tensor, _ in trace.looked_at.values()]
        self._write_back = next((after for after, _ in self.after_call if isinstance(after, WriteBack)), None)
        self.structure = result.structure
        self._reread = _read_after_assignment(graph)
        self.num_arguments = len(arguments.arrays)
        self.device = self.devices[0] if len(self.devices) == 1 else ""
        # What comes with the arguments is found again at each call, as is a tensor, wherever it is.
        values: list[Any] = []

        def place(value: Any) -> Any:
            source = reads.source(value)
            if source is None or not (source.of_call or isinstance(value, Tensor)):
                return value
            if source not in self.wanted:
                self.wanted.append(source)
                values.append(value)
            return Place(self.wanted.index(source))

        used = [trace.variables[name] for name in self.executable.variables]
        self.variable_places = [place(variable) for variable in used]
        self.captured_places = [place(outer) for outer, _ in trace.captures.values()]
        self.leaves = [place(leaf) for leaf in result.leaves]
        self.own = {spot: leaf if isinstance(leaf, int) else place(leaf) for spot, leaf in result.own.items()}
        found = [spot for spot in self.variable_places if isinstance(spot, Place)]
        others = [spot for spot in self.variable_places if not isinstance(spot, Place)]
        self.distinct = [self.wanted[spot.index] for spot in found], others
        self._returns_passed = any(isinstance(leaf, Place) for leaf in self.leaves)
        self.pack = packer(self.structure, self.leaves)
        arguments.found = tuple(values)

    def __reduce__(self) -> Any:
        raise InvalidTypeError(
            f"a trace of {self.graph.name} belongs to this process; pickle the function, or the trace's graph"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> TracedFunction:
        return self

    @property
    def loops(self) -> list[LoopReport]:
        """What became of each loop of the user's code."""
        return self.notes.loops

    @property
    def seconds(self) -> float:
        """How long tracing took."""
        return self.notes.seconds

    @property
    def ends_in_python(self) -> bool:
        """Whether the function raised an exception when it was traced, after which there is nothing to run."""
        return self._check is not None and self._check.is_final

    @property
    def plan(self) -> Plan | None:
        """The steps of a function that runs on several devices, or apart from the host; None for one program."""
        return self.executable.plan if isinstance(self.executable, PlacedProgram) else None

    @property
    def devices(self) -> Sequence[str]:
        """The devices that the function is pinned to; none for one that runs where its arguments are."""
        return self.executable.devices

    @property
    def raises(self) -> Mapping[int, tuple[str, Location | None]]:
        """The exceptions that tensors decide on, by the status of a call that has failed so: what and where."""
        return {} if self._check is None else self._check.raises

    @property
    def host_calls(self) -> Sequence[tuple[str, Location | None]]:
        """The Python code that the program runs, ``print`` for one: what and where."""
        return () if self._check is None else self._check.host_calls

    @property
    def grows(self) -> bool:
        """Whether the result holds lists whose length is known when the program has run, or texts made of tensors."""
        return front_end.holds_growing(self.structure) or front_end.holds_views(self.structure)

    def result_leaves(self, arguments: Arguments) -> list[Any]:
        """The leaves of the result; those that are no tensors are Python values and Variables of this call."""
        found = self._found(arguments)
        return [found[leaf.index] if isinstance(leaf, Place) else leaf for leaf in self.leaves]

    @property
    def is_simple(self) -> bool:
        """Whether a call does nothing but run one program, on one device, and wrap its results."""
        written = not self.own or written_packer(self.structure, self.leaves, [""] * self.num_results) is not None
        special = self.after_call or not written or self._returns_passed or self.plan is not None
        return not special and self.executable.timeout is None

    @cached_property
    def match(self) -> Callable[..., Any]:
        """Takes the values of the arguments; gives what is found of :attr:`wanted`, or MISS where a guard fails."""
        return matcher(self.guards, self._names, self.wanted, self.distinct)

    def fits(self, arguments: Arguments) -> bool:
        """Whether the trace may be used for a call; what it works on is noted in the arguments then."""
        if self.types != arguments.types or self.settings != settings():
            return False
        found = self.match(*arguments.values.values())
        if found is MISS:
            return False
        arguments.found = found
        return True

    def forget_changed(self, arguments: Arguments) -> None:
        """Drops the guards of what the function itself changed outside, once, when it was traced: that is told of."""
        values = arguments.values.values()
        if self.match(*values) is MISS:
            self.guards = [
                guard
                for guard in self.guards
                if guard.source.of_call or matcher([guard], self._names, [], ((), ()))(*values) is not MISS
            ]
            del self.match

    @cached_property
    def _find(self) -> Callable[..., Any]:
        return matcher([], self._names, self.wanted, ((), ()))

    def _found(self, arguments: Arguments) -> tuple[Any, ...]:
        if arguments.found is None:
            arguments.found = self._find(*arguments.values.values())
        assert arguments.found is not None
        return arguments.found

    def described(self) -> list[tuple[str, str]]:
        """What the trace depends on, each thing by its text and what it was, for the reasons of retraces."""
        avals = zip(self.inputs, self.types, strict=True)
        types = [(source.text, str(TensorType(aval.shape, aval.dtype, aval.weak_type))) for source, aval in avals]
        return [*types, *((guard.source.text, guard.was) for guard in self.guards if guard.was)]

    def captured(self, arguments: Arguments) -> list[Tensor]:
        """The tensors that the function uses from outside."""
        found = self._found(arguments)
        return [found[place.index] if isinstance(place, Place) else place for place in self.captured_places]

    def captures(self, arguments: Arguments) -> list[Any]:
        """Their arrays, as they are now."""
        return [tensor.raw for tensor in self.captured(arguments)]

    def __call__(self, arguments: Arguments) -> Any:
        """Runs the program on the tensors and variables of a call."""
        self.check(arguments)
        arrays = [*arguments.arrays, *self.captures(arguments)]
        variables = self.bound_variables(arguments)
        if self.device:
            device = find_device(self.device)
            arrays = [to_device(array, device) for array in arrays]
        timeline = observer()
        start = 0.0 if timeline is None else time.perf_counter()
        try:
            results = self._launch(arrays, variables)
        except ValueError as error:
            if "incompatible devices" not in str(error):  # JAX has no class of its own for it
                raise
            place = _place_of(variables)
            arrays = [placed(array, place) if isinstance(array, jax.Array) else array for array in arrays]
            with brought(variables, place):
                results = self._launch(arrays, variables)
        if timeline is not None and self.plan is None:
            written = [variable.raw for variable in variables[: self.executable.num_written]]
            where = self._place(arrays, variables)
            line = "" if (location := user_location()) is None else location.short
            timeline.launched(self.graph.name, "program", where, start, [*results, *written], line=line)
        for after, place in self.after_call[self.can_fail :]:
            after.run(results[place], arguments)
        return self.packer(arguments, own=True)(map(Tensor, results[: self.num_results]))

    def _launch(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> Sequence[Any]:
        if detours or self.executable.timeout is not None:
            return self.executable.attended(arrays, variables)
        return self.executable(arrays, variables)

    def _place(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> str:
        """The device or devices that a call runs on."""
        given = [
            array for array in [*arrays, *(variable.raw for variable in variables)] if isinstance(array, jax.Array)
        ]
        found = {device_name(device) for array in given for device in array.devices()}
        return self.device or ", ".join(sorted(found)) or device_name(devices()[0])

    def _look(self, outputs: Sequence[Any]) -> None:
        """Raises if the program, which gave these outputs, says that the call has failed."""
        look, place = self.after_call[0]
        look.run(outputs[place], None)

    def check(self, arguments: Arguments) -> None:
        """Refuses a call that would not change its arguments as the Python function does."""
        if self._write_back is not None:
            self._write_back.check(arguments, [*self.captured(arguments), *self._looked_at])

    def packer(self, arguments: Arguments, *, own: bool = False) -> Callable[[Iterator[Any]], Any]:
        """The function that makes the outputs of the program what the user's function returns.

        Args:
          arguments: of the call.
          own: whether a tensor that the function returns as it was given it, or as it found it outside, is that very
            tensor, so that both see it when items are assigned.
        """
        own = own and bool(self.own)
        if not (own or self._returns_passed):
            return self.pack
        leaves = self.result_leaves(arguments)
        if own:
            given = [leaf for _, leaf in array_leaves(arguments)]
            for position, source in self.own.items():
                tensor = given[source] if isinstance(source, int) else source
                if isinstance(source, Place):
                    tensor = self._found(arguments)[source.index]
                if isinstance(tensor, Tensor):
                    leaves[position] = OwnTensor(tensor)
        return packer(self.structure, leaves)

    def bound_variables(self, arguments: Arguments) -> list[Variable]:
        """The variables to work on: those of the call's arguments in place of those of the traced call's."""
        found = self._found(arguments)
        return [found[place.index] if isinstance(place, Place) else place for place in self.variable_places]

    def call_recorded(self, arguments: Arguments) -> Any:
        """Runs the graph as one op, so that open tapes can differentiate it; variables are not donated."""
        self.check(arguments)
        variables = self.bound_variables(arguments)
        tensors = _tensors_of(arguments)
        # As for loops: what is read of a variable after it was assigned is not the variable that a tape watches.
        placed = self.executable
        graph = placed.pinned if isinstance(placed, PlacedProgram) and len(self.devices) > 1 else self.graph
        names = zip(self.executable.variables, variables, strict=True)
        assigned = tuple([variable.name for name, variable in names if name in self._reread])
        attrs = Attrs(assigned=assigned) if assigned else NO_ATTRS
        results: list[Tensor] = []

        def program(_: Sequence[Any]) -> Sequence[Any]:
            values = [variable.value() for variable in variables]
            results[:] = apply_all(CALL, (*values, *tensors, *self.captured(arguments)), attrs, (graph,))
            return [result.raw for result in results]

        with device_scope(self.device or context.device), run_timeout(self.executable.timeout):
            self.executable.run(program, variables)
        for after, place in self.after_call[self.can_fail :]:
            found = results[place]
            after.run(found if after is self._write_back else [tensor.raw for tensor in found], arguments)
        return self.packer(arguments, own=True)(iter(results[: self.num_results]))

    def lower(self, arguments: Arguments) -> Any:
        """JAX's lowered program (``jax.stages.Lowered``)."""
        return self.executable.lower([*arguments.arrays, *self.captures(arguments)], self.bound_variables(arguments))


def _place_of(variables: Sequence[Variable]) -> Any:
    """Where a function runs of which JAX does not bring the arrays together: where most copies of a Variable are."""
    place: Any = SingleDeviceSharding(cast("Any", devices()[0]))
    return max([variable.raw.sharding for variable in variables] or [place], key=lambda place: place.num_devices)


def _slices(after_call: Sequence[tuple[AfterCall, int]], num_outputs: int) -> list[tuple[AfterCall, slice]]:
    """Which outputs of a graph each is given; together they take the last ones."""
    start = num_outputs - sum(count for _, count in after_call)
    found: list[tuple[AfterCall, slice]] = []
    for after, count in after_call:
        found.append((after, slice(start, start + count)))
        start += count
    return found


def _tensors_of(arguments: Arguments) -> list[Tensor]:
    """The tensors of the call themselves, which tapes know; what it was given as arrays and numbers as tensors."""
    leaves = [leaf for _, leaf in array_leaves(arguments)]
    return [
        leaf if isinstance(leaf, Tensor) else Tensor(jax.numpy.asarray(array))
        for leaf, array in zip(leaves, arguments.arrays, strict=True)
    ]


def settings() -> tuple[Any, ...]:
    """What a trace depends on besides what it read: the rules for dtypes, the device scopes, what looks at ops."""
    return dtype_rules(), is_examining(), context.device or NO_PINS


def finish_reads(trace: Trace, writes: Sequence[Write]) -> None:
    """Settles, at the end of a trace, what must hold for it to be used again."""
    reads = trace.reads
    known = {id(variable) for variable, _ in reads.objects()}
    if any(id(variable) not in known for variable in trace.variables.values()):
        # Code that tells of nothing read it, perhaps of an object among the arguments.
        for value, source in reads.objects():
            if source.of_call:
                reads.whole(value)
    for tensor, array in trace.looked_at.values():
        reads.looked_at(tensor, array)
    if trace.check is not None:
        for value, source in reads.objects():
            if source.of_call and trace.check.refers_to([value]):
                reads.identify(value)
    # What the function itself changes, once, when it is traced, is told of; only arguments are followed.
    keys = [write.place.read_as(reads) for write in changes(writes)]
    reads.forget([key for key in keys if key is not None])


def trace_function(
    function: Callable[..., Any], binder: Binder, arguments: Arguments, options: TraceOptions, *,
    may_create: bool, lifting: Lifting | None = None, types: Sequence[TensorType] | None = None,
) -> TracedFunction:  # fmt: skip
    """Traces a function for the types of these arguments.

    Args:
      function: the user's function.
      binder: of that function.
      arguments: of the call.
      options: how to trace.
      may_create: whether making a Variable that is not lifted raises CreationInTrace, or is an error.
      lifting: makes state for real; the trace is that of this call alone then. If the trace fails it is taken back.
      types: the types of the tensors inside the function, where they differ from the arguments' (parts of a batch).

    Raises:
      CreationInTrace: it makes Variables, and ``may_create``; Python objects are as they were.
      GraphcError: something cannot be compiled with Python's meaning.
    """
    trace = Trace(options.name, may_create=may_create, unroll=options.unroll)
    trace.lifting = lifting
    try:
        traced = _trace_into(trace, function, binder, arguments, options, types)
        if traced.ends_in_python and lifting is not None and lifting.is_used and not trace.side_effects:
            raise CreationInTrace  # perhaps it is not the user's
        return traced
    except CreationInTrace as creation:
        creation.__traceback__ = None  # its frames hold what the function made
        _take_back(trace)
        check_repeatable(trace)
        raise
    except BaseException as error:
        if lifting is None or not lifting.is_used:
            raise
        if not isinstance(error, Exception) or trace.side_effects or not is_repeatable(trace):
            lifting.assignments.undo()
            raise
        _take_back(trace)
    raise CreationInTrace


def _take_back(trace: Trace) -> None:
    """Takes back what a trace did to Python objects: the call is run eagerly instead, from its start."""
    if trace.lifting is not None:
        trace.lifting.undo()
    trace.undo_writes()


def _trace_into(
    trace: Trace, function: Callable[..., Any], binder: Binder, arguments: Arguments, options: TraceOptions,
    types: Sequence[TensorType] | None,
) -> TracedFunction:  # fmt: skip
    start, collections = time.perf_counter(), collections_so_far()
    trace.max_iterations, trace.forbids_side_effects = options.max_iterations, options.side_effects == "error"
    trace.reads.function(function)
    for name, value in arguments.values.items():
        trace.reads.argument(name, value)
    names = [path for path, _ in array_leaves(arguments)]
    types = [type_of(array) for array in arguments.arrays] if types is None else types
    symbolic = [trace.argument(type, name) for type, name in zip(types, names, strict=True)]
    before = [tensor.raw for tensor in symbolic]
    args, kwargs = binder.rebuild(arguments, symbolic, trace.reads.stands_for)
    watch = ArgumentWatch(options.name, args, kwargs)
    with _telling_refusals(trace), trace_scope(trace), options.pinned():
        device = context.device.text
        try:
            result = converted(function, options, trace)(*args, **kwargs)
        except BaseException as error:
            if not front_end.ends_function(error):
                raise
            result = None
        returned = Result.of(trace, result, symbolic)
        del result
        write_back = WriteBack.of(trace, options.name, arguments, symbolic, before)
        if write_back is not None:
            trace.after_call["write back"] = write_back
        checks = [] if trace.check is None else [trace.check]
        after_call = [(after, [*after.tensors(trace)]) for after in (*checks, *trace.after_call.values())]
    writes = check_stores(trace, collections)
    watch.check(writes)
    side_effects = find_side_effects(trace, writes)
    finish_reads(trace, writes)
    unoptimized = trace.finish([*returned.outputs, *(tensor for _, tensors in after_call for tensor in tensors)])
    graph = run_passes(unoptimized, DEFAULT)
    if options.placement is not None:
        graph = options.placement(graph)
    counts = [(after, len(tensors)) for after, tensors in after_call]
    notes = TraceNotes(unoptimized, trace.loops, side_effects, trace.unconverted, time.perf_counter() - start)
    traced = TracedFunction(graph, trace, counts, returned, arguments, notes, device)
    traced.executable.timeout = options.timeout
    if writes:
        traced.forget_changed(arguments)
    traced.check(arguments)
    return traced


@contextmanager
def _telling_refusals(trace: Trace) -> Generator[None]:
    """Raises the first refusal, also where code of the user's caught it and went on, or failed because of it."""
    try:
        yield
    except CreationInTrace:
        raise
    except BaseException as error:
        take_back_tensors(trace)
        swallowed = trace.refusals and isinstance(error, Exception) and trace.refusals[0] not in _leading_to(error)
        if not swallowed:
            raise
    else:
        if not trace.refusals:
            return
        take_back_tensors(trace)
    raise trace.refusals[0]


def _leading_to(error: BaseException) -> Iterator[BaseException]:
    """A refusal and those that it was made of; of another exception only itself: it is not what was refused."""
    last: BaseException | None = error
    while last is not None:
        yield last
        last = last.__cause__ if isinstance(last, GraphcError) else None


def converted(function: Callable[..., Any], options: TraceOptions, trace: Trace | None = None) -> Callable[..., Any]:
    """The function with its control flow converted, if the options ask for that and its source can be read."""
    if not options.autograph:
        front_end.run_as_is(function)
        if trace is not None:
            trace.unconverted[_qualname(function)] = "autograph=False; use gx.where or gx.cond"
        return function
    try:
        found = front_end.convert_call(function)
    except front_end.NoSourceError as error:
        found, reason = function, str(error)
        front_end.run_as_is(function)
        if trace is not None:
            trace.unconverted[_qualname(function)] = reason
    else:
        reason = "" if trace is None else trace.unconverted.get(_qualname(function), "")
    if reason and front_end.has_control_flow(function):
        raise front_end.NoSourceError(reason)
    return found


def _qualname(function: Any) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _read_after_assignment(graph: Graph) -> frozenset[str]:
    """The variables that the graph reads after it assigned them, in loops and branches too."""
    assigned: set[str] = set()
    found: set[str] = set()
    for node in graph.walk():
        found.update(node.attrs.get("assigned", ()))
        if node.op is ASSIGN_VARIABLE:
            assigned.add(node.attrs["variable"])
        elif node.op is READ_VARIABLE and node.attrs["variable"] in assigned:
            found.add(node.attrs["variable"])
    return frozenset(found)
