"""Operators, items, attributes and ``with`` on objects of the user's: as Python runs them, converted and watched."""

from __future__ import annotations

import contextlib
import enum
import functools
import math
import operator
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any

import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.autograph.operators import binary, compare
from graphc.compiler.base.errors import UnimplementedError
from tests.compiler.autograph.differential import check, f, kinds_of, loops_of

BINARY: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "add": ("+", lambda a, b: a + b),
    "sub": ("-", lambda a, b: a - b),
    "mul": ("*", lambda a, b: a * b),
    "truediv": ("/", lambda a, b: a / b),
    "floordiv": ("//", lambda a, b: a // b),
    "mod": ("%", lambda a, b: a % b),
    "matmul": ("@", lambda a, b: a @ b),
    "pow": ("**", lambda a, b: a**b),
    "lshift": ("<<", lambda a, b: a << b),
    "rshift": (">>", lambda a, b: a >> b),
    "and": ("&", lambda a, b: a & b),
    "or": ("|", lambda a, b: a | b),
    "xor": ("^", lambda a, b: a ^ b),
}
COMPARISONS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "lt": ("gt", lambda a, b: a < b),
    "le": ("ge", lambda a, b: a <= b),
    "gt": ("lt", lambda a, b: a > b),
    "ge": ("le", lambda a, b: a >= b),
    "eq": ("eq", lambda a, b: a == b),
    "ne": ("ne", lambda a, b: a != b),
}


class Counting:
    """Its special methods count how often they are called."""

    def __init__(self) -> None:
        self.n = 0

    def count(self, *_: Any) -> float:
        self.n += 1
        return 1.0


def with_method(name: str) -> type[Counting]:
    return type("Counting", (Counting,), {name: Counting.count})


USES: dict[str, tuple[type[Counting], Callable[[Any, Tensor], Any]]] = {
    **{name: (with_method(f"__{name}__"), lambda a, x, use=use: use(a, 2)) for name, (_, use) in BINARY.items()},
    **{f"r{name}": (with_method(f"__r{name}__"), lambda a, x, use=use: use(2, a)) for name, (_, use) in BINARY.items()},
    **{name: (with_method(f"__{name}__"), lambda a, x, use=use: use(a, 2)) for name, (_, use) in COMPARISONS.items()},
    **{
        f"swapped {name}": (with_method(f"__{swapped}__"), lambda a, x, use=use: use(2, a))
        for name, (swapped, use) in COMPARISONS.items()
    },
    "tensor + a": (with_method("__radd__"), lambda a, x: x + a),
    "chain": (with_method("__gt__"), lambda a, x: 0 < a > 0),
    "neg": (with_method("__neg__"), lambda a, x: -a),
    "pos": (with_method("__pos__"), lambda a, x: +a),
    "invert": (with_method("__invert__"), lambda a, x: ~a),
    "getitem": (with_method("__getitem__"), lambda a, x: a[0]),
    "slice": (with_method("__getitem__"), lambda a, x: a[1:, None]),
    "not equal": (with_method("__eq__"), lambda a, x: a != 2),
    "list": (with_method("__eq__"), lambda a, x: 2 in [a, 1]),
    "list + a": (with_method("__radd__"), lambda a, x: [2] + a),  # noqa: RUF005
}


@pytest.mark.drawn(3)
@pytest.mark.parametrize("name", USES)
def test_a_loop_and_a_branch_are_followed(name: str) -> None:
    kind, use = USES[name]

    def loop(x: Tensor) -> Any:
        counting = kind()
        for _ in range(6):
            x = x + (1 if use(counting, x) is None else 2)
        return x, counting.n

    def branch(x: Tensor) -> Any:
        counting = kind()
        if x > 0:
            use(counting, x)
        return x, counting.n

    def condition(x: Tensor) -> Any:
        counting = kind()
        y = (x if use(counting, x) is None else x + 1) if x > 0 else x
        return y, counting.n

    check(loop, f(1.0))
    for program in (branch, condition):
        check(program, f(1.0))
        check(program, f(-1.0))


