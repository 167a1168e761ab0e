"""GradientTape: reverse-mode differentiation, the same in eager code and inside a compiled function.

The tape notes which op took which tensors to which. To differentiate it walks the notes backwards and applies the
``vjp`` op through the one door, so that the backward pass runs eagerly, or becomes part of the graph, as the forward
pass did; other tapes that are open see it, which gives higher orders.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal

from graphc.base import at, nest, user_location
from graphc.base.errors import FailedPreconditionError, InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.core import (
    FAILED,
    FUNCTIONS,
    NO_ATTRS,
    SymbolicTensor,
    Tensor,
    Variable,
    apply,
    apply_all,
    call_kernel,
    device_scope,
    is_examining,
    kernel,
    operand,
    pulling_back,
    shorten,
    tape_scope,
)
from graphc.gradients.forward_pass import ForwardPass, forward_pass
from graphc.gradients.inside import used_inside
from graphc.gradients.reach import reach
from graphc.gradients.rows import for_rows
from graphc.ir import OPS, Attrs, Graph, OpDef
from graphc.ops import VJP, vjp_attrs
from graphc.tracing import Region, Trace, context

__all__ = ["GradientTape"]

Gradients = Sequence[Tensor | None]

_INSIDE = {
    "loop": (
        "a gradient is asked for with respect to a tensor that a loop computed and went on to use: compiled, the loop "
        "is one operation, and the tape does not see that use. Unroll the loop (gx.loop_options(unroll=True) as the "
        "first statement of its body), or ask for the gradient with respect to what goes into the loop"
    ),
    "branch": (
        "a gradient is asked for with respect to a tensor that a branch computed and went on to use: compiled, the "
        "branches are one operation, and the tape does not see that use. Compute the tensor, or what is made of it, "
        "outside of the branch"
    ),
}
"""What to do where :func:`used_inside` finds a use."""


def _key(snapshot: Tensor) -> int:
    """What identifies the snapshot of a tensor on a tape: itself when eager, its value in the graph when symbolic."""
    return id(snapshot.raw) if isinstance(snapshot, SymbolicTensor) else id(snapshot)


Pullback = Callable[[Sequence[int], Gradients], Gradients]


def _key_of_any(value: Any) -> int:
    """As :func:`_key`; for what is no tensor, what no tensor has."""
    return _key(value) if isinstance(value, Tensor) else -1


@dataclass(slots=True)  # not frozen, which would cost a microsecond for each op
class _Record:
    """One step that a tape saw: how to pull the outputs' cotangents back to the inputs.

    The tensors are snapshots: items may be assigned to the user's own.

    Attributes:
      inputs: tensors and numbers.
      outputs: the tensors computed from them.
      pullback: takes positions of inputs and one cotangent or None for each output; None for that of the op.
      op: what was applied, where there is no other pullback.
      attrs: its attributes.
      regions: its bodies.
      forward: what ran in place of its kernel.
    """

    inputs: Sequence[Any]
    outputs: Sequence[Tensor]
    pullback: Pullback | None
    op: OpDef | None = None
    attrs: Attrs = NO_ATTRS
    regions: Sequence[Graph] = ()
    forward: ForwardPass | None = None

    def reached(self, wrt: Sequence[int]) -> Sequence[Tensor]:
        """Returns the outputs that depend on the inputs at these positions, as far as the bodies tell."""
        places = self._reach()
        if places is None:
            return self.outputs
        return [output for output, used in zip(self.outputs, places, strict=True) if not used.isdisjoint(wrt)]

    def reaching(self, wrt: tuple[int, ...], cotangents: Gradients) -> tuple[int, ...]:
        """Of these positions, those of inputs that an output depends on that has a cotangent."""
        places = self._reach()
        if places is None:
            return wrt
        used = [found for found, given in zip(places, cotangents, strict=True) if given is not None]
        return tuple([place for place in wrt if any(place in found for found in used)])

    def _reach(self) -> Sequence[frozenset[int]] | None:
        return None if self.op is None else reach(self.op, self.attrs, self.regions)

    def pull(self, wrt: tuple[int, ...], cotangents: Gradients) -> Gradients:
        """Returns the gradients of the inputs at these positions."""
        if self.op is None:
            assert self.pullback is not None
            return self.pullback(wrt, cotangents)
        if self.forward is not None:
            found = self.forward.pull(self.inputs, wrt, cotangents)
            if found is not None:
                return found
        given = [cotangent for cotangent in cotangents if cotangent is not None]
        mask = tuple([cotangent is not None for cotangent in cotangents])
        if context.eager and not self.regions and not self.op.platforms:
            compiled = _compiled(self.op, self.attrs, wrt, mask)
            arrays = call_kernel(compiled, (*self.inputs, *given), Tensor)
            if arrays is not FAILED:
                return list(map(Tensor, arrays))
        vjp = vjp_attrs(self.op, self.attrs, wrt, mask)
        if not is_examining():
            return apply_all(VJP, (*self.inputs, *given), vjp, self.regions)
        with pulling_back(self.outputs):
            return apply_all(VJP, (*self.inputs, *given), vjp, self.regions)


def _compiled(op: OpDef, attrs: Attrs, wrt: tuple[int, ...], mask: tuple[bool, ...]) -> Callable[..., Any]:
    """Returns the compiled pullback of an op: primals and cotangents in, gradients out."""
    key = (attrs, wrt, mask)
    found = op.pullbacks.get(key)
    if found is None:
        if len(op.pullbacks) >= _PULLBACKS_KEPT:
            op.pullbacks.clear()
        found = op.pullbacks[key] = kernel(VJP, vjp_attrs(op, attrs, wrt, mask))
    return found


_PULLBACKS_KEPT = 64


class GradientTape:
    """Records ops for differentiation (TensorFlow's GradientTape).

    Args:
      persistent: whether :meth:`gradient` may be called more than once.
      watch_accessed_variables: whether trainable variables are watched as they are read.

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
    """Whether something that the tape has seen may be pinned to a device."""

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watch_variables = watch_accessed_variables
        self._records: list[_Record] = []
        self.saw_pins = False
        self._connected: dict[int, Tensor] = {}
        self._given: dict[int, tuple[Tensor, Tensor]] = {}
        self._reads: dict[str, list[Tensor]] = {}
        self._variables: dict[str, Variable] = {}
        self._watched: set[str] = set()
        self._used_in: list[Trace | None] = []
        self._is_open = False
        self._trace = context.trace

    def __enter__(self) -> GradientTape:
        if self in context.tapes:
            raise at(FailedPreconditionError("this GradientTape is open already"), user_location())
        self._trace = context.trace
        self._is_open = True
        context.tapes = (*context.tapes, self)
        context.update()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_open = False
        context.tapes = tuple(tape for tape in context.tapes if tape is not self)
        context.update()

    def watch(self, tensors: Any) -> None:
        """Starts to watch tensors or variables, alone or in a nested structure.

        Gradients with respect to a tensor are taken at the values that it has now, also if its items are assigned
        later.

        Raises:
          InvalidTypeError: something else, or a tensor of integers or truth values.
        """
        for tensor in nest.flatten(tensors)[0]:
            if isinstance(tensor, Variable):
                self._watched.add(tensor.name)
            elif not isinstance(tensor, Tensor):
                error = InvalidTypeError(f"GradientTape.watch: expected a Tensor or a Variable, got {tensor!r:.60}")
                raise at(error, user_location())
            elif not tensor.type.is_inexact:
                error = InvalidTypeError(
                    f"GradientTape.watch: {tensor.type} has no gradient; watch a tensor of a floating dtype"
                )
                raise at(error, user_location())
            else:
                snapshot = self._snapshot(tensor)
                self._connected[_key(snapshot)] = snapshot
                self._given[id(tensor)] = (tensor, snapshot)

    def _snapshot(self, tensor: Tensor) -> Tensor:
        """Returns the tensor as it is now; in a trace, one that comes from outside is an input of it."""
        if self._trace is None or isinstance(tensor, SymbolicTensor):
            return tensor.snapshot()
        return self._trace.capture(tensor)

    @contextmanager
    def stop_recording(self) -> Generator[None]:
        """Inside the scope the tape sees nothing."""
        with tape_scope(tuple(tape for tape in context.tapes if tape is not self)):
            yield

    def reset(self) -> None:
        """Forgets everything."""
        self._records.clear()
        self._connected.clear()
        self._given.clear()
        self._reads.clear()
        self._variables.clear()
        self._watched.clear()
        self._used_in.clear()

    def watched_variables(self) -> tuple[Variable, ...]:
        """Returns the watched variables that were read, in the order of their first read."""
        return tuple(self._variables.values())

    def forward(self, op: OpDef, inputs: Sequence[Any], attrs: Attrs, regions: Sequence[Graph]) -> ForwardPass | None:
        """Returns what to run in place of an op's kernel, so that its gradient costs less; dispatch calls this."""
        return forward_pass(op, inputs, attrs, regions, lambda value: _key(value.snapshot()) in self._connected)

    def record(
        self, op: OpDef, inputs: Sequence[Any], attrs: Attrs, regions: Sequence[Graph], outputs: Sequence[Any],
        forward: ForwardPass | None = None,
    ) -> None:  # fmt: skip
        """Notes an op; dispatch calls this."""
        if not context.taped and context.device:
            self.saw_pins = True
        known = self._connected
        kept: list[Any] = []
        if self._trace is not None or len(outputs) != 1:
            kept, connected = self._inputs(inputs)
            if connected:
                self._records.append(_Record(kept, self._outputs(outputs), None, op, attrs, regions, forward))
            return
        # The same for an eager op of one output, without calls: these would cost a third of the op.
        connected = False
        for value in inputs:
            if isinstance(value, Tensor):
                snapshot = getattr(value, "known_as", None)
                if snapshot is None or snapshot.raw is not value.raw:
                    snapshot = value.snapshot()
                if id(snapshot) in known:
                    connected = True
                kept.append(snapshot)
            else:
                kept.append(value)
        (output,) = outputs
        if connected and (output.raw.dtype.kind == "f" or output.type.is_inexact):
            snapshot = output.snapshot()
            known[id(snapshot)] = snapshot
            self._records.append(_Record(kept, (snapshot,), None, op, attrs, regions, forward))

    def record_custom(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Tensor],
        pullback: Pullback,
    ) -> None:
        """Notes a step with a pullback of its own.

        Args:
          inputs: tensors and numbers.
          outputs: the tensors computed from them.
          pullback: takes positions of inputs and one cotangent or None for each output; returns one gradient or None
            for each position.
        """
        kept, connected = self._inputs(inputs)
        if connected:
            self.saw_pins = self.saw_pins or bool(context.device)
            self._records.append(_Record(kept, self._outputs(outputs), pullback))

    def _inputs(self, values: Sequence[Any]) -> tuple[list[Any], bool]:
        """Returns the inputs of a step as they are now, and whether one of them comes from what is watched."""
        eager, known = self._trace is None, self._connected
        kept: list[Any] = []
        connected = False
        for value in values:
            if isinstance(value, Tensor):
                # Without the calls of _snapshot and _key, which would cost a tenth of an eager op.
                value = value.snapshot() if eager else self._snapshot(value)
                connected = connected or (id(value) if eager else id(value.raw)) in known
            kept.append(value)
        return kept, connected

    def _outputs(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Returns the outputs of a step as they are now; the tape follows them from here on."""
        eager = self._trace is None
        kept: list[Tensor] = []
        for tensor in tensors:
            snapshot = tensor.snapshot()
            kept.append(snapshot)
            if tensor.dtype.kind == "f" or tensor.type.is_inexact:
                self._connected[id(snapshot) if eager else id(snapshot.raw)] = snapshot
        return kept

    def _watches(self, variable: Variable) -> bool:
        watched = variable.name in self._watched or (self._watch_variables and variable.trainable)
        return watched and variable.type.is_inexact

    @property
    def is_idle(self) -> bool:
        """True if it follows no tensor yet."""
        return not self._connected

    def follows(self, value: Tensor | Variable) -> bool:
        """Returns True if a tensor or variable is watched, or was computed of what is."""
        if isinstance(value, Variable):
            return self._watches(value)
        if id(value) in self._given:
            return True
        return _key(value.snapshot()) in self._connected

    def record_read(self, variable: Variable, tensor: Tensor) -> None:
        """Notes that reading ``variable`` gave ``tensor``; Variable calls this."""
        if self._watches(variable):
            snapshot = tensor.snapshot()
            self._connected[_key(snapshot)] = snapshot
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

        A tensor to whose items values were assigned stands, as a source that is watched, for the values that it had
        when :meth:`watch` was given it; as any other source, and as a target, for those that it has now.

        Args:
          target: a tensor, or a nested structure of them, whose sum is differentiated.
          sources: a tensor or variable that is watched, or a nested structure of them.
          output_gradients: the cotangent of each target, taken in the target's dtype; ones when None.
          unconnected_gradients: what a source that the target does not depend on gets, also since the target was
            computed outside the tape: ``"none"`` or ``"zero"``.

        Returns:
          Tensors of the sources' shapes and dtypes, in the structure of ``sources``.

        Raises:
          FailedPreconditionError: a second call on a tape that is not persistent, or a call from inside a loop that the
            tape was opened outside of.
          InvalidTypeError: the target is no floating tensor, or a source neither tensor nor variable.
        """
        self._check_use("gradient()", unconnected_gradients)
        targets = [self._target("gradient()", value) for value in nest.flatten(target)[0]]
        source_list, structure = nest.flatten(sources)
        groups = [self._source_tensors("gradient()", source) for source in source_list]
        try:
            gradients = self._pulled(targets, output_gradients, source_list, groups)
            if unconnected_gradients == "zero":
                pairs = zip(gradients, source_list, strict=True)
                gradients = [apply(OPS["zeros_like"], (source,)) if found is None else found for found, source in pairs]
        except Exception as error:
            shorten(error)
            raise
        self._end_use()
        return nest.unflatten(structure, gradients)

    def jacobian(self, target: Any, sources: Any, unconnected_gradients: Literal["none", "zero"] = "none") -> Any:
        """Gives the derivatives of each element of ``target`` with respect to ``sources`` (TensorFlow's ``jacobian``).

        One backward pass gives all rows at once, by ``jax.vmap``. In eager code under another open tape it is compiled
        at each call, as a graph; compile the whole with ``gx.function`` where that is asked for often.

        Args:
          target: a tensor.
          sources: as for :meth:`gradient`.
          unconnected_gradients: as for :meth:`gradient`.

        Returns:
          In the structure of ``sources``, tensors of the target's shape followed by the source's, of its dtype.

        Raises:
          FailedPreconditionError: as :meth:`gradient`.
          InvalidTypeError: as :meth:`gradient`; or the target is no tensor alone, or one of complex numbers.

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
        source_list, structure = nest.flatten(sources)
        groups = [self._source_tensors("jacobian()", source) for source in source_list]
        found = for_rows(lambda row: self._pulled([tensor], row, source_list, groups), rows)
        jacobians: list[Any] = []
        for source, jacobian in zip(source_list, found, strict=True):
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
          target: a tensor ``[b, ...]``, each of whose rows depends on no other row of the source than its own: where
            one does, the result is the sum of its derivatives by all rows.
          source: a tensor or variable ``[b, ...]`` that is watched.
          unconnected_gradients: as for :meth:`gradient`.

        Returns:
          A tensor ``[b, *target.shape[1:], *source.shape[1:]]``.

        Raises:
          InvalidArgumentError: target and source have not the same number of rows.
          FailedPreconditionError, InvalidTypeError: as :meth:`jacobian`.

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
            error = InvalidArgumentError(
                f"batch_jacobian(): target and source must have the same number of rows, got the shapes {shape} and "
                f"{wanted}"
            )
            raise at(error, user_location())
        size = math.prod(shape[1:])
        eye = FUNCTIONS["reshape"](FUNCTIONS["eye"](size, dtype=tensor.dtype), (size, 1, *shape[1:]))
        rows = FUNCTIONS["broadcast_to"](eye, (size, *shape))
        (found,) = for_rows(lambda row: self._pulled([tensor], row, [source], [group]), rows)
        self._end_use()
        whole = (*shape, *wanted[1:])
        if found is None:
            return FUNCTIONS["zeros"](whole, dtype=source.dtype) if unconnected_gradients == "zero" else None
        return FUNCTIONS["reshape"](FUNCTIONS["moveaxis"](found, 0, 1), whole)

    def _real(self, call: str, target: Any) -> Tensor:
        """Returns the target of a Jacobian."""
        if nest.children(target) is not None:
            error = InvalidTypeError(
                f"{call}: the target must be one tensor, got {target!r:.60}; ask for each by itself"
            )
            raise at(error, user_location())
        found = self._target(call, target)
        if found.dtype.kind == "c":
            error = InvalidTypeError(
                f"{call}: the target is {found.type}, and derivatives of complex numbers are no complex matrix; take "
                "its real and its imaginary part"
            )
            raise at(error, user_location())
        return found

    def _pulled(
        self, targets: Sequence[Tensor], output_gradients: Any, sources: Sequence[Any], groups: Sequence[list[Tensor]]
    ) -> list[Tensor | None]:
        """Returns the gradients with respect to the sources, each given with the tensors that are gradients of it."""
        if self._trace is not None:
            self._check_inside(targets, sources, groups)
        cotangents = self._seeds(targets, output_gradients)
        self._backpropagate(cotangents, groups, sources)
        return [_total([cotangents.get(_key(tensor)) for tensor in group]) for group in groups]

    def _check_inside(
        self, targets: Sequence[Tensor], sources: Sequence[Any], groups: Sequence[Sequence[Tensor]]
    ) -> None:
        """Refuses a source of which a loop or branch made something else that the targets depend on."""
        assert self._trace is not None
        steps = [(record.inputs, record.outputs) for record in self._records]
        for source, group in zip(sources, groups, strict=True):
            if isinstance(source, Variable) or not group:
                continue
            where = used_inside(group[0], self._trace.root.aliases.is_frozen(source), steps, targets)
            if where:
                raise self._trace.refuse(UnimplementedError(_INSIDE[where]))

    def _end_use(self) -> None:
        """Forgets what a tape that is used once needs no more."""
        if not self._persistent and context.trace is self._trace:  # two branches may ask the same tape
            self._records.clear()
            self._connected.clear()
            self._given.clear()

    def _check_use(self, call: str, unconnected: str) -> None:
        if unconnected not in ("none", "zero"):
            error = InvalidArgumentError(f"unconnected_gradients must be 'none' or 'zero', got {unconnected!r}")
            raise at(error, user_location())
        trace = context.trace
        if not self._persistent and any(_may_come_after(trace, used) for used in self._used_in):
            error = FailedPreconditionError(
                f"{call} was called before on this GradientTape; for more than one call make it with persistent=True"
            )
            raise at(error, user_location())
        if trace is not self._trace and (self._is_open or not _is_branch_of(trace, self._trace)):
            error = FailedPreconditionError(
                f"{call} is called in another function or loop body than the one that opened the GradientTape, or "
                "in a branch while it is open; open and use a tape in the same one"
            )
            raise at(error, user_location())
        self._used_in.append(trace)

    def _target(self, call: str, value: Any) -> Tensor:
        if isinstance(value, Variable):
            reads = self._reads.get(value.name)
            value = reads[-1] if reads else value.value()
        if not isinstance(value, Tensor):
            error = InvalidTypeError(f"{call}: the target must be a Tensor, got {type(value).__name__} {value!r:.60}")
            raise at(error, user_location())
        if not value.type.is_inexact:
            error = InvalidTypeError(f"{call}: the target must have a floating dtype, got {value.type}")
            raise at(error, user_location())
        return self._snapshot(value)

    def _source_tensors(self, call: str, source: Any) -> list[Tensor]:
        if isinstance(source, Variable):
            return self._reads.get(source.name, [])
        if isinstance(source, Tensor):
            given = self._given.get(id(source))
            snapshot = self._snapshot(source) if given is None else given[1]
            return [snapshot] if _key(snapshot) in self._connected else []
        error = InvalidTypeError(f"{call}: a source must be a Tensor or a Variable, got {source!r:.60}")
        raise at(error, user_location())

    def _seeds(self, targets: Sequence[Tensor], output_gradients: Any) -> dict[int, Tensor]:
        given = nest.flatten(output_gradients)[0] if output_gradients is not None else [None] * len(targets)
        if len(given) != len(targets):
            error = InvalidArgumentError(f"gradient(): {len(given)} output_gradients for {len(targets)} targets")
            raise at(error, user_location())
        seeds: dict[int, Tensor] = {}
        for target, cotangent in zip(targets, given, strict=True):
            seed: Any = FUNCTIONS["ones_like"](target) if cotangent is None else operand(cotangent)
            shape = getattr(seed, "shape", ())
            if tuple(shape) != target.shape:
                error = InvalidArgumentError(
                    f"gradient(): an output gradient of shape {tuple(shape)} for a target of shape {target.shape}"
                )
                raise at(error, user_location())
            if cotangent is not None:
                seed = FUNCTIONS["asarray"](seed, dtype=target.dtype)
            _accumulate(seeds, target, seed)
        return seeds

    def _backpropagate(
        self, cotangents: dict[int, Tensor], groups: Sequence[Sequence[Tensor]], sources: Sequence[Any]
    ) -> None:
        needed = {_key(tensor) for group in groups for tensor in group}
        names = {source.name for source in sources if isinstance(source, Variable)}
        # By the objects themselves where no tensor is symbolic: a call of _key for each would cost a tenth of all.
        key: Callable[[Any], int] = id if self._trace is None else _key_of_any
        path: list[tuple[_Record, tuple[int, ...]]] = []
        connected = self._connected
        for record in list(self._records):
            wrt = tuple([place for place, value in enumerate(record.inputs) if key(value) in needed])
            if wrt:
                path.append((record, wrt))
                outputs = record.outputs if not record.regions else record.reached(wrt)
                needed.update([name for name in map(key, outputs) if name in connected])
        for record, wrt in reversed(path):
            given = [cotangents.get(key(output)) for output in record.outputs]
            if record.regions:
                wrt = record.reaching(wrt, given)
            if not wrt or all(cotangent is None for cotangent in given):
                continue
            if names and (assigned := names.intersection(record.attrs.get("assigned", ()))):
                _refuse_assigned(sorted(assigned))
            inputs = record.inputs
            with self._where_it_ran(record) if self.saw_pins else _HERE:
                for position, gradient in zip(wrt, record.pull(wrt, given), strict=True):
                    if gradient is not None:
                        name = key(inputs[position])
                        before = cotangents.get(name)
                        cotangents[name] = gradient if before is None else before + gradient

    def _where_it_ran(self, record: _Record) -> AbstractContextManager[None]:
        """The device scope of a step back: the one around, or where the step forward ran if devices were named there.

        The cotangents may come from steps on other devices.
        """
        device = record.outputs[0].device if not context.device else ""
        return device_scope(device) if device and "," not in device else _HERE


_HERE = nullcontext()


def _total(found: Sequence[Tensor | None]) -> Tensor | None:
    total: Tensor | None = None
    for gradient in found:
        if gradient is not None:
            total = gradient if total is None else total + gradient
    # A tensor of its own: two sources may have one gradient, which may be the very tensor that the user gave.
    return None if total is None else total.fork()


def _is_branch_of(trace: Trace | None, around: Trace | None) -> bool:
    """Returns True if a trace is that of a branch, or of one in a branch, and so on, in another trace."""
    while trace is not around and isinstance(trace, Region) and trace.once:
        trace = trace.parent
    return trace is around and trace is not None


def _may_come_after(trace: Trace | None, used: Trace | None) -> bool:
    """Returns True if the code of a trace may run after something that one traced before did."""
    return trace is used or (
        trace is not None and used is not None and (trace.is_inside(used) or used.is_inside(trace))
    )


def _accumulate(cotangents: dict[int, Tensor], tensor: Tensor, cotangent: Tensor) -> None:
    key = _key(tensor)
    before = cotangents.get(key)
    cotangents[key] = cotangent if before is None else before + cotangent


def _refuse_assigned(names: Sequence[str]) -> None:
    error = UnimplementedError(
        f"the gradient with respect to Variable {', '.join(map(repr, names))} goes through a loop, branch or compiled "
        "function that assigns it; open the tape inside the loop body, or pass the value as a tensor"
    )
    raise at(error, user_location())
