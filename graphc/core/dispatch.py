"""Dispatch: the single entry point of every op.

In eager mode an op is a ``jax.jit``-compiled function, cached per op and static attributes; JAX's own C++ cache does
the rest. While a function is traced, the op becomes a node. Nothing else in graphc handles both modes. Open gradient
tapes record every op here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import jax
from jax.core import Tracer

from graphc.base import Location, at, config, nest, user_frame, user_location
from graphc.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError, OutOfRangeError
from graphc.core.context import OBSERVED, REASONS, SPREAD, busy, context, joining_scope, open_tapes, place_ops
from graphc.core.convert import SCALARS, operand
from graphc.core.dtypes import type_of
from graphc.core.fast_path import FAILED, call_kernel
from graphc.core.large_ints import has_large_ints, with_fitted_ints
from graphc.core.late_values import with_late_inputs
from graphc.core.multi_device import in_fine_words, in_turn, meeting_place
from graphc.core.other_threads import note_results, tapes_following
from graphc.core.placing import check_implemented, log_placement, requested_device
from graphc.devices import device_name, devices, find_device, to_device
from graphc.ir import (
    LATE,
    LATE_CONSTANT,
    Attrs,
    Graph,
    OpDef,
    ProbeError,
    Value,
    applied_attrs,
    late_inputs,
)

if TYPE_CHECKING:
    from graphc.core.tensor import Tensor

__all__ = [
    "NO_ATTRS",
    "apply",
    "apply_all",
    "apply_compiled",
    "argument_names",
    "graph_trace",
    "is_pinned",
    "kernel",
    "look_at",
    "observe_ops",
    "region_function",
    "register_host_ops",
    "register_region_kernels",
    "register_region_runner",
    "register_strings",
    "register_tensor",
    "set_examiner",
    "tensor_class",
    "translate_error",
]

NO_ATTRS = Attrs()

_KERNELS_KEPT = 512
"""Maximum number of compiled functions per op, one for each set of static attributes. The oldest is evicted first, so
that a loop over ``x[:i]`` does not fill the memory."""
_kernels_lock = threading.Lock()

_tensor: type[Any] = object
_SEVERAL = (tuple, list)
_new = object.__new__  # calling the class takes 70 ns more


def register_tensor(tensor: type[Any]) -> None:
    """Sets the class that wraps results; the module that defines Tensor calls this once."""
    global _tensor
    _tensor = tensor


def tensor_class() -> type[Any]:
    """Returns the class that wraps results."""
    return _tensor


_run_region: Callable[[Graph], Callable[..., Any]] | None = None


def register_region_runner(runner: Callable[[Graph], Callable[..., Any]]) -> None:
    """Sets the function that lowers a region for JAX; the lowering, a layer above, calls this once."""
    global _run_region
    _run_region = runner


def region_function(region: Graph) -> Callable[..., Any]:
    """Returns a region as a single-device function that JAX can trace."""
    assert _run_region is not None
    return _run_region(region)


Compiled: TypeAlias = Callable[..., Any]
"""A compiled function from raw arrays to raw arrays."""

RegionKernels: TypeAlias = Callable[[OpDef, Attrs, Sequence[Graph], Compiled], Compiled]
_make_region_kernel: RegionKernels | None = None


def register_region_kernels(make: RegionKernels) -> None:
    """Sets the function that compiles an op with regions; the runtime, a layer above, calls this once.

    Args:
      make: takes the op, its attributes, its regions, and its single-device function for JAX to trace.
    """
    global _make_region_kernel
    _make_region_kernel = make


_on_strings: Callable[[OpDef, Sequence[Any], Attrs], list[Any] | None] | None = None


def register_strings(on_strings: Callable[[OpDef, Sequence[Any], Attrs], list[Any] | None]) -> None:
    """Sets the handler of ops on tensors of strings, which are not operands; the defining module calls this once.

    Args:
      on_strings: takes the op, inputs and attributes and returns the results; None if no input is a tensor of strings.
    """
    global _on_strings
    _on_strings = on_strings


_on_host: Callable[[OpDef, Sequence[Any], Attrs], list[Any]] | None = None


def register_host_ops(on_host: Callable[[OpDef, Sequence[Any], Attrs], list[Any]]) -> None:
    """Sets the handler of ops that run on the host; the defining module calls this once.

    Args:
      on_host: takes the op, inputs and attributes and returns the results, in eager code and in graphs.
    """
    global _on_host
    _on_host = on_host


def kernel(op: OpDef, attrs: Attrs = NO_ATTRS, regions: Sequence[Graph] = ()) -> Callable[..., Any]:
    """Returns an op's compiled function for these attributes and regions: raw arrays in, raw arrays out.

    The function is cached on the op, or on its first region: it refers to the regions, and a cache elsewhere would keep
    them alive.
    """
    if regions:
        return _region_kernel(op, attrs, regions)
    compiled = op.caches.get(attrs)
    if compiled is None:
        compiled = jax.jit(partial(op.impl, **attrs) if attrs else op.impl)
        with _kernels_lock:
            while len(op.caches) >= _KERNELS_KEPT:
                del op.caches[next(iter(op.caches))]
            op.caches[attrs] = compiled
    return compiled


def _region_kernel(op: OpDef, attrs: Attrs, regions: Sequence[Graph]) -> Callable[..., Any]:
    caches = regions[0].caches
    key = (op, attrs, *regions[1:])
    compiled = caches.get(key)
    if compiled is None:
        bodies = op.region_keywords([_run_region(region) for region in regions] if _run_region is not None else [])

        # Not a partial: JAX caches the signature of the function that it compiles, which would hold the regions as
        # defaults.
        def run(*values: Any) -> Any:
            return op.impl(*values, **attrs, **bodies)

        run.__name__ = run.__qualname__ = op.name
        compiled = jax.jit(run) if _make_region_kernel is None else _make_region_kernel(op, attrs, regions, run)
        caches[key] = compiled
    return compiled


def is_pinned(regions: Sequence[Graph]) -> bool:
    """Returns True if a region has nodes that are pinned to a device."""
    return any(node.device for region in regions for node in region.walk())


_examine: Callable[..., None] | None = None


def set_examiner(examine: Callable[..., None] | None) -> None:
    """Sets a hook called after every op, with its inputs, attributes, regions and outputs; None removes it."""
    global _examine
    _examine = examine


_observe: Callable[..., None] | None = None


def observe_ops(observe: Callable[..., None] | None) -> None:
    """Sets a hook called after every eager op; None removes it, at no remaining cost.

    Args:
      observe: takes the op, its attributes and regions, its input arrays, its output arrays, which may still be
        computing, and its start by ``time.perf_counter``.
    """
    global _observe
    _observe = observe
    place_ops(OBSERVED, observe is not None)


def look_at(*applied: Any) -> None:
    """Calls the examiner, if one is set, with an op, its inputs, attributes, regions and outputs."""
    if _examine is not None:
        _examine(*applied)


def apply_all(op: OpDef, inputs: Sequence[Any], attrs: Attrs = NO_ATTRS, regions: Sequence[Graph] = ()) -> list[Tensor]:
    """Runs an op, or appends it to the graph that is being traced.

    Args:
      op: the op to apply.
      inputs: tensors, variables, arrays or numbers, one per tensor parameter.
      attrs: the static attributes.
      regions: the bodies, for ops with regions.

    Returns:
      The outputs.

    Raises:
      InvalidArgumentError: the shapes do not fit; both modes raise the same message, with the user's line.
      InvalidTypeError: a dtype or a Python type does not fit.
    """
    if op.host and _on_host is not None:
        return _on_host(op, inputs, attrs)
    try:
        values = [
            value if type(value) in SCALARS or isinstance(value, _tensor) else _operand(op, value) for value in inputs
        ]
    except GraphcError:
        graph = graph_trace(inputs)
        if graph is not None:  # its tensors may be strings
            return graph.apply(op, inputs, attrs, regions)
        results = None if _on_strings is None else _on_strings(op, inputs, attrs)
        if results is None:
            raise
        return results
    trace = context.trace
    outputs: list[Any]
    forward: Compiled | None = None
    if open_tapes and (tapes := tapes_following(lambda: filter(_is_tensor, values))):
        with joining_scope(tapes):
            return apply_all(op, values, attrs, regions)
    if trace is not None:
        if attrs and trace.root.is_graph:
            late, found, given = with_late_inputs(op, values, attrs)
            op, values, attrs = late, list(found), given
        if has_large_ints(values):
            return apply_all(op, _with_fitted_ints(op, values, attrs), attrs, regions)
        values = trace.masked(values)  # tapes record these
        outputs = trace.record(op, values, attrs, regions)
    else:
        if regions and len(context.tapes) == 1 and op.differentiable:
            forward = context.tapes[0].forward(op, values, attrs, regions)
        try:
            outputs = _run(op, values, attrs, regions, forward)
        except _OfGraph as found:  # as in TensorFlow, the op goes to the graph of its operands
            outputs = found.trace.apply(op, values, attrs, regions)
        except GraphcError:
            if not has_large_ints(values):
                raise
            return apply_all(op, _with_fitted_ints(op, values, attrs), attrs, regions)
    if op.differentiable:
        for tape in context.tapes:
            tape.record(op, values, attrs, regions, outputs, forward)
        if open_tapes:
            note_results(values, outputs)
    if _examine is not None:
        _examine(op, values, attrs, regions, outputs)
    return outputs


def _is_tensor(value: Any) -> bool:
    return isinstance(value, _tensor)


def _is_known(value: Any) -> bool:
    """Returns True if a tape of any thread may follow a tensor."""
    return getattr(value, "known_as", None) is not None


def apply_compiled(
    op: OpDef, inputs: Sequence[Any], attrs: Attrs, regions: Sequence[Graph], compiled: Compiled, *,
    extra: Sequence[Any] = (),
) -> list[Tensor]:  # fmt: skip
    """Applies an op in eager code without tapes, by a function that was compiled for it; see :func:`apply_all`.

    Args:
      op: the op.
      inputs: tensors and numbers.
      attrs: the op's attributes.
      regions: the op's bodies.
      compiled: takes ``extra``, then the arrays of the inputs; returns arrays.
      extra: arrays in front of the inputs, which move to the inputs' device.
    """
    outputs = _run(op, [*map(_tensor, extra), *inputs], attrs, regions, compiled)
    look_at(op, inputs, attrs, regions, outputs)
    return outputs


def apply(op: OpDef, inputs: Sequence[Any], attrs: Attrs = NO_ATTRS, regions: Sequence[Graph] = ()) -> Any:
    """Runs or traces an op as :func:`apply_all` does, and returns the results in the form that users expect.

    Returns:
      A Tensor, a tuple of Tensors when the op has several outputs, or None when it has none.
    """
    tapes = context.taped
    if (
        open_tapes
        and (len(open_tapes) == 1 if tapes else not (context.engaged or any(map(_is_known, inputs))))
        and not regions
        and not op.platforms
        and busy.isdisjoint(REASONS)
    ):
        result = FAILED if (known := op.caches.get(attrs)) is None else call_kernel(known, inputs, _tensor)
        if result is not FAILED:
            if isinstance(result, _SEVERAL):  # or a named tuple
                outputs = [_tensor(array) for array in cast("list[Any]", result)]
            else:
                output = _new(_tensor)
                output.raw = result
                outputs = [output]
            if op.differentiable:
                for tape in tapes:
                    tape.record(op, inputs, attrs, (), outputs)
            return outputs[0] if len(outputs) == 1 else tuple(outputs) if outputs else None
    outputs = apply_all(op, inputs, attrs, regions)
    if len(outputs) == 1:
        return outputs[0]
    return tuple(outputs) if outputs else None


def _with_fitted_ints(op: OpDef, values: Sequence[Any], attrs: Attrs) -> list[Any]:
    try:
        return with_fitted_ints(values, attrs)
    except GraphcError as error:
        types = [value.type if isinstance(value, _tensor) else value for value in values]
        error.args = (f"{op.name}({_given(op, types, attrs)}): {error.args[0]}",)
        raise at(error, user_location()) if context.trace is None else context.trace.refuse(error) from None


def _operand(op: OpDef, value: Any) -> Any:
    try:
        return operand(value)
    except GraphcError as error:
        error.args = (f"{op.name}: {error.args[0]}",)
        raise at(error, user_location()) from None


def _run(
    op: OpDef, values: Sequence[Any], attrs: Attrs, regions: Sequence[Graph], compiled: Compiled | None = None
) -> list[Tensor]:
    context.launched()
    arrays = [_array(value) for value in values]
    call = _call_placed if (context.placing or op.platforms) and not is_pinned(regions) else _call
    spread = meeting_place(arrays) if SPREAD in busy else None
    if spread is not None and (first := in_fine_words(arrays)) is not None:
        arrays[first[0]] = first[1]
    if spread is None:
        result = call(op, arrays, attrs, regions, values, compiled)
    else:
        result = in_turn(op.name, lambda: call(op, arrays, attrs, regions, values, compiled), spread)
    return [_tensor(array) for array in nest.as_tuple(result)]


def _call_placed(
    op: OpDef, arrays: Sequence[Any], attrs: Attrs, regions: Sequence[Graph], values: Sequence[Any],
    compiled: Compiled | None,
) -> Any:  # fmt: skip
    """Calls a kernel as :func:`_call` does, on the device that the scopes name, if it has an implementation."""
    observe, start = _observe, time.perf_counter()
    requested = requested_device(op, values, attrs, regions) if context.device else ""
    device = find_device(requested, told=True) if requested else None
    if op.platforms:
        wanted = device_name(_device_of(arrays) if device is None else device)
        found = check_implemented(op, wanted)
        if found != wanted:
            device = find_device(found)
    if device is None:
        result = _call(op, arrays, attrs, regions, values, compiled)
    else:
        arrays = [to_device(array, device) for array in arrays]
        with jax.default_device(device):
            result = _call(op, arrays, attrs, regions, values, compiled)
        if device is not devices()[0]:
            # A result that depends on no array is uncommitted, and would move to the default device with the next op.
            result = [array if array.committed else jax.device_put(array, device) for array in nest.as_tuple(result)]
    if config.log_device_placement:
        used = {device_name(place) for array in nest.as_tuple(result) for place in array.devices()}
        log_placement(op.name, op.name, requested, ", ".join(sorted(used)), user_location())
    if observe is not None:
        observe(op, attrs, regions, arrays, nest.as_tuple(result), start)
    return result


def _device_of(arrays: Sequence[Any]) -> Any:
    """Returns the device that JAX runs an op on: its arrays' device, or the default one."""
    found = [array for array in arrays if isinstance(array, jax.Array)]
    array = next((array for array in found if array.committed), found[0] if found else None)
    return devices()[0] if array is None else next(iter(array.devices()))