def test_augmented_assignment_without_a_method_of_its_own() -> None:
    class Total:
        n = 0

        def __add__(self, other: Any) -> Any:
            self.n += 1
            return self

    def program(x: Tensor) -> Any:
        total = Total()
        for _ in range(6):
            total += 1
            x = x + 1
        return x, total.n

    check(program, f(1.0))


# Attributes


class Descriptor:
    def __get__(self, owner: Any, kind: Any = None) -> float:
        owner.n += 1
        return 1.0


class Attributes:
    described = Descriptor()

    def __init__(self) -> None:
        self.n = 0

    @property
    def number(self) -> float:
        self.n += 1
        return 1.0

    @functools.cached_property
    def cached(self) -> float:
        self.n += 1
        return 1.0

    @property
    def function(self) -> Callable[[], float]:
        self.n += 1
        return lambda: 1.0


def deep(x: Tensor, owner: Attributes) -> Tensor:
    return x + owner.number


@pytest.mark.parametrize(
    "use",
    [
        lambda x, owner: x + owner.number,
        lambda x, owner: x + owner.described,
        lambda x, owner: x + owner.cached,
        lambda x, owner: x + owner.function(),
        deep,
    ],
)
def test_attributes_that_are_calls(use: Callable[[Tensor, Any], Tensor]) -> None:
    def loop(x: Tensor) -> Any:
        owner = Attributes()
        for _ in range(6):
            x = use(x, owner)
        return x, owner.n

    def branch(x: Tensor) -> Any:
        owner = Attributes()
        y = use(x, owner) if x > 0 else x
        return y, owner.n

    check(loop, f(1.0))
    check(branch, f(1.0), refuse=True)
    check(branch, f(-1.0), refuse=True)


def test_attributes_that_fall_back() -> None:
    class Falls:
        def __init__(self) -> None:
            self.own = 3.0

        @property
        def broken(self) -> float:
            raise AttributeError("broken")

        def __getattr__(self, name: str) -> float:
            if name == "absent":
                raise AttributeError(f"no {name}")
            return float(len(name))

    def program(x: Tensor) -> Any:
        owner = Falls()
        start = owner.broken + owner.own + owner.missing
        for _ in range(6):
            x = x + owner.broken + owner.own + owner.missing + getattr(owner, "absent", 2.0)
        return x, start

    def absent(x: Tensor) -> Any:
        return x + Falls().absent

    check(program, f(1.0))
    assert kinds_of(program, f(1.0)) == ["rolled"]
    with pytest.raises(AttributeError, match="no absent"):
        gx.function(absent)(f(1.0))


def test_a_missing_key_of_a_default_dict_is_inserted() -> None:
    def branch(x: Tensor) -> Any:
        table: dict[str, float] = defaultdict(float, known=2.0)
        x = x * table["known"] if x > 0 else x
        if x > 0:
            x = x + table["unknown"]
        return x, len(table)

    with pytest.raises(UnimplementedError, match="insertion of a default into a defaultdict"):
        gx.function(branch)(f(1.0))


# With


class Manager:
    n = 0

    def __enter__(self) -> Manager:
        self.n += 1
        return self

    def __exit__(self, *error: object) -> None:
        self.n += 1


@contextlib.contextmanager
def generator(owner: Manager) -> Iterator[None]:
    owner.n += 1
    yield


@pytest.mark.parametrize("managed", [lambda owner: owner, generator])
def test_managers_of_the_users(managed: Callable[[Any], Any]) -> None:
    def loop(x: Tensor) -> Any:
        owner = Manager()
        for _ in range(6):
            with managed(owner):
                x = x + 1
        return x, owner.n

    def branch(x: Tensor) -> Any:
        owner = Manager()
        if x > 0:
            with managed(owner):
                x = x + 1
        return x, owner.n

    check(loop, f(1.0))
    check(branch, f(1.0))
    check(branch, f(-1.0))


