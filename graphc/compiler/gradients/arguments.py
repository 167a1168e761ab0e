"""Arguments of the functions that differentiate other functions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from graphc.compiler.base import at, has_mark, nest, user_location
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import Tensor, Variable, apply, operand
from graphc.compiler.ir import OPS
from graphc.compiler.tracing import is_tracing, refuse_in_trace

__all__ = ["check_choices", "chosen_arguments", "differentiable", "positions_of", "results_of", "without_aux"]


def positions_of(argnums: Any, name: str) -> tuple[int, ...]:
    """Returns the positions of the arguments to differentiate; ``name`` is the calling function, for messages."""
    positions = nest.as_tuple(argnums)
    if not positions or not all(type(position) is int for position in positions):
        error = InvalidTypeError(f"{name}: argnums must be an int or a sequence of ints, got {argnums!r}")
        raise at(error, user_location())
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
        error = InvalidArgumentError(f"{name}: argnums={argnums!r}, but got {len(args)} positional arguments")
        raise at(error, user_location())
    arguments = list(args)
    for position in positions:
        check_choices(arguments[position], name)
        arguments[position] = nest.map_structure(partial(differentiable, name=name), arguments[position])
    return arguments, [arguments[position] for position in positions]


def without_aux(result: Any, name: str) -> Any:
    """Returns the value of a ``(value, aux)`` pair, and the auxiliary part."""
    if isinstance(result, tuple) and len(nest.as_tuple(result)) == 2:
        return nest.as_tuple(result)[0]
    error = InvalidTypeError(
        f"{name}: with has_aux=True the function must return (value, aux), but it returned {result!r:.60}"
    )
    raise at(error, user_location())


def differentiable(value: Any, name: str) -> Any:
    """Returns the value as a separate tensor, or another value that a tape can watch."""
    if isinstance(value, Variable):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        error = InvalidTypeError(
            f"{name}: an argument to differentiate must be floating, got the int {value}; write {value}.0"
        )
        raise at(error, user_location())
    try:
        value = operand(value)
    except GraphcError as error:
        error.args = (f"{name}: {error.args[0]}",)
        raise at(error, user_location()) from None
    tensor = apply(OPS["identity"], (value,))
    if not tensor.type.is_inexact:
        error = InvalidTypeError(f"{name}: an argument to differentiate must be floating, got {tensor.type}")
        raise at(error, user_location())
    return tensor


def results_of(value: Any) -> tuple[list[Any], nest.Structure]:
    """Returns the leaves of a function's result; called while the tape is open, when it knows all of them.

    This includes leaves computed outside, whose derivatives are zero; variables become their values.
    """
    leaves, structure = nest.flatten(value)
    known = [apply(OPS["identity"], (leaf,)) if isinstance(leaf, Tensor | Variable) else leaf for leaf in leaves]
    return known, structure
