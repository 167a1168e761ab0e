"""Errors of ops: what JAX raises, in the words of the user's program."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import CodeType, TracebackType
from typing import Any, ParamSpec, TypeVar, cast

import jax
from jax.core import Tracer

from graphc.compiler.base import Location, config, is_graphc_file, is_internal_file, user_frame, user_location
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError, OutOfRangeError
from graphc.compiler.core.context import context
from graphc.compiler.core.convert import SCALARS
from graphc.compiler.core.dtypes import type_of
from graphc.compiler.ir import LATE, LATE_CONSTANT, Attrs, OpDef, ProbeError, applied_attrs, late_inputs

_JAX_ERRORS = (TypeError, ValueError, IndexError, OverflowError, NotImplementedError, NameError, AssertionError)


def translate_error(
    error: Exception,
    op: OpDef,
    values: Sequence[Any],  # arrays, numbers or (in a graph) types
    attrs: Attrs,
    location: Location | None = None,  # None for the line that is running
    operands: Sequence[Any] = (),  # the original inputs, by which the user's variables are named
) -> Exception:
    """Translates a JAX error on an op: names the op, its arguments with types, and the user's line."""
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
    return kind(f"{applied(op, values, attrs)}: {reason}").at(location or user_location())


def applied(op: OpDef, values: Sequence[Any], attrs: Attrs) -> str:
    """Returns an op with its arguments and their types, as a message shows it."""
    names = argument_names(op, len(values))
    arguments = [f"{name}: {_describe(value)}" for name, value in zip(names, values, strict=True)]
    return f"{op.name}({', '.join([*arguments, *(f'{name}={value!r}' for name, value in attrs.items())])})"


def _users_names(names: Sequence[str], operands: Sequence[Any]) -> str:
    """Returns the user's names of the operands that are variables of the running code."""
    frame = user_frame() if operands else None
    if frame is None:
        return ""
    from graphc.compiler.core.dispatch import tensor_class  # deferred, since dispatch imports this file

    tensor = tensor_class()
    variables = {
        id(value): name
        for scope in (frame.f_globals, frame.f_locals)
        for name, value in scope.items()
        if isinstance(value, tensor) and not name.startswith("ag__")
    }
    pairs = [(name, variables.get(id(operand))) for name, operand in zip(names, operands, strict=False)]
    phrases = [f"{name} is {users!r}" for name, users in pairs if users is not None and users != name]
    return ", ".join(phrases)


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


# Tracebacks that show the user's program without frames of graphc and of the libraries that it calls.
#
# Each entry point of graphc with several frames ends in ``except Exception as error: shorten(error); raise``. A bare
# ``raise`` adds no frame, so the entry point itself does not appear in the traceback either. While a function is traced
# the traceback is kept, since it distinguishes the program's exceptions from graphc's own. ``gx.function`` shortens it
# at its end.

P = ParamSpec("P")
R = TypeVar("R")
PartOf = Callable[[CodeType, CodeType], bool]


def shorten(error: BaseException) -> None:
    """Removes graphc's frames from the traceback of an error of eager code; see :func:`shorten_all`."""
    if context.trace is None:
        shorten_all(error)


def with_short_errors(function: Callable[P, R]) -> Callable[P, R]:
    """Makes errors of a function, such as a constructor, hide its frames; see :func:`shorten`."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            shorten(error)
            raise

    return call


def shorten_all(
    error: BaseException, is_part_of: PartOf | None = None, signals: tuple[type[BaseException], ...] = ()
) -> None:
    """Removes graphc's frames from the tracebacks of an error and its causes; drops causes internal to graphc or JAX.

    Args:
      is_part_of: tells if one code object is a branch, body or operand of another; only the innermost is kept.
      signals: graphc's internal exceptions, which mean nothing to the user.
    """
    if config.full_traceback:
        return
    seen: set[int] = set()
    last: BaseException | None = error
    while last is not None and id(last) not in seen:
        seen.add(id(last))
        last.__traceback__ = _users_part(last.__traceback__, is_part_of)
        earlier = last.__context__ if last.__cause__ is None else last.__cause__
        if earlier is not None and (isinstance(earlier, signals) or _is_internal(earlier)):
            last.__cause__, last.__suppress_context__ = None, True
        last = earlier


def _is_internal(error: BaseException) -> bool:
    """Returns True if an error means nothing to the user; one without a traceback was made, not raised, by the user."""
    return error.__traceback__ is not None and _users_part(error.__traceback__, None) is None


def _users_part(traceback: TracebackType | None, is_part_of: PartOf | None) -> TracebackType | None:
    """Returns the traceback without graphc's frames and those of libraries that graphc calls."""
    entries: list[TracebackType] = []
    behind_graphc = False
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_graphc_file(code.co_filename) or cast("int | None", traceback.tb_lineno) is None:
            behind_graphc = True
        elif not (behind_graphc and is_internal_file(code.co_filename)):
            behind_graphc = False
            if is_part_of is not None and entries and is_part_of(code, entries[-1].tb_frame.f_code):
                entries.pop()
            entries.append(traceback)
        traceback = traceback.tb_next
    chain: TracebackType | None = None
    for entry in reversed(entries):
        chain = TracebackType(chain, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return chain
