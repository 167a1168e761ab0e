"""@gx.function: results, traces that are shared, methods, variables of the first call, threads, devices, randomness."""

from __future__ import annotations

import gc
import inspect
import sys
import threading
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.function.function import FunctionOptions
from graphc.compiler.function.trace_cache import RetraceLog

ONE = gx.asarray(1.0)


def test_a_function_is_traced_once_for_each_type() -> None:
    traced: list[str] = []

    @gx.function(on_retrace="ignore", side_effects="ignore")
    def function(x: Any) -> Any:
        traced.append(str(x.type))
        return x * 2 + 1

    inputs = [gx.ones((2,)), gx.ones((3,)), gx.asarray([1, 2]), gx.asarray(2.0), gx.ones((2,), dtype="bfloat16")]
    for _ in range(3):  # alternating types go through the fast path and past it
        for x in inputs:
            result = function(x)
            assert result.dtype == x.dtype
            np.testing.assert_array_equal(result.numpy(), x.numpy() * 2 + 1)
    assert traced == ["f32[2]", "f32[3]", "i32[2]", "f32[]", "bf16[2]"]


def test_weakly_typed_tensors_keep_their_meaning() -> None:
    function = gx.function(lambda x, y: x + y)
    weak = gx.function(lambda x: x.sum() * 0 + 2.5)
    half = gx.ones((2,), dtype="bfloat16")
    for _ in range(2):
        for other in (gx.ones((2,)), gx.asarray([1, 2]), half):
            eager = half + other
            assert function(half, other).dtype == eager.dtype
    assert weak(half).dtype == half.dtype


def test_the_fast_path_sees_what_the_slow_one_does() -> None:
    function = gx.function(lambda x, y=2.0: x * y)
    x = gx.asarray([1.0, 2.0])
    assert function(x).tolist() == function(x).tolist() == [2, 4]
    assert function(x, 3.0).tolist() == [3, 6]
    assert function(x, y=4.0).tolist() == [4, 8]
    assert function(np.ones(2, np.float32)).tolist() == [2, 2]
    assert function(x).tolist() == [2, 4]
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    assert tape.gradient(y, x).tolist() == [2, 2]


@dataclass
class Result:
    tensor: Any
    text: str
    nothing: None = None


def test_results_of_every_kind() -> None:
    variable = gx.Variable(1.0)
    marker = object()

    @gx.function
    def function(x: Any) -> Any:
        return {"a": x, "b": (1, "text", None), "c": Result(x + 1, "t"), "d": variable, "e": marker, "f": [x, x]}

    result = function(ONE)
    assert result["a"].item() == 1
    assert result["b"] == (1, "text", None)
    assert (result["c"].tensor.item(), result["c"].text, result["c"].nothing) == (2, "t", None)
    assert result["d"] is variable
    assert result["e"] is marker
    assert [leaf.item() for leaf in result["f"]] == [1, 1]
    for value in (None, 3, (), "text", (None, 2)):
        constant = gx.function(lambda: value)  # noqa: B023
        assert constant() == constant() == value
    assert gx.function(lambda x: (x, x + 1))(ONE)[1].item() == 2
    assert gx.function(lambda x: (x,))(ONE)[0].item() == 1


def test_closures_over_tensors_and_variables() -> None:
    tensor, array, variable = gx.asarray([1.0, 2.0]), np.asarray([3.0, 4.0], np.float32), gx.Variable([5.0, 6.0])

    @gx.function
    def function() -> Any:
        variable.assign_add(tensor)
        return tensor + array + variable

    assert function().tolist() == [10, 14]
    assert function().tolist() == [11, 16]
    variable.assign([0.0, 0.0])
    assert function().tolist() == [5, 8]


