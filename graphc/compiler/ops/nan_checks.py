"""Detection of the ops that produce NaN and infinities."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import jax.numpy as jnp
import numpy as np

from graphc.compiler.ir import OPS, Attrs, Graph, OpDef, TensorType

__all__ = ["BAD_VALUES"]

_TYPES = (TensorType((), np.dtype(np.bool_)), TensorType((3,), np.dtype(np.int32)))


def _bad_values(*values: Any, num_given: int) -> tuple[Any, Any]:
    given, made = values[:num_given], values[num_given:]
    no_nan = _all(~jnp.isnan(value).any() for value in given)
    finite = _all(jnp.isfinite(value).all() for value in given)
    found = jnp.bool_(False)
    report = jnp.zeros(3, jnp.int32)
    for place, value in reversed([*enumerate(made)]):
        nans = jnp.isnan(value).sum(dtype=jnp.int32)
        infinities = jnp.isinf(value).sum(dtype=jnp.int32)
        bad = ((nans > 0) & no_nan) | ((infinities > 0) & finite)
        counts = jnp.stack([jnp.int32(place), nans, infinities])
        report = counts if len(made) == 1 else jnp.where(bad, counts, report)
        found = found | bad
    return found, report


def _all(conditions: Any) -> Any:
    return reduce(jnp.logical_and, conditions, jnp.bool_(True))


def _types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types, attrs, regions
    return _TYPES


BAD_VALUES = OPS.add(
    "bad_values",
    OpDef(
        "bad_values",
        impl=_bad_values,
        infer=_types,
        takes_open=True,
        params=("*values",),
        differentiable=False,
        doc="The first output with a NaN or an infinity that no input has, and the counts of both.",
    ),
)