def test_managers_made_before_the_branch() -> None:
    def branch(x: Tensor) -> Any:
        owner = Manager()
        managed = generator(owner)
        if x > 0:
            with managed:
                x = x + 1
        return x, owner.n

    with pytest.raises(UnimplementedError, match=r"`with generator\(\.\.\.\)`"):
        gx.function(branch)(f(1.0))


def test_managers_that_change_nothing() -> None:
    def program(x: Tensor) -> Any:
        for _ in range(6):
            with contextlib.nullcontext(2.0) as two, gx.device("cpu:0"):
                x = x * two
        return x

    check(program, f(1.0))
    assert kinds_of(program, f(1.0)) == ["rolled"]


# Python's protocol


class Left:
    def __add__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, Right) else f"Left + {other!r}"

    def __lt__(self, other: Any) -> Any:
        return NotImplemented


class Child(Left):
    def __radd__(self, other: Any) -> Any:
        return "child first"

    def __gt__(self, other: Any) -> Any:
        return "child first"


class Plain(Left):
    """Takes what there is from its base."""


class Right:
    def __radd__(self, other: Any) -> Any:
        return f"{type(other).__name__} + Right"

    def __rmul__(self, other: Any) -> Any:
        return NotImplemented

    def __gt__(self, other: Any) -> Any:
        return f"Right > {type(other).__name__}"

    def __index__(self) -> int:
        return 2


class Number(int):
    def __radd__(self, other: Any) -> Any:
        return "number first"


class Refuses:
    __radd__ = None

    def __eq__(self, other: object) -> Any:
        return NotImplemented

    __hash__ = None  # pyright: ignore[reportAssignmentType]


VALUES = [Left(), Child(), Plain(), Right(), Number(3), Refuses(), 3, 2.5, "text", [1], (1, 2), None, Fraction(1, 2)]


@pytest.mark.parametrize("symbol", ["+", "*", "<", "==", "!="])
def test_operands_are_asked_in_pythons_order(symbol: str) -> None:
    operator: Callable[[str, Any, Any], Any] = binary if symbol in "+*" else compare
    outcomes: list[list[Any]] = []

    def attempt(left: Any, right: Any) -> Any:
        try:
            return operator(symbol, left, right)
        except Exception as error:
            return type(error), str(error)

    def ask(x: Tensor) -> Tensor:
        outcomes.append([attempt(left, right) for left in VALUES for right in VALUES])
        return x

    outcomes.append([attempt(left, right) for left in VALUES for right in VALUES])
    gx.function(ask, autograph=False, side_effects="ignore")(f(1.0))
    assert len(outcomes) == 2
    assert outcomes[1] == outcomes[0]


# What is pure goes on being compiled


@dataclass(frozen=True)
class Vector:
    x: Any
    y: Any

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, by: Any) -> Vector:
        return Vector(self.x * by, self.y * by)

    __rmul__ = __mul__

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y)

    def __getitem__(self, index: int) -> Any:
        return self.x if index == 0 else self.y

    @property
    def square(self) -> Any:
        return self.x * self.x + self.y * self.y

    def __lt__(self, other: Vector) -> Any:
        return self.square < other.square


class Written:
    """As a vector, with a constructor that is written out."""

    __slots__ = ("x", "y")

    def __init__(self, x: Any, y: Any = 1.0) -> None:
        self.x = x
        self.y = y
        if x is None:
            self.x = 0.0

    def __add__(self, other: Written) -> Written:
        made = Written(self.x + other.x)
        made.y = self.y + other.y
        return made

    @property
    def total(self) -> Any:
        return self.x + self.y


@pytest.mark.parametrize("kind", [Vector, Written])
def test_small_classes_work_in_rolled_loops_and_branches(kind: Callable[[Any, Any], Any]) -> None:
    def program(x: Tensor) -> Tensor:
        start = kind(x, 2.0)
        for i in range(8):
            moved = start + kind(x * i, 1.0)
            x = x + moved.x * 0.1 + moved.y
        if x > 10:
            x = x + (start + start).x
        return x

    for value in (1.0, -9.0):
        check(program, f(value))
    assert kinds_of(program, f(1.0)) == ["rolled"]


