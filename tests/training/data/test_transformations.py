"""Transformations of several elements, as tf.data means them, resumed at every position."""

from __future__ import annotations

import gc
import json
import logging
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import DataLossError, InvalidArgumentError
from graphc.training.data import Dataset
from graphc.training.data.elements import flatten


def values(dataset: Any) -> list[Any]:
    return [_plain(element) for element in dataset.as_numpy_iterator()]


def _plain(element: Any) -> Any:
    leaves = [leaf.tolist() if hasattr(leaf, "tolist") else leaf for leaf in flatten(element)[0]]
    return leaves[0] if len(leaves) == 1 else tuple(leaves)


def lengths(dataset: Any) -> Any:
    """Elements of some lengths."""
    return dataset.map(lambda x: np.full(int(x), int(x), np.int32))


def odd(x: Any) -> Any:
    return x % 2


CASES: list[tuple[Callable[[], Any], list[Any]]] = [
    (lambda: Dataset.range(1, 4).flat_map(lambda x: Dataset.range(x)), [0, 0, 1, 0, 1, 2]),
    (
        lambda: Dataset.range(1, 5).interleave(lambda x: Dataset.from_tensors(x).repeat(3), 2, 2),
        [1, 1, 2, 2, 1, 2, 3, 3, 4, 4, 3, 4],
    ),
    (
        lambda: Dataset.range(1, 4).interleave(lambda x: Dataset.range(x), 3, 1, num_parallel_calls=2),
        [0, 0, 0, 1, 1, 2],
    ),
    (lambda: Dataset.range(3).flat_map(lambda x: Dataset.range(4).shuffle(4, seed=int(x))).filter(lambda x: x < 3), []),
    (lambda: Dataset.range(7).window(3).flat_map(lambda w: w.batch(3)), [[0, 1, 2], [3, 4, 5], [6]]),
    (lambda: Dataset.range(7).window(2, 3, 2, True).flat_map(lambda w: w.batch(2)), [[0, 2], [3, 5]]),
    (lambda: Dataset.range(5).window(2, 1).flat_map(lambda w: w.batch(2)), [[0, 1], [1, 2], [2, 3], [3, 4], [4]]),
    (
        lambda: Dataset.range(4).enumerate().window(2).flat_map(lambda i, x: Dataset.zip(i.batch(2), x.batch(2))),
        [([0, 1], [0, 1]), ([2, 3], [2, 3])],
    ),
    (
        lambda: Dataset.range(7).group_by_window(odd, lambda key, group: group.batch(4), window_size=2),
        [[0, 2], [1, 3], [4, 6], [5]],
    ),
    (
        lambda: Dataset.range(6).group_by_window(
            odd, lambda key, group: group.batch(4), window_size_func=lambda key: key + 1
        ),
        [[0], [2], [1, 3], [4], [5]],
    ),
    (
        lambda: lengths(Dataset.from_tensor_slices([1, 3, 2, 4, 1])).bucket_by_sequence_length(len, [3], [2, 2]),
        [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]], [[1]]],
    ),
    (
        lambda: lengths(Dataset.from_tensor_slices([1, 2])).bucket_by_sequence_length(
            len, [4], [2, 2], pad_to_bucket_boundary=True, padding_values=-1
        ),
        [[[1, -1, -1], [2, 2, -1]]],
    ),
    (lambda: Dataset.range(5).scan(10, lambda s, x: (s + x, {"sum": s + x, "x": x})).take(2), [(10, 0), (11, 1)]),
    (lambda: Dataset.range(3).scan("", lambda s, x: (s + str(int(x)), s)), [b"", b"0", b"01"]),
    (lambda: Dataset.from_tensor_slices(["a", "b", "a"]).unique(), [b"a", b"b"]),
    (
        lambda: Dataset.choose_from_datasets(
            [Dataset.range(2), Dataset.range(10, 14)], Dataset.range(2).repeat(), stop_on_empty_dataset=False
        ),
        [0, 10, 1, 11, 12, 13],
    ),
    (lambda: Dataset.sample_from_datasets([Dataset.range(3), Dataset.range(5)], [0.0, 1.0]), [0, 1, 2, 3, 4]),
    (lambda: Dataset.sample_from_datasets([Dataset.range(30), Dataset.range(30)], seed=2), []),
    (lambda: Dataset.range(40).rejection_resample(odd, [0.9, 0.1], [0.5, 0.5], seed=1), []),
    (lambda: Dataset.range(4).repeat(2).cache().shuffle(3, seed=1), []),
    (lambda: Dataset.range(4).shuffle(4, seed=1).cache().repeat(3), []),
    (lambda: Dataset.range(9).batch(2).prefetch(2).unbatch().prefetch(1), list(range(9))),
    (lambda: lengths(Dataset.range(4)).map(lambda x: x.sum(), num_parallel_calls=3), [0, 1, 4, 9]),
    (lambda: Dataset.range(6).map(lambda x: 12 // int(x)).ignore_errors(), [12, 6, 4, 3, 2]),
    (lambda: Dataset.random(seed=4).take(3), []),
]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_transformations_resume_at_every_position(case: tuple[Callable[[], Any], list[Any]]) -> None:
    make, expected = case
    iterator = make().as_numpy_iterator()
    found: list[Any] = []
    states = [iterator.state()]
    for element in iterator:
        found.append(_plain(element))
        states.append(iterator.state())
    assert found == (expected or found)
    assert found
    for place, state in enumerate(states):
        resumed = make().as_numpy_iterator()
        resumed.restore(json.loads(json.dumps(state)))
        assert [_plain(element) for element in resumed] == found[place:]


def test_a_list_that_a_function_returns_is_a_tuple() -> None:
    ids = [20_000_001, 20_000_003]  # which float32 does not tell apart
    found = Dataset.from_tensor_slices(ids).map(lambda x: [x, x * 0.5])
    assert [row[0] for row in found.as_numpy_iterator()] == ids
    assert [str(leaf.dtype) for leaf in found.element_spec] == ["int32", "float32"]

    lines = Dataset.from_tensor_slices([f"{ids[0]},0.5,a", f"{ids[1]},1.5,b"])
    rows = lines.map(lambda line: gx.strings.decode_csv(line, [[0], [0.0], [""]]))
    assert list(rows.as_numpy_iterator()) == [(ids[0], 0.5, b"a"), (ids[1], 1.5, b"b")]

    count = gx.Variable(0)
    kept = Dataset.range(2).map(lambda x: [count.assign_add(1), x * 0.5])
    assert [(int(a), float(b)) for a, b in kept] == [(1, 0.0), (2, 0.5)]


def test_a_state_of_scan_is_json() -> None:
    numbers = Dataset.range(4).scan((0, [1.0, 2.0]), lambda s, x: ((s[0] + 1, s[1] + 0.1), s))
    texts = Dataset.range(4).scan("", lambda text, x: (text + "\u00e9", text + str(int(x))))
    for dataset in (numbers, texts):
        iterator = dataset.as_numpy_iterator()
        next(iterator)
        position = json.loads(json.dumps(iterator.state()))
        resumed = dataset.as_numpy_iterator()
        resumed.restore(position)
        assert [_plain(element) for element in resumed] == [_plain(element) for element in iterator]


def test_a_position_of_another_pipeline_is_refused() -> None:
    def numbers(seed: int | None, size: int, threads: int, ahead: int) -> Any:
        shuffled = Dataset.range(100).shuffle(100, seed=seed)
        return shuffled.map(str_of, num_parallel_calls=threads).batch(size).prefetch(ahead)

    def str_of(x: Any) -> Any:
        return str(int(x))

    first = numbers(None, 4, 2, 2).as_numpy_iterator()
    next(first)
    position = first.state()
    same = numbers(7, 4, 3, 5).as_numpy_iterator()  # another machine, another seed
    same.restore(position)
    assert next(same).tolist() == next(first).tolist()
    other = numbers(7, 8, 2, 2).as_numpy_iterator()
    message = (
        r"to another pipeline: transformation 3 is batch\(batch_size=4, .*\) in the position and batch\(batch_size=8, "
    )
    with pytest.raises(InvalidArgumentError, match=message):
        other.restore(position)
    assert len(next(other)) == 8  # goes on
    longer = Dataset.range(100).shuffle(100).as_numpy_iterator()
    with pytest.raises(
        InvalidArgumentError, match=r"transformation 2 is map\(function=str_of.* in the position and nothing here"
    ):
        longer.restore(position)
    for nothing in ({}, None):
        with pytest.raises(InvalidArgumentError, match=r"restore: expected a state\(\) of an iterator, got"):
            longer.restore(nothing)


def test_reduce() -> None:
    numbers = Dataset.range(1000)
    assert numbers.reduce(0, lambda total, x: total + x).item() == 499500
    total, count = numbers.batch(64).reduce((0.0, 0), lambda state, x: (state[0] + gx.sum(x), state[1] + x.shape[0]))
    assert (total.item(), count.item()) == (499500.0, 1000)
    assert numbers.take(3).reduce("", lambda text, x: text + str(int(x))).item() == "012"
    assert numbers.take(1).get_single_element().item() == 0


def test_samples_follow_their_weights() -> None:
    parts = [Dataset.from_tensors(0).repeat(), Dataset.from_tensors(1).repeat()]
    drawn = values(Dataset.sample_from_datasets(parts, [0.25, 0.75], seed=1).take(400))
    assert 70 < drawn.count(0) < 130
    even, uneven = Dataset.range(400).map(lambda x: x % 10 == 0), [0.5, 0.5]
    kept = [kind for kind, _ in values(even.rejection_resample(lambda x: gx.astype(x, "int32"), uneven, seed=3))]
    assert 0.3 < sum(kept) / len(kept) < 0.7


def test_a_cache_in_memory_is_filled_by_a_whole_pass(tmp_path: Path) -> None:
    calls: list[int] = []

    def noted(x: Any) -> Any:
        calls.append(int(x))
        return x

    cached = Dataset.range(3).map(noted).cache()
    assert values(cached.take(2)) == [0, 1]
    assert values(cached) == values(cached) == [0, 1, 2]
    assert calls == [0, 1, 0, 1, 2]
    assert values(cached.repeat(2)) == [0, 1, 2] * 2
    assert len(calls) == 5


@pytest.mark.parametrize("kind", ["cache", "snapshot"])
def test_a_cache_in_a_file_serves_other_programs(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "kept"
    given = {"x": np.arange(6.0).reshape(3, 2), "t": ["a", "bb", "ccc"], "b": [True, False, True]}
    kept = getattr(Dataset.from_tensor_slices(given), kind)(path)
    iterator = kept.as_numpy_iterator()
    next(iterator)
    position = iterator.state()
    iterator.close()
    assert not any(entry.is_file() for entry in tmp_path.rglob("*"))
    first = values(kept)
    assert values(kept) == first
    resumed = kept.as_numpy_iterator()
    resumed.restore(position)
    assert [_plain(element) for element in resumed] == first[1:]
    if kind == "cache":
        path.write_bytes(path.read_bytes()[:-12])
        with pytest.raises(DataLossError, match=r"truncated at byte \d+"):
            values(kept)


def test_errors_that_are_ignored_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    def careful(x: Any) -> Any:
        if int(x) in (1, 3):
            raise ValueError(f"bad {int(x)}")
        return x

    with caplog.at_level(logging.WARNING):
        assert values(Dataset.range(5).map(careful).ignore_errors(log=True)) == [0, 2, 4]
    assert [record.getMessage() for record in caplog.records] == [
        "ignore_errors dropped element 1: ValueError: bad 1 (in map(careful) of a dataset, element 1)",
        "ignore_errors dropped element 2: ValueError: bad 3 (in map(careful) of a dataset, element 3)",
        "ignore_errors dropped 2 elements of a dataset",
    ]


class _Scale:
    def __init__(self, factor: int) -> None:
        self.factor = factor

    def apply(self, x: Any) -> Any:
        return x * self.factor


_two, _scales = Dataset.range(1, 3), (_Scale(2), _Scale(3))


def test_methods_of_two_objects_are_two_functions_for_the_datasets_of_elements() -> None:
    assert values(Dataset.range(2).flat_map(lambda i: _two.map(_scales[int(i)].apply))) == [2, 4, 3, 6]


def test_the_functions_of_the_datasets_of_elements_keep_no_dataset() -> None:
    plans = list[Any]()

    def within(i: Any) -> Any:
        inner = Dataset.range(2)
        plans.append(weakref.ref(inner.plan))
        return inner.map(lambda x: x + 1)

    assert values(Dataset.range(2).flat_map(within)) == [1, 2, 1, 2]
    gc.collect()
    assert [plan() for plan in plans] == [None, None]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (lambda: Dataset.range(3).window(0), "size must be at least 1"),
        (lambda: Dataset.range(3).group_by_window(odd, lambda k, g: g), "pass either window_size or window_size_func"),
        (lambda: Dataset.range(3).bucket_by_sequence_length(len, [3], [1]), "need 2 batch sizes"),
        (lambda: Dataset.range(3).scan(0, lambda s, x: s), "must return a pair"),
        (
            lambda: Dataset.range(3).scan(0, lambda s, x: (s + 0.5, x)),
            r"the state has the types int32\[\], but .* float32\[\]",
        ),
        (
            lambda: Dataset.range(3).reduce(0, lambda s, x: s + 0.5),
            r"the state has the types int32\[\], but .* float32\[\]",
        ),
        (lambda: Dataset.range(3).rejection_resample(odd, []), "a frequency for each class"),
        (lambda: Dataset.sample_from_datasets([Dataset.range(3)], [1.0, 2.0]), "as many non-negative weights"),
        (lambda: Dataset.sample_from_datasets([Dataset.range(3)], Dataset.range(3).batch), "weights must be numbers"),
        (lambda: Dataset.choose_from_datasets([], Dataset.range(3)), "there are no datasets"),
        (lambda: Dataset.range(3).take(0).get_single_element(), "no elements"),
        (lambda: Dataset.range(3).get_single_element(), "more than one"),
        (lambda: list(Dataset.range(3).flat_map(lambda x: x)), "must return a dataset, but returned"),
        (lambda: Dataset.range(3).map(odd, num_parallel_calls=-3), "num_parallel_calls must be at least -1"),
        (lambda: Dataset.range(3).window(2).batch(2).get_single_element(), "flatten it first"),
    ],
)
def test_what_is_refused(bad: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"(?s){message}.*test_transformations.py"):
        bad()


def test_a_choice_out_of_range() -> None:
    with pytest.raises(InvalidArgumentError, match="dataset 2 was chosen, but there are 1"):
        list(Dataset.choose_from_datasets([Dataset.range(3)], Dataset.range(2, 3)))
