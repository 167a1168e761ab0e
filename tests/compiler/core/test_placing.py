"""Where things are made: device scopes in each other, functions of nodes, soft placement, logging, implementations."""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import threading
from collections.abc import Callable, Generator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.core import (
    NO_ATTRS,
    NodeToPlace,
    apply,
    check_implemented,
    context,
    log_placement,
    requested_device,
)
from graphc.compiler.ir import OPS, OpDef, TensorType


def tpu_op() -> OpDef:
    """An op that there is only on TPUs."""
    type = (TensorType((), np.dtype("float32")),)
    return OpDef("melt", impl=lambda x: x + 1, infer=lambda *_: type, params=("x",), platforms=("tpu",))


def cpu_op(*platforms: str) -> OpDef:
    type = (TensorType((), np.dtype("float32")),)
    return OpDef("freeze", impl=lambda x: x + 1, infer=lambda *_: type, params=("x",), platforms=platforms)


@pytest.fixture
def soft() -> Generator[None]:
    with gx.config.scope(soft_placement=True):
        yield


@pytest.mark.parametrize(
    ("specs", "device"),
    [
        (["cpu:1"], "/device:CPU:1"),
        (["/job:localhost", "cpu:1"], "/device:CPU:1"),
        (["/job:localhost/replica:0/task:0/device:CPU:2"], "/device:CPU:2"),
        (["cpu", "/device:*:1"], "/device:CPU:1"),
        (["/device:*:3"], "/device:CPU:3"),
        (["CPU:2", "/Device:cpu:*"], "/device:CPU:2"),
        (["cpu:1", "cpu:2", "/task:0"], "/device:CPU:2"),
        (["cpu:1", gx.DeviceSpec(device_type="cpu", device_index=4)], "/device:CPU:4"),
        ([gx.devices()[5]], "/device:CPU:5"),
        (["cpu:1", None], "/device:CPU:0"),
        (["cpu:1", None, "/device:*:2"], "/device:CPU:2"),
    ],
)
def test_what_an_inner_scope_leaves_open_is_as_the_outer_one_says(specs: list[Any], device: str) -> None:
    scopes = [gx.device(spec) for spec in specs]

    def made() -> Any:
        for scope in scopes:
            scope.__enter__()
        try:
            return gx.Variable(1.0), gx.ones(2), gx.asarray([1.0]), gx.asarray(np.ones(2)) + 1
        finally:
            for scope in reversed(scopes):
                scope.__exit__(None, None, None)

    assert [value.device for value in made()] == [device] * 4
    assert context.eager


PARTIAL = st.builds(
    gx.DeviceSpec,
    job=st.sampled_from([None, "localhost"]),
    task=st.sampled_from([None, 0]),
    device_type=st.sampled_from([None, "CPU", "GPU"]),
    device_index=st.none() | st.integers(0, 3),
)


@given(st.lists(PARTIAL, max_size=4), st.lists(st.booleans(), min_size=4, max_size=4))
def test_what_a_function_answers_counts_as_a_scope_that_says_so(specs: list[gx.DeviceSpec], asks: list[bool]) -> None:
    def asked(*layers: Any) -> str:
        with contextlib.ExitStack() as stack:
            for layer in layers:
                stack.enter_context(gx.device(layer))
            return requested_device(OPS["add"], (), NO_ATTRS)

    def answering(spec: gx.DeviceSpec) -> Any:
        return lambda node: spec

    logging.disable()  # there is no GPU
    try:
        with gx.config.scope(soft_placement=True):
            name = asked(*specs)
            mixed = [answering(spec) if ask else spec for spec, ask in zip(specs, asks, strict=False)]
            assert asked(*mixed) == name
    finally:
        logging.disable(logging.NOTSET)
    merged = functools.reduce(lambda inner, outer: outer.merge(inner), reversed(specs), gx.DeviceSpec())
    named = merged.device_type or merged.device_index is not None
    assert name == (f"/device:{merged.device_type or 'CPU'}:{merged.device_index or 0}" if named else "")


