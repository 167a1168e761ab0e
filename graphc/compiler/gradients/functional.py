"""``grad`` and ``value_and_grad``: gradients of functions, like JAX's, over a tape."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayMethods, Tensor, converted, shorten
from graphc.compiler.gradients.rows import chosen_arguments, positions_of, without_aux
from graphc.compiler.gradients.tape import GradientTape

__all__ = ["grad", "value_and_grad"]

P = ParamSpec("P")
R = TypeVar("R")


def value_and_grad(
    function: Callable[P, R], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[P, tuple[R, Any]]:
    """Returns a function that computes the value of ``function`` and its gradient.

    Args:
      function: returns a scalar tensor, or with ``has_aux`` a pair of one and anything else.
      argnums: the positions of the arguments to differentiate with respect to; each a floating tensor, a variable or a
        nested structure of these.
      has_aux: whether ``function`` returns a pair.

    Returns:
      A function of the same arguments that returns ``(value, gradient)``, with the gradient in the structure of the
      arguments, and zeros where the value does not depend on one. ``function`` receives copies of the differentiated
      arguments, so that its item assignments do not change the caller's.

    Raises:
      InvalidArgumentError: when called: the value is not a scalar, or an argument does not exist.
      InvalidTypeError: when called: a differentiated argument is not a floating tensor.

    Example:
      >>> import graphc as gx
      >>> value, gradient = gx.value_and_grad(lambda x: gx.sum(x ** 2))(gx.asarray([1.0, 2.0]))
      >>> value.item(), gradient.tolist()
      (5.0, [2.0, 4.0])
    """
    positions = positions_of(argnums, "grad")

    @functools.wraps(function)
    def differentiated(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        try:
            arguments, chosen = chosen_arguments(args, positions, argnums, "grad")
            with GradientTape() as tape:
                tape.watch(chosen)
                result = converted(function)(*arguments, **kwargs)
            value = without_aux(result, "grad") if has_aux else result
            if not isinstance(value, Tensor) or value.shape != ():
                given = value.type if isinstance(value, ArrayMethods) else repr(value)
                error = InvalidArgumentError(f"grad: the function must return a scalar tensor, but it returned {given}")
                raise at(error, user_location())
            gradients = tape.gradient(value, chosen, unconnected_gradients="zero")
            return result, gradients[0] if isinstance(argnums, int) else tuple(gradients)
        except Exception as error:
            shorten(error)
            raise

    return differentiated


def grad(function: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[P, Any]:
    """Returns a function that computes the gradient of ``function``; see :func:`value_and_grad`.

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
        try:
            value, gradient = both(*args, **kwargs)
        except Exception as error:
            shorten(error)
            raise
        return (gradient, value[1]) if has_aux else gradient

    return differentiated
