"""GradientTape: reverse-mode differentiation, the same in eager code and inside a compiled function.

The tape records each op with its input and output tensors. To differentiate it walks the records backwards and applies
``vjp`` ops by the usual dispatch, so that the backward pass runs eagerly or becomes part of the graph, like the forward
pass; other open tapes record it, which gives higher orders.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import Any, Literal, cast

from graphc.compiler.base import nest
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    UnimplementedError,
)
from graphc.compiler.core import (
    FUNCTIONS,
    NO_ATTRS,
    SymbolicTensor,
    Tensor,
    Variable,
    apply,
    array_of,
    shorten,
    tape_scope,
)
from graphc.compiler.gradients.backward import Backward, TapeStep, step_of
from graphc.compiler.gradients.forward_pass import ForwardPass, forward_pass
from graphc.compiler.gradients.records import Elsewhere, Pullback, TapeRecord, key_of
from graphc.compiler.gradients.rows import check_choices, for_rows
from graphc.compiler.ir import OPS, Attrs, Graph, OpDef
from graphc.compiler.ops import CALL, note_watched
from graphc.compiler.tracing import Region, Trace, context


class GradientTape:
    """Records ops for differentiation (TensorFlow's GradientTape).

    Args:
      persistent: whether :meth:`gradient` may be called more than once.
      watch_accessed_variables: whether trainable variables are watched when they are read.

    Example:
      >>> import graphc as gx
      >>> x = gx.asarray(3.0)
      >>> with gx.GradientTape() as tape:
      ...     tape.watch(x)
      ...     y = x * x
      >>> tape.gradient(y, x).item()
      6.0
    """

    saw_pins: bool
    """True if a recorded op may be pinned to a device."""

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watch_variables = watch_accessed_variables
        self._records: list[TapeRecord] = []
        self._steps: list[TapeStep] = []
        self.saw_pins = False
        self._connected: dict[int, Tensor] = {}
        self._given: dict[int, tuple[Tensor, Tensor]] = {}
        self._reads: dict[str, list[Tensor]] = {}
        self._variables: dict[str, Variable] = {}
        self._watched: set[str] = set()
        self._used_in: list[Trace | None] = []
        self._elsewhere = Elsewhere()
        self._is_open = False
        self._joined = 0
        self._trace = context.trace

    def __enter__(self) -> GradientTape:
        if self._is_open and self in context.tapes:
            raise FailedPreconditionError("this GradientTape is open already").here()
        if context.trace is not self._trace:
            self._enter_trace(context.trace)
        self._is_open = True
        self._joined = 0 if self._trace is None else len(self._trace.root.joined_rows)
        context.open(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_open = False
        context.close(self)

    def _enter_trace(self, trace: Trace | None) -> None:
        """Makes a tape that was made elsewhere one of a trace."""
        if self._connected and trace is not None and (self._trace is None or trace.is_inside(self._trace)):
            error = UnimplementedError(
                "a GradientTape that recorded already is opened again in a branch, a loop or a compiled function: "
                "what it recorded outside is not followed there. Make the tape where it is opened"
            )
            raise trace.refuse(error)
        self.reset()  # what another iteration's trace recorded
        self._trace = trace

    def _check_place(self, what: str) -> None:
        """Refuses a change of an open tape in a branch or loop body, which may not run."""
        trace = context.trace
        if self._is_open and trace is not None and trace is not self._trace:
            error = UnimplementedError(
                f"{what} is called in a branch or loop that depends on tensors, inside the GradientTape that is opened "
                "around it: whether the tape follows the tensor would depend on them. Call it before the branch or "
                "loop, or use gx.stop_gradient there"
            )
            raise trace.refuse(error)

    def watch(self, tensors: Any) -> None:
        """Starts to watch tensors or variables, singly or in a nested structure.

        Gradients with respect to a tensor are taken at its current values, even if its items are assigned later.

        Raises:
          InvalidTypeError: an item is not a tensor or variable, or a tensor is not floating.
        """
        check_choices(tensors, "GradientTape.watch")
        for tensor in _flat(tensors)[0]:
            if context.trace is not None and isinstance(tensor, Tensor | Variable) and not self.follows(tensor):
                self._check_place("GradientTape.watch")
            if isinstance(tensor, Variable):
                self._watched.add(tensor.name)
            elif not isinstance(tensor, Tensor):
                raise InvalidTypeError(
                    f"GradientTape.watch: expected a Tensor or a Variable, got {tensor!r:.60}"
                ).here()
            elif not tensor.type.is_inexact:
                raise InvalidTypeError(
                    f"GradientTape.watch: {tensor.type} has no gradient; watch a tensor of a floating dtype"
                ).here()
            else:
                if self._trace is not None:
                    note_watched(tensor)
                snapshot = self._snapshot(tensor)
                self._connected[key_of(snapshot)] = snapshot
                self._given[id(tensor)] = (tensor, snapshot)

    def _snapshot(self, tensor: Tensor) -> Tensor:
        """Returns the tensor with its current values; in a trace, a tensor from outside as an input of the trace."""
        trace = self._trace
        if trace is None or (isinstance(tensor, SymbolicTensor) and not trace.is_inside(tensor.trace)):
            return tensor.snapshot()
        return trace.lift(tensor).snapshot()

    @contextmanager
    def stop_recording(self) -> Generator[None]:
        """Pauses the recording inside the scope."""
        self._check_place("GradientTape.stop_recording")
        with tape_scope(tuple(tape for tape in context.tapes if tape is not self)):
            yield

    def reset(self) -> None:
        """Forgets all records."""
        self._check_place("GradientTape.reset")
        self._records.clear()
        self._steps.clear()
        self._connected.clear()
        self._given.clear()
        self._reads.clear()
        self._variables.clear()
        self._watched.clear()
        self._used_in.clear()
        self._elsewhere.clear()

    def watched_variables(self) -> tuple[Variable, ...]:
        """Returns the watched variables that were read, in order of their first read."""
        return tuple(self._variables.values())

    def forward(self, op: OpDef, inputs: Sequence[Any], attrs: Attrs, regions: Sequence[Graph]) -> ForwardPass | None:
        """Returns a replacement for an op's kernel that makes its gradient cheaper; dispatch calls this."""
        return forward_pass(op, inputs, attrs, regions, lambda value: key_of(value.snapshot()) in self._connected)

    def record(
        self, op: OpDef, inputs: Sequence[Any], attrs: Attrs, regions: Sequence[Graph], outputs: Sequence[Any],
        forward: ForwardPass | None = None,
    ) -> None:  # fmt: skip
        """Records an op; dispatch calls this."""
        if not context.taped and context.device:
            self.saw_pins = True
        followed = self._connected
        snapshots: list[Any] = []
        if self._trace is not None or len(outputs) != 1 or self._elsewhere.computed:
            snapshots, connected = self._inputs(inputs)
            if connected:
                self._records.append(TapeRecord(snapshots, self._outputs(outputs), None, op, attrs, regions, forward))
            if self._trace is not None:
                self._steps.append(step_of(snapshots, outputs, connected))
            return
        # The eager op with one output is inlined: calls would cost a third of the op.
        connected = False
        for value in inputs:
            if isinstance(value, Tensor):
                snapshot = getattr(value, "known_as", None)
                if snapshot is None or snapshot.raw is not value.raw:
                    snapshot = value.snapshot()
                if id(snapshot) in followed:
                    connected = True
                snapshots.append(snapshot)
            else:
                snapshots.append(value)
        (output,) = outputs
        if connected and (output.raw.dtype.kind == "f" or output.type.is_inexact):
            snapshot = output.snapshot()
            followed[id(snapshot)] = snapshot
            self._records.append(TapeRecord(snapshots, (snapshot,), None, op, attrs, regions, forward))

    def call(self, graph: Graph, variables: Sequence[Variable], tensors: Sequence[Tensor]) -> list[Tensor] | None:
        """Runs a call of a compiled function in eager code and records it, if that takes a single call of JAX's.

        Args:
          graph: the function's graph.
          variables: the Variables that it reads.
          tensors: its inputs.

        Returns:
          The outputs; None if nothing was run, because the call needs dispatch: see
          :func:`graphc.compiler.core.apply_all`.
        """
        followed = self._connected
        snapshots: list[Tensor] = []
        for variable in variables:
            value = Tensor(array_of(variable)).snapshot()
            snapshots.append(value)
            if self._watches(variable):
                self._note_read(variable, value, id(value))
        snapshots += [tensor.snapshot() for tensor in tensors]
        wrt = tuple([index for index, snapshot in enumerate(snapshots) if id(snapshot) in followed])
        if not wrt or self._elsewhere.computed:
            return None
        forward = ForwardPass(NO_ATTRS, graph, wrt)
        arrays = forward.directly([snapshot.raw for snapshot in snapshots])
        if arrays is None:
            return None
        outputs = list(map(Tensor, arrays))
        self._records.append(TapeRecord(snapshots, self._outputs(outputs), None, CALL, NO_ATTRS, (graph,), forward))
        return outputs

    def record_custom(self, inputs: Sequence[Any], outputs: Sequence[Tensor], pullback: Pullback) -> None:
        """Records a step with its own pullback.

        Args:
          inputs: tensors and numbers.
          outputs: the tensors computed from them.
          pullback: maps input positions and one cotangent or None for each output to one gradient or None for each
            position.
        """
        snapshots, connected = self._inputs(inputs)
        if connected:
            self.saw_pins = self.saw_pins or bool(context.device)
            self._records.append(TapeRecord(snapshots, self._outputs(outputs), pullback))
        if self._trace is not None:
            self._steps.append(step_of(snapshots, outputs, connected))

    def _inputs(self, values: Sequence[Any]) -> tuple[list[Any], bool]:
        """Returns the current values of a step's inputs, and whether one of them depends on watched tensors."""
        eager, followed = self._trace is None, self._connected
        snapshots: list[Any] = []
        connected = False
        for value in values:
            if isinstance(value, Tensor):
                # _snapshot and _key are inlined: the calls would cost a tenth of an eager op.
                value = value.snapshot() if eager else self._snapshot(value)
                connected = connected or (id(value) if eager else id(value.raw)) in followed
                if self._elsewhere.computed:
                    self._elsewhere.check(value)
            snapshots.append(value)
        return snapshots, connected

    def _outputs(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Returns the current values of a step's outputs, which the tape follows from now on."""
        eager = self._trace is None
        snapshots: list[Tensor] = []
        for tensor in tensors:
            snapshot = tensor.snapshot()
            snapshots.append(snapshot)
            if tensor.dtype.kind == "f" or tensor.type.is_inexact:
                self._connected[id(snapshot) if eager else id(snapshot.raw)] = snapshot
        return snapshots

    def _watches(self, variable: Variable) -> bool:
        watched = variable.name in self._watched or (self._watch_variables and variable.trainable)
        return watched and variable.type.is_inexact

    def note_elsewhere(self, inputs: Sequence[Any], results: Sequence[Any]) -> None:
        """Records what a thread in which the tape is not open computed; dispatch and Variable call this."""
        for value in inputs:
            if isinstance(value, Variable) and self._watches(value):
                self._elsewhere.read(value.name, results)
            elif isinstance(value, Tensor) and (source := self._elsewhere.source(value)) is not None:
                self._elsewhere.add(source, results)

    @property
    def is_idle(self) -> bool:
        """True if it follows no tensor yet."""
        return not self._connected

    def follows(self, value: Tensor | Variable) -> bool:
        """Returns True if a tensor or variable is watched, or was computed from watched ones."""
        if isinstance(value, Variable):
            return self._watches(value)
        if id(value) in self._given:
            return True
        return key_of(self._snapshot(value)) in self._connected

    def record_read(self, variable: Variable, tensor: Tensor) -> None:
        """Records that reading ``variable`` returned ``tensor``; Variable calls this."""
        if self._watches(variable):
            snapshot = tensor.snapshot()
            self._note_read(variable, snapshot, key_of(snapshot))

    def _note_read(self, variable: Variable, snapshot: Tensor, key: int) -> None:
        self._connected[key] = snapshot
        self._reads.setdefault(variable.name, []).append(snapshot)
        self._variables[variable.name] = variable

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Literal["none", "zero"] = "none",
    ) -> Any:
        """Returns the gradient of ``target`` with respect to ``sources``.

        A watched source whose items were assigned is differentiated at the values that it had when :meth:`watch` was
        called; any other source, and the target, at the current values.

        Args:
          target: a tensor, or a nested structure of them, whose sum is differentiated.
          sources: a watched tensor or variable, or a nested structure of them.
          output_gradients: the cotangent of each target, converted to the target's dtype; None for ones.
          unconnected_gradients: the result for a source that the target does not depend on, or whose target was
            computed outside the tape: ``"none"`` or ``"zero"``.

        Returns:
          Tensors of the sources' shapes and dtypes, in the structure of ``sources``.

        Raises:
          FailedPreconditionError: a tape that is not persistent is used twice, or a tape from outside a loop is used
            inside it.
          InvalidTypeError: the target is not a floating tensor, or a source is neither a tensor nor a variable.
        """
        self._check_use("gradient()", unconnected_gradients)
        check_choices(sources, "gradient()")
        targets = [self._target("gradient()", value) for value in _flat(target)[0]]
        source_list, rebuilt = _flat(sources)
        groups = [self._source_tensors("gradient()", source) for source in source_list]
        try:
            gradients = self._backward.pulled(targets, output_gradients, source_list, groups)
            if unconnected_gradients == "zero":
                pairs = zip(gradients, source_list, strict=True)
                gradients = [
                    apply(OPS["zeros_like"], (source,)) if derivative is None else derivative
                    for derivative, source in pairs
                ]
        except Exception as error:
            shorten(error)
            raise
        self._end_use()
        return rebuilt(gradients)

    def jacobian(self, target: Any, sources: Any, unconnected_gradients: Literal["none", "zero"] = "none") -> Any:
        """Returns the derivatives of each element of ``target`` with respect to ``sources`` (TensorFlow's name).

        One backward pass computes all rows at once, with ``jax.vmap``. In eager code under another open tape it is
        compiled as a graph at each call; for repeated calls compile the enclosing function with ``gx.function``.

        Args:
          target: a tensor.
          sources: as for :meth:`gradient`.
          unconnected_gradients: as for :meth:`gradient`.

        Returns:
          Tensors in the structure of ``sources``, with the target's shape followed by the source's and the source's
          dtype.

        Raises:
          FailedPreconditionError: as for :meth:`gradient`.
          InvalidTypeError: as for :meth:`gradient`; or the target is not a single tensor, or is complex.

        Example:
          >>> import graphc as gx
          >>> x = gx.asarray([1.0, 2.0, 3.0])
          >>> with gx.GradientTape() as tape:
          ...     tape.watch(x)
          ...     y = x[:2] * x[2]
          >>> tape.jacobian(y, x).tolist()
          [[3.0, 0.0, 1.0], [0.0, 3.0, 2.0]]
        """
        self._check_use("jacobian()", unconnected_gradients)
        tensor = self._real("jacobian()", target)
        shape = tensor.shape
        size = math.prod(shape)
        rows = FUNCTIONS["reshape"](FUNCTIONS["eye"](size, dtype=tensor.dtype), (size, *shape))
        check_choices(sources, "jacobian()")
        source_list, structure = nest.flatten(sources)
        groups = [self._source_tensors("jacobian()", source) for source in source_list]
        derivatives = for_rows(lambda row: self._backward.pulled([tensor], row, source_list, groups), rows)
        jacobians: list[Any] = []
        for source, jacobian in zip(source_list, derivatives, strict=True):
            whole = (*shape, *source.shape)
            if jacobian is not None:
                jacobians.append(FUNCTIONS["reshape"](jacobian, whole))
            elif unconnected_gradients == "zero":
                jacobians.append(FUNCTIONS["zeros"](whole, dtype=source.dtype))
            else:
                jacobians.append(None)
        self._end_use()
        return nest.unflatten(structure, jacobians)

    def batch_jacobian(self, target: Any, source: Any, unconnected_gradients: Literal["none", "zero"] = "none") -> Any:
        """Returns the Jacobian of each row of ``target`` with respect to the same row of ``source`` (TensorFlow's).

        Args:
          target: a tensor ``[b, ...]`` in which each row depends only on the same row of the source; otherwise the
            result is the sum of a row's derivatives with respect to all rows.
          source: a watched tensor or variable ``[b, ...]``.
          unconnected_gradients: as for :meth:`gradient`.

        Returns:
          A tensor ``[b, *target.shape[1:], *source.shape[1:]]``.

        Raises:
          InvalidArgumentError: target and source differ in their number of rows.
          FailedPreconditionError, InvalidTypeError: as for :meth:`jacobian`.

        Example:
          >>> import graphc as gx
          >>> x = gx.asarray([[1.0, 2.0], [3.0, 4.0]])
          >>> with gx.GradientTape() as tape:
          ...     tape.watch(x)
          ...     y = x ** 2
          >>> tape.batch_jacobian(y, x).tolist()
          [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
        """
        self._check_use("batch_jacobian()", unconnected_gradients)
        tensor = self._real("batch_jacobian()", target)
        group = self._source_tensors("batch_jacobian()", source)
        shape, wanted = tensor.shape, tuple(source.shape)
        if not shape or not wanted or shape[0] != wanted[0]:
            raise InvalidArgumentError(
                f"batch_jacobian(): target and source must have the same number of rows, got the shapes {shape} and "
                f"{wanted}"
            ).here()
        size = math.prod(shape[1:])
        eye = FUNCTIONS["reshape"](FUNCTIONS["eye"](size, dtype=tensor.dtype), (size, 1, *shape[1:]))
        rows = FUNCTIONS["broadcast_to"](eye, (size, *shape))
        (jacobian,) = for_rows(lambda row: self._backward.pulled([tensor], row, [source], [group]), rows)
        self._end_use()
        whole = (*shape, *wanted[1:])
        if jacobian is None:
            return FUNCTIONS["zeros"](whole, dtype=source.dtype) if unconnected_gradients == "zero" else None
        return FUNCTIONS["reshape"](FUNCTIONS["moveaxis"](jacobian, 0, 1), whole)

    def _real(self, call: str, target: Any) -> Tensor:
        """Checks and returns the target of a Jacobian."""
        if nest.children(target) is not None:
            raise InvalidTypeError(
                f"{call}: the target must be one tensor, got {target!r:.60}; call it for each tensor"
            ).here()
        tensor = self._target(call, target)
        if tensor.dtype.kind == "c":
            raise InvalidTypeError(
                f"{call}: the target is {tensor.type}, but derivatives of complex numbers do not form a complex "
                "matrix; differentiate its real and imaginary parts"
            ).here()
        return tensor

    @property
    def _backward(self) -> Backward:
        return Backward(
            self._records, self._connected, self._trace, self.saw_pins, self._steps, self._given, self._joined
        )

    def _end_use(self) -> None:
        """Drops the records of a tape that may be used only once."""
        if not self._persistent and context.trace is self._trace:  # two branches may use the same tape
            self._records.clear()
            self._steps.clear()
            self._connected.clear()
            self._given.clear()

    def _check_use(self, call: str, unconnected: str) -> None:
        if unconnected not in ("none", "zero"):
            raise InvalidArgumentError(f"unconnected_gradients must be 'none' or 'zero', got {unconnected!r}").here()
        trace = context.trace
        for used in () if self._persistent else self._used_in:
            if trace is used or (trace is not None and used is not None and trace.is_inside(used)):
                raise FailedPreconditionError(
                    f"{call} was already called on this GradientTape; make the tape with persistent=True for several "
                    "calls"
                ).here()
            if trace is not None and used is not None and not _exclude_each_other(trace, used):
                error = UnimplementedError(
                    f"whether {call} fails depends on tensors: a branch may have called it before on this "
                    "GradientTape, which is not persistent; make the tape with persistent=True"
                )
                raise trace.refuse(error)
        if trace is not self._trace and (self._is_open or not _is_branch_of(trace, self._trace)):
            error = FailedPreconditionError(
                f"{call} is called outside the function or loop body that opened the GradientTape, or "
                "in a branch while it is open; open and use a tape in the same one"
            )
            raise error.here() if trace is None else trace.refuse(error)
        self._used_in.append(trace)

    def _target(self, call: str, value: Any) -> Tensor:
        if isinstance(value, Variable):
            reads = self._reads.get(value.name)
            value = reads[-1] if reads else value.value()
        if not isinstance(value, Tensor):
            raise InvalidTypeError(
                f"{call}: the target must be a Tensor, got {type(value).__name__} {value!r:.60}"
            ).here()
        if not value.type.is_inexact:
            raise InvalidTypeError(f"{call}: the target must have a floating dtype, got {value.type}").here()
        snapshot = self._snapshot(value)
        self._elsewhere.check(snapshot)
        return snapshot

    def _source_tensors(self, call: str, source: Any) -> list[Tensor]:
        if isinstance(source, Variable):
            return self._reads.get(source.name, [])
        if isinstance(source, Tensor):
            entry = self._given.get(id(source))
            snapshot = self._snapshot(source) if entry is None else entry[1]
            return [snapshot] if key_of(snapshot) in self._connected else []
        raise InvalidTypeError(f"{call}: a source must be a Tensor or a Variable, got {source!r:.60}").here()


def _is_branch_of(trace: Trace | None, around: Trace | None) -> bool:
    """Returns True if a trace belongs to a branch, possibly nested, of another trace."""
    while trace is not around and isinstance(trace, Region) and trace.once is not None:
        trace = trace.parent
    return trace is around and trace is not None


def _exclude_each_other(trace: Trace, used: Trace) -> bool:
    """Returns True if two traces belong to different branches of one ``if``."""
    branches, others = [
        {one.once: one for one in inner.outward() if isinstance(one, Region) and one.once is not None}
        for inner in (trace, used)
    ]
    return any(branches[choice] is not others[choice] for choice in branches.keys() & others.keys())


def _flat(value: Any) -> tuple[Sequence[Any], Callable[[list[Any]], Any]]:
    """Returns the leaves of a nested structure, and the function that makes such a structure of others."""
    if isinstance(value, _LEAF):
        return (value,), operator.itemgetter(0)
    if type(value) is list and all(isinstance(part, _LEAF) for part in cast("list[Any]", value)):
        return cast("list[Any]", value), list
    leaves, structure = nest.flatten(value)
    return leaves, partial(nest.unflatten, structure)


_LEAF = (Tensor, Variable)
