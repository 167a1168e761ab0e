"""The fast path of eager calls: when it is taken, and that what fails in it takes the slow path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.core import FAILED, Tensor, call_kernel, with_fast_path

PACKAGE = Path(gx.__file__).parent


def _made() -> tuple[Any, dict[str, Any], list[Any]]:
    slow: list[Any] = []

    def double(x: Any, y: Any = None) -> str:
        slow.append((x, y))
        return "slow"

    function, namespace = with_fast_path(double, conditions=["y is not None"])
    return function, namespace, slow


def test_the_slow_path_is_taken_until_there_is_a_kernel() -> None:
    function, namespace, slow = _made()
    x = gx.asarray(1.0)
    assert function(x, 2.0) == "slow"
    namespace.update(_kernel=lambda x, y: x + y, _Tensor=Tensor)
    assert function(x, 2.0).item() == 3.0
    assert function(x, y=x).item() == 2.0
    assert len(slow) == 1


@pytest.mark.parametrize("given", [(1.0, None), ("text", 1.0), ([1.0], 1.0), (np.array(["text"]), 1.0)], ids=str)
def test_what_does_not_fit_takes_the_slow_path(given: tuple[Any, Any]) -> None:
    function, namespace, slow = _made()
    namespace.update(_kernel=lambda x, y: x + y, _Tensor=Tensor)
    assert function(*given) == "slow"
    assert slow == [given]


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (np.arange(3.0), "float32"),
        (np.arange(3), "int32"),
        (np.float64(2.0), "float32"),
        (np.array([True]), "bool"),
        (np.arange(3, dtype=np.uint8), "uint8"),
    ],
    ids=lambda value: str(getattr(value, "dtype", value)),
)
def test_what_is_numpys_is_copied_once_into_the_dtype_of_a_tensor(given: Any, dtype: str) -> None:
    function, namespace, slow = _made()
    seen: list[Any] = []
    namespace.update(_kernel=lambda x, y: seen.append(x), _Tensor=Tensor)
    function(given, 1.0)
    assert not slow
    (found,) = seen
    assert found.dtype == dtype
    assert not np.shares_memory(found, given)
    np.testing.assert_array_equal(found, given)


def test_numpy_ints_that_do_not_fit_take_the_slow_path_which_refuses_them() -> None:
    with pytest.raises(gx.errors.InvalidArgumentError, match="4294967296 does not fit int32"):
        gx.asarray([1, 2]) + np.array([0, 2**32])


def test_a_kernel_that_fails_leaves_the_error_to_the_slow_path() -> None:
    function, namespace, slow = _made()
    namespace.update(_kernel=lambda x, y: 1 / 0, _Tensor=Tensor)
    assert function(1, 2) == "slow"
    assert slow == [(1, 2)]


def test_a_trace_and_a_tape_take_the_slow_path() -> None:
    function, namespace, slow = _made()
    namespace.update(_kernel=lambda x, y: x + y, _Tensor=Tensor)
    with gx.GradientTape():
        assert function(1, 2) == "slow"
    gx.function(lambda x: [function(1, 2), x][1])(1.0)
    assert len(slow) == 2


def test_a_kernel_is_called_with_raw_arrays() -> None:
    x = gx.asarray([1.0, 2.0])
    assert call_kernel(lambda *raw: raw, (x, 3), Tensor) == (x.raw, 3)
    assert call_kernel(lambda *raw: raw, (x, "text"), Tensor) is FAILED
    assert call_kernel(lambda *raw: 1 / 0, (x,), Tensor) is FAILED


def test_it_is_written_once() -> None:
    swallowed = "except Exception:\n            pass"
    parts = ("core", "ops", "arrays", "gradients", "lowering", "runtime", "function")
    files = [path for part in parts for path in (PACKAGE / part).rglob("*.py") if swallowed in path.read_text()]
    assert files == [PACKAGE / "core" / "fast_path.py"]


def test_functions_of_variables_read_the_present_value_and_their_results_outlive_it() -> None:
    variable = gx.Variable([1.0, 4.0])
    step = gx.function(lambda: variable.assign_add([0.0, 5.0]))
    step()
    assert [gx.sqrt(variable).tolist(), gx.sum(variable).item(), variable.max().item()] == [[1.0, 3.0], 10.0, 9.0]
    kept = [gx.reshape(variable, (2,)), gx.astype(variable, "float32"), gx.maximum(variable, 0.0), variable.ravel()]
    step()  # XLA may update the variable in the memory that it had
    assert [tensor.tolist() for tensor in kept] == [[1.0, 9.0]] * 4
    assert gx.maximum(0.0, variable).tolist() == [1.0, 14.0]
    with gx.GradientTape() as tape:
        loss = gx.sum(gx.square(variable))
    assert tape.gradient(loss, variable).tolist() == [2.0, 28.0]
    variable.assign([0.0, 1.0])
    assert gx.sqrt(variable).tolist() == [0.0, 1.0]
