"""The short way of eager calls: what it must not confuse, and what it leaves to the long way."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.core import busy, context
from graphc.compiler.ops.public import AttributeCache, kinds


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        ((1, 0), (True, 0)),
        ((1, 0), (1.0, 0)),
        (0.0, -0.0),
        (((1,),), ((True,),)),
        (1, np.int32(1)),
    ],
)
def test_equal_values_of_other_kinds_are_told_apart(one: Any, other: Any) -> None:
    made: list[Any] = []
    kept = AttributeCache(lambda values: made.append(values[0]) or repr(values), 1)
    for value in (one, other, one, other):
        assert kept[value, kinds(value)] == repr((value,))


def test_made_once_for_plain_values() -> None:
    made: list[Any] = []
    kept = AttributeCache(lambda values: made.append(values) or len(made), 2)
    for values in ((1, None), ((2, 3), "a"), (np.dtype("int8"), 0.5)):
        first = kept[(*values, *map(kinds, values))]
        assert kept[(*values, *map(kinds, values))] == first
    assert len(made) == 3


def test_attributes_are_not_those_of_an_equal_call_before() -> None:
    x = gx.ones((2, 8))
    assert gx.reshape(x, (2, 8)).shape == (2, 8)
    with pytest.raises(gx.errors.GraphcError, match="reshape"):
        gx.reshape(x, (2.0, 8.0))


def test_dtype_follows_64_bit_types() -> None:
    x = gx.ones(2)
    assert gx.astype(x, "float64").dtype == np.float32
    with gx.config.scope(enable_x64=True):
        assert gx.astype(x, "float64").dtype == np.float64
    assert gx.astype(x, "float64").dtype == np.float32


def test_sequence_that_can_be_gone_through_once() -> None:
    x = gx.ones(2)
    assert gx.concat(part for part in (x, [1, 2])).tolist() == [1.0, 1.0, 1.0, 2.0]  # pyright: ignore[reportArgumentType]
    assert gx.stack(gx.ones((2, 3)), axis=1).shape == (3, 2)


def test_numbers_and_lists_among_tensors() -> None:
    x = gx.asarray([-1.0, 2.0])
    assert gx.maximum(x, 0.5).tolist() == [0.5, 2.0]
    assert gx.maximum(x, [0.0, 3.0]).tolist() == [0.0, 3.0]
    assert gx.add(1, 2).item() == 3
    assert gx.where(x > 0, x, 0.0).tolist() == [0.0, 2.0]
    assert [part.tolist() for part in gx.split(x, 2)] == [[-1.0], [2.0]]
    assert gx.clip(x, 0, 1).tolist() == [0.0, 1.0]
    assert gx.clip(gx.arange(3), 0.5, 1).dtype == gx.clip([0, 1, 2], 0.5, 1).dtype


def test_errors_have_the_line_that_called() -> None:
    x = gx.ones((2, 3))
    for call in (lambda: gx.sum(x, axis=5), lambda: gx.matmul(x, x), lambda: gx.concat([x, gx.ones(2)])):
        with pytest.raises(gx.errors.GraphcError, match=r"test_short_way\.py"):
            call()


def test_tape_of_a_thread_sends_others_the_long_way_while_it_is_open() -> None:
    tracing, done = threading.Event(), threading.Event()

    def trace() -> None:
        with gx.GradientTape():
            tracing.set()
            done.wait(60)

    thread = threading.Thread(target=trace)
    thread.start()
    try:
        assert tracing.wait(60)
        assert busy
        assert not context.eager  # what this thread computes may be of tensors that the tape follows
        assert gx.exp(gx.zeros(2)).tolist() == [1.0, 1.0]
        assert (gx.ones(2) + 1).tolist() == [2.0, 2.0]
    finally:
        done.set()
        thread.join()
    assert not busy
    assert context.eager


def test_device_scope_takes_the_long_way() -> None:
    with gx.device("cpu:0"):
        assert not context.eager
        assert gx.exp(gx.zeros(2)).device.endswith("CPU:0")
    assert context.eager


def test_tape_sees_the_short_way() -> None:
    x = gx.asarray([1.0, 4.0])
    with gx.GradientTape() as tape:
        tape.watch(x)
        places = gx.argsort(x)  # has no gradient
        parts = gx.split(gx.sqrt(x) * 2 + gx.astype(x > 2.0, "float32"), 2)
        y = 3 * parts[1] - parts[0]
    assert places.tolist() == [0, 1]
    assert [value.tolist() for value in tape.gradient([y], [x])] == [[-1.0, 1.5]]


def test_second_order_takes_the_long_way_back() -> None:
    x = gx.asarray(2.0)
    with gx.GradientTape() as outer:
        outer.watch(x)
        with gx.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        slope = inner.gradient(y, x)
    assert (slope.item(), outer.gradient(slope, x).item()) == (12.0, 12.0)


def test_errors_under_a_tape_have_the_line_that_called() -> None:
    x = gx.ones((2, 3))
    with gx.GradientTape() as tape:
        tape.watch(x)
        for call in (lambda: gx.sum(x, axis=5), lambda: x @ x, lambda: x + "a"):
            with pytest.raises((gx.errors.GraphcError, TypeError)) as caught:
                call()
            assert "test_short_way.py" in str(caught.value) or "unsupported operand" in str(caught.value)


def test_whole_number_of_what_is_watched_has_no_gradient() -> None:
    x = gx.asarray([1.5, 2.5])
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = gx.astype(gx.astype(x, "int32"), "float32") * 2
    assert tape.gradient(y, x) is None


def test_an_object_that_gives_its_index_is_asked_at_each_call() -> None:
    class Size:
        number = 2

        def __index__(self) -> int:
            return self.number

    size: Any = Size()
    matrix = gx.ones((2, 3, 4))

    def shapes() -> list[tuple[int, ...]]:
        made = [gx.zeros(size), gx.arange(size), gx.ones((size, 1)), gx.eye(size), gx.tile(gx.ones(1), (size,))]
        return [tensor.shape for tensor in (*made, gx.sum(matrix, axis=size))]

    assert shapes() == [(2,), (2,), (2, 1), (2, 2), (2,), (2, 3)]
    size.number = 1
    assert shapes() == [(1,), (1,), (1, 1), (1, 1), (1,), (2, 4)]
