"""Ops on tensors of strings: they run on the host, at once, also while a function is traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphc.compiler.base import Registry, nest
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, OutOfRangeError
from graphc.compiler.core.array_methods import ArrayMethods
from graphc.compiler.core.convert import SCALARS, operand
from graphc.compiler.core.dispatch import register_strings
from graphc.compiler.core.dtypes import type_of
from graphc.compiler.core.op_errors import argument_names
from graphc.compiler.core.strings import StringTensor, array_of_strings, as_strings, host_tensor, refused, without_value
from graphc.compiler.core.symbolic_tensor import SymbolicTensor
from graphc.compiler.ir import Attrs, OpDef

__all__ = ["STRING_RULES", "StringRule"]


@dataclass(frozen=True)
class StringRule:
    """The implementation of an op for strings.

    Attributes:
      function: takes arrays of Python strings (and numbers) by position and attributes by name, and returns one or more
        arrays; NumPy's function of the same meaning.
      numbers: the parameters that remain tensors of numbers: a condition, positions.
    """

    function: Callable[..., Any]
    numbers: tuple[str, ...] = ()


STRING_RULES: Registry[StringRule] = Registry("rule of strings")
"""The ops that accept strings, by name; filled by the op table."""


def _apply(op: OpDef, inputs: Sequence[Any], attrs: Attrs) -> list[Any] | None:
    """Returns the results of an op on strings; None if no input is a string."""
    names = argument_names(op, len(inputs))
    found: dict[str, Any] = {}
    for name, value in zip(names, inputs, strict=True):
        found[name] = as_strings(value)
    strings = {name: value for name, value in found.items() if value is not None}
    if not strings:
        return None
    rule = STRING_RULES[op.name] if op.name in STRING_RULES else None  # noqa: SIM401  a miss is no KeyError
    first = next((name for name in strings if rule is None or name in rule.numbers), None)
    if rule is None or first is not None:
        name = first or next(iter(strings))
        raise refused(InvalidTypeError(_no_strings(op.name, name, strings[name])))
    arrays = [
        _numbers(op, name, value, strings, rule) if found[name] is None else found[name].__array__()
        for name, value in zip(names, inputs, strict=True)
    ]
    try:
        found_by_rule: Any = rule.function(*arrays, **attrs)
    except (TypeError, ValueError, IndexError) as error:
        kind = OutOfRangeError if isinstance(error, IndexError) else InvalidArgumentError
        given = ", ".join(f"{name}: {value.type}" for name, value in strings.items())
        given += "".join(f", {name}={value!r}" for name, value in attrs.items())
        raise refused(kind(f"{op.name}({given}): {error}")) from error
    return [_result(array) for array in nest.as_tuple(found_by_rule)]


def _no_strings(op: str, name: str, value: StringTensor) -> str:
    return (
        f"{op}: {name} is a tensor of strings ({value.type}), which are on the host and not numbers; "
        f"gx.strings.to_number({name}) parses numbers, and gx.strings has the functions for strings"
    )


def _numbers(op: OpDef, name: str, value: Any, strings: dict[str, StringTensor], rule: StringRule) -> Any:
    """Returns a non-string input of an op on strings, as an array."""
    if name.partition("[")[0] not in rule.numbers:
        other, found = next(iter(strings.items()))
        given = repr(value) if type(value) in SCALARS else _described(value)
        error = InvalidTypeError(
            f"{op.name}: {other} is a tensor of strings ({found.type}), but {name} is not ({given}); "
            f"gx.strings.to_number({other}) parses numbers, gx.strings.as_string({name}) converts to strings"
        )
        raise refused(error)
    given: Any = operand(value)
    if isinstance(given, SymbolicTensor):
        raise without_value(op.name, name, given)
    return given.numpy() if isinstance(given, ArrayMethods) else np.asarray(given)


def _described(value: Any) -> str:
    return str(value.type if isinstance(value, ArrayMethods) else type_of(np.asarray(value)))


def _result(value: Any) -> Any:
    array = array_of_strings(value) if isinstance(value, str) else np.asarray(value)
    return StringTensor(array) if array.dtype == object else host_tensor(array)


register_strings(_apply)
