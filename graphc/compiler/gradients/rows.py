"""Backward passes for many cotangents at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax as _jax

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import Tensor, apply_all, context, operand, trace_scope, unexamined
from graphc.compiler.ir import TensorType
from graphc.compiler.lowering import lower
from graphc.compiler.ops import CALL, MappedRegion, emit_vmap
from graphc.compiler.tracing import Trace, current_trace, is_tracing

jax: Any = _jax  # its functions are only partly annotated

__all__ = ["for_rows"]

Pull = Callable[[Tensor], list[Tensor | None]]


def for_rows(pull: Pull, rows: Tensor) -> list[Tensor | None]:
    """Returns the results of a backward pass for each row, stacked.

    Eagerly its ops run one by one under ``jax.vmap``, each compiled once. In a graph, or under an open tape, which must
    record the dependencies of the rows, it becomes a single vmap node.

    Args:
      pull: maps a cotangent to tensors and None.
      rows: the cotangents, stacked.
    """
    with unexamined():  # the results for one row and for all would differ
        return _pulled(pull, rows)


def _pulled(pull: Pull, rows: Tensor) -> list[Tensor | None]:
    if is_tracing():
        return _in_trace(pull, rows)
    if not context.tapes:
        try:
            return _eagerly(pull, rows)
        except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError):
            pass  # a user's gradient function needs values: convert it like compiled code
    return _as_call(pull, rows)


def _eagerly(pull: Pull, rows: Tensor) -> list[Tensor | None]:
    connected: list[bool] = []

    def one(row: Any) -> list[Any]:
        found = pull(Tensor(row))
        connected[:] = [tensor is not None for tensor in found]
        return [tensor.raw for tensor in found if tensor is not None]

    supply = iter(jax.vmap(one)(rows.raw))
    return [Tensor(next(supply)) if there else None for there in connected]


def _in_trace(pull: Pull, rows: Tensor) -> list[Tensor | None]:
    what = "the backward pass of a Jacobian"
    region = MappedRegion(current_trace(), what)
    type = rows.type
    row = region.argument(TensorType(type.shape[1:], type.dtype, type.weak), "cotangent")
    with region.tracing():
        found = pull(row.snapshot())
        outputs = [region.lift(operand(tensor)).snapshot() for tensor in found if tensor is not None]
    region.refuse_writes(what)
    supply = iter(emit_vmap(region, [row], outputs, [rows], [0], [0] * len(outputs), type.shape[0]))
    return [None if tensor is None else next(supply) for tensor in found]


def _as_call(pull: Pull, rows: Tensor) -> list[Tensor | None]:
    """Runs the pass as one call of a graph, which open tapes record as one op."""
    trace = Trace("jacobian")
    with trace_scope(trace):
        found = _in_trace(pull, rows)
    if trace.check is not None:
        error = UnimplementedError(
            "a gradient function that raises exceptions depending on tensors has no Jacobian under an open tape; "
            "compile the enclosing function with gx.function"
        )
        raise at(error, user_location())
    graph = trace.finish([trace.lift(tensor) for tensor in found if tensor is not None])
    variables = [trace.variables[name].value() for name in lower(graph).variables]
    captured = [outer for outer, _ in trace.captures.values()]
    supply = iter(apply_all(CALL, (*variables, *captured), regions=(graph,)))
    return [None if tensor is None else next(supply) for tensor in found]
