"""Backward passes for many cotangents at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax as _jax

from graphc.compiler.base import has_mark, nest
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import Tensor, Variable, apply, apply_all, context, operand, trace_scope, unexamined
from graphc.compiler.ir import OPS, TensorType
from graphc.compiler.lowering import lower
from graphc.compiler.ops import CALL, MappedRegion, emit_vmap
from graphc.compiler.tracing import Trace, current_trace, is_tracing, refuse_in_trace

jax: Any = _jax  # its functions are only partly annotated
Pull = Callable[[Tensor], list[Tensor | None]]


def for_rows(pull: Pull, rows: Tensor) -> list[Tensor | None]:
    """Returns the results of a backward pass for each row, stacked."""
    # Eagerly its ops run one by one under ``jax.vmap``, each compiled once. In a graph, or under an open tape, which
    # must record the dependencies of the rows, it becomes a single vmap node.
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
        gradients = pull(Tensor(row))
        connected[:] = [tensor is not None for tensor in gradients]
        return [tensor.raw for tensor in gradients if tensor is not None]

    supply = iter(jax.vmap(one)(rows.raw))
    return [Tensor(next(supply)) if there else None for there in connected]


def _in_trace(pull: Pull, rows: Tensor) -> list[Tensor | None]:
    what = "the backward pass of a Jacobian"
    region = MappedRegion(current_trace(), what)
    type = rows.type
    row = region.argument(TensorType(type.shape[1:], type.dtype, type.weak), "cotangent")
    with region.tracing():
        gradients = pull(row.snapshot())
        outputs = [region.lift(operand(tensor)).snapshot() for tensor in gradients if tensor is not None]
    region.refuse_writes(what)
    supply = iter(emit_vmap(region, [row], outputs, [rows], [0], [0] * len(outputs), type.shape[0]))
    return [None if tensor is None else next(supply) for tensor in gradients]


def _as_call(pull: Pull, rows: Tensor) -> list[Tensor | None]:
    """Runs the pass as one call of a graph, which open tapes record as one op."""
    trace = Trace("jacobian")
    with trace_scope(trace):
        gradients = _in_trace(pull, rows)
    if trace.check is not None:
        raise UnimplementedError(
            "a gradient function that raises exceptions depending on tensors has no Jacobian under an open tape; "
            "compile the enclosing function with gx.function"
        ).here()
    graph = trace.finish([trace.lift(tensor) for tensor in gradients if tensor is not None])
    variables = [trace.variables[name].value() for name in lower(graph).variables]
    captured = [outer for outer, _ in trace.captures.values()]
    supply = iter(apply_all(CALL, (*variables, *captured), regions=(graph,)))
    return [None if tensor is None else next(supply) for tensor in gradients]


# Arguments of the functions that differentiate other functions.


def positions_of(argnums: Any, name: str) -> tuple[int, ...]:
    """Returns the positions of the arguments to differentiate; ``name`` is the calling function, for messages."""
    positions = nest.as_tuple(argnums)
    if not positions or not all(type(position) is int for position in positions):
        raise InvalidTypeError(f"{name}: argnums must be an int or a sequence of ints, got {argnums!r}").here()
    return positions


def check_choices(value: Any, call: str) -> None:
    """Refuses Variables that branches on tensors chose, in a structure of what a call differentiates by."""
    if not is_tracing():
        return
    if has_mark(value, "__graphc_choice__"):
        refuse_in_trace(
            f"{call}: which Variable or object this is depends on tensors; differentiate with respect to all that it "
            "may be, and choose among the gradients"
        )
    parts = nest.children(value)
    for part in () if parts is None else parts[1]:
        check_choices(part, call)


def chosen_arguments(
    args: Sequence[Any], positions: Sequence[int], argnums: Any, name: str
) -> tuple[list[Any], list[Any]]:
    """Returns the arguments with copies of those to differentiate, and these copies."""
    if not all(-len(args) <= position < len(args) for position in positions):
        raise InvalidArgumentError(f"{name}: argnums={argnums!r}, but got {len(args)} positional arguments").here()
    arguments = list(args)
    for position in positions:
        check_choices(arguments[position], name)
        arguments[position] = nest.map_structure(partial(differentiable, name=name), arguments[position])
    return arguments, [arguments[position] for position in positions]


def without_aux(result: Any, name: str) -> Any:
    """Returns the value of a ``(value, aux)`` pair, and the auxiliary part."""
    if isinstance(result, tuple) and len(nest.as_tuple(result)) == 2:
        return nest.as_tuple(result)[0]
    raise InvalidTypeError(
        f"{name}: with has_aux=True the function must return (value, aux), but it returned {result!r:.60}"
    ).here()


def differentiable(value: Any, name: str) -> Any:
    """Returns the value as a separate tensor, or another value that a tape can watch."""
    if isinstance(value, Variable):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        raise InvalidTypeError(
            f"{name}: an argument to differentiate must be floating, got the int {value}; write {value}.0"
        ).here()
    try:
        value = operand(value)
    except GraphcError as error:
        error.args = (f"{name}: {error.args[0]}",)
        raise error.here() from None
    tensor = apply(OPS["identity"], (value,))
    if not tensor.type.is_inexact:
        raise InvalidTypeError(f"{name}: an argument to differentiate must be floating, got {tensor.type}").here()
    return tensor


def results_of(value: Any) -> tuple[list[Any], nest.Structure]:
    """Returns the leaves of a function's result; called while the tape is open, when it knows all of them."""
    # This includes leaves computed outside, whose derivatives are zero; variables become their values.
    leaves, structure = nest.flatten(value)
    recorded = [apply(OPS["identity"], (leaf,)) if isinstance(leaf, Tensor | Variable) else leaf for leaf in leaves]
    return recorded, structure
