"""Tracebacks of eager code: the user's frames, at most one of graphc's, and no error of JAX's before."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base import is_internal_file

A, B = gx.ones((2, 4)), gx.ones((2, 5))
V = gx.Variable(gx.ones(3))


class Inner(gx.layers.Layer):
    def call(self, x: Any) -> Any:
        return x + B


class Outer(gx.layers.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()

    def call(self, x: Any) -> Any:
        return self.inner(x)


DENSE = gx.layers.Dense(4, in_features=4)
CASES: dict[str, Callable[[], Any]] = {
    "a layer in a layer": lambda: Outer()(A),
    "layers in a Sequential": lambda: gx.layers.Sequential([DENSE, Outer()])(A),
    "a layer's own op": lambda: DENSE(B),
    "building a layer": lambda: gx.layers.Conv2D(3, 3)(A),
    "an operator": lambda: A + B,
    "an operator of NumPy's": lambda: np.ones((2, 5), np.float32) + A,
    "a reflected operator": lambda: 2 @ A,
    "a unary operator": lambda: ~A,
    "a function": lambda: gx.matmul(A, B),
    "a function's axis": lambda: gx.sum(A, axis=5),
    "a method": lambda: A.sum(axis=5),
    "an index": lambda: A[7],
    "an index that is none": lambda: A["x"],
    "a store": lambda: A.__setitem__(0, "a"),
    "an assignment": lambda: V.assign(B),
    "an increment": lambda: V.assign_add(B),
    "asarray": lambda: gx.asarray(object()),
    "a draw": lambda: gx.random.normal((-1,)),
    "a loss": lambda: gx.losses.mean_squared_error(A, B),
    "a loss object": lambda: gx.losses.MeanSquaredError()(A, B),
    "grad": lambda: gx.grad(lambda x: gx.sum(x + B))(A),
    "jvp": lambda: gx.jvp(lambda x: x + B, (A,), (A,)),
    "custom_gradient": lambda: gx.custom_gradient(lambda x: (x + B, lambda upstream: upstream))(A),
    "vmap": lambda: gx.vmap(lambda x: x + B)(A),
    "while_loop": lambda: gx.while_loop(lambda x: gx.sum(x) < 9, lambda x: x + B, A),
    "cond": lambda: gx.cond(gx.asarray(True), lambda: A + B, lambda: A),
    "scan": lambda: gx.scan(lambda total, x: (total + x, x), A, gx.ones((3, 2, 5))),
    "a dataset": lambda: list(gx.data.Dataset.from_tensor_slices(A).map(lambda x: x + B)),
    "apply_gradients": lambda: gx.optim.SGD(0.1).apply_gradients([(B, V)]),
    "fit": lambda: gx.train.fit(lambda x: x + B, [A], epochs=1, progress=False),
    "einsum": lambda: gx.einsum("ij,jk->ik", A, B),
    "a check of numerics": lambda: gx.check_numerics(A / 0.0),
    "float": lambda: float(A),
    "int of a Variable": lambda: int(V),
    "making a Variable": lambda: gx.Variable([[1, 2], [3]]),
    "making an optimizer": lambda: gx.optim.SGD("a"),  # pyright: ignore
    "a host call": lambda: gx.pyfunc(lambda x: 1 / 0, gx.TensorSpec(()), A),
    "compiling a builtin": lambda: gx.function(max)(A),
    "run_functions_eagerly": lambda: eagerly(gx.function(lambda x: Outer()(x))),
}


def eagerly(function: Any) -> Any:
    gx.run_functions_eagerly(True)
    try:
        return function(A)
    finally:
        gx.run_functions_eagerly(False)


def raised_by(call: Callable[[], Any]) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011  of many kinds; what they say is tested elsewhere
        call()
    return caught.value


@pytest.mark.parametrize("case", CASES)
def test_a_traceback_shows_the_users_frames_and_at_most_one_of_ours(case: str) -> None:
    error = raised_by(CASES[case])
    frames = traceback.extract_tb(error.__traceback__)
    assert sum(is_internal_file(frame.filename) for frame in frames) <= 1
    text = "".join(traceback.format_exception(error))
    assert "The above exception" not in text
    assert "During handling" not in text


def test_a_nested_layer_fails_in_as_few_lines_as_compiled_code() -> None:
    layer = Outer()
    eager, compiled = raised_by(lambda: layer(A)), raised_by(lambda: gx.function(layer)(A))
    names = [frame.name for frame in traceback.extract_tb(eager.__traceback__)]
    assert names[-2:] == ["call", "call"]
    lines, others = (len("".join(traceback.format_exception(one)).split("\n")) for one in (eager, compiled))
    assert lines <= others + 1  # that of the lambda above


def test_a_full_traceback_keeps_graphcs_frames_and_jaxs_error() -> None:
    with gx.config.scope(full_traceback=True):
        error = raised_by(lambda: Outer()(A))
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    assert any(name.endswith("dispatch.py") for name in files)
    assert isinstance(error.__cause__, TypeError)
    assert error.__cause__.__traceback__ is not None


def test_an_error_of_the_users_own_keeps_its_cause() -> None:
    def failing() -> None:
        try:
            A + B
        except gx.errors.InvalidArgumentError as error:
            raise RuntimeError("the user's") from error

    error = raised_by(failing)
    assert isinstance(error.__cause__, gx.errors.InvalidArgumentError)
    frames = traceback.extract_tb(error.__cause__.__traceback__)
    assert [frame.name for frame in frames if not is_internal_file(frame.filename)] == ["failing"]
    assert len(frames) <= 2


def test_the_users_function_below_jax_stays_in_the_cause() -> None:
    def broken(x: Any) -> Any:
        return x + jnp.ones(3)

    error = raised_by(lambda: gx.call_jax(broken, gx.ones(2)))
    assert error.__cause__ is not None
    assert "broken" in [frame.name for frame in traceback.extract_tb(error.__cause__.__traceback__)]


def test_lines_that_graphc_shows_have_no_carets() -> None:
    @gx.function
    def checked(x: Any) -> Any:
        assert gx.sum(x) > 9.0
        return x

    text = "".join(traceback.format_exception(raised_by(lambda: checked(A)))).split("\n")
    place = next(number for number, line in enumerate(text) if "assert gx.sum(x) > 9.0" in line)
    assert text[place + 1] == "AssertionError"


def test_a_range_is_an_array() -> None:
    assert gx.asarray(range(4)).tolist() == [0, 1, 2, 3]
    assert gx.sum(range(1, 4)).item() == 6
    assert gx.function(lambda: gx.asarray(range(2), "float32"))().tolist() == [0.0, 1.0]


def test_frames_that_graphc_makes_have_no_arguments_that_pytest_would_show() -> None:
    @gx.function
    def checked(x: Any) -> Any:
        assert gx.sum(x) > 9.0
        return x

    (*_, last) = traceback.walk_tb(raised_by(lambda: checked(A)).__traceback__)
    assert (last[0].f_code.co_name, last[0].f_locals) == ("checked", {})
