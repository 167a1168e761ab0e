"""Directional derivatives: ``jvp`` and ``linearize`` like JAX's, and TensorFlow's ``ForwardAccumulator``.

In a compiled function the tangents are computed forwards with the values. Eagerly they come from a tape: its pullback
is linear in the cotangents, and the transpose of the pullback maps tangents to tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import FUNCTIONS, Tensor, Variable, apply, converted, operand, shorten, unexamined
from graphc.compiler.gradients.rows import check_choices, differentiable, results_of, without_aux
from graphc.compiler.gradients.tape import GradientTape
from graphc.compiler.ir import OPS
from graphc.compiler.ops import emit_jvp
from graphc.compiler.tracing import Region, Trace, current_trace, is_tracing


def jvp(function: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Returns the value of ``function`` and its derivative along a direction, in one forward pass (``jax.jvp``).

    Args:
      function: a function of tensors in nested structures that returns tensors in a nested structure, or with
        ``has_aux`` a pair of that and anything else. It receives copies of the arguments.
      primals: a tuple or list of its arguments, the point at which to differentiate: floating tensors, variables,
        numbers or nested structures of these.
      tangents: a tuple or list of the directions, with the structure, shapes and dtypes of ``primals``.
      has_aux: whether ``function`` returns a pair.

    Returns:
      ``(value, tangent)``, or with ``has_aux`` ``(value, tangent, aux)``. The tangent has the structure, shapes and
      dtypes of the value, with None for parts without a derivative: integers, booleans, and values that are not
      tensors.

    Raises:
      InvalidTypeError: a primal is not a floating tensor, or primals or tangents are not a tuple or list.
      InvalidArgumentError: primals and tangents differ in structure or shape.

    Example:
      >>> import graphc as gx
      >>> value, tangent = gx.jvp(lambda x, y: x * y, (3.0, 4.0), (1.0, 0.5))
      >>> value.item(), tangent.item()
      (12.0, 5.5)
    """
    try:
        arguments, structure = _primals(primals, "jvp")
        directions = _tangents(tangents, arguments, structure, "jvp")
        if is_tracing():
            value, tangent, aux = _in_trace(current_trace(), function, arguments, structure, directions, has_aux)
        else:
            value, push, aux = _linearized(function, arguments, structure, has_aux, "jvp", persistent=False)
            tangent = push(directions)
    except Exception as error:
        shorten(error)
        raise
    return (value, tangent, aux) if has_aux else (value, tangent)


