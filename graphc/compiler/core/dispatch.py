"""Dispatch: the single entry point of every op.

In eager mode an op is a ``jax.jit``-compiled function, cached per op and static attributes; JAX's own C++ cache does
the rest. While a function is traced, the op becomes a node. Nothing else in graphc handles both modes. Open gradient
tapes record every op here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import jax

from graphc.compiler.base import nest, user_location
from graphc.compiler.base.errors import GraphcError
from graphc.compiler.core.context import (
    EXAMINED,
    LOGGED,
    OBSERVED,
    REASONS,
    SPREAD,
    busy,
    context,
    joining_scope,
    open_tapes,
    place_ops,
)
from graphc.compiler.core.convert import SCALARS, operand
from graphc.compiler.core.dtypes import has_large_ints, with_fitted_ints
from graphc.compiler.core.examining import examine
from graphc.compiler.core.fast_path import FAILED, NO_ATTRS, Compiled, call_kernel, is_pinned, kernel
from graphc.compiler.core.multi_device import finer_sharding, serialize_launch, target_sharding
from graphc.compiler.core.op_errors import applied, translate_error
from graphc.compiler.core.placing import check_implemented, log_placement, requested_device
from graphc.compiler.core.threads import note_results, tapes_following
from graphc.compiler.devices import device_name, devices, find_device, to_device
from graphc.compiler.ir import LATE_MARK, Attrs, Graph, OpDef, Value, known_ints, late_attrs, late_op, static_ints

if TYPE_CHECKING:
    from graphc.compiler.core.tensor import Tensor

# Tensors as static attributes of ops, in graphs that are built by hand.


class LateValue:
    """A placeholder, in an attribute, for the value of a tensor of integers that is known only when the graph runs."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


def is_by_hand() -> bool:
    """Returns True if ops go to a graph that is built by hand, outside its branches and bodies."""
    return context.trace is not None and context.trace.is_graph


def late_value(tensor: Any) -> Any:
    """Returns a tensor's values as an attribute: ints, or a placeholder if unknown; None if it cannot be one here."""
    trace = context.trace
    if trace is None or not trace.root.is_graph or tensor.dtype.kind not in "iu":
        return None
    values = known_ints(trace.lift(tensor).raw)
    if values is not None and None not in values.ravel().tolist():
        trace.root.note_attribute(trace.lift(tensor).raw)
        return static_ints(values)
    return LateValue(tensor)


def has_late_values(attrs: Mapping[str, Any]) -> bool:
    """Returns True if an attribute is, or holds, a late value."""
    return any(True for value in attrs.values() for _ in _late_in(value))


def with_late_inputs(op: OpDef, inputs: Sequence[Any], attrs: Attrs) -> tuple[OpDef, Sequence[Any], Attrs]:
    """Returns the application of an op, made a late application if its attributes hold late values."""
    late = {name: list(_late_in(value)) for name, value in attrs.items()}
    tensors = [item.tensor for items in late.values() for item in items]
    if not tensors:
        return op, inputs, attrs
    trace = context.trace
    assert trace is not None
    late_values: list[Any] = []
    # In the order in which the values are taken out of the attributes: by attribute name.
    names = sorted(name for name in late if late[name])
    tensors = [trace.late_input(trace.lift(item.tensor)) for name in names for item in late[name]]
    for tensor in tensors:
        numbers = known_ints(trace.lift(tensor).raw)
        late_values.append(None if numbers is None else tuple(numbers.ravel().tolist()))
    marked = {name: _marked(value) for name, value in attrs.items()}
    return late_op(op), [*inputs, *tensors], late_attrs(op, marked, names, late_values)


def _late_in(value: Any) -> Iterator[LateValue]:
    if isinstance(value, LateValue):
        yield value
    elif isinstance(value, tuple):
        for item in cast("tuple[Any, ...]", value):
            yield from _late_in(item)


def _marked(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_marked, cast("tuple[Any, ...]", value)))
    return LATE_MARK if isinstance(value, LateValue) else value


Handler: TypeAlias = Callable[[OpDef, Sequence[Any], Attrs], Any]
"""Applies an op to inputs and attributes, in eager code and in graphs, and returns the list of its results."""

_tensor: type[Any] = object
_on_strings: Handler
_on_host: Handler
_SEVERAL = (tuple, list)
_new = object.__new__  # calling the class takes 70 ns more


def register_values(tensor: type[Any], on_strings: Handler, on_host: Handler) -> None:
    """Sets what values are besides arrays, whose classes apply ops themselves; core/host_ops.py calls this once.

    Args:
      on_strings: handles ops on tensors of strings, which are not operands; returns None if no input is one.
    """
    global _tensor, _on_strings, _on_host
    _tensor, _on_strings, _on_host = tensor, on_strings, on_host


