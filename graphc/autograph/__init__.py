"""Layer 5: from Python source to calls of control-flow operators, and the operators."""

from graphc.autograph.convert import convert, is_converted, is_part_of, to_source
from graphc.autograph.functional import cond, fori_loop, scan, switch, while_loop
from graphc.autograph.operators import (
    SymbolicNumber,
    as_lists,
    call,
    check_numerics,
    convert_call,
    do_not_convert,
    ends_function,
    holds_growing,
    holds_symbols,
    holds_views,
    log_message,
    loop_options,
    print,
    pyfunc,
    require,
    value_of,
    watch_names,
)
from graphc.autograph.source import NoSourceError

__all__ = [
    "NoSourceError",
    "SymbolicNumber",
    "as_lists",
    "call",
    "check_numerics",
    "cond",
    "convert",
    "convert_call",
    "do_not_convert",
    "ends_function",
    "fori_loop",
    "holds_growing",
    "holds_symbols",
    "holds_views",
    "is_converted",
    "is_part_of",
    "log_message",
    "loop_options",
    "print",
    "pyfunc",
    "require",
    "scan",
    "switch",
    "to_source",
    "value_of",
    "watch_names",
    "while_loop",
]
