"""Identity of tensors: whether two values of a trace may be one tensor of the program.

Eager code knows tensors by their objects, so two names of one tensor are one for a tape. In a trace, a name that a
branch or a loop assigns has a value of its own, although it may hold a tensor that has other names too. The values that
branches and loops merely pass on tell which; :func:`keep_apart` refuses two values that may be one tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from graphc.base.errors import GraphcError
from graphc.core import SymbolicTensor, Tensor
from graphc.ir import Graph, Node, Value
from graphc.tracing.read_kinds import ReadGuard
from graphc.tracing.sources import Source, fixed

if TYPE_CHECKING:
    from graphc.tracing.trace import Trace

__all__ = ["Distinct", "Refusal", "check_loop", "keep_apart", "origins"]

Refusal: TypeAlias = "Callable[[], GraphcError]"
"""Makes the error for two values that may be one tensor."""

Distinct: TypeAlias = tuple[Value, Value, Refusal]
"""Two inputs of a loop's body that must not be one tensor in any iteration."""

_BRANCHES = ("cond", "switch")
_FIRST_CARRY = {"scan": 1, "while": 0}
"""The position of the first carried value among the inputs of a loop's body."""


def origins(value: Value, stop: Value | None = None) -> set[Value]:
    """Returns the values whose tensor a value may be: of this graph, or of the bodies of its branches and loops.

    Args:
      value: a value.
      stop: a value that is not followed further.
    """
    node = value.node
    if node is None or value is stop:
        return {value}
    if node.op.name in _BRANCHES:
        found = set[Value]()
        for region in node.regions:
            for inner in origins(region.outputs[value.index]):
                found |= origins(node.inputs[1 + inner.index], stop) if _is_input(region, inner) else {inner}
        return found
    if node.op.name in _FIRST_CARRY and value.index < node.attrs["num_carry"]:
        return _carried(node, value.index, stop)
    weak = node.op.name == "astype" and node.inputs[0].type.weak and not value.type.weak
    if weak and node.inputs[0].type.dtype == value.type.dtype:  # as where another branch has a strong type
        return origins(node.inputs[0], stop)
    return {value}


def _carried(node: Node, place: int, stop: Value | None) -> set[Value]:
    """Returns the origins of a value that a loop carries, after the loop."""
    body, count, first = node.regions[-1], node.attrs["num_carry"], _FIRST_CARRY[node.op.name]
    runs = node.attrs.get("length", 0) > 0
    places, found = [place], set[Value]() if runs else origins(node.inputs[place], stop)
    for carried in places:  # grows on the way
        for inner in origins(body.outputs[carried]):
            position = inner.index - first
            if not _is_input(body, inner) or position < 0:
                found.add(inner)
                continue
            found |= origins(node.inputs[position], stop)
            if position < count and position not in places:
                places.append(position)
    return found


def _is_input(graph: Graph, value: Value) -> bool:
    return value.node is None and value.index < len(graph.inputs) and graph.inputs[value.index] is value


def keep_apart(trace: Trace, first: Value, second: Value, refuse: Refusal, stop: Value | None = None) -> None:
    """Refuses two values of a trace that may be one tensor.

    For a loop that is still traced, :func:`check_loop` decides; for the arguments of a function, a guard at each call.

    Args:
      trace: the trace of the values.
      first: a value.
      second: another value.
      refuse: makes the error.
      stop: a value whose own origins do not count for ``second``.

    Raises:
      GraphcError: they may be one tensor; RegionAborted where an attempt to roll a loop may be given up instead.
    """
    others = origins(second, stop) - {stop}
    for one in origins(first):
        for other in others:
            if one is other:
                raise _refused(trace, refuse())
            if one.type.shape == other.type.shape and one.type.dtype == other.type.dtype:
                _keep_inputs_apart(trace, one, other, refuse)


def _refused(trace: Trace, error: GraphcError) -> GraphcError:
    trace.abort_attempts(str(error))
    return trace.note_refusal(error)


def _keep_inputs_apart(trace: Trace, one: Value, other: Value, refuse: Refusal) -> None:
    """Refuses two inputs of a trace that may be one tensor; a value that is no input is a tensor of its own."""
    if not _is_input_of(trace, one) or not _is_input_of(trace, other):
        return
    if trace.parent is None:
        _keep_arguments_apart(trace, one, other, refuse)
        return
    outer = _captured(trace)
    if one in outer and other in outer:
        keep_apart(trace.parent, outer[one], outer[other], refuse)
    elif all((one, other) != pair[:2] for pair in trace.distinct):
        trace.distinct.append((one, other, refuse))


def _is_input_of(trace: Trace, value: Value) -> bool:
    inputs = trace.builder.inputs
    return value.node is None and value.index < len(inputs) and inputs[value.index] is value


def _captured(trace: Trace) -> dict[Value, Value]:
    """Returns the enclosing trace's values of a region's inputs for tensors from outside."""
    pairs = trace.captures.values()
    return {inner.raw: outer.raw for outer, inner in pairs if isinstance(outer, SymbolicTensor)}


def check_loop(
    region: Trace,
    carried: Sequence[SymbolicTensor],
    body: Trace,
    outputs: Sequence[SymbolicTensor],
    initial: Sequence[Tensor],
) -> None:
    """Refuses a loop if two inputs of its test or body that must be distinct are one tensor in some iteration.

    Args:
      region: the trace of the test or the body, still open.
      carried: its inputs for the carried values.
      body: the trace of the body, still open.
      outputs: the carried values after an iteration.
      initial: the carried values before the loop.

    Raises:
      GraphcError: as :func:`keep_apart`.
    """
    if not region.distinct or region.parent is None:
        return
    places = {argument.raw: place for place, argument in enumerate(carried)}
    outer = _captured(region)
    for one, other, refuse in region.distinct:  # grows on the way, if the region is the body
        if not all(value in places or value in outer for value in (one, other)):
            continue  # another input, such as a row, is a tensor of its own
        around = [
            region.parent.lift(initial[places[value]]) if value in places else region.parent.wrap(outer[value])
            for value in (one, other)
        ]
        start = [tensor.raw for tensor in around]
        following = [
            (outputs[places[value]] if value in places else body.lift(tensor)).raw
            for value, tensor in zip((one, other), around, strict=True)
        ]
        try:
            keep_apart(region.parent, start[0], start[1], refuse)
        except GraphcError as error:
            region.abort(str(error))
            raise
        keep_apart(body, following[0], following[1], refuse)


def _keep_arguments_apart(trace: Trace, one: Value, other: Value, refuse: Refusal) -> None:
    """Refuses a call in which two inputs of the function are one tensor; guards the trace against such calls."""
    (first, source), (second, other_source) = _given(trace, one), _given(trace, other)
    if not isinstance(first, Tensor) or not isinstance(second, Tensor):
        return  # a tape follows no other array
    if first.snapshot() is second.snapshot():
        raise _refused(trace, refuse())
    if source.of_call or other_source.of_call or source.base is not None or other_source.base is not None:
        guard = ReadGuard(source, "{v} is not {s0}", (), others=(other_source,))
        trace.reads.guards.setdefault(("is not", source.key, other_source.key), guard)


def _given(trace: Trace, value: Value) -> tuple[object, Source]:
    """Returns what this call gives for an input of the function, and where a call finds it."""
    if value.index < len(trace.reads.inputs):
        return trace.memory.given(value.index), trace.reads.inputs[value.index]
    outer = next(outer for outer, inner in trace.captures.values() if inner.raw is value)
    return outer, trace.reads.source(outer) or fixed(outer, "a tensor from outside")
