"""The backward walk of a tape, from the cotangents of targets to the gradients of sources."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphc.compiler.base import nest, user_location
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, UnimplementedError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, Tensor, Variable, device_scope, operand
from graphc.compiler.gradients.records import TapeRecord, key_of, key_of_any
from graphc.compiler.ir import Node, Value
from graphc.compiler.ops import COND, SCAN, SWITCH, VJP, WHILE, was_joined
from graphc.compiler.tracing import Trace, context, keep_apart

# Sources of compiled gradients that other values of the program depend on, or are, where the tape does not see it.


class TapeStep(NamedTuple):
    """An operation that ran in a trace while a tape was open."""

    inputs: Sequence[Value]
    outputs: Sequence[Value]
    is_followed: bool


def step_of(inputs: Iterable[object], outputs: Iterable[object], is_followed: bool) -> TapeStep:
    """Returns the step of an operation with these operands and results."""
    consumed, produced = (
        [one.raw for one in values if isinstance(one, SymbolicTensor)] for values in (inputs, outputs)
    )
    return TapeStep(consumed, produced, is_followed)


_BRANCHES = (COND, SWITCH)
_LOOPS = (SCAN, WHILE)


def used_inside(source: Tensor, is_item: bool, steps: Sequence[TapeStep], targets: Iterable[Tensor]) -> str:
    """Returns "loop" or "branch" if targets depend on a source that such a construct computes; else an empty string."""
    # is_item: whether the source is an item of a list that a loop filled, and so represents a tensor of the loop's
    # body.
    if not isinstance(source, SymbolicTensor):
        return ""
    value = _origin(source.raw) if is_item else source.raw
    node = value.node
    if node is None or node.op not in (*_BRANCHES, *_LOOPS):
        return ""
    indices = frozenset(range(len(node.outputs))) if is_item else _computed_of(node, value.index)
    wanted = {node.outputs[index] for index in indices}
    if not wanted or wanted.isdisjoint(_recorded_behind(targets, source.raw, steps)):
        return ""
    return "branch" if node.op in _BRANCHES else "loop"


def _origin(value: Value) -> Value:
    """Returns the buffer that an item was taken from."""
    while value.node is not None and value.node.op not in (*_BRANCHES, *_LOOPS) and value.node.inputs:
        value = value.node.inputs[0]
    return value


def _computed_of(node: Node, index: int) -> frozenset[int]:
    """Returns the positions of a node's other outputs that are computed, inside it, from one of its outputs."""
    if index >= node.attrs.get("num_carry", len(node.outputs)):  # one row for each iteration
        return frozenset(range(len(node.outputs)))
    positions: set[int] = set()
    for body in node.regions[1:] if node.op is WHILE else node.regions:
        computed = {body.outputs[index]}
        for inner in body.nodes:
            if not computed.isdisjoint(inner.inputs):
                computed.update(inner.outputs)
        positions.update(
            other for other, value in enumerate(body.outputs) if value in computed and value.type.is_inexact
        )
    return frozenset(positions - {index})


def _recorded_behind(targets: Iterable[Tensor], source: Value, steps: Sequence[TapeStep]) -> set[Value]:
    """Returns the values that targets depend on according to the tape, except those that the source depends on."""
    followed = [step for step in steps if step.is_followed]
    recorded = {value for step in followed for value in step.outputs}
    return _behind(targets, source, followed) & recorded


def _behind(targets: Iterable[Tensor], source: Value | None, steps: Sequence[TapeStep]) -> set[Value]:
    """Returns the values that targets depend on, themselves included, except through a source."""
    values = {target.raw for target in targets if isinstance(target, SymbolicTensor) and target.raw is not source}
    for inputs, outputs, _ in reversed(steps):
        if not values.isdisjoint(outputs):
            values.update([value for value in inputs if value is not source])
    return values


def check_apart(
    trace: Trace, sources: Iterable[Value], targets: Sequence[Tensor], steps: Sequence[TapeStep],
    followed: Container[int], refuse: Callable[[], GraphcError],
) -> None:  # fmt: skip
    """Refuses a source that may be one tensor with another value that the targets depend on."""
    by_type: dict[object, list[Value]] = {}
    for value in _behind(targets, None, steps):
        if value.type.is_inexact:
            by_type.setdefault((value.type.shape, value.type.dtype), []).append(value)
    recorded = {value for step in steps if step.is_followed for value in step.outputs}
    for source in sources:
        others = [value for value in by_type.get((source.type.shape, source.type.dtype), ()) if value is not source]
        if id(source) not in followed:
            others = [value for value in others if id(value) in followed]
        if not others:
            continue
        used = _behind(targets, source, steps)
        for value in others:
            if value in used:
                # What the tape saw to come from the source is followed from there.
                keep_apart(trace, source, value, refuse, stop=source if value in recorded else None)


