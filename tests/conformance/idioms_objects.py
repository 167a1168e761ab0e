"""Dicts, attributes, dataclasses and objects as the state of loops and branches."""

from __future__ import annotations

import copy
from collections import namedtuple
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import graphc as gx
from tests.conformance.harness import f, i, program

DICT = "dicts as state"
ATTRIBUTE = "attributes as state"
DATACLASS = "dataclasses and named tuples as state"
METHOD = "methods, properties, `super()`, class and static methods"


class Counter:
    """A plain object."""

    step = 1

    def __init__(self, start: Any = 0.0) -> None:
        self.value = start
        self.calls = 0

    def add(self, amount: Any) -> Counter:
        self.value = self.value + amount
        self.calls += self.step
        return self

    @property
    def doubled(self) -> Any:
        return self.value * 2

    @doubled.setter
    def doubled(self, value: Any) -> None:
        self.value = value / 2

    @classmethod
    def starting_at(cls, value: Any) -> Counter:
        return cls(value)

    @staticmethod
    def soften(value: Any) -> Any:
        return gx.tanh(value) if value > 1 else value


class Fast(Counter):
    """Adds twice."""

    step = 2

    def add(self, amount: Any) -> Counter:
        super().add(amount)
        return super().add(amount if amount > 0 else -amount)


@program("objects/attribute in a branch", inputs=[(f(1.0),), (f(-1.0),)], construct=ATTRIBUTE, gradient=True)
def attribute_in_branch(x: Any) -> Any:
    counter = Counter(x)
    if x > 0:
        counter.value = counter.value * 5
    return counter.value, counter.calls


@program("objects/attribute in a loop", inputs=[(f(1, 2, 3),), (f(-1, 4, 0),)], construct=ATTRIBUTE, gradient=True)
def attribute_in_loop(x: Any) -> Any:
    counter = Counter(gx.zeros(()))
    for value in x:
        if value > 0:
            counter.value += value * value
    return counter.value


@program("objects/attribute in a while loop", inputs=[(f(9.0),), (f(0.5),)], construct=ATTRIBUTE, python_numbers=True)
def attribute_in_while(x: Any) -> Any:
    counter = Counter(x)
    while counter.value > 1:
        counter.value = counter.value / 3
        counter.calls += 1
    return counter.value, counter.calls


@program(
    "objects/method that changes self, in a loop",
    inputs=[(f(1, 2, 3),), (f(-1, 4, 0),)],
    construct=METHOD,
    gradient=True,
)
def method_in_loop(x: Any) -> Any:
    counter = Counter.starting_at(gx.zeros(()))
    for value in x:
        counter.add(Counter.soften(value))
    return counter.value


@program("objects/method calls in a branch", inputs=[(f(1.0),), (f(-1.0),)], construct=METHOD, gradient=True)
def method_in_branch(x: Any) -> Any:
    counter = Counter(x)
    if x > 0:
        counter.add(x).add(x)
    return counter.value * 2


@program("objects/property and setter", inputs=[(f(1.0), 3), (f(-1.0), 30)], construct=METHOD, gradient=True)
def property_in_loop(x: Any, n: int) -> Any:
    counter = Counter(x)
    for k in range(n):
        counter.doubled = counter.doubled * 0.5 + k
    return counter.doubled


@program("objects/super", inputs=[(f(1.0),), (f(-1.0),)], construct=METHOD, gradient=True)
def with_super(x: Any) -> Any:
    counter = Fast(x)
    counter.add(x * 3)
    return counter.value, counter.calls


@program(
    "objects/object given as argument, changed",
    inputs=[(lambda: Counter(gx.asarray(1.0)), f(2.0))],
    construct="storing a tensor in an attribute of an argument",
    refused=(gx.errors.GraphcError, "(?s)value.*(outlives|return|Variable)"),
)
def object_argument(counter: Any, x: Any) -> Any:
    counter.value = counter.value + x
    return counter.value


@program(
    "objects/object given as argument, read",
    inputs=[(lambda: Counter(3.0), f(2.0)), (lambda: Fast(-3.0), f(2.0))],
    construct=METHOD,
    gradient=True,
)
def object_argument_read(counter: Any, x: Any) -> Any:
    return x * counter.doubled * counter.step


@dataclass
class Point:
    """A dataclass of tensors."""

    x: Any
    y: Any
    label: str = "p"
    trail: list[Any] = field(default_factory=list)

    def moved(self, dx: Any) -> Point:
        return replace(self, x=self.x + dx)


class Pair(NamedTuple):
    """A named tuple of tensors."""

    low: Any
    high: Any


