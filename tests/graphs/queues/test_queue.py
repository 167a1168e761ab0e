"""What queues take, keep and give: components, names, dtypes, shapes, and what they say of wrong ones."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.graphs.queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue


def test_what_is_enqueued_is_kept_and_given_back() -> None:
    queue = FIFOQueue(10, "float32", [[2]])
    x = gx.asarray([1.0, 2.0])
    queue.enqueue(x)
    x[0] = 5.0  # the element stays as it was
    found = queue.dequeue()
    assert found.tolist() == [1.0, 2.0]
    assert found is not x
    many = gx.ones((3, 2))
    queue.enqueue_many(many)
    assert queue.dequeue_many(3).raw is many.raw  # no row was copied


def test_an_array_of_the_users_is_copied() -> None:
    queue = FIFOQueue(10, "int32", [[2]])
    rows = np.array([[1, 2], [3, 4]], np.int32)
    queue.enqueue(rows[0])
    queue.enqueue_many([rows])
    rows[:] = 0
    assert queue.dequeue_many(3).tolist() == [[1, 2], [1, 2], [3, 4]]
    words, given = FIFOQueue(10, gx.string, [[]]), np.array([b"a", b"b"], object)
    words.enqueue_many([given])
    given[:] = b"c"
    assert words.dequeue_many(2).tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        ("float32", 1, 1.0),
        ("float32", np.float64(1.5), 1.5),
        ("float32", gx.Variable(2.0), 2.0),
        ("float32", jnp.asarray(2.5), 2.5),
        ("int32", np.int64(3), 3),
        ("uint8", 255, 255),
        ("bool", True, True),
        ("bfloat16", 0.5, 0.5),
        ("complex64", 1, 1 + 0j),
        (gx.string, "word", "word"),
        (gx.string, b"\xff", "\udcff"),
    ],
)
def test_values_become_what_the_component_takes(dtype: Any, value: Any, expected: Any) -> None:
    queue = FIFOQueue(10, dtype, [[]])
    queue.enqueue([value])
    found = queue.dequeue()
    assert found.item() == expected
    assert found.dtype == queue.dtypes[0]


def test_several_components_go_together() -> None:
    queue = FIFOQueue(10, ["float32", "int32", gx.string], [[2], [], []])
    queue.enqueue([[1.0, 2.0], 3, "a"])
    queue.enqueue_many([gx.ones((2, 2)), np.array([4, 5]), ["b", "c"]])
    first = queue.dequeue()
    assert isinstance(first, list)
    assert [part.tolist() for part in first] == [[1.0, 2.0], 3, "a"]
    assert [part.tolist() for part in queue.dequeue_up_to(2)] == [[[1.0, 1.0], [1.0, 1.0]], [4, 5], ["b", "c"]]


def test_rows_that_came_apart_and_together_are_joined() -> None:
    queue = FIFOQueue(10, "int32", [[]])
    queue.enqueue(0)
    queue.enqueue_many([[1, 2, 3]])
    queue.enqueue(gx.asarray(4))
    queue.enqueue_many(gx.asarray([5, 6]))
    assert queue.dequeue_many(3).tolist() == [0, 1, 2]
    assert queue.dequeue_many(4).tolist() == [3, 4, 5, 6]


def test_strings_that_came_apart_are_joined() -> None:
    queue = FIFOQueue(10, [gx.string, gx.string], [[], [2]])
    for first in "ab":
        queue.enqueue([first, [first, "x"]])
    words, pairs = queue.dequeue_many(2)
    assert (words.tolist(), pairs.tolist()) == (["a", "b"], [["a", "x"], ["b", "x"]])


def test_elements_with_names_are_dicts() -> None:
    queue = FIFOQueue(10, ["float32", "int32"], [[], []], names=["x", "label"])
    queue.enqueue({"label": 1, "x": 0.5})
    queue.enqueue_many({"x": [1.5], "label": [2]})
    found = queue.dequeue_many(2)
    assert {name: part.tolist() for name, part in found.items()} == {"x": [0.5, 1.5], "label": [1, 2]}
    assert queue.names == ["x", "label"]


def test_without_shapes_elements_may_have_any() -> None:
    queue = FIFOQueue(10, "float32")
    queue.enqueue([1.0])
    queue.enqueue([[1.0, 2.0]])
    queue.enqueue_many([[[1.0], [2.0]]])
    assert [queue.dequeue().shape for _ in range(4)] == [(), (2,), (1,), (1,)]
    assert queue.shapes == [None]


def test_a_padding_queue_fills_up_with_zeros() -> None:
    queue = PaddingFIFOQueue(50, ["float32", gx.string], shapes=[(None, None), (None,)])
    assert queue.shapes == [(None, None), (None,)]
    queue.enqueue([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], ["a"]])
    queue.enqueue([[[1.0]], ["b", "c"]])
    queue.enqueue_many([np.full((2, 2, 4), 7.0), [["d"], ["e"]]])
    numbers, words = queue.dequeue_many(3)
    assert numbers.shape == (3, 3, 4)
    assert numbers[0].tolist() == [[1.0, 2.0, 0, 0], [3.0, 4.0, 0, 0], [5.0, 6.0, 0, 0]]
    assert numbers[1].tolist() == [[1.0, 0, 0, 0], [0] * 4, [0] * 4]
    assert numbers[2].tolist() == [[7.0] * 4, [7.0] * 4, [0] * 4]
    assert words.tolist() == [["a", ""], ["b", "c"], ["d", ""]]
    assert queue.dequeue()[0].shape == (2, 4)  # one element is given as it is


def test_a_seed_draws_the_same_order_however_many_are_taken_at_once() -> None:
    def drawn(*counts: int) -> list[int]:
        queue = RandomShuffleQueue(30, 0, "int32", [[]], seed=5)
        queue.enqueue_many([list(range(20))])
        queue.enqueue(20)
        return [number for count in counts for number in queue.dequeue_many(count).tolist()]

    assert drawn(21) == drawn(*[1] * 21) == drawn(4, 17)
    assert sorted(drawn(21)) == list(range(21))


def test_a_shared_name_is_one_queue() -> None:
    first = FIFOQueue(3, "int32", [[]], shared_name="tests.shared")
    second = FIFOQueue(3, "int32", [[]], shared_name="tests.shared")
    first.enqueue(1)
    assert second.dequeue().item() == 1
    differs = r"FIFOQueue 'tests.shared': another object with that shared name has capacity 3, not 4"
    with pytest.raises(InvalidArgumentError, match=differs):
        FIFOQueue(4, "int32", [[]], shared_name="tests.shared")
    with pytest.raises(InvalidArgumentError, match=r"has types \(i32\[\]\), not \(i32\[2\]\)"):
        FIFOQueue(3, "int32", [[2]], shared_name="tests.shared")
    with pytest.raises(InvalidArgumentError, match="has kind 'FIFOQueue', not 'PaddingFIFOQueue'"):
        PaddingFIFOQueue(3, "int32", [[]], shared_name="tests.shared")


def test_a_choice_of_queues_is_refused_with_what_to_write() -> None:
    with pytest.raises(UnimplementedError, match=r"write queues\[index\] for an int; for a tensor, tf.cond"):
        QueueBase.from_list(0, [FIFOQueue(3, "int32", [[]])])


def test_what_a_queue_says_of_itself() -> None:
    queue = RandomShuffleQueue(5, 1, ["float32", gx.string], [[2], []], name="r")
    assert repr(queue) == "<RandomShuffleQueue 'r' of (f32[2], str[]), capacity 5>"
    assert (queue.name, queue.dtypes, queue.shapes, queue.names) == (
        "r",
        [np.dtype("float32"), gx.string],
        [(2,), ()],
        None,
    )


def test_a_negative_capacity_is_any() -> None:
    queue = FIFOQueue(-1, "int32", [[]])
    queue.enqueue_many([list(range(10_000))])
    assert queue.size().item() == 10_000


def test_an_enqueue_of_no_rows_does_nothing() -> None:
    queue = FIFOQueue(3, "float32", [[2]])
    queue.enqueue_many([np.zeros((0, 2))])
    assert queue.size().item() == 0


def test_results_are_on_the_device_that_is_asked_for() -> None:
    queue = FIFOQueue(10, ["int32", "float32"], [[], [2]])
    queue.enqueue_many([[1, 2], gx.ones((2, 2))])
    with gx.device("cpu:1"):
        assert [part.device for part in queue.dequeue()] == ["/device:CPU:1"] * 2


def test_a_queue_that_is_dropped_is_collected() -> None:
    queue = FIFOQueue(3, "int32", [[]])
    state = weakref.ref(queue._state)  # type: ignore[arg-type]
    del queue
    gc.collect()
    assert state() is None


def test_a_copy_of_what_holds_a_queue_shares_it_and_no_process_gets_it() -> None:
    queue = FIFOQueue(3, "int32", [[]], name="q")
    assert copy.deepcopy([queue])[0] is copy.copy(queue) is queue
    with pytest.raises(InvalidTypeError, match="FIFOQueue 'q' is shared by the threads of one process"):
        pickle.dumps(queue)


def test_a_variable_is_enqueued_by_its_value() -> None:
    queue, v = FIFOQueue(3, "float32", [[2]]), gx.Variable([1.0, 2.0])

    @gx.function
    def update() -> None:
        v.assign_add([1.0, 1.0])  # in place, where nobody else has the array

    queue.enqueue(v)
    update()
    assert queue.dequeue().tolist() == [1.0, 2.0]
    assert v.numpy().tolist() == [2.0, 3.0]


def _queue(**options: Any) -> FIFOQueue:
    return FIFOQueue(3, ["float32", "int32"], [[2], []], name="q", **options)


BAD: dict[str, tuple[Callable[[], object], type[GraphcError], str]] = {
    "another shape": (
        lambda: _queue().enqueue([[1.0], 1]),
        InvalidArgumentError,
        r"FIFOQueue 'q'.enqueue: component 0 is f32\[1\], but it takes f32\[2\]",
    ),
    "another shape of many": (
        lambda: _queue().enqueue_many([[[1.0]], [1]]),
        InvalidArgumentError,
        r"enqueue_many: component 0 is f32\[1\] for each element, but it takes f32\[2\]",
    ),
    "a name": (
        lambda: _queue(names=["x", "y"]).enqueue({"x": [1.0, 2.0], "y": [1]}),
        InvalidArgumentError,
        r"enqueue: y is i32\[1\], but it takes i32\[\]",
    ),
    "many without rows": (
        lambda: _queue().enqueue_many([[[1.0, 2.0]], 1]),
        InvalidArgumentError,
        r"component 1 is i32\[\], which has no axis of elements; use enqueue for one element",
    ),
    "rows that differ": (
        lambda: _queue().enqueue_many([[[1.0, 2.0]], [1, 2]]),
        InvalidArgumentError,
        "each component must have one row for each element, but component 0 has 1, component 1 has 2",
    ),
    "another dtype": (
        lambda: _queue().enqueue([gx.asarray([1, 2]), 1]),
        InvalidTypeError,
        r"the component takes float32, got i32\[2\]; convert it with gx.astype\(x, 'float32'\)",
    ),
    "a float for an int": (lambda: _queue().enqueue([[1.0, 2.0], 1.5]), InvalidTypeError, "takes int32, got float 1.5"),
    "an int too large": (
        lambda: _queue().enqueue([[1.0, 2.0], 2**40]),
        InvalidArgumentError,
        "takes int32, which cannot hold 1099511627776",
    ),
    "strings": (lambda: _queue().enqueue(["a", 1]), InvalidTypeError, "the component takes float32, got strings"),
    "no strings": (
        lambda: FIFOQueue(3, gx.string, [[]]).enqueue(1.0),
        InvalidTypeError,
        "the component takes strings, got float 1.0",
    ),
    "nothing": (lambda: _queue().enqueue([None, 1]), InvalidTypeError, "the component takes float32, got NoneType"),
    "rows of a list": (lambda: _queue().enqueue([[1.0, [2.0]], 1]), InvalidTypeError, "is no tensor"),
    "too few components": (
        lambda: _queue().enqueue([[1.0, 2.0]]),
        InvalidArgumentError,
        "an element has 2 components, got 1",
    ),
    "a tensor as a list": (
        lambda: FIFOQueue(3, "float32", [[2]]).enqueue([1.0, 2.0]),
        InvalidArgumentError,
        r"an element has 1 components, got 2; put the tensor into a list, \[x\]",
    ),
    "a dict": (
        lambda: _queue().enqueue({"x": 1}),
        InvalidArgumentError,
        "got a dict, but the components have no names",
    ),
    "no dict": (
        lambda: _queue(names=["x", "y"]).enqueue([[1.0, 2.0], 1]),
        InvalidArgumentError,
        r"the components have names; pass a dict with the keys \['x', 'y'\]",
    ),
    "other keys": (
        lambda: _queue(names=["x", "y"]).enqueue({"x": 1, "z": 1}),
        InvalidArgumentError,
        r"the components are \['x', 'y'\], got \['x', 'z'\]",
    ),
    "a negative count": (
        lambda: _queue().dequeue_many(-1),
        InvalidArgumentError,
        r"'q'.dequeue_many: n must not be negative, got -1",
    ),
    "no count": (
        lambda: _queue().dequeue_up_to(1.5),
        InvalidTypeError,
        r"'q'.dequeue_up_to: n must be an int, got 1.5",
    ),
    "no shapes": (
        lambda: FIFOQueue(3, "float32", name="q").dequeue_many(2),
        InvalidArgumentError,
        r"elements of the types \(f32\[\*\]\) cannot be joined; make the queue with shapes=",
    ),
    "capacity": (lambda: FIFOQueue(0, "float32"), InvalidArgumentError, "a capacity of 0 leaves no room"),
    "no capacity": (lambda: FIFOQueue("3", "float32"), InvalidTypeError, "FIFOQueue: capacity must be an int, got '3'"),  # type: ignore[arg-type]
    "no dtype": (lambda: FIFOQueue(3, "floaty"), InvalidTypeError, "FIFOQueue: 'floaty' is not a dtype"),
    "no dtypes": (lambda: FIFOQueue(3, []), InvalidArgumentError, "dtypes is empty"),
    "fewer shapes": (
        lambda: FIFOQueue(3, ["float32", "int32"], [[]]),
        InvalidArgumentError,
        "there are 2 dtypes and 1 shapes; give one shape for each dtype",
    ),
    "open shapes": (
        lambda: FIFOQueue(3, ["float32"], [[None, 2]]),
        InvalidArgumentError,
        r"all sizes of shapes must be known, got \(f32\[\?,2\]\); use a PaddingFIFOQueue to pad different sizes",
    ),
    "no shape": (
        lambda: FIFOQueue(3, ["float32"], [["x"]]),
        InvalidTypeError,
        r"a shape must be a list of ints, got \['x'\]",
    ),
    "no rank": (
        lambda: PaddingFIFOQueue(3, ["float32"], [None]),
        InvalidArgumentError,
        r"each shape must have a known number of axes, got \(f32\[\*\]\)",
    ),
    "fewer names": (lambda: _queue(names=["x"]), InvalidArgumentError, "has 2 components, but there are 1 names"),
    "one name twice": (lambda: _queue(names=["x", "x"]), InvalidArgumentError, "two components have the same name"),
    "min_after_dequeue": (
        lambda: RandomShuffleQueue(3, 3, "float32"),
        InvalidArgumentError,
        "min_after_dequeue must be at least 0 and less than the capacity, got 3 and capacity 3",
    ),
    "a seed": (
        lambda: RandomShuffleQueue(3, 0, "float32", seed="x"),  # type: ignore[arg-type]
        InvalidTypeError,
        "RandomShuffleQueue: seed must be an int, got 'x'",
    ),
}


@pytest.mark.parametrize(("use", "kind", "message"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_is_said(use: Callable[[], object], kind: type[GraphcError], message: str) -> None:
    with pytest.raises(kind, match=message) as found:
        use()
    assert "test_queue.py" in str(found.value)


def test_a_gradient_does_not_vanish_in_a_queue() -> None:
    queue, x = FIFOQueue(3, "float32", [[]]), gx.asarray(2.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(UnimplementedError, match="to enqueue it loses the gradient"):
            queue.enqueue(x * x)
        queue.enqueue(gx.stop_gradient(x))
    assert queue.dequeue().item() == 2.0
