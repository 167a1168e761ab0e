"""Ops of the host: eagerly and in compiled functions."""

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import STRING, Resources, apply, current_resources, resources_scope
from graphc.compiler.ir import Attrs, TensorType, define_op


def _count(step: Any, *, name: str) -> Any:
    held = current_resources().get_or_make("", name, lambda: [0], list)
    held[0] += int(step)
    return np.int32(held[0])


COUNT = define_op("tests.count", _count, lambda types, attrs, regions: (TensorType((), np.dtype("int32")),), host=True)


def _upper(words: Any) -> Any:
    return np.array([word.upper() for word in words], object)


UPPER = define_op("tests.upper", _upper, lambda types, attrs, regions: (types[0],), host=True)


def test_an_op_of_the_host_runs_at_once_in_eager_code() -> None:
    with resources_scope(Resources()):
        assert apply(COUNT, (2,), Attrs(name="n")).item() == 2
        assert apply(COUNT, (gx.asarray(3),), Attrs(name="n")).item() == 5


def test_resources_of_a_scope_are_its_own() -> None:
    with resources_scope(Resources()):
        assert apply(COUNT, (1,), Attrs(name="n")).item() == 1
    with resources_scope(Resources()):
        assert apply(COUNT, (1,), Attrs(name="n")).item() == 1


def test_strings_are_bytes_to_the_op_and_text_to_the_user() -> None:
    found = apply(UPPER, (["a", b"\xff"],))
    assert found.tolist() == ["A", "\udcff"]
    assert apply(UPPER, (gx.asarray(["b"]),)).dtype == gx.string


def test_a_compiled_function_runs_it_at_each_call_and_in_rolled_loops() -> None:
    @gx.function
    def step(x: Any) -> Any:
        for _ in range(20):
            x = x + apply(COUNT, (1,), Attrs(name="compiled"))
        return x

    assert step(gx.asarray(0)).item() == sum(range(1, 21))
    assert step(gx.asarray(0)).item() == sum(range(21, 41))


def test_a_compiled_function_refuses_strings() -> None:
    @gx.function
    def step(x: Any) -> Any:
        apply(UPPER, (["a"],))
        return x

    with pytest.raises(UnimplementedError, match=r"tests.upper gives .*numbers of known shapes only.*gx.Session"):
        step(gx.asarray(0))


def test_the_dtype_of_strings() -> None:
    assert np.dtype(object) == STRING
