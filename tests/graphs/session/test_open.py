"""Graphs whose placeholders leave sizes open, run for several shapes."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import graphc as gx
import graphc.compat.v1 as tf
from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.ops import COMPOSED, HOST_VALUE
from graphc.graphs.session import Graph, RunOptions, Session, placeholder

X = np.arange(12, dtype=np.float32).reshape(4, 3)
IMAGES = np.ones((2, 5, 5, 3), np.float32)


def run(function: Any, shape: Any, *feeds: Any) -> list[Any]:
    """What a function of a placeholder of this shape gives for each feed, in one Session."""
    graph = Graph()
    with graph.as_default():
        x = placeholder(feeds[0].dtype, shape=shape)
        y = function(x)
    with Session(graph=graph) as session:
        return [session.run(y, {x: feed}) for feed in feeds]


COMPOSITIONS = {
    "cumsum": lambda x: tf.cumsum(x, exclusive=True),
    "gather": lambda x: tf.gather(x, [[0, 1]] * 4, axis=1, batch_dims=1) if x is X else tf.gather(x, [0, 0], axis=1),
    "diag": lambda x: tf.matrix_diag(x),
    "weighted_moments": lambda x: tf.nn.weighted_moments(x, [0], x + 1.0),
    "map_fn": lambda x: tf.map_fn(lambda row: row * 2.0, x),
    "foldl": lambda x: tf.foldl(lambda total, row: total + row, x),
    "reverse_sequence": lambda x: tf.reverse_sequence(x, tf.ones([tf.shape(x)[0]], tf.int32), seq_axis=1),
    "band_part": lambda x: tf.matrix_band_part(x, 0, 1),
}


@pytest.mark.parametrize("name", sorted(COMPOSITIONS))
def test_what_looks_at_sizes_is_done_when_they_are_known(name: str) -> None:
    function = COMPOSITIONS[name]
    for shape in ((None, 3), (None, None)):
        found = run(function, shape, X, X[:2])
        for feed, results in zip((X, X[:2]), found, strict=True):
            (wanted,) = run(function, feed.shape, feed)
            for one, other in zip(_flat(results), _flat(wanted), strict=True):
                np.testing.assert_allclose(one, other)


def _flat(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple | list) else [value]


def test_channels_that_are_open() -> None:
    filters = np.ones((2, 2, 3, 4), np.float32)
    (found,) = run(lambda x: tf.nn.conv2d(x, filters, [1, 1, 1, 1], "SAME"), (None,) * 4, IMAGES)
    assert found.shape == (2, 5, 5, 4)


def test_a_composition_is_one_node_of_which_gradients_are_known() -> None:
    graph = Graph()
    with graph.as_default():
        x = placeholder("float32", shape=(None, 3))
        factor = placeholder("float32", shape=(None,))
        y = tf.map_fn(lambda row: row * gx.sum(factor), x)
        assert y.raw.node.op is COMPOSED
        assert y.name.startswith("map")
        assert y.shape == (None, 3)
        (gradient,) = graph.gradients(gx.sum(y), [x])
    with Session(graph=graph) as session:
        for rows in (1, 4):
            found = session.run([y, gradient], {x: X[:rows], factor: np.ones(rows, np.float32)})
            np.testing.assert_allclose(found[0], X[:rows] * rows)
            np.testing.assert_allclose(found[1], np.full((rows, 3), rows))


def test_a_conflict_inside_a_composition_is_refused_in_its_words() -> None:
    with Graph().as_default():
        x = placeholder("float32", shape=(None, 3))
        with pytest.raises(InvalidArgumentError) as caught:
            tf.nn.weighted_moments(x, [0], np.ones(4, np.float32))
    message = str(caught.value)
    assert "weighted_moments(f32[?,3])" in message
    assert "(4,)" in message
    assert __file__ in message


def test_many_threads_run_a_composition_for_many_shapes() -> None:
    graph = Graph()
    with graph.as_default():
        x = placeholder("float32", shape=(None, 3))
        y = tf.cumsum(x)
    failed: list[BaseException] = []
    barrier = threading.Barrier(4)

    def work(first: int) -> None:
        try:
            barrier.wait(30)
            for rows in range(first, first + 4):
                feed = np.ones((rows, 3), np.float32)
                np.testing.assert_array_equal(session.run(y, {x: feed}), np.cumsum(feed, axis=0))
        except BaseException as error:
            failed.append(error)

    with Session(graph=graph) as session:
        threads = [threading.Thread(target=work, args=(first,)) for first in (1, 2, 3, 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert not failed


SHAPES = {
    "reshape": lambda x, n: tf.reshape(x, [n, -1]),
    "zeros": lambda x, n: tf.zeros([n, tf.shape(x)[1]]),
    "fill": lambda x, n: tf.fill([n], 2.0),
    "range": lambda x, n: tf.range(n),
    "tile": lambda x, n: tf.tile(x, [n, 1]),
    "one_hot": lambda x, n: tf.one_hot([0, 1], n),
    "slice": lambda x, n: tf.slice(x, [0, 0], [n, 2]),
    "index": lambda x, n: x[:n],
    "sequence_mask": lambda x, n: tf.sequence_mask([1, 2], n),
    "random": lambda x, n: tf.shape(tf.random_normal([n, 3])),
    "eye": lambda x, n: tf.eye(n),
    "linspace": lambda x, n: tf.linspace(0.0, 1.0, n),
    "pad": lambda x, n: tf.pad(x, [[0, n], [0, 0]]),
    "unsorted": lambda x, n: tf.unsorted_segment_sum(x, [0, 1, 0, 1], n),
    "broadcast": lambda x, n: tf.broadcast_to(x[0], [n, 3]),
    "argmax": lambda x, n: tf.argmax(x, n - 1),
}


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_a_shape_may_be_fed(name: str) -> None:
    graph = Graph()
    with graph.as_default():
        x = placeholder("float32", shape=(None, 3))
        n = placeholder("int32", shape=())
        y = SHAPES[name](x, n)
    with Session(graph=graph) as session:
        for given in (2, 1, 2):
            found = session.run(y, {x: X, n: given})
            with Graph().as_default(), Session() as other:
                wanted = other.run(SHAPES[name](tf.constant(X), given))
            np.testing.assert_allclose(found, wanted)


IDS = np.array([0, 0, 1, 1], np.int32)
BY_VALUE = {
    "boolean_mask": lambda x, ids: tf.boolean_mask(x, x[:, 0] > 2.0),
    "mask_of_two_axes": lambda x, ids: tf.boolean_mask(tf.expand_dims(x, 0), [[True, False, True, True]], axis=0),
    "where": lambda x, ids: tf.where(x > 5.0),
    "unique": lambda x, ids: tf.unique(ids),
    "dynamic_partition": lambda x, ids: tf.dynamic_partition(x, ids, 2),
    "segment_sum": lambda x, ids: tf.segment_sum(x, ids),
    "segment_max": lambda x, ids: tf.segment_max(x, ids),
    "computed": lambda x, ids: tf.zeros([tf.cast(tf.reduce_sum(x[1]), tf.int32), 2]) + 1.0,
}


@pytest.mark.parametrize("name", sorted(BY_VALUE))
def test_a_shape_may_depend_on_what_a_run_computes(name: str) -> None:
    function = BY_VALUE[name]
    graph = Graph()
    with graph.as_default():
        x, ids = placeholder("float32", shape=(None, 3)), placeholder("int32", shape=(None,))
        y = function(x, ids)
    with Session(graph=graph) as session:
        for rows in (4, 3, 4) if name != "mask_of_two_axes" else (4, 4):
            found = session.run(y, {x: X[:rows], ids: IDS[:rows]})
            with Graph().as_default() as other, Session(graph=other) as closed:
                wanted = closed.run(function(tf.constant(X[:rows]), tf.constant(IDS[:rows])))
            leaves = [nest.flatten(value)[0] for value in (found, wanted)]
            assert len(leaves[0]) == len(leaves[1])
            for one, right in zip(*leaves, strict=True):
                np.testing.assert_allclose(one, right)


def test_functions_of_values_are_counted_by_the_host() -> None:
    with Graph().as_default() as graph:
        x = placeholder("float32", shape=(None, 3))
        y = gx.nonzero(x > 5.0), gx.unique(x[0] * 0.0, return_counts=True)
        assert [part.shape for part in nest.flatten(y)[0]] == [(None,)] * 4
    with Session(graph=graph) as session:
        found = session.run(y, {x: X})
    assert [part.tolist() for part in nest.flatten(found)[0]] == [[2, 2, 2, 3, 3, 3], [0, 1, 2] * 2, [0.0], [3]]


def test_gradients_flow_through_what_is_chosen() -> None:
    graph = Graph()
    with graph.as_default():
        x = placeholder("float32", shape=(None, 3))
        chosen = tf.boolean_mask(x, x[:, 0] > 2.0)
        assert chosen.shape == (None, 3)
        (gradient,) = graph.gradients(gx.sum(chosen * chosen), [x])
    with Session(graph=graph) as session:
        np.testing.assert_allclose(session.run(gradient, {x: X}), np.where(X[:, :1] > 2.0, 2 * X, 0))


def test_only_sizes_that_programs_compute_go_by_the_host() -> None:
    with Graph().as_default() as graph:
        x, n = placeholder("float32", shape=(None, 3)), placeholder("int32", shape=())
        tf.zeros([n + tf.shape(x)[0] * 2])
        assert not any(node.op is HOST_VALUE for node in graph.trace.builder.nodes)
        tf.zeros([tf.cast(tf.reduce_sum(x), tf.int32)])
        assert sum(node.op is HOST_VALUE for node in graph.trace.builder.nodes) == 1


def test_what_no_sample_fits_is_refused_with_the_line() -> None:
    with Graph().as_default():
        x = placeholder("float32", shape=(None, 3))
        with pytest.raises(InvalidArgumentError, match="unique") as caught:
            gx.unique(x, axis=3)
    assert __file__ in str(caught.value)


def test_a_composition_may_make_constants_and_convert_to_tensors() -> None:
    function = {
        "set_diag": lambda x: tf.linalg.set_diag(x, tf.reduce_sum(x, 1)),
        "scatter": lambda x: tf.tensor_scatter_nd_update(x, [[0, 1]], [7.0]),
        "map_fn": lambda x: tf.map_fn(lambda row: row * tf.constant(2.0) + tf.convert_to_tensor([row[0], 1.0, 2.0]), x),
    }
    square = X[:3]
    for made in function.values():
        (found,) = run(made, (None, None), square)
        (wanted,) = run(made, (3, 3), square)
        np.testing.assert_allclose(found, wanted)


def test_masks_and_loops_over_rows_in_graphcs_own_names() -> None:
    def function(x: Any) -> Any:
        last, sums = gx.scan(lambda total, row: (total + row, total), gx.zeros(3), x)
        return x[x[:, 0] > 2.0], last, sums

    for shape in ((None, 3), (None, None)):
        for feed, found in zip((X, X[:2]), run(function, shape, X, X[:2]), strict=True):
            np.testing.assert_array_equal(found[0], feed[feed[:, 0] > 2.0])
            np.testing.assert_array_equal(found[1], feed.sum(axis=0))
            np.testing.assert_array_equal(found[2], np.cumsum(feed, axis=0) - feed)


@pytest.mark.parametrize("use", [len, list])
def test_python_does_not_know_how_many_rows_there_are(use: Any) -> None:
    with Graph().as_default():
        x = placeholder("float32", shape=(None, 3))
        with pytest.raises(gx.errors.InvalidTypeError, match=r"needs the number of rows.*gx\.shape\(x\)\[0\]"):
            use(x)


def _grown(x: Any) -> Any:
    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.concat([a, x * tf.cast(i, tf.float32)], 0)

    shapes = [tf.TensorShape([]), tf.TensorShape([None, 3])]
    return tf.while_loop(lambda i, a: i < 3, body, [1, x], shape_invariants=shapes)[1] + 1.0


CHANGING = {
    "grown": (_grown, lambda x: np.concatenate([x, x, 2 * x]) + 1),
    "branches": (
        lambda x: tf.cond(tf.reduce_sum(x) > 20.0, lambda: x[:1], lambda: x) * 2.0,
        lambda x: x[:1] * 2 if x.sum() > 20 else x * 2,
    ),
    "nested": (
        lambda x: tf.cond(tf.reduce_sum(x) > 20.0, lambda: _grown(x), lambda: x[:1]),
        lambda x: np.concatenate([x, x, 2 * x]) + 1 if x.sum() > 20 else x[:1],
    ),
    "sizes in a loop": (
        lambda x: (
            tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s + tf.reduce_sum(tf.ones([i, 2]))), [1, 0.0])[1]
            + tf.reduce_sum(x)
        ),
        lambda x: 12 + x.sum(),
    ),
}


@pytest.mark.parametrize("name", sorted(CHANGING))
def test_shapes_may_change_in_loops_and_differ_between_branches(name: str) -> None:
    function, expected = CHANGING[name]
    for feed, found in zip((X, X[:2], X), run(function, (None, 3), X, X[:2], X), strict=True):
        np.testing.assert_allclose(found, expected(feed))


def test_variables_are_read_and_assigned_beside_loops_that_change_shapes() -> None:
    with Graph().as_default() as graph:
        x = placeholder("float32", shape=(None, 3))
        factor = gx.Variable(2.0, name="factor")
        y = _grown(x) * factor
        with graph.control_dependencies([y]):
            more = factor.assign_add(1.0)
        with Session(graph=graph) as session:
            with pytest.raises(gx.errors.FailedPreconditionError, match="factor"):
                session.run(y, {x: X})
            session.run(factor.initializer)
            for value in (2.0, 3.0):
                found = session.run([y, more], {x: X})
                np.testing.assert_allclose(found[0], (np.concatenate([X, X, 2 * X]) + 1) * value)
                assert found[1] == value + 1


def test_a_loop_that_never_ends_is_stopped_by_the_timeout() -> None:
    with Graph().as_default() as graph:
        x = placeholder("float32", shape=(None, 3))
        shapes = [tf.TensorShape([None, 3])]
        y = tf.while_loop(lambda a: tf.reduce_sum(a) >= 0.0, lambda a: [a[:1]], [x], shape_invariants=shapes)
    with (
        Session(graph=graph) as session,
        pytest.raises(gx.errors.DeadlineExceededError, match="an iteration of the loop"),
    ):
        session.run(y, {x: X}, options=RunOptions(timeout_in_ms=300))


def test_programs_are_kept_by_the_sizes_that_are_fed() -> None:
    with Graph().as_default() as graph:
        x = placeholder("float32", shape=(None,), name="x")
        n = placeholder("int32", shape=(), name="n")
        y = gx.zeros((n,)) + gx.sum(x)
    with Session(graph=graph) as session:
        for size in (2, 3, 2, 3):
            assert session.run(y, {x: [1.0, 2.0], n: size}).tolist() == [3.0] * size
        first, second = session.compile_log
    assert "(n: i32[] = 2, x: f32[2])" in first
    assert "(n: i32[] = 3, x: f32[2]): for other shapes" in second


def test_what_gave_a_shape_when_the_graph_was_built_is_not_fed() -> None:
    with Graph().as_default() as graph:
        x = placeholder("float32", shape=(None, 6))
        sizes = tf.constant([-1, 2, 3])
        wide = sizes * 1
        y = tf.reshape(x, wide)
        assert y.shape == (None, 2, 3)
    with Session(graph=graph) as session:
        assert session.run(y, {x: np.ones((4, 6))}).shape == (4, 2, 3)
        for tensor in (sizes, wide):
            with pytest.raises(InvalidArgumentError, match=r"may not be fed: the graph was built with its value"):
                session.run(y, {x: np.ones((4, 6)), tensor: [-1, 3, 2]})
        assert session.run(sizes).tolist() == [-1, 2, 3]
