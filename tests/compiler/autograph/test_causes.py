"""Exceptions that are their own cause."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx


@gx.function
def of_a_text(x: Any) -> Any:
    error = ValueError("too small")
    if x < 0.0:
        raise error from error
    return x


@gx.function
def of_a_tensor(x: Any) -> Any:
    error = ValueError("too small", x)
    if x < 0.0:
        raise error from error
    return x


@pytest.mark.parametrize("program", [of_a_text, of_a_tensor])
def test_an_exception_may_be_raised_from_itself(program: Any) -> None:
    assert program(gx.asarray(1.0)).item() == 1.0
    with pytest.raises(ValueError, match="too small"):
        program(gx.asarray(-1.0))
