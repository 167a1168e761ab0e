"""The operators that converted code calls; ``ag__`` in its text.

Each looks at the values it is given: Python values run as Python, symbolic tensors build nodes.
"""

from graphc.autograph.operators.arithmetic import binary, load_item, manager, unary
from graphc.autograph.operators.branches import and_, if_exp, if_stmt, not_, or_
from graphc.autograph.operators.calls import call, call_method, convert_call, do_not_convert, load_attr
from graphc.autograph.operators.checks import assert_stmt, raise_stmt
from graphc.autograph.operators.comparisons import compare, compare_chain, contains
from graphc.autograph.operators.loops import for_stmt, while_stmt
from graphc.autograph.operators.natives import formatted, hashed, items, mapping, rows, spread
from graphc.autograph.operators.stores import delete_attr, delete_item, inplace, store_attr, store_item
from graphc.autograph.operators.structured import trace_scan, trace_switch
from graphc.autograph.operators.undefined import load, return_value, undefined, undefined_return

__all__ = [
    "and_",
    "assert_stmt",
    "binary",
    "call",
    "call_method",
    "compare",
    "compare_chain",
    "contains",
    "convert_call",
    "delete_attr",
    "delete_item",
    "do_not_convert",
    "for_stmt",
    "formatted",
    "hashed",
    "if_exp",
    "if_stmt",
    "inplace",
    "items",
    "load",
    "load_attr",
    "load_item",
    "manager",
    "mapping",
    "not_",
    "or_",
    "raise_stmt",
    "return_value",
    "rows",
    "spread",
    "store_attr",
    "store_item",
    "trace_scan",
    "trace_switch",
    "unary",
    "undefined",
    "undefined_return",
    "while_stmt",
]
