"""Layer 2: context stacks, the one door to every op, Tensor, Variable, conversion, traces, devices."""

from graphc.core.array_methods import FUNCTIONS, ArrayMethods
from graphc.core.call_state import CallState
from graphc.core.calling import converted, register_converter
from graphc.core.context import (
    Context,
    LaunchCounter,
    Recorder,
    ReplicaContext,
    context,
    count_launches,
    creation_scope,
    device_scope,
    replica_scope,
    tape_scope,
    trace_scope,
)
from graphc.core.controls import Controls
from graphc.core.convert import SCALARS, ArrayLike, operand
from graphc.core.device_settings import has_made_devices
from graphc.core.devices import (
    Device,
    canonical_device,
    device_name,
    devices,
    find_device,
    placed,
    simulate_cpu_devices,
    to_device,
)
from graphc.core.dispatch import NO_ATTRS, apply, apply_all, kernel, register_region_runner, translate_error
from graphc.core.dtypes import (
    as_dtype,
    canonical_array,
    dtype_rules,
    natural_dtype,
    scalar_array,
    too_large,
    type_of,
)
from graphc.core.guard import Guard
from graphc.core.large_ints import fitted_int
from graphc.core.pins import NO_PINS, DeviceFunction, Pins
from graphc.core.places import MISSING, Place, TensorPlace, Write
from graphc.core.placing import (
    DeviceChoice,
    NodeToPlace,
    check_implemented,
    device,
    log_placement,
    requested_device,
)
from graphc.core.region import Region, VariableState
from graphc.core.stand_ins import StandIn, StandIns
from graphc.core.tensor import SymbolicTensor, Tensor, wait_all
from graphc.core.trace import (
    AfterCall,
    Check,
    Checkpoint,
    CreationInTrace,
    LoopReport,
    RegionAborted,
    SideEffect,
    Store,
    Trace,
    current_trace,
    type_of_any,
)
from graphc.core.variable import Variable, is_symbolic, variable_lock, variable_placement
from graphc.core.waiting import describe, wait_for, wait_for_async

__all__ = [
    "FUNCTIONS",
    "MISSING",
    "NO_ATTRS",
    "NO_PINS",
    "SCALARS",
    "AfterCall",
    "ArrayLike",
    "ArrayMethods",
    "CallState",
    "Check",
    "Checkpoint",
    "Context",
    "Controls",
    "CreationInTrace",
    "Device",
    "DeviceChoice",
    "DeviceFunction",
    "Guard",
    "LaunchCounter",
    "LoopReport",
    "NodeToPlace",
    "Pins",
    "Place",
    "Recorder",
    "Region",
    "RegionAborted",
    "ReplicaContext",
    "SideEffect",
    "StandIn",
    "StandIns",
    "Store",
    "SymbolicTensor",
    "Tensor",
    "TensorPlace",
    "Trace",
    "Variable",
    "VariableState",
    "Write",
    "apply",
    "apply_all",
    "as_dtype",
    "canonical_array",
    "canonical_device",
    "check_implemented",
    "context",
    "converted",
    "count_launches",
    "creation_scope",
    "current_trace",
    "describe",
    "device",
    "device_name",
    "device_scope",
    "devices",
    "dtype_rules",
    "find_device",
    "fitted_int",
    "has_made_devices",
    "is_symbolic",
    "kernel",
    "log_placement",
    "natural_dtype",
    "operand",
    "placed",
    "register_converter",
    "register_region_runner",
    "replica_scope",
    "requested_device",
    "scalar_array",
    "simulate_cpu_devices",
    "tape_scope",
    "to_device",
    "too_large",
    "trace_scope",
    "translate_error",
    "type_of",
    "type_of_any",
    "variable_lock",
    "variable_placement",
    "wait_all",
    "wait_for",
    "wait_for_async",
]
