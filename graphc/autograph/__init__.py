"""Layer 5: from Python source to calls of control-flow operators, and the operators."""

from graphc.autograph.convert import convert, is_converted, to_source
from graphc.autograph.functional import cond, fori_loop, scan, switch, while_loop
from graphc.autograph.operators import call, convert_call, do_not_convert
from graphc.autograph.source import NoSourceError

__all__ = [
    "NoSourceError",
    "call",
    "cond",
    "convert",
    "convert_call",
    "do_not_convert",
    "fori_loop",
    "is_converted",
    "scan",
    "switch",
    "to_source",
    "while_loop",
]