def test_a_scope_may_be_entered_again() -> None:
    first, none = gx.device("cpu:1"), gx.device(None)
    for _ in range(2):
        with first, gx.device("cpu:2"), none, first:
            assert gx.ones(2).device == "/device:CPU:1"
        with first, none:
            assert not context.device
        with pytest.raises(KeyError), first, none:
            raise KeyError
    assert context.eager
    assert gx.ones(2).device == "/device:CPU:0"


def test_a_device_that_was_named_before_is_the_same_in_other_scopes() -> None:
    seen: list[str] = []
    for outer in ("/job:localhost", "cpu:1", "cpu:2"):
        with gx.device("cpu:3"):
            seen.append(gx.ones(2).device)
        with gx.device(outer):
            with gx.device("cpu:3"):
                seen.append(gx.ones(2).device)
            seen.append(gx.ones(2).device)
    assert seen == [f"/device:CPU:{index}" for index in (3, 3, 0, 3, 3, 1, 3, 3, 2)]
    with gx.device("cpu:3"), gx.device(gx.devices()[4]):
        assert gx.ones(2).device == "/device:CPU:4"


def test_a_function_of_nodes_may_be_defined_in_compiled_code() -> None:
    def step(x: Any) -> Any:
        def choose(node: Any) -> Any:
            if node.op == "add" and node.inputs[0].shape == (2,):
                return "cpu:0"
            return None

        with gx.device(choose):
            return (x + 1.0) * 2.0

    graph = gx.function(step).graph(gx.ones(2))
    assert [node.device for node in graph.nodes if node.op.name != "constant"] == ["/device:CPU:0", ""]


def test_scopes_hold_alike_in_compiled_code() -> None:
    def step(x: Any) -> Any:
        with gx.device("/job:localhost"), gx.device("cpu"):
            y = x * 2
            with gx.device("/device:*:0"):
                return y + 1

    graph = gx.function(step).graph(gx.asarray(1.0))
    assert [node.device for node in graph.nodes if node.op.name in ("multiply", "add")] == ["/device:CPU:0"] * 2


@pytest.mark.parametrize(
    ("spec", "field"), [("/job:ps/cpu:0", "job"), ("/task:1", "task"), ("/replica:2", "replica"), ("/job:ps", "job")]
)
def test_a_device_of_another_process_is_refused(spec: str, field: str) -> None:
    with pytest.raises(gx.errors.NotFoundError) as caught:
        gx.device(spec)
    assert "this process is /job:localhost/replica:0/task:0, which is not part of a cluster" in str(caught.value)
    assert f"leave out the {field}" in str(caught.value)


def test_what_is_no_device_is_refused() -> None:
    with pytest.raises(TypeError, match=r"expected a device such as 'gpu:0', a gx.DeviceSpec, one of .*, got 3\n"):
        gx.device(3)  # type: ignore[arg-type]
    with pytest.raises(gx.errors.NotFoundError, match=r"no device cpu:9; this .*GRAPHC_CPU_DEVICES=10 in the env"):
        gx.device("cpu:9")
    outer = gx.device("cpu")
    with outer, pytest.raises(gx.errors.NotFoundError, match="there is no device /device:CPU:9; this process has"):
        gx.device("/device:*:9").__enter__()
    assert context.eager


