"""The call op: a whole graph as one differentiable step, for compiled functions that run under an open tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphc.ir import OPS, Attrs, Graph, OpDef, TensorType

__all__ = ["CALL"]


def _call(*values: Any, assigned: Sequence[str] = (), body: Callable[..., Any]) -> tuple[Any, ...]:
    del assigned
    return tuple(body(*values))


def _call_types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types, attrs
    return tuple(value.type for value in regions[0].outputs)


CALL = OPS.add(
    "call",
    OpDef(
        "call",
        impl=_call,
        infer=_call_types,
        params=("*values",),
        regions=("body",),
        doc="A whole graph as one step.",
    ),
)
