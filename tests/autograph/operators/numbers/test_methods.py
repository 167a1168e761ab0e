"""Attributes that numbers do not have."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx


def test_an_attribute_that_numbers_do_not_have_fails_as_in_python() -> None:
    @gx.function
    def f(x: Any) -> Any:
        return int(x).foo  # pyright: ignore[reportAttributeAccessIssue]

    with pytest.raises(AttributeError, match="'int' object has no attribute 'foo'"):
        f(gx.asarray(1.0))