def test_functions_that_call_functions_are_inlined() -> None:
    traces: list[str] = []

    @gx.function(side_effects="ignore")
    def inner(x: Any) -> Any:
        traces.append("inner")
        if x > 0:
            return x * 2
        return -x

    @gx.function(side_effects="ignore")
    def outer(x: Any) -> Any:
        return inner(x) + inner(x - 10)

    assert outer(gx.asarray(3.0)).item() == 6 + 7
    assert inner.num_traces == 0
    assert inner(gx.asarray(3.0)).item() == 6
    names = {node.op.name for node in outer.graph(gx.asarray(3.0)).walk()}
    assert "call" not in names


def test_recursion_on_python_values_ends_and_on_tensors_is_refused() -> None:
    @gx.function
    def power(x: Any, n: int) -> Any:
        return x if n == 0 else power(x * 2, n - 1)

    assert power(ONE, 5).item() == 32

    @gx.function
    def endless(x: Any) -> Any:
        if x < 1:
            return x
        return endless(x - 1)

    with pytest.raises(
        gx.errors.UnimplementedError, match=r"endless: a function calls itself too deeply.*write a loop"
    ):
        endless(gx.asarray(3.0))


class Model:
    def __init__(self, value: float, training: bool = True) -> None:
        self.w = gx.Variable(value)
        self.training = training

    @gx.function
    def step(self, x: Any) -> Any:
        self.w.assign_add(x if self.training else 0.0)
        return self.w * 2

    @gx.function
    def update(self, x: Any) -> Any:
        return self.w.assign_add(x), self


def test_methods_are_traced_once_for_the_class() -> None:
    Model.step.clear_cache()
    a, b = Model(1.0), Model(10.0)
    assert [a.step(ONE).item(), b.step(ONE).item(), a.step(ONE).item()] == [4, 22, 6]
    assert (a.w.item(), b.w.item()) == (3, 11)
    assert Model.step.num_traces == 1
    a.training = False
    assert [a.step(ONE).item(), b.step(ONE).item()] == [6, 24]
    assert Model.step.num_traces == 2
    assert "self.training was True, is False" in a.step.trace_report()[-1].reason
    assert a.step.__name__ == "step"
    assert "add" in str(a.step.graph(ONE))
    assert a.step.lower(ONE).as_text()
    assert a.step.python_function(ONE).item() == 6


def test_a_shared_trace_returns_what_belongs_to_the_call() -> None:
    a, b = Model(1.0), Model(2.0)
    for model in (a, b):
        variable, itself = model.update(ONE)
        assert variable is model.w
        assert itself is model
    assert (a.w.item(), b.w.item()) == (2, 3)


def test_a_trace_keeps_no_instance_alive() -> None:
    model = Model(1.0)
    model.step(ONE)
    model.update(ONE)
    dead = [weakref.ref(model), weakref.ref(model.w)]
    del model
    gc.collect()
    assert [reference() for reference in dead] == [None, None]
    assert Model.step.num_traces > 0


def test_static_and_class_methods() -> None:
    class Tools:
        factor = 3.0

        @staticmethod
        @gx.function
        def static(x: Any) -> Any:
            return x * 2

        @classmethod
        @gx.function
        def of_class(cls, x: Any) -> Any:
            return x * cls.factor

    assert Tools.static(ONE).item() == Tools().static(ONE).item() == 2
    assert Tools.of_class(ONE).item() == Tools().of_class(ONE).item() == 3


class Lazy:
    def __init__(self) -> None:
        self.w: gx.Variable | None = None

    @gx.function
    def __call__(self, x: Any) -> Any:
        if self.w is None:
            self.w = gx.Variable(gx.ones(x.shape) * 2)
        self.w.assign_add(x)
        return self.w * x


def test_variables_are_made_in_the_first_call_of_each_instance() -> None:
    a, b = Lazy(), Lazy()
    with pytest.raises(gx.errors.VariableCreationError, match="__call__ makes Variables in its first call") as caught:
        Lazy.__call__.graph(a, gx.ones((2,)))
    assert "test_function.py" in str(caught.value)
    assert a.w is None
    x = gx.ones((2,))
    assert [a(x).tolist(), a(x).tolist(), b(x).tolist(), a(x).tolist()] == [[3, 3], [4, 4], [3, 3], [5, 5]]
    assert Lazy.__call__.num_traces == 1
    assert len(str(Lazy.__call__.graph(a, x))) > 0


