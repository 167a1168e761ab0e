"""Layer 2: context stacks, the one door to every op, Tensor, Variable, conversion, traces, devices."""

from graphc.core.context import (
    Context,
    Recorder,
    ReplicaContext,
    context,
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
    simulate_cpu_devices,
)
from graphc.core.dispatch import NO_ATTRS, apply, kernel, register_region_runner, translate_error
from graphc.core.dtypes import as_dtype, canonical_array, scalar_array, type_of
from graphc.core.tensor import FUNCTIONS, ArrayMethods, SymbolicTensor, Tensor, wait_all
from graphc.core.trace import (
    CreationInTrace,
    LoopReport,
    Region,
    RegionAborted,
    Trace,
    VariableState,
    current_trace,
    type_of_any,
)
from graphc.core.variable import Variable, is_symbolic, variable_placement

__all__ = [
    "FUNCTIONS",
    "NO_ATTRS",
    "SCALARS",
    "ArrayLike",
    "ArrayMethods",
    "Context",
    "CreationInTrace",
    "Device",
    "LoopReport",
    "Recorder",
    "Region",
    "RegionAborted",
    "ReplicaContext",
    "SymbolicTensor",
    "Tensor",
    "Trace",
    "Variable",
    "VariableState",
    "apply",
    "as_dtype",
    "canonical_array",
    "canonical_device",
    "context",
    "current_trace",
    "device",
    "device_name",
    "device_scope",
    "devices",
    "find_device",
    "is_symbolic",
    "kernel",
    "operand",
    "register_region_runner",
    "replica_scope",
    "scalar_array",
    "simulate_cpu_devices",
    "tape_scope",
    "trace_scope",
    "translate_error",
    "type_of",
    "type_of_any",
    "variable_placement",
    "wait_all",
]