def graph_trace(inputs: Sequence[Any]) -> Any:
    """Returns the trace of the hand-built graph that an op of these inputs belongs to; None if there is none."""
    if context.trace is not None:
        return context.trace if context.trace.is_graph else None
    traces = [value.trace for value in inputs if isinstance(value, _tensor) and isinstance(value.raw, Value)]
    return next((trace for trace in traces if trace.is_graph), None)


class _OfGraph(BaseException):
    """Signals that an eager op received a tensor of a graph that is built by hand.

    Attributes:
      trace: the tensor's trace.
    """

    def __init__(self, trace: Any) -> None:
        super().__init__()
        self.trace = trace


def _array(value: Any) -> Any:
    """Returns the raw array of an eager tensor, and any other value as it is."""
    if not isinstance(value, _tensor):
        return value
    array = value.raw
    if isinstance(array, Value):
        if value.trace.root.is_graph:
            raise _OfGraph(value.trace)
        raise value.trace.leaked(value)
    return array


def _call(
    op: OpDef, arrays: Sequence[Any], attrs: Attrs, regions: Sequence[Graph], operands: Sequence[Any],
    compiled: Compiled | None,
) -> Any:  # fmt: skip
    compiled = compiled or kernel(op, attrs, regions)
    try:
        try:
            return compiled(*arrays)
        except ValueError as error:
            if "incompatible devices" not in str(error):  # JAX has no exception class for this
                raise
        # As in a compiled function, an op pinned to a device that holds none of its operands runs on the default one.
        default = devices()[0]
        return compiled(*[to_device(array, default) if isinstance(array, jax.Array) else array for array in arrays])
    except Exception as error:
        raise translate_error(error, op, arrays, attrs, operands=operands) from error


