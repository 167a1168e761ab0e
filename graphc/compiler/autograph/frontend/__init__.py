"""The front end: from the source of a function to the same function with its constructs as calls of operators."""

from graphc.compiler.autograph.frontend.convert import convert, is_converted, is_part_of, to_source
from graphc.compiler.autograph.frontend.source import NoSourceError, has_control_flow

__all__ = ["NoSourceError", "convert", "has_control_flow", "is_converted", "is_part_of", "to_source"]
