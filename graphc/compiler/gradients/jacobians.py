"""``jacobian`` and ``hessian``: all derivatives of functions, like JAX's, over a tape."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, ParamSpec, TypeVar

from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import FUNCTIONS, ArrayMethods, Tensor, Variable, apply, converted, shorten
from graphc.compiler.gradients.forward import jvp
from graphc.compiler.gradients.rows import chosen_arguments, for_rows, positions_of, results_of, without_aux
from graphc.compiler.gradients.tape import GradientTape
from graphc.compiler.ir import OPS


def jacobian(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Returns a function that computes the Jacobian of ``function`` (``jax.jacobian``, which is ``jax.jacrev``).

    Args:
      function: returns a floating tensor or a nested structure of them, or with ``has_aux`` a pair of these and
        anything else.
      argnums: the positions of the arguments to differentiate with respect to; each a floating tensor, a variable or a
        nested structure of these.
      has_aux: whether ``function`` returns a pair.

    Returns:
      A function of the same arguments. It returns the structure of the results, each holding the structure of the
      arguments, with tensors whose shape is the result's shape followed by the argument's; zeros if the result does not
      depend on an argument. With ``has_aux`` it returns the pair ``(jacobian, aux)``. ``function`` receives copies of
      the differentiated arguments.

    Raises:
      InvalidTypeError: when called: a differentiated argument or a result is not a floating tensor.
      InvalidArgumentError: when called: an argument does not exist.

    Example:
      >>> import graphc as gx
      >>> gx.jacobian(lambda x: x ** 2)(gx.asarray([1.0, 2.0])).tolist()
      [[2.0, 0.0], [0.0, 4.0]]
    """
    return _differentiated(function, argnums, has_aux, "jacobian")


jacrev = jacobian
"""JAX's other name for :func:`jacobian`."""


