"""Queues in compiled functions: the same elements, in the order of the program."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import (
    CancelledError,
    DeadlineExceededError,
    InvalidArgumentError,
    OutOfRangeError,
    UnimplementedError,
)
from graphc.graphs.queues import FIFOQueue


def test_a_compiled_function_shares_the_elements_with_eager_code() -> None:
    queue = FIFOQueue(10, ["float32", "int32"], [[2], []])

    @gx.function
    def double() -> gx.Tensor:
        x, n = queue.dequeue()
        queue.enqueue([x * 2.0, n + 1])
        return queue.size()

    queue.enqueue([[1.0, 2.0], 0])
    assert double().item() == 1
    assert double().item() == 1
    x, n = queue.dequeue()
    assert (x.tolist(), n.item()) == ([4.0, 8.0], 2)
    assert len(double.trace_report()) == 1


def test_it_is_traced_once_whatever_the_queue_holds() -> None:
    queue = FIFOQueue(10, "float32", [[]])

    @gx.function
    def step() -> gx.Tensor:
        return queue.dequeue() + 1.0

    for number in range(4):
        queue.enqueue_many([[2.0] * (number + 1)])
        assert step().item() == 3.0
    assert len(step.trace_report()) == 1, step.trace_report()


def test_rolled_loops_enqueue_and_dequeue_in_order() -> None:
    queue = FIFOQueue(100, "int32", [[]])

    @gx.function
    def fill(n: gx.Tensor) -> gx.Tensor:
        for i in gx.arange(n):
            queue.enqueue(i * i)
        return n

    @gx.function
    def total() -> gx.Tensor:
        found = gx.asarray(0)
        for i in range(50):
            found = found * 0 + queue.dequeue() + i
        return found

    fill(gx.asarray(50))
    assert queue.size().item() == 50
    assert total().item() == 49 * 49 + 49
    fill(gx.asarray(5))
    assert queue.dequeue_many(5).tolist() == [0, 1, 4, 9, 16]


def test_many_and_names_and_closing() -> None:
    queue = FIFOQueue(10, ["float32", "int32"], [[], []], names=["x", "n"])

    @gx.function
    def run(x: gx.Tensor) -> tuple[gx.Tensor, gx.Tensor, gx.Tensor]:
        queue.enqueue_many({"x": x, "n": [1, 2, 3]})
        found = queue.dequeue_many(2)
        queue.close()
        return found["x"], found["n"], queue.is_closed()

    x, n, closed = run(gx.asarray([1.0, 2.0, 3.0]))
    assert (x.tolist(), n.tolist(), closed.item()) == ([1.0, 2.0], [1, 2], True)
    assert queue.size().item() == 1


def test_what_goes_wrong_is_raised_by_the_call() -> None:
    queue = FIFOQueue(1, "float32", [[]], name="q")

    @gx.function
    def take() -> gx.Tensor:
        return queue.dequeue_many(2)

    @gx.function
    def put(x: gx.Tensor) -> gx.Tensor:
        queue.enqueue(x)
        return x

    queue.enqueue(1.0)
    with gx.deadline(0.2), pytest.raises(DeadlineExceededError):
        take()
    with gx.deadline(0.2), pytest.raises(DeadlineExceededError):
        put(gx.asarray(1.0))
    assert queue.dequeue().item() == 1.0
    queue.enqueue(1.0)
    queue.close()
    with pytest.raises(
        OutOfRangeError, match=r"FIFOQueue 'q' is closed and has insufficient .*requested 2, current si"
    ):
        take()
    with pytest.raises(CancelledError, match="FIFOQueue 'q' is closed"):
        put(gx.asarray(1.0))
    assert queue.size().item() == 1


def test_a_step_waits_for_a_thread_that_enqueues() -> None:
    queue = FIFOQueue(2, "float32", [[2]])

    @gx.function
    def step(total: gx.Tensor) -> gx.Tensor:
        for _ in range(10):
            total = total + queue.dequeue()
        return total

    def produce() -> None:
        for number in range(10):
            queue.enqueue([np.full(2, number)])

    thread = threading.Thread(target=produce, daemon=True)
    thread.start()
    with gx.deadline(60.0):
        assert step(gx.zeros(2)).tolist() == [45.0, 45.0]
    thread.join(30)


def test_what_a_compiled_function_refuses() -> None:
    words, open_sizes = FIFOQueue(3, gx.string, [[]]), FIFOQueue(3, "float32")

    @gx.function
    def takes_words() -> gx.Tensor:
        return words.dequeue()

    with pytest.raises(
        UnimplementedError, match=r"queue.dequeue gives str\[\].*call it outside and pass the result in"
    ):
        takes_words()

    @gx.function
    def takes_any() -> gx.Tensor:
        return open_sizes.dequeue()

    with pytest.raises(UnimplementedError, match=r"queue.dequeue gives f32\[\*\]"):
        takes_any()

    @gx.function
    def makes(x: gx.Tensor) -> gx.Tensor:
        queue = FIFOQueue(3, "float32", [[]])
        queue.enqueue(x)
        return queue.dequeue()

    with pytest.raises(UnimplementedError, match="a FIFOQueue made in a compiled function would be made once"):
        makes(gx.asarray(1.0))

    @gx.function
    def wrong(x: gx.Tensor) -> gx.Tensor:
        shaped.enqueue(x)
        return x

    shaped = FIFOQueue(3, "float32", [[2]], name="q")
    with pytest.raises(InvalidArgumentError, match=r"'q'.enqueue: component 0 is f32\[3\], but it takes f32\[2\]"):
        wrong(gx.zeros(3))
