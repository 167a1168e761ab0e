"""Iterables, iterators and queues as sources: their elements, positions, and what happens to them only once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, InvalidTypeError
from graphc.training.data.sources import Iterated, QueueSource, python_source
from tests.training.data.sources.reading import check, elements, rows


def pairs() -> Iterator[Any]:
    for k in range(5):
        yield k, {"x": np.full(3, k, np.float32), "name": f"n{k}"}


def test_iterables_start_anew_and_are_resumed_by_counting() -> None:
    expected = [(k, {"x": [k] * 3, "name": b"n%d" % k}) for k in range(5)]
    assert check(python_source(pairs)) == expected
    assert check(python_source({7: 0, 8: 1})) == [7, 8]
    spec = (gx.TensorSpec((), "float32"), {"x": gx.TensorSpec((None,), "float32"), "name": gx.TensorSpec((), str)})
    assert elements(python_source(pairs, spec).open()) == [(float(k), rest) for k, rest in expected]


def test_an_iterator_is_read_once() -> None:
    source = python_source(pairs())
    assert len(elements(source.open())) == 5
    with pytest.raises(
        FailedPreconditionError, match="a Python iterator can be read only once, and was already read; pass"
    ):
        source.open()


class Counter:
    """An iterator that can go to a position."""

    def __init__(self) -> None:
        self.at, self.steps = 0, 0

    def __iter__(self) -> Counter:
        return Counter()

    def __next__(self) -> int:
        self.at, self.steps = self.at + 1, self.steps + 1
        if self.at > 5:
            raise StopIteration
        return self.at

    def state(self) -> int:
        return self.at

    def restore(self, state: int) -> None:
        self.at = state


def test_an_iterator_with_a_position_goes_there_at_once() -> None:
    source = Iterated(lambda: Counter())
    iterator = source.open()
    next(iterator)
    other = source.open()
    other.restore({"taken": 3, "own": 3})
    assert elements(other) == [4, 5]


def failing() -> Iterator[Any]:
    yield 1
    yield 2
    raise ValueError("no third")


@pytest.mark.parametrize(
    ("given", "spec", "error", "problem"),
    [
        (failing, None, ValueError, "no third"),
        (lambda: iter([1, (1, 2)]), None, InvalidArgumentError, r"element 1 is \(int32\[\], int32\[\]\), expec"),
        (lambda: iter([1, [2]]), None, InvalidArgumentError, r"element 1 has a leaf int32\[1\], expected int32\[\]"),
        (lambda: iter(["a"]), gx.TensorSpec((), "int32"), InvalidArgumentError, r"element 0 has a leaf string\[\]"),
    ],
)
def test_elements_before_an_error_come_first(given: Any, spec: Any, error: type[Exception], problem: str) -> None:
    iterator = python_source(given, spec).open()
    batch = iterator.read_many(10) if spec is None else None
    assert spec is not None or rows(batch) == [1, 2][: len(rows(batch))]
    with pytest.raises(error, match=problem):
        iterator.read_many(10)


def test_what_is_no_source() -> None:
    with pytest.raises(InvalidTypeError, match="Python's elements takes a sequence, an iterable or a function"):
        python_source(3)
    with pytest.raises(InvalidArgumentError, match=r"there are no elements to infer .* element_spec"):
        python_source(lambda: iter([]))
    with pytest.raises(InvalidTypeError, match="from_queue: expected a queue, got 3"):
        QueueSource(3)


def test_a_queue_gives_what_it_has_until_it_is_closed() -> None:
    queue = gx.queues.FIFOQueue(10, [gx.string, gx.float32], [(), (2,)], names=["name", "x"])
    for k in range(3):
        queue.enqueue({"name": f"n{k}", "x": [k, k]})
    queue.close()
    source = QueueSource(queue)
    assert str(source.spec["x"]) == "float32[2]"
    iterator = source.open()
    assert rows(iterator.read_many(2)) == [{"name": b"n0", "x": [0, 0]}]
    assert elements(iterator) == [{"name": b"n1", "x": [1, 1]}, {"name": b"n2", "x": [2, 2]}]
    assert iterator.read_many(1) is None
    with pytest.raises(FailedPreconditionError, match="from_queue: a queue has no position to restore"):
        iterator.restore(iterator.state())
    numbers = gx.queues.FIFOQueue(10, [gx.int32], [()])
    numbers.enqueue(5)
    numbers.close()
    assert elements(QueueSource(numbers).open()) == [5]