def jacfwd(function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Returns a function that computes the Jacobian by pushing tangents forwards (``jax.jacfwd``).

    It pushes one tangent for each element of the arguments, all at once, and suits results with more elements than the
    arguments. In compiled code its memory does not grow with the number of loop iterations.

    Args:
      function: as for :func:`jacobian`.
      argnums: as for :func:`jacobian`; ``function`` receives the values of variables as tensors.
      has_aux: as for :func:`jacobian`.

    Returns:
      A function with the results of :func:`jacobian`'s.

    Raises:
      InvalidTypeError, InvalidArgumentError: as for :func:`jacobian`.

    Example:
      >>> import graphc as gx
      >>> gx.jacfwd(lambda x: gx.outer(x, x)[0])(gx.asarray([1.0, 2.0])).tolist()
      [[2.0, 0.0], [2.0, 1.0]]
    """
    positions = positions_of(argnums, "jacfwd")

    @functools.wraps(function)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        # Keep this small: a compiled function is converted, even if it is graphc's own.
        return _pushed(function, positions, argnums, has_aux, args, kwargs)

    return differentiated


def _pushed(
    function: Callable[..., Any], positions: Sequence[int], argnums: int | Sequence[int], has_aux: bool,
    args: tuple[Any, ...], kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    """Returns the Jacobian, column by column."""
    arguments, chosen = chosen_arguments(args, positions, argnums, "jacfwd")
    primals, structure = nest.flatten(tuple(chosen))
    primals = [primal.value() if isinstance(primal, Variable) else primal for primal in primals]
    shapes = [primal.shape for primal in primals]
    for primal in primals:
        _check_real(primal, "jacfwd: an argument to differentiate is")
    described: list[Any] = []  # the result in the function's own form

    def called(*pair: Any) -> Any:
        replaced = {position % len(args): value for position, value in zip(positions, pair, strict=True)}
        return converted(function)(*[replaced.get(index, arg) for index, arg in enumerate(arguments)], **kwargs)

    def along(slot: int, row: Tensor) -> list[Tensor | None]:
        tangents: list[Any] = [apply(OPS["zeros_like"], (primal,)) for primal in primals]
        tangents[slot] = row
        pair = nest.unflatten(structure, primals), nest.unflatten(structure, tangents)
        value, tangent, *aux = jvp(called, *pair, has_aux)
        leaves, nested = nest.flatten(value)
        for leaf in leaves:
            _check_floating(leaf, "jacfwd")
        others, other_structure = nest.flatten(aux)
        described[:] = [nested, [leaf.shape for leaf in leaves], others, other_structure]
        return [*nest.flatten(tangent)[0], *(leaf for leaf in others if isinstance(leaf, Tensor))]

    columns = [for_rows(partial(along, slot), _basis(primal)) for slot, primal in enumerate(primals)]
    result_structure, result_shapes, others, other_structure = described
    matrices: list[Any] = []
    for index, shape in enumerate(result_shapes):
        parts = [
            FUNCTIONS["reshape"](FUNCTIONS["moveaxis"](column[index], 0, -1), (*shape, *wanted))
            for column, wanted in zip(columns, shapes, strict=True)
        ]
        every = nest.unflatten(structure, parts)
        matrices.append(nest.as_tuple(every)[0] if isinstance(argnums, int) else every)
    nested = nest.unflatten(result_structure, matrices)
    supply: Iterator[Any] = iter(columns[0][len(result_shapes) :])  # the same in each row
    aux = nest.unflatten(other_structure, [next(supply)[0] if isinstance(one, Tensor) else one for one in others])
    return (nested, *aux) if has_aux else nested


def _basis(tensor: Tensor) -> Tensor:
    """Returns, for each element of a tensor, a tensor of its type that is one there and zero elsewhere."""
    size = math.prod(tensor.shape)
    return FUNCTIONS["reshape"](FUNCTIONS["eye"](size, dtype=tensor.dtype), (size, *tensor.shape))


def hessian(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Returns a function that computes the second derivatives of ``function`` (``jax.hessian``).

    Args:
      function: as for :func:`jacobian`; its result is usually a scalar.
      argnums: as for :func:`jacobian`.
      has_aux: as for :func:`jacobian`.

    Returns:
      A function of the same arguments that returns the Jacobian of the Jacobian: its tensors have the shapes of a
      result, an argument and an argument, concatenated.

    Raises:
      InvalidTypeError, InvalidArgumentError: as for :func:`jacobian`.

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
        return _pulled(function, positions, argnums, has_aux, name, args, kwargs)

    return differentiated


def _pulled(
    function: Callable[..., Any], positions: Sequence[int], argnums: int | Sequence[int], has_aux: bool, name: str,
    args: tuple[Any, ...], kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    """Returns the Jacobian, row by row."""
    arguments, chosen = chosen_arguments(args, positions, argnums, name)
    for leaf in nest.flatten(chosen)[0]:
        _check_real(leaf, f"{name}: an argument to differentiate is")
    with GradientTape(persistent=True) as tape:
        tape.watch(chosen)
        result = converted(function)(*arguments, **kwargs)
        leaves, structure = results_of(without_aux(result, name) if has_aux else result)
    jacobians: list[Any] = []
    for leaf in leaves:
        _check_floating(leaf, name)
        derivative = tape.jacobian if leaf.shape else tape.gradient
        every = derivative(leaf, chosen, unconnected_gradients="zero")
        jacobians.append(every[0] if isinstance(argnums, int) else tuple(every))
    matrices = nest.unflatten(structure, jacobians)
    return (matrices, result[1]) if has_aux else matrices


def _check_floating(leaf: Any, name: str) -> None:
    if not isinstance(leaf, Tensor) or not leaf.type.is_inexact:
        shown = str(leaf.type) if isinstance(leaf, Tensor) else f"{leaf!r:.60}"
        raise InvalidTypeError(f"{name}: the function must return floating tensors, but it returned {shown}").here()
    _check_real(leaf, f"{name}: the function returns")


def _check_real(leaf: Any, what: str) -> None:
    if leaf.dtype.kind == "c":
        raise InvalidTypeError(
            f"{what} {leaf.type}, but derivatives of complex numbers do not form a complex matrix; differentiate real "
            "and imaginary parts separately"
        ).here()


# ``grad`` and ``value_and_grad``: gradients of functions, like JAX's, over a tape.

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
                shown = value.type if isinstance(value, ArrayMethods) else repr(value)
                raise InvalidArgumentError(
                    f"grad: the function must return a scalar tensor, but it returned {shown}"
                ).here()
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