@pytest.mark.parametrize(
    "use",
    [
        lambda: gx.device("cpu:x"),
        lambda: gx.device("cpu:99"),
        lambda: gx.device("/job:ps"),
        lambda: gx.device(3.5),  # pyright: ignore[reportArgumentType]
        lambda: gx.function(lambda x: x, device="cpu:x"),
        lambda: gx.function(lambda x: x, device="cpu:99"),
        lambda: gx.function(lambda x: x, device=3.5),  # pyright: ignore[reportArgumentType]
        lambda: gx.DeviceSpec.parse("cpu:x"),
        lambda: gx.DeviceSpec.parse(3.5),  # pyright: ignore[reportArgumentType]
        lambda: gx.DeviceSpec(job="a b"),
        lambda: gx.DeviceSpec(task=-1),
        lambda: gx.DeviceSpec(device_type=3.5),  # pyright: ignore[reportArgumentType]
        lambda: gx.DeviceSpec().merge("cpu"),  # pyright: ignore[reportArgumentType]
        lambda: gx.DeviceSpec().replace(index=3),
        lambda: gx.devices("c p u"),
        lambda: gx.zeros(2, device="cpu:x"),
        lambda: gx.ones(2).to_device("cpu:99"),
        lambda: gx.colocate_with(3.5),
        lambda: gx.placement.auto(gx.function(lambda x: x), gx.ones(2), devices=["cpu:x"]),
        lambda: gx.placement.auto(gx.function(lambda x: x), gx.ones(2), devices=3),
        lambda: gx.placement.auto(gx.function(lambda x: x), gx.ones(2), devices="cpu:x"),
        lambda: gx.devices("foo"),
        lambda: gx.devices(3),  # pyright: ignore[reportArgumentType]
        lambda: gx.device(gx.device("cpu:1")),  # pyright: ignore[reportArgumentType]
        lambda: gx.device("cpu:1")(print),  # pyright: ignore
    ],
)
def test_a_device_that_is_refused_is_told_with_the_line(use: Callable[[], Any]) -> None:
    with pytest.raises(gx.errors.GraphcError) as caught:
        use()
    text = str(caught.value)
    assert f'\n  at File "{__file__}", line ' in text
    assert text.count("\n  at ") == 1


def variables_on_cpu_1(node: NodeToPlace) -> str | None:
    return "/cpu:1" if node.type == "Variable" else "/cpu:2"


def test_variables_on_one_device_and_ops_on_another() -> None:
    with gx.device(variables_on_cpu_1):
        a = gx.Variable(3.0)
        b = gx.asarray(4.0)
        c = a * b
    assert (a.device, b.device, c.device, c.item()) == ("/device:CPU:1", "/device:CPU:2", "/device:CPU:2", 12.0)


def test_variables_on_one_device_and_ops_in_turn() -> None:
    turns = itertools.cycle([2, 3, 4])

    def in_turn(node: NodeToPlace) -> gx.DeviceSpec:
        return gx.DeviceSpec.parse("cpu:1" if node.op == "variable" else f"cpu:{next(turns)}")

    with gx.device(in_turn):
        v = gx.Variable(1.0)
        found = [(v + 1.0).device for _ in range(4)]
    assert v.device == "/device:CPU:1"
    assert found == [f"/device:CPU:{index}" for index in (2, 3, 4, 2)]


def test_a_function_is_asked_once_for_each_node_when_it_is_traced() -> None:
    v = gx.Variable(1.0)
    seen: list[NodeToPlace] = []

    def choose(node: NodeToPlace) -> Any:
        seen.append(node)
        return gx.devices()[0] if node.op != "add" else "CPU:0"

    def step(x: Any) -> Any:
        with gx.device(choose):
            y = v * x
            v.assign(y)
            for _ in range(3):
                y = gx.sum(y + 1, keepdims=True)
            return y

    compiled = gx.function(step)
    for _ in range(2):
        assert compiled(gx.asarray(1.0)).item() == 4.0
    assert [node.op for node in seen] == ["multiply", *["add", "sum"] * 3]
    assert seen[0].inputs == (v.type, v.type)
    assert (seen[2].name, seen[4].name) == ("sum", "sum_1")
    assert dict(seen[2].attrs) == {"keepdims": True}
    assert seen[0].location is not None
    assert seen[0].location.function == "step"
    graph = compiled.graph(gx.asarray(1.0))
    pinned = {node.op.name: node.device for node in graph.nodes}
    assert pinned["multiply"] == pinned["add"] == "/device:CPU:0"
    assert pinned["assign_variable"] == ""


