"""Python numbers that depend on tensors: 0-d tensors of weak type, which yield in promotion as numbers do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax as _lax

from graphc.compiler.core import dtype_rules
from graphc.compiler.ir import OPS, Attrs, Graph, OpDef, TensorType
from graphc.compiler.ops.table import infer_by_evaluation

lax: Any = _lax  # its functions are only partly annotated

__all__ = ["AS_NUMBER"]


_ZEROS: dict[str, Any] = {"complex": 0j, "float": 0.0, "int": 0}


def _as_number(x: Any, *, kind: str, low: int | None = None, high: int | None = None) -> Any:
    del low, high  # what the passes may rely on
    x = jnp.reshape(x, ()) if jnp.shape(x) else x
    if kind == "int" and isinstance(x, jax.Array) and x.dtype == jnp.result_type(int) and jax.typeof(x).weak_type:
        return x  # is one already; it has no gradient
    if kind == "bool":  # Python's booleans are not weak
        return x.astype(bool)
    # The only JAX function that makes a weak array from a strong one.
    return lax.full_like(jnp.asarray(_ZEROS[kind]), lax.stop_gradient(x))


_infer_by_evaluation = infer_by_evaluation(_as_number)


def _infer(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    """Without asking JAX, which takes a millisecond, where a number keeps its dtype."""
    (type,), kind = types, attrs["kind"]
    known = not dtype_rules() and type.size == 1 and (type.dtype.name, kind) in (("int32", "int"), ("float32", "float"))
    return (TensorType((), type.dtype, weak=True),) if known else _infer_by_evaluation(types, attrs, regions)


AS_NUMBER = OPS.add(
    "as_number",
    OpDef(
        "as_number",
        impl=_as_number,
        infer=_infer,
        params=("x",),
        differentiable=False,
        light=True,
        doc="The only element as a Python number of a kind: truncated for an int, and without gradients. "
        "``low`` and ``high`` bound an int where the graph alone does not show its bounds.",
    ),
)
