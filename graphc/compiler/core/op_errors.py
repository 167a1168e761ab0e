"""Errors of ops: what JAX raises, in the words of the user's program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.core import Tracer

from graphc.compiler.base import Location, at, user_frame, user_location
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError, OutOfRangeError
from graphc.compiler.core.convert import SCALARS
from graphc.compiler.core.dtypes import type_of
from graphc.compiler.ir import LATE, LATE_CONSTANT, Attrs, OpDef, ProbeError, applied_attrs, late_inputs

__all__ = ["applied", "argument_names", "translate_error"]

_JAX_ERRORS = (TypeError, ValueError, IndexError, OverflowError, NotImplementedError, NameError, AssertionError)


def translate_error(
    error: Exception,
    op: OpDef,
    values: Sequence[Any],
    attrs: Attrs,
    location: Location | None = None,
    operands: Sequence[Any] = (),
) -> Exception:
    """Translates a JAX error on an op: names the op, its arguments with types, and the user's line.

    Args:
      error: the JAX error.
      op: the op that was applied.
      values: the inputs, as arrays, numbers or (in a graph) types.
      attrs: the op's attributes.
      location: the user's line; None for the one that is running.
      operands: the original inputs, from which the user's variable names are found.
    """
    if isinstance(error, GraphcError):
        return error
    for value in values:
        deleted = isinstance(value, jax.Array) and not isinstance(value, Tracer) and value.is_deleted()
        if deleted:
            return error
    explain = op.explain
    if op in (LATE, LATE_CONSTANT):
        count = len(values) - late_inputs(attrs)
        op, attrs = applied_attrs(attrs, values)
        values, operands = values[:count], operands[:count]
        if isinstance(error, ProbeError):
            error.types = error.types[:count]
    tried: Sequence[Any] = values
    hide: Callable[[str], str] = str
    if isinstance(error, ProbeError):
        tried, hide, error = error.types, error.hide, error.error
        if isinstance(error, GraphcError):
            error.args = (hide(str(error.args[0])), *error.args[1:])
            return error
    refused = None if explain is None else explain(tried, attrs)
    if refused is None and not isinstance(error, _JAX_ERRORS):
        return error
    error = error if refused is None else refused
    if isinstance(error, NameError) and isinstance(attrs.get("axis"), str):
        error = TypeError(f"an axis must be an int or a tuple of ints, got {attrs['axis']!r}")
    reason = hide(str(error).split("\n")[0]) or "these shapes do not fit"
    shapes = isinstance(error, ValueError | AssertionError) or "shape" in reason
    kind = InvalidArgumentError if shapes else InvalidTypeError
    if isinstance(error, IndexError) or "out of bounds for array of dimension" in reason:
        kind = OutOfRangeError  # like NumPy's AxisError, an IndexError and a ValueError
    kind = type(refused) if isinstance(refused, GraphcError) else kind
    if users := _users_names(argument_names(op, len(values)), operands):
        reason = f"{reason.removesuffix('.')} ({users})"
    return at(kind(f"{applied(op, values, attrs)}: {reason}"), location or user_location())


def applied(op: OpDef, values: Sequence[Any], attrs: Attrs) -> str:
    """Returns an op with its arguments and their types, as a message shows it."""
    names = argument_names(op, len(values))
    given = [f"{name}: {_describe(value)}" for name, value in zip(names, values, strict=True)]
    return f"{op.name}({', '.join([*given, *(f'{name}={value!r}' for name, value in attrs.items())])})"


def _users_names(names: Sequence[str], operands: Sequence[Any]) -> str:
    """Returns the user's names of the operands that are variables of the running code."""
    frame = user_frame() if operands else None
    if frame is None:
        return ""
    from graphc.compiler.core.dispatch import tensor_class  # deferred, since dispatch imports this file

    tensor = tensor_class()
    held = {
        id(value): name
        for scope in (frame.f_globals, frame.f_locals)
        for name, value in scope.items()
        if isinstance(value, tensor) and not name.startswith("ag__")
    }
    known = [(name, held.get(id(operand))) for name, operand in zip(names, operands, strict=False)]
    said = [f"{name} is {users!r}" for name, users in known if users is not None and users != name]
    return ", ".join(said)


def argument_names(op: OpDef, count: int) -> list[str]:
    """Returns an op's names for its first ``count`` inputs."""
    names: list[str] = []
    for param in op.params:
        if param.startswith("*"):
            rest = count - len(op.params) + 1
            names.extend(f"{param[1:]}[{index}]" for index in range(rest))
        else:
            names.append(param)
    return names if len(names) == count else [f"argument {index}" for index in range(count)]


def _describe(value: Any) -> str:
    if type(value) in SCALARS:
        return repr(value)
    return str(type_of(value) if hasattr(value, "aval") or hasattr(value, "__array__") else value)
