"""From Python source to calls of control-flow operators, and the operators."""

from graphc.compiler.autograph.constructs.purity.unconverted import asked as follow_methods
from graphc.compiler.autograph.frontend import (
    NoSourceError,
    convert,
    has_control_flow,
    is_converted,
    is_part_of,
    to_source,
)
from graphc.compiler.autograph.functional import cond, fori_loop, scan, switch, while_loop
from graphc.compiler.autograph.operators import (
    Loopable,
    LoopVariables,
    SymbolicNumber,
    as_lists,
    call,
    call_late,
    check_numerics,
    convert_call,
    do_not_convert,
    ends_function,
    examine_op,
    holds_deferred,
    holds_growing,
    holds_symbols,
    is_unset,
    log_message,
    loop_options,
    number_of,
    open_loop,
    print,
    pyfunc,
    require,
    run_as_is,
    run_for,
    unset,
    value_of,
    while_stmt,
)

__all__ = [
    "LoopVariables", "Loopable", "NoSourceError", "SymbolicNumber", "as_lists", "call", "call_late", "check_numerics",
    "cond", "convert", "convert_call", "do_not_convert", "ends_function", "examine_op", "follow_methods", "fori_loop",
    "has_control_flow", "holds_deferred", "holds_growing", "holds_symbols", "is_converted", "is_part_of", "is_unset",
    "log_message", "loop_options", "number_of", "open_loop", "print", "pyfunc", "require", "run_as_is", "run_for",
    "scan", "switch", "to_source", "unset", "value_of", "while_loop", "while_stmt",
]  # fmt: skip
