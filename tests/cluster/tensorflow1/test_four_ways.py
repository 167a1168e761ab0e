"""Data parallelism as TensorFlow 1 has it: in one graph or between graphs, synchronous or not, on a digits MLP."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc.compat.v1 as tf
from tests.cluster.tensorflow1.conftest import CLUSTER

pytestmark = pytest.mark.timeout(180)

BATCH = 50


@pytest.fixture(scope="module")
def digits() -> tuple[Any, ...]:
    """Pictures and numbers to train and to test with."""
    found: Any = pytest.importorskip(
        "sklearn.datasets"
    ).load_digits()  # not while tests are collected: it takes a second
    order = np.random.default_rng(0).permutation(len(found.target))
    x, y = (found.data / 16.0).astype(np.float32)[order], found.target.astype(np.int32)[order]
    return x[:1500], y[:1500], x[1500:], y[1500:]


def batch(digits: tuple[Any, ...], worker: int, step: int) -> tuple[Any, Any]:
    """What a worker trains with in a step; workers take turns."""
    start = (2 * step + worker) * BATCH % 1500
    return digits[0][start : start + BATCH], digits[1][start : start + BATCH]


class Network:
    """A network with one hidden layer; its weights are made once, and its losses as often as there are replicas."""

    def __init__(self) -> None:
        draw = np.random.default_rng(1)

        def variable(name: str, *shape: int) -> Any:
            scale = 0.1 if len(shape) == 2 else 0.0
            return tf.Variable((scale * draw.standard_normal(shape)).astype(np.float32), name=name)

        self.weights = [variable("w1", 64, 32), variable("b1", 32), variable("w2", 32, 10), variable("b2", 10)]

    def replica(self) -> tuple[Any, Any, Any]:
        """Returns the placeholders of a replica, and its loss."""
        x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int32, [None])
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=self.logits(x))
        return x, y, tf.reduce_mean(losses)

    def logits(self, x: Any) -> Any:
        w1, b1, w2, b2 = self.weights
        return tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) + b2


def accuracy(digits: tuple[Any, ...], weights: Any) -> float:
    w1, b1, w2, b2 = weights
    found = np.maximum(digits[2] @ w1 + b1, 0.0) @ w2 + b2
    return float(np.mean(found.argmax(1) == digits[3]))


def at_once(work: Callable[[int], Any], workers: int) -> None:
    """Runs something for several workers at once, each in a thread of its own; raises what one of them raises."""
    coord = tf.train.Coordinator(clean_stop_exception_types=())

    def one(index: int) -> None:
        with coord.stop_on_exception():
            work(index)

    threads = [threading.Thread(target=one, args=(index,), name=f"worker {index}") for index in range(workers)]
    for thread in threads:
        thread.start()
    coord.join(threads)


def setter(index: int) -> Any:
    """Puts Variables on the parameter servers, and the rest on a worker."""
    return tf.device(tf.train.replica_device_setter(cluster=CLUSTER, worker_device=f"/job:worker/task:{index}"))


STEPS = 40


@pytest.fixture(scope="module")
def alone(digits: tuple[Any, ...]) -> Any:
    """The weights after steps with the batches of two workers together, in this process."""
    with tf.Graph().as_default():
        network = Network()
        x, y, loss = network.replica()
        train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(STEPS):
                halves = [batch(digits, worker, step) for worker in range(2)]
                both = [np.concatenate(parts) for parts in zip(*halves, strict=True)]
                sess.run(train, dict(zip((x, y), both, strict=True)))
            return sess.run(network.weights)


def test_in_graph_and_synchronous(servers: dict[str, Any], digits: tuple[Any, ...], alone: Any) -> None:
    with tf.Graph().as_default():
        with setter(0):
            network = Network()
        replicas = []
        for index in range(2):
            with tf.device(f"/job:worker/task:{index}"):
                replicas.append(network.replica())
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        found = [optimizer.compute_gradients(loss, network.weights) for _, _, loss in replicas]
        means = [(tf.add_n([g for g, _ in pairs]) / 2.0, pairs[0][1]) for pairs in zip(*found, strict=True)]
        train = optimizer.apply_gradients(means)
        with tf.Session(servers["worker0"].target) as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(STEPS):
                feeds: dict[Any, Any] = {}
                for index, (x, y, _) in enumerate(replicas):
                    feeds[x], feeds[y] = batch(digits, index, step)
                sess.run(train, feeds)
            weights = sess.run(network.weights)
    for one, other in zip(weights, alone, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    assert accuracy(digits, weights) > 0.85


def test_in_graph_and_asynchronous(servers: dict[str, Any], digits: tuple[Any, ...]) -> None:
    with tf.Graph().as_default():
        with setter(0):
            network, step = Network(), tf.train.get_or_create_global_step()
        replicas = []
        for index in range(2):
            with tf.device(f"/job:worker/task:{index}"):
                x, y, loss = network.replica()
            train = tf.train.GradientDescentOptimizer(0.2).minimize(loss, step, network.weights)
            replicas.append((x, y, train))
        with tf.Session(servers["worker0"].target) as sess:
            sess.run(tf.global_variables_initializer())

            def work(index: int) -> None:
                x, y, train = replicas[index]
                for number in range(2 * STEPS):
                    sess.run(train, dict(zip((x, y), batch(digits, index, number), strict=True)))

            at_once(work, 2)
            assert sess.run(step) == 4 * STEPS
            assert accuracy(digits, sess.run(network.weights)) > 0.85


def test_between_graphs_and_asynchronous(servers: dict[str, Any], digits: tuple[Any, ...], tmp_path: Path) -> None:
    def work(index: int) -> None:
        with tf.Graph().as_default():
            with setter(index):
                network, step = Network(), tf.train.get_or_create_global_step()
                x, y, loss = network.replica()
                train = tf.train.GradientDescentOptimizer(0.2).minimize(loss, step)
            with tf.train.MonitoredTrainingSession(
                master=servers[f"worker{index}"].target, is_chief=index == 0, checkpoint_dir=str(tmp_path),
                save_summaries_steps=0, log_step_count_steps=0, hooks=[tf.train.StopAtStepHook(last_step=4 * STEPS)],
            ) as sess:  # fmt: skip
                number = 0
                while not sess.should_stop():
                    sess.run(train, dict(zip((x, y), batch(digits, index, number), strict=True)))
                    number += 1

    at_once(work, 2)
    last = tf.train.latest_checkpoint(str(tmp_path))
    assert 4 * STEPS <= tf.train.load_variable(last, "global_step") <= 4 * STEPS + 4
    assert accuracy(digits, [tf.train.load_variable(last, name) for name in ("w1", "b1", "w2", "b2")]) > 0.85


class Synchronous:
    """A worker of synchronous training between graphs.

    Args:
      digits: what it trains with.
      index: which worker it is; the first is the chief.
      target: its server.
      wanted: how many gradients make an update.
      replicas: how many workers there are.
      tokens: how many tokens there are at the beginning.
    """

    def __init__(
        self, digits: tuple[Any, ...], index: int, target: str, wanted: int, replicas: int, tokens: int = 0
    ) -> None:
        self._digits, self._index, self._target = digits, index, target
        self.graph = tf.Graph()
        with self.graph.as_default(), setter(index):
            self.network, self.step = Network(), tf.train.get_or_create_global_step()
            self._x, self._y, loss = self.network.replica()
            optimizer = tf.train.SyncReplicasOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), wanted, replicas)
            self._train = optimizer.minimize(loss, self.step)
            self._hook = optimizer.make_session_run_hook(index == 0, tokens)

    def train(self, last: int, done: threading.Barrier, before: Callable[[Any], None] = lambda sess: None) -> Any:
        """Trains until the global step is there; returns the weights.

        Args:
          last: the global step.
          done: where workers wait for each other at the end: the chief's Session ends the queue of tokens.
          before: is called before each step with the Session.
        """
        with (
            self.graph.as_default(),
            tf.train.MonitoredTrainingSession(
                self._target, self._index == 0, hooks=[self._hook], stop_grace_period_secs=20
            ) as sess,
        ):
            step = 0
            while step < last:
                before(sess)
                given = dict(zip((self._x, self._y), batch(self._digits, self._index, step), strict=True))
                step = int(sess.run(self._train, given))
            done.wait(60)
            weights = sess.run_step_fn(lambda step_context: step_context.session.run(self.network.weights))
            done.wait(60)
            return weights


def test_between_graphs_and_synchronous(servers: dict[str, Any], digits: tuple[Any, ...], alone: Any) -> None:
    found: dict[int, Any] = {}
    done, step = threading.Barrier(2), threading.Barrier(2)

    def work(index: int) -> None:
        worker = Synchronous(digits, index, servers[f"worker{index}"].target, wanted=2, replicas=2)
        # As in TensorFlow, a worker that is faster may take the other's token, and give both gradients of a step.
        found[index] = worker.train(STEPS, done, lambda sess: step.wait(60))

    at_once(work, 2)
    for index in range(2):
        for one, other in zip(found[index], alone, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_a_slow_worker_is_not_waited_for(servers: dict[str, Any], digits: tuple[Any, ...]) -> None:
    """Two gradients make an update, and there are three workers: one is spare. The last is behind by ten steps."""
    fast, slow_began = threading.Event(), threading.Event()
    found: dict[int, Any] = {}
    steps: list[int] = []
    done = threading.Barrier(3)

    def work(index: int) -> None:
        worker = Synchronous(digits, index, servers[f"worker{index}"].target, wanted=2, replicas=3)

        def before(sess: Any) -> None:
            if index == 2 and len(steps) == 1:
                slow_began.set()
                assert fast.wait(60)  # it has made a step, and begins the next when the others are far ahead
            elif index < 2 and not fast.is_set():
                step = sess.run_step_fn(lambda step_context: step_context.session.run(worker.step))
                if step >= 1:
                    assert slow_began.wait(60)
                if step >= 10:
                    fast.set()
            if index == 2:
                steps.append(int(sess.run_step_fn(lambda step_context: step_context.session.run(worker.step))))

        found[index] = worker.train(STEPS, done, before)

    at_once(work, 3)
    assert steps[1] - steps[0] >= 5  # the others went on without it
    assert accuracy(digits, found[0]) > 0.85


def test_a_killed_worker_is_not_waited_for(servers: dict[str, Any], digits: tuple[Any, ...]) -> None:
    """Two gradients make an update, and there are three workers; the task of one is ended after some steps."""
    found: dict[int, Any] = {}
    done = threading.Barrier(2)

    def work(index: int) -> None:
        worker = Synchronous(digits, index, servers[f"worker{index}"].target, wanted=2, replicas=3)
        if index < 2:
            found[index] = worker.train(STEPS, done)
            return
        runs: list[int] = []

        def before(sess: Any) -> None:
            runs.append(len(runs))
            if len(runs) == 4:
                servers["worker2"].stop()
            if len(runs) > 4:
                raise RuntimeError("it runs on")

        # Its Session is lost, and another one finds no server.
        with pytest.raises(tf.errors.NotFoundError, match=r"there is no task at '127\.0\.0\.1:2225'"):
            worker.train(STEPS, done, before)

    at_once(work, 3)
    assert accuracy(digits, found[0]) > 0.85
    for one, other in zip(found[0], found[1], strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_parameter_server_that_is_started_anew_gets_its_values_from_the_checkpoint(
    servers: dict[str, Any], digits: tuple[Any, ...], tmp_path: Path
) -> None:
    with tf.Graph().as_default():
        with setter(0):
            network, step = Network(), tf.train.get_or_create_global_step()
            x, y, loss = network.replica()
            train = tf.train.GradientDescentOptimizer(0.2).minimize(loss, step)
        losses: dict[int, float] = {}
        with tf.train.MonitoredTrainingSession(
            servers["worker0"].target, checkpoint_dir=str(tmp_path), save_checkpoint_steps=4, save_summaries_steps=0,
            log_step_count_steps=0, hooks=[tf.train.StopAtStepHook(last_step=10)],
        ) as sess:  # fmt: skip
            number, restarted = 0, False
            while not sess.should_stop():
                number, value, _ = sess.run([step, loss, train], dict(zip((x, y), batch(digits, 0, 0), strict=True)))
                assert losses.setdefault(int(number), float(value)) == float(value)
                if number == 6 and not restarted:
                    restarted, definition = True, servers["ps0"].server_def
                    servers["ps0"].stop()
                    servers["ps0"] = tf.train.Server(definition)
        assert sorted(losses) == list(range(10))  # those after the checkpoint were made twice, with the same losses
        assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-10")
