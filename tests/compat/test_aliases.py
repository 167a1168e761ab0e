"""Every alias, held to TensorFlow's signature and result, compiled, and eagerly where it is drawn (tests/stepwise.py).

``results.json`` has what TensorFlow 2.21 gave for the example of each row (floats to 7 digits); the signatures were
compared with its own by the same run, and are the rows'.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import graphc.compat.v2 as tf
from graphc.compat.alias import NameRow
from graphc.compat.tensorflow2.names import NAMES
from graphc.compat.tensorflow2.tables import ROWS, arrays, math, networks, programs
from graphc.compiler.base.errors import ConcretizationError
from tests.draws import is_drawn

RESULTS: dict[str, Any] = json.loads((Path(__file__).parent / "results.json").read_text(encoding="utf-8"))

TABLES = [arrays, math, networks, programs]

# Rows whose results are no tensors that could be compared, each with tests of its own in test_programs.py.
ACTIONS = {
    "as_dtype", "autograph.experimental.do_not_convert", "autograph.experimental.set_loop_options",
    "config.experimental.get_memory_growth",
    "config.experimental.set_memory_growth", "config.functions_run_eagerly", "config.get_soft_device_placement",
    "config.list_logical_devices", "config.list_physical_devices", "config.run_functions_eagerly",
    "config.set_soft_device_placement", "config.set_visible_devices", "control_dependencies", "custom_gradient",
    "device", "executing_eagerly", "function", "group", "inside_function",
    "keras.layers.StringLookup", "no_op", "print",
}  # fmt: skip
WITHOUT_RESULT = {"parallel_stack"}  # not in TensorFlow's own eager mode
# The shape of the result depends on values.
BY_VALUE = {
    "boolean_mask", "dynamic_partition", "math.segment_max", "math.segment_mean", "math.segment_min",
    "math.segment_prod", "math.segment_sum", "unique", "unique_with_counts",
}  # fmt: skip
# Lists for these parameters are no tensors.
STATIC = {
    "axes", "axis", "batch_shape", "begin", "branch_fns", "branch_index", "data_format", "dilations", "dims",
    "flat_sequence", "ksize", "loop_vars", "maximum_iterations", "multiples", "num_or_size_splits", "output_shape",
    "paddings", "perm", "pred", "pred_fn_pairs", "rate", "repeats", "seed", "shape", "shape_x", "shape_y", "size",
    "strides", "structure", "value_range", "window_shape",
}  # fmt: skip
OTHER_DTYPES = {
    "linalg.adjoint", "math.angle", "math.conj", "math.imag", "math.real", "signal.fft", "signal.fft2d",
    "signal.fft3d", "signal.ifft", "signal.ifft2d", "signal.ifft3d", "signal.irfft", "signal.irfft2d", "signal.irfft3d",
    "numpy_function",
}  # fmt: skip
"""Python's complex numbers, which are complex64 where they are passed as they are, and what TensorFlow does not convert
to the dtype that it is told."""
SETTINGS = {"debugging.assert_same_float_dtype", "debugging.disable_check_numerics", "debugging.enable_check_numerics"}
"""What gives a dtype, or turns something on or off; see test_programs.py."""
AS_GIVEN = {"Assert", "is_tensor", "nest.is_nested"}
"""Rows whose example stays as it is."""
SEVERAL = {"inputs", "t_list", "tensors", "values", "coeffs", "args", "inp"}
"""Parameters that take a list of tensors, in the rows whose example has one."""

BY_NAME = {row.names[0]: row for row in ROWS}


def example(row: NameRow) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a row's example."""

    def collect(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return args, kwargs

    return eval(f"collect({row.example})", {"collect": collect, "tf": tf})


def is_numbers(value: Any) -> bool:
    if isinstance(value, tf.Tensor):
        return True
    return isinstance(value, list) and bool(value) and all(is_numbers(v) or np.isscalar(v) for v in value)


def with_inputs(row: NameRow) -> tuple[Any, list[Any]]:
    """The call of a row's example as a function of its tensors, and these tensors."""
    args, kwargs = example(row)
    bound = inspect.signature(NAMES[row.names[0]]).bind(*args, **kwargs)
    inputs: list[Any] = []

    def taken(name: str, value: Any) -> Any:
        if name in STATIC or row.names[0] in AS_GIVEN:
            return value
        several = name in SEVERAL or row.names[0] in ("identity_n", "shape_n")
        if (
            several
            and isinstance(value, list | tuple)
            and not (name == "values" and row.names[0][:4] in ("sort", "args"))
        ):
            return type(value)(taken("", item) for item in value)
        if not is_numbers(value):
            return value
        inputs.append(tf.constant(value))
        return lambda rest: next(rest)

    places = {name: taken(name, value) for name, value in bound.arguments.items()}

    def filled(value: Any, rest: Any) -> Any:
        if inspect.isfunction(value) and value.__qualname__.endswith("taken.<locals>.<lambda>"):
            return value(rest)
        if isinstance(value, list | tuple) and any(inspect.isfunction(v) for v in value):
            return type(value)(filled(v, rest) for v in value)
        return value

    def call(*tensors: Any) -> Any:
        rest = iter(tensors)
        again = inspect.BoundArguments(bound.signature, {n: filled(v, rest) for n, v in places.items()})  # type: ignore
        return NAMES[row.names[0]](*again.args, **again.kwargs)

    return call, inputs


def compare(found: Any, expected: Any, name: str) -> None:
    if isinstance(expected, dict) and expected.get("dtype") == "string":
        assert found.dtype == tf.string
        assert found.tolist() == expected["value"]
    elif isinstance(expected, list):
        assert isinstance(found, list | tuple)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            compare(one, other, name)
    elif "sparse" in expected:
        compare([found.indices, found.values, found.dense_shape], expected["sparse"], name)
    elif "ragged" in expected:
        assert found.to_list() == expected["ragged"]
        assert found.dtype.name == expected["dtype"]
    elif "python" in expected:
        value = expected["python"]
        assert (list(found) if isinstance(value, list) else found) == value
    else:
        right: Any = np.asarray(expected["value"] if "value" in expected else expected["re"])
        if "im" in expected:
            right = right + 1j * np.asarray(expected["im"])
        array = np.asarray(found)
        assert array.shape == right.shape
        if name not in OTHER_DTYPES:
            assert array.dtype.name == expected["dtype"]
        np.testing.assert_allclose(array, right, rtol=1e-5, atol=1e-5)


def test_there_are_enough_names_and_each_is_in_one_row() -> None:
    names = [name for row in ROWS for name in row.names]
    assert len(names) == len(set(names))
    assert len(names) >= 400
    assert set(names) <= set(NAMES)


def test_every_row_has_a_result_of_tensorflows() -> None:
    random = {name for name in BY_NAME if name.startswith(("random.", "debugging."))}
    assert set(BY_NAME) - set(RESULTS) == ACTIONS | random | WITHOUT_RESULT
    assert set(RESULTS) <= set(BY_NAME)


@pytest.mark.parametrize("row", ROWS, ids=BY_NAME)
def test_signature_and_docstring_are_the_rows(row: NameRow) -> None:
    function = NAMES[row.names[0]]
    shown = [f"{p.name}" for p in inspect.signature(function).parameters.values()]
    assert shown == [part.split("=")[0].strip("* ") for part in _split(row.signature)]
    doc = inspect.getdoc(function)
    assert doc is not None
    assert f"TensorFlow's name for ``{row.call}``" in doc
    assert f">>> result = tf.{row.names[0]}({row.example})" in doc
    for name in row.names:
        place: Any = tf
        for part in name.split("."):
            place = getattr(place, part)
        assert place is function
        assert name == row.names[0] or f"``tf.{name}``" in doc


def _split(signature: str) -> list[str]:
    return [part for part in signature.replace("[1, 1, 1, 1]", "x").split(", ") if part]


def is_of_strings(row: NameRow) -> bool:
    return row.names[0].startswith(("strings.", "io."))


def is_compiled(row: NameRow) -> bool:
    return not row.names[0].startswith(("strings.", "io.", "ragged.", "sparse."))


IN_A_TABLE = {row.names[0] for row in ROWS if is_compiled(row)} & RESULTS.keys() - BY_VALUE
"""The rows whose results one program for each table gives; eagerly each compiles kernels of its own."""


@pytest.mark.parametrize("name", sorted(name for name in RESULTS if name not in IN_A_TABLE or is_drawn(name)))
def test_eager_result_is_tensorflows(name: str) -> None:
    args, kwargs = example(BY_NAME[name])
    compare(NAMES[name](*args, **kwargs), RESULTS[name], name)


@pytest.mark.filterwarnings("ignore::graphc.errors.SideEffectWarning")  # of what makes the arguments
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__.rpartition(".")[2])
def test_compiled_results_are_tensorflows(table: Any) -> None:
    names = [row.names[0] for row in table.ROWS if row.names[0] in IN_A_TABLE]
    calls = {name: with_inputs(BY_NAME[name]) for name in names}

    def run(inputs: dict[str, list[Any]]) -> dict[str, Any]:
        return {name: call(*inputs[name]) for name, (call, _) in calls.items()}

    # One program for a table: a program for each row would take minutes.
    found = tf.function(run, autograph=False)({name: inputs for name, (_, inputs) in calls.items()})
    for name in names:
        try:
            compare(found[name], RESULTS[name], name)
        except AssertionError as error:
            error.add_note(f"tf.{name}")
            raise


