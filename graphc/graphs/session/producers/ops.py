"""The ops of input producers: epochs, their order, and slices of tensors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from graphc.compiler.base import files
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import STRING, bytes_array, current_resources
from graphc.compiler.ir import OPEN, OPS, Attrs, Effect, Graph, OpDef, TensorType, part_of_world, reads, writes

__all__ = ["EPOCH", "MATCHING_FILES", "RANGE", "TAKE_ROW"]

Types = Sequence[TensorType]


class _Order:
    """Draws the order of the rows of one producer, in one Session.

    Args:
      seed: the seed: the same seed gives the same orders; None for a different order each time.
    """

    def __init__(self, seed: tuple[int, ...] | None) -> None:
        self._random = np.random.default_rng(seed)
        self._lock = threading.Lock()

    def draw(self, count: int) -> np.ndarray[Any, Any]:
        """Returns a random permutation of the ints below ``count``."""
        with self._lock:
            return self._random.permutation(count)


class _Names:
    """The files that matched a pattern at the first request of a Session.

    Attributes:
      found: their names, sorted; None before.
    """

    def __init__(self) -> None:
        self.found: list[bytes] | None = None
        self.lock = threading.Lock()


def _epoch(
    rows: Any, *, shuffle: bool, seed: tuple[int, ...] | None, name: str, container: str, label: str
) -> np.ndarray[Any, Any]:
    if not len(rows):
        raise InvalidArgumentError(f"{label}: the input has no rows, so that its queue would never be filled")
    if not shuffle:
        return rows
    order = current_resources().get_or_make(container, name, lambda: _Order(seed), _Order)
    return rows[order.draw(len(rows))]


def _range(limit: Any, *, rows: bool) -> np.ndarray[Any, Any]:
    """Returns the ints below a limit, or one for each row of a tensor."""
    return np.arange(len(limit) if rows else int(limit), dtype=np.int32)


def _take_row(tensor: Any, index: Any) -> np.ndarray[Any, Any]:
    place = int(index)
    if not 0 <= place < len(tensor):
        raise InvalidArgumentError(
            f"slice_input_producer: row {place} of a tensor with {len(tensor)}; all tensors need as many rows as the "
            "first"
        )
    return tensor[place : place + 1].reshape(tensor.shape[1:])


def _matching_files(patterns: Any, *, name: str, container: str) -> np.ndarray[Any, Any]:
    names = current_resources().get_or_make(container, name, _Names, _Names)
    with names.lock:
        if names.found is None:
            found = {match for pattern in patterns.ravel().tolist() for match in files.glob(pattern)}
            names.found = sorted([match.encode("utf-8", "surrogateescape") for match in found])
        array = np.empty(len(names.found), object)
        array[:] = names.found
        return bytes_array(array)


def _epoch_type(types: Types, attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    return (types[0],)


def _range_type(types: Types, attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    return (TensorType((OPEN,), np.dtype(np.int32)),)


def _row_type(types: Types, attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    if types[0].ranked and not types[0].shape:
        raise InvalidArgumentError(f"slice_input_producer: {types[0]} has no rows; give tensors with at least one axis")
    return (replace(types[0], shape=types[0].shape[1:]),)


def _files_type(types: Types, attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    return (TensorType((OPEN,), STRING),)


def _draws(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    return (writes(part_of_world(f"producer/{attrs['container']}/{attrs['name']}")),)


def _looks(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    return (reads(part_of_world("files")),)


def _op(
    name: str, impl: Callable[..., Any], infer: Any, params: tuple[str, ...], doc: str, effects: Any = None
) -> OpDef:
    more = {} if effects is None else {"effects": effects}
    row = OpDef(f"producer.{name}", impl, infer, params, differentiable=False, host=True, doc=doc, **more)
    return OPS.add(row.name, row)


EPOCH = _op("epoch", _epoch, _epoch_type, ("rows",), "The rows of an epoch, in order or shuffled.", _draws)
RANGE = _op("range", _range, _range_type, ("limit",), "The ints below a limit.")
TAKE_ROW = _op("take_row", _take_row, _row_type, ("tensor", "index"), "A row of a tensor.")
MATCHING_FILES = _op("matching_files", _matching_files, _files_type, ("patterns",), "Names of files.", _looks)
