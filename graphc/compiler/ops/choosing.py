"""Functions that select by conditions, composed of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import FUNCTIONS, ArrayLike, Tensor
from graphc.compiler.ops.values import known_values

__all__ = ["compress", "extract", "piecewise", "select", "trim_zeros"]

_REMEDY = "use gx.where, which keeps the shape, or call it on the result"


def select(condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: ArrayLike = 0) -> Tensor:
    """Selects, for each element, from the first choice whose condition is true.

    Args:
      condlist: the conditions, which are broadcast.
      choicelist: the values for each condition.
      default: the value where no condition is true.

    Raises:
      InvalidArgumentError: the numbers of conditions and choices differ, or shapes do not fit.

    Example:
      >>> import graphc as gx
      >>> x = gx.arange(6)
      >>> gx.select([x < 2, x > 3], [-x, x * 10], 7).tolist()
      [0, -1, 7, 7, 40, 50]
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise InvalidArgumentError(
            f"select: {len(condlist)} conditions and {len(choicelist)} choices; pass one choice for each condition"
        ).here()
    result: Any = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = FUNCTIONS["where"](condition, choice, result)
    return result


def piecewise(
    x: ArrayLike,
    condlist: Sequence[ArrayLike],
    funclist: Sequence[Callable[..., Any] | ArrayLike],
    *args: Any,
    **kw: Any,
) -> Tensor:
    """Evaluates a piecewise function, which has one function for each condition.

    Every function is computed for all of ``x`` and then selected; the last true condition wins.

    Args:
      x: a tensor.
      condlist: the conditions.
      funclist: a function of ``x``, or a constant, for each condition; an optional last one, by default 0, for the
        rest.
      *args: further arguments of the functions.
      **kw: further arguments of the functions.

    Raises:
      InvalidArgumentError: the number of functions is neither that of conditions nor one more.

    Example:
      >>> import graphc as gx
      >>> x = gx.asarray([-2.0, 3.0])
      >>> gx.piecewise(x, [x < 0, x >= 0], [lambda v: -v, 10.0]).tolist()
      [2.0, 10.0]
    """
    tensor: Any = FUNCTIONS["asarray"](x)
    rest = len(funclist) - len(condlist)
    if rest not in (0, 1):
        raise InvalidArgumentError(
            f"piecewise: {len(condlist)} conditions and {len(funclist)} functions; pass one for each condition, and "
            "optionally one more for the rest"
        ).here()

    def value(function: Any) -> Any:
        piece = function(tensor, *args, **kw) if callable(function) else function
        return FUNCTIONS["astype"](piece, tensor.dtype)

    result = FUNCTIONS["broadcast_to"](value(funclist[-1] if rest else 0), tensor.shape)
    for condition, function in zip(condlist, funclist, strict=False):
        result = FUNCTIONS["where"](condition, value(function), result)
    return result


def compress(condition: ArrayLike, x: ArrayLike, axis: int | None = None) -> Tensor:
    """Returns the slices along an axis where a condition is true.

    Args:
      condition: 1-d booleans, whose values must be known.
      x: a tensor.
      axis: the axis; None for the flattened tensor.

    Raises:
      ConcretizationError: the condition has no value, in a compiled function.

    Example:
      >>> import graphc as gx
      >>> gx.compress([True, False, True], [1, 2, 3]).tolist()
      [1, 3]
    """
    indices = np.flatnonzero(known_values("compress", "condition", condition, _REMEDY))
    return FUNCTIONS["take"](x, indices.astype(np.int32), axis=axis)


def extract(condition: ArrayLike, x: ArrayLike) -> Tensor:
    """Returns the elements where a condition is true, as a 1-d tensor.

    Args:
      condition: booleans of the shape of ``x``; their values must be known.
      x: a tensor.

    Raises:
      ConcretizationError: the condition has no value, in a compiled function.

    Example:
      >>> import graphc as gx
      >>> x = gx.asarray([[1, 2], [3, 4]])
      >>> gx.extract(x > 1, x).tolist()
      [2, 3, 4]
    """
    indices = np.flatnonzero(known_values("extract", "condition", condition, _REMEDY))
    return FUNCTIONS["take"](x, indices.astype(np.int32))


def trim_zeros(x: ArrayLike, trim: str = "fb") -> Tensor:
    """Returns a 1-d tensor without zeros at its ends.

    Args:
      x: a 1-d tensor, whose values must be known.
      trim: ``f`` for the front, ``b`` for the back, ``fb`` for both.

    Raises:
      ConcretizationError: ``x`` has no value, in a compiled function.

    Example:
      >>> import graphc as gx
      >>> gx.trim_zeros([0, 0, 1, 0, 2, 0]).tolist()
      [1, 0, 2]
    """
    values = known_values("trim_zeros", "x", x, _REMEDY)
    indices = np.flatnonzero(values)
    if not len(indices):
        return FUNCTIONS["asarray"](values[:0])
    first = indices[0] if "f" in trim.lower() else 0
    last = indices[-1] + 1 if "b" in trim.lower() else len(values)
    return FUNCTIONS["get_item"](x, slice(int(first), int(last)))


for _name in __all__:
    FUNCTIONS.add(_name, globals()[_name])
