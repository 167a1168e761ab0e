"""The while loop that has gradients: the same as those of a scan of as many iterations, whatever their number."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from graphc.compiler.ops.derivatives.modes import SLOTS, is_stored, repeated, slots_for
from graphc.compiler.ops.derivatives.reverse_while import while_loop
from graphc.compiler.ops.host import is_replaying, replaying
from tests.draws import examples


def counted(
    step: Callable[..., Any], carry: Any, invariant: Any, trips: Any, slots: int = SLOTS, *, stores: bool = True
) -> Any:
    """``trips`` iterations, a number known at run time."""
    return while_loop(
        lambda state, others: state[0] < others[0],
        lambda state, others: (state[0] + 1, step(state[1], others[1])),
        (0, carry),
        (trips, invariant),
        slots,
        stores=stores,
    )[1]


def scanned(
    step: Callable[..., Any], carry: Any, invariant: Any, trips: Any, slots: int = SLOTS, longest: int | None = None
) -> Any:
    """The same by JAX, the number known beforehand, or at most ``longest``: one program for all numbers."""
    del slots

    def body(state: Any, index: Any) -> Any:
        following = step(state, invariant)
        if longest is not None:
            following = jax.tree.map(lambda new, old: jnp.where(index < trips, new, old), following, state)
        return following, None

    return lax.scan(body, carry, jnp.arange(trips if longest is None else longest))[0]


def mix(state: Any, invariant: Any) -> Any:
    """A body in which everything depends on everything, and nothing dies out or grows."""
    x, y = state
    a, b = invariant
    return jnp.tanh(a * x + y[::-1]) + 0.1 * jnp.sin(x), 0.9 * y + b * x


STATE = (jnp.asarray([0.3, -0.7], jnp.float32), jnp.asarray([1.1, 0.2], jnp.float32))
INVARIANT = (jnp.float32(0.8), jnp.asarray([0.3, -0.2], jnp.float32))


def score(loop: Any, state: Any, invariant: Any, trips: Any, slots: int = SLOTS) -> Any:
    x, y = loop(mix, state, invariant, trips, slots)
    return jnp.sum(x * jnp.asarray([1.0, 2.0])) + jnp.sum(y * y)


def assert_close(found: Any, expected: Any, tolerance: float = 2e-4) -> None:
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(
            np.asarray(one, np.complex64), np.asarray(other, np.complex64), rtol=tolerance, atol=tolerance
        )


@cache
def gradient(slots: int, stores: bool) -> Any:
    return jax.jit(jax.grad(partial(score, partial(counted, stores=stores), slots=slots), argnums=(0, 1)))


@cache
def gradient_by_scan(longest: int) -> Any:
    return jax.jit(jax.grad(partial(score, partial(scanned, longest=longest)), argnums=(0, 1)))


@pytest.mark.parametrize("stores", [False, True])
@pytest.mark.parametrize("trips", [0, 1, 2, SLOTS - 1, SLOTS, SLOTS + 1, SLOTS * SLOTS + 3, 5000])
def test_the_gradient_of_any_number_of_iterations(trips: int, stores: bool) -> None:
    assert_close(gradient(SLOTS, stores)(STATE, INVARIANT, trips), gradient_by_scan(5000)(STATE, INVARIANT, trips))


@settings(max_examples=examples(25), deadline=None)
@given(slots=st.sampled_from([2, 3, 5, 9]), stores=st.booleans(), trips=st.integers(0, 70))
def test_the_gradient_with_any_number_of_checkpoints(slots: int, stores: bool, trips: int) -> None:
    assert_close(gradient(slots, stores)(STATE, INVARIANT, trips), gradient(SLOTS, False)(STATE, INVARIANT, trips))


def slope(function: Callable[..., Any], order: int) -> Callable[..., Any]:
    """The gradient of a function of two numbers; of its sum, if of a higher order."""
    gradient = jax.grad(function, (0, 1))
    return gradient if order == 1 else slope(lambda *args: sum(gradient(*args)), order - 1)


@pytest.mark.parametrize(
    ("order", "stores", "numbers"),
    [(2, False, (0, 1, 2, SLOTS + 5, 150)), (2, True, (0, 1, 2, SLOTS, 150)), (3, True, (0, 1, 3, SLOTS + 1))],
)
def test_gradients_of_gradients(order: int, stores: bool, numbers: tuple[int, ...]) -> None:
    def function(loop: Any, x: Any, w: Any, trips: Any) -> Any:
        return loop(lambda x, w: jnp.sin(x) * w + 0.1, x, w, trips)

    found = jax.jit(slope(partial(function, partial(counted, stores=stores)), order))
    expected = jax.jit(slope(partial(function, partial(scanned, longest=max(numbers))), order))
    for trips in numbers:
        assert_close(found(0.7, 1.1, trips), expected(0.7, 1.1, trips), 2e-3)


@jax.custom_vjp
def clipped(x: Any) -> Any:
    """The identity, with a pullback that is not linear."""
    return x


clipped.defvjp(lambda x: (x, None), lambda _, cotangent: (jnp.tanh(cotangent),))


def test_gradients_of_gradients_where_a_pullback_is_not_linear() -> None:
    def step(x: Any, w: Any) -> Any:
        return clipped(jnp.sin(x) * w)

    def by_hand(x: Any, w: Any, trips: Any) -> Any:
        """The gradient with respect to x as a tape computes it: step by step forwards, and step by step back."""
        indices = jnp.arange(SLOTS + 2)

        def back(cotangent: Any, row: Any) -> Any:
            state, index = row
            (earlier,) = jax.vjp(lambda x: step(x, w), state)[1](cotangent)
            return jnp.where(index < trips, earlier, cotangent), None

        _, states = lax.scan(lambda x, index: (jnp.where(index < trips, step(x, w), x), x), x, indices)
        return lax.scan(back, jnp.float32(1), (states, indices), reverse=True)[0]

    found = jax.jit(jax.grad(jax.grad(lambda x, w, trips: counted(step, x, w, trips)), argnums=(0, 1)))
    expected = jax.jit(jax.grad(by_hand, (0, 1)))
    for trips in (0, 1, 2, 7, SLOTS + 2):
        assert_close(found(0.7, 1.3, trips), expected(0.7, 1.3, trips), 1e-3)


def test_what_is_carried_may_be_of_any_dtype() -> None:
    def step(state: Any, invariant: Any) -> Any:
        weak, half, wave, flag, count, key, empty = state
        w, turn, shift = invariant
        key, using = jax.random.split(key)
        noise = jax.random.uniform(using, (2,))
        return (
            weak * 0.5,
            (half * w).astype(jnp.bfloat16) + jnp.bfloat16(0.25),
            wave * turn + noise + jnp.where(flag, weak, 0.0),
            ~flag,
            count + shift,
            key,
            empty * w,
        )

    def function(loop: Any, weak: Any, half: Any, wave: Any, empty: Any, w: Any, turn: Any, trips: Any) -> Any:
        state = (weak, half, wave, jnp.asarray(True), jnp.int32(3), jax.random.key(1), empty)
        weak, half, wave, _, count, _, empty = loop(step, state, (w, turn, jnp.int32(2)), trips)
        outputs = weak * half.astype(jnp.float32), jnp.abs(wave) ** 2, empty
        return sum(jnp.sum(output) for output in outputs) * count

    args = (
        2.0,
        jnp.asarray([[0.5, 1.5]], jnp.bfloat16),
        jnp.asarray([1 + 2j, -0.5j], jnp.complex64),
        jnp.zeros((0, 3)),
        jnp.float32(0.9),
        jnp.complex64(0.6 - 0.7j),
    )
    gradient = jax.jit(jax.grad(partial(function, counted), argnums=range(6)))
    expected = jax.jit(jax.grad(partial(function, partial(scanned, longest=SLOTS + 1)), argnums=range(6)))
    for trips in (0, 1, 5, SLOTS + 1):
        assert_close(gradient(*args, trips), expected(*args, trips), 2e-2)


def test_weak_types_stay() -> None:
    def outputs(x: Any, y: Any) -> Any:
        return while_loop(lambda s, _: s[0] < 3, lambda s, _: (s[0] + 1, s[1] * 2), (0, x), ())[1] * y

    y = jnp.asarray([1.5], jnp.bfloat16)
    value, gradients = jax.jit(jax.value_and_grad(lambda x, y: jnp.sum(outputs(x, y)), argnums=(0, 1)))(2.0, y)
    assert value.dtype == outputs(2.0, y).dtype == jnp.bfloat16
    assert [(g.dtype, np.float32(g).tolist()) for g in gradients] == [(jnp.float32, 12.0), (jnp.bfloat16, [16.0])]


def test_a_value_for_the_test_alone_does_not_spoil_the_gradient() -> None:
    """The norm of a step has an infinite derivative once the step is zero, which no cotangent must meet."""

    def root(a: Any) -> Any:
        def step(state: Any, a: Any) -> Any:
            x, _ = state
            following = (x + a / x) / 2
            following = lax.cond(following > 0, lambda x: x, lambda x: -x, following)
            return following, jnp.sqrt((following - x) ** 2)

        return while_loop(lambda state, _: state[1] > 0, step, (a, jnp.inf), a)[0]

    assert jax.jit(root)(4.0) == 2.0
    assert jax.jit(jax.grad(root))(4.0) == 0.25
    assert_close(jax.jit(jax.grad(jax.grad(root)))(4.0), jnp.float32(-1 / 32))


def test_cotangents_of_some_outputs_only() -> None:
    def function(x: Any, y: Any, w: Any) -> Any:
        return counted(lambda s, w: (s[0] * w, s[1] * 2, jnp.log(s[2])), (x, y, 0.0), w, 3)

    @jax.jit
    def some(x: Any, y: Any, w: Any) -> Any:
        outputs, pull = jax.vjp(function, x, y, w)
        return outputs, pull((1.0, 0.0, 0.0)), jax.grad(lambda *args: function(*args)[1], (0, 1, 2))(x, y, w)

    outputs, of_the_first, of_the_second = some(2.0, 3.0, 0.5)
    assert outputs[:2] == (0.25, 24.0)
    assert [float(value) for value in of_the_first] == [0.125, 0.0, 1.5]
    assert [float(value) for value in of_the_second] == [0, 8, 0]


@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    ("kind", "order"),
    [("while in while", 2), ("while in scan", 2), ("scan in while", 1), ("cond in while", 1), ("while in cond", 1)],
)
def test_nested(kind: str, order: int) -> None:
    def wave(x: Any, w: Any) -> Any:
        return jnp.sin(x * w) + 0.2

    def function(inner: Any, outer: Any, x: Any, w: Any, trips: Any) -> Any:
        def body(x: Any, others: Any) -> Any:
            w, trips = others
            trips = 4 if inner is scanned else trips
            if kind == "cond in while":
                return lax.cond(x > 0.5, lambda: jnp.cos(x) * w, lambda: x + w)
            return inner(wave, x, w, trips) * w

        if kind == "while in cond":
            return lax.cond(x > 0, lambda: inner(wave, x, w, trips), lambda: x)
        return outer(body, x, (w, trips), 5)

    inner, outer = {"while in scan": (counted, scanned), "scan in while": (scanned, counted)}.get(kind, (counted,) * 2)

    found = jax.jit(slope(lambda x, w: function(inner, outer, x, w, 4), order))(0.3, 1.4)
    expected = jax.jit(slope(lambda x, w: function(scanned, scanned, x, w, 4), order))
    assert_close(found, expected(0.3, 1.4), 1e-3)


def test_under_vmap() -> None:
    def function(x: Any, limit: Any) -> Any:
        return while_loop(lambda x, limit: x < limit, lambda x, limit: x * x + 0.01 * limit, x, limit, stores=True)

    x, limit = jnp.asarray([1.5, 3.0, 9.0]), jnp.asarray([1000.0, 10.0, 1.0])
    found = jax.jit(jax.vmap(jax.grad(function, (0, 1))))(x, limit)
    alone = jax.jit(jax.grad(function, (0, 1)))
    expected = [alone(*pair) for pair in zip(x, limit, strict=True)]
    assert_close(found, tuple(jnp.stack(column) for column in zip(*expected, strict=True)))


def test_without_a_gradient_it_is_the_plain_loop() -> None:
    def test(state: Any) -> Any:
        return state[0] < 10

    def body(state: Any) -> Any:
        return state[0] + 1, jnp.sin(state[1])

    def ours(x: Any) -> Any:
        return while_loop(lambda state, _: test(state), lambda state, _: body(state), (0, x), ())[1]

    def plain(x: Any) -> Any:
        return lax.while_loop(test, body, (0, x))[1]

    texts = [jax.jit(function).lower(1.0).as_text().replace("ours", "plain") for function in (ours, plain)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(("order", "stores"), [(1, False), (1, True), (2, False), (2, True)])
def test_memory_does_not_grow_with_the_iterations(order: int, stores: bool) -> None:
    def function(x: Any, w: Any) -> Any:
        return jnp.sum(counted(lambda x, w: jnp.sin(x) * w, x, w, 10_000, stores=stores))

    x, w = jnp.linspace(0, 1, 10_000), jnp.float32(0.9)
    for _ in range(order - 1):
        function = jax.grad(function, 1)
    compiled = jax.jit(jax.grad(function)).lower(x, w).compile()
    assert compiled.memory_analysis().temp_size_in_bytes < 1.2 * order * SLOTS * x.nbytes


@pytest.mark.parametrize(
    ("floats", "bound", "slots"),
    [
        (1, None, 1024),
        (10_000, None, SLOTS),
        (2_000, None, 131),
        (10**9, None, SLOTS),
        (1, 5000, 5000),
        (10_000, 5000, 209),
        (10**9, 5000, SLOTS),
        (10**9, 3, 3),
    ],
)
def test_a_bound_makes_more_slots_while_they_are_small(floats: int, bound: int | None, slots: int) -> None:
    carry = [jax.ShapeDtypeStruct((floats,), jnp.float32), jax.ShapeDtypeStruct((), jnp.int32)]
    assert slots_for(carry, bound) == slots


def test_small_values_are_stored_but_not_where_jax_would_keep_them_for_each_iteration() -> None:
    small, large = [jnp.zeros(1000)], [jnp.zeros(100_000)]
    assert is_stored(small)
    assert not is_stored(large)
    with repeated():
        assert not is_stored(small)


def evaluations(trips: int, slots: int, stores: bool) -> int:
    """How often the body is evaluated for a gradient."""
    calls: list[None] = []

    def step(x: Any, invariant: Any) -> Any:
        jax.debug.callback(lambda: calls.append(None))
        return jnp.sin(x)

    jax.block_until_ready(jax.jit(jax.grad(lambda x: counted(step, x, (), trips, slots, stores=stores)))(1.0))
    jax.effects_barrier()
    return len(calls)


@pytest.mark.parametrize(
    ("trips", "slots", "stores", "times"),
    [
        (1, SLOTS, False, 2), (SLOTS, SLOTS, False, 3), (SLOTS + 1, SLOTS, False, 3), (20 * SLOTS, SLOTS, False, 4.5),
        (700, 700, False, 3), (200, 2, False, 110), (SLOTS, SLOTS, True, 2), (SLOTS + 1, SLOTS, True, 3),
    ],
)  # fmt: skip
def test_how_often_the_body_is_evaluated(trips: int, slots: int, stores: bool, times: float) -> None:
    """Once forwards, once for the derivative, and in between for what was not kept."""
    assert evaluations(trips, slots, stores) <= times * trips


@pytest.mark.parametrize(("order", "nested"), [(0, False), (1, True), (2, False)])
def test_what_a_body_does_to_the_world_is_done_once(order: int, nested: bool) -> None:
    calls: list[None] = []

    def step(x: Any, invariant: Any) -> Any:
        if not is_replaying():
            jax.debug.callback(lambda: calls.append(None))
        return jnp.sin(x)

    def function(x: Any) -> Any:
        if nested:
            return counted(lambda x, _: counted(step, x, (), 3), x, (), 4)
        return counted(step, x, (), 12)

    for _ in range(order):
        function = jax.grad(function)
    jax.block_until_ready(jax.jit(function)(1.0))
    jax.effects_barrier()
    assert len(calls) == 12
    with replaying():
        jitted = jax.jit(lambda x: function(x))
        jitted(1.0)
    jax.effects_barrier()
    assert len(calls) == 12


def test_the_forward_loop_stands_in_the_program_once() -> None:
    def function(x: Any) -> Any:
        return jnp.sum(counted(lambda x, _: jnp.sin(x), x, (), 100))

    text = jax.jit(jax.value_and_grad(function)).lower(jnp.ones(5)).compile().as_text()
    entry = text[text.index("ENTRY") :]
    assert len(re.findall(r" while\(| call\(", entry)) == 2, "one loop forwards and one backwards"


def test_a_loop_of_integers_is_that_of_jax_and_may_stand_in_what_is_differentiated() -> None:
    def count(x: Any) -> Any:
        return while_loop(lambda n, x: x * n < 10.0, lambda n, x: n + 1, 1, x)

    assert "custom_vjp" not in str(jax.make_jaxpr(count)(2.0))

    def summed(x: Any) -> Any:
        def step(total: Any, _: Any) -> Any:
            return lax.cond(total < 50.0, lambda t: t * x + count(x), lambda t: t, total), None

        return lax.scan(step, x, None, length=4)[0]

    # For x = 2 the count is 5, and three iterations add it: 2, 9, 23, 51.
    one, two = jax.value_and_grad(summed)(2.0), jax.grad(jax.grad(summed))(2.0)

    def by_hand(x: Any) -> Any:
        return ((x * x + 5) * x + 5) * x + 5

    np.testing.assert_allclose(one, jax.value_and_grad(by_hand)(2.0))
    np.testing.assert_allclose(two, jax.grad(jax.grad(by_hand))(2.0))
