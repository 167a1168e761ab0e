"""``jacobian`` and ``hessian``: all derivatives of functions, in the manner of JAX, over a tape."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from graphc.base import at, nest, user_location
from graphc.base.errors import InvalidTypeError
from graphc.core import Tensor, converted
from graphc.gradients.arguments import chosen_arguments, positions_of, results_of, without_aux
from graphc.gradients.tape import GradientTape

__all__ = ["hessian", "jacobian"]


def jacobian(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that returns the Jacobian of ``function`` (``jax.jacobian``, which is ``jax.jacrev``).

    Args:
      function: returns a floating tensor or a nested structure of them, or with ``has_aux`` a pair of these and
        anything else.
      argnums: which positional arguments to differentiate with respect to; each a floating tensor, a variable or a
        nested structure of these.
      has_aux: whether ``function`` returns a pair.

    Returns:
      A function of the same arguments. In the structure of the results it holds, for each, the structure of the
      arguments, whose tensors have the result's shape followed by the argument's; zeros where the result does not
      depend on one. With ``has_aux`` the function returns the pair ``(jacobian, aux)``. ``function`` gets copies of the
      arguments that are differentiated.

    Raises:
      InvalidTypeError: when called: an argument to differentiate is no floating tensor, or a result is none.
      InvalidArgumentError: when called: there is no such argument.

    Example:
      >>> import graphc as gx
      >>> gx.jacobian(lambda x: x ** 2)(gx.asarray([1.0, 2.0])).tolist()
      [[2.0, 0.0], [0.0, 4.0]]
    """
    return _differentiated(function, argnums, has_aux, "jacobian")


def hessian(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that returns the second derivatives of ``function`` (``jax.hessian``).

    Args:
      function: as for :func:`jacobian`; most often its result is a scalar.
      argnums: as for :func:`jacobian`.
      has_aux: as for :func:`jacobian`.

    Returns:
      A function of the same arguments: the Jacobian of the Jacobian, so that the tensors have the shapes of a result,
      an argument and an argument, one after the other.

    Raises:
      InvalidTypeError, InvalidArgumentError: as the function that :func:`jacobian` gives.

    Example:
      >>> import graphc as gx
      >>> gx.hessian(lambda x: x[0] ** 2 * x[1])(gx.asarray([1.0, 3.0])).tolist()
      [[6.0, 2.0], [2.0, 0.0]]
    """
    first = _differentiated(function, argnums, has_aux, "hessian")
    return _differentiated(first, argnums, has_aux, "hessian")


def _differentiated(
    function: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool, name: str
) -> Callable[..., Any]:
    positions = positions_of(argnums, name)

    @functools.wraps(function)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        arguments, chosen = chosen_arguments(args, positions, argnums, name)
        for leaf in nest.flatten(chosen)[0]:
            _check_real(leaf, f"{name}: an argument to differentiate is")
        with GradientTape(persistent=True) as tape:
            tape.watch(chosen)
            result = converted(function)(*arguments, **kwargs)
            leaves, structure = results_of(without_aux(result, name) if has_aux else result)
        found: list[Any] = []
        for leaf in leaves:
            if not isinstance(leaf, Tensor) or not leaf.type.is_inexact:
                given = str(leaf.type) if isinstance(leaf, Tensor) else f"{leaf!r:.60}"
                error = InvalidTypeError(f"{name}: the function must return floating tensors, it returned {given}")
                raise at(error, user_location())
            _check_real(leaf, f"{name}: the function returns")
            derivative = tape.jacobian if leaf.shape else tape.gradient
            every = derivative(leaf, chosen, unconnected_gradients="zero")
            found.append(every[0] if isinstance(argnums, int) else tuple(every))
        matrices = nest.unflatten(structure, found)
        return (matrices, result[1]) if has_aux else matrices

    return differentiated


def _check_real(leaf: Any, what: str) -> None:
    if leaf.dtype.kind == "c":
        error = InvalidTypeError(
            f"{what} {leaf.type}, and derivatives of complex numbers are no complex matrix; take real and imaginary "
            "parts apart"
        )
        raise at(error, user_location())