def test_a_variable_tells_its_function_what_it_is() -> None:
    seen: list[NodeToPlace] = []
    with gx.device(seen.append):
        gx.Variable([1.0, 2.0], name="weights", trainable=False)
    (node,) = (node for node in seen if node.op == "variable")
    assert node.name.startswith("weights")
    assert node.attrs == {"shape": (2,), "dtype": np.dtype("float32"), "trainable": False}
    assert node.device == ""


@pytest.mark.parametrize(
    ("op", "type"), [("matmul", "MatMul"), ("nn.log_softmax", "LogSoftmax"), ("add", "AddV2"), ("nn.relu", "Relu")]
)
def test_tensorflows_name_of_an_op(op: str, type: str) -> None:
    assert NodeToPlace(op, op, (), {}, None).type == type


def test_functions_in_each_other_are_asked_from_the_inside() -> None:
    asked: list[tuple[str, str]] = []

    def answering(name: str, answer: str | None) -> Any:
        return lambda node: asked.append((name, node.device)) or answer

    def device(*layers: Any) -> str:
        asked.clear()
        with gx.device(layers[0]), gx.device(layers[1]), gx.device(layers[2]):
            return gx.ones(2).device

    assert device("cpu:3", answering("outer", "cpu:1"), answering("inner", None)) == "/device:CPU:1"
    assert asked == [("inner", ""), ("outer", "")]
    assert device("cpu:3", answering("outer", None), answering("inner", None)) == "/device:CPU:3"
    assert device("cpu:3", answering("outer", "cpu:1"), answering("inner", "cpu")) == "/device:CPU:1"
    assert asked == [("inner", ""), ("outer", "/device:CPU:*")]
    assert device(answering("outer", "cpu:1"), answering("inner", "cpu:2"), "/task:0") == "/device:CPU:2"
    assert asked == [("inner", "/task:0")]
    assert device(answering("outer", "cpu:1"), None, answering("inner", None)) == "/device:CPU:0"
    assert device("cpu:1", answering("inner", None), "/device:*:2") == "/device:CPU:2"


def test_ops_of_a_device_function_are_not_placed_by_it() -> None:
    def by_value(node: NodeToPlace) -> str:
        return f"cpu:{(gx.asarray(1) + 1).item()}"

    with gx.device(by_value):
        assert gx.ones(2).device == "/device:CPU:2"


class Chooser:
    __hash__ = None  # type: ignore[assignment]

    def __call__(self, node: NodeToPlace) -> str:
        return "cpu:0"

    method = __call__


def test_one_function_has_one_trace_and_another_has_its_own() -> None:
    compiled = gx.function(lambda x: x + 1)
    first, second = Chooser(), Chooser()
    for function in (first, first, first.method, first.method, second, second):
        with gx.device(function):
            compiled(gx.asarray(1.0))
    assert compiled.num_traces == 3


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        (
            3,
            TypeError,
            "returned 3; it must return a name such as 'gpu:0', a gx.DeviceSpec, one of gx.devices(), or None",
        ),
        ("cpu:x", ValueError, "returned 'cpu:x': the device 'cpu:x' has the part 'cpu:x'; write "),
        ("gpu:7", LookupError, "returned 'gpu:7': there is no device /device:GPU:7; this process has /device:CPU:0"),
        ("/job:ps", LookupError, "returned '/job:ps': there is no device /job:ps: this process is /job:localhost"),
    ],
)
@pytest.mark.parametrize("compile", [False, True])
def test_nonsense_of_a_function_is_refused_by_its_name(
    answer: Any, kind: type[Exception], message: str, compile: bool
) -> None:
    def pick(node: NodeToPlace) -> Any:
        return answer

    def step(x: Any) -> Any:
        with gx.device(pick):
            return x + 1

    with pytest.raises(kind) as caught:
        (gx.function(step) if compile else step)(gx.asarray(1.0))
    text = str(caught.value)
    assert "<locals>.pick' was called for " in text
    assert message in text
    assert "return x + 1" in text


