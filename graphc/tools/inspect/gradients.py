"""Gradients of a call, taken eagerly and inside a compiled function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax.numpy as jnp

from graphc.compiler.base import nest
from graphc.compiler.base.errors import GraphcError
from graphc.compiler.core import Tensor
from graphc.compiler.function import Function, functions_run_eagerly
from graphc.compiler.gradients import GradientTape
from graphc.tools.inspect.equality import Agreement, Difference, Tolerance, compare_leaves
from graphc.tools.inspect.modes import Call, State

__all__ = ["compare_gradients"]


def compare_gradients(call: Call, result: Any, state: State, tolerance: Tolerance) -> tuple[Agreement | None, str]:
    """Compares the gradients of a call's floating outputs with respect to its floating inputs.

    What is differentiated is the sum of the outputs, each element with a weight of its own: the plain sum of a softmax
    has no gradient, and would hide a wrong one.

    Args:
      call: the function and its arguments.
      result: what it returns in eager code.
      state: the variables that it touches.
      tolerance: for the gradients.

    Returns:
      How the two compare, None if there is nothing to compare; and why, for a reader, if that needs a reason.
    """
    signature = inspect.signature(call.function.python_function)
    outputs = [position for position, leaf in enumerate(nest.flatten(result)[0]) if _is_floating(leaf)]
    paths = [path for path, _ in _floating_inputs(signature, call.args, call.kwargs)]
    if not outputs or not paths:
        return None, ""
    weights = [_weights(nest.flatten(result)[0][position]) for position in outputs]

    def gradients_of(fn: Callable[..., Any]) -> Callable[..., Any]:
        def gradients(weights: Any, args: Any, kwargs: Any) -> Any:
            inputs = [leaf for _, leaf in _floating_inputs(signature, args, kwargs)]
            with GradientTape() as tape:
                tape.watch(inputs)
                leaves = nest.flatten(fn(*args, **kwargs))[0]
            targets = [leaves[position] for position in outputs]
            return tape.gradient(targets, inputs, weights, unconnected_gradients="zero")

        return gradients

    arguments = weights, call.args, call.kwargs
    try:
        state.restore()
        with functions_run_eagerly():
            expected = gradients_of(call.function.python_function)(*arguments)
        state.restore()
        # The call inside is traced as part of the whole, so that the tape is inside the compiled function too.
        found = Function(gradients_of(call.function), autograph=False, side_effects="ignore")(*arguments)
    except (GraphcError, ValueError, TypeError, NotImplementedError) as error:  # the last three are JAX's refusals
        return None, f"gradients were not compared: {str(error).splitlines()[0]}"
    pairs = [(f"the gradient of {path}", one, other) for path, one, other in zip(paths, expected, found, strict=True)]
    agreement = compare_leaves(pairs, tolerance, strict=True)
    if agreement.equal:
        return agreement, ""
    # The gradient of an iteration that has converged is a sum whose terms cancel. How much of it is rounding, the
    # gradients show of inputs that are one unit in the last place away.
    noise = [0.0] * len(pairs)
    for direction in (-1, 1):
        state.restore()
        with functions_run_eagerly():
            moved = gradients_of(call.function.python_function)(weights, *_moved((call.args, call.kwargs), direction))
        noise = [max(known, _distance(one, other)) for known, one, other in zip(noise, expected, moved, strict=True)]
    largest = max(_size(leaf) for leaf in nest.flatten(result)[0] if _is_floating(leaf))
    inputs = [leaf for _, leaf in _floating_inputs(signature, call.args, call.kwargs)]
    differences: list[Difference] = []
    for pair, one, leaf in zip(pairs, noise, inputs, strict=True):
        # At a kink the gradients differ for good: only so much is rounding in a result of this size.
        limit = _ROUNDING * largest / (_size(leaf) or 1.0)
        differences += compare_leaves([pair], replace(tolerance, noise=min(one, limit)), strict=True).differences
    return Agreement(tuple(differences)), ""


_ROUNDING = 2.0**-17
"""Of the largest output by the largest input, the most that counts as rounding of a gradient."""


def _moved(structure: Any, direction: int) -> Any:
    """Returns a structure with its floating tensors moved by one unit in the last place."""

    def moved(leaf: Any) -> Any:
        return Tensor(leaf.raw * (1 + direction * jnp.finfo(leaf.dtype).eps)) if _is_floating(leaf) else leaf

    return nest.map_structure(moved, structure)


def _distance(first: Tensor, second: Tensor) -> float:
    return float(jnp.max(jnp.nan_to_num(jnp.abs(first.raw - second.raw)), initial=0.0))


def _size(tensor: Tensor) -> float:
    return float(jnp.max(jnp.nan_to_num(jnp.abs(tensor.raw), posinf=0.0), initial=0.0))


def _floating_inputs(signature: inspect.Signature, args: Any, kwargs: Any) -> list[tuple[str, Tensor]]:
    """Returns the floating tensors among the arguments, each with the expression that reaches it."""
    bound = signature.bind(*args, **kwargs).arguments
    leaves = [pair for name, value in bound.items() for pair in nest.flatten_with_paths(value, name)]
    return [(path, leaf) for path, leaf in leaves if _is_floating(leaf)]


def _is_floating(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and leaf.type.is_inexact


def _weights(output: Tensor) -> Tensor:
    return Tensor(jnp.cos(jnp.arange(output.size, dtype="float32")).reshape(output.shape).astype(output.dtype))
