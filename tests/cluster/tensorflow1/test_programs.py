"""Cluster programs of TensorFlow 1, as tutorials have them: only the import is another one."""

from __future__ import annotations

import logging
import threading
from typing import Any

import pytest

import graphc.compat.v1 as tf

pytestmark = [pytest.mark.timeout(180), pytest.mark.usefixtures("servers")]


def test_a_local_server_says_hello(capsys: pytest.CaptureFixture[str]) -> None:
    c = tf.constant("Hello distributed TensorFlow!")
    server = tf.train.Server.create_local_server()

    with tf.Session(server.target) as sess:
        print(sess.run(c))
    server.stop()
    assert capsys.readouterr().out == "b'Hello distributed TensorFlow!'\n"


def test_operations_are_pinned_across_servers(capsys: pytest.CaptureFixture[str]) -> None:
    with tf.device("/job:ps"):
        a = tf.Variable(1.0, name="a")

    with tf.device("/job:worker"):
        b = a + 2

    with tf.device("/job:worker/task:1"):
        c = a + b

    with tf.Session("grpc://127.0.0.1:2221") as sess:
        sess.run(a.initializer)
        print(c.eval())
    assert capsys.readouterr().out == "4.0\n"


def test_variables_are_sharded_over_servers(caplog: pytest.LogCaptureFixture) -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, ps_device="/job:ps", worker_device="/job:worker")):
        v1 = tf.Variable(1.0, name="v1")
        v2 = tf.Variable(2.0, name="v2")
        v3 = tf.Variable(3.0, name="v3")
        s = v1 + v2
        with tf.device("/task:1"):
            p1 = 2 * s
            with tf.device("/cpu:0"):
                p2 = 3 * s

    config = tf.ConfigProto()
    config.log_device_placement = True

    with tf.Session("grpc://127.0.0.1:2221", config=config) as sess, caplog.at_level(logging.INFO, "graphc.placement"):
        v1.initializer.run()
        sess.run([v2.initializer, v3.initializer])
        assert sess.run([p1, p2, v3]) == [6.0, 9.0, 3.0]
    for name, task in (("v1", "/job:ps/replica:0/task:0"), ("v2", "/job:ps/replica:0/task:1")):
        assert any(f"'{name}/Assign'" in line and f"placed on {task}/device:CPU:0" in line for line in caplog.messages)
    assert any("'mul_1'" in line and "placed on /job:worker/replica:0/task:1" in line for line in caplog.messages)


def simple_client(target: str, *, init: bool = False, container: str = "") -> float:
    with tf.Graph().as_default(), tf.container(container):
        x = tf.Variable(0.0, name="x")
        increment_x = tf.assign(x, x + 1)

        with tf.Session(target) as sess:
            if init:
                sess.run(x.initializer)
            sess.run(increment_x)
            return float(x.eval())


def test_clients_share_variables_by_container_and_name() -> None:
    a, b = "grpc://127.0.0.1:2221", "grpc://127.0.0.1:2224"
    assert simple_client(a, init=True) == 1.0
    assert simple_client(b) == 2.0
    assert simple_client(b, init=True, container="my_problem_1") == 1.0
    assert simple_client(a, container="my_problem_1") == 2.0
    tf.Session.reset(a, ["my_problem_1"])
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value"):
        simple_client(b, container="my_problem_1")
    assert simple_client(b) == 3.0


def shared_queue() -> Any:
    return tf.FIFOQueue(capacity=10, dtypes=[tf.float32], shapes=[[2]], name="q", shared_name="shared_q")


def test_a_loader_fills_a_queue_that_a_trainer_empties() -> None:
    def training_data_loader() -> None:
        with tf.Graph().as_default():
            q = shared_queue()
            training_instance = tf.placeholder(tf.float32, shape=(2))
            enqueue = q.enqueue([training_instance])
            with tf.Session("grpc://127.0.0.1:2221") as sess:
                sess.run(enqueue, feed_dict={training_instance: [1.0, 2.0]})
                sess.run(enqueue, feed_dict={training_instance: [3.0, 4.0]})
                sess.run(enqueue, feed_dict={training_instance: [5.0, 6.0]})

    loader = threading.Thread(target=training_data_loader)
    loader.start()
    q = shared_queue()
    dequeue_mini_batch = q.dequeue_many(2)
    with tf.Session("grpc://127.0.0.1:2224") as sess:
        assert sess.run(dequeue_mini_batch).tolist() == [[1.0, 2.0], [3.0, 4.0]]
        loader.join()
        run_options = tf.RunOptions()
        run_options.timeout_in_ms = 50
        with pytest.raises(tf.errors.DeadlineExceededError, match="dequeue_many"):
            sess.run(dequeue_mini_batch, options=run_options)
        assert sess.run(q.dequeue()).tolist() == [5.0, 6.0]  # the instance that the other one waited with
    config = tf.ConfigProto()
    config.operation_timeout_in_ms = 50
    with tf.Session("grpc://127.0.0.1:2225", config=config) as sess, pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(dequeue_mini_batch)


