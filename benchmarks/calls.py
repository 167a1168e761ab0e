"""What a call of a compiled function costs beside the work it does."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Row, batch

__all__ = ["ROWS"]


def _one_add(quick: bool) -> Duel:
    calls = 10 if quick else 100
    a, b = np.random.default_rng(0).normal(size=(2, 4, 4)).astype(np.float32)
    tensors = gx.asarray(a), gx.asarray(b)
    raw = jnp.asarray(a), jnp.asarray(b)

    @gx.function
    def compiled(a: gx.Tensor, b: gx.Tensor) -> gx.Tensor:
        return a + b

    jitted = jax.jit(lambda a, b: a + b)
    return Duel(
        Contender("graphc", batch(compiled, tensors, calls), calls),
        Contender("jax.jit", batch(jitted, raw, calls), calls),
        lambda: [(compiled(*tensors), jitted(*raw))],
    )


def _update(quick: bool) -> Duel:
    """Twenty variables written by one step, which returns nothing; the dict of arrays is donated and rebound."""
    calls = 5 if quick else 10
    values = np.random.default_rng(0).normal(size=(20, 64)).astype(np.float32)
    variables = [gx.Variable(value) for value in values]
    state = {f"v{number:02}": jnp.array(value) for number, value in enumerate(values)}

    @gx.function
    def step() -> None:
        for variable in variables:
            variable.assign(variable * 0.5 + 1.0)

    jitted = jax.jit(lambda state: {name: value * 0.5 + 1.0 for name, value in state.items()}, donate_argnums=0)

    def raw() -> dict[str, jax.Array]:
        nonlocal state
        state = jitted(state)
        return state

    def check() -> list[tuple[object, object]]:
        for _ in range(3):
            step()
            raw()
        return [(variables, [state[name].copy() for name in sorted(state)])]

    return Duel(
        Contender("graphc", batch(step, (), calls, wait_for=variables), calls),
        Contender("jax.jit, donated dict", batch(raw, (), calls), calls),
        check,
    )


ROWS = (
    Row("call-add", "compiled f(a, b), one add", 1.2, _one_add),
    Row("call-update", "compiled update of 20 Variables", 1.3, _update),
)