_INSIDE = {
    "loop": (
        "the gradient is with respect to a tensor that a loop computes and then uses: compiled, the loop "
        "is one operation, and the tape does not see that use. Unroll the loop (gx.loop_options(unroll=True) as the "
        "first statement of its body), or differentiate with respect to the loop's inputs"
    ),
    "branch": (
        "the gradient is with respect to a tensor that a branch computes and then uses: compiled, the "
        "branches are one operation, and the tape does not see that use. Compute the tensor, or the values that use "
        "it, outside the branch"
    ),
}
"""The errors for uses that :func:`used_inside` finds, with remedies."""

_JOINED = (
    "the gradient is with respect to a row of an array, of which rows were joined again: compiled, what is joined is "
    "the array. Watch the row before that (tape.watch(row)), or differentiate with respect to the array"
)
"""The error for rows that :func:`was_joined` finds."""

_ALIAS = (
    "the gradient is with respect to a tensor that may be the same one as another that the target depends on: two "
    "names of one tensor until a branch or loop assigns one of them, or one tensor passed for two arguments. Python "
    "computes another gradient where they are one. Give one of the names a tensor of its own from its start: "
    "w = x.copy(), not w = x"
)
"""The error for sources that :func:`check_apart` finds."""


@dataclass(frozen=True)
class Backward:
    """The steps of a tape, from the last one to the first."""

    records: Sequence[TapeRecord]  # the steps, in the order in which they ran
    connected: Mapping[int, Tensor]  # the tensors that depend on what is watched
    trace: Trace | None  # where the tape was opened; None in eager code
    saw_pins: bool  # whether a step may be pinned to a device
    steps: Sequence[TapeStep]  # all steps of the trace while the tape was open
    watched: Container[int]
    joined: int  # how many arrays had their rows joined before the tape was opened

    def pulled(
        self, targets: Sequence[Tensor], output_gradients: Any, sources: Sequence[Any], groups: Sequence[list[Tensor]]
    ) -> list[Tensor | None]:
        """Returns the gradients with respect to the sources, each with the tensors whose gradient it is."""
        if self.trace is not None:
            self._check_inside(targets, sources, groups)
        cotangents = self._seeds(targets, output_gradients)
        zeros = self._backpropagate(cotangents, groups, sources)
        return [_total(cotangents, zeros, group) for group in groups]

    def _check_inside(
        self, targets: Sequence[Tensor], sources: Sequence[Any], groups: Sequence[Sequence[Tensor]]
    ) -> None:
        """Refuses a source that a loop or branch uses inside to compute other values that the targets depend on."""
        trace = self.trace
        assert trace is not None
        for source, group in zip(sources, groups, strict=True):
            if isinstance(source, Variable) or not group:
                continue
            where = used_inside(group[0], trace.root.aliases.is_frozen(source), self.steps, targets)
            if where:
                raise trace.refuse(UnimplementedError(_INSIDE[where]))
            if id(source) not in self.watched and was_joined(source, self.joined):
                raise trace.refuse(UnimplementedError(_JOINED))
        values = [
            (group[0] if group else trace.lift(source)).raw
            for source, group in zip(sources, groups, strict=True)
            if isinstance(source, Tensor) and (not isinstance(source, SymbolicTensor) or trace.is_inside(source.trace))
        ]
        location = user_location()
        check_apart(trace, values, targets, self.steps, self.connected, lambda: UnimplementedError(_ALIAS).at(location))

    def _seeds(self, targets: Sequence[Tensor], output_gradients: Any) -> dict[int, Tensor]:
        cotangents = nest.flatten(output_gradients)[0] if output_gradients is not None else [None] * len(targets)
        if len(cotangents) != len(targets):
            raise InvalidArgumentError(
                f"gradient(): got {len(cotangents)} output_gradients for {len(targets)} targets"
            ).here()
        seeds: dict[int, Tensor] = {}
        for target, cotangent in zip(targets, cotangents, strict=True):
            if cotangent is None:
                _accumulate(seeds, target, _ones(target))
                continue
            seed: Any = operand(cotangent)
            shape = getattr(seed, "shape", ())
            if tuple(shape) != target.shape:
                raise InvalidArgumentError(
                    f"gradient(): an output gradient of shape {tuple(shape)} for a target of shape {target.shape}"
                ).here()
            _accumulate(seeds, target, FUNCTIONS["asarray"](seed, dtype=target.dtype))
        return seeds

    def _backpropagate(
        self, cotangents: dict[int, Tensor], groups: Sequence[Sequence[Tensor]], sources: Sequence[Any]
    ) -> set[int]:
        """Adds the cotangents of the steps' inputs, and returns the keys of the tensors that have a zero one."""
        # A zero is not computed: times an infinite derivative it would be NaN.
        needed = {key_of(tensor) for group in groups for tensor in group}
        names = {source.name for source in sources if isinstance(source, Variable)}
        # By the objects themselves if no tensor is symbolic: calls of _key would cost a tenth of the whole.
        key: Callable[[Any], int] = id if self.trace is None else key_of_any
        path: list[tuple[TapeRecord, tuple[int, ...]]] = []
        connected = self.connected
        for record in list(self.records):
            wrt = tuple([index for index, value in enumerate(record.inputs) if key(value) in needed])
            if wrt:
                path.append((record, wrt))
                outputs = record.outputs if not record.regions else record.reached(wrt)
                needed.update([name for name in map(key, outputs) if name in connected])
        zeros: set[int] = set()
        for record, wrt in reversed(path):
            upstream = [cotangents.get(key(output)) for output in record.outputs]
            inputs = record.inputs
            if zeros and any(key(output) in zeros for output in record.outputs):
                reached = [True if key(output) in zeros else None for output in record.outputs]
                zeros.update([key(inputs[index]) for index in record.reaching(wrt, reached)])
            if record.regions:
                wrt = record.reaching(wrt, upstream)
            if not wrt or all(cotangent is None for cotangent in upstream):
                continue
            if record.op is VJP:
                every, wrt = wrt, record.depending(wrt, upstream)
                zeros.update([key(inputs[index]) for index in every if index not in wrt])
            if names and (assigned := names.intersection(record.attrs.get("assigned", ()))):
                raise UnimplementedError(
                    f"the gradient with respect to Variable {', '.join(map(repr, sorted(assigned)))} goes through a "
                    "loop, branch or compiled function that assigns it; open the tape inside the loop body, or pass "
                    "the value as a tensor"
                ).here()
            with self._where_it_ran(record) if self.saw_pins else _HERE:
                for position, gradient in zip(wrt, record.pull(wrt, upstream), strict=True):
                    if gradient is not None:
                        name = key(inputs[position])
                        before = cotangents.get(name)
                        cotangents[name] = gradient if before is None else before + gradient
        return zeros

    def _where_it_ran(self, record: TapeRecord) -> AbstractContextManager[None]:
        """Returns the device scope of a backward step: the current one, or the forward step's if that named devices."""
        # The cotangents may come from steps on other devices.
        device = record.outputs[0].device if not context.device else ""
        return device_scope(device) if device and "," not in device else _HERE


