"""Calls that read large Python state, or that leave the program: for JAX, for Python, for a tape."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

import graphc as gx
from benchmarks.call_kinds import Call
from benchmarks.harness import Contender, Duel, Row, batch

__all__ = ["ROWS"]

_VALUE = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)


def _duel(ours: Call, theirs: Call, quick: bool) -> Duel:
    calls = 10 if quick else 100
    return Duel(
        Contender("graphc", batch(ours, (), calls), calls),
        Contender("jax.jit", batch(theirs, (), calls), calls),
        lambda: [(ours(), theirs())],
    )


def _both(program: Any, quick: bool) -> Duel:
    x, y = gx.asarray(_VALUE), jnp.asarray(_VALUE)
    compiled, jitted = gx.function(program), jax.jit(program)
    return _duel(lambda: compiled(x), lambda: jitted(y), quick)


def _outer_array(quick: bool) -> Duel:
    weights = np.ones((512, 512), np.float32)
    return _both(lambda x: x + weights[:4, :4], quick)


def _outer_list(quick: bool) -> Duel:
    numbers = [float(number) for number in range(1000)]
    return _both(lambda x: x + sum(numbers), quick)


def _outer_dict(quick: bool) -> Duel:
    numbers = {f"number {number}": float(number) for number in range(1000)}
    return _both(lambda x: x + sum(numbers.values()), quick)


def _outer_set(quick: bool) -> Duel:
    numbers = set(range(1000))
    return _both(lambda x: x + len(numbers), quick)


def _jax_function(quick: bool) -> Duel:
    def program(x: Any) -> Any:
        return jnp.sin(x) + 1.0

    x, y, jitted = gx.asarray(_VALUE), jnp.asarray(_VALUE), jax.jit(program)
    return _duel(lambda: gx.call_jax(program, x), lambda: jitted(y), quick)


def _jax_function_of_dict(quick: bool) -> Duel:
    def program(weights: Any, x: Any) -> Any:
        return weights["w"] * x + weights["b"]

    x, y, jitted = gx.asarray(_VALUE), jnp.asarray(_VALUE), jax.jit(program)
    ours, theirs = {"w": x, "b": x}, {"w": y, "b": y}
    return _duel(lambda: gx.call_jax(program, ours, x), lambda: jitted(theirs, y), quick)


def _tape_for_call(quick: bool) -> Duel:
    x, y = gx.asarray(_VALUE), jnp.asarray(_VALUE)
    compiled, jitted = gx.function(lambda x: x + x), jax.jit(lambda x: x + x)

    def ours() -> Any:
        with gx.GradientTape():
            return compiled(x)

    return _duel(ours, lambda: jitted(y), quick)


def _grown(quick: bool, *, taken_apart: bool = False) -> Duel:
    """A list whose length depends on values, against a buffer and its length, or their rows in a list."""
    numbers = np.linspace(-1.0, 3.0, 8, dtype=np.float32)
    x, y = gx.asarray(numbers), jnp.asarray(numbers)

    @gx.function
    def compiled(x: Any) -> Any:
        return [x[i] * 2.0 for i in range(8) if x[i] > 0.0]

    @jax.jit
    def jitted(x: Any) -> Any:
        def step(i: Any, carried: Any) -> Any:
            buffer, count = carried
            is_kept = x[i] > 0.0
            return jnp.where(is_kept, buffer.at[count].set(x[i] * 2.0), buffer), count + is_kept

        return jax.lax.fori_loop(0, 8, step, (jnp.zeros(8), 0))

    def listed() -> Any:
        buffer, count = jitted(y)
        return list(buffer[: int(count)])

    calls = 5 if quick else 50
    return Duel(
        Contender("graphc", batch(lambda: compiled(x), (), calls), calls),
        Contender("jax.jit", batch(listed if taken_apart else lambda: jitted(y), (), calls), calls),
        lambda: [(compiled(x), listed())],
    )


def _python(quick: bool) -> Duel:
    """Both wait for each call: a compiled function returns after the Python that it calls."""
    x, y = gx.asarray(_VALUE), jnp.asarray(_VALUE)
    compiled = gx.function(lambda x: gx.pyfunc(lambda value: np.asarray(value) * 2, x, x) + 1.0)
    jitted = jax.jit(lambda y: io_callback(lambda value: np.asarray(value) * 2, y, y, ordered=True) + 1.0)
    return _duel(lambda: compiled(x), lambda: jitted(y).block_until_ready(), quick)


ROWS = [
    Row("call-outer-array", "call that reads a NumPy array of 1 MB from outside", 12.0, _outer_array),
    Row("call-outer-list", "call that reads a list of 1000 numbers from outside", 2.2, _outer_list),
    Row("call-outer-dict", "call that reads a dict of 1000 numbers from outside", 5, _outer_dict),
    Row("call-outer-set", "call that reads a set of 1000 numbers from outside", 3.0, _outer_set),
    Row("call-jax", "gx.call_jax in eager code", 1.5, _jax_function),
    Row("call-jax-dict", "gx.call_jax of a dict in eager code", 1.5, _jax_function_of_dict),
    Row("call-tape-once", "call under a tape of its own that follows nothing", 2.0, _tape_for_call),
    Row("call-grown", "call that returns a list of a length known at run time, against a buffer", 10.0, _grown),
    Row("call-grown-list", "the same, against a list", 1.0, lambda quick: _grown(quick, taken_apart=True)),
    Row("call-pyfunc", "call with a gx.pyfunc, which is waited for", 2.0, _python),
]
