"""Detection of sources that a loop or a branch computes and then uses inside.

A tape of compiled code records a loop as one operation: for ``prev`` in ``prev, x = x, sin(x)`` it knows that the loop
returned it, but not that ``x`` was computed from it. Eager code, whose tape records each operation, includes that path.
This module finds such sources, so that graphc refuses the gradient instead of returning a part of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from graphc.core import SymbolicTensor, Tensor
from graphc.ir import Node, Value
from graphc.ops import COND, SCAN, SWITCH, WHILE

__all__ = ["used_inside"]

Step: TypeAlias = tuple[Sequence[object], Sequence[Tensor]]
"""The inputs and the outputs of a step on a tape."""

_BRANCHES = (COND, SWITCH)
_LOOPS = (SCAN, WHILE)


def used_inside(source: Tensor, is_item: bool, steps: Sequence[Step], targets: Iterable[Tensor]) -> str:
    """Returns the kind of construct inside which targets depend on a source that it computes.

    Args:
      source: a snapshot that the tape follows.
      is_item: whether the source is an item of a list that a loop filled, and so represents a tensor of the loop's
        body.
      steps: the steps on the tape.
      targets: the tensors to differentiate.

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
    if not wanted or wanted.isdisjoint(_behind(targets, source.raw, steps)):
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


def _behind(targets: Iterable[Tensor], source: Value, steps: Sequence[Step]) -> set[Value]:
    """Returns the values that targets depend on according to the tape, except those that the source depends on."""
    found = {target.raw for target in targets if isinstance(target, SymbolicTensor) and target.raw is not source}
    recorded: set[Value] = set()
    for inputs, outputs in reversed(steps):
        made = {output.raw for output in outputs if isinstance(output, SymbolicTensor)}
        recorded |= made
        if not found.isdisjoint(made):
            found.update(given.raw for given in inputs if isinstance(given, SymbolicTensor) and given.raw is not source)
    return found & recorded