_HERE = nullcontext()


def _total(cotangents: Mapping[int, Tensor], zeros: Container[int], group: Sequence[Tensor]) -> Tensor | None:
    """Returns the sum of the cotangents of some tensors; None if they have none."""
    total: Tensor | None = None
    for tensor in group:
        gradient = cotangents.get(key_of(tensor))
        if gradient is not None:
            total = gradient if total is None else total + gradient
    if total is None and any(key_of(tensor) in zeros for tensor in group):
        return FUNCTIONS["zeros_like"](group[0])
    # A separate tensor: two sources may share a gradient, which may be the user's own tensor.
    return None if total is None else Tensor(total.raw) if context.eager else total.fork()


_known_ones: dict[Any, Tensor] = {}
"""A scalar one of each dtype."""


def _ones(target: Tensor) -> Tensor:
    """Returns the cotangent of a target that is given none."""
    if not context.eager:
        return FUNCTIONS["ones_like"](target)
    array = target.raw
    if array.shape or array.committed or array.weak_type:
        return FUNCTIONS["ones_like"](target.fork())  # unlike a snapshot, a fork takes the fast path
    ones = _known_ones.get(array.dtype)
    if ones is None:
        ones = _known_ones[array.dtype] = FUNCTIONS["ones_like"](target)
    return ones


def _accumulate(cotangents: dict[int, Tensor], tensor: Tensor, cotangent: Tensor) -> None:
    key = key_of(tensor)
    before = cotangents.get(key)
    cotangents[key] = cotangent if before is None else before + cotangent