def test_eager_mode_for_debugging() -> None:
    seen: list[str] = []

    @gx.function(side_effects="ignore")
    def function(x: Any) -> Any:
        seen.append("traced" if hasattr(x, "trace") else "eager")
        return x + 1

    function(ONE)
    gx.run_functions_eagerly(True)
    try:
        function(ONE)
    finally:
        gx.run_functions_eagerly(False)
    function(ONE)
    assert seen == ["traced", "eager"]


def test_random_numbers_are_those_of_eager_code_and_fresh_at_each_call() -> None:
    def draw() -> Any:
        total = gx.zeros((3,))
        for _ in range(20):
            total = total + gx.random.normal((3,))
        return total, gx.random.uniform((2,))

    compiled = gx.function(draw)
    gx.random.seed(7)
    eager = [draw(), draw()]
    gx.random.seed(7)
    fast = [compiled(), compiled()]
    for one, other in zip(eager, fast, strict=True):
        np.testing.assert_allclose(one[0].numpy(), other[0].numpy(), rtol=1e-5)
        np.testing.assert_array_equal(one[1].numpy(), other[1].numpy())
    assert fast[0][1].tolist() != fast[1][1].tolist()


def test_threads_trace_once_and_make_variables_once() -> None:
    traced: list[int] = []

    class Shared(Lazy):
        @gx.function(side_effects="ignore")
        def add(self, x: Any) -> Any:
            if self.w is None:
                self.w = gx.Variable(0.0)
            traced.append(1)
            return self.w.assign_add(x) * 0 + x

    shared, barrier, results, errors = Shared(), threading.Barrier(4), [], []

    def work(value: float) -> None:
        barrier.wait()
        try:
            results.extend([shared.add(gx.asarray(value)).item() == value for _ in range(50)])
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(float(value),)) for value in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(results) == 200
    assert all(results)
    assert shared.w is not None
    assert shared.w.item() == 50 * (1 + 2 + 3 + 4)
    assert len(traced) <= 3  # the attempt that found the Variable missing, the eager call, the trace


