"""Traces and their regions, and the record of what a trace reads and writes."""

from graphc.compiler.tracing.aliases import Alias, AliasSet, check_loop, keep_apart
from graphc.compiler.tracing.cells import MISSING, CallState, Cell, Journal, TensorCell, Write
from graphc.compiler.tracing.closures import Closures, closures_now
from graphc.compiler.tracing.guard_kinds import BoundMethod, is_unseen, recorded_whole
from graphc.compiler.tracing.late_rows import LateRow, late_rows
from graphc.compiler.tracing.lifting import CreationInTrace, Lifting
from graphc.compiler.tracing.mode import (
    Controls,
    after_nodes,
    context,
    graph_by_hand,
    in_region,
    is_followed,
    is_tracing,
    last_node,
    lifted,
    making_state,
    reads_here,
    refusal,
    refuse_in_trace,
    root_trace,
)
from graphc.compiler.tracing.reads import ALIAS, ReadGuard, Reads, has_parts, is_array
from graphc.compiler.tracing.region import Region, VariableState
from graphc.compiler.tracing.reports import AfterCall, Check, LoopReport, RegionAborted, SideEffect, TensorStore
from graphc.compiler.tracing.sources import (
    SMALL_BYTES,
    Source,
    addresses,
    attribute,
    attributes_of,
    content_of,
    contents_of,
    dispatched,
    exact,
    fixed,
    global_name,
    is_fixed,
    item,
    lacks_attribute,
    length,
    looked_up,
    membership,
    result_of_call,
    same_array,
    same_items,
    same_keys,
    same_set,
)
from graphc.compiler.tracing.trace import CREATES, RollbackPoint, Trace, current_trace, trace_of, type_of_any

__all__ = [
    "ALIAS", "CREATES", "MISSING", "SMALL_BYTES", "AfterCall", "Alias", "AliasSet", "BoundMethod", "CallState", "Cell",
    "Check", "Closures", "Controls", "CreationInTrace", "Journal", "LateRow", "Lifting", "LoopReport", "ReadGuard",
    "Reads", "Region", "RegionAborted", "RollbackPoint", "SideEffect", "Source", "TensorCell", "TensorStore", "Trace",
    "VariableState", "Write", "addresses", "after_nodes", "attribute", "attributes_of", "check_loop", "closures_now",
    "content_of", "contents_of", "context", "current_trace", "dispatched", "exact", "fixed", "global_name",
    "graph_by_hand", "has_parts", "in_region", "is_array", "is_fixed", "is_followed", "is_tracing", "is_unseen", "item",
    "keep_apart", "lacks_attribute", "last_node", "late_rows", "length", "lifted", "looked_up", "making_state",
    "membership", "reads_here", "recorded_whole", "refusal", "refuse_in_trace", "result_of_call", "root_trace",
    "same_array", "same_items", "same_keys", "same_set", "trace_of", "type_of_any",
]  # fmt: skip
