"""Conversion of values to operands of ops.

:func:`operand` turns a value into a Tensor, a ``jax.Array``, a NumPy array or a Python scalar: the four kinds that
:func:`graphc.compiler.core.dispatch.apply` accepts. A class of a higher layer registers its conversion with
:func:`operand.register`.
"""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from graphc.compiler.base import ABOVE
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core.context import context
from graphc.compiler.core.dtypes import canonical_array
from graphc.compiler.core.multi_device import note_spread

if TYPE_CHECKING:
    from graphc.compiler.core.tensor import Tensor
    from graphc.compiler.core.variable import Variable

ArrayLike: TypeAlias = Union[
    "Tensor", "Variable", jax.Array, "np.ndarray[Any, Any]", np.generic, bool, int, float, complex, "list[Any]",
    "tuple[Any, ...]", range,
]  # fmt: skip

SCALARS = frozenset({bool, int, float, complex})


@singledispatch
def operand(value: Any) -> Any:
    """Returns the value as something an op can be applied to."""
    if isinstance(value, Tracer):
        raise InvalidArgumentError(
            f"got a JAX tracer {value!r:.80}, but graphc cannot run inside a JAX transformation; call graphc from "
            "outside jax.jit, jax.grad and jax.vmap, or make a JAX function of the graphc function: gx.to_jax(function)"
        )
    if hasattr(value, "__jax_array__"):
        tell_of_method(value, "__jax_array__")
        return value.__jax_array__()
    if hasattr(value, "__array__"):
        tell_of_method(value, "__array__")
        return canonical_array(value)
    raise InvalidTypeError(
        f"expected a tensor, an array, a number or a nested list of these, got {type(value).__name__} {value!r:.60}"
    )


def tell_of_method(value: Any, name: str) -> None:
    """Tells the trace that graphc is about to call a special method of an object, which runs unconverted."""
    if context.trace is not None:
        context.trace.take_whole(value)
        ABOVE["follow_methods"](value, (name,))


@operand.register(bool)
@operand.register(int)
@operand.register(float)
@operand.register(complex)
def _scalar(value: Any) -> Any:
    return value


@operand.register(np.ndarray)
@operand.register(np.generic)
def _numpy(value: Any) -> Any:
    return canonical_array(value)


@operand.register(range)
def _range(value: range) -> Any:
    return operand(list(value))


@operand.register(jax.Array)
def _jax(value: jax.Array) -> jax.Array:
    if jnp.issubdtype(value.dtype, jax.dtypes.extended):
        text = f"a tensor cannot hold a JAX array of dtype {value.dtype}"
        raise InvalidTypeError(f"{text}; pass jax.random.key_data(key), the key as numbers")
    note_spread(value.sharding)
    return value