@pytest.mark.parametrize("decide", [lambda total: gx.sqrt(total) > 1, lambda total: int(total) > 1])
def test_a_function_that_computes_with_what_is_traced_is_refused(decide: Callable[[Any], Any]) -> None:
    @gx.function
    def step(x: Any) -> Any:
        total = gx.sum(x)

        def by_value(node: NodeToPlace) -> str:
            return "cpu:1" if decide(total) else "cpu:2"

        with gx.device(by_value):
            return x + 1

    message = r"by_value' was called for add and computes with a tensor of a function that is being traced"
    with pytest.raises(gx.errors.ConcretizationError, match=message) as caught:
        step(gx.ones(3))
    assert "return x + 1" in str(caught.value)
    assert isinstance(caught.value.__cause__, gx.errors.GraphcError)  # which names the tensor and the line in by_value


def test_what_a_function_raises_is_raised() -> None:
    def pick(node: NodeToPlace) -> str:
        raise KeyError(node.op)

    for run in (gx.ones, gx.function(gx.ones)):
        with gx.device(pick), pytest.raises(KeyError, match="ones") as caught:
            run(2)
        assert context.eager
        note = "raised by the device function 'test_what_a_function_raises_is_raised.<locals>.pick', called for"
        assert any(text.startswith(note) and __file__ in text for text in caught.value.__notes__)


@pytest.mark.parametrize(
    "choose",
    [
        lambda i: "cpu:1" if i > 0 else "cpu:2",
        lambda i: gx.devices()[i],
        lambda i: f"cpu:{int(i)}",
        lambda i: "cpu:" + str(i),
        lambda i: (lambda node: "cpu:1") if i > 0 else None,
        lambda i: i,
        lambda i: int(i),
    ],
)
def test_a_device_that_depends_on_a_tensor_is_refused(choose: Callable[[Any], Any]) -> None:
    @gx.function
    def step(x: Any, i: Any) -> Any:
        with gx.device(choose(i)):
            return x + 1

    message = r"gx.device: a device cannot depend on a tensor, .* Write an `if` on the tensor, .*under a pin"
    with pytest.raises(gx.errors.ConcretizationError, match=message) as caught:
        step(gx.ones(3), gx.asarray(1))
    assert "with gx.device(choose(i)):" in str(caught.value)


def test_a_device_of_each_iteration_of_an_unrolled_loop() -> None:
    @gx.function
    def step(x: Any) -> Any:
        for i in range(1, 3):
            with gx.device(f"cpu:{i}"):
                x = x + i
        return x

    assert (step(gx.asarray(1.0)).item(), step(gx.asarray(1.0)).device) == (4, "/device:CPU:2")


def test_a_variable_stays_where_it_was_made() -> None:
    with gx.device("cpu:1"):
        v = gx.Variable(1.0)
    with gx.device("cpu:2"):
        v.assign(gx.asarray(5.0))
        v.assign_add(1.0)
        v.assign_sub(gx.ones(()))
        assert (v + 1.0).device == "/device:CPU:2"
    v[...] = v * 2
    assert (v.device, v.value().device, v.item()) == ("/device:CPU:1", "/device:CPU:1", 10.0)


def test_what_is_made_in_a_scope_stays_there_after_it() -> None:
    with gx.device("cpu:1"):
        x, y = gx.ones(2), gx.asarray(2.0)
    assert ((x * 2).device, (x + y).device, gx.sum(x).device) == ("/device:CPU:1",) * 3