@program("objects/dataclass in a while loop", inputs=[(f(1.0),), (f(50.0),)], construct=DATACLASS, gradient=True)
def dataclass_in_while(x: Any) -> Any:
    point = Point(x, gx.zeros(()))
    while point.x < 10:
        point = Point(point.x * 2, point.y + 1)
    return point.x, point.y, point.label


@program("objects/dataclass changed in place", inputs=[(f(1, 2),), (f(-5, 2),)], construct=DATACLASS, gradient=True)
def dataclass_in_place(x: Any) -> Any:
    point = Point(gx.zeros(()), gx.ones(()))
    for value in x:
        if value > 0:
            point.x += value
        else:
            point.y = point.y * value
    return point


@program("objects/dataclass returned from branches", inputs=[(f(1.0),), (f(-1.0),)], construct=DATACLASS, gradient=True)
def dataclass_returned(x: Any) -> Any:
    point = Point(x, x * 2)
    if x > 0:
        return point.moved(10)
    return Point(x * 0, point.y)


@program(
    "objects/dataclass given as argument",
    inputs=[(lambda: Point(gx.asarray(1.0), gx.asarray(2.0)),), (lambda: Point(gx.asarray(-1.0), gx.asarray(2.0)),)],
    construct=DATACLASS,
)
def dataclass_argument(point: Any) -> Any:
    if point.x > 0:
        point = point.moved(point.y)
    return point


@program("objects/named tuple in bisection", inputs=[(f(2.0), 20), (f(9.0), 5)], construct=DATACLASS, gradient=True)
def named_tuple_state(x: Any, n: int) -> Any:
    interval = Pair(x * 0, x + 1)
    for _ in range(n):
        middle = (interval.low + interval.high) / 2
        interval = interval._replace(high=middle) if middle * middle > x else Pair(middle, interval.high)
    return interval


@program(
    "objects/methods of a named tuple", inputs=[(f(1, 2, -3),), (f(-1, 0.5, 3),)], construct=DATACLASS, gradient=True
)
def named_tuple_methods(x: Any) -> Any:
    pair = Pair(x[0], x[1])
    for value in x:
        if value > 1:
            pair = pair._replace(low=value)
        elif value > 0:
            pair = Pair._make([value, pair.low])
        else:
            fields = pair._asdict()
            fields["high"] = value
            pair = Pair(**fields)
    return pair


@dataclass
class Recorder:
    """A dataclass that does something when it is made."""

    value: Any
    steps: Any = 0
    seen: list[Any] = field(default_factory=list[Any])

    def __post_init__(self) -> None:
        if self.value > 1:
            self.steps = self.steps + 1
        self.seen.append(self.value)


@program(
    "objects/dataclass with __post_init__",
    inputs=[(f(1, 2, -3),), (f(-1, 0.5, 3),)],
    construct=DATACLASS,
    gradient=True,
    python_numbers=True,
)
def post_init(x: Any) -> Any:
    recorder = Recorder(x[0])
    for value in x:
        if value > 0:
            recorder = replace(recorder, value=value, seen=[])
        else:
            recorder = Recorder(value, recorder.steps)
    return recorder


@dataclass(frozen=True)
class Squared:
    """A frozen dataclass with a field that it computes."""

    value: Any
    square: Any = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "square", self.value * self.value)


@program(
    "objects/frozen dataclass that computes a field", inputs=[(f(2.0),), (f(-2.0),)], construct=DATACLASS, gradient=True
)
def frozen_field(x: Any) -> Any:
    squared = Squared(x)
    if x > 0:
        squared = replace(squared, value=squared.square)
    return squared


@program("objects/copies", inputs=[(f(1, 2, 3),), (f(-1, 2, -3),)], construct=DATACLASS)
def copies(x: Any) -> Any:
    point, items, table = Point(x[0], x[1]), [x[0], x[1]], {"a": [x, x * 2]}
    for value in x:
        if value > 0:
            other, changed, deep = copy.copy(point), copy.copy(items), copy.deepcopy(table)
            other.x = other.x * 2
            changed[0] = changed[0] + other.x
            deep["a"][0][0] = value
            x = x + changed[0] + deep["a"][0]
    return x, point, items, table


Loose = namedtuple("Loose", "a b")


@program("objects/named tuple between branches", inputs=[(f(1.0),), (f(-1.0),)], construct=DATACLASS, gradient=True)
def named_tuple_branches(x: Any) -> Any:
    result = Loose(a=x, b=[x, x])
    if x > 0:
        result = Loose(x * 2, [x, x * 3])
    a, (b, c) = result
    return result, a + b + c


