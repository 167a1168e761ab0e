"""Guards: what a trace took from outside its arguments is looked at again at each call."""

from __future__ import annotations

import enum
import functools
import gc
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.function.guards import SMALLEST, BufferPool

X = gx.asarray([1.0, 2.0])
SCALE = 2.0
TABLE = {"rate": 3.0, "unread": {"deep": [1]}}
WEIGHTS = np.array([1.0, 1.0], np.float32)
TENSOR = gx.asarray([1.0, 1.0])
module = types.ModuleType("a_module")
module.FACTOR = 2.0  # pyright: ignore[reportAttributeAccessIssue]


@dataclass
class Config:
    rate: float = 2.0
    name: str = "a"


CONFIG = Config()


class Model:
    power = 1.0

    def __init__(self, scale: float = 2.0) -> None:
        self.scale, self.unread = scale, 0
        self.w = gx.Variable([1.0, 1.0])

    def helper(self, x: Any) -> Any:
        return x + 1.0

    def run(self, x: Any) -> Any:
        return self.helper(x) * self.scale * self.w * self.power


MODEL = Model()


def helper(x: Any) -> Any:
    return x * 2.0


def set_global(name: str, value: Any) -> Callable[[], None]:
    return lambda: globals().__setitem__(name, value)


def new_helper(x: Any) -> Any:
    return x * 7.0


def default(x: Any, table: list[float] = [1.0]) -> Any:  # noqa: B006
    return x * table[0]


CASES: dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]] = {
    "global": (lambda x: x * SCALE, set_global("SCALE", 5.0)),
    "item of a dict": (lambda x: x * TABLE["rate"], lambda: TABLE.update(rate=4.0)),
    "field of a dataclass": (lambda x: x * CONFIG.rate, lambda: setattr(CONFIG, "rate", 4.0)),
    "element of an array": (lambda x: x * gx.asarray(WEIGHTS), lambda: WEIGHTS.fill(3.0)),
    "module attribute": (lambda x: x * module.FACTOR, lambda: setattr(module, "FACTOR", 4.0)),
    "class attribute": (MODEL.run, lambda: setattr(Model, "power", 3.0)),
    "attribute": (MODEL.run, lambda: setattr(MODEL, "scale", 3.0)),
    "attribute that hides the class's": (MODEL.run, lambda: setattr(MODEL, "power", 5.0)),
    "method": (MODEL.run, lambda: setattr(Model, "helper", lambda self, x: x * 9.0)),
    "method of one object": (MODEL.run, lambda: setattr(MODEL, "helper", lambda x: x * 11.0)),
    "helper": (lambda x: helper(x), set_global("helper", new_helper)),
    "tensor": (lambda x: x * TENSOR, set_global("TENSOR", gx.asarray([5.0, 6.0]))),
    "object": (lambda x: CONFIG.rate * x, set_global("CONFIG", Config(rate=8.0))),
    "default argument": (default, lambda: default.__defaults__[0].append(default.__defaults__[0].pop() + 1)),  # pyright: ignore
    "partial": (functools.partial(default, table=[2.0]), lambda: None),
}


@pytest.mark.parametrize("kind", CASES)
def test_what_changes_outside_is_seen(kind: str) -> None:
    function, change = CASES[kind]
    compiled = gx.function(function, on_retrace="ignore")
    for _ in range(2):  # the second time by the short way
        np.testing.assert_array_equal(compiled(X).numpy(), function(X).numpy())
    change()
    for _ in range(2):
        np.testing.assert_array_equal(compiled(X).numpy(), function(X).numpy())


def test_a_variable_of_the_function_around_is_seen_and_the_reason_names_it() -> None:
    rate = 2.0
    compiled = gx.function(lambda x: x * rate)
    assert compiled(X).tolist() == [2, 4]
    rate = 3.0
    assert compiled(X).tolist() == [3, 6]
    line = compiled.python_function.__code__.co_firstlineno
    assert compiled.trace_report()[-1].reason == f"outer rate (test_guards.py:{line}) was 2.0, is 3.0"


def test_what_is_not_read_is_not_looked_at() -> None:
    model, compiled = Model(), gx.function(lambda model, x: x * model.scale)
    compiled(model, X)
    model.unread, model.helper = 5, None  # pyright: ignore[reportAttributeAccessIssue]
    compiled(model, X)
    assert compiled.num_traces == 1


def test_objects_of_a_class_share_a_trace_and_keep_their_variables() -> None:
    compiled = gx.function(lambda model, x: model.w.assign(x * model.scale))
    first, second = Model(), Model()
    for factor in (1.0, 2.0):
        compiled(first, X * factor)
        compiled(second, X * factor * 10.0)
    assert (first.w.tolist(), second.w.tolist()) == ([4, 8], [40, 80])
    assert compiled.num_traces == 1


