"""The call op, a whole graph as one step, and the op that marks a graph's status output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphc.compiler.base.errors import InternalError
from graphc.compiler.ir import OPS, Attrs, Graph, OpDef, TensorType

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
        raise InternalError("call_status: raises must hold strings")
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
        doc="Marks the status output of a function's graph, with the exceptions that it may report.",
    ),
)
"""It and the outputs after it are not part of the result. ``raises`` names the exceptions that depend on tensors, each
with its line; the exceptions themselves are not in the graph."""

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
