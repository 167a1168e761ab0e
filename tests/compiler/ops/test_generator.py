"""Generators: seeds, states, new generators from one, and keys for JAX."""

from __future__ import annotations

import copy
import json
import pickle
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import (
    ConcretizationError,
    InvalidArgumentError,
    InvalidTypeError,
    UnimplementedError,
    VariableCreationError,
)

Generator = gx.random.Generator
COUNT = 20_000


def draws(generator: Any) -> list[float]:
    """What a generator draws next."""
    return [*generator.normal((3,)).tolist(), generator.uniform().item()]


def words(generator: Any) -> list[int]:
    return generator.state.tolist()


@pytest.mark.parametrize(
    "seed", [0, 7, -1, 2**31 - 1, 2**31, 2**32 - 1, -(2**31), np.int64(5), np.uint32(4_000_000_000)]
)
def test_a_seed_is_that_of_jax(seed: Any) -> None:
    assert words(Generator(seed)) == jax.random.key_data(jax.random.key(seed)).tolist()
    assert draws(Generator.from_seed(seed)) == draws(Generator(seed))


def test_its_text_says_what_it_is() -> None:
    assert repr(Generator(7)) == "<Generator, with a state of its own>"


def test_all_64_bits_of_a_seed_count() -> None:
    seeds = [0, 1, 2**32, 2**40, 2**40 + 1, -(2**40), 2**63 - 1, 2**64 - 1, -(2**63)]
    assert len({tuple(words(Generator(seed))) for seed in seeds}) == len(seeds)
    assert words(Generator(2**40 + 3)) == [256, 3]


@pytest.mark.parametrize(
    "seed",
    [gx.asarray(-3), gx.asarray(7, "uint8"), gx.asarray(-3, "int8"), np.asarray(2**32 - 1, np.uint32), jnp.asarray(5)],
    ids=str,
)
def test_a_tensor_may_be_a_seed(seed: Any) -> None:
    expected = draws(Generator(int(seed)))
    assert draws(Generator(seed)) == expected
    generator = Generator(1)
    generator.seed(seed)
    assert draws(generator) == expected

    @gx.function
    def compiled(seed: Any) -> Any:
        made = Generator(seed)
        return made.normal((3,)), made.uniform()

    np.testing.assert_allclose([*compiled(seed)[0].tolist(), compiled(seed)[1].item()], expected, rtol=1e-6)


@pytest.mark.parametrize("seed", [1.5, True, "seven", None, gx.asarray(1.5), gx.asarray(True), np.bool_(True)], ids=str)
def test_what_is_no_seed(seed: Any) -> None:
    with pytest.raises(
        InvalidTypeError, match=r"Generator: a seed must be an int of at most 64 bits, or a tensor of one, got "
    ) as error:
        Generator(seed)
    assert "test_generator.py" in str(error.value)
    generator = Generator(3)
    with pytest.raises(InvalidTypeError, match="seed: a seed must be an int"):
        generator.seed(seed)
    assert words(generator) == [0, 3]


def test_seeds_that_do_not_fit() -> None:
    with pytest.raises(InvalidArgumentError, match=r"got 18446744073709551616; take seed % 2\*\*64"):
        Generator(2**64)
    with pytest.raises(InvalidArgumentError, match=r"Generator: a seed must be an int .* got shape \(2,\)"):
        Generator(np.asarray([1, 2]))


def test_a_state_is_kept_and_put_back() -> None:
    generator = Generator(7)
    generator.normal()
    kept = json.loads(json.dumps(words(generator)))
    expected = draws(generator)
    for state in (kept, tuple(kept), np.asarray(kept), gx.asarray(np.asarray(kept, np.uint32))):
        generator.reset(state)
        assert draws(generator) == expected
        assert draws(Generator.from_state(state)) == expected
    generator.reset(kept)
    for other in (pickle.loads(pickle.dumps(generator)), copy.deepcopy(generator), copy.copy(generator)):
        assert draws(other) == expected
    assert words(generator) == kept
    assert draws(Generator.from_state(generator.state)) == expected
    key = jax.random.key(7)
    assert draws(Generator.from_state(key)) == draws(Generator.from_state(jax.random.key_data(key)))
    assert draws(Generator.from_state(key)) == draws(Generator(7))


