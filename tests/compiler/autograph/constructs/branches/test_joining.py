"""Lists that branches on tensors leave or return, in different lengths."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import UnimplementedError
from tests.compiler.autograph.differential import check, f


def _early(x: Any) -> Any:
    out = []
    for i in range(3):
        out.append(x * i)
        if x > i:
            return out
    return out


def _in_branches(x: Any) -> Any:
    if x > 0:
        rows = [x] if x > 1 else []
    else:
        rows = [x, x * 2]
    total = x * 0
    for row in rows:
        total = total + row
    return total + len(rows), rows


def _empty(x: Any) -> Any:
    return [x] if x > 0 else []


@pytest.mark.parametrize("program", [_early, _in_branches, _empty])
def test_branches_leave_lists_of_different_lengths(program: Any) -> None:
    for value in (2.0, 0.5, -1.0):
        check(program, f(value))


def test_such_a_list_may_be_one_from_outside() -> None:
    def program(x: Any) -> Any:
        own = [x]
        rows = own if x > 0 else [x, x]
        rows.append(x)
        return own

    with pytest.raises(UnimplementedError, match="may or may not be at run time"):
        gx.function(program)(f(1.0))


def test_a_tensor_of_such_a_list_is_refused_in_its_words() -> None:
    def program(x: Any) -> Any:
        rows = [x]
        if x > 0:
            rows.append(x)
        return gx.asarray(rows)

    with pytest.raises(UnimplementedError, match="whose length is known at run time only"):
        gx.function(program)(f(1.0))
