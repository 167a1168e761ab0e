"""A name need not be bound, nor fit, on a path that has left by ``return``, ``break`` or ``continue``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.autograph import to_source
from graphc.compiler.base.errors import UndefinedNameError
from tests.compiler.autograph.differential import compile_quietly, f
from tests.conformance.comparing import difference


def return_in_the_middle(x: Tensor) -> Any:
    if x == 0:
        y = x + 1
    elif x == 1:
        return x - 5
    else:
        y = x * 2
    return y + 10


def two_returns_in_the_middle(x: Tensor) -> Any:
    if x < 0:
        if x < -1:
            return -x
        y = x * 3
    elif x < 2:
        y = x
        if y > 0.5:
            return y * 100
    else:
        y = x + 1
        z = y
        if z > 4:
            return z
    z = y * 7
    return z - y


def misfit_before_a_return(x: Tensor) -> Any:
    y = x
    if x > 2:
        y = "large"
        if x > 3:
            return gx.stack([x, x])
        y = x - 1
    elif x > 1:
        y = gx.stack([x, x])
        return y * 2
    else:
        y = x + 1
    return gx.stack([y, y * 2])


def continue_in_the_middle(x: Tensor) -> Any:
    total = x * 0
    for i in range(6):
        if x > i:
            step = x
        elif x + i == 4:
            continue
        else:
            step = x * 2
        total = total + step
    return total


def break_in_the_middle(x: Tensor) -> Any:
    total = x * 0
    for i in gx.arange(6):
        if x > i:
            step = x + i
        elif i - x > 2:
            break
        else:
            step = x * 2 - i
        total = total + step
    else:
        total = total - 1000
    return total


def all_in_one_loop(x: Tensor) -> Any:
    total = seen = x * 0
    while total < 20:
        seen = seen + 1
        if seen == 2:
            part = x
        elif seen == 3:
            continue
        elif seen > x + 5:
            break
        elif total + seen == 9:
            return seen * 100
        else:
            part = seen + 1
            whole = part * 2
            if whole > 15:
                return whole
        total = total + part
    return total + seen


def carried_although_it_breaks(x: Tensor) -> Any:
    last = x
    for i in range(5):
        if x + i == 3:
            last = last * 10
            break
        if x + i == 1:
            last = last + 5
            continue
        last = last + 1
        x = x + last * 0
    return last


def inner_and_outer(x: Tensor) -> Any:
    total = part = x * 0
    for i in range(3):
        for j in gx.arange(4):
            if x > j:
                part = x + j
            elif x + i == j:
                break
            elif x + i + j == 5:
                return total * 100 + part if i else total
            else:
                part = x - j
            total = total + part
        else:
            if total > 10:
                continue
            part = x * 5
        total = total + part
    return total


def with_finally(x: Tensor) -> Any:
    seen = x
    try:
        if x == 0:
            seen = x + 1
            y = x
        elif x == 1:
            seen = x + 2
            return seen * 3
        else:
            seen = x + 4
            y = x * 2
    finally:
        last = seen
    return y + last


def in_a_with(x: Tensor) -> Any:
    with contextlib.nullcontext():
        if x == 0:
            y = x
        elif x == 1:
            return x * 3
        else:
            y = x + 2
        z = y
    return z * 2


def closed_over(x: Tensor) -> Any:
    y = x

    def read() -> Tensor:
        return y

    if x == 0:
        y = x + 1
    elif x == 1:
        y = x + 5
        return read() * 2
    else:
        y = x + 3
    return read()


PROGRAMS = [
    return_in_the_middle, two_returns_in_the_middle, misfit_before_a_return, continue_in_the_middle,
    break_in_the_middle, all_in_one_loop, carried_although_it_breaks, inner_and_outer, with_finally, in_a_with,
    closed_over,
]  # fmt: skip


@pytest.mark.drawn(3)
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_paths_that_left_do_not_matter(fn: Callable[..., Any]) -> None:
    compiled = compile_quietly(fn)
    for value in (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 3.5, 4.0, 6.0):
        problem = difference(fn(f(value)), compiled(f(value)))
        assert problem is None, (value, problem)


def test_a_name_that_is_read_after_a_break_matters() -> None:
    def unbound(x: Tensor) -> Tensor:
        for _ in range(3):
            if x == 0:
                y = x
            elif x == 1:
                break
            else:
                y = x + 1
            x = x + y
        return y

    with pytest.raises(UndefinedNameError, match="name 'y' is used"):
        gx.function(unbound)(f(1.0))


def test_a_name_that_a_finally_block_reads_matters() -> None:
    def unbound(x: Tensor) -> Tensor:
        try:
            if x == 0:
                y = x
            elif x == 1:
                return x
            else:
                y = x + 1
            x = x + y
        finally:
            x = x + y
        return x

    with pytest.raises(UndefinedNameError, match="name 'y' is used"):
        gx.function(unbound)(f(1.0))


def test_the_names_that_do_not_matter_are_listed_by_flag() -> None:
    assert "('ag__done', 'ag__return', 'y'), {'ag__done': ('y',)})" in to_source(return_in_the_middle)
    assert "{'ag__continue_1': ('step',)})" in to_source(continue_in_the_middle)
    assert "{'ag__break_1': ('x',)}" in to_source(carried_although_it_breaks)
    assert "('z',), {'': ('z',)})" in to_source(in_a_with)
