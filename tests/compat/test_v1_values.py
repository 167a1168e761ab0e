"""What TensorFlow 1's functions make: the values and names that TensorFlow 2.21 gave for the rows' examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc.compat.v1 as tf
from graphc.compat.alias import NameRow
from graphc.compat.tensorflow1.tables import OPERATIONS, arrays, networks, training
from tests.compat.record import described

RESULTS: dict[str, Any] = json.loads((Path(__file__).parent / "v1_results.json").read_text(encoding="utf-8"))

TABLES = {"arrays": arrays.OPERATIONS, "networks": networks.OPERATIONS, "training": training.OPERATIONS}
TABLES["shared"] = tuple(row for row in OPERATIONS if not any(row in rows for rows in TABLES.values()))
RANDOM = ("random.", "random_", "multinomial")
# Python's complex numbers are complex64 where they are given as they are, as in graphc.compat.v2.
NARROWER = ("linalg.adjoint", "math.angle", "math.conj", "math.imag", "math.real", "signal.fft", "signal.ifft")
NOT_ALONE = {"losses.get_total_loss", "switch_case"}
"""In a graph without losses there is no sum of them; functions in a text have no source, which branches need."""
NAMED_OTHERWISE = {"losses.get_regularization_loss", "stack", "searchsorted", "nn.silu", "nn.softmax"}
"""TensorFlow gives these the name of the last of several operations, or counts up."""


def made(row: NameRow) -> Any:
    args, kwargs = eval(f"(lambda *args, **kwargs: (args, kwargs))({row.example})", {"tf": tf})
    function: Any = tf
    for part in row.names[0].split("."):
        function = getattr(function, part)
    return function(*args, **kwargs)


def compare(found: Any, expected: Any, *, dtype: bool) -> None:
    if isinstance(expected, list):
        assert isinstance(found, list | tuple)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            compare(one, other, dtype=dtype)
    elif "items" in expected:
        assert set(found) == set(expected["items"])
        for name, item in expected["items"].items():
            compare(found[name], item, dtype=dtype)
    elif "python" in expected:
        assert expected["python"] is None or expected["python"].startswith("(<tf.Tensor")  # which cannot be fetched
    elif expected["dtype"] == "string":
        assert described(np.asarray(found, object)) == expected
    else:
        right = np.asarray(expected.get("value", expected.get("re")))
        right = right + 1j * np.asarray(expected["im"]) if "im" in expected else right
        array = np.asarray(found)
        assert array.shape == right.shape
        assert not dtype or array.dtype.name == expected["dtype"]
        np.testing.assert_allclose(array, right, rtol=1e-5, atol=1e-5)


def runs(row: NameRow) -> bool:
    name = row.names[0]
    return name not in NOT_ALONE


@pytest.mark.parametrize("table", TABLES)
def test_a_session_gives_tensorflows_values(table: str) -> None:
    rows = [row for row in TABLES[table] if runs(row) and not row.names[0].startswith(RANDOM)]
    with tf.Graph().as_default(), tf.Session() as session:
        # One run of all: a program for each would take minutes.
        found = session.run({row.names[0]: made(row) for row in rows})
    for row in rows:
        name = row.names[0]
        assert name in RESULTS, "run tests/compat/record.py"
        try:
            compare(found[name], RESULTS[name]["value"], dtype=not name.startswith(NARROWER))
        except AssertionError as error:
            error.add_note(f"tf.{name}")
            raise


def test_operations_have_tensorflows_names_or_the_given_one() -> None:
    for row in OPERATIONS:
        expected = RESULTS.get(row.names[0], {}).get("name")
        if not runs(row) or not expected or "/" in expected or row.names[0] in NAMED_OTHERWISE:
            continue
        with tf.Graph().as_default():
            first = made(row)
            first = first[0] if isinstance(first, list | tuple) else first
            assert getattr(first, "op", first).name == expected, row.names
    with tf.Graph().as_default() as graph:
        x = tf.constant([1.0, 2.0], name="x")
        with tf.name_scope("layer"):
            y = tf.reduce_sum(x, name="total")
            tf.reduce_sum(x, name="total")
        assert [y.name, tf.add(y, 1.0).name, tf.add(y, 1.0).name] == ["layer/total:0", "Add:0", "Add_1:0"]
        assert graph.get_tensor_by_name("layer/total_1:0").shape == ()


def test_operators_and_shapes_are_tensorflows() -> None:
    with tf.Graph().as_default():
        x, y, b = tf.ones([2, 2], name="x"), tf.ones([2, 2], name="y"), tf.constant(True, name="b")
        made = [x + y, x - y, x * y, x / y, x // y, x % y, x**y, -x, abs(x), x < y, x >= y, x[0], b & b, b | b, ~b]
        shape = tf.placeholder(tf.float32, (None, 3)).shape
    # As TensorFlow 2.21 names them.
    assert [one.op.name for one in made] == [
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "Neg", "Abs", "Less", "GreaterEqual",
        "strided_slice", "and", "or", "LogicalNot",
    ]  # fmt: skip
    assert [one.op.type for one in made[:9]] == [
        "AddV2", "Sub", "Mul", "RealDiv", "FloorDiv", "FloorMod", "Pow", "Neg", "Abs",
    ]  # fmt: skip
    assert (shape.ndims, shape.as_list(), shape == (None, 3), shape[1]) == (2, [None, 3], True, 3)


def test_random_functions_draw_anew_in_each_run_by_the_seed_of_the_graph() -> None:
    rows = [row for row in OPERATIONS if row.names[0].startswith(RANDOM)]

    def drawn() -> list[dict[str, Any]]:
        with tf.Graph().as_default():
            tf.set_random_seed(3)
            fetches = {row.names[0]: made(row) for row in rows}
            with tf.Session() as session:
                return [session.run(fetches) for _ in range(2)]

    (first, second), (again, _) = drawn(), drawn()
    for name, value in first.items():
        np.testing.assert_array_equal(value, again[name], err_msg=name)
    assert not np.array_equal(first["random.normal"], second["random.normal"])
    assert np.array_equal(first["random.stateless_normal"], second["random.stateless_normal"])


def test_functions_outside_of_any_scope_build_the_default_graph() -> None:
    tf.reset_default_graph()
    assert tf.executing_eagerly() is False
    x = tf.placeholder(tf.float32, (None, 2), name="x")
    w = tf.Variable(tf.ones([2, 1]), name="w")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w)), name="loss")
    assert loss.graph is tf.get_default_graph()
    with tf.Session() as session:
        session.run(w.initializer)
        assert session.run("loss:0", {"x:0": [[1.0, 2.0]]}) == 9.0
        assert session.run(tf.gradients(loss, w), {x: [[1.0, 2.0]]})[0].tolist() == [[6.0], [12.0]]
        assert session.run([loss + 1.0, 1.0 - loss, -loss, w + w], {x: [[0.0, 1.0]]})[:3] == [2.0, 0.0, -1.0]
    tf.reset_default_graph()


def test_inside_a_compiled_function_nothing_enters_the_graph() -> None:
    @tf.function
    def step(x: Any) -> Any:
        return tf.reduce_sum(x, reduction_indices=[0], name="total")

    tf.reset_default_graph()
    import graphc as gx

    assert step(gx.asarray([1.0, 2.0])).numpy() == 3.0
    assert tf.get_default_graph().get_operations() == []


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda x: tf.assert_equal(x, 2.0, message="not two"), r"\[not two\] \[Condition x equal y did not hold\]"),
        (lambda x: tf.assert_positive(x, data=["seen", x]), r"\[Condition x positive did not hold\] \[seen\] \[-1\]"),
        (lambda x: tf.assert_near(x, 5.0), "Condition x near y did not hold"),
        (lambda x: tf.check_numerics(tf.log(x), "loss"), r"\[loss\] \[Tensor had NaN or Inf values:\] \[nan"),
        (lambda x: tf.Assert(x > 0, [x], name="mine"), r"operation 'mine'"),
    ],
)
def test_a_check_fails_the_run_that_needs_it(make: Any, text: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, (), name="x")
        checked = make(x)
        with tf.control_dependencies([checked]):
            later = tf.identity(x)
        for fetched in (checked, later):
            with pytest.raises(tf.errors.InvalidArgumentError, match=text) as caught:
                session.run(fetched, {x: -1.0})
            assert caught.value.op is not None
        with pytest.raises(tf.errors.InvalidArgumentError, match="has rank 0, expected 1"):
            tf.assert_rank(x, 1)


def test_variables_stand_where_tensors_do() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        w, n = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.Variable(2)
        session.run(tf.global_variables_initializer())
        made = {
            "range": tf.range(n), "ones": tf.ones([n, 1]), "fill": tf.fill([n], 7),
            "call": tf.py_func(np.sum, [w], tf.float32), "sum": tf.reduce_sum(w),
            "join": tf.concat([w, w], 0), "where": tf.where(w > 2, w, -w), "item": w[0],
        }  # fmt: skip
        found = session.run(made)
    assert {name: np.asarray(value).tolist() for name, value in found.items()} == {
        "range": [0, 1], "ones": [[1], [1]], "fill": [7, 7], "call": 10, "sum": 10,
        "join": [[1, 2], [3, 4], [1, 2], [3, 4]], "where": [[-1, -2], [3, 4]], "item": [1, 2],
    }  # fmt: skip


def test_prints_are_tensorflows(capfd: pytest.CaptureFixture[str]) -> None:
    values = [
        [2.0, 4.0], [1 / 3, 1e10, 1e-7, 123456.789], [True, False], [[1, 2], [3, 4]], np.array([1 / 3, 0.1]), 3,
        ["a", "b"], np.array([np.nan, np.inf, -0.0], "float32"), 1234567.0, np.arange(5, dtype="float32"),
        np.arange(8.0).reshape(2, 2, 2), np.array(0.1, "float16"),
    ]  # fmt: skip
    with tf.Graph().as_default(), tf.Session() as session:
        for value in values:
            given = tf.constant(value)
            session.run(tf.Print(given, [given], summarize=4))
        rows = tf.constant(np.arange(6.0).reshape(2, 3))
        session.run(tf.Print(rows, [rows, "x"], message="rows: ", first_n=1))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"assertion failed: \[\[0 1 2\]\.\.\.\] \[x\] \[1\]"):
            session.run(tf.Assert(tf.constant(False), [rows, tf.constant("x"), tf.constant(True)]))
    # As TensorFlow 2.21 prints them.
    assert capfd.readouterr().err.splitlines() == [
        "[2 4]", "[0.333333343 1e+10 1e-07 123456.789]", "[1 0]", "[[1 2][3 4]]", "[0.33333333333333331 0.1]", "[3]",
        "[a b]", "[nan inf -0]", "[1234567]", "[0 1 2 3...]", "[[[0 1][2 3]]...]", "[0.0999755859]",
        "rows: [[0 1 2]...][x]",
    ]  # fmt: skip


def test_what_values_count_has_open_sizes_and_gradients() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, (None, 2))
        mask = tf.placeholder(tf.bool, (None,))
        kept = tf.boolean_mask(x, mask)
        (slope,) = tf.gradients(tf.reduce_sum(kept * kept), [x])
        fetches = {
            "kept": kept, "slope": slope, "where": tf.where(mask), "unique": tf.unique_with_counts([3, 1, 3]),
            "parts": tf.dynamic_partition(tf.constant([1.0, 2.0, 3.0]), [1, 0, 1], 2),
            "column": tf.boolean_mask(x, [True, False], axis=1),
        }  # fmt: skip
        found = session.run(fetches, {x: [[1, 2], [3, 4], [5, 6]], mask: [True, False, True]})
    assert kept.shape == (None, 2)
    assert found["kept"].tolist() == [[1, 2], [5, 6]]
    assert found["slope"].tolist() == [[2, 4], [0, 0], [10, 12]]
    assert found["where"].tolist() == [[0], [2]]
    assert [part.tolist() for part in found["unique"]] == [[3, 1], [0, 1, 0], [2, 1]]
    assert [part.tolist() for part in found["parts"]] == [[2], [1, 3]]
    assert found["column"].tolist() == [[1], [3], [5]]
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must have axes whose number is known"):
        tf.boolean_mask([1.0], tf.placeholder(tf.bool))


def test_a_branch_draws_random_numbers() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        training = tf.placeholder_with_default(False, shape=[])
        x = tf.ones([1000])
        kept = tf.cond(training, lambda: tf.nn.dropout(x, keep_prob=0.5), lambda: x)
        rate = tf.placeholder_with_default(0.5, shape=[])
        assert rate.dtype == tf.float32
        first, second, plain = (session.run(kept, {training: mode}) for mode in (True, True, False))
    assert 300 < (first == 0).sum() < 700
    assert not np.array_equal(first, second)
    assert plain.tolist() == [1.0] * 1000


def test_losses_are_noted_and_added_up() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match=r"losses\.get_total_loss: the graph has no losses"):
            tf.losses.get_total_loss()
        regularized = tf.get_variable("w", [2], initializer=tf.ones_initializer(), regularizer=tf.nn.l2_loss)
        loss = tf.losses.mean_squared_error([1.0, 2.0], tf.zeros([2]), weights=[1.0, 0.0])
        tf.losses.add_loss(tf.constant(3.0))
        tf.losses.absolute_difference([1.0], [2.0], loss_collection=None)
        session.run(regularized.initializer)
        assert (loss.name, len(tf.losses.get_losses())) == ("mean_squared_error:0", 2)
        assert session.run([loss, tf.losses.get_total_loss(), tf.losses.get_total_loss(False)]) == [1.0, 5.0, 4.0]
        assert session.run(tf.losses.get_regularization_loss()) == 1.0


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: tf.losses.absolute_difference([1.0], [[1.0]]), r"labels have the shape \(1,\), predictions \(1, 1\)"),
        (
            lambda: tf.losses.mean_squared_error([1.0], [0.5], reduction="most"),
            "there is no reduction 'most'; there are 'none'",
        ),
        (
            lambda: tf.losses.mean_squared_error([1.0], [0.5], weights=[[1.0]]),
            "the weights have 2 axes and the losses 1",
        ),
    ],
)
def test_losses_that_do_not_fit_are_refused(make: Any, text: str) -> None:
    with tf.Graph().as_default(), pytest.raises(tf.errors.InvalidArgumentError, match=text):
        make()