@pytest.mark.parametrize(
    ("state", "given"),
    [
        ([1, 2, 3], "uint32[3]|u32[3]"),
        ([1.0, 2.0], "f32[2]"),
        ([-1, 2], "i32[2]"),
        (7, "~i32[]"),
        ("ab", "str 'ab'"),
        (None, "NoneType None"),
        (gx.asarray([1, 2]), "i32[2]"),
    ],
)
def test_what_is_no_state(state: Any, given: str) -> None:
    generator = Generator(3)
    for use in (generator.reset, Generator.from_state):
        with pytest.raises(
            InvalidArgumentError, match=r"expected a state: uint32\[2\], such as generator\.state"
        ) as error:
            use(state)
        assert any(f"got {text}" in str(error.value) for text in given.split("|"))
        assert "test_generator.py" in str(error.value)
    assert words(generator) == [0, 3]


def test_a_key_of_another_kind_is_no_state() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"from_state: the key is for .*rbg.*; make it with jax\.random\.key"
    ):
        Generator.from_state(jax.random.key(1, impl="rbg"))


def test_new_generators_depend_on_nothing_else() -> None:
    generator = Generator(7)
    untouched = Generator(7)
    parts = generator.split(3)
    assert words(generator) != words(untouched)
    parts += generator.spawn(1)
    parts.append(generator.fork())
    drawn = np.stack([part.normal((COUNT,)).numpy() for part in (*parts, generator, untouched)])
    correlation = np.corrcoef(drawn)
    assert np.abs(correlation - np.eye(len(drawn))).max() < 0.03
    assert np.abs(drawn.mean(1)).max() < 0.03
    assert np.abs(drawn.std(1) - 1).max() < 0.03
    again = Generator(7)
    assert [words(part) for part in again.split(3)] != [words(part) for part in parts[:3]]  # those have drawn
    assert len({tuple(words(part)) for part in Generator(7).split(50)}) == 50


def test_split_is_that_of_jax() -> None:
    generator = Generator(7)
    _, key = jax.random.split(jax.random.key(7))
    expected = jax.random.key_data(jax.random.split(key, 3)).tolist()
    assert [words(part) for part in generator.split(3)] == expected
    assert words(Generator(7).fork()) == jax.random.key_data(key).tolist()


def test_a_copy_draws_the_same() -> None:
    generator = Generator(7)
    generator.normal()
    other = generator.copy()
    assert other.state is not generator.state
    assert draws(other) == draws(generator)


def test_bad_numbers_of_parts() -> None:
    generator = Generator(3)
    with pytest.raises(InvalidArgumentError, match=r"Generator\.split: n must be at least 1, got 0"):
        generator.split(0)
    for n in (1.5, "two", True, None):
        with pytest.raises(InvalidTypeError, match=re.escape(f"Generator.split: n must be an int, got {n!r}")):
            generator.split(n)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConcretizationError, match=r"random\.split: n must be known while the function is traced"):
        gx.function(lambda n: [part.normal() for part in generator.split(n)])(gx.asarray(2))
    assert words(generator) == [0, 3]


def test_keys_are_for_jax() -> None:
    ours, theirs = Generator(7), Generator(7)
    for _ in range(2):
        key = theirs.key()
        assert isinstance(key, jax.Array)
        np.testing.assert_array_equal(ours.normal((3,)).numpy(), jax.random.normal(key, (3,)))
    assert words(ours) == words(theirs)


