"""Collectives over the replicas of a data-parallel step.

They have a meaning only inside a program that runs on all replicas at once; the axis of that program has one name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import jax
import numpy as np
from jax import lax

from graphc.ir import OPS, Attrs, Graph, OpDef, TensorType

__all__ = ["ALL_MEAN", "ALL_SUM", "COLLECTIVES", "FOLD_IN_REPLICA", "REPLICA_AXIS", "REPLICA_INDEX"]

REPLICA_AXIS = "replica"


def _all_mean(*values: Any) -> tuple[Any, ...]:
    return cast("Any", lax.pmean)(values, REPLICA_AXIS)


def _all_sum(*values: Any) -> tuple[Any, ...]:
    return cast("Any", lax.psum)(values, REPLICA_AXIS)


def _fold_in_replica(key: Any) -> Any:
    """Key data that differs between replicas."""
    index: Any = lax.axis_index(REPLICA_AXIS)
    folded: Any = cast("Any", jax.random.fold_in)(jax.random.wrap_key_data(key), index)
    return jax.random.key_data(folded)


def _same_types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del attrs, regions
    return tuple(types)


def _index_type(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types, attrs, regions
    return (TensorType((), np.dtype(np.int32)),)


ALL_MEAN = OPS.add(
    "all_mean",
    OpDef(
        "all_mean",
        impl=_all_mean,
        infer=_same_types,
        takes_open=True,
        params=("*values",),
        doc="The mean over the replicas.",
    ),
)
ALL_SUM = OPS.add(
    "all_sum",
    OpDef(
        "all_sum",
        impl=_all_sum,
        infer=_same_types,
        takes_open=True,
        params=("*values",),
        doc="The sum over the replicas.",
    ),
)
REPLICA_INDEX = OPS.add(
    "replica_index",
    OpDef(
        "replica_index",
        impl=lambda: lax.axis_index(REPLICA_AXIS),
        infer=_index_type,
        differentiable=False,
        doc="Which replica this is, from 0.",
    ),
)
FOLD_IN_REPLICA = OPS.add(
    "fold_in_replica",
    OpDef(
        "fold_in_replica",
        impl=_fold_in_replica,
        infer=_same_types,
        takes_open=True,
        params=("key",),
        differentiable=False,
        doc="Key data for random numbers that differ between replicas.",
    ),
)
COLLECTIVES = frozenset({"all_mean", "all_sum"})