def test_repeated_ops_in_a_scope_run_where_it_says_wherever_jax_would_run_them() -> None:
    here, there = "/device:CPU:0", "/device:CPU:1"
    free = gx.ones(3)  # on no device for good: JAX moves it to its own default device
    with jax.default_device(jax.devices()[1]):
        with gx.device(here):
            assert {(free + free).device for _ in range(3)} == {here}
        free_there = gx.asarray(jnp.ones(3))
        assert not free_there.raw.committed
    with gx.device(there):
        results = [free_there + free_there, free_there * 2.0, gx.sin(free_there), free + free_there, free - 1.0]
    assert {result.device for result in results} == {there}
    assert {(result + 1.0).device for result in results} == {there}
    with gx.device(there), gx.device(None):
        assert (results[0] + 1.0).device == there  # a lifted pin moves nothing


def test_operands_on_several_devices_meet_on_the_default_one_in_both_modes() -> None:
    with gx.device("cpu:1"):
        x, v = gx.ones(2), gx.Variable([1.0, 2.0])
    with gx.device("cpu:2"):
        y = gx.ones(2)
    for compute in (lambda x, y: x + y, gx.add, gx.function(lambda x, y: x + y)):
        for _ in range(2):
            found = compute(x, y)
            assert (found.device, found.numpy().tolist()) == ("/device:CPU:0", [2.0, 2.0])
    with gx.GradientTape() as tape:
        tape.watch([x, y])
        loss = gx.sum(gx.sin(x) * y)
    for gradient, expected in zip(tape.gradient(loss, [x, y]), (np.cos(1.0), np.sin(1.0)), strict=True):
        np.testing.assert_allclose(gradient.numpy(), np.full(2, expected), rtol=1e-5)
    assert (x + y.to_device("cpu:1")).device == "/device:CPU:1"
    v.assign_add(y)
    v.assign_sub(2 * y)
    v.assign(y + 1)
    assert (v.device, v.numpy().tolist()) == ("/device:CPU:1", [2.0, 2.0])
    with pytest.raises(ValueError, match=r"add\(x1: f32\[2\], x2: f32\[3\]\)"):
        v.assign_add(gx.ones(3))


def test_gradients_go_back_over_the_devices() -> None:
    with gx.device("cpu:1"):
        v = gx.Variable([1.0, 2.0])
    with gx.device("cpu:3"):
        weights = gx.asarray([3.0, 4.0])

    def step() -> Any:
        with gx.GradientTape() as tape:
            with gx.device("cpu:2"):
                left = v * v
            with gx.device("cpu:3"):
                right = left * weights
            with gx.device("cpu:2"):
                both = left + right
            total = gx.sum(both * both)
        return tape.gradient(total, v)

    expected = np.array([4 * 16 * 1.0, 4 * 25 * 8.0])
    np.testing.assert_allclose(step().numpy(), expected)
    assert step().device == "/device:CPU:2"
    with gx.device("cpu:4"):
        assert step().device == "/device:CPU:4"


