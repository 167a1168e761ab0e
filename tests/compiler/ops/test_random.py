"""Random numbers: seeds, fresh draws, distributions, and the state in traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import trace_scope
from graphc.compiler.ir import EffectKind
from graphc.compiler.ops import asarray, random
from graphc.compiler.tracing import Trace

COUNT = 20_000


@pytest.fixture(autouse=True)
def _seeded() -> Iterator[None]:
    random.seed(7)
    yield
    random.seed(0)


DRAWS: dict[str, Callable[[], Any]] = {
    "normal": lambda: random.normal((4, 3)),
    "normal, with parameters": lambda: random.normal(4, "float16", loc=1.0, scale=[1.0, 2.0, 3.0, 4.0]),
    "uniform": lambda: random.uniform((4, 3)),
    "truncated_normal": lambda: random.truncated_normal(shape=(4,)),
    "exponential": lambda: random.exponential((4,)),
    "gumbel": lambda: random.gumbel((4,)),
    "gamma": lambda: random.gamma([1.0, 2.0, 3.0]),
    "poisson": lambda: random.poisson([10.0, 20.0, 300.0]),
    "randint": lambda: random.randint((8,), 0, 1000),
    "bernoulli": lambda: random.bernoulli(0.5, (40,)),
    "categorical": lambda: random.categorical(np.zeros((10, 50), np.float32)),
    "permutation": lambda: random.permutation(20),
    "choice": lambda: random.choice(1000, (5,)),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_seed_repeats_and_each_draw_is_fresh(draw: Callable[[], Any]) -> None:
    first, second = draw().tolist(), draw().tolist()
    assert first != second
    random.seed(7)
    assert [draw().tolist(), draw().tolist()] == [first, second]
    random.seed(8)
    assert draw().tolist() != first


def test_normal_moments() -> None:
    drawn = random.normal((COUNT,), loc=3.0, scale=2.0).numpy()
    assert abs(drawn.mean() - 3) < 0.08
    assert abs(drawn.std() - 2) < 0.08
    assert random.normal().shape == ()


def test_uniform_range() -> None:
    drawn = random.uniform((COUNT,), minval=-1.0, maxval=3.0).numpy()
    assert drawn.min() >= -1
    assert drawn.max() < 3
    assert abs(drawn.mean() - 1) < 0.05


def test_truncated_normal_range() -> None:
    drawn = random.truncated_normal(-0.5, 1.0, (COUNT,)).numpy()
    assert drawn.min() >= -0.5
    assert drawn.max() <= 1.0


def test_positive_distributions() -> None:
    assert abs(random.exponential(COUNT).numpy().mean() - 1) < 0.05
    assert abs(random.gamma(3.0, COUNT).numpy().mean() - 3) < 0.1
    counts = random.poisson(4.0, (COUNT,))
    assert counts.dtype == np.int32
    assert abs(counts.numpy().mean() - 4) < 0.1
    assert abs(random.gumbel((COUNT,)).numpy().mean() - np.euler_gamma) < 0.05


def test_integers_and_truth_values() -> None:
    drawn = random.randint((COUNT,), 2, 6)
    assert drawn.dtype == np.int32
    assert set(drawn.tolist()) == {2, 3, 4, 5}
    flips = random.bernoulli(0.25, (COUNT,))
    assert flips.dtype == np.bool_
    assert abs(flips.numpy().mean() - 0.25) < 0.02
    assert random.bernoulli([0.0, 1.0]).tolist() == [False, True]


def test_categorical() -> None:
    logits = np.log(np.asarray([[0.2, 0.8], [1.0, 1e-30]], np.float32))
    drawn = random.categorical(logits, shape=(COUNT, 2)).numpy()
    assert abs(drawn[:, 0].mean() - 0.8) < 0.02
    assert not drawn[:, 1].any()
    assert random.categorical(logits).shape == (2,)
    assert random.categorical(logits, axis=0).shape == (2,)


def test_permutation_and_choice() -> None:
    assert sorted(random.permutation(10).tolist()) == list(range(10))
    matrix = np.arange(12).reshape(3, 4)
    columns = random.permutation(matrix, axis=1).numpy()
    assert sorted(columns[0]) == [0, 1, 2, 3]
    np.testing.assert_array_equal(columns - columns[0], [[0] * 4, [4] * 4, [8] * 4])
    assert sorted(random.choice([5, 6, 7], (3,), replace=False).tolist()) == [5, 6, 7]
    assert set(random.choice(2, (50,), p=[0.0, 1.0]).tolist()) == {1}
    assert random.choice(matrix, (2,), axis=1).shape == (3, 2)


def test_generators_are_independent() -> None:
    one, two = random.Generator(3), random.Generator(3)
    drawn = [one.normal().item(), one.normal().item()]
    random.normal()
    assert [two.normal().item(), two.normal().item()] == drawn
    assert one.state is not two.state
    assert one.state.name != two.state.name
    assert not one.state.trainable
    assert one.state.type.shape == (2,)
    assert one.state.dtype == np.uint32


def test_state_is_made_outside_of_a_trace_and_used_in_it() -> None:
    generator = random.Generator(1)
    recording = Trace("f")
    with trace_scope(recording):
        drawn = [generator.normal((2,)), generator.uniform((2,))]
    graph = recording.finish(drawn)
    assert recording.variables == {generator.state.name: generator.state}
    kinds = [effect.kind for node in graph.nodes for effect in node.effects]
    assert kinds == [EffectKind.READ, EffectKind.WRITE, EffectKind.READ, EffectKind.WRITE]
    untouched = random.Generator(1)
    assert generator.normal((2,)).tolist() == untouched.normal((2,)).tolist()


def test_the_state_of_a_generator_made_in_a_trace_is_no_variable() -> None:
    with trace_scope(Trace("f")):
        generator = random.Generator(1)
        with pytest.raises(
            UnimplementedError, match=r"is not a Variable; make the generator outside.*\n  at .*test_random"
        ):
            _ = generator.state


def test_bad_arguments_leave_the_state_alone() -> None:
    before = random.normal.__self__.state.numpy().tolist()
    with pytest.raises(InvalidArgumentError, match=r"random.normal\(.*dtype argument to `normal` must be a float") as e:
        random.normal((2,), "int32")
    assert "test_random.py" in str(e.value)
    with pytest.raises(InvalidTypeError, match=r"random\.uniform: shape must be static"):
        random.uniform(shape=object())  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidTypeError, match="'floot' is not a dtype"):
        random.uniform((2,), "floot")
    with pytest.raises(InvalidArgumentError, match=r"random.uniform\(.*maxval: f32\[3\]"):
        random.uniform((2,), maxval=asarray([1.0, 2.0, 3.0]))
    assert random.normal.__self__.state.numpy().tolist() == before
