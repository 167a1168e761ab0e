"""gx.distribute.ParameterServer with tasks in this process."""

from __future__ import annotations

import contextlib
import pickle
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import optax
import pytest

import graphc as gx
from graphc.cluster.carriers import ThreadPeer, find
from graphc.cluster.parameters import ParameterServer, drop, worker
from graphc.cluster.parameters import coordinator as coordinator_module
from graphc.cluster.parameters import layout as layout_module
from graphc.cluster.parameters.layout import ShardLayout, SharedProgram
from graphc.cluster.parameters.rules import Applied, rule_text
from graphc.cluster.parameters.schedule import step as exchange_of
from graphc.compiler.base.errors import (
    CancelledError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    NotFoundError,
    OutOfRangeError,
    UnavailableError,
    UnimplementedError,
)
from graphc.compiler.ops import call_jax


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    with gx.deadline(60):
        yield


def _line() -> tuple[Any, Any]:
    chance = np.random.default_rng(0)
    x = chance.standard_normal((64, 3)).astype(np.float32)
    return x, (x @ np.array([[1.0], [-2.0], [3.0]], np.float32) + 0.5).astype(np.float32)


def _model(server: ParameterServer) -> Any:
    gx.random.seed(0)
    with server.scope():
        model = gx.layers.Dense(1)
        model(np.zeros((1, 3), np.float32))
    return model


