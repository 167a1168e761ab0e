"""The op table, whose rows wrap JAX functions, and the few ops written by hand.

Each module of rows has a stub file beside it for editors and type checkers. Installing graphc writes these files, and
so does ``python -m graphc.compiler.ops.stubs``; git ignores them. :mod:`graphc.compiler.ops.functions` collects the
public array functions.
"""

# ruff: noqa: F403  __all__ is static in graphc.compiler.ops.functions

from typing import TYPE_CHECKING

import graphc.compiler.ops.functions as functions
from graphc.compiler.base import lazy_names, names_of
from graphc.compiler.ops.collectives import (
    AXIS_INDEX,
    COLLECTIVES,
    COPY_AXIS,
    FOLD_IN_AXIS,
    REPLICA_AXIS,
    REPLICAS,
    SAME_ON_ALL,
    VMAP,
    MappedRegion,
    emit_vmap,
    replica_mesh,
    replica_spec,
)
from graphc.compiler.ops.control_flow import (
    COND,
    FIRST_TRUE,
    SCAN,
    SWITCH,
    WHILE,
    Trips,
    emit_branches,
    emit_scan,
    emit_while,
)
from graphc.compiler.ops.control_flow_types import BOOL, INDEX, iterations_per_step
from graphc.compiler.ops.conversion import as_numbers, as_wide
from graphc.compiler.ops.deferred import COMPOSED, note_watched, rows_of, sized, was_joined
from graphc.compiler.ops.derivatives.differentiate import (
    VJP,
    linearize,
    linearize_op,
    linearize_twice,
    pull_back,
    pushforward,
    vjp_attrs,
)
from graphc.compiler.ops.derivatives.forward import JVP, emit_jvp
from graphc.compiler.ops.derivatives.modes import current_mode
from graphc.compiler.ops.derivatives.reverse_while import custom_vjp
from graphc.compiler.ops.generator import is_random_state
from graphc.compiler.ops.host import (
    HOST_CALL,
    HOST_CALLS,
    HOST_RESULT,
    ORDER,
    STATUS,
    UNORDERED_HOST_CALL,
    calls_host,
    emit_host_call,
    is_replaying,
    numbered_calls,
    replaying,
    waited_for,
    with_calls,
)
from graphc.compiler.ops.host_functions import (
    HostFunction,
    called_by,
    host_error,
    host_function,
    host_lock,
    is_in_host_call,
    is_interrupt,
    take_turns,
)
from graphc.compiler.ops.jax_call import CALL, CALL_STATUS, call_jax
from graphc.compiler.ops.namespace_info import NamespaceInfo
from graphc.compiler.ops.order import (
    ASSIGN_VARIABLE,
    NO_OP,
    READ_VARIABLE,
    TOGETHER,
    Operation,
    control_dependencies,
    group,
    no_op,
    tuple,
)
from graphc.compiler.ops.signature import RowSignature
from graphc.compiler.ops.table import AS_NUMBER, ROWS, infer_by_evaluation, is_row
from graphc.compiler.ops.type_rules import BAD_VALUES, primitive
from graphc.compiler.ops.values import HOST_VALUE

if TYPE_CHECKING:
    from graphc.compiler.ops import fft, lax, linalg, nn, random, special, strings
    from graphc.compiler.ops.functions import *

__all__ = [
    "ASSIGN_VARIABLE", "AS_NUMBER", "AXIS_INDEX", "BAD_VALUES", "BOOL", "CALL", "CALL_STATUS", "COLLECTIVES",
    "COMPOSED", "COND", "COPY_AXIS", "FIRST_TRUE", "FOLD_IN_AXIS", "HOST_CALL", "HOST_CALLS", "HOST_RESULT",
    "HOST_VALUE", "INDEX", "JVP", "NO_OP", "ORDER", "READ_VARIABLE", "REPLICAS", "REPLICA_AXIS", "ROWS", "SAME_ON_ALL",
    "SCAN", "STATUS", "SWITCH", "TOGETHER", "UNORDERED_HOST_CALL", "VJP", "VMAP", "WHILE", "HostFunction",
    "MappedRegion", "NamespaceInfo", "Operation", "RowSignature", "Trips", "as_numbers", "as_wide", "call_jax",
    "called_by", "calls_host", "control_dependencies", "current_mode", "custom_vjp", "emit_branches", "emit_host_call",
    "emit_jvp", "emit_scan", "emit_vmap", "emit_while", "fft", "functions", "group", "host_error", "host_function",
    "host_lock", "infer_by_evaluation", "is_in_host_call", "is_interrupt", "is_random_state", "is_replaying", "is_row",
    "iterations_per_step", "lax", "linalg", "linearize", "linearize_op", "linearize_twice", "nn", "no_op",
    "note_watched", "numbered_calls", "primitive", "pull_back", "pushforward", "random", "replaying", "replica_mesh",
    "replica_spec", "rows_of", "sized", "special", "strings", "take_turns", "tuple", "vjp_attrs", "waited_for",
    "was_joined", "with_calls",
]  # fmt: skip

lazy_names(globals(), names_of([functions]))