def linearize(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Returns the value of ``function`` and the linear map from tangents to tangents there (``jax.linearize``).

    The parts of the derivative are computed once and kept in memory, as by a tape.

    Args:
      function: as for :func:`jvp`.
      *primals: the arguments, as for :func:`jvp`.

    Returns:
      The value, and a function of one tangent for each argument that returns the tangent. In a compiled function, call
      it in the function, loop body or branch where it was made.

    Raises:
      InvalidTypeError, InvalidArgumentError: as for :func:`jvp`.

    Example:
      >>> import graphc as gx
      >>> value, push = gx.linearize(lambda x: x ** 3, 2.0)
      >>> value.item(), push(1.0).item(), push(0.5).item()
      (8.0, 12.0, 6.0)
    """
    arguments, structure = _primals(primals, "linearize")
    value, push, _ = _linearized(function, arguments, structure, False, "linearize", persistent=True)
    return value, lambda *tangents: push(_tangents(tangents, arguments, structure, "linearize"))


class ForwardAccumulator:
    """Directional derivatives of values computed inside a scope (TensorFlow's ForwardAccumulator).

    The scope records as a tape does; each call of :meth:`jvp` costs about two gradients. In a compiled function,
    :func:`jvp` of a function is cheaper, since it computes tangents forwards with the values.

    Args:
      primals: the point at which to differentiate: a floating tensor or a variable, or a nested structure of them.
      tangents: the directions, with the structure, shapes and dtypes of ``primals``.

    Raises:
      InvalidTypeError: a primal is neither a floating tensor nor a variable.
      InvalidArgumentError: primals and tangents differ in structure or shape.

    Example:
      >>> import graphc as gx
      >>> x = gx.asarray([2.0, 3.0])
      >>> with gx.ForwardAccumulator(x, gx.asarray([1.0, 0.0])) as accumulator:
      ...     y = x * x
      >>> accumulator.jvp(y).tolist()
      [4.0, 0.0]
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        check_choices(primals, _NAME)
        self._primals, structure = nest.flatten((primals,))
        values = [leaf.value() if isinstance(leaf, Variable) else leaf for leaf in self._primals]
        self._tangents = _tangents((tangents,), [differentiable(v, _NAME) for v in values], structure, _NAME)
        self._tape = GradientTape(persistent=True, watch_accessed_variables=False)
        self._tape.watch(self._primals)

    def __enter__(self) -> ForwardAccumulator:
        self._tape.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._tape.__exit__(*error)

    def jvp(self, primals: Any, unconnected_gradients: Literal["none", "zero"] = "none") -> Any:
        """Returns the derivative of tensors along the direction.

        Args:
          primals: a tensor, or a nested structure of them.
          unconnected_gradients: the result for a tensor that does not depend on the accumulator's primals, or was
            computed outside the scope: ``"none"`` or ``"zero"``.

        Returns:
          Tensors of the shapes and dtypes of ``primals``, in their structure.
        """
        leaves, structure = nest.flatten(primals)
        with self._tape.stop_recording():
            tangents = [self._pushed(leaf) for leaf in leaves]
            if unconnected_gradients == "zero":
                pairs = zip(leaves, tangents, strict=True)
                tangents = [
                    apply(OPS["zeros_like"], (leaf,)) if tangent is None else tangent for leaf, tangent in pairs
                ]
        return nest.unflatten(structure, tangents)

    def _pushed(self, target: Any) -> Tensor | None:
        if not _is_moved(target):
            return None
        cotangent = apply(OPS["zeros_like"], (target,))
        with GradientTape(watch_accessed_variables=False) as linear:
            linear.watch(cotangent)
            gradients = self._tape.gradient(target, self._primals, output_gradients=cotangent)
        pairs = [pair for pair in zip(gradients, self._tangents, strict=True) if pair[0] is not None]
        if not pairs:
            return None
        connected, directions = zip(*pairs, strict=True)
        return linear.gradient(list(connected), cotangent, list(directions), unconnected_gradients="zero")


_NAME = "ForwardAccumulator"


def _primals(primals: Any, name: str) -> tuple[list[Tensor], nest.Structure]:
    if not isinstance(primals, tuple | list):
        raise InvalidTypeError(f"{name}: primals must be a tuple or list of arguments, got {primals!r:.60}").here()
    check_choices(primals, name)
    leaves, structure = nest.flatten(primals)
    values = [leaf.value() if isinstance(leaf, Variable) else leaf for leaf in leaves]
    return [differentiable(value, name) for value in values], structure


def _tangents(tangents: Any, primals: Sequence[Tensor], structure: nest.Structure, name: str) -> list[Tensor]:
    if not isinstance(tangents, tuple | list):
        raise InvalidTypeError(f"{name}: tangents must be a tuple or list of arguments, got {tangents!r:.60}").here()
    leaves, layout = nest.flatten(tangents)
    if layout._replace(kind=structure.kind) != structure:
        raise InvalidArgumentError(
            f"{name}: primals have the structure {structure}, but tangents have {layout}; pass one tangent for each "
            "primal"
        ).here()
    results: list[Tensor] = []
    for leaf, primal in zip(leaves, primals, strict=True):
        tangent: Tensor = apply(OPS["identity"], (operand(leaf),))
        if tangent.shape != primal.shape:
            raise InvalidArgumentError(
                f"{name}: a tangent of shape {tangent.shape} for a primal of shape {primal.shape}"
            ).here()
        if tangent.dtype != primal.dtype and not tangent.type.weak:
            raise InvalidTypeError(
                f"{name}: a tangent of dtype {tangent.dtype.name} for a primal of dtype {primal.dtype.name}; convert "
                f"it with gx.astype(tangent, {primal.dtype.name!r})"
            ).here()
        results.append(FUNCTIONS["asarray"](tangent, dtype=primal.dtype))
    return results


def _is_moved(leaf: Any) -> bool:
    """Returns True if a result has a tangent."""
    return isinstance(leaf, Tensor) and leaf.type.is_inexact


def _linearized(
    function: Callable[..., Any], primals: Sequence[Tensor], structure: nest.Structure, has_aux: bool, name: str, *,
    persistent: bool,
) -> tuple[Any, Callable[[Sequence[Tensor]], Any], Any]:  # fmt: skip
    """Returns the value, the map from tangents to tangents, and the auxiliary result."""
    with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(primals)
        result = converted(function)(*nest.unflatten(structure, primals))
        leaves, layout = results_of(without_aux(result, name) if has_aux else result)
    moved = [leaf for leaf in leaves if _is_moved(leaf)]
    cotangents = [apply(OPS["zeros_like"], (leaf,)) for leaf in moved]
    with GradientTape(persistent=persistent, watch_accessed_variables=False) as linear:
        linear.watch(cotangents)
        gradients = tape.gradient(moved, list(primals), output_gradients=cotangents)
    tape.reset()
    connected = [gradient for gradient in gradients if gradient is not None]

    def push(tangents: Sequence[Tensor]) -> Any:
        directions = [tangent for tangent, gradient in zip(tangents, gradients, strict=True) if gradient is not None]
        pushed = linear.gradient(connected, cotangents, directions, unconnected_gradients="zero")
        supply = iter(pushed)
        return nest.unflatten(layout, [next(supply) if _is_moved(leaf) else None for leaf in leaves])

    return nest.unflatten(layout, leaves), push, result[1] if has_aux else None


def _in_trace(
    trace: Trace, function: Callable[..., Any], primals: Sequence[Tensor], structure: nest.Structure,
    tangents: Sequence[Tensor], has_aux: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Returns the value, the tangent and the auxiliary result, from one node."""
    what = f"the function {getattr(function, '__name__', 'given')!r} of gx.jvp"
    region = Region(trace, what)
    arguments = [region.argument(primal.type, f"primal_{index}") for index, primal in enumerate(primals)]
    with region.tracing(), unexamined():
        result = converted(function)(*nest.unflatten(structure, [argument.fork() for argument in arguments]))
        leaves, value_structure = results_of(without_aux(result, "jvp") if has_aux else result)
        others, aux_structure = nest.flatten(result[1] if has_aux else None)
        outputs = [region.lift(leaf).snapshot() for leaf in leaves if _is_moved(leaf)]
        rest = [*(leaf for leaf in leaves if not _is_moved(leaf)), *others]
        plain_tensors = [region.lift(leaf).snapshot() for leaf in rest if isinstance(leaf, Tensor)]
    region.refuse_writes(what)
    results, unmoved, pushed = emit_jvp(region, arguments, outputs, plain_tensors, primals, tangents)
    values, moved, plain = iter(results), iter(pushed), iter(unmoved)
    rebuilt = [
        next(values) if _is_moved(leaf) else next(plain) if isinstance(leaf, Tensor) else leaf for leaf in leaves
    ]
    pieces = [next(moved) if _is_moved(leaf) else None for leaf in leaves]
    aux = [next(plain) if isinstance(leaf, Tensor) else leaf for leaf in others]
    tangent = nest.unflatten(value_structure, pieces)
    return nest.unflatten(value_structure, rebuilt), tangent, nest.unflatten(aux_structure, aux)
