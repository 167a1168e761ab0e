"""Two values that cannot be one, made two of one form: each one of the same several values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.values.choice import Choice, choice_in, is_simple
from graphc.compiler.autograph.values.deferred import Deferred, is_deferred
from graphc.compiler.autograph.values.join import is_number, is_tensor, leaf_type, same
from graphc.compiler.autograph.values.number import kind_of, number
from graphc.compiler.autograph.values.protocol import alternatives, is_bound
from graphc.compiler.base import nest
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, Tensor, trace_scope
from graphc.compiler.tracing import MISSING, Region, Trace

__all__ = ["as_choices", "holds_choice", "is_constant"]

_MOST = 32
"""A value that would be one of more than this, such as a text that each iteration makes longer, is not followed."""

Pair = tuple[Any, Any]


def holds_choice(value: Any) -> bool:
    """Returns True if a value that is one of several is part of a value."""
    return choice_in(value) is not None


def as_choices(
    first: Any,
    second: Any,
    traces: tuple[Trace, Trace],
    *,
    growing: bool = False,
    copies: dict[int, Any] | None = None,
    contents: bool = False,
) -> Pair:
    """Returns the values of a name on two sides, as choices where they can be joined only so; else as they are.

    Args:
      growing: whether the first one keeps all that it may be, in its order, and gets what the second may be besides.
      copies: is given, by the identity of each copy of a container that was made, the container; None where containers
        that can be changed must stay what they are.
      contents: whether the values are copies themselves, of what a container holds.
    """
    if first is second or not (is_bound(first) and is_bound(second)):
        return first, second
    if alternatives(first) is not None or alternatives(second) is not None:
        return _as_choices(first, second, traces, growing) or (first, second)
    parts, others = nest.children(first), nest.children(second)
    if parts is None or others is None or nest.level(first) != nest.level(second):
        if not is_constant(first, traces[0]) and not is_constant(second, traces[1]):
            return first, second
        return (None if same(first, second) else _as_choices(first, second, traces, growing)) or (first, second)
    if isinstance(first, Deferred):
        return _as_choices(first, second, traces, growing) or (first, second)
    # A copy of a list would be another one than its other names hold.
    if nest.is_mutable(first) and copies is None and not contents:
        return first, second
    pairs = [
        as_choices(one, other, traces, growing=growing, copies=copies)
        for one, other in zip(parts[1], others[1], strict=True)
    ]
    return _rebuilt(first, [one for one, _ in pairs], copies), _rebuilt(second, [other for _, other in pairs], copies)


def _rebuilt(value: Any, items: Sequence[Any], copies: dict[int, Any] | None) -> Any:
    before = (nest.children(value) or ((), ()))[1]
    if all(map(_is, before, items)):  # == of tensors would trace a comparison
        return value
    copy = nest.rebuilt(value, items)
    if copies is not None:
        copies[id(copy)] = copies.get(id(value), value)  # of a copy of a copy the user's container
    return copy


def _is(one: Any, other: Any) -> bool:
    return one is other


def is_constant(value: Any, trace: Trace) -> bool:
    """Returns True if a value is a Python object that is the same in every run, so that a number can stand for it."""
    if is_simple(value):
        return True
    if is_tensor(value) or is_number(value) or isinstance(value, Tensor | Deferred) or nest.children(value) is not None:
        return False
    if isinstance(value, BaseException) and is_deferred(value):
        return False
    # The method `x.sum` of a tensor is another one in each run, as the tensor is.
    return not isinstance(getattr(value, "__self__", None), Tensor) and not _is_made_in(value, trace)


def _is_made_in(value: Any, trace: Trace) -> bool:
    """Returns True if an object was made in a branch or loop, so that it is another one each time that this is run."""
    if not isinstance(trace, Region):
        return False
    made = [written.cell.owner for written in trace.journal.writes.values() if written.before is MISSING]
    return trace.journal.owns(value) or any(value is owner for owner in made)


class _Table:
    """The values that two sides may have, each once.

    Args:
      trace: where the values of the side at hand were made.
    """

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.fixed: list[bool] = []
        self._holds_made = False

    def place(self, value: Any, trace: Trace) -> int:
        """Returns the place of a value, which may be that of another that it can be joined with."""
        fixed = is_constant(value, trace)
        if not fixed:
            self._holds_made |= any(
                _is_object(leaf) and not is_constant(leaf, trace) for leaf in nest.flatten(value)[0]
            )
        for place, (known, known_fixed) in enumerate(zip(self.values, self.fixed, strict=True)):
            if fixed is known_fixed and (same(known, value) if fixed else _can_join(known, value)):
                return place
        self.values.append(value)
        self.fixed.append(fixed)
        return len(self.values) - 1

    def is_good(self) -> bool:
        """Returns True if the values can be kept side by side; those that differ in shape only must be texts."""
        differing = [value for value, fixed in zip(self.values, self.fixed, strict=True) if not fixed]
        texts = all(isinstance(value, Deferred) for value in differing)
        return len(self.values) <= _MOST and (len(differing) <= 1 or texts) and not self._holds_made


def _is_object(leaf: Any) -> bool:
    return not (is_tensor(leaf) or is_number(leaf))


def _can_join(first: Any, second: Any) -> bool:
    leaves, structure = nest.flatten(first)
    others, other_structure = nest.flatten(second)
    return structure == other_structure and all(map(_leaves_join, leaves, others))


def _leaves_join(first: Any, second: Any) -> bool:
    if not all(is_tensor(value) or is_number(value) for value in (first, second)):
        return same(first, second)
    return leaf_type(first).shape == leaf_type(second).shape


def _as_choices(first: Any, second: Any, traces: tuple[Trace, Trace], growing: bool) -> Pair | None:
    table, sides = _Table(), (first, second)
    options = [_options(first, traces[0], every=growing), _options(second, traces[1], every=False)]
    places = [
        {place: table.place(value, trace) for place, value in given.items()}
        for given, trace in zip(options, traces, strict=True)
    ]
    if not table.is_good():
        return None
    made: list[Any] = []
    for value, given, found, trace in zip(sides, options, places, traces, strict=True):
        with trace_scope(trace):  # the ops that _moved adds belong to this side
            made.append(_side(table, value, given, found))
    return made[0], made[1]


def _options(value: Any, trace: Trace, *, every: bool) -> dict[int, Any]:
    """Returns what a value may be, by its places."""
    if alternatives(value) is None:
        return {0: value}
    with trace_scope(trace):  # its own conditions may leave fewer values
        return {place: value.options[place] for place in (range(len(value.options)) if every else value.left)}


def _side(table: _Table, value: Any, given: dict[int, Any], places: dict[int, int]) -> Any:
    """One side's value in the form of both."""
    own = {places[place]: option for place, option in given.items()}
    if len(table.values) == 1:
        return own[0]
    options = tuple([own[place] if place in own else _anything(known) for place, known in enumerate(table.values)])
    if alternatives(value) is None:
        return Choice(places[0], options)
    return _moved(cast("Choice", value), options, places)


