"""What tests of sources share: reading one in every way, and from every position."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from graphc.compiler.base import nest
from graphc.training.data.sources import ChunkSource, SourceIterator


def plain(value: Any) -> Any:
    """Returns an element or a batch as Python's own values, which compare."""
    return nest.map_structure(lambda leaf: leaf.tolist() if isinstance(leaf, np.ndarray | np.generic) else leaf, value)


def elements(iterator: SourceIterator) -> list[Any]:
    """Returns the elements that are left, one by one."""
    return [plain(element) for element in iterator]


def rows(batch: Any) -> list[Any]:
    """Returns the elements of a batch."""
    leaves, structure = nest.flatten(batch)
    return [plain(nest.unflatten(structure, row)) for row in zip(*leaves, strict=True)]


def check(source: ChunkSource, sizes: tuple[int, ...] = (1, 3, 1000)) -> list[Any]:
    """Reads a source by elements and by batches, and again from each position; returns its elements."""
    iterator = source.open()
    expected, states = list[Any](), list[Any]()
    while True:
        states.append(iterator.state())
        try:
            expected.append(plain(next(iterator)))
        except StopIteration:
            break
    assert iterator.read_many(2) is None
    for size in sizes:
        iterator, found = source.open(), list[Any]()
        while (batch := iterator.read_many(size)) is not None:
            assert 1 <= len(rows(batch)) <= size
            found += rows(batch)
        assert found == expected
    for place in {0, 1, len(states) // 2, len(states) - 2, len(states) - 1} & set(range(len(states))):
        iterator.restore(json.loads(json.dumps(states[place])))
        assert elements(iterator) == expected[place:]
        fresh = source.open()
        fresh.restore(json.loads(json.dumps(states[place])))
        batch = fresh.read_many(2)
        assert (rows(batch) if batch is not None else [])[:1] == expected[place : place + 1]
        fresh.close()
        fresh.close()
    assert source.cardinality in (None, len(expected))
    iterator.close()
    return expected