def test_a_vector_is_carried() -> None:
    def program(x: Tensor) -> Any:
        place, speed = Vector(x, x * 2), Vector(x * 0 + 1.0, x)
        for _ in range(8):
            speed = speed + 0.1 * -place
            place = place + speed * 0.1
        while place < Vector(5.0, 5.0):
            place = place * 1.5
        if place[0] > 3:
            place = -place
        return place

    check(program, f(0.5))
    check(program, f(3.0))
    assert kinds_of(program, f(1.0))[0] == "rolled"


def test_branches_in_special_methods_are_converted() -> None:
    class Clipped:
        def __init__(self, value: Any) -> None:
            self.value = value

        def __add__(self, other: Any) -> Any:
            total = self.value + other
            if total > 3:
                total = total * 0 + 3.0
            return total

        def __getitem__(self, index: int) -> Any:
            return self.value if self.value > 0 else -self.value

    def program(x: Tensor) -> Any:
        first = Clipped(x) + 1.0
        for _ in range(6):
            x = Clipped(x) + 0.5 + Clipped(x)[0]
        return first, x

    check(program, f(1.0))
    check(program, f(-4.0))


def test_an_object_made_in_a_loop_and_used_after_it() -> None:
    def program(x: Tensor) -> Any:
        for i in range(8):
            last = Written(i)
            x = x + last.x
        return x, last.x

    check(program, f(1.0))
    assert loops_of(program, f(1.0)) == [("unrolled", "the use of 'last', a Written made in a loop, after it")]


def test_an_object_made_in_a_branch_changes_in_a_branch_inside() -> None:
    def program(x: Tensor) -> Any:
        made = Written(x)
        if x > 0:
            inner = Written(x)
            inner.x = inner.x + 1
            if inner.x > 2:
                inner.x = x
            made.x = inner.x
        return made.x

    for value in (1.0, 5.0, -1.0):
        check(program, f(value))


def test_setters_of_an_object_made_in_a_loop_are_watched() -> None:
    class Logged:
        log: list[Any] = []  # noqa: RUF012

        def __init__(self) -> None:
            self.value = 1

        def __setattr__(self, name: str, value: Any) -> None:
            self.log.append(name)
            object.__setattr__(self, name, value)

    def program(x: Tensor) -> Any:
        Logged.log = []
        for _ in range(8):
            x = x + Logged().value
        return x, len(Logged.log)

    check(program, f(1.0))


def test_what_libraries_define_is_pure() -> None:
    class Mode(enum.Flag):
        A = 1
        B = 2

    def program(x: Tensor) -> Any:
        half, path, mode = Fraction(1, 2), PurePosixPath("a"), Mode.A
        for _ in range(6):
            x = x + float(half + 1) + (1 if half < 1 else 2) + len((path / "b").parts)
            x = x + (1 if mode & Mode.A == Mode.A else 2)
        return x

    check(program, f(1.0))
    assert kinds_of(program, f(1.0)) == ["rolled"]


class _Held:
    """An object of which builtins ask tensors and numbers."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __contains__(self, item: float) -> Any:
        return self.x > item

    def __trunc__(self) -> Any:
        return self.x * 2.0

    def __float__(self) -> float:
        return 4.5

    def __str__(self) -> str:
        return "held"

    __repr__ = __str__


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x * 2.0 if 0.5 in _Held(x) else x,
        lambda x: x * 2.0 if 0.5 not in _Held(x) else x,
        lambda x: operator.contains(_Held(x), 0.5),
        lambda x: math.trunc(_Held(x)),
        lambda x: x * math.sqrt(_Held(x)) * math.log(_Held(x)),
    ],
)
def test_builtins_that_ask_objects_of_the_users(use: Callable[[Any], Any]) -> None:
    check(use, gx.asarray(1.0))