def test_strings_are_known_while_a_function_is_traced() -> None:
    calls = {row.names[0]: example(row) for row in ROWS if row.names[0] in RESULTS and is_of_strings(row)}
    found = tf.function(lambda: {name: NAMES[name](*args, **kwargs) for name, (args, kwargs) in calls.items()})()
    for name in calls:
        compare(found[name], RESULTS[name], name)


@pytest.mark.parametrize("name", sorted(BY_VALUE))
def test_shapes_that_depend_on_values_are_refused_compiled(name: str) -> None:
    call, inputs = with_inputs(BY_NAME[name])
    with pytest.raises(ConcretizationError, match=r"the shape of the result depends on values that"):
        tf.function(call)(*inputs)


@pytest.mark.filterwarnings("ignore::graphc.errors.SideEffectWarning")  # of what makes the arguments
@pytest.mark.parametrize("prefix", ["random.", "debugging."])
def test_draws_and_checks_are_the_same_compiled(prefix: str) -> None:
    # Two of the stateless ones would take ten seconds more to compile, for the ops of random.gamma and random.poisson.
    without = ("random.stateless_gamma", "random.stateless_poisson", *SETTINGS)
    rows = [row for row in ROWS if row.names[0].startswith(prefix) and row.names[0] not in without]

    def run() -> dict[str, Any]:
        tf.random.set_seed(3)
        calls = {row.names[0]: example(row) for row in rows}
        return {name: NAMES[name](*args, **kwargs) for name, (args, kwargs) in calls.items()}

    eager, compiled = run(), tf.function(run, autograph=False)()
    assert jax.tree.structure(compiled) == jax.tree.structure(eager)
    for name, found in compiled.items():
        if found is not None:
            np.testing.assert_allclose(np.asarray(found), np.asarray(eager[name]), rtol=1e-6, err_msg=name)


def test_names_of_all_kinds_are_listed() -> None:
    assert {"reduce_sum", "math", "float32", "Variable", "errors"} <= set(tf.__all__)
    assert all(hasattr(tf, name) for name in tf.__all__)
    assert "reduce_std" in tf.math.__all__
    assert "experimental" in tf.autograph.__all__
