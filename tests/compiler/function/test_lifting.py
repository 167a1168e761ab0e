"""State that is made in the first call of a compiled function is made while it is traced, as eager code makes it."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.function import Function

X = gx.asarray(np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3))


class Scale(gx.layers.Layer):
    """A layer of the user's, with draws, and a Variable that each call changes."""

    def build(self, input_shape: Any) -> None:
        self.factor = gx.Variable(gx.random.normal((input_shape[-1],)), name="factor")
        self.mean = gx.Variable(gx.zeros(input_shape[-1]), trainable=False)

    def call(self, x: Any) -> Any:
        self.mean.assign(gx.mean(x, axis=0) * 0.1 + self.mean * 0.9)
        return (x - self.mean) * self.factor


class Lazy:
    """Makes what it needs in its first call, in the ways that people write."""

    def __init__(self) -> None:
        self.w: Any = None
        self.layers: list[Any] = []
        self.calls = 0
        self.built = False

    def variables(self) -> list[Any]:
        return [self.w, *(variable for layer in self.layers for variable in layer.variables)]


class Zeros(Lazy):
    def __call__(self, x: Any) -> Any:
        if self.w is None:
            self.w = gx.Variable(gx.ones(x.shape[1:]) * 2)
            self.layers = [gx.layers.Dense(3), Scale()]
        self.w.assign_add(gx.mean(x, axis=0))
        for layer in self.layers:
            x = layer(x)
        return x * self.w


class Flags(Lazy):
    """The first call does something of its own."""

    def __call__(self, x: Any) -> Any:
        if not self.built:
            self.w = gx.Variable(lambda: gx.random.normal((3,)))
            self.built = True
            self.calls += 1
            return x - 1
        return x * self.w


class ByData(Lazy):
    """What comes before in the call, and is taken back: flags, a layer, draws."""

    def __call__(self, x: Any) -> Any:
        if self.w is None:
            self.calls += 1
            self.layers = [Scale()]
            x = self.layers[0](x)
            self.w = gx.Variable(gx.mean(x, axis=0))
        return self.layers[0](x) * self.w


class Looks(Lazy):
    def __call__(self, x: Any) -> Any:
        if self.w is None:
            self.layers = [gx.layers.Dense(3)]
            x = self.layers[0](x)
            self.w = gx.Variable(1.0)
            self.calls += int(self.w.item())
        return self.layers[0](x) * self.w


class Copies(Lazy):
    """A Variable that starts as another one, which the call has changed."""

    def __init__(self) -> None:
        super().__init__()
        self.other = gx.Variable(1.0)

    def __call__(self, x: Any) -> Any:
        self.other.assign_add(gx.sum(x) + 1)
        if self.w is None:
            self.w = gx.Variable(lambda: self.other.value())
        return x * self.w


class Noisy(Lazy):
    """Draws in the function, before it makes a Variable by draws."""

    def __call__(self, x: Any) -> Any:
        x = x + gx.random.normal(x.shape)
        if self.w is None:
            self.w = gx.Variable(lambda: gx.random.normal((3,)))
        return x * self.w


class InLoop(Lazy):
    def __call__(self, x: Any) -> Any:
        for _ in range(9):
            if not self.layers:
                self.layers.append(gx.layers.Dense(3))
                self.w = gx.Variable(0.5)
            x = self.layers[0](x) * self.w
        return x


class WithGenerator(Lazy):
    def __call__(self, x: Any) -> Any:
        if self.w is None:
            self.w = gx.Variable(lambda: gx.random.normal((3,)))
            self.source = gx.random.Generator(3)
        return x * self.w + self.source.normal((3,))


class MayFail(Lazy):
    """Fails, if it does, before it draws."""

    def __call__(self, x: Any) -> Any:
        if gx.sum(x) > 100:
            raise ValueError("too large")
        if self.w is None:
            self.w = gx.Variable(lambda: gx.random.normal((3,)))
        return x * self.w


