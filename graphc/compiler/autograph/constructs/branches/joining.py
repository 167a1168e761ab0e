"""Joins the values that a name or a place has at the end of two branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, cast

from graphc.compiler.autograph.constructs.storage.cells import AttributeCell, ContentsCell, final_value
from graphc.compiler.autograph.frontend.lower_jumps import RETURN
from graphc.compiler.autograph.values.choice import as_choices
from graphc.compiler.autograph.values.growing_list import matched, samples
from graphc.compiler.autograph.values.join import (
    Join,
    Joined,
    is_tensor,
    leaf_type,
    note_aliases,
    title_of,
    to_tensors,
    zeros_of,
)
from graphc.compiler.autograph.values.number import joined, kinds_of, span_of
from graphc.compiler.autograph.values.protocol import Unbound, as_tensor, is_bound, is_filler
from graphc.compiler.base import nest
from graphc.compiler.core import SymbolicTensor, trace_scope
from graphc.compiler.tracing import Region, TensorCell, Trace

NEVER: Any = object()
"""The value of a name after a branch that always fails or jumps; nobody looks at it."""


def merge(
    join: Join,
    regions: tuple[Region, Region],
    tensors: Sequence[list[SymbolicTensor]],
    name: str,
    first: Any,
    second: Any,
) -> UnchangedValue | Merged:
    """Merges one name; its tensors are added to both branches' outputs."""
    if first is second:
        return UnchangedValue(first)
    if first is NEVER or second is NEVER:
        return _one_sided(regions, tensors, first, second)
    unbound = [not is_bound(value) for value in (first, second)]
    if any(unbound):
        if all(unbound):
            unsure = next((value for value in (first, second) if value.may_be_bound), None)
            return UnchangedValue(first if unsure is None else Unbound(name, unsure.reason))
        if not is_filler(first if unbound[0] else second):
            bound = "true" if not unbound[0] else "false"
            # No error yet: Python raises only where the name is read.
            return UnchangedValue(Unbound(name, f"it is bound only in the {bound} branch of an if on a tensor"))
        # A return value that no return has set yet is never looked at: zeros of the other branch's type stand for it.
        if unbound[0]:
            first = _zeros_like(regions[0], second)
        else:
            second = _zeros_like(regions[1], first)
    first, second = _with_zeros(regions[0], first, second), _with_zeros(regions[1], second, first)
    sides, views = _ended(regions, (first, second), nest.shared(first, second))
    sides = _as_growing(regions, name, sides, views)
    if name != RETURN or (first is None) is (second is None):
        sides = as_choices(sides[0], sides[1], regions, copies=views)
    merged = join.values(name, *sides)
    for region, results, value in zip(regions, tensors, sides, strict=True):
        leaves = [_at_end(region, leaf) for leaf in nest.flatten(value, merged.shared)[0]]
        with trace_scope(region):
            results.extend(to_tensors(region, leaves, merged.leaves))
    return Merged(merged, sides, views)


def _as_growing(
    regions: Sequence[Region], name: str, sides: tuple[Any, ...], copies: dict[int, Any]
) -> tuple[Any, ...]:
    """Returns lists of tensors that differ in length as lists of unknown length; ``copies`` tells of which."""
    if type(sides[0]) is not list or type(sides[1]) is not list or nest.shared(*sides):
        return sides
    lists = cast("tuple[list[Any], list[Any]]", sides)
    items = [sample for one in lists for sample in samples(one)]
    if not items or not all(map(is_tensor, items)) or len({leaf_type(item).shape for item in items}) > 1:
        return sides
    grown = matched(regions, title_of(name), lists)
    copies.update({id(new): copies.get(id(old), old) for new, old in zip(grown, lists, strict=True) if new is not old})
    return grown


def _ended(
    regions: Sequence[Region], pair: Sequence[Any], same: AbstractSet[int]
) -> tuple[tuple[Any, ...], dict[int, Any]]:
    """The values of two branches as they were at their ends, and which containers these are, where copies tell it."""
    copies: dict[int, Any] = {}
    sides = tuple([final_value(region, value, same, copies) for region, value in zip(regions, pair, strict=True)])
    return sides, copies


def _at_end(region: Region, leaf: Any) -> Any:
    """Returns a leaf as it was at the end of a branch, which may have assigned items of a tensor from outside."""
    written = region.journal.writes.get(TensorCell(leaf).key) if isinstance(leaf, SymbolicTensor) else None
    return leaf if written is None else written.after


