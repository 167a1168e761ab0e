"""The parts of autograph that tracing needs; imported at the first trace, as a third of graphc's modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphc.compiler.base import imported_names, lazy_names

if TYPE_CHECKING:
    from graphc.compiler.autograph import (
        NoSourceError,
        SymbolicNumber,
        as_lists,
        convert_call,
        ends_function,
        has_control_flow,
        holds_deferred,
        holds_growing,
        holds_symbols,
        is_converted,
        is_part_of,
        number_of,
        run_as_is,
        to_source,
        value_of,
    )

__all__ = [
    "NoSourceError", "SymbolicNumber", "as_lists", "convert_call", "ends_function", "has_control_flow",
    "holds_deferred", "holds_growing", "holds_symbols", "is_converted", "is_part_of", "number_of", "run_as_is",
    "to_source", "value_of",
]  # fmt: skip

lazy_names(globals(), imported_names({"graphc.compiler.autograph": " ".join(__all__)}))
