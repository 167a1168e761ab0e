"""Traces: the destination of ops while a function, a branch or a loop body is turned into a graph.

A function has one trace; each branch and loop body inside it has a region (see :mod:`graphc.compiler.tracing.region`),
a trace with a parent.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import jax
import numpy as np
from jax.core import Tracer

from graphc.compiler.base import Location, user_location
from graphc.compiler.base.errors import (
    GraphcError,
    InvalidArgumentError,
    LeakedTensorError,
    UnimplementedError,
    VariableCreationError,
)
from graphc.compiler.core import (
    NO_ATTRS,
    SCALARS,
    SymbolicTensor,
    Tensor,
    apply_all,
    canonical_array,
    requested_device,
    scalar_array,
    translate_error,
    type_of,
)
from graphc.compiler.ir import (
    CONSTANT,
    OPS,
    Attrs,
    Graph,
    GraphBuilder,
    Literal,
    OpDef,
    TensorType,
    Value,
    applied_name,
    infer_types,
)
from graphc.compiler.tracing.aliases import AliasSet
from graphc.compiler.tracing.cells import CallState, Cell, Journal, JournalMark, TensorCell
from graphc.compiler.tracing.lifting import CreationInTrace, Lifting, SharedMemory, known_value
from graphc.compiler.tracing.mode import context
from graphc.compiler.tracing.reads import Reads
from graphc.compiler.tracing.reports import AfterCall, Check, LoopReport, SideEffect, TensorStore

if TYPE_CHECKING:
    from graphc.compiler.core import Tracing, Variable
    from graphc.compiler.tracing.aliases import Distinct
    from graphc.compiler.tracing.mode import Controls

CREATES = "it creates a Variable"
"""How the reason begins for which an attempt to roll a loop ends where state is made; the line follows."""

_FORBIDDEN = "{} would happen once, when {} is traced, and not at each call, which side_effects='error' forbids; "


@dataclass(frozen=True)
class RollbackPoint:
    """A point that a trace can be rolled back to."""

    num_nodes: int
    constants: dict[Any, Value]
    states: dict[str, tuple[Any, bool]]
    num_refusals: int
    num_loops: int
    num_side_effects: int
    journal: JournalMark
    num_notes: int
    num_stand_ins: int
    num_distinct: int


class Trace:
    """A graph under construction."""

    is_graph: bool = False  # whether it is a graph built by hand, which a Session runs
    variable_class: type[Any] = object  # the class of the Variables made in a graph built by hand

    def __init__(self, name: str, *, may_create: bool = False, unroll: bool | int | None = None) -> None:
        self.builder = GraphBuilder(name)
        self.thread = threading.get_ident()
        # Whether creating a Variable that is not lifted makes the call run eagerly (first call) or is an error.
        self.may_create = may_create
        # Creates state for real while the function is traced; None if state is not lifted.
        self.lifting: Lifting | None = None
        # Eager tensors that the function uses from outside, in order; inputs of the graph.
        self.captures: dict[int, tuple[Tensor, SymbolicTensor]] = {}
        self.distinct: list[Distinct] = []  # the pairs of inputs that must not be one tensor, in the body of a loop
        self._known_as: dict[int, int] = {}
        self.watched_rows: set[Value] = set()  # the arrays of which tapes watch a row
        # The arrays of which rows were joined again, in order, in the whole function.
        self.joined_rows: list[Value] = []
        # Eager tensors from outside whose values Python code observed, with their arrays at that time.
        self.observed: dict[int, tuple[Tensor, Any]] = {}
        self.variables: dict[str, Variable] = {}  # the variables that the function reads or assigns, by name
        # Errors raised because something cannot be compiled; raised again when user code swallowed them.
        self.refusals: list[GraphcError] = []
        # Whether to unroll loops over a ``range``, or how many iterations to merge into one; None decides by loop.
        self.unroll = unroll
        # The bound on data-dependent loops that set none themselves; None for no bound.
        self.max_iterations: int | None = None
        self.timeout: float | None = None  # the time limit of a run in seconds; None for no limit
        self.loops: list[LoopReport] = []  # a report for each loop
        self.side_effects: list[SideEffect] = []  # Python side effects, which happen only when the function is traced
        self.forbids_side_effects = False
        # The refusal that makes any other attempt to trace the function pointless.
        self.final_refusal: GraphcError | None = None
        self.stores: dict[int, TensorStore] = {}  # the objects that hold tensors of the trace, by identity
        self.regions: weakref.WeakSet[Any] = weakref.WeakSet()  # the live traces of the branches and loop bodies inside
        self.controls: Controls | None = None  # the innermost open scope of control dependencies; None if there is none
        # The stateful objects made in the trace, such as random generators, with the line of each.
        self.made: list[tuple[weakref.ref[Any], Location | None]] = []
        # The functions whose Python control flow is not converted, by qualified name, with the reason.
        self.unconverted: dict[str, str] = {}
        # Runs first after each run of the program and raises if the call has failed; None if it cannot fail.
        self.check: Check | None = None
        self.notes: list[Any] = []  # the operators' notes about the program; rolled back with a given-up attempt
        self.is_closed = False  # whether the trace of a branch or body has become part of its enclosing trace
        self.after_call: dict[str, AfterCall] = {}  # the work after each run of the program, in order, by its kind
        self.has_growing = False  # whether there may be lists whose length is known only at run time
        self.aliases = AliasSet()  # the objects that represent one of several others
        self.memory = SharedMemory(self.aliases)
        self.reads = Reads()  # what the whole function's trace took from outside itself
        # The code and globals of the functions whose globals ``reads`` already records, by identity.
        self.entered: set[tuple[int, int, bool]] = set()
        # The cells that were written, with their previous contents.
        self.journal = Journal(self, around=None if self.parent is None else self.parent.journal)
        self.made_classes: weakref.WeakSet[type[Any]] = weakref.WeakSet()
        self._constants: dict[Any, Value] = {}
        self._call_states: dict[str, SymbolicTensor] = {}

    @property
    def parent(self) -> Trace | None:
        """The enclosing trace; None for the trace of a whole function."""
        return None

    @property
    def root(self) -> Trace:
        """The trace of the whole function."""
        trace: Trace = self
        while trace.parent is not None:
            trace = trace.parent
        return trace

    def inlined(self, call: Callable[[], Any]) -> Any:
        """Calls a compiled function whose nodes become part of this trace."""
        return call()

    def wrap(self, value: Value) -> SymbolicTensor:
        """Returns the tensor for a value of the graph."""
        return SymbolicTensor(value, self)

    def argument(self, type: TensorType, name: str) -> SymbolicTensor:
        """Adds an input to the graph."""
        return self.wrap(self.builder.input(type, name))

    def apply(
        self, op: OpDef, inputs: Sequence[Any], attrs: Attrs = NO_ATTRS, regions: Sequence[Graph] = ()
    ) -> list[SymbolicTensor]:
        """Appends a node; see :func:`graphc.compiler.core.dispatch.apply`."""
        values = [self.lift(value).raw for value in inputs]
        types = [value.type for value in values]
        try:
            output_types = infer_types(op, types, attrs, regions)
        except Exception as error:
            arguments = [
                one if type(one) in SCALARS else described for one, described in zip(inputs, types, strict=True)
            ]
            described = translate_error(error, op, arguments, attrs, operands=inputs)
            if isinstance(described, UnimplementedError):
                self.refuse(described)
            if described is error:
                raise
            raise described from error
        location = user_location()
        device = ""
        if context.device:
            name = self.builder.next_name(applied_name(op, attrs))
            device = requested_device(op, values, attrs, regions, name, location)
        node = self.builder.append(
            op,
            values,
            attrs,
            types=output_types,
            regions=regions,
            control_inputs=() if self.controls is None else self.controls.before(values),
            device=device,
            location=location,
        )
        if self.controls is not None:
            self.controls.note(node)
        return [self.wrap(output) for output in node.outputs]

    def note_attribute(self, value: Value) -> None:
        """Notes that a known value became a static attribute, in a graph that is built by hand."""
        del value

    def late_input(self, tensor: SymbolicTensor) -> SymbolicTensor:
        """Returns the input for an op's tensor-valued attribute in a graph that is built by hand."""
        return tensor

    def lift(self, value: Any) -> SymbolicTensor:
        """Returns this trace's tensor for a value from anywhere."""
        if isinstance(value, SymbolicTensor):
            if value.trace is self:
                return value
            if not self.is_inside(value.trace):
                raise value.trace.leaked(value)
            return self.capture(value)
        if isinstance(value, Tensor):
            return self.capture(value)
        if isinstance(value, jax.Array):
            if isinstance(value, Tracer):
                raise InvalidArgumentError(
                    f"a JAX tracer {value!r:.80} is used in a graphc function; call the graphc function from outside "
                    "jax.jit, jax.grad and jax.vmap, or make it a JAX function by gx.to_jax and pass the array to it"
                )
            return self.capture(value)
        return self.constant(value)

    def constant(self, value: Any) -> SymbolicTensor:
        """Returns a constant node; equal scalars share one."""
        if type(value) not in SCALARS:
            return self._constant(canonical_array(value), weak=False)
        key = (cast("type[Any]", type(value)), str(value))
        cached = self._constants.get(key)
        if cached is None:
            try:
                array = scalar_array(value)
            except GraphcError as error:
                raise self.refuse(error) from None
            cached = self._constants[key] = self._constant(array, weak=type(value) is not bool).raw
        return self.wrap(cached)

    def _constant(self, array: np.ndarray[Any, Any], *, weak: bool) -> SymbolicTensor:
        attrs = Attrs(value=Literal(array), weak=True) if weak else Attrs(value=Literal(array))
        type = TensorType(array.shape, array.dtype, weak)
        node = self.builder.append(CONSTANT, (), attrs, types=(type,), location=user_location())
        return self.wrap(node.outputs[0])

    def capture(self, value: Tensor | jax.Array) -> SymbolicTensor:
        """Returns the input of this trace for a tensor or array from outside, as a separate tensor."""
        identity = id(value.raw) if isinstance(value, SymbolicTensor) else id(value)
        key = self._known_as.get(identity, identity)
        entry = self.captures.get(key)
        if entry is None:
            outer = self._outer(value)
            name = ""
            if isinstance(outer, SymbolicTensor):
                outer = outer.snapshot()
                name = outer.raw.name if outer.raw.node is None else ""
                # A tensor from further outside is known by the enclosing trace's value, as one that comes from there.
                key = self._known_as[identity] = id(outer.raw)
            entry = self.captures.get(key)
            if entry is None:
                entry = self.captures[key] = outer, self.argument(outer.type, name or f"capture_{len(self.captures)}")
        return entry[1].snapshot()

    def _outer(self, value: Tensor | jax.Array) -> Tensor:
        return value if isinstance(value, Tensor) else Tensor(value)

    def look_at(self, tensor: Tensor) -> None:
        """Notes that Python code observes the values of a tensor from outside, so that the trace depends on them."""
        self.root.observed.setdefault(id(tensor), (tensor, tensor.raw))

    def take_whole(self, value: Any) -> None:
        """Notes that unconverted code may read all that an object holds."""
        self.root.reads.whole(value)

    def known_value(self, value: Any) -> Any:
        """Returns a tensor's value if it is the same in every call, computed eagerly; other values as they are."""
        return known_value(value, self)

    def replace(self, tensor: SymbolicTensor, new: SymbolicTensor) -> None:
        """Replaces a tensor's values by those of another of its type, from this point of the trace on."""
        cell = TensorCell(tensor)
        self.writing(cell)
        self.root.memory.change(tensor, "")
        cell.set(new)

    def view(self, tensor: SymbolicTensor, result: Tensor) -> None:
        """Notes that a result would be a view of a tensor if that were a NumPy array."""
        self.root.memory.view(tensor, result)

    def is_inside(self, other: Tracing) -> bool:
        """Returns True if ``other`` is this trace or encloses it."""
        return any(one is other for one in self.outward())

    def outward(self) -> Iterator[Trace]:
        """Yields the trace and those that enclose it."""
        trace: Trace | None = self
        while trace is not None:
            yield trace
            trace = trace.parent

    def read(self, variable: Variable | CallState) -> SymbolicTensor:
        """Returns the variable's current value at this point of the trace."""
        if isinstance(variable, CallState):
            state = self._call_states.get(variable.name)
            if state is None:
                state = self._call_states[variable.name] = self.constant(variable.initial)
            return state
        self.variables[variable.name] = variable
        attrs = Attrs(variable=variable.name, type=variable.type)
        return self.apply(OPS["read_variable"], (), attrs)[0]

    def touched(self, state: CallState) -> bool:
        """Returns True if a state was read or assigned before this point of the trace, or of an enclosing one."""
        return state.name in self._call_states

    def assign(self, variable: Variable | CallState, value: Any) -> None:
        """Sets the variable's value from this point of the trace on."""
        if isinstance(variable, CallState):
            self._call_states[variable.name] = self.cast(value, variable.type)
            return
        self.variables[variable.name] = variable
        self.apply(OPS["assign_variable"], (self.cast(value, variable.type),), Attrs(variable=variable.name))

    def cast(self, value: Any, type: TensorType) -> SymbolicTensor:
        """Returns the value lifted, and converted where only its dtype or weakness differs from ``type``."""
        lifted = self.lift(value)
        if lifted.type.dtype == type.dtype and lifted.type.weak == type.weak:
            return lifted
        if context.trace is self:  # tapes see it
            return cast("SymbolicTensor", apply_all(OPS["astype"], (lifted,), Attrs(dtype=type.dtype))[0])
        return self.apply(OPS["astype"], (lifted,), Attrs(dtype=type.dtype))[0]

    def refuse(self, error: GraphcError) -> GraphcError:
        """Records that something cannot be compiled; returns the error to raise, with the user's line."""
        error.here()
        (context.trace or self).abort_attempts(str(error))
        return self.note_refusal(error)

    def note_refusal(self, error: GraphcError) -> GraphcError:
        """Records a refusal as :meth:`refuse` does, without giving up a roll attempt: unrolling would not help."""
        self.root.refusals.append(error)
        return error.here()

    def leaked(self, tensor: SymbolicTensor) -> LeakedTensorError:
        """Returns the error for a symbolic tensor that is used outside the trace that made it."""
        if self.thread == threading.get_ident():
            use = f"outside the function, branch or loop body of {self.builder.name!r} that made it"
            remedy = "return it from there instead of storing it"
        else:
            use = f"in another thread than the one that traces {self.builder.name!r}"
            remedy = "a compiled function is traced in one thread, and runs independent ops in parallel by itself"
        error = LeakedTensorError(f"a symbolic tensor ({tensor.type}, {tensor.made_at()}) is used {use}; {remedy}")
        (context.trace or self).note_refusal(error)
        return error

    def variable_created(self, what: str = "a Variable", location: Location | None = None) -> BaseException:
        """Returns the exception to raise when traced code makes a Variable, or another stateful object."""
        if self.root.may_create:
            return CreationInTrace()
        error = VariableCreationError(
            f"the compiled function {self.root.builder.name!r} makes {what} again after its first call; make it "
            "once, outside (`build` of a layer or an optimizer makes its state) or under a check such as `if self.w is "
            "None:`"
        )
        return self.refuse(error) if location is None else error.at(location)

    def making(self, reads: Iterable[Variable] = ()) -> AbstractContextManager[None]:
        """Opens a scope in which code runs eagerly, to make state that outlives the call."""
        lifting = self.root.lifting
        if lifting is None:
            raise self.variable_created()
        location = user_location()
        where = "" if location is None else f" ({location.short})"
        self.abort_attempts(CREATES + where, unsettled=True)  # the first iteration of a loop may be the only one
        self.root.forbids_side_effects = False  # this happens once in Python too
        return lifting.making(self, reads)

    def side_effect(self, what: str, *, certain: bool = False, remedy: str = "") -> None:
        """Reports that Python code is about to have a side effect."""
        # certain: whether it is known to have an effect, or a different result each time, which is reported after
        # tracing. An effect that is merely possible (the call of a library function) is not.
        self.abort_attempts(what)
        if self.parent is not None:
            error = UnimplementedError(
                f"{what} inside {self.builder.name}, which depends on tensor values: Python would do it once at "
                f"trace time whatever the values are; {remedy or 'move it out, or compute with tensors only'}"
            )
            raise self.refuse(error)
        if not certain:
            return
        if self.forbids_side_effects:
            raise self.refuse(
                UnimplementedError(
                    _FORBIDDEN.format(what, self.builder.name) + (remedy or "do it outside the function")
                )
            )
        self._tell(SideEffect(what, user_location(), remedy=remedy))

    def read_once(self, what: str, remedy: str = "pass its result as an argument, or call it in gx.pyfunc") -> None:
        """Reports that Python code reads something of the world that may differ at the next call."""
        effect = SideEffect(what, user_location(), remedy=remedy)
        if self.root.forbids_side_effects:
            raise self.refuse(UnimplementedError(_FORBIDDEN.format(what, self.root.builder.name) + effect.remedy))
        self._tell(effect)

    def _tell(self, effect: SideEffect) -> None:
        # Of what a function calls in several lines the first is enough.
        if all(effect.what != reported.what for reported in self.root.side_effects):
            self.root.side_effects.append(effect)

    def abort_attempts(self, reason: str, *, unsettled: bool = False) -> None:
        """Gives up the innermost open attempt to roll a loop that this trace belongs to, if any; see :meth:`abort`."""
        trace: Trace | None = self
        while trace is not None:
            trace.abort(reason, unsettled=unsettled)
            trace = trace.parent

    def abort(self, reason: str, *, unsettled: bool = False) -> None:
        """Gives up the attempt to roll a loop that this trace itself belongs to, if any."""
        # unsettled: whether another attempt may succeed after one iteration (see :class:`RegionAborted`).
        del reason, unsettled

    def note_store(self, owner: Any, what: str, undo: Callable[[Any], None]) -> None:
        """Records that an object holds a tensor; when tracing ends, graphc checks whether the object outlives it."""
        self.root.stores.setdefault(id(owner), TensorStore(owner, what, user_location(), undo))

    def writing(self, cell: Cell) -> None:
        """Records that a cell is about to be written; call it before the write."""
        alias = self.root.aliases.changing(cell.owner)
        if alias is not None:
            raise self.refuse(alias.error(cell.what))
        self.journal.note(cell)

    def checkpoint(self) -> RollbackPoint:
        """Returns a point to roll back to."""
        root = self.root
        return RollbackPoint(
            len(self.builder.nodes), dict(self._constants), self._variable_states(), len(root.refusals),
            len(root.loops), len(root.side_effects), self.journal.mark(), len(root.notes), len(root.aliases),
            len(self.distinct),
        )  # fmt: skip

    def rollback(self, point: RollbackPoint) -> None:
        """Discards all that was traced since ``point``."""
        del self.builder.nodes[point.num_nodes :]
        del self.root.refusals[point.num_refusals :]
        del self.root.loops[point.num_loops :]
        del self.root.side_effects[point.num_side_effects :]
        self._constants = dict(point.constants)
        self._restore_variables(point.states)
        self.journal.rollback(point.journal)
        del self.root.notes[point.num_notes :]
        self.root.aliases.forget(point.num_stand_ins)
        del self.distinct[point.num_distinct :]

    def assigned_names(self) -> set[str] | None:
        """Returns the names of the variables that were assigned so far; None where that is not known, as in a loop."""
        return {node.attrs["variable"] for node in self.builder.nodes if node.op is OPS["assign_variable"]}

    def _variable_states(self) -> dict[str, tuple[Any, bool]]:
        return {name: (value, True) for name, value in self._call_states.items()}

    def _restore_variables(self, states: dict[str, tuple[Any, bool]]) -> None:
        self._call_states = {name: value for name, (value, _) in states.items()}

    def report_loop(self, kind: str, reason: str, *, creates: bool = False) -> LoopReport:
        """Adds a report about a loop; see :class:`LoopReport`."""
        report = LoopReport(user_location(), kind, reason, creates=creates)
        self.root.loops.append(report)
        return report

    def finish(self, outputs: Sequence[SymbolicTensor]) -> Graph:
        """Returns the finished graph."""
        return self.builder.build([output.raw for output in outputs])


def trace_of(tensor: SymbolicTensor) -> Trace:
    """Returns the trace that a tensor belongs to."""
    return cast("Trace", tensor.trace)


def current_trace() -> Trace:
    """Returns the trace that receives ops."""
    if context.trace is None:
        raise InvalidArgumentError("no function is being traced here")
    return context.trace


def type_of_any(value: Any) -> TensorType:
    """Returns the type of a tensor, array or number, symbolic or not."""
    return value.type if isinstance(value, Tensor) else type_of(value)
