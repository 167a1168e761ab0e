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
from graphc.core.convert import SCALARS, ArrayLike, operand
from graphc.core.devices import (
    Device,
    canonical_device,
    device,
    device_name,
    devices,
    find_device,
    placed,
    simulate_cpu_devices,
    to_device,
)
from graphc.core.dispatch import NO_ATTRS, apply, apply_all, kernel, register_region_runner, translate_error
from graphc.core.dtypes import as_dtype, canonical_array, scalar_array, type_of
from graphc.core.guard import Guard
from graphc.core.places import MISSING, Place, TensorPlace, Write
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

__all__ = [
    "FUNCTIONS",
    "MISSING",
    "NO_ATTRS",
    "SCALARS",
    "AfterCall",
    "ArrayLike",
    "ArrayMethods",
    "CallState",
    "Check",
    "Checkpoint",
    "Context",
    "CreationInTrace",
    "Device",
    "Guard",
    "LaunchCounter",
    "LoopReport",
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
    "context",
    "converted",
    "count_launches",
    "creation_scope",
    "current_trace",
    "device",
    "device_name",
    "device_scope",
    "devices",
    "find_device",
    "is_symbolic",
    "kernel",
    "operand",
    "placed",
    "register_converter",
    "register_region_runner",
    "replica_scope",
    "scalar_array",
    "simulate_cpu_devices",
    "tape_scope",
    "to_device",
    "trace_scope",
    "translate_error",
    "type_of",
    "type_of_any",
    "variable_lock",
    "variable_placement",
    "wait_all",
]
