"""What Python consumes by itself, of classes of the user's: the effects of their special methods are not lost."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import UnimplementedError
from tests.compiler.autograph.differential import check, f, kinds_of

LIST = [1.0, 2.0, 3.0]


class Counting:
    """Its special methods count how often they are called."""

    def __init__(self) -> None:
        self.n = 0

    def count(self) -> None:
        self.n += 1


class Iterated(Counting):
    def __iter__(self) -> Iterator[float]:
        self.count()
        return iter([1.0, 2.0])


class Yielding(Counting):
    def __iter__(self) -> Iterator[float]:
        self.n += 1
        yield 1.0
        yield 2.0


class Numbered(Counting):
    def __getitem__(self, index: int) -> float:
        self.count()
        return [1.0, 2.0][index]


class Sized(Numbered, Sequence[float]):
    def __len__(self) -> int:
        self.count()
        return 2


class Printed(Counting):
    def __str__(self) -> str:
        self.count()
        return "text"


class Hashed(Counting):
    def __hash__(self) -> int:
        self.count()
        return 1


class Index(Counting):
    def __index__(self) -> int:
        self.count()
        return 1


class Keyed(Counting):
    def keys(self) -> list[str]:
        self.count()
        return ["a", "b"]

    def __getitem__(self, key: str) -> float:
        return 1.0


class Rounded(Counting):
    def __round__(self, digits: int = 0) -> float:
        self.count()
        return 1.0


def unpacked(t: Any) -> float:
    a, b = t
    return a + b


def unpacked_rest(t: Any) -> float:
    a, *b = t
    return a + b[0]


def unpacked_in_a_loop(t: Any) -> float:
    total = 0.0
    for a, b in [t]:
        total += a + b
    return total


def unpacked_into_items(t: Any) -> float:
    store = [0.0, 0.0]
    store[0], store[1] = t
    return store[1]


ITERATE: dict[str, Callable[[Any], Any]] = {
    "list comprehension": lambda t: [v for v in t][1],  # noqa: C416
    "second iterable": lambda t: [v for _ in (1, 2) for v in t][1],
    "set comprehension": lambda t: len({v for v in t}),  # noqa: C416
    "dict comprehension": lambda t: {v: v for v in t}[2.0],
    "unpacked in a comprehension": lambda t: [a + b for a, b in [t]][0],  # noqa: RUF015
    "starred": lambda t: [*t][1],
    "argument": lambda t: max(*t),
    "unpacked": unpacked,
    "unpacked rest": unpacked_rest,
    "unpacked in a loop": unpacked_in_a_loop,
    **{kind.__name__: lambda t, kind=kind: kind(t) and 1.0 for kind in (list, tuple, set, sorted, sum, max, any)},
    "zip": lambda t: [a + b for a, b in zip(t, LIST)][1],  # noqa: B905
    "enumerate": lambda t: [i + v for i, v in enumerate(t)][1],
    "map": lambda t: list(map(float, t))[1],
    "in": lambda t: 1.0 if 2.0 in t else 0.0,
}
USES: dict[str, tuple[type[Counting], Callable[[Any], Any]]] = {
    **{f"{kind.__name__} {name}": (kind, use)
       for kind in (Iterated, Yielding, Numbered, Sized) for name, use in ITERATE.items()},
    "unpacked mapping": (Keyed, lambda t: {**t}["a"]),
    "keyword arguments": (Keyed, lambda t: dict(**t)["a"]),
    "dict": (Keyed, lambda t: dict(t)["a"]),
    "% of bytes": (Printed, lambda t: len(b"%a" % t)),
    "dict key": (Hashed, lambda t: len({t: 1})),
    "set": (Hashed, lambda t: len({t, 2})),
    "dict comprehension key": (Hashed, lambda t: len({key: 1 for key in [t]})),  # noqa: C420
    "set comprehension element": (Hashed, lambda t: len({key for key in [t]})),  # noqa: C416
    "tuple as a key": (Hashed, lambda t: len({(t, 1): 1})),
    "lookup": (Hashed, lambda t: {1: 2}.get(t, 3)),
    "in a dict": (Hashed, lambda t: 1 if t in {1: 2} else 2),
    "set of a list": (Hashed, lambda t: len(set([t]))),  # noqa: C405
    "list item": (Index, lambda t: LIST[t]),
    "slice": (Index, lambda t: len(LIST[t:])),
    "repeated": (Index, lambda t: len([1] * t)),
    "range": (Index, lambda t: len(range(t))),
}  # fmt: skip


def test_a_comprehension_is_the_loop_that_it_stands_for() -> None:
    def loop(x: Tensor) -> Any:
        counting = Iterated()
        for _ in range(6):
            x = x + [v for v in counting][1]  # noqa: C416
        return x, counting.n

    def nested(x: Tensor) -> Any:
        counting = Iterated()
        for _ in range(6):
            x = x + [v for _ in (1, 2) for v in counting][1]
        return x, counting.n

    def branch(x: Tensor) -> Any:
        counting = Iterated()
        if x > 0:
            x = x + [v for v in counting][1]  # noqa: C416
        return x, counting.n

    for program in (loop, nested, branch):
        for start in (1.0, -1.0):
            assert [int(part) for part in gx.function(program)(f(start))] == [int(part) for part in program(f(start))]


@pytest.mark.drawn(4)
@pytest.mark.parametrize(
    "name", [name for name in USES if name not in ("Iterated list comprehension", "Iterated second iterable")]
)
def test_a_loop_is_unrolled_and_a_branch_refused(name: str) -> None:
    kind, use = USES[name]

    def loop(x: Tensor) -> Any:
        counting = kind()
        for _ in range(6):
            x = x + use(counting)
        return x, counting.n

    def branch(x: Tensor) -> Any:
        counting = kind()
        if x > 0:
            x = x + use(counting)
        return x

    def condition(x: Tensor) -> Any:
        counting = kind()
        return x + use(counting) if x > 0 else x

    check(loop, f(1.0))
    assert set(kinds_of(loop, f(1.0))) == {"unrolled"}
    for program in (branch, condition):
        with pytest.raises(UnimplementedError, match="inside the true branch"):
            gx.function(program)(f(1.0))


def test_rounding_is_code_that_is_converted() -> None:
    def program(x: Tensor) -> Any:
        counting = Rounded()
        for _ in range(6):
            if x > 0:
                x = x + round(counting, 1)
        return x, counting.n

    check(program, f(1.0))
    check(program, f(-9.0))
    assert set(kinds_of(program, f(1.0))) == {"rolled"}


@pytest.mark.parametrize("kind", [Iterated, Yielding, Numbered, Sized])
def test_a_generator_expression_calls_methods_where_it_stands(kind: type[Counting]) -> None:
    def branch(x: Tensor) -> Any:
        counting = kind()
        if x > 0:
            x = x + sum(v for v in counting) + len(",".join(str(v) for v in counting))
        return x, counting.n

    check(branch, f(1.0), refuse=True)
    check(branch, f(-1.0), refuse=True)


def test_the_method_is_named() -> None:
    def branch(x: Tensor) -> Any:
        counting = Printed()
        return x + len(b"%a" % counting) if x > 0 else x

    with pytest.raises(UnimplementedError, match=r"the call of Printed\.__str__ inside the true branch"):
        gx.function(branch)(f(1.0))


def test_an_iterator_from_outside_is_not_consumed_once_only() -> None:
    def loop(x: Tensor) -> Any:
        numbers = iter([(1.0, 2.0)] * 6)
        pairs = iter([iter([1.0, 2.0])] * 1)
        for _ in range(6):
            x = x + [a + b for (a, b), _ in zip(numbers, [1], strict=False)][0]  # noqa: RUF015
        return x, [v for row in pairs for v in row]

    def comprehension(x: Tensor) -> Any:
        numbers = iter([1.0, 2.0])
        return x + len([v for v in numbers]) if x > 0 else x  # noqa: C416

    def unpacking(x: Tensor) -> Any:
        numbers = iter([1.0, 2.0])
        if x > 0:
            a, b = numbers
            x = x + a + b
        return x

    check(loop, f(1.0))
    for program in (comprehension, unpacking):
        with pytest.raises(UnimplementedError, match=r"use of an iterator .* inside the true branch"):
            gx.function(program)(f(1.0))


# What has no code of the user's goes on being compiled


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


@dataclass(frozen=True)
class Point:
    x: float
    y: float


class Pair:
    """Its items come from a generator that stores into nothing."""

    def __init__(self, a: Any, b: Any) -> None:
        self.a = a
        self.b = b

    def __iter__(self) -> Iterator[Any]:
        yield self.a
        yield self.b


def test_builtins_enums_and_dataclasses_stay_rolled() -> None:
    table = {Mode.FAST: 1.0, Point(1.0, 2.0): 2.0}

    def program(x: Tensor) -> Any:
        for _ in range(6):
            a, b = (v * 2 for v in (x, x))
            c, *d = [v + 1 for v in [a, *(b, x)]]
            e, g = Pair(c, d[0])
            x = e * 0.1 + g * 0.1 + table[Mode.FAST] + {Point(1.0, 2.0): 2.0}[Point(1.0, 2.0)]
            x = x + len(f"{Mode.SLOW} {Point(1.0, 2.0)}") + len("%s" % Mode.SLOW)  # noqa: UP031
            x = x + sum(v for _, v in enumerate([1.0, 2.0])) + {"k": 1.0}["k"] + LIST[1:][0]
            x = x + len(dict.fromkeys({Mode.FAST, Mode.SLOW})) if x.shape == (1,) else x
        return x

    def branch(x: Tensor) -> Any:
        if x > 0:
            a, b = Pair(x, x)
            x = a + b + table[Mode.FAST] + len([v for v, _ in zip([1, 2], [3, 4], strict=True)])
        return x

    check(program, f(1.0))
    check(branch, f(1.0))
    assert kinds_of(program, f(1.0))[-1] == "rolled"


def test_generator_expressions_stay_lazy() -> None:
    def program(x: Tensor) -> Any:
        seen: list[int] = []

        def note(v: int) -> int:
            seen.append(v)
            return v

        lazy = (note(a) + b for a, b in zip([1, 2, 3], [4, 5, 6], strict=True))
        first = next(lazy)
        return x + first, seen

    check(program, f(1.0))
