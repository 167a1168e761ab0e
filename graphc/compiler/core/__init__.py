"""The thread's context, dispatch of all ops, Tensor, Variable, conversion, and placement."""

from typing import TYPE_CHECKING

from graphc.compiler.base import imported_names, lazy_names
from graphc.compiler.core.array_export import FUNCTIONS, ShownArray, check_leaves, stay
from graphc.compiler.core.array_methods import ArrayMethods
from graphc.compiler.core.context import (
    REASONS,
    Assignments,
    Context,
    LaunchCounter,
    busy,
    context,
    converted,
    count_launches,
    creation_scope,
    device_scope,
    is_examining,
    joining_scope,
    making_scope,
    occupied,
    on_host,
    open_tapes,
    outside_scope,
    replica_scope,
    tape_scope,
    trace_scope,
    unexamined,
    updates_scope,
)
from graphc.compiler.core.convert import SCALARS, ArrayLike, operand, tell_of_method
from graphc.compiler.core.dispatch import (
    LateValue,
    apply,
    apply_all,
    apply_compiled,
    has_late_values,
    is_by_hand,
    late_value,
    observe_ops,
)
from graphc.compiler.core.dtypes import (
    array_of_ints,
    as_dtype,
    canonical_array,
    check_fits,
    check_ints,
    copied_numpy,
    dtype_rules,
    fitted_int,
    kind_of_dtype,
    narrowed,
    natural_dtype,
    only_ints,
    scalar_array,
    too_large,
    type_of,
)
from graphc.compiler.core.examining import examine, examined_line, pulling_back
from graphc.compiler.core.fast_path import (
    FAILED,
    FAST_PATH,
    NO_ATTRS,
    call_kernel,
    fast_path,
    is_pinned,
    kernel,
    number,
    raw,
    region_function,
    with_fast_path,
)
from graphc.compiler.core.host_ops import (
    STRING,
    STRING_RULES,
    LateStrings,
    StringRule,
    bytes_array,
    host_array,
    host_type,
    host_value,
    in_graph,
    is_text,
)
from graphc.compiler.core.multi_device import (
    GROUP_AXIS,
    finer_sharding,
    forget_spread,
    groups_of,
    is_spread,
    kept_layouts,
    layout_text,
    mesh_text,
    note_spread,
    register_meetings,
    serialize_launch,
    sync_processes,
    target_sharding,
    type_text,
    whole_on,
)
from graphc.compiler.core.name_scopes import Resources, current_resources, name_scope, resources_scope, scoped_name
from graphc.compiler.core.op_errors import shorten, shorten_all, translate_error, with_short_errors
from graphc.compiler.core.operator_methods import check_exponent
from graphc.compiler.core.placing import (
    DeviceChoice,
    NodeToPlace,
    check_implemented,
    colocate_with,
    device,
    device_later,
    log_placement,
    requested_device,
    variable_device,
)
from graphc.compiler.core.protocols import Recorder, ReplicaContext, Tracing
from graphc.compiler.core.strings import (
    StringDType,
    StringTensor,
    as_strings,
    host_tensor,
    is_string_dtype,
    refused,
    string,
)
from graphc.compiler.core.symbolic_tensor import SymbolicTensor
from graphc.compiler.core.tensor import Tensor
from graphc.compiler.core.threads import note_results, only_tape, tapes_following, thread_settings
from graphc.compiler.core.variable import Variable, is_symbolic, read, variable_placement
from graphc.compiler.core.variable_arrays import (
    RunningProgram,
    array_of,
    brought,
    copied_array,
    exchanged,
    held,
    replaced,
    taken_over,
    variable_lock,
)
from graphc.compiler.core.waiting import (
    InFlight,
    are_soon_computed,
    deadline,
    describe,
    in_flight,
    wait_all,
    wait_for,
    wait_for_async,
)

if TYPE_CHECKING:
    from graphc.compiler.core import progress  # imported where something may take long
    from graphc.compiler.core.tensor_shape import Dimension, TensorShape

__all__ = [
    "FAILED", "FAST_PATH", "FUNCTIONS", "GROUP_AXIS", "NO_ATTRS", "REASONS", "SCALARS", "STRING", "STRING_RULES",
    "ArrayLike", "ArrayMethods", "Assignments", "Context", "DeviceChoice", "Dimension", "InFlight", "LateStrings",
    "LateValue", "LaunchCounter", "NodeToPlace", "Recorder", "ReplicaContext", "Resources", "RunningProgram",
    "ShownArray", "StringDType", "StringRule", "StringTensor", "SymbolicTensor", "Tensor", "TensorShape", "Tracing",
    "Variable", "apply", "apply_all", "apply_compiled", "are_soon_computed", "array_of", "array_of_ints", "as_dtype",
    "as_strings", "brought", "busy", "bytes_array", "call_kernel", "canonical_array", "check_exponent", "check_fits",
    "check_implemented", "check_ints", "check_leaves", "colocate_with", "context", "converted", "copied_array",
    "copied_numpy", "count_launches", "creation_scope", "current_resources", "deadline", "describe", "device",
    "device_later", "device_scope", "dtype_rules", "examine", "examined_line", "exchanged", "fast_path",
    "finer_sharding", "fitted_int", "forget_spread", "groups_of", "has_late_values", "held", "host_array",
    "host_tensor", "host_type", "host_value", "in_flight", "in_graph", "is_by_hand", "is_examining", "is_pinned",
    "is_spread", "is_string_dtype", "is_symbolic", "is_text", "joining_scope", "kept_layouts", "kernel",
    "kind_of_dtype", "late_value", "layout_text", "log_placement", "making_scope", "mesh_text", "name_scope",
    "narrowed", "natural_dtype", "note_results", "note_spread", "number", "observe_ops", "occupied", "on_host",
    "only_ints", "only_tape", "open_tapes", "operand", "outside_scope", "progress", "pulling_back", "raw", "read",
    "refused", "region_function", "register_meetings", "replaced", "replica_scope", "requested_device",
    "resources_scope", "scalar_array", "scoped_name", "serialize_launch", "shorten", "shorten_all", "stay", "string",
    "sync_processes", "taken_over", "tape_scope", "tapes_following", "target_sharding", "tell_of_method",
    "thread_settings", "too_large", "trace_scope", "translate_error", "type_of", "type_text", "unexamined",
    "updates_scope", "variable_device", "variable_lock", "variable_placement", "wait_all", "wait_for", "wait_for_async",
    "whole_on", "with_fast_path", "with_short_errors",
]  # fmt: skip

# A program that only defines functions needs none of these.
lazy_names(globals(), imported_names({"graphc.compiler.core.tensor_shape": "Dimension TensorShape"}))
