"""Rows that processes share: disjoint, complete, as many steps, and a position for any number of processes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.training.data.nodes.origins import part_of

counts = st.integers(0, 200)
some = st.integers(1, 12)


@given(counts, some, some)
def test_parts_are_disjoint_and_complete(count: int, batch: int, parts: int) -> None:
    steps = -(-count // batch)
    found: list[int] = []
    for step in range(steps):
        first = step * batch
        bounds = [part_of(min(batch, count - first), parts, index) for index in range(parts)]
        shares = [range(first + start, first + stop) for start, stop in bounds]
        sizes = [len(share) for share in shares]
        assert max(sizes) - min(sizes) <= 1
        found += [row for share in shares for row in share]
    assert found == list(range(count))
    edges = [part_of(count, parts, index) for index in range(parts)]
    assert [start for start, _ in edges[1:]] + [count] == [stop for _, stop in edges]


def pipelines() -> list[Any]:
    rows = gx.data.Dataset.from_tensor_slices({"x": np.arange(23), "y": np.arange(23.0).reshape(23, 1)})
    shuffled = rows.shuffle(23, seed=5).repeat(2)
    return [
        shuffled.batch(6),
        shuffled.map(lambda row: {"x": row["x"] * 2, "y": row["y"] + 1}).batch(6, drop_remainder=True),
        shuffled.filter(lambda row: row["x"] % 3 > 0).batch(6),
    ]


def taken(dataset: Any, state: Any = None, steps: int | None = None) -> tuple[list[Any], Any]:
    iterator = dataset.as_numpy_iterator()
    if state is not None:
        iterator.restore(state)
    found = [element["x"].tolist() for _, element in zip(range(steps or 10**6), iterator, strict=False)]
    return found, json.loads(json.dumps(iterator.state())) if steps is not None else None


def joined(shares: list[Any]) -> list[Any]:
    return [[row for part in parts for row in part] for parts in zip(*shares, strict=True)]


@pytest.mark.parametrize("which", range(3))
def test_processes_have_the_batches_of_one_together(which: int) -> None:

    def dataset() -> Any:  # anew, as each process makes it: a second pass has another order
        return pipelines()[which]

    whole, _ = taken(dataset())
    for processes in (1, 2, 4):
        shares = [taken(dataset().shard_batches(processes, process))[0] for process in range(processes)]
        assert joined(shares) == whole
    # Two processes stop, and three go on.
    parts = [taken(dataset().shard_batches(2, process), steps=3) for process in range(2)]
    assert parts[0][1] == parts[1][1]
    rest = [taken(dataset().shard_batches(3, process), parts[0][1])[0] for process in range(3)]
    assert joined(rest) == whole[3:]


def test_only_the_rows_of_a_process_are_read() -> None:
    read: list[int] = []

    class Items:
        def __len__(self) -> int:
            return 8

        def __getitem__(self, index: int) -> int:
            read.append(index)
            return index

    dataset = gx.data.from_python(Items(), gx.TensorSpec((), gx.int32)).batch(4).shard_batches(2, 1)
    assert [batch.tolist() for batch in dataset] == [[2, 3], [6, 7]]
    assert read == [2, 3, 6, 7]


def test_what_cannot_be_shared() -> None:
    assert gx.data.Dataset.range(3).batch(2).shard_batches().cardinality() == 2  # one process: nothing changes
    with pytest.raises(InvalidArgumentError, match="shard_batches: process 2 must be less than processes 2"):
        gx.data.Dataset.range(3).batch(2).shard_batches(2, 2)
    with pytest.raises(InvalidArgumentError, match=r"elements have no rows: int32\[\]; use it after batch"):
        gx.data.Dataset.range(3).shard_batches(2, 0)
