"""Learning rates, global steps, moving averages: the numbers and names are those of TensorFlow 2.21."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.graphs import session

Variable: Any = gx.Variable
"""What it makes in a graph has more methods than in eager code."""


@pytest.fixture
def graph() -> Any:
    with gx.Graph().as_default() as graph:
        yield graph


# The rates at the steps 0, 3, 10 and 25, as TensorFlow printed them.
RATES: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "exponential": (
        lambda step: session.exponential_decay(0.1, step, 10, 0.5),
        [0.1, 0.081225239, 0.050000001, 0.01767767],
    ),
    "exponential stairs": (
        lambda step: session.exponential_decay(0.1, step, 10, 0.5, staircase=True),
        [0.1, 0.1, 0.050000001, 0.025],
    ),
    "piecewise": (lambda step: session.piecewise_constant(step, [3, 10], [1.0, 0.5, 0.1]), [1.0, 1.0, 0.5, 0.1]),
    "polynomial": (
        lambda step: session.polynomial_decay(0.1, step, 10, 0.01, power=2.0),
        [0.1, 0.054099999, 0.0099999998, 0.0099999998],
    ),
    "polynomial cycles": (
        lambda step: session.polynomial_decay(0.1, step, 10, 0.01, power=0.5, cycle=True),
        [0.1, 0.085299402, 0.0099999998, 0.04674235],
    ),
    "cosine": (lambda step: session.cosine_decay(0.1, step, 20, 0.1), [0.1, 0.095095292, 0.054999996, 0.010000001]),
}


@pytest.mark.parametrize("name", RATES)
def test_rates(name: str, graph: gx.Graph) -> None:
    make, wanted = RATES[name]
    step = gx.placeholder("int32", shape=())
    rate = make(step)
    with gx.Session(graph=graph) as run:
        found = [run.run(rate, {step: at}) for at in (0, 3, 10, 25)]
    np.testing.assert_allclose(found, wanted, rtol=2e-5)


def test_a_rate_follows_the_global_step(graph: gx.Graph) -> None:
    w, step = Variable(1.0, name="w"), session.create_global_step()
    rate = session.piecewise_constant(step, [0], [0.5, 0.125])
    train = session.GradientDescentOptimizer(rate).minimize(w * 1.0, step)
    with gx.Session(graph=graph) as run:
        run.run(gx.global_variables_initializer())
        found = [float(run.run([train, w])[1]) for _ in range(2)]
        assert run.run([w, rate, step]) == [0.375, 0.125, 2]
    assert found == [1.0, 0.5]
    assert rate.name == "PiecewiseConstant:0"


def test_rates_refuse(graph: gx.Graph) -> None:
    with pytest.raises(InvalidArgumentError, match="global_step is required"):
        session.exponential_decay(0.1, None, 10, 0.5)
    with pytest.raises(InvalidArgumentError, match="2 values given for 2 boundaries"):
        session.piecewise_constant(gx.asarray(1), [1, 2], [0.1, 0.2])
    del graph


def test_the_global_step(graph: gx.Graph) -> None:
    assert session.get_global_step() is None
    step = session.get_or_create_global_step()
    assert session.get_or_create_global_step() is step
    assert (step.name, step.trainable, graph.get_collection("global_step")) == ("global_step:0", False, [step])
    with pytest.raises(InvalidArgumentError, match="already exists"):
        session.create_global_step()
    with gx.Graph().as_default():
        Variable(1.0, name="global_step")
        with pytest.raises(InvalidTypeError, match="expected a scalar integer"):
            session.get_global_step()


def test_moving_averages(graph: gx.Graph) -> None:
    v = Variable(1.0, name="v")
    tripled = v * 3.0
    count = Variable(2, name="n", trainable=False)
    plain = session.ExponentialMovingAverage(0.9)
    counted = session.ExponentialMovingAverage(0.9, count, name="e2")
    updates = [plain.apply([v, tripled]), counted.apply([v])]
    averages = [plain.average(v), plain.average(tripled), counted.average(v)]
    found: list[list[float]] = []
    more = v.assign_add(1.0)
    with gx.Session(graph=graph) as run:
        run.run(gx.global_variables_initializer())
        for _ in range(3):
            run.run(more)
            run.run(updates)
            found.append([float(value) for value in run.run(averages)])
    wanted = [[1.1, 0.60000014, 1.75], [1.2900001, 1.4400003, 2.6875], [1.5610001, 2.4960005, 3.671875]]
    np.testing.assert_allclose(found, wanted, rtol=2e-6)
    assert updates[0].name == "ExponentialMovingAverage"
    assert [average.name for average in averages[::2]] == ["v/ExponentialMovingAverage:0", "v/e2:0"]
    assert plain.average_name(v) == "v/ExponentialMovingAverage"
    assert plain.average(count) is None
    restored = plain.variables_to_restore()
    assert restored["v/ExponentialMovingAverage"] is v
    assert restored["n"] is count
    with pytest.raises(InvalidArgumentError, match="already computed for: v:0"):
        plain.apply([v])
    with pytest.raises(InvalidTypeError, match="Variables and tensors of floats"):
        plain.apply([count])
    with pytest.raises(UnimplementedError, match=r"divide the average by 1 - decay \*\* updates"):
        session.ExponentialMovingAverage(0.9, zero_debias=True)


def test_averages_of_what_an_update_gives(graph: gx.Graph) -> None:
    x = gx.placeholder("float32", shape=())
    w = Variable(1.0, name="w")
    train = session.GradientDescentOptimizer(0.5).minimize(w * x)
    averages = session.ExponentialMovingAverage(0.5)
    with graph.control_dependencies([train]):
        both = averages.apply()
    init = gx.global_variables_initializer()
    with gx.Session(graph=graph) as run:
        run.run(init)  # which needs no feed
        run.run(both, {x: 4.0})
        assert run.run([w, averages.average(w)]) == [-1.0, 0.0]