def test_keys_in_compiled_code() -> None:
    generator = Generator(7)

    def noisy(x: Any) -> Any:
        total = gx.zeros(2)
        for i in range(6):
            total = total + gx.call_jax(lambda x, key: x * jax.random.normal(key, (2,)), x * i, generator.key())
        return total

    eager = [noisy(gx.asarray(2.0)).numpy() for _ in range(2)]
    generator.seed(7)
    compiled = gx.function(noisy)
    np.testing.assert_allclose([compiled(gx.asarray(2.0)).numpy() for _ in range(2)], eager, rtol=1e-5)


def test_compiled_parts_draw_what_eager_ones_do() -> None:
    generator = Generator(7)

    def step(x: Any) -> Any:
        first, second = generator.split()
        while x < 100.0:
            x = x + gx.abs(first.normal()) * 10
            if x > 50.0:
                x = x + second.uniform() + generator.fork().uniform()
        return x, first.normal(), second.normal()

    eager = [[value.numpy() for value in step(gx.asarray(1.0))] for _ in range(3)]
    after = words(generator)
    generator.seed(7)
    compiled = gx.function(step)
    found = [[value.numpy() for value in compiled(gx.asarray(1.0))] for _ in range(3)]
    np.testing.assert_allclose(found, eager, rtol=1e-5)
    assert words(generator) == after
    assert found[0] != found[1]


def test_each_object_has_the_state_of_its_own_generator() -> None:
    class Noise:
        def __init__(self, seed: int) -> None:
            self.generator = Generator(seed)

    compiled = gx.function(lambda noise: noise.generator.normal())
    noises = [Noise(1), Noise(1), Noise(2)]
    drawn = [compiled(noise).item() for noise in (*noises, noises[0])]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[3] != drawn[0]
    assert words(noises[1].generator) != words(noises[0].generator)


def test_generators_of_a_compiled_function_stay_there() -> None:
    generator = Generator(7)
    compiled = gx.function(lambda: generator.split(2))
    with pytest.raises(VariableCreationError, match="makes a Generator that outlives the call again"):
        [compiled() for _ in range(2)]

    @gx.function
    def reads_state() -> Any:
        return generator.fork().state.value()

    with pytest.raises(UnimplementedError, match=r"is not a Variable; make the generator outside"):
        reads_state()


def test_integers() -> None:
    generator = Generator(7)
    counts = np.bincount(generator.integers(6, shape=(COUNT,)).numpy(), minlength=6)
    expected = COUNT / 6
    assert ((counts - expected) ** 2 / expected).sum() < 20.5  # chi-square of 5 degrees of freedom at 0.001
    drawn = generator.integers(-2, 3, (50,), "int8")
    assert drawn.dtype == gx.int8
    assert set(drawn.tolist()) == {-2, -1, 0, 1, 2}
    assert generator.integers(gx.asarray([1, 11]), gx.asarray([2, 12]), (2,)).tolist() == [1, 11]
    for bounds in ((0,), (-3,), (5, 5), (5, 2)):
        with pytest.raises(InvalidArgumentError, match=r"integers: the range from \d to below"):
            generator.integers(*bounds)


def test_the_functions_are_the_methods_of_one_generator() -> None:
    shared = gx.random.get_global_generator()
    for name in set(gx.random.__all__) - {"Generator", "get_global_generator"}:
        function = getattr(gx.random, name)
        assert function.__self__ is shared
        assert function.__func__ is getattr(Generator, name)
    kept = shared.state.numpy()
    first = draws(shared)
    shared.reset(kept)
    assert [*gx.random.normal((3,)).tolist(), gx.random.uniform().item()] == first


def test_the_index_of_a_loop_is_a_seed() -> None:
    def f(x: Any) -> Any:
        drawn = []
        for i in range(6):
            generator = Generator.from_seed(i)
            drawn.append(generator.uniform(()) * x[0])
        return drawn

    assert [value.item() for value in gx.function(f)(gx.ones(3))] == [value.item() for value in f(gx.ones(3))]
