"""Ops of the host that ask a Session about its Variables: which have a value, and what a counter is at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from graphc.compiler.base.errors import OutOfRangeError
from graphc.compiler.core import STRING, Variable, array_of, current_resources, held, variable_lock
from graphc.compiler.ir import OPEN, OPS, Attrs, Effect, Graph, OpDef, TensorType, reads, writes
from graphc.graphs.session.state import check_type, parts_of, uninitialized_error

__all__ = ["ASSERT_INITIALIZED", "COUNT_UP_TO", "INITIALIZED_VALUE", "IS_INITIALIZED", "NAMES_OF_UNINITIALIZED"]


def _find(variable: str) -> Variable | None:
    return current_resources().find(*parts_of(variable), Variable)


def _initialized_value(initial: Any, *, variable: str, type: TensorType) -> Any:
    del type
    holder = _find(variable)
    return initial if holder is None else np.asarray(array_of(holder))


def _is_initialized(*, variable: str) -> Any:
    return np.asarray(_find(variable) is not None)


def _missing(variables: Sequence[str]) -> list[str]:
    return [parts_of(variable)[1] for variable in variables if _find(variable) is None]


def _names_of_uninitialized(*, variables: Sequence[str]) -> Any:
    names = [name.encode() for name in _missing(variables)]
    array = np.empty(len(names), object)
    array[:] = names
    return array


def _assert_initialized(*, variables: Sequence[str]) -> None:
    missing = _missing(variables)
    if missing:
        raise uninitialized_error(", ".join(missing))


def _count_up_to(*, variable: str, type: TensorType, limit: int) -> Any:
    holder, name = _find(variable), parts_of(variable)[1]
    if holder is None:
        raise uninitialized_error(name)
    check_type(variable, holder, type)
    while True:
        before = array_of(holder)
        value = np.asarray(before)
        if int(value) >= limit:
            raise OutOfRangeError(f"Reached limit of {limit}: the Variable {name!r} is {int(value)}")
        following = jax.device_put(np.asarray(value + 1, type.dtype), before.sharding)
        with variable_lock:
            if held(holder) is before:
                holder.raw = following
                return value


def _add(
    name: str, impl: Callable[..., Any], types: Callable[[Attrs], tuple[TensorType, ...]], params: tuple[str, ...] = (),
    doc: str = "", effect: Callable[[str], Effect] | None = None,
) -> OpDef:  # fmt: skip
    def infer(inputs: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
        del inputs, regions
        return types(attrs)

    def effects(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
        return () if effect is None else (effect(attrs["variable"]),)

    op = OpDef(
        name, impl, infer, params, effects=effects, differentiable=False, takes_open=True, host=True, doc=doc
    )  # fmt: skip
    return OPS.add(name, op)


INITIALIZED_VALUE = _add(
    "initialized_value", _initialized_value, lambda attrs: (attrs["type"],), ("initial",),
    "The value of a variable where it has one in the Session, else its initial value.", reads,
)  # fmt: skip
IS_INITIALIZED = _add(
    "is_variable_initialized", _is_initialized, lambda attrs: (TensorType((), np.dtype(np.bool_)),),
    doc="Whether a variable has a value in the Session.", effect=reads,
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
    doc="The value of a counter, which goes up by one; fails at its limit.", effect=writes,
)  # fmt: skip
