"""The names of graphc.compat.v1: signatures as TensorFlow has them, what is missing, what needs no graph."""

from __future__ import annotations

import inspect
import json
import logging
from pathlib import Path
from typing import Any

import pytest

import graphc as gx
import graphc.compat.v1 as tf
from graphc.compat.tensorflow1 import NAMES
from graphc.compat.tensorflow1.tables import CLASSES, ELSEWHERE, LATER, OPERATIONS, OTHERS, VALUES
from graphc.compiler.base import files
from tests.compat.page_v1 import PAGE, page
from tests.compat.record import signature

SIGNATURES: dict[str, str] = json.loads((Path(__file__).parent / "v1_signatures.json").read_text(encoding="utf-8"))
ROWS = (*OPERATIONS, *OTHERS)


def looked_up(path: str) -> Any:
    place: Any = tf
    for part in path.split("."):
        place = getattr(place, part)
    return place


def plain(text: str) -> str:
    return text.replace("(", "[").replace(")", "]")


def test_every_name_has_tensorflows_signature_and_is_found() -> None:
    names = [name for row in ROWS for name in row.names]
    assert len(names) == len(set(names))
    assert len(names) >= 600
    assert set(names) == set(SIGNATURES), "run tests/compat/record.py"
    for row in ROWS:
        for name in row.names:
            function = looked_up(name)
            assert function is NAMES[name]
            if name.endswith(tuple(f"DEFINE_{kind}" for kind in ("bool", "boolean", "float", "integer", "string"))):
                continue  # absl's own arguments are passed on, with older names beside them
            assert plain(signature(function)) == plain(SIGNATURES[name]), name


def test_docstrings_say_what_is_called_and_how() -> None:
    for row in ROWS:
        doc = inspect.getdoc(NAMES[row.names[0]])
        assert doc is not None
        assert f"TensorFlow's name for ``{row.call}``" in doc
        assert f">>> result = tf.{row.names[0]}({row.example})" in doc
        assert "import graphc.compat.v1 as tf" in doc


def test_no_name_is_both_there_and_elsewhere() -> None:
    assert not set(ELSEWHERE) & (set(NAMES) | set(LATER))
    assert {**CLASSES, **VALUES}.items() <= dict(NAMES).items()
    assert all(hasattr(tf, name) for name in tf.__all__)
    assert {"reduce_sum", "nn", "gfile", "float32", "errors", "flags"} <= set(tf.__all__)
    assert "DEFINE_enum" in tf.flags.__all__


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("reduce_summ", r"graphc has no tf\.reduce_summ; did you mean tf\.reduce_sum or "),
        ("contrib.layers", r"graphc has no tf\.contrib: TensorFlow itself has removed it"),
        ("nn.rnn_cell", r"graphc has no tf\.nn\.rnn_cell: use tf\.get_variable"),
        ("flags.DEFINE_nothing", r"graphc has no tf\.flags\.DEFINE_nothing"),
        ("enable_eager_execution", r"use graphc\.compat\.v2, where everything is eager"),
    ],
)
def test_a_missing_name_says_what_to_use(path: str, message: str) -> None:
    with pytest.raises(AttributeError, match=message):
        looked_up(path)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.reduce_sum([1.0], axis=0, reduction_indices=0), "axis and reduction_indices are two names of one"),
        (lambda: tf.reduce_sum([1.0], keepdims=True, keep_dims=True), "give keepdims alone"),
        (lambda: tf.nn.dropout([1.0]), r"tf\.nn\.dropout\(\) missing 1 required argument: 'rate'"),
        (lambda: tf.nn.dropout([1.0], 0.5, rate=0.5), "rate and keep_prob are two names of one argument"),
        (lambda: tf.expand_dims([1.0]), r"tf\.expand_dims\(\) missing 1 required argument: 'axis'"),
        (
            lambda: tf.constant([1.0], shape=[2], verify_shape=True),
            r"constant: shape \(2,\) wanted, the value has \(1,\)",
        ),
    ],
)
def test_arguments_under_two_names_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "test_v1_names.py" in str(caught.value)


