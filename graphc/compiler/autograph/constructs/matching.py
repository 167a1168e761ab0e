"""``match``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from graphc.compiler.autograph.constructs.branches.branch import is_symbolic_condition, truth
from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.expressions.operators import load_item
from graphc.compiler.autograph.constructs.purity.natives import items
from graphc.compiler.autograph.values.protocol import look_into, settled
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.tracing import current_trace

# The converter turns a pattern into comparisons of the subject and of its parts, for which it asks here. Python decides
# whether the subject is a sequence. That is done while the function is traced: a tensor inside a list or tuple may be
# bound to a name, but not be compared.


def matched(condition: Any) -> bool:
    """Returns the truth of a comparison inside a pattern; refuses one that depends on tensors."""
    if not is_symbolic_condition(condition):
        return truth(condition)
    error = UnimplementedError(
        "a pattern compares a tensor inside a list or tuple, or beside such a pattern, and the tensor has "
        "no value while the function is traced; bind it to a name, and compare it in a guard: "
        "`case (kind, x) if x == 0:`"
    )
    raise current_trace().refuse(error)


class _Items:
    """The items of a sequence that a pattern with ``*_`` looks at, each when it is asked for."""

    def __init__(self, subject: Any, positions: Sequence[int]) -> None:
        self._subject = subject
        self._places = positions

    def __getitem__(self, position: int) -> Any:
        return load_item(self._subject, self._places[position])


def match_sequence(subject: Any, size: int, star: int | None, use: str) -> Sequence[Any] | _Items | None:
    """Returns what the parts of ``case [a, *b, c]:`` stand for; None if the subject does not match.

    Args:
      use: ``"unpacked"``; ``"length"`` if no part looks at its item; ``"some"`` if the part with the star does not.
    """
    subject = settled(subject)
    match subject:
        case [*_]:  # Python's own test is a flag of the class: a str has items, but not the flag
            pass
        case _:
            return None
    look_into(subject)
    # As Python's bytecode asks: `[*a]` needs no length, and __len__ may be the user's.
    length = call(len)(subject) if star is None or size > 1 else 0
    if length < size - 1 or (star is None and length != size):
        return None
    if use == "length":
        return ()
    if star is not None and use == "some":
        return _Items(
            subject, [position if position < star else length - (size - position) for position in range(size)]
        )
    return _unpacked(subject, size, star)


def _unpacked(subject: Any, size: int, star: int | None) -> list[Any]:
    # One item too many tells that it is too long; the iterator may be endless.
    values: list[Any] = list(islice(items(subject), size + 1) if star is None else items(subject))
    if star is None and len(values) > size:
        raise ValueError(f"too many values to unpack (expected {size})")
    least = size - (star is not None)
    if len(values) < least:
        kind = "" if star is None else "at least "
        raise ValueError(f"not enough values to unpack (expected {kind}{least}, got {len(values)})")
    if star is not None:
        end = len(values) - (size - 1 - star)
        values[star:end] = [values[star:end]]
    return values
