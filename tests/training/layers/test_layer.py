"""Layer: what users derive from. Building, Variables, training, conversion of Python control flow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidTypeError, UnimplementedError


class Gate(gx.layers.Layer):
    """Doubles what is positive in sum; counts how often it is built."""

    times_built = 0

    def build(self, input_shape: Any) -> None:
        self.times_built += 1
        self.shift = gx.Variable(gx.zeros(input_shape[-1]), name="shift")

    def call(self, x: Any) -> Any:
        x = x + self.shift
        if gx.sum(x) > 0:
            y = x * 2.0
        else:
            y = -x
        return y


class Steps(gx.layers.Layer):
    """Halves until the sum is small: a loop whose length the values decide."""

    def call(self, x: Any) -> Any:
        while gx.sum(x) > 1.0:
            x = x / 2.0
        return x


class Net(gx.layers.Layer):
    """Layers and variables in attributes, lists and dicts."""

    def __init__(self) -> None:
        super().__init__()
        self.first = gx.layers.Dense(3, in_features=2, name="first")
        self.rest = [
            gx.layers.Dense(3, in_features=3, use_bias=False, name="rest"),
            {"scale": gx.Variable(1.0, name="s")},
        ]
        self.again = self.first
        self.count = gx.Variable(0, trainable=False, name="count")
        self.table = {"b": gx.layers.Dense(1, in_features=3, name="b"), "a": (gx.Variable(2.0, name="a"),)}

    def call(self, x: Any) -> Any:
        return x


def test_variables_are_found_once_in_the_order_of_attributes() -> None:
    net = Net()
    wanted = [
        net.first.kernel, net.first.bias, net.rest[0].kernel, net.rest[1]["scale"], net.count,
        net.table["b"].kernel, net.table["b"].bias, net.table["a"][0],
    ]  # fmt: skip
    assert [id(variable) for variable in net.variables] == [id(variable) for variable in wanted]
    assert [id(variable) for variable in net.trainable_variables] == [id(v) for v in wanted if v is not net.count]


def test_layers_that_hold_each_other_are_walked_once() -> None:
    outer, inner = gx.layers.Sequential([]), gx.layers.Dense(1, in_features=1)
    outer.layers.append(inner)
    inner.parent = outer  # pyright: ignore[reportAttributeAccessIssue]
    assert len(outer.variables) == len(inner.variables) == 2


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("x", "wanted"), [([1.0, 2.0], [2.0, 4.0]), ([-1.0, -2.0], [1.0, 2.0])])
def test_python_branches_on_tensors_in_a_users_layer(x: list[float], wanted: list[float], compiled: bool) -> None:
    layer = Gate()
    run = gx.function(lambda x: layer(x)) if compiled else layer
    for _ in range(2):
        assert run(gx.asarray(x)).tolist() == wanted
    assert layer.times_built == 1


def test_both_branches_are_in_one_trace() -> None:
    layer = Gate()
    run = gx.function(lambda x: layer(x))
    run(gx.asarray([1.0, 2.0]))
    assert run(gx.asarray([1.0, 2.0])).tolist() == [2.0, 4.0]
    assert run(gx.asarray([-1.0, -2.0])).tolist() == [1.0, 2.0]
    assert run.num_traces == 1
    assert "cond" in {node.op.name for node in run.graph(gx.asarray([1.0, 2.0])).nodes}


@pytest.mark.parametrize(
    "model", [Steps(), gx.layers.Sequential([Steps(), gx.nn.relu])], ids=["alone", "in Sequential"]
)
def test_python_loops_on_tensors_are_converted_inside_containers(model: gx.layers.Layer) -> None:
    run = gx.function(lambda x: model(x))
    assert run(gx.asarray([8.0, 8.0])).tolist() == model(gx.asarray([8.0, 8.0])).tolist() == [0.5, 0.5]
    assert "while" in {node.op.name for node in run.graph(gx.asarray([8.0, 8.0])).nodes}


def test_a_model_can_be_decorated_itself() -> None:
    model = gx.layers.Sequential([gx.layers.Dense(2, kernel_initializer="ones")])
    run = gx.function(model)
    x = gx.asarray([[1.0, 2.0]])
    assert run(x).tolist() == run(x).tolist() == [[3.0, 3.0]]
    assert run.num_traces == 1


def test_a_compiled_function_in_a_layer_trains_when_the_layer_does() -> None:
    class Compiled(gx.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.drop = gx.layers.Dropout(0.5)
            self.run = gx.function(lambda x: self.drop(x))

        def call(self, x: Any) -> Any:
            return self.run(x)

    layer, x = Compiled(), gx.ones(100)
    for training in (False, True, False, True):
        assert (0.0 in layer(x, training=training).tolist()) == training
    assert layer.run.num_traces == 2
    whole = gx.function(lambda x: (layer(x, training=True), layer(x)))
    for _ in range(2):
        assert [0.0 in result.tolist() for result in whole(x)] == [True, False]
    assert whole.num_traces == 1


def test_lazily_built_layers_in_a_compiled_function() -> None:
    model = gx.layers.Sequential([gx.layers.Dense(4, "tanh"), gx.layers.Dense(1)])

    @gx.function
    def run(x: Any) -> Any:
        return model(x)

    x = gx.asarray(np.ones((2, 3), "float32"))
    first = run(x)
    built = [id(variable) for variable in model.variables]
    assert len(built) == 4
    np.testing.assert_allclose(run(x).numpy(), first.numpy(), rtol=1e-6)
    assert [id(variable) for variable in model.variables] == built
    assert run.num_traces == 1


def test_compiled_methods_of_two_models_share_one_trace() -> None:
    class Trainer:
        def __init__(self, factor: float) -> None:
            self.model = gx.layers.Dense(1, kernel_initializer=gx.ones, in_features=2)
            self.optimizer = gx.optim.SGD(0.1, momentum=0.5)
            self.optimizer.build(self.model.trainable_variables)
            assert self.model.kernel is not None
            self.model.kernel.assign([[factor], [factor]])

        @gx.function
        def step(self, x: Any) -> Any:
            return self.optimizer.minimize(lambda: gx.sum(self.model(x)), self.model.trainable_variables)

    x = gx.asarray([[1.0, 2.0]])
    one, two = Trainer(1.0), Trainer(10.0)
    assert [one.step(x).item(), two.step(x).item()] == [3.0, 30.0]
    np.testing.assert_allclose([one.step(x).item(), two.step(x).item()], [2.4, 29.4], rtol=1e-6)
    assert Trainer.step.num_traces == 1


class Mode(gx.layers.Layer):
    """Returns 1 while training, 0 otherwise."""

    def call(self, x: Any, training: bool = False) -> Any:
        return x * 0 + (1 if training else 0)


def test_training_reaches_inner_layers() -> None:
    class Outer(gx.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.inner = gx.layers.Sequential([Mode()])

        def call(self, x: Any) -> Any:
            return gx.stack([self.inner(x), self.inner(x, training=False), self.inner(x)])

    outer = Outer()
    x = gx.asarray(0)
    for run in (outer, gx.function(outer)):
        assert run(x, training=True).tolist() == [1, 0, 1]
        assert run(x).tolist() == run(x, training=False).tolist() == [0, 0, 0]


def test_training_ends_with_the_call_also_when_it_fails() -> None:
    class Fails(gx.layers.Layer):
        def call(self, x: Any) -> Any:
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        Fails()(1.0, training=True)
    assert Mode()(gx.asarray(0)).item() == 0


def test_training_must_be_known() -> None:
    layer = Mode(name="mode")
    with pytest.raises(InvalidTypeError, match=r"(?s)layer 'mode': training must be True or False.*test_layer.py"):
        layer(gx.asarray(0), training=gx.asarray(True))  # pyright: ignore[reportArgumentType]
    assert layer(gx.asarray(0), training=np.bool_(True)).item() == 1


def test_a_layer_without_call_says_so() -> None:
    class Empty(gx.layers.Layer):
        pass

    with pytest.raises(UnimplementedError, match=r"(?s)Empty is a Layer without a call method.*test_layer.py"):
        Empty()(1.0)


def test_layers_of_several_inputs_and_of_none() -> None:
    class Add(gx.layers.Layer):
        def call(self, a: Any, b: Any, *, times: int = 1) -> Any:
            return (a + b) * times

    class Constant(gx.layers.Layer):
        def build(self, input_shape: Any) -> None:
            assert input_shape is None
            self.value = gx.Variable(3.0)

        def call(self) -> Any:
            return self.value + 0.0

    assert Add()(gx.asarray(1.0), 2.0, times=3).item() == 9.0
    assert Constant()().item() == 3.0


def test_a_users_layer_may_override_dunder_call() -> None:
    class Own(gx.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.w = gx.Variable(2.0)

        def __call__(self, x: Any) -> Any:
            if x > 0:
                x = x * self.w
            return x

    model = gx.layers.Sequential([Own()])
    run = gx.function(lambda x: model(x))
    assert [run(gx.asarray(3.0)).item(), run(gx.asarray(-3.0)).item()] == [6.0, -3.0]
    assert len(model.trainable_variables) == 1


def test_names_begin_the_names_of_the_variables() -> None:
    named, plain = gx.layers.Dense(1, in_features=1, name="head"), gx.layers.Dense(1, in_features=1)
    assert [named.name, plain.name] == ["head", "dense"]
    assert named.kernel is not None
    assert plain.kernel is not None
    assert named.kernel.name.startswith("head/kernel")
    assert plain.kernel.name.startswith("dense/kernel")
    assert [repr(named), repr(plain)] == ["<Dense 'head'>", "<Dense 'dense'>"]


def test_a_sequential_shows_its_layers() -> None:
    model = gx.layers.Sequential([gx.layers.Dense(2, name="first"), gx.nn.relu], name="model")
    assert repr(model) == "<Sequential 'model': Dense 'first', relu>"