def test_a_pin_is_obeyed_in_every_mode() -> None:
    @gx.function(device="cpu:1")
    def pinned(x: Any) -> Any:
        return x * 2

    outer = gx.function(lambda x: pinned(x) + 1)
    place = "/device:CPU:1"
    assert pinned(ONE).device == place
    assert outer(ONE).device == place  # what is not pinned runs where its operands are
    x = gx.asarray(3.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = pinned(x)
    assert y.device == place
    assert tape.gradient(y, x).item() == 2
    gx.run_functions_eagerly(True)
    try:
        assert pinned(ONE).device == place
    finally:
        gx.run_functions_eagerly(False)
    made: list[gx.Variable] = []

    @gx.function(device="cpu:1")
    def creating(x: Any) -> Any:
        if not made:
            made.append(gx.Variable(3.0))
        return x * made[0]

    assert [creating(ONE).device, made[0].device, creating(ONE).device] == [place] * 3


@pytest.mark.parametrize(
    ("device", "around", "expected"),
    [
        (gx.DeviceSpec.parse("cpu:1"), "cpu:2", 1),
        (gx.devices()[3], None, 3),
        (lambda node: "cpu:4" if node.op == "add" else None, None, 4),
        (lambda node: "cpu:4" if node.op == "sin" else None, "cpu:2", 2),
        ("/device:*:3", "cpu", 3),
        ("/job:localhost", "cpu:2", 2),
        (None, "cpu:2", 2),
    ],
)
@pytest.mark.parametrize("eagerly", [False, True])
def test_a_function_is_pinned_as_a_scope_pins(device: Any, around: str | None, expected: int, eagerly: bool) -> None:
    pinned = gx.function(lambda x: x + 1, device=device)
    gx.run_functions_eagerly(eagerly)
    try:
        with gx.device(around):
            assert pinned(ONE).device == f"/device:CPU:{expected}"
            assert gx.function(lambda x: pinned(x))(ONE).device == f"/device:CPU:{expected}"
    finally:
        gx.run_functions_eagerly(False)


def test_a_pin_of_a_function_does_not_contradict_a_co_location() -> None:
    variable = gx.Variable(1.0)
    pinned = gx.function(lambda x: x + 1, device="cpu:1")
    with (
        gx.colocate_with(variable),
        pytest.raises(gx.errors.InvalidArgumentError, match=r"contradicts the enclosing gx\.colocate_with"),
    ):
        pinned(ONE)


def test_a_device_scope_around_the_call_is_part_of_the_key() -> None:
    function = gx.function(lambda x: x + 1)
    for name in ("cpu:2", "cpu:3", "cpu:2"):
        with gx.device(name):
            assert function(ONE).device == "/device:CPU:" + name[-1]
    assert function(ONE).device == "/device:CPU:0"
    assert function.num_traces == 3


def test_a_compiled_function_under_a_tape_updates_variables() -> None:
    variable, x = gx.Variable(2.0), gx.asarray(3.0)

    @gx.function
    def function(x: Any) -> Any:
        result = variable * x
        variable.assign_add(1.0)
        return result

    with gx.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    assert [value.item() for value in tape.gradient(y, [x, variable])] == [2, 3]
    assert variable.item() == 3


def test_a_graph_can_be_read_parsed_back_and_run() -> None:
    @gx.function
    def function(x: Any, n: Any) -> Any:
        while n > 0:
            x = x * 2
            n = n - 1
        return x

    args = (gx.asarray([1.0, 2.0]), gx.asarray(3))
    text = str(function.graph(*args))
    parsed = gx.ir.parse_graph(text)
    assert str(parsed) == text
    assert gx.from_graph(parsed)(*args).tolist() == function(*args).tolist() == [8, 16]


def test_the_signature_names_the_options() -> None:
    parameters = inspect.signature(gx.function).parameters
    assert list(parameters)[:-1] == ["fn", *FunctionOptions.__annotations__]
    assert parameters["on_retrace"].default == "warn"


def test_what_is_kept_of_each_trace_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[RetraceLog.__module__], "_REPORTS_KEPT", 3)
    monkeypatch.setattr(gx.config, "max_traces", 2)
    function = gx.function(lambda n: gx.asarray(n), on_retrace="ignore")
    for n in range(5):
        function(n)
    assert [report.number for report in function.trace_report()] == [3, 4, 5]

    @gx.function(on_retrace="ignore")
    def creating(n: int) -> Any:
        return gx.Variable(float(n)).value()

    for n in range(5):
        creating(n)
    assert len(creating._first_calls.in_vain) == 2
    with pytest.raises(gx.errors.VariableCreationError, match="makes a Variable again"):
        creating(4)


def test_effects_are_ordered_by_control_edges() -> None:
    variable = gx.Variable(1.0)

    @gx.function
    def function(x: Any) -> Any:
        before = variable + x
        variable.assign(x)
        return before, variable + x

    nodes = [node for node in function.graph(ONE).nodes if node.effects]
    assert [node.op.name for node in nodes] == ["read_variable", "assign_variable", "read_variable"]
    assert [node.control_inputs for node in nodes] == [(), (nodes[0],), (nodes[1],)]


def test_joined_to_an_empty_one_and_cut_to_one() -> None:
    """XLA fails, or ends the process (JAX 0.10), at what is joined to an empty array and cut to one."""
    whole, _, rest = gx.function(lambda a, b: (c := gx.concat([a, b], axis=1), c[0, 0], c[1:2, 2:]))(
        gx.ones((2, 2)), gx.ones((2, 0))
    )
    assert (whole.shape, rest.shape) == ((2, 2), (1, 0))
    assert gx.concat([gx.ones((2, 0), "float16"), gx.ones((2, 1), "int32")], axis=-1).dtype == "float16"
