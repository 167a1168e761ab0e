"""The one table of what is called in place of builtins, library functions and methods while a function is traced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from graphc.compiler.autograph.builtins import (
    callbacks,
    conversions,
    iterables,
    math_functions,
    operator_functions,
    records,
    reductions,
)
from graphc.compiler.autograph.constructs.calls import call
from graphc.compiler.autograph.constructs.expressions import assignments, identity, list_methods, text
from graphc.compiler.autograph.constructs.host.host_calls import print_late
from graphc.compiler.autograph.constructs.loops import generators, iterators, ranges
from graphc.compiler.autograph.constructs.overrides import OVERRIDES
from graphc.compiler.autograph.constructs.purity import imports
from graphc.compiler.autograph.constructs.with_statement import tokens
from graphc.compiler.autograph.values.growing_list import Growing

__all__ = ["fill"]

FUNCTIONS: Mapping[Any, Callable[..., Any]] = {
    print: print_late,
    **call.FUNCTIONS,
    **conversions.OVERRIDES,  # int, float, len, isinstance, ...
    **callbacks.OVERRIDES,  # apply_along_axis, piecewise, ...
    **math_functions.OVERRIDES,
    **operator_functions.OVERRIDES,
    **reductions.OVERRIDES,  # sum, any, all, min, max
    **iterables.OVERRIDES,  # sorted, next, functools.reduce, ...
    **ranges.OVERRIDES,
    **iterators.OVERRIDES,  # zip, enumerate, reversed, map, iter
    **generators.OVERRIDES,  # list, filter, itertools.takewhile, ...
    **text.OVERRIDES,  # str, repr, format, str.join, ...
    **identity.OVERRIDES,  # id, hash
    **assignments.OVERRIDES,  # setattr, delattr
    **records.OVERRIDES,  # copy.copy, dataclasses.replace, ...
    **imports.OVERRIDES,
    **tokens.OVERRIDES,
}


def fill() -> None:
    """Fills the tables that calls look builtins up in."""
    OVERRIDES.fill(FUNCTIONS)
    Growing.methods.update(list_methods.METHODS)
