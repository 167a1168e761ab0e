"""The distributions of jax.random: the same numbers as from JAX with the same key."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.core import trace_scope
from graphc.compiler.ir import OPS
from graphc.compiler.ops.distributions import DRAWS as TABLE
from graphc.compiler.ops.distributions import key_of
from graphc.compiler.tracing import Trace

SPREAD = np.asarray([[2.0, 0.5], [0.5, 1.0]], np.float32)

# The arguments of graphc's function; JAX's takes the key before.
DRAWS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "ball": ((3,), {"shape": (2,)}),
    "beta": ((2.0, 3.0), {"shape": (4,)}),
    "binomial": ((np.float32(10), np.float32(0.3)), {"shape": (4,)}),
    "bits": ((), {"shape": (4,)}),
    "cauchy": ((), {"shape": (4,)}),
    "chisquare": ((3.0,), {"shape": (4,)}),
    "dirichlet": ((np.ones(3, np.float32),), {"shape": (2,)}),
    "double_sided_maxwell": ((1.0, 2.0), {"shape": (4,)}),
    "f": ((3.0, 4.0), {"shape": (4,)}),
    "generalized_normal": ((1.5,), {"shape": (4,)}),
    "geometric": ((np.float32(0.3),), {"shape": (4,)}),
    "laplace": ((), {"shape": (4,)}),
    "loggamma": ((2.0,), {"shape": (4,)}),
    "logistic": ((), {"shape": (4,)}),
    "lognormal": ((0.5,), {"shape": (4,)}),
    "maxwell": ((), {"shape": (4,)}),
    "multinomial": ((np.float32(5), np.asarray([0.2, 0.8], np.float32)), {}),
    "multivariate_normal": ((np.zeros(2, np.float32), SPREAD), {"shape": (3,)}),
    "orthogonal": ((3,), {}),
    "pareto": ((3.0,), {"shape": (4,)}),
    "rademacher": ((), {"shape": (4,)}),
    "rayleigh": ((2.0,), {"shape": (4,)}),
    "t": ((3.0,), {"shape": (4,)}),
    "triangular": ((-1.0, 0.0, 2.0), {"shape": (4,)}),
    "wald": ((2.0,), {"shape": (4,)}),
    "weibull_min": ((2.0, 1.5), {"shape": (4,)}),
}

# test_random.py tests these.
IN_OTHER_TESTS = {
    *("bernoulli", "categorical", "exponential", "gamma", "gumbel", "poisson", "randint"),
    *("truncated_normal", "uniform"),
}


def test_every_distribution_is_drawn_from() -> None:
    assert set(DRAWS) | IN_OTHER_TESTS == {draw.name for draw in TABLE}
    assert set(DRAWS) <= set(gx.random.__all__)


DTYPES = {"bits": "uint32", "geometric": "int32", "rademacher": "int32"}


@pytest.mark.parametrize("name", DRAWS)
def test_the_program_is_that_of_jax(name: str) -> None:
    # Traced only: to compile the 26 samplers twice takes a minute.
    args, kwargs = DRAWS[name]
    recording = Trace("f")
    with trace_scope(recording):
        drawn = getattr(gx.random.Generator(3), name)(*args, **kwargs)
    node = drawn.raw.node
    assert node.op is OPS[f"random.{name}"]
    tensors = args[len(args) + 1 - len(node.inputs) :] if len(node.inputs) > 1 else ()
    options = {"shape": None} | kwargs | {"dtype": DTYPES.get(name, "float32")}
    if options["shape"] is None and name == "orthogonal":
        options["shape"] = ()
    static = args[: len(args) - len(tensors)]

    def expected(data: Any, *tensors: Any) -> Any:
        return getattr(jax.random, name)(key_of(data), *static, *tensors, **options)

    key = np.zeros(2, np.uint32)
    ours = jax.make_jaxpr(lambda *values: node.op.impl(*values, **node.attrs))(key, *tensors)
    assert str(ours) == str(jax.make_jaxpr(expected)(key, *tensors))
    (found,) = ours.out_avals
    assert (drawn.shape, drawn.dtype) == (found.shape, found.dtype)


@pytest.mark.parametrize("name", ["laplace", "rademacher", "rayleigh", "weibull_min"])
def test_the_numbers_are_those_of_jax(name: str) -> None:
    args, kwargs = DRAWS[name]
    generator = gx.random.Generator(3)
    _, key = jax.random.split(key_of(generator.state.numpy()))
    drawn = getattr(generator, name)(*args, **kwargs)
    expected = getattr(jax.random, name)(key, *args, **kwargs, dtype=DTYPES.get(name, "float32"))
    np.testing.assert_allclose(drawn.numpy(), np.asarray(expected), rtol=1e-5, atol=1e-6)


def test_a_compiled_function_draws_what_eager_code_does() -> None:
    eager, compiled = gx.random.Generator(1), gx.random.Generator(1)

    @gx.function
    def step(a: Any) -> Any:
        return compiled.laplace((2,)), compiled.triangular(-a, 0.0, a, (2,))

    first = [eager.laplace((2,)), eager.triangular(-2.0, 0.0, 2.0, (2,))]
    for drawn, expected in zip(step(gx.asarray(2.0)), first, strict=True):
        np.testing.assert_allclose(drawn.numpy(), expected.numpy(), rtol=1e-5)
    assert step(gx.asarray(2.0))[0].tolist() != first[0].tolist()


def test_gradients_flow_to_parameters() -> None:
    scale = gx.Variable(2.0)
    generator = gx.random.Generator(5)
    with gx.GradientTape() as tape:
        y = generator.rayleigh(scale)
    np.testing.assert_allclose(tape.gradient(y, scale).numpy(), y.numpy() / 2, rtol=1e-5)
