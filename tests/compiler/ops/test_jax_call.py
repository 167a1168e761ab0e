"""gx.call_jax: functions of JAX's as one differentiable op, eager and compiled."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError

PARAMETERS = {"w": np.asarray([[1.0, -2.0], [0.5, 3.0]], np.float32), "b": np.asarray([0.1, 0.2], np.float32)}
X = np.asarray([1.0, 2.0], np.float32)


def model(parameters: Any, x: Any, power: int = 2) -> Any:
    y = jnp.tanh(parameters["w"] @ x + parameters["b"])
    return {"y": y, "norm": (y**power).sum()}


def loss(parameters: Any) -> Any:
    return model(parameters, X)["norm"]


def test_results_and_gradients_are_those_of_jax() -> None:
    parameters = {name: gx.Variable(value) for name, value in PARAMETERS.items()}

    def step() -> Any:
        with gx.GradientTape() as tape:
            result = gx.call_jax(model, parameters, gx.asarray(X), 2)
        return result, tape.gradient(result["norm"], parameters)

    expected = model(PARAMETERS, X)
    gradients = jax.grad(loss)({name: jnp.asarray(value) for name, value in PARAMETERS.items()})
    for run in (step, gx.function(step)):
        result, found = run()
        for name in ("y", "norm"):
            np.testing.assert_allclose(result[name].numpy(), expected[name], rtol=1e-6)
        for name in ("w", "b"):
            np.testing.assert_allclose(found[name].numpy(), gradients[name], rtol=1e-5)


def test_one_node_in_loops_too() -> None:
    @gx.function
    def power(x: gx.Tensor, n: gx.Tensor) -> gx.Tensor:
        for _ in range(n):
            x = gx.call_jax(jnp.multiply, x, 2.0)
        return x

    assert power(gx.asarray(1.5), gx.asarray(3)).item() == 12
    single = gx.function(lambda x: gx.call_jax(model, PARAMETERS, x)["y"])
    names = [node.op.name for node in single.graph(gx.asarray(X)).nodes]
    assert names.count("call_jax") == 1


def test_a_function_is_compiled_once() -> None:
    traced: list[Any] = []

    def f(x: Any, how: str) -> Any:
        traced.append(how)
        return x if how == "same" else (x, None, [x * 2])

    x = gx.asarray(1.0)
    for _ in range(3):
        assert gx.call_jax(f, x, "same").item() == 1
    assert traced == ["same"]
    first, nothing, (second,) = gx.call_jax(f, x, "several")
    assert (first.item(), nothing, second.item()) == (1, None, 2)


def test_refusals() -> None:
    with pytest.raises(InvalidTypeError, match=r"call_jax: .*<lambda> returned str 'a', expected arrays and pytrees"):
        gx.call_jax(lambda x: "a", gx.ones(2))
    with pytest.raises(InvalidArgumentError, match=r"call_jax\(args\[0\]: f32\[2\], .*, function=<.*matmul"):
        gx.call_jax(jnp.matmul, gx.ones(2), gx.ones(3))
    with pytest.raises(InvalidTypeError, match="call_jax: unhashable type: 'bytearray'; pass arrays as tensors"):
        gx.call_jax(lambda x: x, bytearray(b"a"))


def test_arguments_by_name() -> None:
    x = gx.ones((2, 3))
    assert gx.call_jax(jnp.sum, x, axis=0).tolist() == [2.0, 2.0, 2.0]
    assert gx.call_jax(jnp.clip, x, max=x * 0.5).tolist() == [[0.5] * 3] * 2
    assert gx.function(lambda x: gx.call_jax(jnp.sum, x, axis=1))(x).tolist() == [3.0, 3.0]
    assert gx.grad(lambda x: gx.call_jax(lambda a, scale: (a * scale).sum(), x, scale=x))(x).tolist() == [[2.0] * 3] * 2


def test_random_keys_of_jax_stay_keys() -> None:
    key = jax.random.key(3)
    expected = jax.random.normal(key, (3,)).tolist()

    def draw(key: Any) -> Any:
        return jax.random.normal(key, (3,))

    assert gx.call_jax(draw, key).tolist() == expected
    assert gx.call_jax(draw, key=key).tolist() == expected
    assert gx.function(lambda x: gx.call_jax(draw, key) + x)(gx.zeros(3)).tolist() == expected
    with pytest.raises(
        InvalidTypeError, match=r"asarray: a tensor cannot hold .* key<fry>; pass jax\.random\.key_data"
    ):
        gx.asarray(key)
