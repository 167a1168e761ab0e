"""What is said of names and arguments that are wrong, of TensorFlow's names and of graphc's own."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import graphc as gx
import graphc.compat.v2 as tf
from graphc.compat.tensorflow2.names import NAMES
from graphc.compat.tensorflow2.tables import CLASSES, DTYPES, ELSEWHERE, ERRORS, objects


def looked_up(path: str) -> Any:
    place: Any = tf
    for part in path.split("."):
        place = getattr(place, part)
    return place


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("reduce_summ", r"graphc has no tf\.reduce_summ; did you mean tf\.reduce_sum or "),
        ("math.softmx", r"graphc has no tf\.math\.softmx; did you mean tf\.math\.softmax or "),
        ("softmax", r"graphc has no tf\.softmax; did you mean tf\.math\.softmax or tf\.nn\.softmax\?"),
        ("reduce_std", r"graphc has no tf\.reduce_std: it is tf\.math\.reduce_std"),
        ("Session", r"graphc has no tf\.Session: it is of TensorFlow 1, .*; call a @tf\.function"),
        (
            "keras.layers.Conv3D",
            r"graphc has no tf\.keras\.layers\.Conv3D: of Keras there are Sequential and the common",
        ),
        ("init_scope", r"graphc has no tf\.init_scope: make tensors and variables before the function is called"),
        ("linalg.expm", r"graphc has no tf\.linalg\.expm: use gx\.call_jax\(jax\.scipy\.linalg\.expm, x\)"),
        ("qqqqqq", r"graphc has no tf\.qqqqqq$"),
    ],
)
def test_a_missing_name_says_what_to_use(path: str, message: str) -> None:
    with pytest.raises(AttributeError, match=message):
        looked_up(path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("reduce_sum", "graphc has no 'reduce_sum': use gx.sum"),
        ("cast", "graphc has no 'cast': use gx.astype"),
        ("GradientTap", "graphc has no 'GradientTap'; did you mean gx.GradientTape"),
        ("reduce_std", "graphc has no 'reduce_std': use gx.std"),
        ("reduce_euclidean_norm", "which is TensorFlow's name: use gx."),
        ("clip_by_norm", "use gx.arrays.clip_by_norm"),
        ("init_scope", "which is TensorFlow's name: make tensors and variables before the function is called"),
        ("softmax", "graphc has no 'softmax'; did you mean gx.nn.softmax?"),
    ],
)
def test_graphc_itself_knows_tensorflows_names(name: str, message: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(gx, name)
    assert message in str(caught.value)


def test_no_name_is_both_there_and_elsewhere() -> None:
    assert not set(ELSEWHERE) & set(NAMES)
    assert {**CLASSES, **DTYPES, **ERRORS}.items() <= dict(NAMES).items()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.reduce_sum([1.0], dim=0), r"tf\.reduce_sum\(\) got an unexpected keyword argument 'dim'"),
        (lambda: tf.math.reduce_std(), r"tf\.math\.reduce_std\(\) missing 1 required positional argument: 'input_t"),
        (lambda: tf.concat([[1.0]]), r"tf\.concat\(\) missing 1 required positional argument: 'axis'"),
        (lambda: tf.print(1.0, colour="red"), r"got an unexpected keyword argument 'colour'"),
    ],
)
def test_wrong_arguments_name_tensorflows_function(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.pad([1.0], [[1, 1]], "BEYOND"), r"pad: .*beyond"),
        (lambda: tf.split([1.0, 2.0], [1, 2]), r"split: parts of sizes \[1, 2\] do not make the 2 of axis 0"),
        (lambda: tf.ensure_shape([1.0], [None, 2]), r"ensure_shape: the shape is \(1,\), expected \(None, 2\)"),
        (lambda: tf.nn.space_to_depth([[[[1.0]]]], 1, "NCHW"), r"space_to_depth: data_format is 'NCHW', but here only"),
        (
            lambda: tf.nn.conv2d([[[[1.0]]]], [[[[1.0]]]], [1, 1, 1], "SAME"),
            r"strides are \[1, 1, 1\], expected 1, 2 or",
        ),
        (
            lambda: tf.nn.conv1d_transpose([[[1.0]]], [[[1.0]]], [1, 9, 1], 2),
            r"convolution_transpose: output_shape is \(1, 9, 1\), but this convolution gives \(1, 2, 1\); pad or",
        ),
        (lambda: tf.norm([[1.0]], ord=3, axis=(0, 1)), r"norm.*3"),
        (lambda: tf.random.uniform([2], dtype=tf.int32), r"uniform: integers need maxval"),
        (lambda: tf.switch_case(0, {0: list, 2: list}), r"switch_case: the branches' numbers must be 0, 1, \.\.\., "),
        (
            lambda: tf.debugging.assert_rank([1.0], 2, "two"),
            r"assert_rank: x of shape \(1,\) has rank 1, expected 2; two",
        ),
        (lambda: tf.debugging.assert_type([1.0], tf.int32), r"assert_type: the dtype is float32, expected int32"),
        (lambda: tf.debugging.assert_integer([1.0]), r"assert_integer: the dtype is float32, expected integers"),
        (
            lambda: tf.debugging.assert_less([1.0, 3.0], 2.0, "lim"),
            r"assert_less: x is not less than y everywhere; lim",
        ),
        (lambda: tf.debugging.assert_near(1.0, 2.0), r"assert_near: x and y are not near each other"),
        (lambda: tf.debugging.check_numerics([float("nan")], "loss"), r"check_numerics: x is infinite or NaN .*; loss"),
        (lambda: tf.case([(tf.constant(False), lambda: 1.0)]), r"case: no condition holds, and there is no default"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_the_tables_hold_no_logic() -> None:
    folder = Path(objects.__file__).parent
    for path in folder.glob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        assert not [node for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)], path.name