def test_variables_that_are_one_are_told_from_variables_that_are_two() -> None:
    def both(first: Any, second: Any) -> Any:
        first.assign_add([1.0])
        return first + second

    compiled = gx.function(both)
    one, other = gx.Variable([1.0]), gx.Variable([1.0])
    assert compiled(one, other).tolist() == [3]
    assert compiled(one, one).tolist() == [6]
    assert compiled(one, other).tolist() == [5]
    assert compiled.num_traces == 2


def test_a_tensor_that_is_replaced_by_another_of_its_type_needs_no_trace() -> None:
    class Holder:
        state = gx.asarray([1.0, 1.0])

    holder, compiled = Holder(), gx.function(lambda holder, x: holder.state * x)
    for value in (1.0, 2.0, 3.0):
        holder.state = gx.asarray([value, value])
        assert compiled(holder, X).tolist() == [value, 2 * value]
    assert compiled.num_traces == 1


def test_lambdas_of_one_place_share_a_trace_unless_what_they_hold_differs() -> None:
    compiled = gx.function(lambda f, x: f(x), on_retrace="ignore")
    for factor in (2.0, 3.0, 2.0, 3.0):
        assert compiled(lambda x: x * factor, X).tolist() == [factor, 2 * factor]  # noqa: B023
    assert compiled.num_traces == 2


def test_what_came_with_a_call_is_not_kept_alive() -> None:
    model, compiled = Model(), gx.function(lambda model, x: model.run(x))
    compiled(model, X)
    compiled(model, X)
    found = weakref.ref(model)
    del model
    gc.collect()
    assert found() is None


def test_what_a_layer_holds_is_looked_at() -> None:
    layer = gx.layers.Dense(2, kernel_initializer="ones", in_features=2)
    dropout = gx.layers.Dropout(0.0)
    compiled = gx.function(lambda x: dropout(layer(x), training=True))
    assert compiled(X).tolist() == [3, 3]
    assert layer.bias is not None
    layer.bias.assign([1.0, 1.0])
    assert compiled(X).tolist() == [4, 4]
    assert compiled.num_traces == 1
    layer.bias = None
    assert compiled(X).tolist() == [3, 3]
    dropout.rate = 0.999
    assert compiled(X).tolist() == [0, 0]
    assert compiled.num_traces == 3


@pytest.mark.parametrize("count", [1, 5])
def test_arguments_that_do_not_fit_are_refused_once_there_are_traces_too(count: int) -> None:
    compiled = gx.function(lambda x: x)
    compiled(X)
    compiled(X)
    with pytest.raises(gx.errors.InvalidTypeError, match=r"lambda.*: .*argument"):
        compiled(*[X] * (count + 1))


def test_numpy_arrays_may_be_written_to_after_the_call() -> None:
    compiled = gx.function(lambda x: x * 2.0)
    array = np.ones(1 << 16, np.float32)
    results: list[Any] = []
    for value in (1.0, 2.0, 3.0):
        array[:] = value
        results.append(compiled(array))
        array[:] = -1.0
    assert [result.numpy()[-1] for result in results] == [2, 4, 6]
    assert compiled.num_traces == 1


def test_parameters_may_have_any_name() -> None:
    def named(type: Any, v1: Any, *p0: Any, c0: Any = 1.0, program: Any = 2.0, **results: Any) -> Any:
        return (type - v1) * c0 + p0[0] * program - results["run"]

    compiled = gx.function(named)
    for factor in (1.0, 2.0, 3.0):
        args = X * factor, X[0], X[1]
        np.testing.assert_array_equal(compiled(*args, c0=4.0, run=X).numpy(), named(*args, c0=4.0, run=X).numpy())
    assert compiled.num_traces == 1


class Plain:
    rate = 2.0

    def scale(self, x: Any) -> Any:
        return x * self.rate * SCALE


def test_what_is_read_without_conversion_is_looked_at_and_no_more() -> None:
    compiled = gx.function(lambda value, x: value.scale(helper(x)), autograph=False, on_retrace="ignore")
    value = Plain()
    value.unread = 0  # pyright: ignore[reportAttributeAccessIssue]
    for name, number in (("unread", 1), ("rate", 3.0), ("rate", 4.0)):
        np.testing.assert_array_equal(compiled(value, X).numpy(), value.scale(helper(X)).numpy())
        setattr(value, name, number)
    compiled(value, X)
    assert compiled.num_traces == 3


def test_functions_of_the_same_code_count_by_their_globals() -> None:
    def made(rate: float) -> Any:
        return types.FunctionType((lambda x: x * RATE).__code__, {"RATE": rate})  # type: ignore[name-defined]  # noqa: F821

    compiled = gx.function(lambda f, x: f(x))
    assert [compiled(made(rate), X).tolist()[0] for rate in (2.0, 3.0)] == [2, 3]


def test_what_a_set_or_a_key_holds_is_not_kept_alive() -> None:
    compiled = gx.function(lambda holders, x: x * sum([holder.rate for holder in holders]))
    for kind in (set, dict.fromkeys):
        holder = Plain()
        compiled(kind([holder]), X)
        found = weakref.ref(holder)
        del holder
        gc.collect()
        assert found() is None