def _step(model: Any, optimizer: Any) -> Any:
    def step(x: Any, y: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = gx.mean((model(x) - y) ** 2)
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    return step


def _task(server: ParameterServer, job: str, index: int) -> ThreadPeer:
    peer = server._coordinator._tasks.peer(job, index)  # pyright: ignore[reportPrivateUsage]
    assert isinstance(peer, ThreadPeer)
    return peer


@pytest.mark.parametrize(
    "optimizer",
    [gx.optim.Adam(0.1), gx.optim.SGD(0.1, momentum=0.9, clipnorm=0.5), gx.optim.Optimizer(optax.adafactor(0.1))],
)
def test_synchronous_updates_are_those_of_one_device_with_the_whole_batch(optimizer: Any) -> None:
    x, y = _line()
    elementwise = isinstance(optimizer, gx.optim.Adam)
    with ParameterServer(servers=2 if elementwise else 1, workers=4, updates="sync", split_bytes=8) as server:
        model = _model(server)
        alone = gx.layers.Dense(1)
        alone(x[:1])
        alone.load_state_dict(model.state_dict())
        reference = type(optimizer).__new__(type(optimizer))
        reference.__dict__.update(optimizer.__dict__)
        step = _step(model, optimizer)
        for _ in range(3):
            losses = [server.schedule(step, args=(x[part::4], y[part::4])) for part in range(4)]
            server.join()
            assert len({loss.result().item() for loss in losses}) == 4
        expected = _step(alone, reference)
        for _ in range(3):
            expected(x, y)
        np.testing.assert_allclose(model.kernel.numpy(), alone.kernel.numpy(), rtol=1e-5)
        np.testing.assert_allclose(model.bias.numpy(), alone.bias.numpy(), rtol=1e-5)
        report = server.report()
        assert [found.version for found in report.servers] == [3] * len(server.servers)
        assert all(found.staleness == {0: 12} for found in report.servers)


@pytest.mark.parametrize("each", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_8_workers_push_asynchronous_updates_and_the_sum_is_exact(each: int) -> None:
    times = 8 * each
    with ParameterServer(servers=2, workers=8) as server:
        with server.scope():
            total = gx.Variable(gx.zeros((64,)))
            count = gx.Variable(0, trainable=False)
        optimizer = gx.optim.SGD(1.0)

        def step(x: Any) -> None:
            optimizer.apply_gradients([(gx.zeros((64,)) - x, total)])
            count.assign_add(1)

        one = np.float32(1)
        for _ in range(times):
            server.schedule(step, args=(one,))
        server.join()
        assert count.item() == times
        np.testing.assert_array_equal(total.numpy(), np.full(64, float(times)))
        report = server.report()
        assert [found.count("applied") for found in report.servers] == [times, times]
        assert sum(worker.steps for worker in report.workers) == times
        # A push is 64 floats and a count; the step reads the count alone.
        assert sum(found.received for found in report.servers) == times * (64 + 1) * 4
        assert sum(found.sent for found in report.servers) == times * 4
        text = str(report)
        assert "/job:ps/task:1" in text
        assert "staleness at /job:ps/task:0" in text
        assert f'"version": {times}' in report.to_json()


def test_a_round_averages_floats_that_are_assigned_and_adds_the_others_up() -> None:
    x = np.random.default_rng(0).standard_normal((64, 3)).astype(np.float32)
    with ParameterServer(workers=20, updates="sync") as server:
        with server.scope():
            norm = gx.layers.BatchNormalization(momentum=0.9)
            norm(x)
            total, count = gx.Variable(0.0), gx.Variable(0, trainable=False)

        def step(x: Any) -> None:
            norm(x, training=True)
            total.assign_add(0.5)
            count.assign(count + 1)

        for _ in range(20):
            server.schedule(step, args=(x,))
        server.join()
        np.testing.assert_allclose(norm.moving_mean.numpy(), 0.1 * x.mean(0), rtol=1e-4)
        np.testing.assert_allclose(norm.moving_variance.numpy(), 0.9 + 0.1 * x.var(0), rtol=1e-4)
        assert (total.item(), count.item()) == (10.0, 20)


def test_without_spare_workers_every_synchronous_step_counts() -> None:
    with ParameterServer(servers=2, workers=4, updates="sync") as server:
        with server.scope():
            count, w = gx.Variable(0, trainable=False), gx.Variable(0.0)
        sgd = gx.optim.SGD(1.0)

        def step() -> None:
            sgd.apply_gradients([(gx.asarray(-1.0), w)])
            count.assign_add(1)

        for _ in range(100):
            server.schedule(step)
        server.join()
        assert (count.item(), w.item()) == (100, 25.0)
        assert [(found.version, found.count("applied")) for found in server.report().servers] == [(25, 100)] * 2


def test_leaving_the_block_does_what_was_scheduled_and_an_exception_gives_it_up() -> None:
    begun, gate = threading.Event(), threading.Event()
    with ParameterServer(workers=2, updates="sync") as server:
        with server.scope():
            count = gx.Variable(0, trainable=False)

        def step() -> None:
            count.assign_add(1)

        server.run(step)
        server.pull()
        assert count.item() == 0  # the round is not full
        for _ in range(50):
            server.schedule(step)
    assert count.item() == 51

    def rows(index: int, total: int) -> Iterator[Any]:
        begun.set()
        gate.wait(30)
        yield 1.0

    def leave(server: ParameterServer) -> Any:
        with server:
            _, waits = [server.schedule(lambda x: x, args=(server.dataset(rows),)) for _ in range(2)]
            assert begun.wait(30)
            server._coordinator._timeout = 0.01  # the worker that waits is not waited for
            left.append(waits)
            raise KeyError

    left: list[Any] = []
    with pytest.raises(KeyError):
        leave(ParameterServer(workers=1))
    gate.set()
    with pytest.raises(CancelledError, match="the parameter server was closed"):
        left[0].result()

    def bad() -> None:
        raise ValueError("no such luck")

    with pytest.raises(ValueError, match="no such luck"), ParameterServer(workers=1) as server:
        server.schedule(bad)


def test_spare_workers_are_not_waited_for() -> None:
    gate, slow = threading.Event(), threading.Event()
    with ParameterServer(workers=3, updates="sync", spares=1) as server:
        with server.scope():
            w = gx.Variable(0.0)
        optimizer = gx.optim.SGD(1.0)

        def rows(index: int, count: int) -> Iterator[Any]:
            while True:
                if index == 2 and not slow.is_set():
                    slow.set()
                    gate.wait(30)
                yield np.full(4, float(index), np.float32)

        def step(x: Any) -> None:
            optimizer.apply_gradients([(gx.asarray(-1.0), w)])

        data = server.dataset(rows)
        scheduled = [server.schedule(step, args=(data,)) for _ in range(7)]
        assert slow.wait(30)
        held = server._coordinator.schedule.workers["/job:worker/task:2"].work  # pyright: ignore[reportPrivateUsage]
        assert held is not None
        for each in scheduled:
            if each is not held.what.result:
                each.result()
        gate.set()
        server.join()
        report = server.report().servers[0]
        assert report.count("applied") + report.count("late") == 7
        assert w.item() == report.version
        assert report.count("applied") >= 6


def test_a_worker_that_dies_or_stalls_in_a_step_is_replaced_and_its_step_counts_once() -> None:
    begun, gate = threading.Event(), threading.Event()
    with ParameterServer(workers=2, timeout=20.0) as server, gx.config.scope(heartbeat_timeout=0.05):
        with server.scope():
            count = gx.Variable(0, trainable=False)

        def rows(index: int, total: int) -> Iterator[Any]:
            yield np.zeros(2)
            if index == 0:
                begun.set()
                gate.wait(30)
            while True:
                yield np.zeros(2)

        def step(x: Any) -> None:
            count.assign_add(1)

        data = server.dataset(rows)
        for _ in range(20):
            server.schedule(step, args=(data,))
        if begun.wait(5):
            _task(server, "worker", 0).stop("killed by the test")
        gate.set()
        server.join()
        _task(server, "worker", 1).task.stall()
        for _ in range(10):
            server.schedule(step, args=(data,))
        server.join()
        assert count.item() == 30
        assert server.report().servers[0].ledger.keys() <= {"/job:worker/task:0", "/job:worker/task:1"}


def test_a_step_whose_worker_is_lost_while_the_training_is_closed_is_cancelled() -> None:
    begun, gate = threading.Event(), threading.Event()
    server = ParameterServer(workers=1)
    coordinator = server._coordinator  # pyright: ignore[reportPrivateUsage]

    def rows(index: int, total: int) -> Iterator[Any]:
        begun.set()
        gate.wait(30)
        yield 1.0

    scheduled = server.schedule(lambda x: x, args=(server.dataset(rows),))
    assert begun.wait(30)
    _task(server, "worker", 0).stop("killed by the test")
    closing = threading.Thread(target=server.close)
    closing.start()
    with coordinator._changed:  # pyright: ignore[reportPrivateUsage]
        assert coordinator._changed.wait_for(lambda: coordinator._ended, 30)  # pyright: ignore[reportPrivateUsage]
    gate.set()
    closing.join(30)
    with pytest.raises(CancelledError, match="the parameter server was closed"), gx.deadline(60):
        scheduled.result()


def test_a_worker_that_cannot_be_started_at_once_is_there_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinator_module, "_RETRY_SECONDS", 0.01)
    with ParameterServer(workers=1) as server:
        tasks = server._coordinator._tasks  # pyright: ignore[reportPrivateUsage]
        again, errors = tasks.again, [OSError("no more files"), InvalidArgumentError("not now")]

        def fails_first(*arguments: Any) -> Any:
            if errors:
                raise errors.pop()
            return again(*arguments)

        monkeypatch.setattr(tasks, "again", fails_first)
        _task(server, "worker", 0).stop("killed by the test")
        assert server.run(lambda: gx.asarray(2.0)).item() == 2.0
        server.join()
        assert server._coordinator.failures == {"/job:worker/task:0": 1}  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("durability", ["sync", "checkpoint"])
def test_a_server_that_died_goes_on_from_what_it_has_written(durability: Any, tmp_path: Path) -> None:
    with ParameterServer(
        servers=2, workers=2, folder=tmp_path, durability=durability, checkpoint_every=4, timeout=20.0
    ) as server:
        with server.scope():
            w, count = gx.Variable([0.0, 0.0]), gx.Variable(0, trainable=False)
        optimizer = gx.optim.Adam(0.5)

        def step() -> None:
            optimizer.apply_gradients([(gx.ones((2,)), w)])
            count.assign_add(1)

        def do(times: int) -> None:
            for _ in range(times):
                server.schedule(step)
            server.join()

        do(7)
        for index in range(2):
            _task(server, "ps", index).stop("killed by the test")
        do(7)
        for found in server.report().servers:
            assert (found.count("applied") + found.count("lost"), found.version) == (14, found.count("applied"))
            assert (found.count("lost") == 0) == (durability == "sync")
        _task(server, "ps", 1).stop("killed by the test")
        server.pull()  # starts it again, too
        kept = [found for found in server.report().servers if found.bytes == 4]
        assert count.item() == kept[0].count("applied")


@pytest.mark.parametrize("durability", ["sync", "checkpoint"])
def test_a_new_program_goes_on_where_the_last_one_ended(durability: Any, tmp_path: Path) -> None:
    folder = tmp_path / "first"
    for total in (-4.25, -10.03125):  # with the momentum of the first
        with ParameterServer(workers=1, folder=folder, durability=durability) as server:
            with server.scope():
                w = gx.Variable(0.0)
            sgd = gx.optim.SGD(1.0, momentum=0.5)
            for _ in range(3):
                server.run(lambda w=w, sgd=sgd: sgd.apply_gradients([(gx.ones(()), w)]))
            server.join()
            if durability == "sync" and folder.name == "first":  # as the files are if the program dies now
                folder = Path(shutil.copytree(folder, tmp_path / "second", dirs_exist_ok=True))
        assert w.item() == total


def test_a_server_that_has_written_nothing_ends_the_training_with_its_name() -> None:
    with ParameterServer(workers=1, timeout=5.0) as server:
        with server.scope():
            w = gx.Variable(0.0)

        def step() -> Any:
            return w.value()

        assert server.run(step).item() == 0.0
        _task(server, "ps", 0).stop("killed by the test")
        scheduled = server.schedule(step)
        with pytest.raises(
            UnavailableError, match=r"the parameter server /job:ps/task:0 is gone with .*; give folder="
        ):
            server.join()
        with pytest.raises(UnavailableError, match="killed by the test"):
            scheduled.result()


@pytest.mark.parametrize("told_by", ["run", "pull", "nobody"])
def test_leaving_raises_that_a_server_is_gone_if_nobody_was_told(told_by: str) -> None:
    gone = pytest.raises(UnavailableError, match="the parameter server /job:ps/task:0 is gone")
    with gone if told_by == "nobody" else contextlib.nullcontext(), ParameterServer(workers=1, timeout=5.0) as server:
        with server.scope():
            w = gx.Variable(0.0)
        server.run(lambda: w.value())
        _task(server, "ps", 0).stop("killed by the test")
        if told_by == "run":
            with gone:
                server.run(lambda: w.value())
        elif told_by == "pull":
            with gone:
                server.pull()


def test_a_step_that_fails_cancels_those_that_have_not_begun_and_join_says_why() -> None:
    with ParameterServer(workers=1) as server:
        with server.scope():
            w = gx.Variable(1.0)

        def bad(x: Any) -> Any:
            raise ValueError(f"no such luck with {x.shape}")

        first = server.schedule(bad, args=(np.zeros(3),))
        with pytest.raises(ValueError, match=r"no such luck with \(3,\)"):
            first.result()
        with pytest.raises(ValueError, match="no such luck"):
            server.join()
        assert server.run(lambda: w * 2.0).item() == 2.0
        server.join()
        assert server.done()
        assert repr(first) == "<step 'bad', done>"


def test_a_step_that_is_scheduled_after_close_is_refused() -> None:
    with ParameterServer(workers=1) as server:
        pass
    with pytest.raises(FailedPreconditionError, match=r"it is closed .*; schedule steps before close\(\)") as found:
        server.schedule(lambda: 1.0)
    assert "test_training.py" in str(found.value)


def test_a_program_goes_to_another_process_as_stablehlo() -> None:
    pytest.importorskip("flatbuffers")
    program = SharedProgram(lambda x: {"twice": 2 * x}, (np.zeros(3, np.float32),))
    data = pickle.dumps(program)
    key = program.key
    del program
    other = pickle.loads(data)
    assert other.key == key
    assert pickle.loads(data) is other
    np.testing.assert_array_equal(other.compiled(np.arange(3, dtype=np.float32))["twice"], [0, 2, 4])


@pytest.mark.parametrize("options", [{}, {"clipnorm": 1.0}])
def test_a_rule_goes_to_another_process_and_does_what_the_optimizer_does(options: Any) -> None:
    pytest.importorskip("flatbuffers")
    variables = [gx.Variable(np.ones((3, 2), np.float32)), gx.Variable(np.ones(4, np.float32))]
    layout, optimizer = ShardLayout(variables, 1), gx.optim.Adam(0.1, **options)
    text = rule_text(optimizer, layout, 0, {variable.name for variable in variables})
    assert text is not None
    assert text.by_element == (not options)
    data = pickle.dumps(text)
    layout_module._running.clear()  # pyright: ignore[reportPrivateUsage]  # as in a process that does not have them
    rule, values = Applied(pickle.loads(data)), layout.start_of(0)
    state, gradient = rule.start(values), np.arange(10, dtype=np.float32)
    for _ in range(2):
        new, state = rule(values, {0: (None, gradient)}, state)
        values = [np.asarray(array) for array in new]
    params: Any = [np.ones((3, 2), np.float32), np.ones(4, np.float32)]
    left = optimizer.start_arrays(params)
    for _ in range(2):
        params, left = optimizer.update_arrays(params, [gradient[:6].reshape(3, 2), gradient[6:]], left)
    np.testing.assert_allclose(values[0], np.concatenate([np.ravel(param) for param in params]), rtol=1e-6)


def test_a_step_that_is_compiled_again_and_again_is_warned_of() -> None:
    with ParameterServer(workers=1) as server:
        for number in range(5):
            server.run(_twice, number)
        with pytest.raises(gx.errors.RetraceWarning, match="the step '_twice' is compiled for the 6th time"):
            server.run(_twice, 5)


def test_a_step_reads_python_values_as_they_are_now() -> None:
    box, settings = [np.float32(1)], {"rate": 1.0}
    with ParameterServer(workers=1) as server:
        with server.scope():
            w = gx.Variable(0.0)

        def step(twice: Any) -> None:
            w.assign_add(box[0] * settings["rate"] * (2.0 if twice is True else 1.0))

        server.run(step, False)
        box[0] = np.float32(10)
        server.run(step, False)
        settings["rate"] = 3.0
        server.run(step, False)
        settings["rate"] = 1.0
        server.run(step, False)
        server.run(step, True)
        server.run(step, 1)
        server.join()
    assert w.item() == 1 + 10 + 30 + 10 + 20 + 10


def _momentum(times: int, folder: Path, restored: bool = False) -> list[Any]:
    optimizer = gx.optim.SGD(1.0, momentum=0.5)
    with ParameterServer(servers=2, workers=1, split_bytes=8) as server:
        with server.scope():
            w, b = gx.Variable(np.zeros(4, np.float32)), gx.Variable(0.0)
        optimizer.build([b, w])
        checkpoint = gx.train.Checkpoint(folder, w=w, b=b, optimizer=optimizer)
        if restored:
            checkpoint.restore()
        ramp = np.arange(4, dtype=np.float32)

        def step() -> None:
            optimizer.apply_gradients([(gx.ones(()), b), (gx.asarray(ramp), w)])

        for _ in range(times):
            server.run(step)
        server.join()
        found = [w.tolist(), b.item()]
        if not restored:
            checkpoint.save(wait=True)
        else:  # what is assigned here goes to the servers
            optimizer.learning_rate = 0.0
            w.assign(np.full(4, 100.0, np.float32))
            server.run(step)
            server.join()
            assert w.tolist() == [100.0] * 4
            w.assign(gx.ones((4,)))
            server.pull()
            assert w.tolist() == [1.0] * 4
        return found


def test_a_new_server_starts_from_a_checkpoint_with_the_state_of_the_optimizer(tmp_path: Path) -> None:
    _momentum(3, tmp_path / "part")
    again = _momentum(3, tmp_path / "part", restored=True)
    assert again == _momentum(6, tmp_path / "whole")
    assert again[1] == -10.03125


def _twice(x: Any) -> Any:
    return gx.asarray(2 * x)


def test_the_tasks_of_a_cluster_that_runs_are_used() -> None:
    cluster = {"ps": ["localhost:params-a"], "worker": ["localhost:params-b", "localhost:params-c"]}
    with pytest.raises(NotFoundError, match=r"ParameterServer: /job:ps/task:0: there is no task at"):
        ParameterServer(cluster=cluster)
    tasks = [gx.Server(cluster, job, index) for job, index in (("ps", 0), ("worker", 0), ("worker", 1))]
    with ParameterServer(cluster=gx.ClusterSpec(cluster), staleness=drop(50)) as server:
        model = _model(server)
        x, y = _line()
        step = _step(model, gx.optim.SGD(0.05))
        for part in range(200):
            server.schedule(step, args=(x[part % 4 :: 4], y[part % 4 :: 4]))
        server.join()
        np.testing.assert_allclose(model.kernel.numpy().ravel(), [1, -2, 3], atol=0.1)
        assert server.workers == ["/job:worker/task:0", "/job:worker/task:1"]
    assert find(tasks[0].target).call("task", "ping") == "/job:ps/task:0"  # it goes on
    for task in tasks:
        task.stop()


def test_two_trainings_on_one_cluster_push_to_their_own_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"ps": ["localhost:params-d"], "worker": ["localhost:params-e"]}
    tasks = [gx.Server(cluster, job, 0) for job in ("ps", "worker")]
    begun, gate, first = threading.Event(), threading.Event(), [True]

    def gated(buffers: Any, compute: Any) -> Any:
        def waits(pulled: Any) -> Any:
            if first:
                first.clear()
                begun.set()
                gate.wait(30)
            return compute(pulled)

        return exchange_of(buffers, waits)

    monkeypatch.setattr(worker, "step", gated)
    with ParameterServer(cluster=cluster) as one, ParameterServer(cluster=cluster) as other:
        variables: list[Any] = []
        scheduled: list[Any] = []
        for server, size in ((one, 2), (other, 3)):
            with server.scope():
                w = gx.Variable(gx.zeros((size,)))
            variables.append(w)
            scheduled.append(server.schedule(_ascent(w)))
            assert begun.wait(30)  # the first one has pulled, and pushes when the second one is done
        scheduled[1].result()
        gate.set()
        for server in (one, other):
            server.join()
        assert [w.tolist() for w in variables] == [[1.0] * 2, [1.0] * 3]
    for task in tasks:
        task.stop()


