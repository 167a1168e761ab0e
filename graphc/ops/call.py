"""Calls of compiled functions in graphs: a whole graph as one step, and the status of a call among its outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphc.base.errors import InternalError
from graphc.ir import OPS, Attrs, Graph, OpDef, TensorType

__all__ = ["CALL", "CALL_STATUS"]


def _call(*values: Any, assigned: Sequence[str] = (), body: Callable[..., Any]) -> tuple[Any, ...]:
    del assigned
    return tuple(body(*values))


def _call_types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types, attrs
    return tuple(value.type for value in regions[0].outputs)


def _status(status: Any, *, raises: Sequence[str]) -> Any:
    del raises
    return status


def _status_type(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del regions
    if not all(isinstance(text, str) for text in attrs["raises"]):
        raise InternalError("call_status: raises holds texts")
    return tuple(types)


CALL_STATUS = OPS.add(
    "call_status",
    OpDef(
        "call_status",
        impl=_status,
        infer=_status_type,
        takes_open=True,
        params=("status",),
        differentiable=False,
        doc="Marks the output of a function's graph that says whether the call has failed, and how it may.",
    ),
)
"""With the outputs after it, it is no part of the result. ``raises`` names the exceptions that the function raises by
the values of tensors, each with its line; what they hold is not in the graph."""

CALL = OPS.add(
    "call",
    OpDef(
        "call",
        impl=_call,
        infer=_call_types,
        params=("*values",),
        regions=("body",),
        entries=lambda types, attrs, regions: [[(type, place) for place, type in enumerate(types)]],
        doc="A whole graph as one step.",
    ),
)
