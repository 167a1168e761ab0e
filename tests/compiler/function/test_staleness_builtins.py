"""What special methods of the user's read that builtins written in C call, builtin by builtin."""

from __future__ import annotations

import builtins
import math
import types
from collections.abc import Callable
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.autograph.constructs.purity.watch import called_by
from tests.compiler.function.staleness_builtins import CALLED_IN_C, SIZES


@pytest.mark.parametrize("expression", CALLED_IN_C.values(), ids=CALLED_IN_C)
def test_what_a_builtin_calls_is_followed(expression: Callable[[], Any]) -> None:
    compiled = gx.function(lambda x: (x, expression()))
    for size in (2, 3, 2):
        SIZES[:] = [size]
        assert compiled(gx.asarray(1.0))[1] == expression()


_WITHOUT = """
    aiter anext breakpoint callable classmethod compile delattr eval exec exit getattr globals hasattr id input next
    isinstance issubclass locals memoryview object open ord print property quit setattr staticmethod super type vars
    enumerate list map max min sorted tuple zip
"""
"""Builtins that call no special methods; the last line's take items, and check_items looks at what they take."""


def test_the_list_has_every_builtin() -> None:
    """A builtin of a later Python belongs into the list, or here."""
    kinds = (type, types.BuiltinFunctionType)
    public = {name for name, value in vars(builtins).items() if isinstance(value, kinds) and name[0].islower()}
    missing = {name for name in public if not called_by(getattr(builtins, name))}
    assert missing <= set(_WITHOUT.split())
    assert all(called_by(value) for value in vars(math).values() if callable(value))