def _ascent(w: Any) -> Any:
    optimizer = gx.optim.SGD(1.0)
    return lambda: optimizer.apply_gradients([(gx.zeros(w.shape) - 1.0, w)])


def test_random_numbers_differ_from_step_to_step() -> None:
    with ParameterServer(workers=2) as server:
        gx.random.seed(3)
        drawn = [server.run(lambda: gx.random.normal(())).item() for _ in range(4)]
        assert len(set(drawn)) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"workers": 0}, "workers must be an int from 1, got 0"),
        ({"updates": "now"}, "updates must be 'async' or 'sync', got 'now'"),
        ({"updates": "sync", "staleness": drop(3)}, "synchronous updates have no stale gradients"),
        ({"spares": 1}, "asynchronous updates wait for no worker; omit spares="),
        ({"updates": "sync", "spares": 2}, "spares=2 of 2 workers leaves none to wait for"),
        ({"staleness": 3}, "ParameterServer: staleness: expected a staleness policy"),
        ({"durability": "sync"}, "use durability='checkpoint' or 'sync' with a folder"),
        ({"cluster": {"ps": ["h:1"]}}, "the cluster has no job 'worker'"),
        ({"protocol": "pigeon"}, "there is no protocol 'pigeon'"),
        ({"timeout": 0}, "timeout: expected a positive, finite number of seconds"),
    ],
)
def test_what_a_parameter_server_cannot_be_made_of_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        ParameterServer(**arguments)


