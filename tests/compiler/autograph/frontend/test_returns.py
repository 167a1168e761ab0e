"""The lines on which a function returns, as messages tell them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.autograph.frontend.lower_jumps import where_it_returns
from graphc.compiler.base import Location


@pytest.mark.parametrize(
    ("source", "line", "expected"),
    [
        ("def f(x):\n    if x:\n        return 1\n", 2, "; f returns at line 3 and ends without a return after line 3"),
        ("def f(x):\n    if x:\n        return 1\n    else:\n        return 2\n", 2, "; f returns at lines 3 and 5"),
        ("def f(x):\n    def g():\n        return 1\n    raise ValueError(g)\n", 2, "; g returns at line 3"),
        ("def f(x):\n    def g():\n        return 1\n    raise ValueError(g)\n", 4, ""),
        ("def f(x):\n    while True:\n        if x: return 1\n", 3, "; f returns at line 3"),
        ("def f(x):\n    with x:\n        return 1\n", 3, "; f returns at line 3"),
        ("def f(x):\n    x + 1\n", 2, "; f ends without a return after line 2"),
        ("x = 1\n", 1, ""),
        ("def f(\n", 1, ""),
    ],
)
def test_it_is_told_in_words(source: str, line: int, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(source, encoding="utf-8")
    assert where_it_returns(Location(str(path), line)) == expected


def test_without_a_place_nothing_is_told() -> None:
    assert where_it_returns(None) == ""
    assert where_it_returns(Location("no such file", 3)) == ""


def test_a_missing_return_names_both_lines() -> None:
    @gx.function  # noqa: RET503  that is what is tested
    def scaled(x: Any) -> Any:
        for _ in range(9):
            if x > 0:
                return x
            x = x + 1

    start = scaled.python_function.__code__.co_firstlineno
    message = rf"scaled returns at line {start + 4} and ends without a return after line {start + 5}"
    with pytest.raises(gx.errors.InvalidArgumentError, match=message):
        scaled(gx.asarray(1.0))
