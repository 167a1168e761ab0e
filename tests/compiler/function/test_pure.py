"""``to_jax``: functions of graphc's under JAX's own transformations."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax as _jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.experimental import checkify

import graphc as gx
from graphc.compiler.base.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    NotFoundError,
    UnimplementedError,
    VariableCreationError,
)

jax: Any = _jax


def collatz(n: Any) -> Any:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def test_a_function_without_variables_keeps_the_signature() -> None:
    pure = gx.to_jax(collatz)
    assert pure.init(jnp.int32(3)) == {}
    steps, variables = pure({}, jnp.int32(27))
    assert isinstance(steps, jax.Array)
    assert steps == 111
    assert variables == {}


def test_stateless_takes_and_gives_nothing_else() -> None:
    pure = gx.to_jax(collatz, stateless=True)
    assert pure.__name__ == "collatz"
    assert jax.jit(jax.vmap(pure))(jnp.arange(1, 8)).tolist() == [0, 1, 7, 2, 5, 8, 16]


def test_variables_come_in_and_go_out_and_stay_as_they_are() -> None:
    total = gx.Variable(1.0, name="total")
    other = gx.Variable([1.0, 2.0], name="other")

    @gx.function
    def add(x: Any) -> Any:
        total.assign_add(gx.sum(x * other))
        return {"doubled": x * 2, "total": total.value(), "static": "text"}

    pure = gx.to_jax(add)
    variables = pure.init(np.ones(2, np.float32))
    assert list(variables) == [total.name, other.name]
    for call in (pure, lambda v, x: jax.jit(lambda v, x: (pure(v, x)[0]["total"], pure(v, x)[1]))(v, x)):
        result, new = call({**variables, "kept": 7}, jnp.asarray([3.0, 4.0]))
        assert float(new[total.name]) == 12.0
        assert new["kept"] == 7
        assert new[other.name] is variables[other.name] or new[other.name].tolist() == [1.0, 2.0]
    assert float(result) == 12.0
    assert pure({**variables, total.name: 5.0}, jnp.asarray([3.0, 4.0]))[0]["static"] == "text"
    assert total.value().item() == 1.0
    pure.assign({total.name: new[total.name]})
    assert total.value().item() == 12.0


def test_programs_that_donate_the_variables_leave_graphcs_alone() -> None:
    v = gx.Variable([1.0, 2.0], name="v")

    def step(x: Any) -> Any:
        v.assign(v + x)

    pure = gx.to_jax(step)
    variables = pure.init(1.0)
    donating = jax.jit(lambda variables, x: pure(variables, x)[1], donate_argnums=0)
    for _ in range(3):
        variables = donating(variables, jnp.float32(1.0))
    assert v.value().tolist() == [1.0, 2.0]
    pure.assign(variables)
    variables = donating(variables, jnp.float32(1.0))
    assert v.value().tolist() == [4.0, 5.0]


def test_scan_grad_and_optax_train_what_a_tape_trains() -> None:
    w = gx.Variable([0.0, 0.0], name="weights")
    steps = gx.Variable(0, name="steps", trainable=False)

    def loss(x: Any, y: Any) -> Any:
        steps.assign_add(1)
        error = gx.sum(x * w) - y
        if error < 0:
            error = error * -2.0
        return error * error

    pure = gx.to_jax(loss)
    weights, others = pure.partition(pure.init(jnp.ones(2), jnp.float32(1.0)))
    assert list(weights) == [w.name]
    assert list(others) == [steps.name]
    optimizer = optax.sgd(0.05)

    def train(state: Any, batch: Any) -> Any:
        weights, others, opt = state
        value, variables = pure({**weights, **others}, *batch)

        def objective(weights: Any) -> Any:
            return pure({**weights, **others}, *batch)

        (value, variables), gradients = jax.value_and_grad(objective, has_aux=True)(weights)
        updates, opt = optimizer.update(gradients, opt)
        return (optax.apply_updates(weights, updates), pure.partition(variables)[1], opt), value

    xs, ys = jnp.asarray([[1.0, 2.0], [0.5, -1.0], [2.0, 1.0]]), jnp.asarray([1.0, -2.0, 0.5])
    (weights, others, _), _ = jax.lax.scan(train, (weights, others, optimizer.init(weights)), (xs, ys))
    assert int(others[steps.name]) == 3
    for x, y in zip(xs, ys, strict=True):
        with gx.GradientTape() as tape:
            value = loss(gx.asarray(x), gx.asarray(y))
        w.assign_sub(0.05 * tape.gradient(value, w))
    np.testing.assert_allclose(weights[w.name], w.numpy(), rtol=1e-5)


def test_gradients_go_through_loops_that_data_ends_and_none_through_assignment() -> None:
    v = gx.Variable(2.0, name="v")

    def f(x: Any) -> Any:
        while x < 100.0:
            x = x * x * v
        v.assign(x)
        return x

    pure = gx.to_jax(f)
    variables = pure.init(2.0)
    wanted = gx.value_and_grad(f)(2.0)
    v.assign(2.0)
    np.testing.assert_allclose(jax.grad(lambda x: pure(variables, x)[0])(2.0), wanted[1].numpy())
    assert jax.grad(lambda x: pure(variables, x)[1][v.name])(2.0) == 0.0


def test_random_numbers_are_those_of_the_state_that_is_given() -> None:
    generator = gx.random.Generator(3)

    def draw(scale: Any) -> Any:
        return generator.normal((2,)) * scale

    pure = gx.to_jax(draw)
    variables = pure.init(1.0)
    (name,) = variables
    first, variables_2 = jax.jit(pure)(variables, 1.0)
    second, _ = pure(variables_2, 1.0)
    np.testing.assert_array_equal(first, draw(1.0).numpy())
    np.testing.assert_array_equal(second, draw(1.0).numpy())
    keys = jax.random.key_data(jax.random.split(jax.random.key(0), 4)).astype(variables[name].dtype)
    drawn, _ = jax.vmap(pure, in_axes=(0, None))({name: keys}, 1.0)
    assert len(set(np.asarray(drawn).ravel().tolist())) == 8


def test_variables_of_an_object_are_those_of_the_call() -> None:
    class Model:
        def __init__(self, start: float) -> None:
            self.w = gx.Variable(start, name="w")

        @gx.function
        def scaled(self, x: Any) -> Any:
            return self.w * x

    def call(model: Any, x: Any) -> Any:
        return model.scaled(x), model.w

    first, second = Model(2.0), Model(3.0)
    for model in (first, second):
        pure = gx.to_jax(model.scaled)
        variables = pure.init(1.0)
        assert list(variables) == [model.w.name]
        assert float(pure(variables, jnp.float32(5.0))[0]) == 5.0 * model.w.numpy()
    pure = gx.to_jax(call)
    assert [float(part) for part in pure({first.w.name: 7.0}, first, 2.0)[0]] == [14.0, 7.0]
    assert [float(part) for part in pure({second.w.name: 8.0}, second, 2.0)[0]] == [16.0, 8.0]


def test_variables_that_the_first_call_makes_are_made_by_init() -> None:
    class Model:
        w: Any = None

        def __call__(self, x: Any) -> Any:
            if self.w is None:
                self.w = gx.Variable(gx.ones(x.shape), name="lazy")
            self.w.assign_add(x)
            return self.w * x

    model = Model()
    pure = gx.to_jax(model)
    with pytest.raises(VariableCreationError, match=r"Model makes Variables in its first call; call \.init\(\.\.\.\)"):
        pure({}, jnp.ones(2))
    with pytest.raises(VariableCreationError):
        jax.jit(pure.init)(jnp.ones(2))
    variables = pure.init(jnp.ones(2))
    assert variables[model.w.name].tolist() == [1.0, 1.0]
    assert pure(variables, jnp.full(2, 2.0))[0].tolist() == [6.0, 6.0]


def test_structures_and_item_assignment_leave_the_arguments_alone() -> None:
    @dataclasses.dataclass
    class Pair:
        a: Any
        b: Any

    def f(pair: Any, *rest: Any, scale: Any = 1.0) -> Any:
        pair.a[0] = 10.0
        return Pair(pair.a * scale, [len(rest), {"b": pair.b}])

    given = jnp.zeros(2)
    result, _ = gx.to_jax(f)({}, Pair(given, 1.5), 1, 2, scale=jnp.float32(2.0))
    assert result.a.tolist() == [20.0, 0.0]
    assert result.b == [2, {"b": 1.5}]
    assert given.tolist() == [0.0, 0.0]


def test_the_gradient_of_a_pure_function_inside_graphc() -> None:
    pure = gx.to_jax(lambda x: gx.sin(x), stateless=True)

    def f(x: Any) -> Any:
        return gx.call_jax(jax.grad(pure), x)

    x = gx.asarray(0.3)
    for call in (f, gx.function(f)):
        np.testing.assert_allclose(call(x).numpy(), np.cos(0.3), rtol=1e-6)


def test_one_trace_for_each_combination_of_types() -> None:
    traces = []

    def f(x: Any) -> Any:
        traces.append(x.shape)
        return x + 1

    function = gx.function(f, side_effects="ignore")
    pure = gx.to_jax(function, stateless=True)
    for x in (jnp.ones(2), jnp.zeros(2), jnp.ones(3)):
        pure(x)
    assert traces == [(2,), (3,)]


def checked(x: Any) -> Any:
    assert gx.sum(x) > 0, "a {sum} below zero"
    return x * 2


def test_exceptions_are_refused_or_checks_of_checkify() -> None:
    with pytest.raises(UnimplementedError, match="checked raises AssertionError depending on tensors") as refused:
        gx.to_jax(checked)({}, jnp.ones(2))
    assert "assert gx.sum(x) > 0" in str(refused.value)
    assert "checkify.checkify(pure)" in str(refused.value)
    pure = gx.to_jax(checked, errors="checkify", stateless=True)
    assert pure(jnp.ones(2)).tolist() == [2.0, 2.0]
    found = checkify.checkify(jax.jit(pure))
    error, result = found(jnp.ones(2))
    assert error.get() is None
    assert result.tolist() == [2.0, 2.0]
    assert "AssertionError raised by checked" in found(-jnp.ones(2))[0].get()
    with pytest.raises(ValueError, match="not functionalized"):
        jax.jit(pure)(jnp.ones(2))


def test_prints_are_refused_with_their_line() -> None:
    def f(x: Any) -> Any:
        print("seen", x)
        return x

    with pytest.raises(UnimplementedError, match=r"runs Python code at each call \(print\)") as refused:
        gx.to_jax(f)({}, jnp.ones(2))
    assert 'print("seen", x)' in str(refused.value)


def test_what_a_pure_function_cannot_be() -> None:
    v = gx.Variable([1.0, 2.0], name="v")

    def uses(x: Any) -> Any:
        return v * x

    pure = gx.to_jax(uses)
    with pytest.raises(NotFoundError, match=rf"uses uses the Variable '{v.name}', which is missing in \[\]"):
        pure({}, 1.0)
    with pytest.raises(InvalidArgumentError, match=r"the Variable 'v\w*' is f32\[2\], but got .*f32\[3\]"):
        pure({v.name: jnp.ones(3)}, 1.0)
    with pytest.raises(InvalidTypeError, match="the first argument must be the Variables"):
        pure(jnp.ones(2), 1.0)
    with pytest.raises(NotFoundError, match="it has no Variable 'nothing'"):
        pure.assign({"nothing": 1.0})
    with pytest.raises(InvalidArgumentError, match="omit stateless=True"):
        gx.to_jax(uses, stateless=True)(1.0)
    with pytest.raises(InvalidArgumentError, match="errors must be 'refuse' or 'checkify', got 'drop'"):
        gx.to_jax(uses, errors="drop")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidArgumentError, match="expected a function, got 3"):
        gx.to_jax(3)  # pyright: ignore[reportArgumentType]

    def pinned(x: Any) -> Any:
        with gx.device("cpu:0"):
            return x + 1

    with pytest.raises(UnimplementedError, match="pinned pins ops to /device:CPU:0"):
        gx.to_jax(pinned)({}, jnp.ones(2))

    @gx.function
    def around(x: Any) -> Any:
        return gx.to_jax(pinned, stateless=True)(x)

    with pytest.raises(InvalidArgumentError, match="got a tensor of a compiled function"):
        around(gx.ones(2))

    def grows(x: Any) -> Any:
        found = []
        while x > 1.0:
            gx.loop_options(max_iterations=9)
            found.append(x)
            x = x / 2
        return found

    with pytest.raises(UnimplementedError, match="a list whose length depends on the values of tensors"):
        gx.to_jax(grows, errors="checkify")({}, jnp.float32(5.0))


def test_without_it_jax_cannot_follow_a_function() -> None:
    """Called by JAX as it is, a function would leave tracers in Variables."""
    total = gx.Variable([1.0, 2.0])

    @gx.function
    def pinned(x: Any) -> Any:
        with gx.device("cpu:1"):
            y = x * 2
        with gx.device("cpu:2"):
            return y + 1

    @gx.function
    def counts(x: Any) -> Any:
        return total.assign_add(x)

    for function in (pinned, counts):
        for _ in range(2):
            for transform in (jax.jit, jax.vmap, jax.grad):
                with pytest.raises(InvalidArgumentError, match=r"got a JAX tracer, .*gx\.to_jax\(f\)") as caught:
                    transform(function)(jnp.ones(2))
                assert "transform(function)(jnp.ones(2))" in str(caught.value)
            function(gx.zeros(2))  # now there is a program
    assert total.tolist() == [1, 2]
