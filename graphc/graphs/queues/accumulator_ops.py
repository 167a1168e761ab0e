"""The ops of accumulators: what graphs and compiled functions run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from graphc.compiler.core import STRING, as_dtype
from graphc.compiler.ir import (
    OPEN,
    OPS,
    Attrs,
    Effect,
    Graph,
    Infer,
    OpDef,
    TensorType,
    gives,
    part_of_world,
    reads,
    writes,
)
from graphc.graphs.queues.accumulator_state import AccumulatorSpec, AccumulatorState, DenseState, Slices, SparseState
from graphc.graphs.queues.homes import found, handle_of

__all__ = [
    "APPLY",
    "APPLY_SLICES",
    "COUNT",
    "HANDLE",
    "SET_STEP",
    "TAKE",
    "TAKE_SLICES",
    "make_accumulator",
    "shape_of",
]

SPARSE = "SparseConditionalAccumulator"


def make_accumulator(name: str, attrs: Mapping[str, Any]) -> AccumulatorState:
    """Makes the state of an accumulator."""
    spec = AccumulatorSpec(**{field: attrs[field] for field in AccumulatorSpec.fields})
    kind = SparseState if spec.kind == SPARSE else DenseState
    return kind(spec, f"{spec.kind} {name!r}")


def _state(attrs: Mapping[str, Any]) -> AccumulatorState:
    return found(make_accumulator, AccumulatorState, attrs)


def shape_of(type: TensorType, slices: Slices) -> np.ndarray[Any, Any]:
    """Returns the shape of a gradient of rows, with -1 for an unknown size."""
    shape = type.shape if type.ranked else (OPEN, *slices.values.shape[1:])
    return np.asarray(shape, as_dtype(np.int64))


def _apply(step: Any, gradient: Any, **attrs: Any) -> tuple[()]:
    _state(attrs).apply(np.asarray(gradient), int(step))
    return ()


def _apply_slices(step: Any, indices: Any, values: Any, **attrs: Any) -> tuple[()]:
    _state(attrs).apply(Slices(np.asarray(indices), np.asarray(values)), int(step))
    return ()


def _take(wanted: Any, **attrs: Any) -> np.ndarray[Any, Any]:
    return _state(attrs).take(int(wanted))


def _take_slices(wanted: Any, **attrs: Any) -> tuple[Any, Any, Any]:
    slices: Slices = _state(attrs).take(int(wanted))
    return slices.indices.astype(as_dtype(np.int64)), slices.values, shape_of(attrs["type"], slices)


def _count(**attrs: Any) -> np.ndarray[Any, Any]:
    return np.asarray(_state(attrs).count, np.int32)


def _set_step(step: Any, **attrs: Any) -> tuple[()]:
    _state(attrs).set_step(int(step))
    return ()


def _handle(**attrs: Any) -> np.ndarray[Any, Any]:
    return np.asarray(handle_of(attrs).encode(), object)


def _gradient(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    return (attrs["type"],)


def _slices(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    type, index = attrs["type"], as_dtype(np.int64)
    values = TensorType((OPEN, *type.shape[1:]), type.dtype) if type.ranked else type
    shape = TensorType((len(type.shape) if type.ranked else OPEN,), index)
    return TensorType((OPEN,), index), values, shape


def _touches(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    return (writes(part_of_world(f"accumulator/{handle_of(attrs)}")),)


def _stands_for(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    return (reads(part_of_world(f"accumulator/{handle_of(attrs)}")),)


def _op(name: str, impl: Callable[..., Any], infer: Infer, doc: str, *params: str) -> OpDef:
    name = f"accumulator.{name}"
    row = OpDef(name, impl, infer, params, effects=_touches, differentiable=False, host=True, doc=doc)
    return OPS.add(name, row)


APPLY = _op("apply_grad", _apply, gives(), "Adds a gradient.", "step", "gradient")
APPLY_SLICES = _op("apply_slices", _apply_slices, gives(), "Adds rows of a gradient.", "step", "indices", "values")
TAKE = _op("take_grad", _take, _gradient, "Takes the mean or sum of the gradients.", "wanted")
TAKE_SLICES = _op("take_slices", _take_slices, _slices, "Takes the mean or sum of the rows.", "wanted")
COUNT = _op("num_accumulated", _count, gives(TensorType((), np.dtype(np.int32))), "The number of gradients added.")
SET_STEP = _op("set_global_step", _set_step, gives(), "Sets the step.", "step")
HANDLE = OPS.add(
    "accumulator.handle",
    OpDef(
        "accumulator.handle",
        _handle,
        gives(TensorType((), STRING)),
        effects=_stands_for,
        differentiable=False,
        host=True,
        doc="An accumulator.",
    ),
)
