"""Layer 4: traces and their regions, and the record of what a trace reads and writes."""

from graphc.tracing.aliases import Alias, AliasSet
from graphc.tracing.call_state import CallState
from graphc.tracing.cells import MISSING, Cell, TensorCell, Write
from graphc.tracing.context import context
from graphc.tracing.controls import Controls
from graphc.tracing.gradient_mask import GradientMask
from graphc.tracing.journal import Journal
from graphc.tracing.late_rows import LateRow, late_rows
from graphc.tracing.lifting import CreationInTrace, Lifting
from graphc.tracing.mode import (
    after_nodes,
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
from graphc.tracing.reads import ReadGuard, Reads, has_parts, is_array, is_unseen, recorded_whole
from graphc.tracing.region import Region, VariableState
from graphc.tracing.reports import AfterCall, Check, LoopReport, RegionAborted, SideEffect, Store
from graphc.tracing.same import (
    addresses,
    attributes_of,
    content_of,
    contents_of,
    exact,
    is_fixed,
    lacks,
    same_array,
    same_items,
    same_keys,
    same_set,
)
from graphc.tracing.sources import (
    Source,
    attribute,
    dispatched,
    fixed,
    global_name,
    item,
    length,
    looked_up,
    membership,
    result_of_call,
)
from graphc.tracing.trace import CREATES, Checkpoint, Trace, current_trace, trace_of, type_of_any
from graphc.tracing.versions import counts_changes, version_of

__all__ = [
    "CREATES",
    "MISSING",
    "AfterCall",
    "Alias",
    "AliasSet",
    "CallState",
    "Cell",
    "Check",
    "Checkpoint",
    "Controls",
    "CreationInTrace",
    "GradientMask",
    "Journal",
    "LateRow",
    "Lifting",
    "LoopReport",
    "ReadGuard",
    "Reads",
    "Region",
    "RegionAborted",
    "SideEffect",
    "Source",
    "Store",
    "TensorCell",
    "Trace",
    "VariableState",
    "Write",
    "addresses",
    "after_nodes",
    "attribute",
    "attributes_of",
    "content_of",
    "contents_of",
    "context",
    "counts_changes",
    "current_trace",
    "dispatched",
    "exact",
    "fixed",
    "global_name",
    "graph_by_hand",
    "has_parts",
    "in_region",
    "is_array",
    "is_fixed",
    "is_followed",
    "is_tracing",
    "is_unseen",
    "item",
    "lacks",
    "last_node",
    "late_rows",
    "length",
    "lifted",
    "looked_up",
    "making_state",
    "membership",
    "reads_here",
    "recorded_whole",
    "refusal",
    "refuse_in_trace",
    "result_of_call",
    "root_trace",
    "same_array",
    "same_items",
    "same_keys",
    "same_set",
    "trace_of",
    "type_of_any",
    "version_of",
]
