"""The operators that converted code calls; ``ag__`` in its text.

Each looks at the values it is given: Python values run as Python, symbolic tensors build nodes. All names of this file
are operators, or what graphc.compiler.autograph gives to others.
"""
# ruff: noqa: F401
# pyright: reportUnusedImport=false

import graphc.compiler.autograph.builtins.table
from graphc.compiler.autograph.constructs.branches.branch import asked, choose, if_stmt, known_truth
from graphc.compiler.autograph.constructs.branches.logic import (
    and_,
    assert_stmt,
    if_exp,
    not_,
    or_,
    raise_stmt,
    require,
    require_limit,
    unless,
)
from graphc.compiler.autograph.constructs.calls.attributes import load_attr
from graphc.compiler.autograph.constructs.calls.builtin_calls import defined_class
from graphc.compiler.autograph.constructs.calls.call import call, call_method, convert_call, do_not_convert
from graphc.compiler.autograph.constructs.exceptions.failure import ends_function, note_raise
from graphc.compiler.autograph.constructs.exceptions.origins import passing
from graphc.compiler.autograph.constructs.exceptions.try_scope import TryScope, before_try, in_finally
from graphc.compiler.autograph.constructs.expressions.assignments import (
    delete_attr,
    delete_item,
    inplace,
    load_part,
    store_attr,
    store_item,
)
from graphc.compiler.autograph.constructs.expressions.comparisons import compare, compare_chain, contains, is_, is_not
from graphc.compiler.autograph.constructs.expressions.operators import binary, load_item, unary
from graphc.compiler.autograph.constructs.expressions.text import formatted, joined
from graphc.compiler.autograph.constructs.host.host_calls import pyfunc
from graphc.compiler.autograph.constructs.host.messages import call_late, log_message, print
from graphc.compiler.autograph.constructs.loops.for_loops import Loopable, for_stmt, run_for
from graphc.compiler.autograph.constructs.loops.generators import clause, condition, generator, listed
from graphc.compiler.autograph.constructs.loops.options import loop_options, open_loop
from graphc.compiler.autograph.constructs.loops.scan_and_switch import trace_scan, trace_switch
from graphc.compiler.autograph.constructs.loops.state import LoopVariables
from graphc.compiler.autograph.constructs.loops.while_loops import while_stmt
from graphc.compiler.autograph.constructs.matching import match_sequence, matched
from graphc.compiler.autograph.constructs.numerics import check_numerics, examine_op
from graphc.compiler.autograph.constructs.purity.natives import hashed, items, mapping, rows, spread
from graphc.compiler.autograph.constructs.purity.opaque import defining_class
from graphc.compiler.autograph.constructs.purity.reading import evaluated, imported, importing
from graphc.compiler.autograph.constructs.purity.unconverted import run_as_is
from graphc.compiler.autograph.constructs.purity.watch import made
from graphc.compiler.autograph.constructs.with_statement import manager
from graphc.compiler.autograph.values.choice import holds_symbols
from graphc.compiler.autograph.values.deferred import holds_deferred, number_of, value_of
from graphc.compiler.autograph.values.growing_list import as_lists, holds_growing
from graphc.compiler.autograph.values.number import SymbolicNumber
from graphc.compiler.autograph.values.protocol import is_unset, load, return_value, unbound, unbound_return, unset
