"""Copies of NumPy arguments, in memory that is used again."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.function.guards import SMALLEST, BufferPool

LARGE = SMALLEST // 4  # numbers of float32


def test_a_copy_is_of_memory_that_nobody_holds() -> None:
    recycled = BufferPool(np.dtype("float32"), (3,))
    first = recycled.copy(np.arange(3))
    second = recycled.copy(np.arange(3) + 10.0)
    assert (first.tolist(), second.tolist()) == ([0, 1, 2], [10, 11, 12])
    address = first.ctypes.data
    view = first[1:]
    del first
    assert recycled.copy(np.ones(3)).ctypes.data != address
    del view
    assert address in {recycled.copy(np.ones(3)).ctypes.data for _ in range(3)}


@pytest.mark.parametrize("shape", [(3,), (), (0,), (7, 5)])
def test_a_copy_is_aligned_so_that_jax_uses_its_memory(shape: tuple[int, ...]) -> None:
    recycled = BufferPool(np.dtype("float32"), shape)
    held = [recycled.copy(np.ones(shape)) for _ in range(5)]
    assert all(copy.ctypes.data % 64 == 0 and copy.shape == shape for copy in held)


def test_only_so_many_copies_are_kept_as_sixteen_megabytes_hold() -> None:
    recycled = BufferPool(np.dtype("float32"), (2**21,))  # 8 MiB
    value = np.zeros(2**21, np.float32)
    held = [recycled.copy(value) for _ in range(3)]
    addresses = [each.ctypes.data for each in held]
    assert len(set(addresses)) == 3
    assert len(recycled._buffers) == 2
    huge = BufferPool(np.dtype("float32"), (2**23,))
    huge.copy(np.broadcast_to(np.float32(1), 2**23))
    assert not huge._buffers  # not kept at all


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_written_into_an_argument_after_a_call_is_not_seen(dtype: str) -> None:
    @gx.function
    def slow(x: Any) -> Any:
        total = x
        for _ in range(200):
            total = gx.sin(total) + x
        return total

    x = np.ones(LARGE, dtype)
    expected = np.asarray(slow(x.copy()))
    results = []
    for _ in range(20):  # more than there are copies
        x[:] = 1.0
        results.append(slow(x))
        x[:] = 1e6
    for result in results:
        np.testing.assert_array_equal(np.asarray(result), expected)


def test_a_result_that_is_an_argument_is_a_copy_of_its_own() -> None:
    passed = gx.function(lambda x: (x, x + 1.0))
    x = np.zeros(LARGE, np.float32)
    results = []
    for number in range(6):
        x[:] = number
        results.append(passed(x))
    for number, (same, more) in enumerate(results):
        assert np.all(np.asarray(same) == number)
        assert np.all(np.asarray(more) == number + 1)


def test_threads_that_call_a_function_at_one_time_have_copies_of_their_own() -> None:
    double = gx.function(lambda x: x * 2.0)
    double(np.zeros(LARGE, np.float32))
    barrier, wrong = threading.Barrier(4, timeout=60), list[int]()

    def call(number: int) -> None:
        x = np.full(LARGE, number, np.float32)
        barrier.wait()
        for _ in range(50):
            if not np.all(np.asarray(double(x)) == 2 * number):
                wrong.append(number)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