def tensor_class() -> type[Any]:
    """Returns the class that wraps results."""
    return _tensor


_observe: Callable[..., None] | None = None


def observe_ops(observe: Callable[..., None] | None) -> None:
    """Sets a hook called after every eager op; None removes it, at no remaining cost.

    Args:
      observe: takes op, attributes, regions, inputs, outputs (perhaps still computing), and the start (perf_counter).
    """
    global _observe
    _observe = observe
    place_ops(OBSERVED, observe is not None)


def apply_all(op: OpDef, inputs: Sequence[Any], attrs: Attrs = NO_ATTRS, regions: Sequence[Graph] = ()) -> list[Tensor]:
    """Runs an op, or appends it to the open trace; both modes raise the same errors, with the user's line."""
    if op.host:
        return _on_host(op, inputs, attrs)
    try:
        values = [
            value if type(value) in SCALARS or isinstance(value, _tensor) else _operand(op, value) for value in inputs
        ]
    except GraphcError:
        graph = graph_trace(inputs)
        if graph is not None:  # its tensors may be strings
            return graph.apply(op, inputs, attrs, regions)
        results = _on_strings(op, inputs, attrs)
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
            late, pending, settings = with_late_inputs(op, values, attrs)
            op, values, attrs = late, list(pending), settings
        if has_large_ints(values):
            return apply_all(op, _with_fitted_ints(op, values, attrs), attrs, regions)
        outputs = trace.apply(op, values, attrs, regions)
    else:
        if regions and len(context.tapes) == 1 and op.differentiable:
            forward = context.tapes[0].forward(op, values, attrs, regions)
        try:
            outputs = _run(op, values, attrs, regions, forward)
        except _OfGraph as pending:  # as in TensorFlow, the op goes to the graph of its operands
            outputs = pending.trace.apply(op, values, attrs, regions)
        except GraphcError:
            if not has_large_ints(values):
                raise
            return apply_all(op, _with_fitted_ints(op, values, attrs), attrs, regions)
    if op.differentiable:
        for tape in context.tapes:
            tape.record(op, values, attrs, regions, outputs, forward)
        if open_tapes:
            note_results(values, outputs)
    if EXAMINED in busy:
        examine(op, values, attrs, regions, outputs)
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
    """Applies an op in eager code without tapes by ``compiled(*extra, *inputs)``; ``extra`` moves to their device."""
    outputs = _run(op, [*map(_tensor, extra), *inputs], attrs, regions, compiled)
    if EXAMINED in busy:
        examine(op, inputs, attrs, regions, outputs)
    return outputs


def apply(op: OpDef, inputs: Sequence[Any], attrs: Attrs = NO_ATTRS, regions: Sequence[Graph] = ()) -> Any:
    """Runs or traces an op as :func:`apply_all` does; returns a Tensor, a tuple of several, or None without outputs."""
    tapes = context.taped
    if (
        open_tapes
        and (len(open_tapes) == 1 if tapes else not (context.engaged or any(map(_is_known, inputs))))
        and not regions
        and not op.platforms
        and busy.isdisjoint(REASONS)
    ):
        result = FAILED if (cache := op.caches.get(attrs)) is None else call_kernel(cache, inputs, _tensor)
        if result is not FAILED:
            outputs = _outputs(result)
            if op.differentiable:
                for tape in tapes:
                    tape.record(op, inputs, attrs, (), outputs)
            return outputs[0] if len(outputs) == 1 else tuple(outputs) if outputs else None
    elif context.pinned and not (open_tapes or regions or op.platforms) and busy.isdisjoint(REASONS):
        result = _call_pinned(op, inputs, attrs)
        if result is not FAILED:
            outputs = _outputs(result)
            return outputs[0] if len(outputs) == 1 else tuple(outputs) if outputs else None
    outputs = apply_all(op, inputs, attrs, regions)
    if len(outputs) == 1:
        return outputs[0]
    return tuple(outputs) if outputs else None


def _outputs(result: Any) -> list[Tensor]:
    """Returns the tensors of a kernel's result."""
    if isinstance(result, _SEVERAL):  # or a named tuple
        return [_tensor(array) for array in cast("list[Any]", result)]
    output = _new(_tensor)
    output.raw = result
    return [output]


