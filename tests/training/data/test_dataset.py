"""The meaning of tf.data, case by case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, OutOfRangeError
from graphc.training.data import Dataset


def values(dataset: Any) -> list[Any]:
    return [gx.nest.map_structure(lambda leaf: getattr(leaf, "tolist", lambda: leaf)(), element) for element in
            dataset.as_numpy_iterator()]  # fmt: skip


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Example:
    image: Any
    label: Any


def test_elements_keep_their_structure() -> None:
    given = {"pair": Pair([1.0, 2.0], ["a", "b"]), "example": Example(np.zeros((2, 3)), [True, False])}
    dataset = Dataset.from_tensor_slices(given)
    spec = dataset.element_spec
    assert (str(spec["pair"].first), str(spec["pair"].second)) == ("float32[]", "string[]")
    assert isinstance(spec["example"], Example)
    assert spec["example"].image.shape == (3,)
    first = next(iter(dataset))
    assert (first["pair"].second.item(), first["pair"].first.item()) == ("a", 1.0)
    assert isinstance(first["example"].image, gx.Tensor)
    assert next(dataset.as_numpy_iterator())["pair"].second == b"a"


def test_sources_in_memory() -> None:
    assert values(Dataset.from_tensors(([1, 2], "x"))) == [([1, 2], b"x")]
    assert values(Dataset.range(10, 0, -4)) == [10, 6, 2]
    assert values(Dataset.range(3, output_type="float32")) == [0.0, 1.0, 2.0]
    assert values(Dataset.counter(5, -2).take(3)) == [5, 3, 1]
    drawn = Dataset.random(seed=3).take(5)
    assert values(drawn) == values(drawn)
    assert values(drawn) != values(Dataset.random(seed=4).take(5))
    assert values(Dataset.zip({"a": Dataset.range(3), "b": Dataset.range(2)})) == [{"a": 0, "b": 0}, {"a": 1, "b": 1}]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda d: d.take(2), [0, 1]),
        (lambda d: d.take(-1), [0, 1, 2, 3, 4]),
        (lambda d: d.skip(3), [3, 4]),
        (lambda d: d.skip(-1), []),
        (lambda d: d.skip(9), []),
        (lambda d: d.repeat(2).skip(4).take(3), [4, 0, 1]),
        (lambda d: d.repeat().take(7), [0, 1, 2, 3, 4, 0, 1]),
        (lambda d: d.repeat(0), []),
        (lambda d: d.take(0).repeat(), []),
        (lambda d: d.shard(2, 1), [1, 3]),
        (lambda d: d.batch(2).shard(2, 1), [[2, 3]]),
        (lambda d: d.concatenate(Dataset.range(7, 9)), [0, 1, 2, 3, 4, 7, 8]),
        (lambda d: d.batch(2), [[0, 1], [2, 3], [4]]),
        (lambda d: d.batch(2, drop_remainder=True), [[0, 1], [2, 3]]),
        (lambda d: d.batch(3).unbatch(), [0, 1, 2, 3, 4]),
        (lambda d: d.batch(2).rebatch(3), [[0, 1, 2], [3, 4]]),
        (lambda d: d.batch(4).rebatch(3, drop_remainder=True), [[0, 1, 2]]),
        (lambda d: d.map(lambda x: x + 1).map(lambda x: x * 2), [2, 4, 6, 8, 10]),
        (lambda d: d.filter(lambda x: x % 2 == 0), [0, 2, 4]),
        (lambda d: d.filter(lambda x: x > 9), []),
        (lambda d: d.take_while(lambda x: x < 2), [0, 1]),
        (lambda d: d.enumerate(5).take(2), [(5, 0), (6, 1)]),
        (lambda d: d.map(lambda x: (x, x)).map(lambda x, y: {"sum": x + y}).take(2), [{"sum": 0}, {"sum": 2}]),
        (lambda d: d.apply(lambda inner: inner.skip(4)), [4]),
        (lambda d: d.map(lambda x: gx.full((int(x),), 1)).padded_batch(3).take(1), [[[0, 0], [1, 0], [1, 1]]]),
        (lambda d: d.batch(2).padded_batch(3, [3], -1), [[[0, 1, -1], [2, 3, -1], [4, -1, -1]]]),
        (lambda d: d.batch(2).padded_batch(3, [3], gx.asarray(-1)), [[[0, 1, -1], [2, 3, -1], [4, -1, -1]]]),
    ],
)
def test_transformations(make: Callable[[Any], Any], expected: list[Any]) -> None:
    dataset = make(Dataset.range(5))
    assert values(dataset) == expected
    assert values(dataset) == expected
    if dataset.cardinality() >= 0:
        assert len(dataset) == len(expected)


def test_cardinalities() -> None:
    five = Dataset.range(5)
    assert len(five.batch(2)) == 3
    assert len(five.batch(2, drop_remainder=True)) == 2
    assert five.repeat().cardinality() == gx.data.INFINITE_CARDINALITY
    assert five.filter(lambda x: x > 1).cardinality() == gx.data.UNKNOWN_CARDINALITY
    assert len(Dataset.zip(five, five.repeat())) == 5
    with pytest.raises(InvalidTypeError, match="its length is infinite"):
        len(five.repeat())
    with pytest.raises(InvalidTypeError, match="unknown before it is read"):
        len(five.filter(lambda x: x > 1))


def test_shuffles_reshuffle_and_keep_the_order_of_a_seed() -> None:
    shuffled = Dataset.range(50).shuffle(10, seed=1)
    first, second = values(shuffled), values(shuffled)
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second != list(range(50))
    assert all(x <= place + 10 for place, x in enumerate(first))
    again = Dataset.range(50).shuffle(10, seed=1)
    assert [values(again), values(again)] == [first, second]
    fixed = Dataset.range(50).shuffle(10, seed=1, reshuffle_each_iteration=False)
    assert values(fixed) == values(fixed)
    epochs = values(Dataset.range(50).shuffle(50, seed=1).repeat(2))
    assert sorted(epochs[:50]) == sorted(epochs[50:])
    assert epochs[:50] != epochs[50:]
    assert values(Dataset.range(50).shuffle(50)) != values(Dataset.range(50).shuffle(50))


def test_what_python_must_do_is_done_by_python() -> None:
    seen: list[int] = []

    def noted(x: Any) -> Any:
        seen.append(int(x))
        return np.asarray([x, x]), f"row {x}"

    dataset = Dataset.range(3).map(noted)
    assert values(dataset) == [([0, 0], b"row 0"), ([1, 1], b"row 1"), ([2, 2], b"row 2")]
    assert seen == [0, 1, 2]
    strings = Dataset.from_tensor_slices(["a", "b"]).map(lambda text: text + "!")
    assert values(strings.batch(2)) == [[b"a!", b"b!"]]
    assert [element.item() for element in strings] == ["a!", "b!"]


def test_functions_that_keep_state_are_called_in_order() -> None:
    count = gx.Variable(0)

    def counted(x: Any) -> Any:
        count.assign_add(1)
        return x * 10 + count

    assert values(Dataset.range(3).map(counted).batch(3)) == [[1, 12, 23]]
    gx.random.seed(3)
    drawn = values(Dataset.range(2).map(lambda x: gx.random.uniform(())))
    gx.random.seed(3)
    assert drawn == [gx.random.uniform(()).item(), gx.random.uniform(()).item()]


def test_iterators() -> None:
    iterator = iter(Dataset.range(2))
    assert iterator.get_next().item() == 0
    optional = iterator.get_next_as_optional()
    assert optional.has_value()
    assert optional.get_value().item() == 1
    end = iterator.get_next_as_optional()
    assert not end.has_value()
    with pytest.raises(OutOfRangeError, match="no more elements"):
        iterator.get_next()
    with pytest.raises(InvalidArgumentError, match="had no more elements"):
        end.get_value()
    assert list(iterator) == []


def test_plans_are_printed() -> None:
    dataset = Dataset.range(10).map(lambda x: x + 1).batch(4)
    assert [line.split()[0] for line in str(dataset).splitlines()] == ["range(0,", "map(function=<lambda>)",
                                                                      "batch(batch_size=4,"]  # fmt: skip
    assert repr(dataset) == "<Dataset of int32[?], 3 elements>"
    assert repr(Dataset.range(1).repeat()) == "<Dataset of int32[], without end>"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (lambda: Dataset.range(), "expected stop; start, stop"),
        (lambda: Dataset.range(0, 1, 0), "step"),
        (lambda: Dataset.range(2**40), "does not fit int32"),
        (lambda: Dataset.range("3"), "must be an int, got '3'"),
        (lambda: Dataset.range(3).batch(0), "batch_size must be at least 1"),
        (lambda: Dataset.range(3).shuffle(0), "buffer_size must be at least 1"),
        (lambda: Dataset.range(3).shard(2, 2), "index 2 must be less than num_shards 2"),
        (lambda: Dataset.range(3).map(3), "map: expected a function, got 3"),
        (lambda: Dataset.range(3).concatenate([1]), "expected a gx.data.Dataset"),
        (lambda: Dataset.range(3).concatenate(Dataset.from_tensors(1.0)), r"dataset 0 has the elements int32\[\]"),
        (lambda: Dataset.zip(()), "there are no datasets"),
        (lambda: Dataset.from_tensor_slices(3), "arrays of one length"),
        (lambda: Dataset.from_tensor_slices(([1], [1, 2])), "arrays of one length"),
        (lambda: Dataset.from_tensors(object()), "an element of a dataset has object"),
        (lambda: Dataset.range(3).padded_batch(2, ([], [])), r"a shape for each leaf of int32\[\]"),
        (lambda: Dataset.range(3).rebatch([]), "batch_size is empty"),
        (
            lambda: Dataset.range(3).map(lambda x: None),
            "map: <lambda> returns nothing, .* end it with `return element`",
        ),
        (lambda: list(Dataset.range(3).map(lambda x: print(int(x)))), "map: <lambda> returns nothing"),
        (lambda: list(Dataset.range(3).unbatch()), r"unbatch: .* have the shapes \(\); use it after batch"),
        (
            lambda: list(Dataset.range(3).filter(lambda x: gx.stack([x, x]) > 0)),
            r"returns an array of shape \(2,\), exp",
        ),
        (lambda: list(Dataset.range(3).take_while(lambda x: np.ones(2))), r"take_while: .* shape \(2,\), .* gx.all"),
        (lambda: list(Dataset.range(3).batch(3).padded_batch(1, [2])), r"shape \(3,\), which cannot be padded"),
        (
            lambda: list(Dataset.range(1, 3).map(lambda x: gx.ones(int(x))).batch(2)),
            r"element 1 .* shape \(2,\).* \(1,\)",
        ),
    ],
)
def test_what_is_refused(bad: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"(?s){message}.*test_dataset.py"):
        bad()


def test_an_exception_of_the_users_says_where() -> None:
    def careful(x: Any) -> Any:
        if int(x) == 3:
            raise KeyError("three")
        return x

    iterator = Dataset.range(5).map(careful).as_numpy_iterator()
    with pytest.raises(KeyError, match="three") as caught:
        list(iterator)
    (note,) = caught.value.__notes__
    assert "in map(careful) of a dataset, element 3" in note
    assert "test_dataset.py" in note


def test_what_a_function_reads_from_outside_is_not_stale() -> None:
    scale = 2
    dataset = Dataset.range(4).map(lambda x: x * scale).map(lambda x: x + scale)
    assert values(dataset) == [2, 4, 6, 8]
    assert values(dataset.batch(4)) == [[2, 4, 6, 8]]
    scale = 3
    assert values(dataset) == [3, 6, 9, 12]
    assert values(dataset.batch(4)) == [[3, 6, 9, 12]]
    rows = Dataset.range(3).batch(2).map(lambda x: x * scale)
    assert values(rows) == [[0, 3], [6]]
    scale = 4
    assert values(rows) == [[0, 4], [8]]


def test_the_seed_of_the_program_gives_the_orders_without_a_seed() -> None:
    numbers = Dataset.range(50)

    def orders() -> list[Any]:
        gx.random.seed(11)
        made = [numbers.shuffle(50), numbers.shuffle(50), Dataset.random().take(3),
                Dataset.sample_from_datasets([numbers, numbers.map(lambda x: -x)]).take(20)]  # fmt: skip
        return [[int(x) for x in dataset] for dataset in made]

    first = orders()
    gx.random.normal()
    assert orders() == first
    assert first[0] != first[1]  # each shuffle has an order of its own
    gx.random.seed(12)
    assert [int(x) for x in numbers.shuffle(50)] != first[0]


@pytest.mark.parametrize("size", [1, 3, 8])
def test_a_position_between_small_batches_is_exact(size: int) -> None:
    numbers = Dataset.from_tensor_slices((np.arange(600), np.ones((600, 2), np.float32)))
    for dataset in (numbers.batch(size), numbers.shuffle(50, seed=1).batch(size), numbers.skip(5).batch(size, True)):
        expected = [first.tolist() for first, _ in dataset]
        for steps in (0, 1, 33, 70):
            iterator = iter(dataset)
            for _ in range(steps):
                next(iterator)
            other = iter(dataset)
            other.restore(iterator.state())
            # Each pass shuffles anew: only the two iterators of the same position are alike.
            rest = [first.tolist() for first, _ in other]
            assert rest == [first.tolist() for first, _ in iterator]
            assert len(rest) == len(expected) - steps


def test_many_rows_of_one_type_are_tensors_like_the_first() -> None:
    leaves = {
        "scalar": np.arange(300, dtype=np.int16),
        "vector": np.random.default_rng(0).normal(size=(300, 3)).astype(np.float32),
        "truth": np.arange(300) % 2 == 0,
        "text": np.array([str(number) for number in range(300)]),
    }
    numbers = {name: leaf for name, leaf in leaves.items() if name != "text"}
    for kept, given in ((leaves, Dataset.from_tensor_slices(leaves)), (numbers, Dataset.from_tensor_slices(numbers))):
        found = list(given)
        for name, leaf in kept.items():
            assert {(element[name].dtype, element[name].shape) for element in found} == {
                (found[0][name].dtype, leaf.shape[1:])
            }
            assert [element[name].tolist() for element in found] == leaf.tolist()


def test_a_batch_as_numpy_may_be_written_to_without_an_effect_on_others() -> None:
    batches = iter(Dataset.from_tensor_slices(np.arange(64)).shuffle(64, seed=0).batch(4).as_numpy_iterator())
    seen = [next(batches).copy()]
    written = next(batches)
    seen.append(written.copy())
    written[:] = -1
    seen += list(batches)
    assert sorted(np.concatenate(seen).tolist()) == list(range(64))


@pytest.mark.parametrize("make", [lambda x: gx.asarray([1, 2]), lambda x: x, lambda x: [x[0], x[1]]])
def test_a_dataset_of_traced_tensors_says_what_to_write(make: Any) -> None:
    @gx.function
    def f(x: Any) -> Any:
        return len(list(Dataset.from_tensor_slices(make(x))))

    with pytest.raises(gx.errors.ConcretizationError, match=r"a dataset holds .*\(i32.*make the dataset of Python or"):
        f(gx.asarray([1, 2]))
