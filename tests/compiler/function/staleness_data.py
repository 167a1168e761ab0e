"""Cases of :mod:`tests.compiler.function.staleness`: what gives other data each time that it is asked."""

from __future__ import annotations

import array
import collections
import csv
import functools
import heapq
import io
import itertools
import math
import queue
import random
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.compiler.function.staleness import Made, for_kind

ITERATORS, LOADERS, READERS = "iterators", "loaders of data", "queues, files and readers"


def _nothing() -> None:
    """Nothing but the calls changes the state."""


def _numbers() -> Iterator[float]:
    yield from (1.0, 2.0, 3.0)


class _Own:
    """An iterator that counts."""

    def __init__(self) -> None:
        self.count = 0

    def __iter__(self) -> _Own:
        return self

    def __next__(self) -> float:
        self.count += 1
        return float(self.count)


def _given(make: Callable[[], Any], take: Callable[[Any], Any]) -> Made:
    """A program that takes a number from an object."""
    source = make()
    return lambda x: x * take(source), _nothing


def _first(items: Any) -> Any:
    for item in items:
        return item
    return None


def _until_one(items: Any) -> Any:
    total = 0.0
    for item in items:
        total = total + item
        if item >= 1.0:
            break
    return total


def _unpacked(items: Any) -> Any:
    first, *_ = itertools.islice(items, 2)
    return first


for _kind, _make in {
    "a list's iterator": lambda: iter([1.0, 2.0, 3.0]),
    "a generator": _numbers,
    "`itertools.count()`": lambda: itertools.count(1.0),
    "`map(...)`": lambda: map(float, (1, 2, 3)),
    "`zip(...)`, a generator expression": lambda: (a for a, _ in zip((1.0, 2.0), (1, 2), strict=True)),
    "a user's iterator": _Own,
    "`re.finditer(...)`": lambda: (float(found[0]) for found in re.finditer(r"\d", "123")),
    "`csv.reader(...)`": lambda: (float(row[0]) for row in csv.reader(["1", "2", "3"])),
}.items():
    for_kind(ITERATORS, f"`next` of {_kind}", "warned")(functools.partial(_given, _make, next))

for _kind, _take in {
    "`it.__next__()`": lambda it: it.__next__(),
    "`list(it)`": lambda it: len(list(it)),
    "`sum(it)`": sum,
    "`2.0 in it`": lambda it: 2.0 if 2.0 in it else 3.0,
    "`for v in it: return v`": _first,
    "`for v in it: ... break`": _until_one,
    "`a, *b = ...`": _unpacked,
    "`[v for v in islice(it, 1)]`": lambda it: [v + 1 for v in itertools.islice(it, 1)][-1],
    "`next(v for v in it if ...)`": lambda it: next(v for v in it if v > 0),
    "`zip(it, ...)`": lambda it: next(zip(it, (1,), strict=False))[0],
    "`enumerate(it)`": lambda it: next(enumerate(it))[1],
    "`map(f, it)`": lambda it: next(map(math.sqrt, it)),
    "`max(*islice(it, 2))`": lambda it: max(*itertools.islice(it, 2)),
    "`functools.reduce(f, it)`": lambda it: functools.reduce(lambda a, b: a + b, it, 0.0),
    "`deque(it)`": lambda it: len(collections.deque(it)),
    "`numpy.fromiter(it)`": lambda it: np.fromiter(it, float).sum(),
    "`','.join(map(str, it))`": lambda it: len(",".join(map(str, it))),
}.items():
    for_kind(ITERATORS, _kind, "warned")(functools.partial(_given, lambda: iter([1.0, 2.0, 3.0]), _take))


class _Shuffling:
    """A loader that draws a new order for each epoch."""

    def __init__(self) -> None:
        self.data, self.rng = np.arange(4.0), np.random.default_rng(0)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.data[self.rng.permutation(4)])


class _Yielding(_Shuffling):
    def __iter__(self) -> Iterator[Any]:
        for place in self.rng.permutation(4):
            yield self.data[place]


class _Global:
    def __iter__(self) -> Iterator[Any]:
        yield from np.random.permutation(4)


class _Counting:
    epochs = 0

    def __iter__(self) -> Iterator[Any]:
        _Counting.epochs += 1
        return iter([float(_Counting.epochs)])