def test_what_the_function_changes_itself_does_not_mean_a_trace_for_each_call() -> None:
    class Counting:
        made = 0

        def __iter__(self) -> Any:
            Counting.made += 1
            return iter([1.0])

    source, compiled = Counting(), gx.function(lambda x: x * sum(source), side_effects="ignore")
    for _ in range(3):
        compiled(X)
    assert compiled.num_traces == 1


def test_numpys_ints_are_taken_if_they_fit() -> None:
    compiled = gx.function(lambda x: x + 1)
    for value in (1, 2, 3):
        assert compiled(np.asarray([value, 5])).tolist() == [value + 1, 6]
        assert compiled(np.asarray([0.5 * value])).dtype == "float32"
        assert compiled(np.int64(value)).item() == value + 1
    with pytest.raises(gx.errors.InvalidArgumentError, match="the NumPy int64 4294967296 does not fit int32"):
        compiled(np.asarray([1 << 32, 5]))
    assert compiled.num_traces == 3


class _Called:
    def __init__(self, inner: Any = None) -> None:
        self.weight, self.inner = jnp.ones(2), inner

    def __call__(self, x: Any) -> Any:
        return x * self.weight if self.inner is None else self.inner(x)


def test_what_an_object_reads_that_is_called_by_jax() -> None:
    model = _Called(_Called())
    f = gx.function(lambda x: gx.call_jax(model, x))
    assert f(X).tolist() == [1.0, 2.0]
    model.inner.weight = jnp.full(2, 3.0)
    assert f(X).tolist() == [3.0, 6.0]
    model.inner = None
    assert f(X).tolist() == [1.0, 2.0]
    assert "model" in f.trace_report()[-1].reason


def test_a_large_array_is_told_of_unless_nobody_may_write_to_it() -> None:
    large = np.ones(300_000, np.float32)
    with pytest.warns(gx.errors.SideEffectWarning, match=r"outer large .*NumPy array of 1 MiB that may be written to"):
        gx.function(lambda x: x * large[0])(X)
    large.setflags(write=False)
    assert gx.function(lambda x: x * large[0])(X).tolist() == [1.0, 2.0]


def test_functions_of_graphc_may_be_patched(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = gx.function(lambda x: x + gx.random.normal(x.shape) * 0 + gx.special.expit(x))
    x = gx.asarray(0.0)
    assert float(compiled(x)) == 0.5
    monkeypatch.setattr(gx.special, "expit", lambda x: x + 2.0)
    assert float(compiled(x)) == 2.0
    monkeypatch.setattr(gx.random, "normal", lambda shape: gx.zeros(shape) / 0)
    assert np.isnan(float(compiled(x)))
    assert "graphc.compiler.ops.random.normal was" in str(compiled.trace_report()[-1])


def test_an_array_that_the_program_does_not_use_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[int] = []
    copy = BufferPool.copy
    monkeypatch.setattr(BufferPool, "copy", lambda self, value: copied.append(value.size) or copy(self, value))
    given = {name: np.full(SMALLEST + place, 2.0, np.float32) for place, name in enumerate("abc")}
    f = gx.function(lambda given: given["b"] * 2.0)
    for _ in range(3):
        assert gx.sum(f(given)).item() == 4.0 * (SMALLEST + 1)
    assert set(copied) == {SMALLEST + 1}


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1])
def test_ints_that_do_not_fit_are_refused_in_large_arrays(number: int) -> None:
    f = gx.function(lambda x: x[0] + 1)
    values = np.arange(SMALLEST)
    for first in (5, -5, 2**31 - 2, -(2**31)):
        values[0] = first
        assert f(values).item() == first + 1
    values[-1] = number
    with pytest.raises(gx.errors.InvalidArgumentError, match="does not fit"):
        f(values)


class Mode(enum.Enum):
    HALF, DOUBLE = 0.5, 2.0


def test_a_member_of_an_enum_that_code_as_it_is_reads_needs_no_trace_at_each_call() -> None:
    compiled = gx.function(lambda x: x * Mode.DOUBLE.value, autograph=False, side_effects="ignore")
    assert [compiled(X).tolist() for _ in range(3)] == [[2.0, 4.0]] * 3
    assert compiled.num_traces == 1


def test_a_container_among_the_arguments_is_compared_by_identities_first(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = gx.function(lambda x, some: x * len(some))
    some = set(range(100))
    for _ in range(3):
        compiled(X, some)

    def fail(value: Any) -> None:
        raise AssertionError("an element is wrapped")

    with monkeypatch.context() as patched:
        patched.setattr("graphc.compiler.tracing.sources.typed_set", fail)
        assert compiled(X, some).tolist() == [100.0, 200.0]
    assert compiled(X, set(range(1, 101))).tolist() == [100.0, 200.0]
    assert compiled(X, {*range(2, 100), True, 0}).tolist() == [100.0, 200.0]
    assert compiled.num_traces == 3
