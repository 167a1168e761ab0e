"""Tensors that leave graphc for JAX and NumPy: gradients flow or are refused, and values can be looked at."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import graphc as gx
from graphc.compiler.base.errors import GraphcError, UnimplementedError

K = jnp.asarray([2.0, 3.0])
SENTENCE = r"gx\.asarray makes tensors of arrays\), gx\.call_jax\(function, x\).*gx\.stop_gradient\(x\)"
OPERATORS = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.matmul, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, divmod,
)  # fmt: skip
BITWISE = (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift)


def x() -> gx.Tensor:
    return gx.asarray([1.5, 1.0])


def test_operators_of_jax_arrays_give_way_to_those_of_tensors() -> None:
    for given in (x(), gx.Variable([1.5, 1.0])):
        for op in OPERATORS:
            result = op(K, given)
            np.testing.assert_array_equal(np.asarray(result), np.asarray(op(K, jnp.asarray([1.5, 1.0]))))
            assert all(type(part) is gx.Tensor for part in (result if op is divmod else [result])), op
    ints = jnp.asarray([5, 6])
    for op in BITWISE:
        assert op(ints, gx.asarray([1, 2])).tolist() == op(ints, jnp.asarray([1, 2])).tolist()
    np.testing.assert_allclose(jax.jit(lambda k: k * x())(K), [3.0, 3.0])  # JAX's tracers convert


def test_gradients_flow_through_the_operators_of_jax_and_numpy_arrays_in_both_modes() -> None:
    w = gx.Variable([1.5, 1.0])

    def loss(x: Any) -> Any:
        k = K
        k *= x
        return gx.sum(K * x - (K @ x) + k / w) + gx.sum(np.array([1.0, 2.0], np.float32) * x * w) + (K**x)[0]

    def plain(x: Any, w: Any) -> Any:
        return jnp.sum(K * x - (K @ x) + K * x / w) + jnp.sum(jnp.asarray([1.0, 2.0]) * x * w) + (K**x)[0]

    def gradients(given: gx.Tensor) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(given)
            value = loss(given)
        return tape.gradient(value, [given, w])

    expected = jax.grad(plain, (0, 1))(jnp.asarray([1.5, 1.0]), jnp.asarray([1.5, 1.0]))
    for found in (gradients(x()), gx.function(gradients)(x())):
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)


LOSSES: dict[str, Callable[[Any], Any]] = {
    "jnp.concatenate": lambda x: gx.sum(jnp.concatenate([x, x])),
    "jnp.asarray": lambda x: gx.sum(K * jnp.asarray(x)),
    "jnp.sin": lambda x: gx.sum(jnp.sin(x)),
    "optax": lambda x: optax.l2_loss(x).sum(),
    "np.asarray": lambda x: gx.sum(np.asarray(x)),
    "a NumPy function": lambda x: np.testing.assert_allclose(x, x),
    "dlpack": lambda x: gx.sum(gx.asarray(np.from_dlpack(x * 1.0))),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_tensor_that_would_lose_its_gradient_is_refused_in_both_modes_with_one_sentence(name: str) -> None:
    term = LOSSES[name]
    for use in (
        lambda f: gx.grad(f)(x()),
        lambda f: gx.value_and_grad(f)(x()),
        lambda f: gx.jvp(f, (x(),), (x(),)),
        lambda f: gx.jacobian(f)(x()),
        lambda f: gx.function(gx.grad(f)).trace(x()),
    ):
        with pytest.raises(GraphcError, match=SENTENCE) as caught:
            use(lambda x: gx.sum(x * x) + term(x * 2.0))
        assert __file__ in str(caught.value)
    with gx.GradientTape(), pytest.raises(UnimplementedError, match=SENTENCE):
        term(gx.Variable([1.0, 2.0]))
    with gx.GradientTape():
        term(gx.stop_gradient(gx.asarray([1.0]))) if name != "jnp.sin" else None


def test_values_under_a_tape_can_be_looked_at_and_arrays_of_them_are_no_constants() -> None:
    w = gx.Variable([1.0, 2.0])
    with gx.GradientTape() as tape:
        loss = gx.sum(w * w)
        seen = (loss.numpy(), float(loss), loss.item(), w.numpy(), (w * 1).tolist(), f"{loss:.1f} {loss}", repr(w * 1))
        array = w.numpy()
        for meets in (
            lambda: w * array,
            lambda: gx.asarray(np.sin(array)),
            lambda: gx.asarray(array, "float32"),
            lambda: gx.sum([array, array]),
            lambda: array[:1] + w,
            lambda: w * seen[0],
        ):
            with pytest.raises(UnimplementedError, match=r"numpy\(\) loses .*" + SENTENCE):
                meets()
        number = np.mean(array)
        assert type(number) is np.float32
        loss = loss + number  # a number is a constant
        shifted = w * gx.stop_gradient(w).numpy() + gx.nn.one_hot(np.argmax(array), 2)
    assert tape.gradient(loss, w).tolist() == [2.0, 4.0]
    assert seen[:3] == (5.0, 5.0, 5.0)
    assert f"{seen[0]:.1f} {seen[5]}" == "5.0 5.0 5.0"
    assert repr(array) == "array([1., 2.], dtype=float32)"
    assert type(pickle.loads(pickle.dumps(array))) is np.ndarray
    assert copy.deepcopy(array).tolist() == [1.0, 2.0]
    with gx.GradientTape() as another:
        loss = gx.sum(w * array)  # of another step
    assert another.gradient(loss, w).tolist() == [1.0, 2.0]
    assert shifted.tolist() == [1.0, 5.0]


def test_jax_says_in_our_words_that_it_compiles_nothing_for_tensors() -> None:
    def name(values: Any) -> Any:
        return values

    for call in (
        lambda: jnp.sum(x()),
        lambda: jax.jit(name)(x()),
        lambda: jax.grad(name)(x()),
        lambda: jax.vmap(name)(gx.Variable([1.0])),
        lambda: jax.device_put(x()),
        lambda: K[gx.asarray([0])],
    ):
        with pytest.raises(UnimplementedError, match="JAX compiles this function for arrays.*" + SENTENCE):
            call()
    assert jnp.concatenate([x(), x()]).shape == (4,)
    assert jnp.sin(jnp.asarray(x())).shape == (2,)
