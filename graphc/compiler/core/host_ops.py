"""Ops that run in Python on the host, such as those of queues and readers: in eager code, graphs, compiled functions.

Their strings are arrays of ``bytes`` objects; eager code shows them as :class:`StringTensor`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import ABOVE, Registry, nest
from graphc.compiler.base.errors import (
    ConcretizationError,
    GraphcError,
    InternalError,
    InvalidArgumentError,
    InvalidTypeError,
    OutOfRangeError,
)
from graphc.compiler.core.array_methods import ArrayMethods
from graphc.compiler.core.context import context
from graphc.compiler.core.convert import SCALARS, operand
from graphc.compiler.core.dispatch import register_values
from graphc.compiler.core.dtypes import canonical_array, scalar_array, type_of
from graphc.compiler.core.op_errors import argument_names
from graphc.compiler.core.strings import (
    StringContents,
    StringTensor,
    array_of_strings,
    as_strings,
    host_tensor,
    refused,
    without_value,
)
from graphc.compiler.core.symbolic_tensor import SymbolicTensor
from graphc.compiler.core.tensor import Tensor
from graphc.compiler.ir import Attrs, OpDef, TensorType

# Strings without a value: placeholders for a dataset's elements while a function of them is traced.

Applied = Callable[[OpDef, Sequence[Any], Attrs], list[Any]]


class LateStrings(StringTensor):
    """A tensor of strings with a known shape, whose values are stored later, under ``index``."""

    __slots__ = ("_shape", "applied", "place")

    def __init__(self, shape: tuple[int, ...], index: int, applied: Applied) -> None:  # pyright: ignore[reportMissingSuperCall]
        self._shape, self.place, self.applied = shape, index, applied

    def _refuse(self) -> NoReturn:
        problem = f"strings of an element ({self.type}) have no value while the function is traced"
        raise refused(ConcretizationError(problem))

    @property
    def held(self) -> np.ndarray[Any, Any]:
        """Raises, as do all accesses to the values."""
        self._refuse()

    @property
    def encoded(self) -> np.ndarray[Any, Any]:
        """Raises."""
        self._refuse()

    @property
    def contents(self) -> StringContents:
        """Raises."""
        self._refuse()

    @property
    def _values(self) -> np.ndarray[Any, Any]:
        self._refuse()

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis."""
        return self._shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """The number of strings."""
        return int(np.prod(self._shape))


STRING: np.dtype[Any] = np.dtype(object)
"""The dtype of strings in graphs."""


def is_text(value: Any) -> bool:
    """Returns True for strings: a tensor, an array or a list of them, a string, bytes or a path."""
    if isinstance(value, SymbolicTensor):
        return value.raw.type.dtype == STRING
    if isinstance(value, StringTensor | str | bytes | os.PathLike):
        return True
    if isinstance(value, np.ndarray):
        return cast("np.ndarray[Any, Any]", value).dtype.kind in "USTO"
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        return any(map(is_text, items))
    return False


def bytes_array(value: Any) -> np.ndarray[Any, Any]:
    """Returns strings of any form as an array of ``bytes`` objects, with text encoded as UTF-8."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        items = cast("np.ndarray[Any, Any]", value)
        if set(map(type, items.ravel().tolist())) <= {bytes}:
            return items
    strings = as_strings(value)
    if strings is None:
        raise InternalError(f"expected strings, got {value!r:.60}")
    return strings.encoded


def host_array(value: Any) -> np.ndarray[Any, Any]:
    """Returns a tensor, array, number or string as a NumPy array for an op of the host, after waiting for it."""
    if is_text(value):
        return bytes_array(value)
    source: Any = value if type(value) in SCALARS or isinstance(value, Tensor) else operand(value)
    if type(source) in SCALARS:
        return scalar_array(source)
    return np.asarray(source.numpy() if isinstance(source, Tensor) else canonical_array(source))


def host_value(array: Any) -> Any:
    """Returns a host op's result as a tensor: of strings, or of numbers on the default device."""
    array = np.asarray(array)
    if array.dtype != object:
        return array if context.on_host and context.trace is None else Tensor(jnp.asarray(array))
    strings = as_strings(array)
    if strings is not None:
        return strings
    if array.size:
        raise InternalError(f"a host op returned {array!r:.60}; expected strings")
    return StringTensor(np.empty(array.shape, object))


def _apply(op: OpDef, inputs: Sequence[Any], attrs: Attrs) -> list[Any]:
    for value in inputs:
        if isinstance(value, LateStrings):
            return value.applied(op, inputs, attrs)
    trace = context.trace
    if trace is None:
        trace = next((value.trace for value in inputs if isinstance(value, SymbolicTensor)), None)
    if trace is not None:
        if trace.root.is_graph:
            return list(trace.apply(op, inputs, attrs))
        return ABOVE["call_late"](op, inputs, attrs)
    try:
        arrays = [host_array(value) for value in inputs]
        results = op.impl(*arrays, **attrs)
    except GraphcError as error:
        raise error.here() from None
    return [] if results is None else [host_value(result) for result in nest.as_tuple(results)]


def in_graph(*values: Any) -> bool:
    """Returns True if an op of these values is recorded to run later: in a hand-built graph, or on late strings."""
    if any(isinstance(value, LateStrings) for value in values):
        return True
    traces = [context.trace, *[value.trace for value in values if isinstance(value, SymbolicTensor)]]
    return any(trace is not None and trace.root.is_graph for trace in traces)


def host_type(value: Any) -> TensorType:
    """Returns the type of a host op's input."""
    if isinstance(value, SymbolicTensor):
        return value.raw.type
    if is_text(value):
        return TensorType(bytes_array(value).shape, STRING)
    source = value if type(value) in SCALARS or isinstance(value, Tensor) else operand(value)
    return source.type if isinstance(source, Tensor) else type_of(source)


# Ops on tensors of strings: they run on the host, at once, also while a function is traced.


@dataclass(frozen=True)
class StringRule:
    """The implementation of an op for strings."""

    # Takes arrays of Python strings (and numbers) by position, attributes by name; returns one or more arrays.
    function: Callable[..., Any]
    numbers: tuple[str, ...] = ()  # the parameters that remain tensors of numbers: a condition, positions


STRING_RULES: Registry[StringRule] = Registry("rule of strings")
"""The ops that accept strings, by name; filled by the op table."""


def _string_rules_apply(op: OpDef, inputs: Sequence[Any], attrs: Attrs) -> list[Any] | None:
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
        other, strings_tensor = next(iter(strings.items()))
        content = repr(value) if type(value) in SCALARS else _described(value)
        error = InvalidTypeError(
            f"{op.name}: {other} is a tensor of strings ({strings_tensor.type}), but {name} is not ({content}); "
            f"gx.strings.to_number({other}) parses numbers, gx.strings.as_string({name}) converts to strings"
        )
        raise refused(error)
    content: Any = operand(value)
    if isinstance(content, SymbolicTensor):
        raise without_value(op.name, name, content)
    return content.numpy() if isinstance(content, ArrayMethods) else np.asarray(content)


def _described(value: Any) -> str:
    return str(value.type if isinstance(value, ArrayMethods) else type_of(np.asarray(value)))


def _result(value: Any) -> Any:
    array = array_of_strings(value) if isinstance(value, str) else np.asarray(value)
    return StringTensor(array) if array.dtype == object else host_tensor(array)


register_values(Tensor, _string_rules_apply, _apply)
