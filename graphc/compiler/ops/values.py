"""Values that determine shapes, which NumPy computes in eager code, and values that are stored in a tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import ConcretizationError, GraphcError
from graphc.compiler.core import (
    FUNCTIONS,
    NO_ATTRS,
    ArrayMethods,
    SymbolicTensor,
    Tensor,
    apply,
    as_strings,
    is_by_hand,
    is_symbolic,
    operand,
    translate_error,
)
from graphc.compiler.ir import Attrs, OpDef
from graphc.compiler.ops.on_host import on_host
from graphc.compiler.tracing import current_trace, type_of_any

__all__ = ["fitted", "from_values", "known_values"]


def from_values(op: OpDef, function: Callable[..., Any]) -> Callable[[Sequence[Any], Mapping[str, Any]], Any]:
    """Returns the function that computes an op from the values of its inputs, with NumPy.

    Args:
      op: the op, for messages.
      function: takes arrays by position and attributes by name, and returns one or more arrays.
    """

    def run(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        if any(as_strings(value) is not None for value in inputs):
            return apply(op, inputs, Attrs(attributes))
        if is_by_hand() and any(map(is_symbolic, inputs)):
            return on_host(lambda *values: run(values, attributes), inputs, {})
        arrays = [
            known_values(
                op.name,
                name,
                value,
                "pass size=, the number of elements to keep, or call it outside the compiled function",
            )
            for name, value in zip(op.params, inputs, strict=True)
        ]
        try:
            found: Any = function(*map(_sortable, arrays), **attributes)
        except Exception as error:
            raise translate_error(error, op, arrays, NO_ATTRS, operands=inputs) from error
        dtype = jnp.result_type(*arrays) if any(array.dtype.kind == "V" for array in arrays) else None
        if not isinstance(found, tuple | list):
            return _tensor(found, dtype)
        return tuple(_tensor(part, dtype) for part in cast("tuple[Any, ...]", found))

    return run


def _sortable(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns an array in a dtype that NumPy can sort; NumPy has no order for those of ml_dtypes."""
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def known_values(name: str, parameter: str, value: Any, remedy: str) -> np.ndarray[Any, Any]:
    """Returns the values of an argument that determine the shape of the result.

    Args:
      name: the function, for messages.
      parameter: the argument's name, for messages.
      value: the argument.
      remedy: what to do if it has no value.

    Raises:
      ConcretizationError: a function is traced, and the argument has no value.
    """
    try:
        value = operand(value)
    except GraphcError as error:
        error.args = (f"{name}: {error.args[0]}",)
        raise at(error, user_location()) from None
    if is_symbolic(value):
        made = f", {value.made_at()}," if isinstance(value, SymbolicTensor) else ""
        error = ConcretizationError(
            f"{name}: the shape of the result depends on the values of {parameter} ({type_of_any(value)}){made} which "
            f"are not known while the function is traced; {remedy}"
        )
        raise current_trace().refuse(error)
    return value.numpy() if isinstance(value, ArrayMethods) else np.asarray(value)


def _tensor(value: Any, dtype: Any = None) -> Tensor:
    """Returns a result in a given dtype, which floats of tensors return to."""
    return FUNCTIONS["asarray"](value, dtype if value.dtype.kind == "f" else None)


def fitted(values: Any, x: Any) -> Any:
    """Returns values to store into a tensor, in its dtype.

    Raises:
      TypeError: the values are of another kind, and would lose information.
    """
    values = jnp.asarray(values)  # a weakly typed constant arrives as a Python number
    if jnp.promote_types(x.dtype, values.dtype) != x.dtype and not _same_kind(values, x):
        raise TypeError(
            f"values of dtype {values.dtype} cannot be put into a tensor of dtype {x.dtype} without loss; "
            f"convert one of them with gx.astype"
        )
    return values.astype(x.dtype)


def _same_kind(values: Any, x: Any) -> bool:
    kinds = (jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating)
    return any(jnp.issubdtype(values.dtype, kind) and jnp.issubdtype(x.dtype, kind) for kind in kinds)