_JAX_ERRORS = (TypeError, ValueError, IndexError, OverflowError, NotImplementedError, NameError, AssertionError)


def translate_error(
    error: Exception,
    op: OpDef,
    values: Sequence[Any],
    attrs: Attrs,
    location: Location | None = None,
    operands: Sequence[Any] = (),
) -> Exception:
    """Translates a JAX error on an op: names the op, its arguments with types, and the user's line.

    Args:
      error: the JAX error.
      op: the op that was applied.
      values: the inputs, as arrays, numbers or (in a graph) types.
      attrs: the op's attributes.
      location: the user's line; None for the one that is running.
      operands: the original inputs, from which the user's variable names are found.
    """
    if isinstance(error, GraphcError):
        return error
    for value in values:
        deleted = isinstance(value, jax.Array) and not isinstance(value, Tracer) and value.is_deleted()
        if deleted:
            return error
    explain = op.explain
    if op in (LATE, LATE_CONSTANT):
        count = len(values) - late_inputs(attrs)
        op, attrs = applied_attrs(attrs, values)
        values, operands = values[:count], operands[:count]
        if isinstance(error, ProbeError):
            error.types = error.types[:count]
    tried: Sequence[Any] = values
    hide: Callable[[str], str] = str
    if isinstance(error, ProbeError):
        tried, hide, error = error.types, error.hide, error.error
        if isinstance(error, GraphcError):
            error.args = (hide(str(error.args[0])), *error.args[1:])
            return error
    refused = None if explain is None else explain(tried, attrs)
    if refused is None and not isinstance(error, _JAX_ERRORS):
        return error
    error = error if refused is None else refused
    if isinstance(error, NameError) and isinstance(attrs.get("axis"), str):
        error = TypeError(f"an axis must be an int or a tuple of ints, got {attrs['axis']!r}")
    reason = hide(str(error).split("\n")[0]) or "these shapes do not fit"
    shapes = isinstance(error, ValueError | AssertionError) or "shape" in reason
    kind = InvalidArgumentError if shapes else InvalidTypeError
    if isinstance(error, IndexError) or "out of bounds for array of dimension" in reason:
        kind = OutOfRangeError  # like NumPy's AxisError, an IndexError and a ValueError
    kind = type(refused) if isinstance(refused, GraphcError) else kind
    if users := _users_names(argument_names(op, len(values)), operands):
        reason = f"{reason.removesuffix('.')} ({users})"
    return at(kind(f"{op.name}({_given(op, values, attrs)}): {reason}"), location or user_location())