def _one_sided(
    regions: Sequence[Region], tensors: Sequence[list[SymbolicTensor]], first: Any, second: Any
) -> UnchangedValue | Merged:
    """Returns what a name holds after two branches of which one always fails: what the other left in it."""
    live = 1 if first is NEVER else 0
    value = (first, second)[live]
    outer: set[int] = set()
    _find_outer(regions[live], value, outer)
    copies: dict[int, Any] = {}
    value = final_value(regions[live], value, outer, copies)
    leaves, structure = nest.flatten(value, outer)
    types = [leaf_type(leaf) if _is_made_in(leaf, regions[live]) else None for leaf in leaves]
    if not any(types):
        return UnchangedValue(value)
    with trace_scope(regions[live]):
        tensors[live].extend(to_tensors(regions[live], [_at_end(regions[live], leaf) for leaf in leaves], types))
    with trace_scope(regions[1 - live]):
        # A cond needs outputs on both sides; nobody reads those of the side that fails.
        tensors[1 - live].extend([zeros_of(regions[1 - live], type) for type in types if type is not None])
    kinds = tuple(map(kinds_of, leaves))
    spans = tuple(map(span_of, leaves))
    outcome = Joined(structure, tuple(types), tuple(leaves), value, kinds, frozenset(outer), spans)
    return Merged(outcome, (value,), copies)


def _find_outer(region: Region, value: Any, outer: set[int]) -> bool:
    """Adds the containers that stay the objects they are to ``outer``; tells if the branch made nothing else."""
    # What the branch left in such a container is written into it after the branch.
    parts = nest.children(value)
    if parts is None:
        return not _is_made_in(value, region)
    writes = region.journal.writes
    if ContentsCell.key_of(value) not in writes:
        items = [item for key, item in zip(*parts, strict=True) if AttributeCell.key_of(value, key) not in writes]
        unchanged = [_find_outer(region, item, outer) for item in items]
        if not all(unchanged):
            return False
    if nest.is_mutable(value):
        outer.add(id(value))
    return True


def _is_made_in(leaf: Any, region: Region) -> bool:
    tensor = as_tensor(leaf)
    return isinstance(tensor, SymbolicTensor) and tensor.trace is region


def _with_zeros(region: Region, value: Any, other: Any) -> Any:
    """Returns a structure with zeros where nothing was put yet, and the other branch has put a tensor."""
    leaves, structure = nest.flatten(value)
    if structure == nest.LEAF or not any(map(is_filler, leaves)):
        return value
    others, theirs = nest.flatten(other)
    if structure != theirs:
        return value
    filled = [
        _zeros_like(region, there) if is_filler(here) and is_tensor(there) else here
        for here, there in zip(leaves, others, strict=True)
    ]
    return nest.unflatten(structure, filled)


def _zeros_like(region: Region, value: Any) -> Any:
    def zeros(leaf: Any) -> Any:
        if not is_tensor(leaf):
            return leaf
        with trace_scope(region):
            return joined(zeros_of(region, leaf_type(leaf)), kinds_of(leaf))

    return nest.map_structure(zeros, value)


class UnchangedValue:
    """A value that is the same on both sides."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


@dataclass(frozen=True)
class Merged:
    """A value that differs on the sides."""

    joined: Joined
    sides: tuple[Any, ...]  # the values at the ends of the branches
    copies: Mapping[int, Any]  # by the identity of a copy in them: the container that it is a copy of


def fill(merged: UnchangedValue | Merged, outputs: Any) -> Any:
    """Returns the value after the branches; its tensors are taken from the outputs of the node."""
    if isinstance(merged, UnchangedValue):
        return merged.value
    joined_value = merged.joined
    if not any(joined_value.leaves) and not nest.is_mutable(joined_value.first):
        return joined_value.first
    leaves = [
        leaf if type is None else joined(next(outputs), kinds, span)
        for leaf, type, kinds, span in joined_value.columns()
    ]
    return nest.unflatten(joined_value.structure, leaves)


def note_merged(trace: Trace, name: str, value: Any, merged: UnchangedValue | Merged) -> None:
    """Notes what a value stands for that was made of two."""
    if isinstance(merged, Merged):
        note_aliases(trace, name, value, merged.sides, shared=merged.joined.shared, copies=merged.copies)
