"""Ops of the host that ask a Session about its Variables: which have a value, and what a counter is at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from graphc.base.errors import FailedPreconditionError, OutOfRangeError
from graphc.core import STRING, Variable, array_of, current_resources, held, variable_lock
from graphc.ir import OPEN, OPS, Attrs, Graph, OpDef, TensorType

__all__ = [
    "ASSERT_INITIALIZED",
    "COUNT_UP_TO",
    "INITIALIZED_VALUE",
    "IS_INITIALIZED",
    "NAMES_OF_UNINITIALIZED",
    "uninitialized_error",
]


def uninitialized_error(name: str) -> FailedPreconditionError:
    """Returns the error for a use of a Variable that has no value in the Session."""
    return FailedPreconditionError(
        f"Attempting to use uninitialized value {name}: no initializer has run in this Session; run "
        "gx.global_variables_initializer() or the variable's own initializer first"
    )


def _find(container: str, name: str) -> Variable | None:
    return current_resources().find(container, name, Variable)


def _initialized_value(initial: Any, *, container: str, name: str, type: TensorType) -> Any:
    del type
    found = _find(container, name)
    return initial if found is None else np.asarray(array_of(found))


def _is_initialized(*, container: str, name: str) -> Any:
    return np.asarray(_find(container, name) is not None)


def _missing(variables: Sequence[tuple[str, str]]) -> list[str]:
    return [name for container, name in variables if _find(container, name) is None]


def _names_of_uninitialized(*, variables: Sequence[tuple[str, str]]) -> Any:
    names = [name.encode() for name in _missing(variables)]
    found = np.empty(len(names), object)
    found[:] = names
    return found


def _assert_initialized(*, variables: Sequence[tuple[str, str]]) -> None:
    missing = _missing(variables)
    if missing:
        raise uninitialized_error(", ".join(missing))


def _count_up_to(*, container: str, name: str, type: TensorType, limit: int) -> Any:
    found = _find(container, name)
    if found is None:
        raise uninitialized_error(name)
    while True:
        before = array_of(found)
        value = np.asarray(before)
        if int(value) >= limit:
            raise OutOfRangeError(f"Reached limit of {limit}: the Variable {name!r} is {int(value)}")
        following = jax.device_put(np.asarray(value + 1, type.dtype), before.sharding)
        with variable_lock:
            if held(found) is before:
                found.raw = following
                return value


def _add(
    name: str, impl: Callable[..., Any], types: Callable[[Attrs], tuple[TensorType, ...]], params: tuple[str, ...] = (),
    doc: str = "",
) -> OpDef:  # fmt: skip
    def infer(given: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
        del given, regions
        return types(attrs)

    op = OpDef(name, impl, infer, params, differentiable=False, takes_open=True, host=True, doc=doc)
    return OPS.add(name, op)


INITIALIZED_VALUE = _add(
    "initialized_value", _initialized_value, lambda attrs: (attrs["type"],), ("initial",),
    "The value of a variable where it has one in the Session, else its initial value.",
)  # fmt: skip
IS_INITIALIZED = _add(
    "is_variable_initialized", _is_initialized, lambda attrs: (TensorType((), np.dtype(np.bool_)),),
    doc="Whether a variable has a value in the Session.",
)  # fmt: skip
NAMES_OF_UNINITIALIZED = _add(
    "report_uninitialized_variables", _names_of_uninitialized, lambda attrs: (TensorType((OPEN,), STRING),),
    doc="The names of the variables that have no value in the Session.",
)  # fmt: skip
ASSERT_INITIALIZED = _add(
    "assert_variables_initialized", _assert_initialized, lambda attrs: (),
    doc="Fails if a variable has no value in the Session.",
)  # fmt: skip
COUNT_UP_TO = _add(
    "count_up_to", _count_up_to, lambda attrs: (attrs["type"],),
    doc="The value of a counter, which goes up by one; fails at its limit.",
)  # fmt: skip
