"""``match``: patterns that look into their subject; Python decides by its kind: a sequence, a mapping, a class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from graphc.autograph.constructs.calls.attributes import load_attr
from graphc.autograph.constructs.calls.call import call, call_method
from graphc.autograph.constructs.expressions.operators import load_item
from graphc.autograph.constructs.matching.patterns import Bound, Pattern, all_of, known, match_star
from graphc.autograph.constructs.purity.natives import items, mapping
from graphc.autograph.constructs.purity.reading import read_attribute
from graphc.autograph.values.choice import decide
from graphc.autograph.values.kinds import is_instance
from graphc.autograph.values.protocol import look_into

__all__ = ["match_class", "match_mapping", "match_sequence"]

_MATCH_SELF = 1 << 22  # the flag of classes such as int, whose one positional pattern is the object itself


def _is_sequence(subject: Any) -> bool:
    match subject:
        case [*_]:
            return True
        case _:
            return False


def _is_mapping(subject: Any) -> bool:
    match subject:
        case {}:
            return True
        case _:
            return False


class match_sequence(Pattern):  # noqa: N801
    """``case [a, *b, c]:``."""

    def __init__(self, *patterns: Pattern) -> None:
        self._patterns = patterns
        stars = [position for position, pattern in enumerate(patterns) if isinstance(pattern, match_star)]
        self._star = stars[0] if stars else None

    def find(self, subject: Any) -> Bound | None:
        """Matches the items."""
        if not _is_sequence(subject):
            return None
        look_into(subject)
        size = len(self._patterns)
        length = call(len)(subject) if self._star is None or size > 1 else 0
        if length < size - 1 or (self._star is None and length != size):
            return None
        if all(pattern.is_wildcard for pattern in self._patterns):
            return {}
        if self._star is not None and self._patterns[self._star].is_wildcard:
            return all_of(self._item(subject, length, at) for at in range(size))
        return all_of(map(_find, self._patterns, self._unpacked(subject)))

    def _item(self, subject: Any, length: int, position: int) -> Bound | None:
        """Matches one item, where Python does not look at all of them."""
        pattern = self._patterns[position]
        if pattern.is_wildcard:
            return {}
        assert self._star is not None
        index = position if position < self._star else length - (len(self._patterns) - position)
        return pattern.find(load_item(subject, index))

    def _unpacked(self, subject: Any) -> list[Any]:
        size, star = len(self._patterns), self._star
        if star is None:
            values: list[Any] = list(islice(items(subject), size + 1))
            if len(values) > size:
                raise ValueError(f"too many values to unpack (expected {size})")
        else:
            values = list(items(subject))
        least = size - (star is not None)
        if len(values) < least:
            kind = "" if star is None else "at least "
            raise ValueError(f"not enough values to unpack (expected {kind}{least}, got {len(values)})")
        if star is not None:
            end = len(values) - (size - 1 - star)
            values[star:end] = [values[star:end]]
        return values


def _find(pattern: Pattern, subject: Any) -> Bound | None:
    return pattern.find(subject)


_MISSING: Any = object()


@dataclass(frozen=True)
class match_mapping(Pattern):  # noqa: N801
    """``case {"key": a, **rest}:``.

    Args:
      keys: gives the keys.
      values: the patterns of their values.
      rest: the name for what is left; None for none.
    """

    keys: Callable[[], tuple[Any, ...]]
    values: tuple[Pattern, ...]
    rest: str | None = None

    def find(self, subject: Any) -> Bound | None:
        """Matches the values of the keys."""
        if not _is_mapping(subject):
            return None
        if self.values and call(len)(subject) < len(self.values):
            return None
        keys = self.keys()
        values = _values(subject, keys) if keys else []
        if values is None:
            return None
        found = all_of(map(_find, self.values, values))
        if found is None or self.rest is None:
            return found
        left: dict[Any, Any] = {}
        left.update(mapping(subject))
        for key in keys:
            del left[key]
        return {**found, self.rest: left}


def _values(subject: Any, keys: tuple[Any, ...]) -> list[Any] | None:
    """Returns the values of keys; None if one is missing."""
    get = call_method(subject, "get")
    seen: set[Any] = set()
    values: list[Any] = []
    for key in keys:
        if key in seen:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        seen.add(key)
        values.append(get(key, _MISSING))
        if values[-1] is _MISSING:
            return None
    return values


class match_class(Pattern):  # noqa: N801
    """``case Point(a, y=b):``.

    Args:
      kind: gives the class.
      *positional: the patterns of the attributes in ``__match_args__``.
      **keywords: the patterns of other attributes.
    """

    def __init__(self, kind: Callable[[], Any], /, *positional: Pattern, **keywords: Pattern) -> None:
        self._kind = kind
        self._positional = positional
        self._keywords = keywords

    def find(self, subject: Any) -> Bound | None:
        """Matches the attributes."""
        kind = self._kind()
        if not isinstance(kind, type):
            match subject:  # Python has the words for it
                case kind():
                    pass
                case _:
                    pass
        kind = cast("type[Any]", kind)
        if not known(decide(subject, lambda one: is_instance(one, kind))):
            return None
        names = self._names(kind)
        pairs = [*zip(names, self._positional, strict=False), *self._keywords.items()]
        values: list[Any] = []
        for position, (name, _) in enumerate(pairs):
            if not isinstance(name, str):
                raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
            if any(name == other for other, _ in pairs[:position]):
                raise TypeError(f"{kind.__name__}() got multiple sub-patterns for attribute {name!r}")
            try:
                values.append(load_attr(subject, name))
            except AttributeError:
                return None
        if self._positional and not names:  # int(x)
            pairs, values = [("", self._positional[0]), *pairs], [subject, *values]
        return all_of(pattern.find(value) for (_, pattern), value in zip(pairs, values, strict=True))

    def _names(self, kind: type[Any]) -> tuple[Any, ...]:
        """Returns the attributes of the positional patterns; none where one matches the object itself (``int(x)``).

        Raises:
          TypeError: the class has no such attributes; in Python's words.
        """
        if not self._positional:
            return ()
        count = len(self._positional)
        given: Any = getattr(kind, "__match_args__", _MISSING)
        if given is not _MISSING:
            read_attribute(kind, "__match_args__", given)
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
