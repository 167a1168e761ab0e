"""``grad`` and ``value_and_grad``: gradients of functions, in the manner of JAX, over a tape."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from graphc.base import at, nest, user_location
from graphc.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.core import ArrayMethods, Tensor, Variable, apply, converted, operand
from graphc.gradients.tape import GradientTape
from graphc.ir import OPS

__all__ = ["grad", "value_and_grad"]


def value_and_grad(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """The function that returns the value of ``function`` and its gradient.

    Args:
      function: returns a scalar tensor, or with ``has_aux`` a pair of one and anything else.
      argnums: which positional arguments to differentiate with respect to; each a floating tensor, a variable or a
        nested structure of these.
      has_aux: whether ``function`` returns a pair.

    Returns:
      A function of the same arguments that returns ``(value, gradient)``, the gradient in the structure of the
      arguments; zeros where the value does not depend on one. ``function`` gets copies of the arguments that are
      differentiated, so that what it assigns to their items does not change the caller's.

    Raises:
      InvalidArgumentError: when called: the value is not a scalar, or there is no such argument.
      InvalidTypeError: when called: an argument to differentiate is no floating tensor.

    Example:
      >>> import graphc as gx
      >>> value, gradient = gx.value_and_grad(lambda x: gx.sum(x ** 2))(gx.asarray([1.0, 2.0]))
      >>> value.item(), gradient.tolist()
      (5.0, [2.0, 4.0])
    """
    positions = _positions(argnums)

    @functools.wraps(function)
    def differentiated(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        if not all(-len(args) <= position < len(args) for position in positions):
            error = InvalidArgumentError(f"grad: argnums={argnums!r}, but {len(args)} positional arguments were given")
            raise at(error, user_location())
        arguments = list(args)
        for position in positions:
            arguments[position] = nest.map_structure(_differentiable, arguments[position])
        chosen = [arguments[position] for position in positions]
        with GradientTape() as tape:
            tape.watch(chosen)
            result = converted(function)(*arguments, **kwargs)
        value = _split_aux(result) if has_aux else result
        if not isinstance(value, Tensor) or value.shape != ():
            given = value.type if isinstance(value, ArrayMethods) else repr(value)
            error = InvalidArgumentError(f"grad: the function must return a scalar tensor, it returned {given}")
            raise at(error, user_location())
        gradients = tape.gradient(value, chosen, unconnected_gradients="zero")
        return result, gradients[0] if isinstance(argnums, int) else tuple(gradients)

    return differentiated


def grad(function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that returns the gradient of ``function``; see :func:`value_and_grad`.

    Returns:
      A function that returns the gradient, or with ``has_aux`` the pair ``(gradient, aux)``.

    Example:
      >>> import graphc as gx
      >>> gx.grad(lambda x: x ** 3)(2.0).item()
      12.0
    """
    both = value_and_grad(function, argnums, has_aux)

    @functools.wraps(function)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return differentiated


def _positions(argnums: Any) -> tuple[int, ...]:
    positions = nest.as_tuple(argnums)
    if not positions or not all(type(position) is int for position in positions):
        error = InvalidTypeError(f"grad: argnums must be an int or a sequence of ints, got {argnums!r}")
        raise at(error, user_location())
    return positions


def _split_aux(result: Any) -> Any:
    if isinstance(result, tuple) and len(nest.as_tuple(result)) == 2:
        return nest.as_tuple(result)[0]
    error = InvalidTypeError(
        f"grad: with has_aux=True the function must return (value, aux), it returned {result!r:.60}"
    )
    raise at(error, user_location())


def _differentiable(value: Any) -> Any:
    """The value as something a tape can watch, each use of it a tensor of its own."""
    if isinstance(value, Variable):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        error = InvalidTypeError(
            f"grad: an argument to differentiate must be floating, got the int {value}; write {value}.0"
        )
        raise at(error, user_location())
    tensor = apply(OPS["identity"], (operand(value),))
    if not tensor.type.is_inexact:
        raise at(
            InvalidTypeError(f"grad: an argument to differentiate must be floating, got {tensor.type}"), user_location()
        )
    return tensor
