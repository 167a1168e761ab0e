"""The operators that converted code calls; ``ag__`` in its text.

Each looks at the values it is given: Python values run as Python, symbolic tensors build nodes.
"""

# ruff: noqa: F401  the first modules stand for builtins, and for the operators of numbers
import graphc.autograph.operators.calls.records  # pyright: ignore[reportUnusedImport]
import graphc.autograph.operators.expressions.folding  # pyright: ignore[reportUnusedImport]
import graphc.autograph.operators.expressions.operator_functions  # pyright: ignore[reportUnusedImport]
import graphc.autograph.operators.expressions.reductions  # pyright: ignore[reportUnusedImport]
import graphc.autograph.operators.expressions.sorting  # pyright: ignore[reportUnusedImport]
import graphc.autograph.operators.host.host_ops  # pyright: ignore[reportUnusedImport]  fills a registry
import graphc.autograph.operators.numbers.arithmetic  # pyright: ignore[reportUnusedImport]
import graphc.autograph.operators.numbers.conversions  # pyright: ignore[reportUnusedImport]
import graphc.autograph.operators.numbers.math_functions  # pyright: ignore[reportUnusedImport]
import graphc.autograph.operators.numbers.methods  # pyright: ignore[reportUnusedImport]
from graphc.autograph.operators.branches.branches import asked, if_stmt
from graphc.autograph.operators.branches.logic import and_, if_exp, not_, or_
from graphc.autograph.operators.calls.calls import call, call_method, convert_call, do_not_convert, load_attr
from graphc.autograph.operators.calls.impure import defined_class, defining_class
from graphc.autograph.operators.calls.natives import hashed, items, mapping, rows, spread
from graphc.autograph.operators.calls.reading import evaluated, imported
from graphc.autograph.operators.calls.unconverted import run_as_is
from graphc.autograph.operators.calls.watch import made
from graphc.autograph.operators.expressions.arithmetic import binary, load_item, unary
from graphc.autograph.operators.expressions.comparisons import compare, compare_chain, contains
from graphc.autograph.operators.expressions.generators import clause, condition, generator, listed
from graphc.autograph.operators.expressions.identity import is_, is_not
from graphc.autograph.operators.failures.alternatives import (
    caught,
    happened,
    otherwise,
    restored,
    throw,
    throw_again,
)
from graphc.autograph.operators.failures.checks import assert_stmt, raise_stmt, require
from graphc.autograph.operators.failures.failures import ends_function
from graphc.autograph.operators.failures.handlers import before_try, failed, failed_still, handlers, in_finally
from graphc.autograph.operators.failures.managers import manager
from graphc.autograph.operators.failures.numerics import check_numerics
from graphc.autograph.operators.failures.origins import passing
from graphc.autograph.operators.host.host import pyfunc
from graphc.autograph.operators.host.late_values import holds_views, value_of
from graphc.autograph.operators.host.messages import log_message, print
from graphc.autograph.operators.host.text import formatted, joined
from graphc.autograph.operators.lists.growing import as_lists, holds_growing
from graphc.autograph.operators.loops.for_loops import Loopable, for_stmt, run_for
from graphc.autograph.operators.loops.options import loop_options
from graphc.autograph.operators.loops.scan_and_switch import trace_scan, trace_switch
from graphc.autograph.operators.loops.state import LoopVariables
from graphc.autograph.operators.loops.while_loops import while_stmt
from graphc.autograph.operators.matching.patterns import (
    match,
    match_as,
    match_or,
    match_singleton,
    match_star,
    match_value,
)
from graphc.autograph.operators.matching.structural_patterns import match_class, match_mapping, match_sequence
from graphc.autograph.operators.names.undefined import is_unset, load, return_value, undefined, undefined_return, unset
from graphc.autograph.operators.numbers.symbolic_number import SymbolicNumber
from graphc.autograph.operators.stores.assignments import delete_attr, delete_item, inplace, store_attr, store_item
from graphc.autograph.operators.stores.kept_tensors import holds_symbols
from graphc.autograph.operators.stores.masked import load_part

__all__ = [
    "LoopVariables",
    "Loopable",
    "SymbolicNumber",
    "and_",
    "as_lists",
    "asked",
    "assert_stmt",
    "before_try",
    "binary",
    "call",
    "call_method",
    "caught",
    "check_numerics",
    "clause",
    "compare",
    "compare_chain",
    "condition",
    "contains",
    "convert_call",
    "defined_class",
    "defining_class",
    "delete_attr",
    "delete_item",
    "do_not_convert",
    "ends_function",
    "evaluated",
    "failed",
    "failed_still",
    "for_stmt",
    "formatted",
    "generator",
    "handlers",
    "happened",
    "hashed",
    "holds_growing",
    "holds_symbols",
    "holds_views",
    "if_exp",
    "if_stmt",
    "imported",
    "in_finally",
    "inplace",
    "is_",
    "is_not",
    "is_unset",
    "items",
    "joined",
    "listed",
    "load",
    "load_attr",
    "load_item",
    "load_part",
    "log_message",
    "loop_options",
    "made",
    "manager",
    "mapping",
    "match",
    "match_as",
    "match_class",
    "match_mapping",
    "match_or",
    "match_sequence",
    "match_singleton",
    "match_star",
    "match_value",
    "not_",
    "or_",
    "otherwise",
    "passing",
    "print",
    "pyfunc",
    "raise_stmt",
    "require",
    "restored",
    "return_value",
    "rows",
    "run_as_is",
    "run_for",
    "spread",
    "store_attr",
    "store_item",
    "throw",
    "throw_again",
    "trace_scan",
    "trace_switch",
    "unary",
    "undefined",
    "undefined_return",
    "unset",
    "value_of",
    "while_stmt",
]
