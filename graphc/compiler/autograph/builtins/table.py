"""The one table of what is called in place of builtins, library functions and methods while a function is traced."""

from __future__ import annotations

from graphc.compiler.autograph.builtins import conversions, iterables, math_functions
from graphc.compiler.autograph.constructs import with_statement
from graphc.compiler.autograph.constructs.calls import call
from graphc.compiler.autograph.constructs.expressions import assignments, comparisons, text
from graphc.compiler.autograph.constructs.host.host_calls import print_late
from graphc.compiler.autograph.constructs.loops import generators, iterators, ranges
from graphc.compiler.autograph.constructs.overrides import OVERRIDES
from graphc.compiler.autograph.constructs.purity import reading

OVERRIDES.update(
    {
        print: print_late,
        **call.FUNCTIONS,
        **conversions.OVERRIDES,  # int, float, len, isinstance, ...
        **iterables.CALLBACKS,  # apply_along_axis, piecewise, ...
        **math_functions.OVERRIDES,
        **math_functions.OPERATOR_FUNCTIONS,
        **iterables.REDUCTIONS,  # sum, any, all, min, max
        **iterables.OVERRIDES,  # sorted, next, functools.reduce, ...
        **ranges.OVERRIDES,
        **iterators.OVERRIDES,  # zip, enumerate, reversed, map, iter
        **generators.OVERRIDES,  # list, filter, itertools.takewhile, ...
        **text.OVERRIDES,  # str, repr, format, str.join, ...
        **comparisons.OVERRIDES,  # id, hash
        **assignments.OVERRIDES,  # setattr, delattr
        **conversions.COPIES,  # copy.copy, dataclasses.replace, ...
        **reading.OVERRIDES,
        **with_statement.OVERRIDES,
    }
)
