"""``gx.debug.nan``: the first op that makes a NaN, its line and its iteration, for a part of the program."""

from __future__ import annotations

import re
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import NumericsError

pytestmark = pytest.mark.xla


def logs(x: Any, n: Any) -> Any:
    for i in range(n):
        if i > 1:
            x = gx.log(x - 5.0)  # the line
        else:
            x = x + 1.0
    return x


def test_the_op_the_line_and_the_iteration_in_a_branch_of_a_loop() -> None:
    compiled = gx.function(logs)
    x, n = gx.asarray(2.0), gx.asarray(5)
    before = compiled(x, n)
    with gx.debug.nan(), pytest.raises(NumericsError, match=r"log .*made 1 NaN.*in iteration 3 of its loop") as caught:
        compiled(x, n)
    assert "x = gx.log(x - 5.0)  # the line" in caught.value.message
    assert bool(gx.isnan(before))
    assert bool(gx.isnan(compiled(x, n)))  # as before the block


def test_eager_code_stops_at_the_op() -> None:
    with gx.debug.nan(), pytest.raises(NumericsError, match=r"log made 1 NaN") as caught:
        logs(gx.asarray(2.0), 5)
    assert "# the line" in caught.value.message


def test_blocks_nest_and_a_decorator_holds_for_a_call() -> None:
    with gx.debug.nan():
        with gx.debug.nan():
            pass
        assert gx.config.check_numerics
    assert not gx.config.check_numerics

    @gx.debug.nan()
    def checked(x: Any) -> Any:
        assert gx.config.check_numerics
        return gx.sqrt(x)

    with pytest.raises(NumericsError, match="sqrt made 1 NaN"):
        checked(gx.asarray(-1.0))
    assert not gx.config.check_numerics
    assert checked(gx.asarray(4.0)).item() == 2.0


def test_blocks_of_two_threads_end_in_any_order() -> None:
    one, other = gx.debug.nan(), gx.debug.nan()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert gx.config.check_numerics
    other.__exit__(None, None, None)
    assert not gx.config.check_numerics


@pytest.mark.parametrize(("name", "instead"), [("step", "gx.run_functions_eagerly"), ("breakpoint", "breakpoint()")])
def test_what_is_gone_names_what_to_use(name: str, instead: str) -> None:
    with pytest.raises(AttributeError, match=rf"gx\.debug has no '{name}': use .*{re.escape(instead)}"):
        getattr(gx.debug, name)