def _moved(value: Choice, options: tuple[Any, ...], places: dict[int, int]) -> Choice:
    """Returns a choice among other options; ``places`` tells by the places of its own where they are among these."""
    if len(options) == len(value.options) and all(map(_is, options, value.options)):
        return value
    which: Any = value.which
    if not isinstance(which, SymbolicTensor):
        which = places[int(which)]
    elif len(places) == 1:
        which = next(iter(places.values()))
    elif any(place != new for place, new in places.items()):
        # A place that it cannot have any more may go anywhere.
        news = [places.get(place, 0) for place in range(len(value.options))]
        which = number(FUNCTIONS["asarray"](np.array(news, np.int32))[which], int)
    return Choice(which, options)


def _anything(value: Any) -> Any:
    """Returns a value that may be joined with another where nobody reads either."""
    return nest.map_structure(_any_leaf, value)


def _any_leaf(leaf: Any) -> Any:
    kind = kind_of(leaf)
    if kind is not None:
        return kind(0) if isinstance(leaf, SymbolicTensor) or not is_number(leaf) else leaf
    if not is_tensor(leaf):
        return leaf
    type = leaf_type(leaf)
    zero = np.zeros(type.shape, type.dtype)
    return zero.item() if type.weak else zero  # a Python number keeps the join weak
