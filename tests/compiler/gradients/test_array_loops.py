"""Gradients of random loops over arrays: the passes that take the loops apart leave them as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings

from graphc.compiler.ir import OPS, Graph
from graphc.compiler.ir.passes import Loops
from graphc.compiler.lowering import lower
from tests.compiler.ir.passes.array_loops import array_loops


def derivatives(graph: Graph) -> list[Any]:
    """The gradients of a mix of all that a graph gives, and how they change along a direction."""
    rng = np.random.default_rng(5)
    inputs = [jnp.asarray(rng.uniform(-1, 1, value.type.shape), jnp.float32) for value in graph.inputs]
    weights = [jnp.asarray(rng.uniform(-1, 1, value.type.shape), jnp.float32) for value in graph.outputs]
    function: Callable[..., Any] = lower(graph).function

    def mix(*inputs: Any) -> Any:
        return sum(jnp.vdot(weight, jnp.tanh(x)) for weight, x in zip(weights, function(*inputs), strict=True))

    gradient = jax.grad(mix, argnums=tuple(range(len(inputs))))
    with jax.disable_jit():  # loops in Python, by kernels that are compiled once
        first, second = jax.jvp(gradient, inputs, [jnp.ones_like(x) for x in inputs])
    return [*first, *second]


@given(array_loops(OPS))
@settings(max_examples=6, deadline=None)
def test_first_and_second_derivatives_stay(graph: Graph) -> None:
    for wanted, got in zip(derivatives(graph), derivatives(Loops()(graph)), strict=True):
        np.testing.assert_allclose(wanted, got, rtol=2e-3, atol=2e-4)
