"""DataParallel on eight simulated devices: the same numbers as on one, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import wait_for
from graphc.training.distribute import DataParallel, PerReplica, all_mean, all_sum, replica_index

RNG = np.random.default_rng(0)
DATA = RNG.normal(size=(64, 4)).astype(np.float32)
LABELS = (DATA @ np.asarray([1.0, -2.0, 3.0, 0.5], np.float32) + 0.1).astype(np.float32)


@pytest.fixture(scope="module")
def parallel() -> DataParallel:
    return DataParallel()


class Linear:
    """A model that is trained by hand."""

    def __init__(self, rate: float = 0.1) -> None:
        self.w = gx.Variable(np.zeros(4, np.float32), name="w")
        self.b = gx.Variable(0.0, name="b")
        self.rate = rate

    def step(self, x: Any, y: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = gx.mean((x @ self.w + self.b - y) ** 2)
        gradients = all_mean(tape.gradient(loss, [self.w, self.b]))
        for variable, gradient in zip([self.w, self.b], gradients, strict=True):
            variable.assign_sub(self.rate * gradient)
        return loss


def losses(devices: list[str] | None, steps: int = 5) -> tuple[list[float], Linear]:
    parallel = DataParallel(devices)
    with parallel.scope():
        model = Linear()
    step = parallel.function(model.step)
    found = [parallel.reduce("mean", step(DATA, LABELS)).item() for _ in range(steps)]
    return found, model


def test_a_profile_shows_a_step_on_each_of_its_devices() -> None:
    parallel = DataParallel(["cpu:3", "cpu:1"])
    step = parallel.function(lambda x: x * 2)
    step(DATA)
    gx.wait_all()  # or the next step may wait for this one, which the timeline tells
    with gx.profile() as timeline:
        step(DATA)
    assert {(event.name, event.kind, event.track) for event in timeline.events} == {
        ("lambda", "program", "/device:CPU:1"),
        ("lambda", "program", "/device:CPU:3"),
    }
    assert all(event.line.startswith("test_data_parallel.py:") for event in timeline.events)


def test_losses_and_weights_are_those_of_one_device() -> None:
    one, model = losses(["cpu:0"])
    assert one[-1] < one[0] / 2
    for devices in (["cpu:3", "cpu:1"], None):
        several, other = losses(devices)
        np.testing.assert_allclose(several, one, rtol=1e-5)
        np.testing.assert_allclose(other.w.numpy(), model.w.numpy(), rtol=1e-5)


@pytest.mark.parametrize("make", [lambda: gx.optim.SGD(0.1), lambda: gx.optim.Adam(0.05)], ids=["SGD", "Adam"])
def test_optimizers_average_the_gradients(make: Callable[[], Any]) -> None:
    def train(parallel: DataParallel) -> list[float]:
        gx.random.seed(3)
        w, optimizer = gx.Variable(np.zeros(4, np.float32)), make()

        def step(x: Any, y: Any) -> Any:
            return optimizer.minimize(lambda: gx.mean((x @ w - y) ** 2), [w])

        return [parallel.reduce("mean", parallel.run(step, DATA, LABELS)).item() for _ in range(4)]

    np.testing.assert_allclose(train(DataParallel()), train(DataParallel(["cpu:0"])), rtol=1e-5)


def test_all_gradients_go_through_one_collective(parallel: DataParallel) -> None:
    model = Linear()
    step = parallel.function(model.step)
    step(DATA, LABELS)
    graph = step.graph(DATA, LABELS)
    assert [node.op.name for node in graph.walk()].count("pmean") == 1
    text = step.lower(DATA, LABELS).compile().as_text()
    assert len(re.findall(r"= .* all-reduce(?:-start)?\(", text)) == 1


def test_what_a_step_returns(parallel: DataParallel) -> None:
    variable = gx.Variable(2.0)

    @parallel.function
    def step(x: Any, scale: Any, text: str) -> Any:
        return {"part": x * 2, "loss": gx.mean(x), "all": all_mean(gx.mean(x)), "sum": all_sum(gx.sum(x)),
                "v": variable.value(), "scale": scale * 2, "text": text, "shape": x.shape}  # fmt: skip

    x = np.arange(16.0, dtype=np.float32)
    result = step(x, gx.asarray(3.0), "text")
    assert isinstance(result["part"], PerReplica)
    assert isinstance(result["loss"], PerReplica)
    assert result["part"].numpy().shape == (8, 2)
    assert result["part"].stack().reshape(-1).tolist() == (x * 2).tolist()
    assert [part.tolist() for part in result["part"].values][1] == [4, 6]
    assert [part.device for part in result["part"].values][3] == "/device:CPU:3"
    assert [type(result[key]) for key in ("all", "sum", "v", "scale")] == [gx.Tensor] * 4
    assert [result[key].item() for key in ("all", "sum", "v", "scale")] == [7.5, 120, 2, 6]
    assert (result["text"], result["shape"]) == ("text", (2,))
    assert repr(result["loss"]).startswith("PerReplica([")


def test_reduce(parallel: DataParallel) -> None:
    step = parallel.function(lambda x: {"part": gx.sum(x), "same": all_sum(gx.sum(x)), "n": 3})
    result = step(np.arange(8, dtype=np.float32))
    mean, total = parallel.reduce("mean", result), parallel.reduce("sum", result)
    assert (mean["part"].item(), mean["same"].item(), mean["n"]) == (3.5, 28, 3)
    assert (total["part"].item(), total["same"].item()) == (28, 28 * 8)
    with pytest.raises(ValueError, match="expected 'mean' or 'sum', got 'max'") as caught:
        parallel.reduce("max", result)  # pyright: ignore[reportArgumentType]
    assert "test_data_parallel.py" in str(caught.value)


def test_results_and_variables_may_be_computed_with(parallel: DataParallel) -> None:
    with parallel.scope():
        variable = gx.Variable(1.0)
    part, whole = parallel.run(lambda x: (gx.mean(x), all_mean(gx.mean(x))), np.ones(8, np.float32))
    reduced = parallel.reduce("mean", part)
    assert (reduced + whole + variable + gx.asarray(1.0)).item() == 4
    function = gx.function(lambda x: variable * x)
    assert [function(reduced).item(), function(gx.asarray(2.0)).item()] == [1, 2]


def test_variables_may_be_made_anywhere(parallel: DataParallel) -> None:
    with parallel.scope():
        inside = gx.Variable(np.zeros(1024, np.float32))
    outside = gx.Variable(np.zeros(1024, np.float32))
    assert inside.device.count("CPU") == 8
    assert outside.device == "/device:CPU:0"
    kept = outside.value()

    def step(x: Any) -> None:
        change = all_sum(gx.sum(x)) * gx.ones((1024,))
        inside.assign_add(change)
        outside.assign_add(change)

    for _ in range(3):
        parallel.run(step, np.ones(8, np.float32))
    assert inside.numpy()[0] == outside.numpy()[0] == 24
    assert kept.numpy()[0] == 0


@pytest.mark.parametrize("order", [0, 1])
def test_variables_of_the_first_call(parallel: DataParallel, order: int) -> None:
    made: list[gx.Variable] = []
    count = gx.Variable(0.0)

    @parallel.function
    def step(x: Any) -> Any:
        if not made:
            made.append(gx.Variable(gx.ones(x.shape[1:])))
        total = all_sum(gx.sum(x, axis=0))
        made[0].assign_add(total)
        count.assign_add(1.0)
        index = replica_index() + 0
        return (index, x + made[0]) if order else (x + made[0], index)

    for time in (1, 2):
        result = step(np.ones((16, 3), np.float32))
        tensor, index = result[::-1] if order else result
        assert tensor.numpy().tolist() == np.full((8, 2, 3), 2 + 16 * time).tolist()
        assert index.numpy().tolist() == list(range(8))
        assert count.item() == time
    assert made[0].tolist() == [33, 33, 33]


def test_a_variable_on_every_call_is_refused_at_the_first(parallel: DataParallel) -> None:
    with pytest.raises(gx.errors.VariableCreationError, match="makes a Variable again"):
        parallel.run(lambda x: gx.mean(x * gx.Variable(1.0)), np.ones(8, np.float32))


class Pair(NamedTuple):
    x: Any
    y: Any


@pytest.mark.parametrize(
    "batch",
    [{"x": DATA, "y": LABELS}, Pair(DATA, LABELS), [DATA, (LABELS,)], gx.asarray(DATA)],
    ids=lambda b: type(b).__name__,
)
def test_nested_batches_are_split(parallel: DataParallel, batch: Any) -> None:
    def step(batch: Any) -> Any:
        return [gx.sum(leaf) for leaf in nest.flatten(batch)[0]], batch

    sums, parts = parallel.run(step, batch)
    for part, total, leaf in zip(nest.flatten(parts)[0], sums, nest.flatten(batch)[0], strict=True):
        whole = np.asarray(leaf)
        np.testing.assert_array_equal(part.numpy().reshape(whole.shape), whole)
        np.testing.assert_allclose(parallel.reduce("sum", total).item(), whole.sum(), rtol=1e-4, atol=1e-4)


def test_a_whole_epoch_in_one_program() -> None:
    batches = DATA.reshape(4, 16, 4), LABELS.reshape(4, 16)

    def train(parallel: DataParallel) -> Any:
        model = Linear(0.05)

        def epoch(x: Any, y: Any) -> Any:
            total = gx.zeros(())
            for batch in range(4):
                total = total + all_mean(model.step(x[batch], y[batch]))
            return total

        run = parallel.function(epoch, axis=1)
        return [run(*batches).item() for _ in range(3)], model.w.numpy()

    (one, weights), (eight, others) = train(DataParallel(["cpu:0"])), train(DataParallel())
    np.testing.assert_allclose(eight, one, rtol=1e-4)
    np.testing.assert_allclose(others, weights, rtol=1e-4)


def test_random_numbers_differ_between_replicas_and_one_device_is_a_plain_function(parallel: DataParallel) -> None:
    def draw(x: Any) -> Any:
        return gx.random.uniform((2,)) + 0 * x[0]

    first, second = (parallel.run(draw, np.ones(8, np.float32)).numpy() for _ in range(2))
    assert len(np.unique(np.concatenate([first, second]))) == 32
    gx.random.seed(5)
    alone = DataParallel(["cpu:0"]).run(draw, np.ones(8, np.float32)).numpy()[0]
    gx.random.seed(5)
    np.testing.assert_array_equal(alone, gx.function(draw)(gx.ones((8,))).numpy())


def test_methods_and_compiled_functions_as_steps(parallel: DataParallel) -> None:
    class Model:
        def __init__(self) -> None:
            self.factor = 2.0

        def step(self, x: Any) -> Any:
            return all_mean(gx.mean(x)) * self.factor

        @gx.function
        def compiled(self, x: Any) -> Any:
            return all_mean(gx.mean(x)) * self.factor

    model, x = Model(), np.ones(8, np.float32)
    steps = [parallel.function(model.step), parallel.function(model.compiled), lambda x: parallel.run(model.step, x)]
    for factor in (2.0, 3.0):
        model.factor = factor
        assert [step(x).item() for step in steps] == [factor] * 3


def test_numpy_batches_may_be_reused(parallel: DataParallel) -> None:
    buffer = np.zeros(1 << 16, np.float32)
    step = parallel.function(lambda x: all_sum(gx.sum(x)))
    for value in range(4):
        buffer[:] = value
        result = step(buffer)
        buffer[:] = 100
        assert result.item() == value * (1 << 16)


@pytest.mark.timeout(120)
def test_many_steps_need_not_be_awaited(parallel: DataParallel) -> None:
    model = Linear(0.01)
    step = parallel.function(model.step)
    results = [step(DATA, LABELS) for _ in range(200)]
    assert parallel.reduce("mean", results[-1]).item() < parallel.reduce("mean", results[0]).item()


REFUSED_BATCHES = [
    (
        0,
        np.ones((12, 2)),
        r"argument x\['a'\]: axis 0 of shape \(12, 2\) has size 12, which does not divide by the 8 devices",
    ),
    (1, np.ones((8, 3)), r"argument x\['a'\]: axis 1 of shape \(8, 3\) has size 3"),
    (1, np.ones(8), r"argument x\['a'\]: there is no axis 1 to split in the shape \(8,\)"),
]


@pytest.mark.parametrize(("axis", "batch", "message"), REFUSED_BATCHES)
def test_batches_that_do_not_divide_may_be_refused(axis: int, batch: Any, message: str) -> None:
    step = DataParallel(uneven="refuse").function(lambda x: gx.mean(x["a"]), axis=axis)
    with pytest.raises(gx.errors.InvalidArgumentError, match=message) as caught:
        step({"a": batch})
    assert 'step({"a": batch})' in str(caught.value)


@pytest.mark.parametrize("uneven", ["repeat", "mask", "refuse"])
def test_arguments_with_other_numbers_of_rows_are_refused(uneven: Any) -> None:
    step = DataParallel(uneven=uneven).function(lambda x, w: gx.mean(x * w))
    with pytest.raises(
        gx.errors.InvalidArgumentError,
        match=r"arguments x and w: the shapes \(64, 4\) and \(4,\) differ along axis 0, .* a closure or a gx.Variable",
    ) as caught:
        step(DATA, np.ones(4, np.float32))
    assert "step(DATA, np.ones(4" in str(caught.value)


def test_devices_and_axes_that_do_not_exist(parallel: DataParallel) -> None:
    with pytest.raises(LookupError, match="there is no device cpu:99; this process has"):
        DataParallel(["cpu:99"])
    for devices in ([], ["cpu:0", "cpu:0"]):
        with pytest.raises(ValueError, match="devices must be one or more different devices, got"):
            DataParallel(devices)
    for axis in (-1, 1.0, True):
        with pytest.raises(ValueError, match="axis must be an int from 0, got"):
            parallel.function(lambda x: x, axis=axis)  # pyright: ignore[reportArgumentType]


def test_collectives_outside_a_step() -> None:
    for name, call in (
        ("all_mean", lambda: all_mean(gx.ones(()))),
        ("all_sum", lambda: all_sum(1.0)),
        ("replica_index", replica_index),
    ):
        for run in (call, gx.function(call)):
            with pytest.raises(
                gx.errors.FailedPreconditionError, match=f"{name} is called outside a data-parallel step"
            ):
                run()


def test_a_variable_that_would_differ_between_replicas_is_refused(parallel: DataParallel) -> None:
    variable = gx.Variable(0.0, name="differs")

    def plain(x: Any) -> None:
        variable.assign(gx.mean(x))

    def branch(x: Any) -> None:
        if gx.mean(x) > 0:
            variable.assign_add(1.0)

    def loop(x: Any) -> None:
        for row in x:
            variable.assign_add(row)

    def drawn(x: Any) -> None:
        variable.assign(gx.random.uniform(()))

    for step in (plain, branch, loop, drawn):
        with pytest.raises(
            gx.errors.InvalidArgumentError, match=r"Variable 'differs\w*' is assigned a value that differs"
        ) as caught:
            parallel.run(step, np.ones(8, np.float32))
        assert "test_data_parallel.py" in str(caught.value)
        assert variable.item() == 0


def test_a_collective_that_only_some_replicas_reach_is_refused(parallel: DataParallel) -> None:
    def branch(x: Any) -> Any:
        if gx.mean(x) > 0:
            return all_mean(gx.mean(x))
        return gx.zeros(())

    def loop(x: Any) -> Any:
        total = gx.sum(x)
        while total < 10:
            total = total + all_mean(total)
        return total

    for step in (branch, loop):
        with pytest.raises(gx.errors.InvalidArgumentError, match="pmean runs under a condition that differs") as caught:
            parallel.run(step, np.ones(8, np.float32))
        assert "all_mean(" in str(caught.value)


def test_conditions_that_all_replicas_share_are_not(parallel: DataParallel) -> None:
    def step(x: Any) -> Any:
        total = all_sum(gx.sum(x))
        while total < 100:
            total = total + all_mean(total)
        return total

    assert parallel.run(step, np.ones(8, np.float32)).item() == 128


def test_in_a_chain_of_conditions_those_up_to_a_collective_count(parallel: DataParallel) -> None:
    def step(x: Any, limit: float) -> Any:
        return all_mean(chain(x, limit))

    def chain(x: Any, limit: float) -> Any:
        mine, total = gx.sum(x), all_sum(gx.sum(x))
        if total > 1000:
            return mine * 2
        if total > limit:
            return total + all_mean(mine)
        if mine > 100:
            return mine * 3
        if mine > 50:
            return mine * 4
        if mine > 40:
            return mine * 5
        return all_mean(total) if limit < 0 else total

    x = np.ones(8, np.float32)
    assert parallel.run(step, x, 5.0).item() == 8 + 8 / parallel.num_replicas
    assert parallel.run(step, x, 9.0).item() == 8
    with pytest.raises(gx.errors.InvalidArgumentError, match="pmean runs under a condition that differs"):
        parallel.run(step, x, -1.0)


def test_pins_and_steps_in_steps_are_refused(parallel: DataParallel) -> None:
    step, x = parallel.function(lambda x: all_mean(gx.sum(x))), gx.ones((8,))
    with gx.device("cpu:1"), pytest.raises(gx.errors.UnimplementedError, match="called inside a device scope"):
        step(x)

    @parallel.function
    def pinned(x: Any) -> Any:
        with gx.device("cpu:1"):
            return gx.sum(x)

    with pytest.raises(gx.errors.UnimplementedError, match="pins ops to /device:CPU:1; take the pin out"):
        pinned(x)
    with pytest.raises(InvalidArgumentError, match="is called on one replica of another function"):
        parallel.run(lambda x: step(x), x)


def test_an_error_in_a_step_changes_no_variable(parallel: DataParallel) -> None:
    variable = gx.Variable(1.0)

    def step(x: Any) -> None:
        variable.assign(5.0)
        raise KeyError("the user's own")

    with pytest.raises(KeyError):
        parallel.run(step, np.ones(8, np.float32))
    assert variable.item() == 1


def test_a_step_is_compiled_once_for_each_type(parallel: DataParallel) -> None:
    step = parallel.function(lambda x, n: gx.sum(x) * n)
    assert repr(step) == "<data-parallel function lambda, 0 traces>"
    for _ in range(3):
        for size, n in ((8, 1), (16, 1), (8, 2)):
            assert parallel.reduce("sum", step(np.ones(size, np.float32), n)).item() == size * n
    assert step.num_traces == len(step.trace_report()) == 3


def test_what_hides_in_a_custom_gradient_is_seen() -> None:
    parallel = gx.distribute.DataParallel(["cpu:0", "cpu:1"])
    w = gx.Variable(1.0, name="hidden_w")

    @gx.custom_gradient
    def by_index(z: Any) -> Any:
        return z * gx.astype(gx.distribute.replica_index(), "float32"), lambda upstream: upstream

    @gx.custom_gradient
    def summed(z: Any) -> Any:
        return gx.distribute.all_sum(z), lambda upstream: upstream

    def assigns(x: Any) -> Any:
        w.assign(by_index(w.value()))
        return x

    def waits(x: Any) -> Any:
        if x[0] > 0:
            x = summed(x)
        return x

    with pytest.raises(InvalidArgumentError, match="'hidden_w' is assigned a value that differs"):
        parallel.run(assigns, gx.ones(4))
    with pytest.raises(InvalidArgumentError, match="psum runs under a condition that differs"):
        parallel.run(waits, gx.ones(4))


def test_gradients_flow_through_the_mean_over_the_replicas() -> None:
    parallel = gx.distribute.DataParallel(["cpu:0", "cpu:1"])
    w = gx.Variable(1.0)

    def step(x: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = gx.distribute.all_mean(gx.mean(x * w))
        w.assign_sub(gx.distribute.all_mean(tape.gradient(loss, w)))
        return loss

    assert parallel.run(step, gx.asarray([1.0, 2.0, 3.0, 6.0])).item() == 3.0
    assert w.numpy() == -2.0


@pytest.mark.parametrize("limit", [1, 3])
def test_no_more_programs_are_in_flight_than_allowed(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    events: list[str] = []

    def waited(arrays: Any, what: Any) -> None:
        events.append("wait")
        wait_for(arrays, what)

    step = DataParallel().function(lambda x: gx.mean(x))
    step(DATA)
    monkeypatch.setattr(gx.config, "max_in_flight", limit)
    monkeypatch.setattr("graphc.compiler.lowering.launch.wait_for", waited)
    executable = step.trace(DATA).executable
    (layouts, run), *others = executable._by_layout.items()
    assert not others

    def launched(*arrays: Any) -> Any:
        events.append("launch")
        return run(*arrays)

    executable._by_layout[layouts] = launched
    for _ in range(6):
        step(DATA)
    in_flight, most = 1, 0  # the first call's
    for event in events:
        in_flight += 1 if event == "launch" else -1
        most = max(most, in_flight)
    assert events.count("launch") == 6
    assert most == limit


def test_a_step_keeps_to_deadlines_and_tokens_and_leaves_variables() -> None:
    parallel = DataParallel(devices=["cpu:0", "cpu:1"])
    with parallel.scope():
        w = gx.Variable([1.0, 2.0])

    def step(x: Any) -> Any:
        w.assign_add(all_mean(gx.mean(x, axis=0)))
        return w * 2

    x = gx.ones((4, 2))
    parallel.run(step, x)
    token = gx.CancellationToken()
    with gx.deadline(60.0), token:
        assert parallel.run(step, x).tolist() == [6, 8]
    token.cancel("no more")
    with (
        token,
        pytest.raises(gx.errors.CancelledError, match=r"\(no more\) while waiting for the compiled function 'step'"),
    ):
        parallel.run(step, x)
    assert w.numpy().tolist() == [3, 4]
    assert parallel.run(step, x).tolist() == [8, 10]