def _call_pinned(op: OpDef, inputs: Sequence[Any], attrs: Attrs) -> Any:
    """Calls a kernel in device scopes, where the inputs are on their device; FAILED requests the slow path."""
    pins, cache = context.device, op.caches.get(attrs)
    if cache is None or not pins.text or pins.asks:
        return FAILED
    arrays = list[jax.Array]()
    for value in inputs:
        if type(value) is _tensor:
            if isinstance(value.raw, Value):
                return FAILED
            arrays.append(value.raw)
        elif type(value) not in SCALARS:  # such as a Variable, which may be another graph's
            return FAILED
    device = find_device(pins.text, quiet=True)
    target, stays = {device}, False
    for array in arrays:
        if array.devices() != target:
            return FAILED
        stays = stays or array.committed
    # Without a committed array, JAX runs the op on its default device, and moves the result there with the next op.
    if not stays and (device is not devices()[0] or cast("Any", jax.config).jax_default_device is not None):
        return FAILED
    return call_kernel(cache, inputs, _tensor)


def _with_fitted_ints(op: OpDef, values: Sequence[Any], attrs: Attrs) -> list[Any]:
    try:
        return with_fitted_ints(values, attrs)
    except GraphcError as error:
        types = [value.type if isinstance(value, _tensor) else value for value in values]
        error.args = (f"{applied(op, types, attrs)}: {error.args[0]}",)
        raise error.here() if context.trace is None else context.trace.refuse(error) from None


def _operand(op: OpDef, value: Any) -> Any:
    try:
        return operand(value)
    except GraphcError as error:
        error.args = (f"{op.name}: {error.args[0]}",)
        raise error.here() from None


def _run(
    op: OpDef, values: Sequence[Any], attrs: Attrs, regions: Sequence[Graph], compiled: Compiled | None = None
) -> list[Tensor]:
    context.launched()
    arrays = [_array(value) for value in values]
    call = _call_placed if (context.placing or op.platforms) and not is_pinned(regions) else _call
    spread = target_sharding(arrays) if SPREAD in busy else None
    if spread is not None and (first := finer_sharding(arrays)) is not None:
        arrays[first[0]] = first[1]
    if spread is None:
        result = call(op, arrays, attrs, regions, values, compiled)
    else:
        result = serialize_launch(op.name, lambda: call(op, arrays, attrs, regions, values, compiled), spread)
    return [_tensor(array) for array in nest.as_tuple(result)]


def _call_placed(
    op: OpDef, arrays: Sequence[Any], attrs: Attrs, regions: Sequence[Graph], values: Sequence[Any],
    compiled: Compiled | None,
) -> Any:  # fmt: skip
    """Calls a kernel as :func:`_call` does, on the device that the scopes name, if it has an implementation."""
    observe, start = _observe, time.perf_counter()
    requested = requested_device(op, values, attrs, regions) if context.device else ""
    device = find_device(requested, quiet=True) if requested else None
    if op.platforms:
        wanted = device_name(_device_of(arrays) if device is None else device)
        chosen = check_implemented(op, wanted)
        if chosen != wanted:
            device = find_device(chosen)
    if device is None:
        result = _call(op, arrays, attrs, regions, values, compiled)
    else:
        arrays = [to_device(array, device) for array in arrays]
        with jax.default_device(device):
            result = _call(op, arrays, attrs, regions, values, compiled)
        if device is not devices()[0]:
            # A result that depends on no array is uncommitted, and would move to the default device with the next op.
            result = [array if array.committed else jax.device_put(array, device) for array in nest.as_tuple(result)]
    if LOGGED in busy:
        used = {device_name(each) for array in nest.as_tuple(result) for each in array.devices()}
        log_placement(op.name, op.name, requested, ", ".join(sorted(used)), user_location())
    if observe is not None:
        observe(op, attrs, regions, arrays, nest.as_tuple(result), start)
    return result


def _device_of(arrays: Sequence[Any]) -> Any:
    """Returns the device that JAX runs an op on: its arrays' device, or the default one."""
    placed = [array for array in arrays if isinstance(array, jax.Array)]
    array = next((array for array in placed if array.committed), placed[0] if placed else None)
    return devices()[0] if array is None else next(iter(array.devices()))


def graph_trace(inputs: Sequence[Any]) -> Any:
    """Returns the trace of the hand-built graph that an op of these inputs belongs to; None if there is none."""
    if context.trace is not None:
        return context.trace if context.trace.is_graph else None
    traces = [value.trace for value in inputs if isinstance(value, _tensor) and isinstance(value.raw, Value)]
    return next((trace for trace in traces if trace.is_graph), None)


class _OfGraph(BaseException):
    """Signals that an eager op received a tensor of a graph that is built by hand."""

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