def test_soft_placement_falls_back_to_the_cpu_and_says_so_once(soft: None, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        with gx.device("/gpu:7"):
            v, x = gx.Variable(1.0), gx.ones(2)
    assert v.device == x.device == "/device:CPU:0"
    (said,) = [record for record in caplog.records if record.name == "graphc"]
    assert said.levelno == logging.WARNING
    assert "there is no device /gpu:7, so /device:CPU:0 is used; this process has /device:CPU:0, " in said.getMessage()
    assert 'with gx.device("/gpu:7"):' in said.getMessage()


def test_soft_placement_of_what_a_function_answers(soft: None, caplog: pytest.LogCaptureFixture) -> None:
    with gx.device(lambda node: "gpu:3"):
        assert gx.ones(2).device == "/device:CPU:0"
    assert [record.name for record in caplog.records] == ["graphc"]


def test_soft_placement_in_compiled_code_keeps_the_pin_in_the_graph(soft: None) -> None:
    def step(x: Any) -> Any:
        with gx.device("gpu:5"):
            return x + 1

    compiled = gx.function(step)
    assert compiled(gx.asarray(1.0)).device == "/device:CPU:0"
    assert compiled.graph(gx.asarray(1.0)).nodes[-1].device == "/device:GPU:5"


def test_soft_placement_knows_no_other_process(soft: None) -> None:
    with pytest.raises(gx.errors.NotFoundError, match="which is not part of a cluster"):
        gx.device("/job:worker/gpu:0")


def test_without_soft_placement_the_remedy_is_named() -> None:
    with pytest.raises(gx.errors.NotFoundError, match=r"gx.config.soft_placement = True falls back to the CPU"):
        gx.device("/gpu:7")


@pytest.mark.parametrize("scope", ["cpu:1", None])
def test_an_op_without_an_implementation_is_refused(scope: str | None) -> None:
    with gx.device(scope), pytest.raises(NotImplementedError) as caught:
        apply(tpu_op(), (gx.asarray(1.0),))
    name = "/device:CPU:1" if scope else "/device:CPU:0"
    assert f"melt has no implementation on {name}; there is one on TPU, of which this process has none" in str(
        caught.value
    )
    assert "apply(tpu_op()" in str(caught.value)


def test_an_op_is_run_where_it_has_an_implementation() -> None:
    with gx.device("cpu:3"):
        y = apply(cpu_op("tpu", "cpu"), (gx.asarray(1.0),))
    assert (y.device, y.item()) == ("/device:CPU:3", 2.0)


def test_the_devices_that_have_an_implementation_are_listed(caplog: pytest.LogCaptureFixture) -> None:
    op = cpu_op("cpu")
    assert check_implemented(op, "/device:CPU:1") == "/device:CPU:1"
    with pytest.raises(NotImplementedError) as caught:
        check_implemented(op, "/device:GPU:1")
    text = str(caught.value)
    assert "freeze has no implementation on /device:GPU:1; there is one on CPU, available here as " in text
    assert "/device:CPU:0, /device:CPU:1, " in text
    assert "put it under `with gx.device('/device:CPU:0'):`, or set gx.config.soft_placement = True" in text
    with gx.config.scope(soft_placement=True):
        for _ in range(2):
            assert check_implemented(op, "/device:GPU:1") == "/device:CPU:0"
        with pytest.raises(NotImplementedError, match="of which this process has none"):
            check_implemented(tpu_op(), "/device:CPU:1")
    assert [record.getMessage().partition("\n")[0] for record in caplog.records] == [
        "freeze has no implementation on /device:GPU:1; there is one on CPU, so it runs on /device:CPU:0"
    ]


def test_logging_tells_of_each_op_what_was_asked_and_where_it_is(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "graphc.tools.placement")
    with gx.config.scope(log_device_placement=True):
        assert not context.eager
        x = gx.asarray(1.0)
        _ = x + x
        with gx.device("cpu:2"):
            v = gx.Variable(2.0, name="logged")
            _ = v * x
        log_placement("matmul", "matmul_3", "/device:GPU:0", "/device:CPU:0", None)
    assert context.eager
    _ = x + x  # not logged
    log_placement("matmul", "matmul_3", "", "/device:CPU:0", None)
    told = [record.getMessage().rpartition(" (")[0] or record.getMessage() for record in caplog.records]
    assert told == [
        "add: requested nothing, placed on /device:CPU:0",
        f"variable {v.name!r}: requested /device:CPU:2, placed on /device:CPU:2",
        "multiply: requested /device:CPU:2, placed on /device:CPU:2",
        "matmul 'matmul_3': requested /device:GPU:0, placed on /device:CPU:0",
    ]
    assert caplog.records[0].name == "graphc.tools.placement"
    assert caplog.records[0].getMessage().startswith("add: ")
    assert "(test_placing.py:" in caplog.records[0].getMessage()


def test_logging_reaches_threads_that_run_already(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "graphc.tools.placement")
    started, turned_on = threading.Event(), threading.Event()
    seen: list[bool] = []

    def work() -> None:
        with gx.device("cpu:1"):
            pass
        seen.append(context.eager)
        started.set()
        turned_on.wait(60)
        seen.append(context.eager)
        _ = gx.asarray(1.0) + 1.0

    thread = threading.Thread(target=work)
    thread.start()
    assert started.wait(60)
    with gx.config.scope(log_device_placement=True):
        turned_on.set()
        thread.join()
    assert seen == [True, False]
    assert [text.partition(":")[0] for text in caplog.messages] == ["add"]


def test_devices_of_a_type() -> None:
    assert gx.devices("cpu") == gx.devices("CPU") == gx.devices()
    assert len(gx.devices()) == jax.local_device_count() == 8
    assert gx.devices("gpu") == gx.devices("cuda") == gx.devices("tpu") == ()
    for kind in ("foo", "g:u"):
        message = f"no device type '{kind}'; the types are 'cpu', 'gpu', 'tpu'\n"
        with pytest.raises(gx.errors.InvalidArgumentError, match=message):
            gx.devices(kind)


def test_things_are_placed_with_others() -> None:
    with gx.device("cpu:2"):
        there = gx.Variable([1.0, 2.0], name="there")
        x = gx.ones(2)

    @gx.function
    def compiled(y: Any) -> Any:
        with gx.colocate_with(there):
            a = y * 2
        with gx.device("cpu:1"):
            b = y + 1
        with gx.device("cpu:3"), gx.colocate_with(b):
            c = b * 3
        with gx.colocate_with(y + 5):
            d = y * 7
        return a, b, c, d

    with gx.device("cpu:1"), gx.colocate_with(there):
        assert gx.ones(2).device == gx.Variable(1.0).device == "/device:CPU:2"
        with gx.device(None):
            assert gx.ones(2).device == "/device:CPU:0"
        with gx.device("/job:localhost"), gx.device("cpu:2"):
            assert (x + 1).device == "/device:CPU:2"
    with gx.colocate_with(x):
        assert gx.zeros(3).device == "/device:CPU:2"
    places = [value.device[-1] for value in compiled(gx.ones(2))]
    assert places == ["2", "1", "1", "0"]


def test_a_pin_that_contradicts_a_co_location_is_refused() -> None:
    with gx.device("cpu:2"):
        there = gx.Variable(1.0, name="over_there")
    message = (
        r"a pin to /device:CPU:1 contradicts the enclosing gx\.colocate_with, which places everything here with "
        r"Variable 'over_there.*', on /device:CPU:2; move the pin outside"
    )
    with gx.colocate_with(there), pytest.raises(gx.errors.InvalidArgumentError, match=message), gx.device("cpu:1"):
        pass
    assert gx.ones(2).device == "/device:CPU:0"

    @gx.function
    def compiled(x: Any) -> Any:
        with gx.colocate_with(there), gx.device("cpu:1"):
            return x * 2

    with pytest.raises(gx.errors.InvalidArgumentError, match=message) as caught:
        compiled(gx.ones(2))
    assert "test_placing.py" in str(caught.value)

    with gx.colocate_with(there), gx.device(lambda node: "cpu:1" if node.op == "sin" else None):
        assert gx.cos(1.0).device == "/device:CPU:2"
        with pytest.raises(gx.errors.InvalidArgumentError, match=message):
            gx.sin(1.0)


def test_what_has_no_place_is_refused() -> None:
    with pytest.raises(gx.errors.InvalidTypeError, match="expected a Variable or a tensor, got 'cpu:0'"):
        gx.colocate_with("cpu:0")

    @gx.function
    def compiled(x: Any) -> Any:
        with gx.colocate_with(x):
            return x * 2

    with pytest.raises(
        gx.errors.InvalidArgumentError, match="the device of the argument 'x' is not known when 'compiled'"
    ):
        compiled(gx.ones(2))


def test_a_pin_inside_a_scope_that_lifts_pins_leaves_those_around_as_they_were() -> None:
    with gx.device("cpu:1"):
        with gx.device(None), gx.device("cpu:2"):
            pass
        assert gx.ones(2).device == "/device:CPU:1"
