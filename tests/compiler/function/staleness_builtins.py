"""Cases of :mod:`tests.compiler.function.staleness`: special methods of the user's that builtins written in C call."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

from tests.compiler.function.staleness import Made, for_kind

__all__ = ["CALLED_IN_C", "SIZES"]

SIZES: list[int] = [2]
"""What the special methods read."""


class _Size:
    def __index__(self) -> int:
        return SIZES[0]


class _Number:
    def __float__(self) -> float:
        return float(SIZES[0])

    def __round__(self, digits: int = 0) -> int:
        return SIZES[0]

    __int__ = __index__ = __trunc__ = __floor__ = __ceil__ = __abs__ = __len__ = __round__

    def __divmod__(self, other: Any) -> tuple[int, int]:
        return SIZES[0], SIZES[0]

    __rdivmod__ = __divmod__

    def __pow__(self, other: Any, modulo: Any = None) -> int:
        return SIZES[0]

    def __mul__(self, other: float) -> float:
        return SIZES[0] * other

    __rmul__ = __add__ = __radd__ = __mul__

    def __lt__(self, other: object) -> bool:
        return SIZES[0] == 2

    def __bool__(self) -> bool:
        return SIZES[0] == 2

    def __call__(self, *given: float) -> int:
        return SIZES[0]


class _Items:
    def keys(self) -> list[int]:
        return [1]

    def __iter__(self) -> Iterator[int]:
        return iter([SIZES[0]])

    __reversed__ = __iter__

    def __getitem__(self, key: Any) -> int:
        return SIZES[0]

    def __contains__(self, item: Any) -> bool:
        return item == SIZES[0]

    def __format__(self, spec: str) -> str:
        return str(SIZES[0])

    __str__ = __repr__ = lambda self: str(SIZES[0])

    @property
    def size(self) -> int:
        return SIZES[0]

    def sized(self, by: int) -> int:
        return SIZES[0] * by


CALLED_IN_C: dict[str, Callable[[], Any]] = {
    "round": lambda: round(_Number()),
    "round to": lambda: round(1.23456, _Number()),
    "divmod": lambda: divmod(_Number(), 2)[0],
    "reflected divmod": lambda: divmod(2, _Number())[1],
    "pow": lambda: pow(_Number(), 2),
    "pow modulo": lambda: pow(_Number(), 2, 5),
    "any": lambda: any([_Number()]),
    "math.trunc": lambda: math.trunc(_Number()),
    "math.floor": lambda: math.floor(_Number()),
    "math.sqrt": lambda: math.sqrt(_Number()),
    "math.log": lambda: math.log(_Number(), 3.0),
    "math.gcd": lambda: math.gcd(_Number(), 6),
    "math.factorial": lambda: math.factorial(_Number()),
    "math.fsum": lambda: math.fsum([_Number()]),
    "math.prod": lambda: math.prod([_Number()]),
    "math.dist": lambda: math.dist((_Number(),), (0.0,)),
    "float by __index__": lambda: float(_Size()),
    "operator.index": lambda: operator.index(_Size()),
    "slice.indices": lambda: slice(_Size()).indices(9)[1],
    "str.zfill": lambda: len("a".zfill(_Size())),
    "str.split": lambda: len("a b c d e".split(" ", _Size())),
    "int.to_bytes": lambda: len((1).to_bytes(_Size(), "big")),
    "dict.update": lambda: _updated({}, _Items())[1],
    "list.extend": lambda: _extended([], _Items())[0],
    "reversed": lambda: next(reversed(_Items())),
    "iter of a function": lambda: len(list(itertools.islice(iter(_Number(), 2), 1))),
    "map of an object": lambda: next(map(_Number(), [1])),
    "functools.reduce": lambda: functools.reduce(operator.add, _Items()),
    "chain.from_iterable": lambda: next(itertools.chain.from_iterable([_Items()])),
    "attrgetter": lambda: next(map(operator.attrgetter("size"), [_Items()])),
    "itemgetter": lambda: next(map(operator.itemgetter(1), [_Items()])),
    "methodcaller": lambda: min(map(operator.methodcaller("sized", by=2), [_Items()])),
    "methodcaller by position": lambda: operator.methodcaller("sized", 2)(_Items()),
    "in": lambda: 3 in _Items(),
    "str.format": lambda: float("{}{}".format(_Items(), _Items())),  # noqa: UP032
    "percent d": lambda: float("%d" % _Number()),  # noqa: UP031
    "percent f": lambda: float("%(a).1f" % {"a": _Number()}),  # noqa: UP031
    "percent of a list": lambda: float(("%s" % [_Items()])[1:-1]),
}
"""Expressions whose value a builtin gets of a special method that reads what the test changes."""


def _updated(table: dict[int, int], items: Any) -> dict[int, int]:
    table.update(items)
    return table


def _extended(numbers: list[int], items: Any) -> list[int]:
    numbers.extend(items)
    return numbers


_KINDS: dict[str, Callable[[Any], Any]] = {
    "what special methods read that builtins and `math` call: `round(o)`, `math.gcd(o, 6)`, `any(objects)`": lambda x: (
        x * round(_Number()) * math.gcd(_Number(), 6) * any([_Number()])
    ),
    "what special methods read that methods of builtin types call: `list.extend(o)`, `str.zfill(o)`": lambda x: (
        x * _extended([], _Items())[0] * len("a".zfill(_Size()))
    ),
    "what `operator.attrgetter`, `itemgetter` and `methodcaller` get": lambda x: (
        x * sum(map(operator.attrgetter("size"), [_Items()])) * operator.methodcaller("sized", 2)(_Items())
    ),
    "what `__call__` of an object reads that `map` or `iter` calls": lambda x: x * sum(map(_Number(), [1])),
}


def _hooked(program: Callable[[Any], Any]) -> Made:
    SIZES[:] = [2]
    return program, lambda: SIZES.__setitem__(0, 3)


for _kind, _program in _KINDS.items():
    for_kind("functions and methods", _kind, "followed")(functools.partial(_hooked, _program))
