"""Datasets by TensorFlow's names: the programs that close a book's chapter, and iterators in Sessions."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc as gx
import graphc.compat.v1 as tf
from graphc.compiler.base.errors import (
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    NotFoundError,
    OutOfRangeError,
)

# The first programs are those of a notebook about TensorFlow 1.4, with only their import changed.


def printed(next_element: Any) -> list[Any]:
    found: list[Any] = []
    with tf.Session() as sess:
        try:
            while True:
                found.append(sess.run(next_element))
        except tf.errors.OutOfRangeError:
            return found


def test_a_dataset_is_repeated_in_batches() -> None:
    tf.reset_default_graph()
    dataset = tf.data.Dataset.from_tensor_slices(np.arange(10))
    dataset = dataset.repeat(3).batch(7)
    iterator = dataset.make_one_shot_iterator()
    next_element = iterator.get_next()
    rows = np.tile(np.arange(10), 3)
    expected = [rows[start : start + 7].tolist() for start in range(0, 30, 7)]
    with tf.Session() as sess:
        found: list[Any] = []
        try:
            while True:
                found.append(next_element.eval().tolist())
        except tf.errors.OutOfRangeError:
            pass
        assert sess is not None
    assert found == expected
    # Once in each run, and from the start in each Session.
    assert [[one.tolist(), two.tolist()] for one, two in printed([next_element, next_element])] == [
        [row, row] for row in expected
    ]


def test_datasets_are_interleaved() -> None:
    tf.reset_default_graph()
    dataset = tf.data.Dataset.from_tensor_slices(np.arange(10))
    dataset = dataset.repeat(3).batch(7)
    dataset = dataset.interleave(lambda v: tf.data.Dataset.from_tensor_slices(v), cycle_length=3, block_length=2)
    iterator = dataset.make_one_shot_iterator()
    next_element = iterator.get_next()
    assert ",".join(map(str, printed(next_element))) == ("0,1,7,8,4,5,2,3,9,0,6,7,4,5,1,2,8,9,6,3,0,1,2,8,9,3,4,5,6,7")


def test_a_reader_dataset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tf.reset_default_graph()
    (tmp_path / "my_test.csv").write_text("x1, x2 , target\n1.,, 0\n4., 5. , 1\n7., 8. , 0\n")
    filenames = [str(tmp_path / "my_test.csv")]
    dataset = tf.data.TextLineDataset(filenames)

    def decode_csv_line(line: Any) -> Any:
        x1, x2, y = tf.decode_csv(line, record_defaults=[[-1.0], [-1.0], [-1.0]])
        X = tf.stack([x1, x2])  # noqa: N806
        return X, y

    dataset = dataset.skip(1).map(decode_csv_line)
    it = dataset.make_one_shot_iterator()
    X, y = it.get_next()  # noqa: N806
    with tf.Session() as sess:
        try:
            while True:
                X_val, y_val = sess.run([X, y])  # noqa: N806
                builtins.print(X_val, y_val)
        except tf.errors.OutOfRangeError:
            builtins.print("Done")
    assert capsys.readouterr().out == "[ 1. -1.] 0.0\n[4. 5.] 1.0\n[7. 8.] 0.0\nDone\n"


def test_an_initializable_iterator_starts_over_what_is_fed() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 2])
        names = tf.placeholder(tf.string, [None])
        dataset = tf.data.Dataset.from_tensor_slices({"x": x, "name": names}).map(
            lambda row: {"x": row["x"] * 2, "name": row["name"]}
        )
        iterator = dataset.batch(2).make_initializable_iterator()
        element = iterator.get_next()
        with tf.Session() as sess:
            with pytest.raises(FailedPreconditionError, match="'Iterator' was not started in this Session"):
                sess.run(element)
            for scale in (1, 10):
                feed = {x: scale * np.arange(6.0).reshape(3, 2), names: ["a", "b", "c"]}
                sess.run(iterator.initializer, feed)
                found = sess.run(element)
                assert found["x"].tolist() == [[0, 2 * scale], [4 * scale, 6 * scale]]
                assert found["name"].tolist() == [b"a", b"b"]
            assert sess.run(element)["name"].tolist() == [b"c"]
            with pytest.raises(OutOfRangeError, match="End of sequence: the dataset of the iterator 'Iterator'"):
                sess.run(element)
        with pytest.raises(InvalidArgumentError, match="the dataset is made from tensors of the graph"):
            dataset.make_one_shot_iterator()
        with pytest.raises(InvalidArgumentError, match="has no rows of a known shape; give the placeholder a shape"):
            tf.data.Dataset.from_tensor_slices(tf.placeholder(tf.float32, [None, None]))


def test_a_reinitializable_iterator_switches_between_datasets() -> None:
    with tf.Graph().as_default():
        training, validation = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 12)
        iterator = tf.data.Iterator.from_structure(training.output_types, training.output_shapes)
        element = iterator.get_next()
        starts = [iterator.make_initializer(training), iterator.make_initializer(validation)]
        with tf.Session() as sess:
            for start, expected in [(starts[0], [0, 1, 2]), (starts[1], [10, 11]), (starts[0], [0, 1])]:
                sess.run(start)
                assert [sess.run(element) for _ in expected] == expected
        with pytest.raises(InvalidArgumentError, match=r"make_initializer: the dataset has float32"):
            iterator.make_initializer(tf.data.Dataset.from_tensor_slices(np.zeros(2, np.float32)))
        with pytest.raises(InvalidArgumentError, match="this iterator has no initializer; use make_initializer"):
            iterator.initializer  # noqa: B018


def test_a_feedable_iterator_is_the_one_whose_handle_is_fed() -> None:
    with tf.Graph().as_default():
        handle = tf.placeholder(tf.string, shape=[])
        training = tf.data.Dataset.range(5).repeat()
        validation = tf.data.Dataset.range(100, 102)
        iterator = tf.data.Iterator.from_string_handle(
            handle, tf.data.get_output_types(training), tf.data.get_output_shapes(training)
        )
        element = iterator.get_next()
        one_shot = tf.data.make_one_shot_iterator(training)
        initializable = tf.data.make_initializable_iterator(validation)
        with tf.Session() as sess:
            first, second = sess.run(one_shot.string_handle()), sess.run(initializable.string_handle())
            assert [sess.run(element, {handle: first}) for _ in range(3)] == [0, 1, 2]
            for _ in range(2):
                sess.run(initializable.initializer)
                assert [sess.run(element, {handle: second}) for _ in range(2)] == [100, 101]
            assert sess.run(element, {handle: first}) == 3
            with pytest.raises(NotFoundError, match="there is no iterator 'none' in this Session"):
                sess.run(element, {handle: "|none"})


def test_names_of_files_may_be_fed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"x,y\n1,{name}\n2,{name}\n")
    with tf.Graph().as_default(), tf.Session() as sess:
        several, one = tf.placeholder(tf.string, [None]), tf.placeholder(tf.string, [])

        def parsed(line: Any) -> Any:
            x, y = tf.decode_csv(line, [[0.0], [""]])
            return [x + tf.constant(1.0), y]  # a list is several values

        rows = tf.data.TextLineDataset(one).skip(1).map(parsed).batch(2).make_initializable_iterator()
        records = tf.data.FixedLengthRecordDataset(several, 4, num_parallel_reads=2).make_initializable_iterator()
        assert rows.output_types == (tf.float32, tf.string)
        batch, record = rows.get_next(), records.get_next()
        for name in ("a", "b"):
            sess.run(rows.initializer, {one: str(tmp_path / name)})
            x, y = sess.run(batch)
            assert x.tolist() == [2.0, 3.0]
            assert y.tolist() == [name.encode()] * 2
        sess.run(records.initializer, {several: [str(tmp_path / "a"), str(tmp_path / "b")]})
        assert sorted([sess.run(record) for _ in range(6)])[:2] == [b"1,a\n", b"1,b\n"]
        with pytest.raises(InvalidArgumentError, match="the dataset is made from tensors of the graph"):
            tf.data.TFRecordDataset(several).make_one_shot_iterator()
        size = tf.placeholder(tf.int64, [])
        refused = "got <Tensor .*, a tensor of a graph; datasets are made before it runs: pass a Python number"
        for make in (tf.data.Dataset.range, tf.data.Dataset.range(3).batch, tf.data.Dataset.range(3).repeat):
            with pytest.raises(InvalidTypeError, match=refused):
                make(size)


def test_a_run_with_a_deadline_gives_up_and_loses_no_element() -> None:
    arrives = threading.Event()

    def elements() -> Iterator[int]:
        yield 1
        arrives.wait(60)
        yield from (2, 3)

    with tf.Graph().as_default(), tf.Session() as sess:
        element = tf.data.Dataset.from_generator(elements, tf.int32, []).make_one_shot_iterator().get_next()
        assert sess.run(element) == 1
        for _ in range(2):
            with pytest.raises(DeadlineExceededError, match="the next element of the iterator 'Iterator'"):
                sess.run(element, options=tf.RunOptions(timeout_in_ms=50))
        arrives.set()
        assert sess.run(element, options=tf.RunOptions(timeout_in_ms=60_000)) == 2
        assert sess.run(element) == 3
        with pytest.raises(OutOfRangeError):
            sess.run(element, options=tf.RunOptions(timeout_in_ms=60_000))


def test_functions_of_elements_may_make_operations() -> None:
    with tf.Graph().as_default() as graph:
        scale = tf.Variable(2.0)
        rows = tf.data.Dataset.from_tensor_slices(np.array([1.0, 2.0, 3.0], "f"))

        def computed(v: Any) -> Any:
            v = v + tf.constant(1.0)
            v = tf.cond(v > 2.5, lambda: v, lambda: -v)
            v = tf.while_loop(lambda i: i < 7.0, lambda i: i + 5.0, [v])
            return {"v": tf.py_func(lambda array: array * 2, [v], tf.float32), "text": tf.as_string(v)}

        before = len(graph.get_operations())
        dataset = rows.map(computed).filter(lambda row: tf.not_equal(row["v"], tf.constant(16.0)))
        element = dataset.make_one_shot_iterator().get_next()
        assert len(graph.get_operations()) == before + 1
        found = printed(element)
        assert [row["v"] for row in found] == [18.0]
        assert [float(row["text"]) for row in found] == [9.0]
        for captures in (lambda v: v * scale, lambda v: tf.constant(1.0) * scale):
            with pytest.raises(InvalidArgumentError, match=r"map: .* may not use tensors, Variables or placehold"):
                rows.map(captures).make_one_shot_iterator()
        slices = tf.data.Dataset.from_tensor_slices
        with pytest.raises(InvalidArgumentError, match="flat_map: it returns a dataset of tensors that it makes"):
            rows.flat_map(lambda v: slices(tf.reshape(v + tf.constant(1.0), [1]))).make_one_shot_iterator()


def test_names_of_tensorflow_2(tmp_path: Path) -> None:
    import graphc.compat.v2 as tf2

    assert tf2.data.Dataset is gx.data.Dataset
    assert (tf2.data.AUTOTUNE, tf2.data.INFINITE_CARDINALITY, tf2.data.UNKNOWN_CARDINALITY) == (-1, -1, -2)
    pytest.importorskip("pyarrow")
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,y\n")
    batches = tf2.data.experimental.make_csv_dataset(
        str(tmp_path / "t.csv"), batch_size=2, label_name="a", num_epochs=1, shuffle=False
    )
    ((features, label),) = batches
    assert features["b"].tolist() == ["x", "y"]
    assert label.tolist() == [1, 2]
    lines = tf2.data.TextLineDataset(str(tmp_path / "t.csv")).skip(1)
    assert [line.numpy() for line in lines] == ["1,x", "2,y"]
    assert tf2.data.Dataset.range(3).repeat().cardinality() == tf2.data.INFINITE_CARDINALITY


def test_experimental_names_and_seeds_of_datasets(tmp_path: Path) -> None:
    import graphc.compat.v2 as tf2

    made, numbers = tf2.data.experimental, tf2.data.Dataset.range(6)
    assert numbers.element_spec.dtype == numbers.enumerate().element_spec[0].dtype == tf2.int64

    def listed(dataset: Any) -> list[Any]:
        return [getattr(value, "tolist", lambda value=value: value)() for value in dataset.as_numpy_iterator()]

    assert made.cardinality(numbers) == 6
    assert made.get_structure(numbers) == numbers.element_spec
    assert made.get_single_element(numbers.take(1)).item() == 0
    assert listed(numbers.batch(4).apply(made.unbatch())) == list(range(6))
    assert listed(numbers.apply(made.map_and_batch(lambda x: x + 1, 4, drop_remainder=True))) == [[1, 2, 3, 4]]
    assert listed(numbers.apply(made.take_while(lambda x: x < 2)).apply(made.unique())) == [0, 1]
    assert listed(numbers.apply(made.enumerate_dataset(3)).map(lambda k, x: k - x)) == [3] * 6
    assert listed(numbers.apply(made.parallel_interleave(lambda x: tf2.data.Dataset.from_tensors(x), 2))) == [*range(6)]
    assert listed(numbers.apply(made.scan(tf2.constant(0, tf2.int64), lambda s, x: (s + x, s)))) == [0, 0, 1, 3, 6, 10]
    assert sorted(listed(numbers.apply(made.shuffle_and_repeat(6, 2, seed=1)))) == sorted([*range(6)] * 2)
    assert listed(made.choose_from_datasets([numbers, numbers.skip(3)], made.Counter().map(lambda x: x % 2)))[:4] == [
        0, 3, 1, 4,
    ]  # fmt: skip
    assert len(listed(made.sample_from_datasets([numbers, numbers]))) == 12
    for file in ("a.csv", "b.csv"):
        (tmp_path / file).write_text("n,t\n1,x\n2,y\n")
    rows = made.CsvDataset([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")], [tf2.int32, tf2.string], header=True)
    assert list(rows.as_numpy_iterator()) == [(1, b"x"), (2, b"y")] * 2

    def orders(seeded: Any, source: Any) -> list[Any]:
        seeded(5)
        return [[int(x) for x in source().shuffle(6)] for _ in range(2)]

    assert orders(tf2.random.set_seed, lambda: numbers) == orders(tf2.random.set_seed, lambda: numbers)
    graphs: list[Any] = []
    for _ in range(2):
        with tf.Graph().as_default():
            tf.set_random_seed(5)
            made_in_graph = [tf.data.Dataset.range(6).shuffle(6).plan for _ in range(2)]
            graphs.append([plan.seed for plan in made_in_graph])
    assert graphs[0] == graphs[1]
    assert len(set(graphs[0])) == 2