@program(
    "objects/class of a tensor that both branches keep",
    inputs=[(f(1.0),), (f(-1.0),)],
    construct=DATACLASS,
    gradient=True,
)
def class_of_kept(x: Any) -> Any:
    result = Loose(a=x, b=[x, x])
    if x > 0:
        result = Loose(x * 2, [x, x * 3])
    return [part * 2 for part in (result.a, *result.b) if isinstance(part, gx.Tensor)]


class Matrix:
    """A class with operators of its own."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __add__(self, other: Matrix) -> Matrix:
        return Matrix(self.values + other.values)

    def __getitem__(self, k: Any) -> Any:
        return self.values[k]

    def __len__(self) -> int:
        return len(self.values)

    def __call__(self, x: Any) -> Any:
        return x * self.values[-1] if gx.sum(self.values) > 0 else x

    def __bool__(self) -> Any:
        return len(self) > 2


@program(
    "objects/operators of a class",
    inputs=[(f(1, 2),), (f(-1, -2, 4),), (f(-1, -2),)],
    construct="special methods of user classes",
    gradient=True,
)
def own_operators(x: Any) -> Any:
    matrix = Matrix(x) + Matrix(x * 2)
    result = matrix(x[0]) + matrix[1]
    if matrix:
        result = result + len(matrix)
    return result


class Countdown:
    """An iterator written as a class."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Countdown:
        return self

    def __next__(self) -> int:
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


@program(
    "objects/iterator class", inputs=[(f(1.0), 3), (f(2.0), 0)], construct="iterators of Python values", gradient=True
)
def iterator_class(x: Any, n: int) -> Any:
    for k in Countdown(n):
        x = x * 2 + k
    return x


def _powers(x: Any, n: int) -> Any:
    for _ in range(n):
        yield x
        x = x * x


@program(
    "objects/generator function",
    inputs=[(f(1.5), 3), (f(-0.5), 1)],
    construct="generator functions (`yield`)",
    refused=(gx.errors.UnsupportedSyntaxError, "yield"),
)
def generator_function(x: Any, n: int) -> Any:
    total = x * 0
    for power in _powers(x, n):
        total = total + power
    return total, list(_powers(x, 2))


@program(
    "objects/layers and an optimizer step",
    inputs=[(f([[1, 2]]), f([[1.0]])), (f([[-1, 0]]), f([[0.0]]))],
    construct="objects with Variables",
)
def training_step(x: Any, target: Any) -> Any:
    w = _WEIGHTS
    w.assign([[0.5], [-0.5]])
    with gx.GradientTape() as tape:
        loss = gx.sum((x @ w - target) ** 2)
    gradient = tape.gradient(loss, w)
    if gx.sum(abs(gradient)) > 1:
        gradient = gradient / gx.sum(abs(gradient))
    w.assign_sub(0.1 * gradient)
    return loss, w.value()


_WEIGHTS = gx.Variable([[0.5], [-0.5]], name="weights")


class Momentum:
    """An optimizer as people write it: the velocity starts as a number."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.velocity = 0.0

    def step(self, gradient: Any) -> Any:
        self.velocity = 0.9 * self.velocity - self.rate * gradient
        return self.velocity


@program(
    "objects/attribute that starts as a number",
    inputs=[(f(1, -2), 20), (f(0.5, 3), 2)],
    construct=ATTRIBUTE,
    gradient=True,
)
def momentum(x: Any, n: int) -> Any:
    optimizer = Momentum(0.1)
    for _ in range(n):
        x = x + optimizer.step(x * 2)
    return x, optimizer.velocity


class Rows:
    """Answers item assignment, deletion and ``+=`` with code that branches on tensors."""

    def __init__(self, rows: Any) -> None:
        self.rows, self.refused = rows, gx.asarray(0)

    def __setitem__(self, k: Any, value: Any) -> None:
        if value > 0:
            self.rows[k] = value
        else:
            self.refused = self.refused + 1

    def __delitem__(self, k: Any) -> None:
        if self.rows[k] > 2:
            self.rows[k] = 0.0

    def __iadd__(self, other: Any) -> Any:
        if isinstance(other, str):
            return NotImplemented
        self.refused = self.refused + other
        return self

    def __add__(self, other: str) -> str:
        return f"rows and {other}"


@program(
    "objects/item assignment, deletion and += of a class",
    inputs=[(f(1, -2, 3), i(4)), (f(-1, 2, 3), i(0))],
    construct="special methods of user classes",
)
def stores_of_a_class(x: Any, n: Any) -> Any:
    rows = Rows(x * 1)
    rows[0] = x[1]
    for k in range(n):
        rows[k % 3] = x[k % 3] + k
        del rows[(k + 1) % 3]
        rows += k
    text = rows
    text += "more"
    return rows.rows, rows.refused, text
