"""Names of Variables that are the same in every run, and the values that are saved and loaded by them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError


class Net(gx.layers.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = gx.layers.Dense(2, in_features=3)
        self.blocks: Any = [gx.layers.Dense(2, in_features=2, use_bias=False), {"scale": gx.Variable(1.0)}]
        self.again = self.encoder
        self.steps = gx.Variable(0, trainable=False)

    def call(self, x: Any) -> Any:
        return self.blocks[0](self.encoder(x)) * self.blocks[1]["scale"]


def sequential() -> Any:
    dense = gx.layers.Dense
    return gx.layers.Sequential([dense(4), gx.nn.relu, dense(4, name="dense_1"), dense(4), dense(1, name="head")])


def test_names_say_where_a_variable_is_found_and_not_how_many_were_made_before() -> None:
    first, second = Net(), Net()
    wanted = ["encoder/kernel", "encoder/bias", "blocks/0/kernel", "blocks/1/scale", "steps"]
    assert [*first.named_variables()] == [*second.named_variables()] == wanted
    assert next(iter(first.named_variables().values())) is first.encoder.kernel
    for model in (sequential(), sequential()):
        model(gx.ones((1, 2)))
        assert [name for name in model.named_variables() if "kernel" in name] == [
            "dense/kernel", "dense_1/kernel", "dense_2/kernel", "head/kernel",
        ]  # fmt: skip


def test_values_come_back_in_another_model_and_through_pickle() -> None:
    source, target = sequential(), sequential()
    for model in (source, target):
        model(gx.ones((1, 2)))
    state = pickle.loads(pickle.dumps(source.state_dict()))
    assert all(type(array) is np.ndarray for array in state.values())
    target.load_state_dict(state)
    x = gx.ones((3, 2))
    assert target(x).tolist() == source(x).tolist()
    target.layers[0].bias.assign(gx.ones(4))
    assert not state["dense/bias"].any()  # they are copies


def test_a_module_has_them_too() -> None:
    class Counter(gx.layers.Module):
        def __init__(self) -> None:
            super().__init__()
            self.b, self.a = gx.Variable(0), gx.Variable([1.0], dtype="bfloat16")

    counter = Counter()
    assert [*counter.state_dict()] == ["b", "a"]
    counter.load_state_dict({"a": [2.0], "b": gx.asarray(3)})
    assert (counter.b.item(), counter.a.item(), counter.a.dtype.name) == (3, 2.0, "bfloat16")


def test_what_does_not_fit_is_listed_and_nothing_is_loaded() -> None:
    net = Net()
    before = {name: array.tolist() for name, array in net.state_dict().items()}
    state = {**net.state_dict(), "encoder/bias": np.ones(5), "more": np.ones(1), "steps": 7}
    del state["encoder/kernel"], state["blocks/1/scale"]
    message = (
        r"(?s)Net 'net': the state does not fit: missing: 'encoder/kernel', 'blocks/1/scale'; additional: 'more'; "
        r"'encoder/bias' has shape \(5,\), shape \(2,\) is expected.*test_states.py"
    )
    with pytest.raises(InvalidArgumentError, match=message):
        net.load_state_dict(state)
    with pytest.raises(InvalidTypeError, match=r"(?s)'steps' has dtype float32, dtype int32 is expected.*test_states"):
        net.load_state_dict({"encoder/bias": np.ones(2), "steps": np.float32(1.0)}, strict=False)
    with pytest.raises(InvalidArgumentError, match="additional: 'dense/bias'; it has no Variables yet, so build it"):
        sequential().load_state_dict({"dense/bias": np.ones(1)})
    with pytest.raises(UnimplementedError, match="values are loaded outside compiled functions"):
        gx.function(lambda: net.load_state_dict({}, strict=False))()
    assert {name: array.tolist() for name, array in net.state_dict().items()} == before
    net.load_state_dict({"steps": 7, "of another model": 0}, strict=False)
    assert net.steps.item() == 7


def test_two_variables_of_one_name_are_refused() -> None:
    net: Any = gx.layers.Layer()
    net.parts = {"a": {"b": gx.Variable(1.0)}, "a/b": gx.Variable(2.0)}
    with pytest.raises(InvalidArgumentError, match="two Variables are named 'parts/a/b'"):
        net.state_dict()


def test_a_resumed_optimizer_goes_on_as_the_first_would() -> None:
    def make() -> tuple[gx.Variable, gx.optim.Optimizer]:
        w = gx.Variable([1.0, 2.0])
        optimizer = gx.optim.Adam(0.1)
        optimizer.build([w])
        return w, optimizer

    def train(w: gx.Variable, optimizer: gx.optim.Optimizer) -> None:
        optimizer.minimize(lambda: gx.sum(w * w), [w])

    (w, optimizer), (resumed, other) = make(), make()
    train(w, optimizer)
    state = optimizer.state_dict()
    assert [name for name in state if name.startswith("0/")] == ["0/count", "0/mu/0", "0/nu/0"]
    resumed.assign(w)
    other.load_state_dict(state)
    for pair in ((w, optimizer), (resumed, other)):
        train(*pair)
    assert resumed.tolist() == w.tolist()
    with pytest.raises(InvalidArgumentError, match="Adam 'adam': the state does not fit: missing: '0/count', "):
        other.load_state_dict({})
    with pytest.raises(InvalidArgumentError, match=r"additional: '0/count', .*; it has no Variables yet, so build it"):
        gx.optim.Adam().load_state_dict(state)
