"""Functions, graphs, Variables and layers through pickle, cloudpickle and copy."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import cloudpickle
import pytest

import graphc as gx


@gx.function
def scaled(x: Any) -> Any:
    return x * 3


def plain(x: Any) -> Any:
    return x + 1


timed = scaled.clone(timeout=60.0)
wrapped = gx.function(plain, name="another name")


class Model(gx.layers.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.dense = gx.layers.Dense(2, "relu", in_features=3)
        self.shared = self.dense
        self.step = gx.function(self.double)

    def double(self, x: Any) -> Any:
        return self.call(x) * 2

    @gx.function(on_retrace="ignore")
    def call(self, x: Any) -> Any:
        return self.dense(x) + 1


def through(value: Any, by: Any = pickle) -> Any:
    return pickle.loads(by.dumps(value))


@pytest.mark.parametrize("by", [pickle, cloudpickle])
def test_a_function_goes_by_its_name_as_python_s_do(by: Any) -> None:
    assert through(scaled, by) is scaled
    assert through(Model.call, by) is Model.call
    assert copy.copy(scaled) is copy.deepcopy(scaled) is scaled
    for function in (timed, wrapped):
        again = through(function, by)
        assert again is not function
        assert (again.python_function, again.name) == (function.python_function, function.name)
        assert again(gx.asarray(2.0)).item() == function(gx.asarray(2.0)).item()
        assert again.num_traces == 1


def test_a_local_function_goes_by_value_where_python_s_do() -> None:
    factor = 4.0
    local = gx.function(lambda x: x * factor)
    assert through(local, cloudpickle)(gx.asarray(2.0)).item() == 8.0
    with pytest.raises((AttributeError, pickle.PicklingError), match=r"Can't (pickle|get) local object"):
        pickle.dumps(local)


def test_of_the_main_module_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """cloudpickle's processes have a main module of their own."""

    def main_function(x: Any) -> Any:
        return x * 5

    main_function.__module__, main_function.__qualname__ = "__main__", "main_function"
    function = gx.function(main_function)
    with monkeypatch.context() as scope:
        scope.setattr(sys.modules["__main__"], "main_function", function, raising=False)
        assert through(function) is function
        data = cloudpickle.dumps([function])
    assert pickle.loads(data)[0](gx.asarray(2.0)).item() == 10.0


@pytest.mark.parametrize("route", [through, lambda model: through(model, cloudpickle), copy.deepcopy])
def test_a_layer_takes_its_values_along(route: Any) -> None:
    x = gx.ones((1, 3))
    model = gx.layers.Sequential([Model(), gx.layers.Dropout(0.5), gx.layers.Dense(2, kernel_initializer="he_normal")])
    before = model(x).tolist()
    again = route(model)
    assert again(x).tolist() == before
    inner, original = again.layers[0], model.layers[0]
    assert inner.dense is inner.shared
    assert len(again.variables) == len(model.variables) == 4
    assert inner.dense.kernel.name != original.dense.kernel.name  # both are there: programs know them by name
    inner.dense.bias.assign([10.0, 20.0])
    assert (original.dense.bias.tolist(), inner.dense.bias.tolist()) == ([0.0, 0.0], [10.0, 20.0])
    assert inner.step(x).tolist() == (inner.call(x) * 2).tolist() != original.step(x).tolist()


def test_a_bound_method_takes_its_object_along() -> None:
    model = Model()
    x = gx.ones((1, 3))
    for again in (through(model.call), copy.deepcopy(model.call)):
        assert again.__self__ is not model
        assert again.__func__ is Model.call
        assert again(x).tolist() == model.call(x).tolist()


class Compiling:
    def __init__(self) -> None:
        self.w = gx.Variable([1.0, 1.0])
        self.step = gx.function(self._step)

    def _step(self, x: Any) -> Any:
        self.w.assign_add(x)
        return self.w * 1


@pytest.mark.parametrize("route", [copy.deepcopy, through])
@pytest.mark.parametrize("calls", [0, 1, 3])
def test_a_copy_that_compiles_its_own_method_works_on_itself(calls: int, route: Any) -> None:
    model, x = Compiling(), gx.asarray([5.0, 5.0])
    for _ in range(calls):
        model.step(x)
    before = model.w.tolist()
    again = route(model)
    again.step(x)
    assert model.w.tolist() == before
    assert again.w.tolist() == (model.w + 5).tolist()
    assert copy.copy(model).step.python_function.__self__ is model  # as of Python's bound methods
    assert model.step.clone(name="other").python_function.__self__ is model


def test_a_clone_of_a_called_function_has_its_own_options() -> None:
    function = gx.function(lambda x: x * 2)
    for _ in range(3):
        function(gx.ones(2))
    other = function.clone(side_effects="error")
    assert other(gx.ones(2)).tolist() == [2.0, 2.0]
    assert (other.num_traces, function.num_traces) == (1, 1)


def test_a_graph_goes_as_its_text() -> None:
    graph = scaled.graph(gx.ones((2,)))
    for by in (pickle, cloudpickle):
        again = through(graph, by)
        assert (again == graph, str(again) == str(graph)) == (True, True)
    assert copy.deepcopy({"graph": graph})["graph"] is graph
    assert copy.deepcopy(graph.nodes[0]) is graph.nodes[0]
    with pytest.raises(TypeError, match="cannot be pickled by itself; pickle its graph"):
        pickle.dumps(graph.nodes[0])
    trace = scaled.trace(gx.ones((2,)))
    assert copy.deepcopy(trace) is trace
    with pytest.raises(TypeError, match="a trace of scaled belongs to this process; pickle the function, or the"):
        pickle.dumps(trace)
    opaque = gx.function(lambda x: gx.call_jax(abs, x)).graph(gx.asarray(1.0))
    with pytest.raises(TypeError, match="cannot be pickled, since its text does not parse back"):
        pickle.dumps(opaque)


def test_tensors_variables_and_functions_of_graphc() -> None:
    gx.random.seed(3)
    for function in (gx.sin, gx.nn.relu, gx.linalg.inv, gx.fft.fft, gx.lax.add, gx.special.erf, gx.random.normal):
        assert through(function).__name__ == function.__name__
    assert through(gx.nn.relu) is gx.nn.relu
    assert through(gx.asarray([1, 2])).tolist() == [1, 2]
    v = gx.Variable([1.0, 2.0], name="pickled_v", trainable=False)
    data = pickle.dumps(v)
    again = pickle.loads(data)
    assert (again.tolist(), again.trainable, again.name) == ([1.0, 2.0], False, "pickled_v_1")
    assert copy.deepcopy([v, v])[0].name == "pickled_v_2"