def test_what_a_step_cannot_do_is_refused() -> None:
    with ParameterServer(servers=2, workers=1) as server:
        outside = gx.Variable(1.0, name="outside")
        with server.scope():
            w, v, flag = gx.Variable([1.0, 2.0]), gx.Variable(1.0), gx.Variable(False)
        sgd = gx.optim.SGD(0.1)

        def refused(step: Any, message: str, kind: type[Exception] = InvalidArgumentError) -> None:
            with pytest.raises(kind, match=message):
                server.run(step)
            server.join()  # what was told once is not told again

        with pytest.raises(FailedPreconditionError, match="the servers hold no values yet; schedule a step first"):
            server.pull()
        refused(
            lambda: gx.optim.Adam(0.1, clipnorm=1.0).apply_gradients([(gx.ones((2,)), w)]),
            "the update of adam for one number depends on others", UnimplementedError,
        )  # fmt: skip
        refused(lambda: sgd.apply_gradients([(gx.ones(()), outside)]), "updates Variable 'outside', which no server")
        refused(lambda: outside.assign_add(1.0), "assigns Variable 'outside', which no server keeps")
        refused(lambda: flag.assign(True), "of dtype bool, but servers sum changes", InvalidTypeError)
        refused(lambda: v.assign(float("inf")), "to a value that is not finite")

        def twice() -> None:
            sgd.apply_gradients([(gx.ones((2,)), w)])
            sgd.apply_gradients([(gx.ones(()), v)])

        refused(twice, "a step may call apply_gradients once", UnimplementedError)
        refused(lambda: gx.Variable(3.0), "is made after the servers have started")
        server.run(lambda: sgd.apply_gradients([(gx.ones((2,)), w)]))
        refused(lambda: gx.optim.Adam().apply_gradients([(gx.ones((2,)), w)]), "use one optimizer")
        with pytest.raises(UnimplementedError, match=r"make gx.layers.Embedding\(rows, width\) and call it"):
            server.embedding(4, 2, capacity=4)
        refused(lambda: 1 / 0, "division", ZeroDivisionError)
        with pytest.raises(InvalidTypeError, match=r"ParameterServer.schedule: expected a function, got 3"):
            server.schedule(3)  # pyright: ignore[reportArgumentType]
        with pytest.raises(InvalidTypeError, match=r"ParameterServer.dataset: expected a function of a worker's index"):
            server.dataset([1, 2])  # pyright: ignore[reportArgumentType]
        with pytest.raises(OutOfRangeError, match="the data of worker 0 are empty"):
            server.run(lambda x: x, server.dataset(lambda index, count: []))


