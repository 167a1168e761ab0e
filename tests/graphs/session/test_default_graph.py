"""What users of TensorFlow 1 write, with the graph of the process as the default one."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphc as gx
import graphc.compat.v1 as tf
from graphc.compiler.base.errors import OutOfRangeError, UnimplementedError
from graphc.graphs.session import reset_default_graph


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[None]:
    reset_default_graph()
    yield
    reset_default_graph()


def test_tensors_are_indexed_outside_of_a_scope() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    with tf.Session() as sess:
        assert sess.run([x[0], x[-1], x[: tf.constant(1)]], {x: np.eye(3)})[1].tolist() == [0, 0, 1]


def test_numpy_arrays_take_the_dtype_of_the_tensor() -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    for y in (x - np.array([1.0, 2.0]), x * np.float64(3), tf.matmul(x, np.eye(2)), tf.maximum(x, np.zeros(2))):
        assert y.dtype == tf.float32


def test_the_seed_of_an_operation_repeats_its_numbers() -> None:
    first, second = tf.random_uniform([2], seed=42), tf.random_uniform([2], seed=42)
    with tf.Session() as sess:
        drawn = [sess.run(first).tolist(), sess.run(second).tolist(), sess.run(first).tolist()]
    assert drawn[0] == drawn[1] != drawn[2]
    with tf.Session() as sess:
        assert sess.run(first).tolist() == drawn[0]


def test_operations_of_the_host_run_in_the_branch_that_is_taken_and_in_each_iteration() -> None:
    queue, total = tf.FIFOQueue(10, tf.float32, shapes=[()]), tf.Variable(1.0)
    fill = queue.enqueue_many(tf.constant([1.0, 2.0, 3.0]))
    choice = tf.placeholder(tf.float32, [])
    taken = tf.cond(choice > 0, lambda: queue.dequeue() * total, lambda: choice)
    doubled = tf.cond(choice > 0, lambda: tf.py_func(lambda x: np.float32(x * 2), [choice], tf.float32), lambda: choice)
    count, rest = tf.while_loop(
        lambda i, _: queue.size() > 0,
        lambda i, rows: (i + 1, tf.concat([rows, [queue.dequeue()]], 0)),
        [0, tf.constant([0.0])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )
    waiting = tf.while_loop(lambda i, _: i < 2, lambda i, x: (i + 1, x + queue.dequeue() * total), [0, 0.0])[1]
    assert rest.shape.as_list() == [None]
    with tf.Session() as sess:
        sess.run([fill, total.initializer])
        assert (sess.run(taken, {choice: -1.0}), sess.run(queue.size())) == (-1.0, 3)
        assert (sess.run(taken, {choice: 1.0}), sess.run(queue.size())) == (1.0, 2)
        assert sess.run(doubled, {choice: 4.0}) == 8.0
        found = sess.run([count, rest])
        assert (found[0], found[1].tolist()) == (2, [0.0, 2.0, 3.0])
        sess.run(fill)
        assert sess.run(waiting) == 3.0
        sess.run(queue.close())
        with pytest.raises(OutOfRangeError, match=r"FIFOQueue .* is closed and has insufficient .*'while_1/while'\]"):
            sess.run(waiting)
    with pytest.raises(UnimplementedError, match="'while_1/while' is a loop or branch with operations of the host"):
        tf.gradients(waiting, [total])


def test_what_a_loop_prints_is_printed_in_each_iteration(capfd: pytest.CaptureFixture[str]) -> None:
    last = tf.while_loop(lambda i: i < 3, lambda i: tf.Print(i, [i], "at ") + 1, [0])
    with tf.Session() as sess:
        assert sess.run(last) == 3
    assert capfd.readouterr().err.split() == ["at", "[0]", "at", "[1]", "at", "[2]"]


def test_branches_order_and_do_things() -> None:
    choice, w = tf.placeholder(tf.float32, []), tf.Variable(1.0)

    def update() -> Any:
        with tf.control_dependencies([tf.assign_add(w, 1.0)]):
            return tf.no_op()

    both = tf.cond(choice > 0, update, lambda: tf.group(tf.assign(w, 7.0)))
    with tf.Session() as sess:
        sess.run(w.initializer)
        sess.run(both, {choice: 1.0})
        assert sess.run(w) == 2.0
        sess.run(both, {choice: -1.0})
        assert sess.run(w) == 7.0


def test_an_initializer_compiles_once() -> None:
    v = tf.Variable(tf.truncated_normal([3]))
    with tf.Session() as sess:
        sess.run(v.initializer)
        first = sess.run(v).tolist()
        sess.run(v.initializer)
        assert sess.run(v).tolist() != first
        assert sum("Assign" in line for line in sess.compile_log) == 1


def test_a_failed_initializer_leaves_a_variable_without_a_value() -> None:
    v = tf.Variable(tf.placeholder(tf.float32, [2]), name="v")
    with tf.Session() as sess:
        with pytest.raises(gx.errors.InvalidArgumentError, match="must feed"):
            sess.run(v.initializer)
        with pytest.raises(gx.errors.FailedPreconditionError, match="uninitialized value v"):
            sess.run(v)


def test_shapes_have_dimensions() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    assert [size.value for size in x.get_shape()] == [None, 3]
    assert x.get_shape().as_list() == [None, 3]
