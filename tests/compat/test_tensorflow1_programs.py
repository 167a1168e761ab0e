"""Programs of TensorFlow 1, as tutorials have them: only the import is another one. They print what tutorials print."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc.compat.v1 as tf

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(autouse=True)
def fresh_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    tf.reset_default_graph()
    yield
    tf.reset_default_graph()


def _write_csv(name: str = "my_test.csv") -> None:
    Path(name).write_text("x1, x2 , target\n1.,, 0\n4., 5. , 1\n7., 8. , 0\n")


def test_a_queue_whose_elements_grow(capsys: pytest.CaptureFixture[str]) -> None:
    q = tf.FIFOQueue(3, "int32")
    init = q.enqueue_many(([0, 1, 2],))
    x = q.dequeue()
    y = x + 1
    q_inc = q.enqueue([y])
    with tf.Session() as sess:
        init.run()
        for _ in range(5):
            v, _ = sess.run([x, q_inc])
            print(v)
    assert capsys.readouterr().out.split() == ["0", "1", "2", "1", "2"]


def test_workers_that_a_coordinator_stops() -> None:
    done: list[int] = []

    def loop(coord: Any, worker_id: int) -> None:
        while not coord.should_stop():
            if worker_id == 3:
                coord.request_stop()
            else:
                coord.wait_for_stop()
        done.append(worker_id)

    coord = tf.train.Coordinator()
    threads = [threading.Thread(target=loop, args=(coord, i)) for i in range(5)]
    for t in threads:
        t.start()
    coord.join(threads)
    assert sorted(done) == [0, 1, 2, 3, 4]


def test_a_queue_runner_of_random_numbers() -> None:
    queue = tf.FIFOQueue(100, "float")
    enqueue_op = queue.enqueue(tf.random_normal([1]))
    qr = tf.train.QueueRunner(queue, [enqueue_op] * 5)
    tf.train.add_queue_runner(qr)
    out_tensor = queue.dequeue()
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        found = [float(sess.run(out_tensor)[0]) for _ in range(6)]
        coord.request_stop()
        coord.join(threads)
    assert len(set(found)) == 6


def test_a_local_server_says_hello(capsys: pytest.CaptureFixture[str]) -> None:
    c = tf.constant("Hello distributed TensorFlow!")
    with tf.Session() as sess:
        print(sess.run(c))
    assert capsys.readouterr().out == "b'Hello distributed TensorFlow!'\n"


def test_csv_fields_have_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    default1 = tf.constant([5.0])
    default2 = tf.constant([6])
    default3 = tf.constant([7])
    dec = tf.decode_csv(tf.constant("1.,,44"), record_defaults=[default1, default2, default3])
    with tf.Session() as sess:
        found = sess.run(dec)
    assert [(value.dtype.name, value.item()) for value in found] == [("float32", 1.0), ("int32", 6), ("int32", 44)]


def _reading(shared: bool) -> tuple[Any, ...]:
    filename_queue = tf.FIFOQueue(capacity=10, dtypes=[tf.string], shapes=[()])
    filename = tf.placeholder(tf.string)
    enqueue_filename = filename_queue.enqueue([filename])
    close_filename_queue = filename_queue.close()
    instance_queue = tf.RandomShuffleQueue(
        capacity=10, min_after_dequeue=2, dtypes=[tf.float32, tf.int32], shapes=[[2], []], name="instance_q",
        shared_name="shared_instance_q",
    )  # fmt: skip

    def read_and_push_instance() -> Any:
        reader = tf.TextLineReader(skip_header_lines=1)
        _, value = reader.read(filename_queue)
        x1, x2, target = tf.decode_csv(value, record_defaults=[[-1.0], [-1.0], [-1]])
        features = tf.stack([x1, x2])
        return instance_queue.enqueue([features, target])

    first = read_and_push_instance()
    enqueues = [first] * 5 if shared else [first, *(read_and_push_instance() for _ in range(4))]
    return filename, enqueue_filename, close_filename_queue, instance_queue, enqueues


_ROWS = [([1.0, -1.0], 0), ([4.0, 5.0], 1), ([7.0, 8.0], 0)]


def _rows(batches: Any) -> list[tuple[list[float], int]]:
    rows = [row for features, targets in batches for row in zip(features.tolist(), targets.tolist(), strict=True)]
    return sorted((list(features), target) for features, target in rows)


def test_readers_of_the_old_way(capsys: pytest.CaptureFixture[str]) -> None:
    _write_csv()
    filename, enqueue_filename, close_filename_queue, instance_queue, enqueues = _reading(shared=True)
    close_instance_queue = instance_queue.close()
    minibatch_instances, minibatch_targets = instance_queue.dequeue_up_to(2)
    batches: list[Any] = []
    with tf.Session() as sess:
        sess.run(enqueue_filename, feed_dict={filename: "my_test.csv"})
        sess.run(close_filename_queue)
        try:
            while True:
                sess.run(enqueues[0])
        except tf.errors.OutOfRangeError:
            print("No more files to read")
        sess.run(close_instance_queue)
        try:
            while True:
                batches.append(sess.run([minibatch_instances, minibatch_targets]))
        except tf.errors.OutOfRangeError:
            print("No more training instances")
    assert capsys.readouterr().out == "No more files to read\nNo more training instances\n"
    assert [len(targets) for _, targets in batches] == [2, 1]
    assert _rows(batches) == _ROWS


@pytest.mark.parametrize("shared", [True, False])
def test_queue_runners_read_from_several_threads(shared: bool) -> None:
    _write_csv()
    filename, enqueue_filename, close_filename_queue, instance_queue, enqueues = _reading(shared)
    minibatch_instances, minibatch_targets = instance_queue.dequeue_up_to(2)
    queue_runner = tf.train.QueueRunner(instance_queue, enqueues)
    batches: list[Any] = []
    with tf.Session() as sess:
        sess.run(enqueue_filename, feed_dict={filename: "my_test.csv"})
        sess.run(close_filename_queue)
        coord = tf.train.Coordinator()
        threads = queue_runner.create_threads(sess, coord=coord, start=True)
        try:
            while True:
                batches.append(sess.run([minibatch_instances, minibatch_targets]))
        except tf.errors.OutOfRangeError:
            pass
        coord.join(threads)
    assert _rows(batches) == _ROWS


def test_a_timeout_of_every_operation(capsys: pytest.CaptureFixture[str]) -> None:
    q = tf.FIFOQueue(capacity=10, dtypes=[tf.float32], shapes=[()])
    v = tf.placeholder(tf.float32)
    enqueue = q.enqueue([v])
    dequeue = q.dequeue()
    output = dequeue + 1
    config = tf.ConfigProto()
    config.operation_timeout_in_ms = 60_000
    with tf.Session(config=config) as sess:
        sess.run(enqueue, feed_dict={v: 1.0})
        sess.run(enqueue, feed_dict={v: 2.0})
        sess.run(enqueue, feed_dict={v: 3.0})
        print(sess.run(output))
        print(sess.run(output, feed_dict={dequeue: 5}))
        print(sess.run(output))
        print(sess.run(output))
    config.operation_timeout_in_ms = 50
    with tf.Session(config=config) as sess:
        try:
            print(sess.run(output))
        except tf.errors.DeadlineExceededError:
            print("Timed out while dequeuing")
    assert capsys.readouterr().out == "2.0\n6.0\n3.0\n4.0\nTimed out while dequeuing\n"


def test_tuples_close_and_batches() -> None:
    q = tf.FIFOQueue(capacity=10, dtypes=[tf.int32, tf.float32], shapes=[[], [3, 2]], name="q", shared_name="shared_q")
    a = tf.placeholder(tf.int32, shape=())
    b = tf.placeholder(tf.float32, shape=(3, 2))
    enqueue = q.enqueue((a, b))
    dequeue_as, dequeue_bs = q.dequeue_many(2)
    with tf.Session() as sess:
        sess.run(enqueue, feed_dict={a: 10, b: [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]})
        sess.run(enqueue, feed_dict={a: 11, b: [[2.0, 4.0], [6.0, 8.0], [0.0, 2.0]]})
        sess.run(enqueue, feed_dict={a: 12, b: [[3.0, 6.0], [9.0, 2.0], [5.0, 8.0]]})
        found_a, found_b = sess.run([dequeue_as, dequeue_bs])
        assert found_a.tolist() == [10, 11]
        assert found_b.shape == (2, 3, 2)
        sess.run(q.close())
        with pytest.raises(tf.errors.CancelledError):
            sess.run(enqueue, feed_dict={a: 1, b: np.zeros((3, 2))})
        with pytest.raises(tf.errors.OutOfRangeError, match=r"2.*1"):
            sess.run([dequeue_as, dequeue_bs])


def test_padding_and_shuffling() -> None:
    q = tf.PaddingFIFOQueue(capacity=50, dtypes=[tf.float32], shapes=[(None, None)], name="q", shared_name="shared_q")
    v = tf.placeholder(tf.float32, shape=(None, None))
    enqueue = q.enqueue([v])
    dequeue = q.dequeue_many(3)
    s = tf.RandomShuffleQueue(capacity=50, min_after_dequeue=10, dtypes=[tf.float32], shapes=[()], name="s")
    many = tf.placeholder(tf.float32, shape=(None,))
    fill, drawn = s.enqueue_many([many]), s.dequeue_many(5)
    with tf.Session() as sess:
        sess.run(enqueue, feed_dict={v: [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]})
        sess.run(enqueue, feed_dict={v: [[1.0]]})
        sess.run(enqueue, feed_dict={v: [[7.0, 8.0, 9.0, 5.0], [6.0, 7.0, 8.0, 9.0]]})
        found = sess.run(dequeue)
        assert found.shape == (3, 3, 4)
        assert found[1].tolist() == [[1.0, 0.0, 0.0, 0.0], [0.0] * 4, [0.0] * 4]
        sess.run(fill, {many: np.arange(1.0, 23.0)})
        taken = [*sess.run(drawn), *sess.run(drawn)]
        assert len(set(taken)) == 10
        options = tf.RunOptions()
        options.timeout_in_ms = 50
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(drawn, options=options)


def test_data_that_is_preloaded_into_a_variable() -> None:
    n_features = 3
    training_set_init = tf.placeholder(tf.float32, shape=(None, n_features))
    training_set = tf.Variable(training_set_init, trainable=False, collections=[], name="training_set")
    mean = tf.reduce_mean(training_set, axis=0)
    data = np.arange(12.0).reshape(4, 3)
    with tf.Session() as sess:
        sess.run(training_set.initializer, feed_dict={training_set_init: data})
        assert sess.run(mean).tolist() == data.mean(0).tolist()
    assert tf.global_variables() == []
    assert tf.trainable_variables() == []


def test_devices_and_control_dependencies(capfd: pytest.CaptureFixture[str]) -> None:
    def variables_on_cpu(op: Any) -> str:
        return "/cpu:0" if op.type == "Variable" else "/cpu:1"

    with tf.device(variables_on_cpu):
        a = tf.Variable(3.0, name="a")
        b = tf.constant(4.0)
        c = a * b
    with tf.control_dependencies([a, b]):
        x = tf.constant(3.0)
        y = tf.constant(4.0)
    z = x + y
    with tf.Session() as sess:
        a.initializer.run(session=sess)
        assert sess.run([c, z]) == [12.0, 7.0]
    assert "CPU:1" in c.device.upper()


def test_an_input_pipeline_of_producers() -> None:
    for part in range(3):
        Path(f"part{part}.csv").write_text("".join(f"{part * 10 + row}.5,{row}\n" for row in range(4)))
    names = tf.train.string_input_producer([f"part{part}.csv" for part in range(3)], num_epochs=1, shuffle=True)
    _, line = tf.TextLineReader().read(names)
    x, y = tf.decode_csv(line, record_defaults=[[0.0], [0]])
    xs, ys = tf.train.shuffle_batch(
        [x, y], batch_size=5, capacity=20, min_after_dequeue=4, allow_smaller_final_batch=True
    )
    found: list[float] = []
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        try:
            while not coord.should_stop():
                batch, _ = sess.run([xs, ys])
                found += batch.tolist()
        except tf.errors.OutOfRangeError:
            pass
        finally:
            coord.request_stop()
        coord.join(threads)
    assert sorted(found) == sorted(part * 10 + row + 0.5 for part in range(3) for row in range(4))


def test_a_model_is_trained_from_a_queue() -> None:
    rng = np.random.RandomState(0)
    inputs = rng.randn(400, 3).astype("float32")
    targets = inputs @ np.array([[1.0], [-2.0], [0.5]], "float32") + 0.25
    queue = tf.FIFOQueue(200, [tf.float32, tf.float32], shapes=[[3], [1]])
    x, t = tf.placeholder(tf.float32, (None, 3)), tf.placeholder(tf.float32, (None, 1))
    enqueue, (xs, ts) = queue.enqueue_many([x, t]), queue.dequeue_many(20)
    w = tf.Variable(tf.zeros([3, 1]), name="w")
    b = tf.Variable(tf.zeros([1]), name="b")
    loss = tf.reduce_mean(tf.square(tf.matmul(xs, w) + b - ts))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        feeder = threading.Thread(target=lambda: [sess.run(enqueue, {x: inputs, t: targets}) for _ in range(4)])
        feeder.start()
        for _ in range(80):
            _, last = sess.run([step, loss])
        feeder.join(30)
        assert last < 1e-3
        assert np.allclose(sess.run(w).ravel(), [1.0, -2.0, 0.5], atol=0.05)
