"""Layer 5: from Python source to calls of control-flow operators, and the operators."""

from graphc.autograph.convert import convert, is_converted, to_source
from graphc.autograph.operators import call, convert_call, do_not_convert
from graphc.autograph.source import NoSourceError

__all__ = ["NoSourceError", "call", "convert", "convert_call", "do_not_convert", "is_converted", "to_source"]