def _given(op: OpDef, values: Sequence[Any], attrs: Attrs) -> str:
    """Returns a description of the arguments, with their types."""
    names = argument_names(op, len(values))
    given = [f"{name}: {_describe(value)}" for name, value in zip(names, values, strict=True)]
    return ", ".join([*given, *(f"{name}={value!r}" for name, value in attrs.items())])


def _users_names(names: Sequence[str], operands: Sequence[Any]) -> str:
    """Returns the user's names of the operands that are variables of the running code."""
    frame = user_frame() if operands else None
    if frame is None:
        return ""
    held = {
        id(value): name
        for scope in (frame.f_globals, frame.f_locals)
        for name, value in scope.items()
        if isinstance(value, _tensor) and not name.startswith("ag__")
    }
    known = [(name, held.get(id(operand))) for name, operand in zip(names, operands, strict=False)]
    said = [f"{name} is {users!r}" for name, users in known if users is not None and users != name]
    return ", ".join(said)


def argument_names(op: OpDef, count: int) -> list[str]:
    """Returns an op's names for its first ``count`` inputs."""
    names: list[str] = []
    for param in op.params:
        if param.startswith("*"):
            rest = count - len(op.params) + 1
            names.extend(f"{param[1:]}[{index}]" for index in range(rest))
        else:
            names.append(param)
    return names if len(names) == count else [f"argument {index}" for index in range(count)]


def _describe(value: Any) -> str:
    if type(value) in SCALARS:
        return repr(value)
    return str(type_of(value) if hasattr(value, "aval") or hasattr(value, "__array__") else value)
