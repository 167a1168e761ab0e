"""Random pipelines: passes change nothing, and a position gives the very elements that would have come."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.training.data import Dataset
from graphc.training.data.elements import flatten
from graphc.training.data.nodes import maps
from graphc.training.data.plan import Epoch, PlanNode
from graphc.training.data.planned_dataset import improved
from tests.draws import examples


def double(x: Any) -> Any:
    return x * 2 + 1


def in_python(x: Any) -> Any:
    return np.asarray(int(x) + 1)


def is_even(x: Any) -> Any:
    return x % 2 == 0


small = st.integers(1, 5)
STEPS = {
    "take": st.integers(0, 12),
    "skip": st.integers(0, 6),
    "repeat": st.integers(0, 3),
    "shuffle": st.tuples(small, st.integers(0, 9)),
    "again": st.tuples(small, st.integers(0, 9)),
    "shard": st.tuples(st.just(2), st.integers(0, 1)),
    "concatenate": small,
    "map": st.sampled_from([double, in_python]),
    "filter": st.just(is_even),
    "flat": small,
}
steps = st.lists(st.sampled_from(sorted(STEPS)).flatmap(lambda name: st.tuples(st.just(name), STEPS[name])), max_size=5)


def built(steps: list[tuple[str, Any]], source: str, size: int) -> Any:
    dataset: Any = Dataset.range(11) if source == "range" else Dataset.from_tensor_slices(np.arange(11) * 3)
    for name, value in steps:
        if name in ("shuffle", "again"):
            dataset = dataset.shuffle(value[0], seed=value[1], reshuffle_each_iteration=name == "shuffle")
        elif name == "shard":
            dataset = dataset.shard(*value)
        elif name == "concatenate":
            dataset = dataset.concatenate(Dataset.range(value))
        elif name == "flat":
            dataset = dataset.batch(value).unbatch()
        else:
            dataset = getattr(dataset, name)(value)
    return dataset.enumerate().batch(size) if size > 1 else dataset


def rows(plan: PlanNode) -> list[Any]:
    return [[np.asarray(leaf).tolist() for leaf in row] for row in plan.open(Epoch())]


def rest(iterator: Any) -> list[Any]:
    return [[leaf.tolist() for leaf in flatten(element)[0]] for element in iterator]


@settings(max_examples=examples(60))
@given(steps, st.sampled_from(["range", "slices"]), st.integers(1, 4))
def test_passes_change_nothing(steps: list[tuple[str, Any]], source: str, size: int) -> None:
    plan = built(steps, source, size).plan
    assert rows(improved(plan)) == rows(plan)


@settings(max_examples=examples(30))
@given(steps, st.sampled_from(["range", "slices"]), st.integers(1, 4))
def test_every_position_can_be_resumed(steps: list[tuple[str, Any]], source: str, size: int) -> None:
    dataset = built(steps, source, size)
    iterator = dataset.as_numpy_iterator()
    states, elements = [json.dumps(iterator.state())], []
    for element in iterator:
        elements += rest([element])
        states.append(json.dumps(iterator.state()))
    again = built(steps, source, size)
    for place, state in enumerate(states):
        resumed = again.as_numpy_iterator()
        resumed.restore(json.loads(state))
        assert rest(resumed) == elements[place:]


@pytest.mark.parametrize("drop_remainder", [False, True])
def test_batches_that_are_made_at_once_can_be_resumed(drop_remainder: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "_BATCHES_AT_ONCE", 2)
    dataset = Dataset.range(23).shuffle(5, seed=1).map(double).batch(3, drop_remainder)
    assert len(list(dataset.plan.open(Epoch()))) == len(dataset)
    iterator = dataset.as_numpy_iterator()
    states, elements = [iterator.state()], []
    for element in iterator:
        elements += rest([element])
        states.append(iterator.state())
    assert len(elements) == len(dataset)
    assert {x for (batch,) in elements for x in batch} <= {2 * x + 1 for x in range(23)}
    for place, state in enumerate(states):
        resumed = dataset.as_numpy_iterator()
        resumed.restore(state)
        assert rest(resumed) == elements[place:]