class _ByPlace:
    def __init__(self) -> None:
        self.asked = 0

    def __getitem__(self, place: int) -> float:
        self.asked += 1
        if place > 1:
            raise IndexError
        return float(self.asked)


for _kind, _loader in {
    "that shuffles, by a generator of its own": _Shuffling,
    "that shuffles and yields": _Yielding,
    "that shuffles by `numpy.random`": _Global,
    "that counts epochs in its class": _Counting,
    "with only `__getitem__`": _ByPlace,
}.items():
    for_kind(LOADERS, f"a `for` loop over an object {_kind}", "warned")(functools.partial(_given, _loader, _first))

for_kind(LOADERS, "`list`, `zip`, `enumerate` of such an object", "warned")(
    functools.partial(_given, _Counting, lambda loader: list(loader)[-1])
)


def _filled(kind: Callable[[], Any]) -> Callable[[], Any]:
    def make() -> Any:
        waiting = kind()
        for number in (1.0, 2.0, 3.0):
            waiting.put(number)
        return waiting

    return make


def _lines() -> io.StringIO:
    return io.StringIO("1\n2\n3\n")


def _event() -> Any:
    return threading.Event()


for _kind, _make, _take in (
    ("`queue.Queue.get()`", _filled(queue.Queue), lambda waiting: waiting.get()),
    ("`queue.SimpleQueue.get()`", _filled(queue.SimpleQueue), lambda waiting: waiting.get()),
    ("`deque.popleft()`", lambda: collections.deque([1.0, 2.0]), lambda items: items.popleft()),
    ("`list.pop()`", lambda: [1.0, 2.0], lambda items: items.pop()),
    ("`heapq.heappop(items)`", lambda: [1.0, 2.0], heapq.heappop),
    (
        "`random.Random.shuffle(items)`",
        lambda: [1.0, 2.0, 3.0, 4.0],
        lambda items: random.Random(0).shuffle(items) or 2.0,
    ),
    ("`OrderedDict.popitem()`", lambda: collections.OrderedDict(a=1.0, b=2.0), lambda items: items.popitem()[1]),
    ("`UserList.pop()`", lambda: collections.UserList([1.0, 2.0]), lambda items: items.pop()),
    ("`array.array.pop()`", lambda: array.array("d", [1.0, 2.0]), lambda items: items.pop()),
    ("`StringIO.readline()`", _lines, lambda file: float(file.readline())),
    ("`for line in StringIO`", _lines, lambda file: float(_first(file))),
    ("`StringIO.write(...)`", _lines, lambda file: file.write("4")),
    ("`BytesIO.read(n)`", lambda: io.BytesIO(b"abc"), lambda file: file.read(1)[0]),
    ("`Event.set()`", _event, lambda event: 3.0 if event.is_set() else event.set() or 2.0),
    ("a generator's `send`", _numbers, lambda running: running.send(None)),
    ("`numpy.add(a, 1, out=a)` and its like", lambda: np.zeros(1), lambda a: float(np.add(a, 1, a)[0])),
    (
        "a `memoryview` that is assigned to",
        lambda: memoryview(bytearray(1)),
        lambda view: view.__setitem__(0, 1) or 2.0,
    ),
    (
        "a view of a `numpy.ma` array whose item is masked",
        lambda: np.ma.array([1.0, 2.0], mask=[False, True]),
        lambda masked: masked[:1].__setitem__(0, np.ma.masked) or 2.0,
    ),
):
    for_kind(READERS, _kind, "warned")(functools.partial(_given, _make, _take))


@for_kind(READERS, "a counter in a class (`C.n += 1`)", "warned")
def _() -> Made:
    class Counter:
        n = 0

    def program(x: Any) -> Any:
        Counter.n += 1
        return x * Counter.n

    return program, _nothing


@for_kind(READERS, "a counter in a variable of the enclosing function", "warned")
def _() -> Made:
    n = 0

    def program(x: Any) -> Any:
        nonlocal n
        n += 1
        return x * n

    return program, _nothing


@for_kind(READERS, "`contextvars.ContextVar`", "warned")
def _() -> Made:
    from contextvars import ContextVar

    variable: ContextVar[float] = ContextVar("variable", default=2.0)
    return lambda x: x * variable.get(), lambda: variable.set(3.0)
