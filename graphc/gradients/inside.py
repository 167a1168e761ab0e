"""Sources that a loop or a branch computed, of which the rest of it goes on to make something else.

A tape of compiled code sees a loop as one operation: of ``prev`` in ``prev, x = x, sin(x)`` it knows that the loop gave
it, and not that ``x`` was computed of it. Eager code, whose tape sees each operation, adds that up. Here such sources
are found, so that a gradient is refused and not too small.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from graphc.core import SymbolicTensor, Tensor
from graphc.ir import Node, Value
from graphc.ops import COND, SCAN, SWITCH, WHILE

__all__ = ["used_inside"]

Step: TypeAlias = tuple[Sequence[object], Sequence[Tensor]]
"""The inputs and the outputs of something that a tape has recorded."""

_BRANCHES = (COND, SWITCH)
_LOOPS = (SCAN, WHILE)


def used_inside(source: Tensor, is_item: bool, steps: Sequence[Step], targets: Iterable[Tensor]) -> str:
    """Tells if targets depend on a source inside the loop or branch that made it.

    Args:
      source: a snapshot that a tape follows.
      is_item: the source is an item of a list that a loop filled, so that it stands for a tensor of the loop's body.
      steps: what the tape has recorded.
      targets: what is differentiated.

    Returns:
      ``"loop"`` or ``"branch"``; empty if they do not.
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
    """Returns the positions of a node's other outputs that are computed of the very value of one, inside."""
    if place >= node.attrs.get("num_carry", len(node.outputs)):  # a row for each iteration
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
    """Returns the values that targets were computed of as a tape knows it, but for what the source was computed of."""
    found = {target.raw for target in targets if isinstance(target, SymbolicTensor) and target.raw is not source}
    recorded: set[Value] = set()
    for inputs, outputs in reversed(steps):
        made = {output.raw for output in outputs if isinstance(output, SymbolicTensor)}
        recorded |= made
        if not found.isdisjoint(made):
            found.update(given.raw for given in inputs if isinstance(given, SymbolicTensor) and given.raw is not source)
    return found & recorded
