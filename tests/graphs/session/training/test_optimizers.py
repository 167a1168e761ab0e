"""Optimizers in TensorFlow 1's form: the numbers of TensorFlow 2.21's ``compat.v1.train``, slots, what is refused."""

from __future__ import annotations

import gc
import weakref
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


# What w and b are after three steps, as TensorFlow 2.21 printed it; then the names of the Variables that it made.
RECORDED: dict[str, tuple[Callable[[], Any], tuple[list[float], float], list[str]]] = {
    "sgd": (lambda: session.GradientDescentOptimizer(0.1), ([1.00704598, -2.01409197], -0.809361935), []),
    "momentum": (
        lambda: session.MomentumOptimizer(0.1, 0.9),
        ([0.932940006, -1.86588001], -1.99529171),
        ["b/Momentum:0", "w/Momentum:0"],
    ),
    "nesterov": (
        lambda: session.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        ([1.46703291, -2.93406582], -2.34780741),
        ["b/Momentum:0", "w/Momentum:0"],
    ),
    "adam": (
        lambda: session.AdamOptimizer(0.1, 0.8, 0.9, 1e-3),
        ([0.709788024, -1.70734704], 0.202583015),
        ["b/Adam:0", "b/Adam_1:0", "beta1_power:0", "beta2_power:0", "w/Adam:0", "w/Adam_1:0"],
    ),
    "adagrad": (
        lambda: session.AdagradOptimizer(0.1),
        ([0.807187915, -1.79742455], 0.283033848),
        ["b/Adagrad:0", "w/Adagrad:0"],
    ),
    "adadelta": (
        lambda: session.AdadeltaOptimizer(0.5),
        ([0.999321818, -1.9993217], 0.499321669),
        ["b/Adadelta:0", "b/Adadelta_1:0", "w/Adadelta:0", "w/Adadelta_1:0"],
    ),
    "rmsprop": (
        lambda: session.RMSPropOptimizer(0.1),
        ([0.852969468, -1.74236703], -0.113608435),
        ["b/RMSProp:0", "b/RMSProp_1:0", "w/RMSProp:0", "w/RMSProp_1:0"],
    ),
    "rmsprop with momentum": (
        lambda: session.RMSPropOptimizer(0.1, 0.8, 0.5, 1e-3),
        ([0.733804405, -1.58230805], -0.19248648),
        ["b/RMSProp:0", "b/RMSProp_1:0", "w/RMSProp:0", "w/RMSProp_1:0"],
    ),
    "rmsprop centered": (
        lambda: session.RMSPropOptimizer(0.1, 0.8, 0.5, 1e-3, centered=True),
        ([0.745722711, -1.583992], -0.30758217),
        ["b/RMSProp:0", "b/RMSProp_1:0", "b/RMSProp_2:0", "w/RMSProp:0", "w/RMSProp_1:0", "w/RMSProp_2:0"],
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_three_steps_give_tensorflows_numbers(name: str, graph: gx.Graph) -> None:
    make, wanted, kept = RECORDED[name]
    w, b = Variable([1.0, -2.0], name="w"), Variable(0.5, name="b")
    loss = gx.sum(gx.square(w)) * b + gx.square(b)
    optimizer, step = make(), session.get_or_create_global_step()
    train = optimizer.minimize(loss, global_step=step)
    with gx.Session(graph=graph) as run:
        run.run(gx.global_variables_initializer())
        for _ in range(3):
            assert run.run(train) is None
        found = run.run([w, b])
        assert session.global_step(run, step) == 3
    np.testing.assert_allclose(found[0], wanted[0], rtol=2e-6)
    np.testing.assert_allclose(found[1], wanted[1], rtol=2e-6)
    assert [variable.name for variable in optimizer.variables()] == kept
    assert train.name == optimizer.get_name()
    assert gx.trainable_variables() == [w, b]
    assert graph.get_collection(gx.GraphKeys.TRAIN_OP) == [train]


def test_all_variables_are_updated_by_one_program(graph: gx.Graph) -> None:
    variables = [Variable(float(size), name=f"v{size}") for size in range(20)]
    train = session.AdamOptimizer(0.1).minimize(sum((v * v for v in variables), gx.asarray(0.0)))
    with gx.Session(graph=graph) as run:
        run.run(gx.global_variables_initializer())
        before = len(run.compile_log)
        run.run(train)
        run.run(train)
        assert len(run.compile_log) - before == 1
    updates = [operation for operation in graph.get_operations() if operation.node.op.name == "train.update"]
    assert len(updates) == 1


def test_rates_may_be_tensors_feeds_and_functions(graph: gx.Graph) -> None:
    w = Variable(8.0, name="w")
    rate = gx.placeholder("float32", shape=())
    fed = session.GradientDescentOptimizer(rate).minimize(w * w)
    halved = session.MomentumOptimizer(lambda: 0.25, rate * 0.0).minimize(w * w, name="halved")
    with gx.Session(graph=graph) as run:
        run.run(gx.global_variables_initializer())
        run.run(fed, {rate: 0.25})
        assert run.run(w) == 4.0
        run.run(fed, {rate: 0.5})
        assert run.run(w) == 0.0
        w.load(2.0, run)
        run.run(halved, {rate: 9.0})
        assert run.run(w) == 1.0
    assert halved.name == "halved"


def test_gradients_may_be_changed_between(graph: gx.Graph) -> None:
    w, unused, count = Variable([3.0, 4.0], name="w"), Variable(1.0, name="unused"), Variable(0, name="count")
    optimizer = session.GradientDescentOptimizer(1.0)
    pairs = optimizer.compute_gradients(gx.sum(w * w))
    missing = [(gradient is None, variable) for gradient, variable in pairs]
    assert missing == [(False, w), (True, unused), (True, count)]
    train = optimizer.apply_gradients([(g if g is None else g * 0.25, v) for g, v in pairs])
    with gx.Session(graph=graph) as run:
        run.run(gx.global_variables_initializer())
        run.run(train)
        assert run.run(w).tolist() == [1.5, 2.0]


def test_slots(graph: gx.Graph) -> None:
    w = Variable([1.0, 1.0], name="w")
    optimizer = session.MomentumOptimizer(0.1, 0.5)
    train = optimizer.minimize(gx.sum(w * 3.0))
    slot = optimizer.get_slot(w, "momentum")
    assert optimizer.get_slot_names() == ["momentum"]
    assert optimizer.get_slot(w, "other") is None
    with gx.Session(graph=graph) as run:
        run.run(gx.global_variables_initializer())
        run.run(train)
        run.run(train)
        assert run.run(slot).tolist() == [4.5, 4.5]


def test_variables_on_several_devices(graph: gx.Graph) -> None:
    with gx.device("cpu:1"):
        a = Variable(1.0, name="a")
    with gx.device("cpu:2"):
        b = Variable(2.0, name="b")
    optimizer = session.AdamOptimizer(0.1)
    train = optimizer.minimize(gx.square(a) + gx.square(b))
    assert optimizer.get_slot(a, "m").device == a.device
    with gx.Session(graph=graph) as run:
        run.run(gx.global_variables_initializer())
        run.run(train)
        np.testing.assert_allclose(run.run([a, b]), [0.9, 1.9], rtol=1e-5)
        held = run.state.find("b")
        assert held is not None
        assert held.device == "/device:CPU:2"


def test_constraints_hold_after_each_update(graph: gx.Graph) -> None:
    w = Variable(1.0, name="w", constraint=lambda value: gx.maximum(value, 0.25))
    train = session.GradientDescentOptimizer(1.0).minimize(w * w)
    with gx.Session(graph=graph) as run:
        run.run(gx.global_variables_initializer())
        run.run(train)
        assert run.run(w) == 0.25


def test_a_variable_of_open_shape_is_trained(graph: gx.Graph) -> None:
    w = Variable(np.ones((2, 3), np.float32), name="w", validate_shape=False)
    train = session.MomentumOptimizer(0.5, 0.5).minimize(gx.sum(w * w))
    with gx.Session(graph=graph) as run:
        run.run(gx.global_variables_initializer())
        run.run(train)
        assert run.run(w).tolist() == [[0.0] * 3] * 2


def test_what_is_refused(graph: gx.Graph) -> None:
    w, n = Variable(1.0, name="w"), Variable(1, name="n", trainable=False)
    optimizer = session.GradientDescentOptimizer(0.1)
    with pytest.raises(InvalidArgumentError, match=r"No gradients provided for any variable, check.*'w:0'"):
        optimizer.minimize(gx.asarray(1.0))
    with pytest.raises(InvalidArgumentError, match=r"No gradients provided for any variable, check.*'n:0'"):
        optimizer.minimize(w * w, var_list=[n])
    with pytest.raises(InvalidTypeError, match="no Variable of floats"):
        optimizer.apply_gradients([(1.0, n)])
    with pytest.raises(InvalidTypeError, match="optimizers update Variables of a graph, got GraphTensor"):
        optimizer.minimize(w * w, var_list=[w * 2.0])
    with pytest.raises(InvalidTypeError, match="the loss must be a tensor of a graph, got function"):
        optimizer.minimize(lambda: w * w)
    with pytest.raises(InvalidTypeError, match="call minimize outside of the branch"):
        session.cond(gx.placeholder("bool", ()), lambda: optimizer.minimize(w * w), session.no_op)
    with pytest.raises(InvalidArgumentError, match="No variables provided"):
        optimizer.apply_gradients([])
    with pytest.raises(InvalidArgumentError, match="No gradients provided for any variable: \\['w:0'\\]"):
        optimizer.apply_gradients([(None, w)])
    with pytest.raises(InvalidArgumentError, match="has shape \\[2\\]"):
        optimizer.apply_gradients([([1.0, 2.0], w)])
    with pytest.raises(InvalidTypeError, match="expected floats"):
        optimizer.apply_gradients([(1, w)])
    with pytest.raises(InvalidArgumentError, match="must be positive"):
        session.AdagradOptimizer(0.1, 0.0)
    with pytest.raises(InvalidArgumentError, match="Must specify the optimizer name"):
        session.GradientDescentOptimizer(0.1, name="")
    with pytest.raises(UnimplementedError, match="no FTRL rule"):
        session.FtrlOptimizer(0.1)
    with gx.Graph().as_default(), pytest.raises(InvalidArgumentError, match="No variables to optimize"):
        optimizer.minimize(gx.asarray(1.0))


def test_what_is_kept_is_named_in_the_scope_that_is_open(graph: gx.Graph) -> None:
    w = Variable(1.0, name="w")
    with gx.variable_scope("train"):
        session.AdamOptimizer(0.1).minimize(w * w)
        session.ExponentialMovingAverage(0.9).apply([w])
        session.create_global_step()
    with graph.name_scope("again"):
        session.MomentumOptimizer(0.1, 0.9).minimize(w * w)
    names = [variable.name.removesuffix(":0") for variable in session.global_variables()]
    # As TensorFlow 2.21 has them.
    assert names == [
        "w", "train/beta1_power", "train/beta2_power", "train/w/Adam", "train/w/Adam_1",
        "train/w/ExponentialMovingAverage", "train/global_step", "w/Momentum",
    ]  # fmt: skip


def test_a_graph_that_was_trained_is_collected() -> None:
    def trained() -> weakref.ref[Any]:
        with gx.Graph().as_default() as graph:
            with gx.variable_scope("layer"):
                w = gx.get_variable("w", [2])
            train = session.AdamOptimizer(0.1).minimize(gx.sum(w * w))
            init = gx.global_variables_initializer()
        with gx.Session(graph=graph) as run:
            run.run(init)
            run.run(train)
        return weakref.ref(graph)

    found = trained()
    gc.collect()
    assert found() is None
