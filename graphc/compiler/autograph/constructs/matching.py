"""``match``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, cast

from graphc.compiler.autograph.constructs.branches.branch import is_symbolic_condition, truth
from graphc.compiler.autograph.constructs.calls.attributes import getattr_in_trace, load_attr
from graphc.compiler.autograph.constructs.calls.call import call, call_method
from graphc.compiler.autograph.constructs.expressions.operators import load_item
from graphc.compiler.autograph.constructs.purity.natives import items, mapping
from graphc.compiler.autograph.values.choice import decide
from graphc.compiler.autograph.values.kinds import is_instance
from graphc.compiler.autograph.values.protocol import look_into, settled
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.tracing import current_trace

__all__ = ["is_mapping", "match_class", "match_mapping", "match_sequence", "matched"]

# ``match``: patterns that look into their subject.
#
# The converter turns a pattern into comparisons of the subject and of its parts, for which it asks here. Python decides
# by the kind of the subject: a sequence, a mapping, an object of a class. That is done while the function is traced: a
# tensor inside a structure may be bound to a name, but not be compared.

_MATCH_SELF = 1 << 22  # the flag of classes such as int, whose one positional pattern is the object itself
_MISSING: Any = object()


def matched(condition: Any) -> bool:
    """Returns the truth of a comparison inside a pattern.

    Raises:
      UnimplementedError: it depends on tensors.
    """
    if not is_symbolic_condition(condition):
        return truth(condition)
    error = UnimplementedError(
        "a pattern compares a tensor inside a list, tuple, dict or object, or beside such a pattern, and the tensor "
        "has no value while the function is traced; bind it to a name, and compare it in a guard: "
        "`case (kind, x) if x == 0:`"
    )
    raise current_trace().refuse(error)


class _Items:
    """The items of a sequence that a pattern with ``*_`` looks at, each when it is asked for.

    Args:
      subject: the sequence.
      places: of the items.
    """

    def __init__(self, subject: Any, places: Sequence[int]) -> None:
        self._subject = subject
        self._places = places

    def __getitem__(self, position: int) -> Any:
        return load_item(self._subject, self._places[position])


def match_sequence(subject: Any, size: int, star: int | None, use: str) -> Sequence[Any] | _Items | None:
    """Returns what the parts of ``case [a, *b, c]:`` stand for; None if the subject does not match.

    Args:
      subject: what is matched.
      size: how many parts there are.
      star: which of them has a star.
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
        return _Items(subject, [place if place < star else length - (size - place) for place in range(size)])
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


def is_mapping(subject: Any, size: int) -> bool:
    """Returns True if the subject is a mapping with so many keys, or more."""
    subject = settled(subject)
    match subject:
        case {}:
            return not size or bool(call(len)(subject) >= size)  # `case {}:` asks for no length in Python either
        case _:
            return False


def match_mapping(subject: Any, keys: tuple[Any, ...], *, rest: bool) -> list[Any] | None:
    """Returns the values of the keys in ``case {"key": a, **rest}:``, and last the rest; None if a key is missing."""
    subject = settled(subject)
    values: list[Any] = []
    seen: set[Any] = set()
    # Python asks get, not [], so that a defaultdict inserts nothing.
    get = call_method(subject, "get") if keys else dict[Any, Any]().get
    for key in keys:
        if key in seen:  # `{A.x: 1, A.y: 2}`: names with dots may turn out equal
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        seen.add(key)
        values.append(get(key, _MISSING))
        if values[-1] is _MISSING:
            return None
    if rest:
        left: dict[Any, Any] = {}
        left.update(mapping(subject))  # asks keys() and __getitem__, which may be the user's
        for key in keys:
            del left[key]
        values.append(left)
    return values


def match_class(subject: Any, kind: Any, num_positional: int, keywords: Sequence[str]) -> list[Any] | None:
    """Returns what the parts of ``case Point(a, y=b):`` stand for; None if the subject does not match.

    Args:
      subject: what is matched.
      kind: the class.
      num_positional: how many parts stand for attributes in ``__match_args__``.
      keywords: the attributes of the other parts.
    """
    subject = settled(subject)
    if not isinstance(kind, type):
        match subject:  # Python has the words for it
            case kind():
                pass
            case _:
                pass
    kind = cast("type[Any]", kind)
    if not matched(decide(subject, lambda one: is_instance(one, kind))):
        return None
    positional = _match_args(kind, num_positional)
    values: list[Any] = [subject] if num_positional and not positional else []  # int(x)
    seen: set[str] = set()
    for name in (*positional, *keywords):
        if not isinstance(name, str):
            raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
        if name in seen:
            raise TypeError(f"{kind.__name__}() got multiple sub-patterns for attribute {name!r}")
        seen.add(name)
        try:
            values.append(load_attr(subject, name))
        except AttributeError:  # no match in Python, not an error
            return None
    return values


def _match_args(kind: type[Any], count: int) -> tuple[Any, ...]:
    """Returns the attributes of the positional patterns; none where one matches the object itself (``int(x)``).

    Raises:
      TypeError: the class has no such attributes; in Python's words.
    """
    if not count:
        return ()
    given: Any = getattr_in_trace(kind, "__match_args__", _MISSING)
    # A subclass of int that has __match_args__ goes by these.
    is_self = given is _MISSING and bool(kind.__flags__ & _MATCH_SELF)
    names: Any = () if given is _MISSING else given
    if type(names) is not tuple:
        raise TypeError(f"{kind.__name__}.__match_args__ must be a tuple (got {type(names).__name__})")
    names = cast("tuple[Any, ...]", names)
    allowed = 1 if is_self else len(names)
    if allowed < count:
        plural = "" if allowed == 1 else "s"
        raise TypeError(f"{kind.__name__}() accepts {allowed} positional sub-pattern{plural} ({count} given)")
    return names[:count]
