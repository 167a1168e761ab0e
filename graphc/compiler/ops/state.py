"""Reading and writing variables.

These nodes appear only in the outermost graph; the lowering, not ``impl``, implements them, since the value of a
variable is not among a node's inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphc.compiler.base.errors import InternalError
from graphc.compiler.ir import OPS, Attrs, Effect, Graph, OpDef, TensorType, reads, writes

__all__ = ["ASSIGN_VARIABLE", "READ_VARIABLE"]


def _needs_lowering(*values: Any, **attrs: Any) -> Any:
    raise InternalError(f"a variable is used outside the lowering that holds its value ({attrs})")


def _read_type(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types, regions
    return (attrs["type"],)


def _no_output(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types, attrs, regions
    return ()


def _reads(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    return (reads(attrs["variable"]),)


def _writes(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    return (writes(attrs["variable"]),)


READ_VARIABLE = OPS.add(
    "read_variable",
    OpDef(
        "read_variable",
        impl=_needs_lowering,
        infer=_read_type,
        takes_open=True,
        effects=_reads,
        differentiable=False,
        doc="The value of a variable at this point.",
    ),
)

ASSIGN_VARIABLE = OPS.add(
    "assign_variable",
    OpDef(
        "assign_variable",
        impl=_needs_lowering,
        infer=_no_output,
        takes_open=True,
        params=("value",),
        effects=_writes,
        differentiable=False,
        doc="Sets a variable from this point on.",
    ),
)
