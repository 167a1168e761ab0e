"""The ops of queues, which graphs run by hand are made of: each Session has elements of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphc.compiler.base.errors import InvalidArgumentError, NotFoundError, OutOfRangeError
from graphc.compiler.core import Resources, resources_scope
from graphc.compiler.ir import OPEN, Attrs, TensorType
from graphc.graphs.queues import QueueSpec, ops
from graphc.graphs.queues.shared import claim
from graphc.graphs.queues.state import QueueState

FLOATS = QueueSpec("FIFOQueue", 5, (TensorType((2,), np.dtype("float32")), TensorType((), np.dtype(object))))


def attrs(spec: QueueSpec = FLOATS, name: str = "q", container: str = "", **more: Any) -> dict[str, Any]:
    return {**spec.attrs(), "name": name, "container": container, "home": "session", **more}


def fill(**given: Any) -> None:
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    ops.ENQUEUE_MANY.impl(rows, np.array([b"a", b"b", b"c"], object), **attrs(**given))


def test_the_ops_of_one_queue_find_each_other_by_its_name() -> None:
    with resources_scope(Resources()):
        fill()
        numbers, words = ops.DEQUEUE.impl(**attrs())
        assert (numbers.tolist(), words.item()) == ([0.0, 1.0], b"a")
        assert ops.SIZE.impl(**attrs()) == 2
        numbers, words = ops.DEQUEUE_MANY.impl(np.int32(2), **attrs(count=None))
        assert (numbers.tolist(), words.tolist()) == ([[2.0, 3.0], [4.0, 5.0]], [b"b", b"c"])
        ops.CLOSE.impl(**attrs(cancel=False))
        assert ops.IS_CLOSED.impl(**attrs())
        with pytest.raises(OutOfRangeError, match=r"FIFOQueue 'q' is closed"):
            ops.DEQUEUE_UP_TO.impl(**attrs(count=3))
        assert [part.shape for part in ops.DEQUEUE_MANY.impl(**attrs(count=0))] == [(0, 2), (0,)]


def test_each_session_and_container_has_elements_of_its_own() -> None:
    first, second = Resources(), Resources()
    with resources_scope(first):
        fill()
        assert ops.SIZE.impl(**attrs(container="other")) == 0
    with resources_scope(second):
        assert ops.SIZE.impl(**attrs()) == 0
    with resources_scope(first):
        assert ops.SIZE.impl(**attrs()) == 3
    assert [state.size for state in first.all(QueueState)] == [3, 0]


def test_queues_of_one_name_are_alike() -> None:
    other = QueueSpec("FIFOQueue", 4, FLOATS.types)
    with resources_scope(Resources()):
        fill()
        with pytest.raises(
            InvalidArgumentError, match="FIFOQueue 'q': another object with that shared name has capacity 5, not"
        ):
            ops.SIZE.impl(**attrs(other))


def test_what_is_fed_is_checked_and_copied() -> None:
    with resources_scope(Resources()):
        row, word = np.ones(2, np.float32), np.array(b"w", object)
        ops.ENQUEUE.impl(row, word, **attrs())
        row[:] = 0
        assert ops.DEQUEUE.impl(**attrs())[0].tolist() == [1.0, 1.0]
        with pytest.raises(InvalidArgumentError, match=r"component 0 is f32\[3\], but it takes f32\[2\]"):
            ops.ENQUEUE.impl(np.ones(3, np.float32), word, **attrs())
        with pytest.raises(InvalidArgumentError, match="component 0 has 2, component 1 has 1"):
            ops.ENQUEUE_MANY.impl(np.ones((2, 2), np.float32), np.array([b"w"], object), **attrs())
        with pytest.raises(InvalidArgumentError, match="the number of elements to dequeue is negative: -1"):
            ops.DEQUEUE_UP_TO.impl(np.int32(-1), **attrs(count=None))


def test_types_say_what_is_open() -> None:
    given = Attrs(attrs(count=None))
    assert [str(type) for type in ops.DEQUEUE.infer((), given, ())] == ["f32[2]", "str[]"]
    assert [str(type) for type in ops.DEQUEUE_MANY.infer((), given, ())] == ["f32[?,2]", "str[?]"]
    assert [str(type) for type in ops.DEQUEUE_MANY.infer((), Attrs(attrs(count=3)), ())] == ["f32[3,2]", "str[3]"]
    assert ops.DEQUEUE_UP_TO.infer((), Attrs(attrs(count=3)), ())[0].shape == (OPEN, 2)


def test_a_queue_of_eager_code_that_is_gone() -> None:
    found = claim(ops.make_queue, QueueState, FLOATS.attrs(), "gone", None)[1]
    with pytest.raises(
        NotFoundError, match="was made in eager code and no longer exists; keep a reference to the object"
    ):
        ops.SIZE.impl(**found)