def test_errors_are_graphcs_and_have_tensorflows_codes() -> None:
    assert tf.errors.OutOfRangeError is gx.errors.OutOfRangeError
    assert (tf.errors.OK, tf.errors.OUT_OF_RANGE, tf.errors.UNAUTHENTICATED) == (0, 11, 16)
    assert tf.errors.exception_type_from_error_code(tf.errors.DATA_LOSS) is tf.errors.DataLossError
    assert tf.errors.error_code_from_exception_type(tf.errors.AbortedError) == tf.errors.ABORTED
    assert tf.OpError is tf.errors.OpError
    with pytest.raises(tf.errors.OpError, match="closed") as caught:
        raise tf.errors.CancelledError(None, None, "closed")
    assert (caught.value.error_code, caught.value.node_def) == (tf.errors.CANCELLED, None)


def test_files_by_both_families_of_names(tmp_path: Path) -> None:
    top = str(tmp_path / "a")
    tf.gfile.MakeDirs(f"{top}/b")
    with tf.gfile.Open(f"{top}/x.txt", "w") as file:
        file.write("one\ntwo\n")
    assert tf.gfile.GFile(tf.io.gfile.join(top, "x.txt")).readlines() == ["one\n", "two\n"]
    tf.io.gfile.copy(f"{top}/x.txt", f"{top}/y.txt")
    assert tf.gfile.Glob(f"{top}/*.txt") == tf.io.gfile.glob(f"{top}/*.txt") == [f"{top}/x.txt", f"{top}/y.txt"]
    assert list(tf.gfile.Walk(top)) == list(tf.io.gfile.walk(top)) == list(files.walk(top))
    assert (tf.gfile.Stat(f"{top}/x.txt").length, tf.gfile.ListDirectory(top)) == (8, ["b", "x.txt", "y.txt"])
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.gfile.Rename(f"{top}/x.txt", f"{top}/y.txt")
    tf.gfile.Remove(f"{top}/x.txt")
    tf.gfile.DeleteRecursively(top)
    assert not tf.gfile.Exists(top)
    assert not tf.gfile.IsDirectory(top)


def test_lines_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    before = tf.logging.get_verbosity()
    try:
        tf.logging.set_verbosity(tf.logging.INFO)
        tf.logging.info("step %d", 3)
        tf.logging.debug("too low")
        tf.logging.log_if(tf.logging.WARN, "warned", True)
    finally:
        tf.logging.set_verbosity(before)
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.INFO, "step 3"),
        (logging.WARNING, "warned"),
    ]


def test_flags_are_absls() -> None:
    tf.flags.DEFINE_integer("v1_steps", 3, "how many")
    tf.app.flags.DEFINE_enum("v1_mode", "a", ["a", "b"], "which")
    tf.flags.FLAGS(["program", "--v1_steps=5", "--v1_mode=b"])
    assert (tf.flags.FLAGS.v1_steps, tf.app.flags.FLAGS.v1_mode) == (5, "b")
    assert tf.flags.FLAGS is tf.app.flags.FLAGS


def test_a_test_case_runs_the_default_graph() -> None:
    class Case(tf.test.TestCase):
        def test_sums(self) -> None:
            assert tf.get_default_graph().get_operations() == []
            with self.cached_session() as session:
                x = tf.placeholder(tf.float32, (None,), name="x")
                self.assertAllClose(session.run(tf.reduce_sum(x), {x: [1.0, 2.0]}), 3.0)
                self.assertAllEqual(self.evaluate(tf.constant([1, 2])), [1, 2])
            with self.cached_session() as again:
                assert again is session

    Case("test_sums").debug()
    Case("test_sums").debug()


def test_example_messages_are_made_by_their_parts() -> None:
    feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 4]))
    example = tf.train.Example(features=tf.train.Features(feature={"a": feature}))
    with tf.Graph().as_default(), tf.Session() as session:
        text = tf.placeholder(tf.string, ())
        found = tf.parse_single_example(text, {"a": tf.FixedLenFeature([2], tf.int64)})
        assert session.run(found, {text: example.SerializeToString()})["a"].tolist() == [3, 4]


def test_the_page_is_up_to_date_and_names_the_version() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text), "run python -m tests.compat.page_v1"
    assert all(f"`tf.{name}`" in text for row in ROWS for name in row.names)
    assert f"TensorFlow {tf.VERSION}" in text
