"""Sources of compiled gradients that other values of the program depend on, or are, where the tape does not see it.

A tape of compiled code records a loop as one operation: for ``prev`` in ``prev, x = x, sin(x)`` it knows that the loop
returned it, but not that ``x`` was computed from it. Eager code, whose tape records each operation, includes that path.
And after ``if c: w = w / 2``, ``w`` may be the same tensor as another name of it, which only the program knows. This
module finds such sources, so that graphc refuses the gradient instead of returning a part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import NamedTuple

from graphc.compiler.base.errors import GraphcError
from graphc.compiler.core import SymbolicTensor, Tensor
from graphc.compiler.ir import Node, Value
from graphc.compiler.ops import COND, SCAN, SWITCH, WHILE
from graphc.compiler.tracing import Trace, keep_apart

__all__ = ["Step", "check_apart", "step_of", "used_inside"]


class Step(NamedTuple):
    """An operation that ran in a trace while a tape was open."""

    inputs: Sequence[Value]
    outputs: Sequence[Value]
    is_followed: bool


def step_of(inputs: Iterable[object], outputs: Iterable[object], is_followed: bool) -> Step:
    """Returns the step of an operation with these operands and results."""
    given, made = ([one.raw for one in values if isinstance(one, SymbolicTensor)] for values in (inputs, outputs))
    return Step(given, made, is_followed)


_BRANCHES = (COND, SWITCH)
_LOOPS = (SCAN, WHILE)


def used_inside(source: Tensor, is_item: bool, steps: Sequence[Step], targets: Iterable[Tensor]) -> str:
    """Returns the kind of construct inside which targets depend on a source that it computes.

    Args:
      is_item: whether the source is an item of a list that a loop filled, and so represents a tensor of the loop's
        body.

    Returns:
      ``"loop"`` or ``"branch"``; empty if there is no such dependency.
    """
    if not isinstance(source, SymbolicTensor):
        return ""
    value = _origin(source.raw) if is_item else source.raw
    node = value.node
    if node is None or node.op not in (*_BRANCHES, *_LOOPS):
        return ""
    places = frozenset(range(len(node.outputs))) if is_item else _computed_of(node, value.index)
    wanted = {node.outputs[place] for place in places}
    if not wanted or wanted.isdisjoint(_recorded_behind(targets, source.raw, steps)):
        return ""
    return "branch" if node.op in _BRANCHES else "loop"


def _origin(value: Value) -> Value:
    """Returns the buffer that an item was taken from."""
    while value.node is not None and value.node.op not in (*_BRANCHES, *_LOOPS) and value.node.inputs:
        value = value.node.inputs[0]
    return value


def _computed_of(node: Node, place: int) -> frozenset[int]:
    """Returns the positions of a node's other outputs that are computed, inside it, from one of its outputs."""
    if place >= node.attrs.get("num_carry", len(node.outputs)):  # one row for each iteration
        return frozenset(range(len(node.outputs)))
    found: set[int] = set()
    for body in node.regions[1:] if node.op is WHILE else node.regions:
        made = {body.outputs[place]}
        for inner in body.nodes:
            if not made.isdisjoint(inner.inputs):
                made.update(inner.outputs)
        found.update(other for other, value in enumerate(body.outputs) if value in made and value.type.is_inexact)
    return frozenset(found - {place})


def _recorded_behind(targets: Iterable[Tensor], source: Value, steps: Sequence[Step]) -> set[Value]:
    """Returns the values that targets depend on according to the tape, except those that the source depends on."""
    followed = [step for step in steps if step.is_followed]
    recorded = {value for step in followed for value in step.outputs}
    return _behind(targets, source, followed) & recorded


def _behind(targets: Iterable[Tensor], source: Value | None, steps: Sequence[Step]) -> set[Value]:
    """Returns the values that targets depend on, themselves included, except through a source."""
    found = {target.raw for target in targets if isinstance(target, SymbolicTensor) and target.raw is not source}
    for inputs, outputs, _ in reversed(steps):
        if not found.isdisjoint(outputs):
            found.update([value for value in inputs if value is not source])
    return found


def check_apart(
    trace: Trace,
    sources: Iterable[Value],
    targets: Sequence[Tensor],
    steps: Sequence[Step],
    followed: Container[int],
    refuse: Callable[[], GraphcError],
) -> None:
    """Refuses a source that may be one tensor with another value that the targets depend on.

    Args:
      steps: the steps of the trace while the tape was open.
      followed: the identities of the values that the tape follows.

    Raises:
      GraphcError: as :func:`graphc.compiler.tracing.keep_apart`.
    """
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