WEIGHTS = (1.0, 2.0, 6.0)


def test_an_ensemble_in_one_graph() -> None:
    x = tf.placeholder(tf.float32, [None])
    predictions = []
    for index, weight in enumerate(WEIGHTS):
        with tf.device(f"/job:worker/task:{index}"):
            predictions.append(x * tf.Variable(weight, name=f"w{index}"))
    with tf.device("/job:ps"):
        mean = tf.add_n(predictions) / 3.0
    with tf.Session("grpc://127.0.0.1:2221") as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(mean, {x: [1.0, 2.0]}).tolist() == [3.0, 6.0]


def test_an_ensemble_of_graphs_with_queues(servers: dict[str, Any]) -> None:
    def queues(kind: str, index: int) -> Any:
        with tf.device("/job:ps"):
            return tf.FIFOQueue(10, tf.float32, shapes=[[]], shared_name=f"{kind}_{index}")

    def network(index: int) -> None:
        with tf.Graph().as_default():
            weight = tf.Variable(WEIGHTS[index], name=f"w{index}")
            predict = queues("predictions", index).enqueue([queues("inputs", index).dequeue() * weight])
            coord = tf.train.Coordinator()
            with tf.Session(servers[f"worker{index}"].target) as sess, coord.stop_on_exception():
                sess.run(weight.initializer)
                while True:
                    sess.run(predict)

    networks = [threading.Thread(target=network, args=(index,)) for index in range(3)]
    for thread in networks:
        thread.start()
    value = tf.placeholder(tf.float32, [])
    inputs = [queues("inputs", index) for index in range(3)]
    enqueue = tf.group(*[q.enqueue([value]) for q in inputs])
    dequeues = [queues("predictions", index).dequeue() for index in range(3)]
    closes = [q.close() for q in inputs]
    with tf.Session(servers["ps0"].target) as sess:
        for given in (1.0, 2.0):
            sess.run(enqueue, {value: given})
            assert sum(sess.run(dequeues)) == given * sum(WEIGHTS)
        sess.run(closes[2])  # one network ends, and the ensemble goes on with the others
        networks[2].join()
        sess.run([inputs[0].enqueue(5.0), inputs[1].enqueue(5.0)])
        answers = []
        for dequeue, milliseconds in zip(dequeues, (60_000, 60_000, 50), strict=True):
            try:
                answers.append(float(sess.run(dequeue, options=tf.RunOptions(timeout_in_ms=milliseconds))))
            except tf.errors.DeadlineExceededError:
                answers.append(None)
        assert answers == [5.0, 10.0, None]
        sess.run(closes[:2])
    for thread in networks:
        thread.join()


def test_a_worker_waits_until_the_chief_has_initialized(servers: dict[str, Any]) -> None:
    found: dict[int, list[int]] = {0: [], 1: []}

    def work(index: int) -> None:
        with tf.Graph().as_default():
            setter = tf.train.replica_device_setter(ps_tasks=2, worker_device=f"/job:worker/task:{index}")
            with tf.device(setter):
                step = tf.train.get_or_create_global_step()
                count = tf.Variable(100, name="count")
                more = tf.group(tf.assign_add(step, 1), tf.assign_add(count, 1))
            with tf.train.MonitoredTrainingSession(servers[f"worker{index}"].target, is_chief=index == 0) as sess:
                for _ in range(10):
                    sess.run(more)
                found[index] = [int(value) for value in sess.run([step, count])]

    threads = [threading.Thread(target=work, args=(index,)) for index in (1, 0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    steps, counts = zip(*found.values(), strict=True)
    assert (max(steps), max(counts)) == (20, 120)  # whoever has read last has seen all updates