def test_a_wait_for_a_step_keeps_to_the_deadline() -> None:
    gate = threading.Event()

    def rows(index: int, count: int) -> Iterator[Any]:
        gate.wait(30)
        yield 1.0

    with ParameterServer(workers=1) as server:
        scheduled = server.schedule(lambda x: x, args=(server.dataset(rows),))
        with pytest.raises(DeadlineExceededError, match="while waiting for the step '<lambda>'"), gx.deadline(0.01):
            scheduled.fetch()
        with pytest.raises(DeadlineExceededError, match="the steps that were scheduled"), gx.deadline(0.01):
            server.join()
        gate.set()
        assert scheduled.result() == 1.0


def test_a_step_that_takes_too_long_goes_to_another_worker_and_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    gate, limits, short = threading.Event(), list[float](), list[float]()
    given_up = threading.Event()

    @contextlib.contextmanager
    def limited(seconds: float) -> Iterator[None]:
        limits.append(seconds)
        if not short:
            with gx.deadline(seconds):
                yield
            return
        try:
            with gx.deadline(short.pop()):
                yield
        finally:
            given_up.set()

    def work(x: Any) -> Any:
        if x > 0 and not given_up.is_set():
            gate.wait(30)
        return x

    monkeypatch.setattr(coordinator_module, "deadline", limited)
    with ParameterServer(workers=2, timeout=40.0) as server:
        with server.scope():
            total = gx.Variable(0.0)

        def step(x: Any) -> Any:
            done = call_jax(lambda x: jax.pure_callback(work, jax.ShapeDtypeStruct((), np.float32), x), x)
            total.assign_add(done)
            return done

        assert server.run(step, np.float32(0)).item() == 0.0
        short.append(0.05)
        assert server.run(step, np.float32(1)).item() == 1.0
        assert set(limits) == {60.0}
        assert sum(worker.failures for worker in server.report().workers) >= 1
        given_up.clear()
        short.append(0.05)
        server._coordinator.schedule.attempts = 1  # pyright: ignore[reportPrivateUsage]
        message = r"over the step 2, 'step'; the last was /job:worker/task:\d: .*more than timeout=40 if the step takes"
        with pytest.raises(UnavailableError, match=message):
            server.run(step, np.float32(1))
        server.pull()
        assert total.item() == 1.0
        gate.set()  # who was too late may still push, once