class Network(Lazy):
    def __init__(self, *layers: Any, rule: Callable[[], Any] = lambda: gx.optim.Adam(0.1)) -> None:
        super().__init__()
        self.net = gx.layers.Sequential(layers)
        self.optimizer = rule()

    def __call__(self, x: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = gx.mean(self.net(x, training=True) ** 2)
        weights = self.net.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    def variables(self) -> list[Any]:
        return [*self.net.variables, *self.optimizer.variables]


CASES = {
    "zeros": (Zeros, True),
    "flags": (Flags, True),
    "loop": (InLoop, True),
    "network": (lambda: Network(gx.layers.Dense(4, "relu"), Scale(), gx.layers.Dense(2)), True),
    "no state": (lambda: Network(gx.layers.Dense(2), rule=lambda: gx.optim.SGD(0.1)), True),
    "dropout last": (lambda: Network(gx.layers.Dense(4), gx.layers.Dropout(0.5)), True),
    "dropout between": (lambda: Network(gx.layers.Dense(4), gx.layers.Dropout(0.5), gx.layers.Dense(2)), False),
    "by data": (ByData, False),
    "looks": (Looks, False),
    "copies": (Copies, False),
    "noisy": (Noisy, False),
    "generator": (WithGenerator, False),
    "may fail": (MayFail, False),
}


@pytest.mark.parametrize("name", CASES)
def test_the_first_calls_do_what_eager_ones_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, lifts = CASES[name]
    found: list[Any] = []
    eager: list[Any] = []
    create = Function._create
    monkeypatch.setattr(Function, "_create", lambda self, *given, **named: eager.append(1) or create(self, *given))
    for compiled in (False, True):
        gx.random.seed(5)
        model = make()
        step = gx.function(model, side_effects="ignore") if compiled else model
        results = [step(X), step(X), step(X)]
        found.append((results, model.variables(), model.calls, gx.random.normal().item()))
        if compiled:
            assert step.num_traces == 1
    (results, variables, calls, draw), (others, remade, recalls, redraw) = found
    for one, other in zip([*results, *variables], [*others, *remade], strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-6)
    assert (calls, draw) == (recalls, redraw)
    assert (not eager) is lifts


@pytest.mark.parametrize("name", ["network", "dropout between"])
def test_models_that_replace_those_of_a_name_make_their_variables(name: str) -> None:
    used: Any = {}

    @gx.function(on_retrace="ignore")
    def step(x: Any) -> Any:
        return used["model"](x)

    for _ in range(3):
        used["model"] = CASES[name][0]()
        for _ in range(2):
            step(X)
    step(X)
    assert step.num_traces == 3


def test_a_function_that_makes_variables_in_each_call_is_refused() -> None:
    kept: list[Any] = []

    @gx.function
    def step(x: Any) -> Any:
        kept.append(gx.Variable(1.0))
        return x * kept[-1]

    step(X)
    for _ in range(2):
        with pytest.raises(gx.errors.VariableCreationError, match="makes a Variable again after its first call"):
            step(X)


def test_nothing_is_made_after_the_line_that_fails() -> None:
    model = MayFail()
    with pytest.raises(ValueError, match="too large"):
        gx.function(model)(X + 100)
    assert model.w is None


@pytest.mark.xla
def test_the_next_call_and_other_instances_run_the_program_of_the_first() -> None:
    class Model(Lazy):
        @gx.function
        def __call__(self, x: Any) -> Any:
            if self.w is None:
                self.w = gx.Variable(lambda: gx.random.normal((3,)))
            self.w.assign_add(gx.ones(3))
            return x * self.w

    one, other = Model(), Model()
    one(X)
    first = Model.__call__._first_calls.programs[0][1]
    one(X)
    assert Model.__call__.trace(one, X).executable.jitted is first.jitted
    other(X)
    assert Model.__call__._first_calls.programs[-1][1].jitted is first.jitted
    assert one.w.name != other.w.name
    np.testing.assert_allclose(other(X).numpy(), (X * other.w).numpy())
    assert (Model.__call__.num_traces, first.jitted._cache_size()) == (1, 1)


def test_side_effects_happen_once_in_each_call_and_are_told_once() -> None:
    seen: list[str] = []

    class Model(Lazy):
        def __call__(self, x: Any) -> Any:
            if self.w is None:
                self.w = gx.Variable(2.0)
                seen.append("made")
            seen.append("called")
            return x * self.w

    step = gx.function(Model())
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        step(X)
        assert (seen, told) == (["made", "called"], [])
        step(X)
    assert seen == ["made", "called", "called"]
    assert [warning.category for warning in told] == [gx.errors.SideEffectWarning]
    strict = gx.function(Network(gx.layers.Dense(2)), side_effects="error")
    assert strict(X).item() > strict(X).item()


def test_a_first_call_that_fails_leaves_variables_and_draws_as_they_were() -> None:
    count, net = gx.Variable(0.0), gx.layers.Dense(2)

    @gx.function
    def step(x: Any) -> Any:
        y = net(x)
        count.assign_add(1.0)
        if gx.sum(x) > 100:
            raise ValueError("too large")
        return y

    gx.random.seed(5)
    expected = gx.random.normal().item()
    gx.random.seed(5)
    with pytest.raises(ValueError, match="too large"):
        step(X + 100)
    assert (count.item(), len(net.variables), gx.random.normal().item()) == (0, 2, expected)
    assert step(X).tolist() == net(X).tolist()
    with pytest.raises(gx.errors.InvalidArgumentError, match="takes a tensor of at least one axis"):
        gx.function(gx.layers.Dense(2))(gx.asarray(1.0))


def test_unconverted_code_makes_its_variables_eagerly() -> None:
    model = Flags()
    step = gx.function(model.__call__, autograph=False)
    assert step(X).tolist() == (X - 1).tolist()
    assert (model.calls, step(X).tolist()) == (1, (X * model.w).tolist())


def test_a_pin_holds_for_what_is_made() -> None:
    net = gx.layers.Dense(2)
    step = gx.function(net, device="cpu:1")
    assert [step(X).device, *(variable.device for variable in net.variables)] == ["/device:CPU:1"] * 3


def test_gradients_of_the_first_call_reach_what_it_makes() -> None:
    net = gx.layers.Dense(1, kernel_initializer="ones")
    step = gx.function(lambda x: gx.sum(net(x)))
    with gx.GradientTape() as tape:
        loss = step(X)
    np.testing.assert_allclose(tape.gradient(loss, net.kernel).numpy()[:, 0], X.numpy().sum(0), atol=1e-6)


def test_an_instance_is_not_kept_by_its_first_call() -> None:
    class Model(Zeros):
        __call__ = gx.function(Zeros.__call__)

    model = Model()
    model(X)
    gone = weakref.ref(model), weakref.ref(model.w)
    del model
    gc.collect()
    assert [reference() for reference in gone] == [None, None]
