"""Placement of ops and Variables: device scopes, device functions, and the placement log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

import jax

from graphc.compiler.base import Location, config, nest, user_location
from graphc.compiler.base.errors import (
    ConcretizationError,
    GraphcError,
    InvalidArgumentError,
    InvalidTypeError,
    LeakedTensorError,
    UnimplementedError,
)
from graphc.compiler.core.context import LOGGED, busy, context, trace_scope
from graphc.compiler.core.dtypes import type_of
from graphc.compiler.devices import (
    NO_PINS,
    Device,
    DeviceFunction,
    Pins,
    device_name,
    devices,
    find_device,
    is_device,
    named_device,
    say_once,
)
from graphc.compiler.ir import WORLD, Attrs, DeviceSpec, OpDef, TensorType, Value

DeviceChoice = Callable[["NodeToPlace"], "str | DeviceSpec | Device | None"]
"""A function that chooses a device; None leaves the choice to the enclosing scopes."""

# TensorFlow's names of ops, where they are not the capitalized words of graphc's name.
_TENSORFLOW: Final = {
    "add": "AddV2",
    "assign_variable": "AssignVariableOp",
    "astype": "Cast",
    "concat": "ConcatV2",
    "constant": "Const",
    "divide": "RealDiv",
    "floor_divide": "FloorDiv",
    "get_item": "StridedSlice",
    "matmul": "MatMul",
    "multiply": "Mul",
    "negative": "Neg",
    "permute_dims": "Transpose",
    "read_variable": "ReadVariableOp",
    "remainder": "FloorMod",
    "subtract": "Sub",
    "take": "GatherV2",
    "where": "SelectV2",
}


@dataclass(frozen=True, slots=True)
class NodeToPlace:
    """The argument of a device function: a description of an op or Variable that is about to be made.

    Attributes:
      op: the op's name, such as ``matmul`` or ``nn.relu``; ``variable`` for a Variable.
      name: the name of the Variable or of the node in a graph; in eager mode the op's name.
      inputs: the types of the inputs, each with ``shape`` and ``dtype``.
      attrs: the static attributes; for a Variable ``shape``, ``dtype`` and ``trainable``.
      device: the device given by the scopes inside the function's, as text.
    """

    op: str
    name: str
    inputs: tuple[TensorType, ...]
    attrs: Mapping[str, Any]
    location: Location | None
    device: str = ""

    @property
    def type(self) -> str:
        """TensorFlow's name of the op, such as ``MatMul`` or ``Variable``, or graphc's name in that style."""
        name = self.op.rpartition(".")[2]
        return _TENSORFLOW.get(name) or "".join(word.capitalize() for word in name.split("_"))


def device(spec: str | DeviceSpec | Device | DeviceChoice | None) -> AbstractContextManager[None]:
    """Pins the ops inside a ``with`` block, and the Variables made there, to a device.

    Blocks nest: the inner block decides, and the outer block decides what the inner one leaves open. A pin is obeyed or
    refused, in eager code and in compiled code.

    Args:
      spec: a name such as ``"gpu:0"`` or ``"/device:CPU:1"``, or one of ``gx.devices()``. Or a function, called for
        each op and each Variable: it takes a description with ``op``, ``name``, ``inputs``, ``attrs`` and ``location``
        and returns a spec, or None to leave the choice to the enclosing block. In a compiled function it is called once
        for each node, when the function is traced. None lifts the enclosing pins.

    Raises:
      InvalidTypeError: ``spec``, or the function's result, is none of these.
      InvalidArgumentError: the spec is malformed.
      NotFoundError: there is no such device; the message lists those that exist. For a graph that is built by hand, a
        Session raises this when it runs the graph.

    Example:
      >>> import graphc as gx
      >>> with gx.device("/job:localhost"):
      ...     with gx.device("cpu:0"):
      ...         x = gx.ones(3)
      >>> x.device
      '/device:CPU:0'
      >>> with gx.device(lambda node: "cpu:0" if node.op == "variable" else None):
      ...     v = gx.Variable(1.0)
      >>> v.device
      '/device:CPU:0'
    """
    return _scope_of(spec, later=context.trace is not None and context.trace.root.is_graph)


def device_later(spec: Any) -> AbstractContextManager[None]:
    """Pins ops as :func:`device` does, for graphs that are placed when they run: the device need not exist before."""
    return _scope_of(spec, later=True)


def _scope_of(spec: Any, *, later: bool) -> _Scope:
    if spec is None:
        return _Scope(None)
    is_named = type(spec) is str or isinstance(spec, jax.Device)
    if not later and is_named and (cached := _known.get(spec)) is not None:
        return cached
    _check_known(spec)
    if callable(spec) and not isinstance(spec, _Scope):
        return _Scope(DeviceFunction(spec, later=later), later=later)
    request: Any = spec
    if not isinstance(request, str | DeviceSpec | jax.Device):
        message = (
            "expected a device such as 'gpu:0', a gx.DeviceSpec, one of gx.devices(), a function that chooses one for "
            f"each op, or None, got {request!r:.60}"
        )
        raise InvalidTypeError(message).here()
    layer = _spec(request)
    if not later and layer.device_type is not None and is_device(text := _text(layer)):
        created = _Scope(layer, alone=Pins((layer,), text, NO_PINS))
        if is_named:
            _known[request] = created
        return created
    if not later and layer.device_type is None and layer.device_index is not None:
        named_device(layer)  # its type is that of the enclosing scope
    elif not later:
        find_device(request)
    return _Scope(layer, later=later)


_known: dict[str | Device, _Scope] = {}
"""The scopes of existing devices by what names them; parsing and finding one takes 10 microseconds."""


def _check_known(spec: Any) -> None:
    """Raises for a device that depends on a tensor, since the program is placed and compiled before it runs."""
    if context.trace is None or isinstance(spec, jax.Device | DeviceSpec):
        return
    if any(map(_has_no_value, nest.flatten(spec)[0])):
        error = ConcretizationError(
            "gx.device: a device cannot depend on a tensor, because graphc places each op when it traces the function. "
            "Write an `if` on the tensor, with the ops of each branch under a pin of their own"
        )
        raise context.trace.refuse(error)


class _Scope(AbstractContextManager[None]):
    """The context manager that :func:`device` returns; it may be reentered, also from several threads."""

    __slots__ = ("_alone", "_later", "_layer")

    def __init__(
        self, layer: DeviceSpec | DeviceFunction | None, *, later: bool = False, alone: Pins | None = None
    ) -> None:
        self._layer = layer
        self._later = later
        self._alone = alone  # the pins if no scope encloses this one; None if unknown

    def __enter__(self) -> None:
        around = context.device
        if around is NO_PINS and self._alone is not None:
            pins = self._alone
        elif self._layer is None:
            pins = Pins(around=around)
        else:
            layers = (*around.layers, self._layer)
            text = _text(Pins(layers).spec, later=self._later)
            if text and not self._later:
                find_device(text)
            _check_bound(around, text, None)
            pins = Pins(layers, text, around, around.bound)
        context.device = pins
        context.update()

    def __exit__(self, *_: object) -> None:
        around = context.device.around
        context.device = NO_PINS if around is None else around  # lifted pins are false, and know the enclosing ones
        context.update()

    def __call__(self, *_: object) -> NoReturn:
        """Raises: the body of a decorated function would not be converted."""
        raise InvalidTypeError(
            "gx.device and gx.colocate_with are context managers, not decorators: write `with gx.device(...):` inside "
            "the function, or @gx.function(device=...)"
        ).here()


def colocate_with(value: Any) -> AbstractContextManager[None]:
    """Places the ops and Variables inside a ``with`` block on the device of a tensor or Variable.

    Enclosing pins do not apply inside the block; a pin inside it that names another device is refused.

    Args:
      value: a Variable or a tensor. In a compiled function, a tensor that was computed there; the device of an argument
        is known only when the function is called.

    Raises:
      InvalidArgumentError: ``value`` is an argument of the traced function, or is on several devices.
      InvalidTypeError: ``value`` is something else.

    Example:
      >>> import graphc as gx
      >>> with gx.device("cpu:0"):
      ...     v = gx.Variable([1.0, 2.0], name="v")
      >>> with gx.colocate_with(v):
      ...     moment = gx.Variable([0.0, 0.0])
      >>> moment.device == v.device
      True
    """
    trace: Any = None if context.trace is None else context.trace.root
    if trace is not None and trace.is_graph and hasattr(value, "graph"):  # in a graph that is built by hand
        return trace.graph.colocate_with(value)
    what, device_text = _place_of(value)
    if "," in device_text:
        raise InvalidArgumentError(f"gx.colocate_with: {what} is on several devices at once, {device_text}").here()
    return _Colocation(device_text, what)


def _has_no_value(value: Any) -> bool:
    """Returns True for a tensor of a function that is being traced."""
    return hasattr(getattr(value, "trace", None), "builder")  # arrays have a ``trace`` method


def _place_of(value: Any) -> tuple[str, str]:
    """Returns a description of a value, and the device that it is on."""
    if _has_no_value(value):
        return _place_in_graph(value, value.raw)
    device_text = getattr(value, "device", None)
    if not hasattr(value, "type") or not isinstance(device_text, str):
        raise InvalidTypeError(f"gx.colocate_with: expected a Variable or a tensor, got {value!r:.60}").here()
    name = getattr(value, "name", None)
    return (f"the tensor {value.type}" if name is None else f"Variable {name!r}"), device_text


def _place_in_graph(value: Any, source: Value) -> tuple[str, str]:
    node = source.node
    if node is None:
        raise InvalidArgumentError(
            f"gx.colocate_with: the device of the argument {source.name!r} is not known when "
            f"{value.trace.builder.name!r} is traced; pass a Variable, or a tensor computed in the function"
        ).here()
    variable = value.trace.root.variables.get(node.attrs.get("variable", ""))
    if variable is not None:
        return f"Variable {variable.name!r}", variable.device
    return f"the result of {node.name!r}", node.device or device_name(devices()[0])


class _Colocation(_Scope):
    """The context manager that :func:`colocate_with` returns."""

    __slots__ = ("_bound",)

    def __init__(self, index: str, what: str) -> None:
        super().__init__(DeviceSpec.parse(index))
        self._bound = index, what

    def __enter__(self) -> None:
        around = context.device
        assert isinstance(self._layer, DeviceSpec)
        context.device = Pins((self._layer,), self._bound[0], around, self._bound)
        context.update()


def _check_bound(pins: Pins, text: str, location: Location | None) -> None:
    """Raises if a pin contradicts the enclosing co-location."""
    if pins.bound is None or text == pins.bound[0]:
        return
    device_text, what = pins.bound
    raise InvalidArgumentError(
        f"gx.device: a pin to {text} contradicts the enclosing gx.colocate_with, which places everything here "
        f"with {what}, on {device_text}; move the pin outside the co-location, or lift the latter with gx.device(None)"
    ).at(location or user_location())


def _spec(request: str | DeviceSpec | Device) -> DeviceSpec:
    if isinstance(request, str):
        return DeviceSpec.parse(request)
    return request if isinstance(request, DeviceSpec) else DeviceSpec.parse(device_name(find_device(request)))


def _text(spec: DeviceSpec, *, later: bool = False) -> str:
    """Returns the name of the device that a spec means; empty if the spec leaves it open."""
    # In a graph built by hand, a spec that names a task stays unresolved: the Session knows the tasks.
    if later and (spec.job, spec.replica, spec.task) != (None, None, None):
        return str(spec)
    return "" if spec.device_type is None and spec.device_index is None else named_device(spec)


def requested_device(
    op: OpDef, inputs: Sequence[Any], attrs: Attrs, regions: Sequence[Any] = (), name: str = "", location: Any = None
) -> str:
    """Returns the device that the enclosing scopes request, such as ``/device:GPU:0``; empty if they leave it open."""
    # It may not exist: see `find_device`. Device functions are not called for ops on a resource such as a Variable,
    # which run where the resource is, nor for loops and branches, whose nodes they were called for. A graph built by
    # hand calls them for all ops except those on Variables, which follow the Variable's pin.
    pins = context.device
    if not pins.asks or regions:
        return pins.text
    by_hand = context.trace is not None and context.trace.root.is_graph
    if not by_hand and any(effect.resource != WORLD for effect in op.effects(attrs)):
        return pins.text
    types = tuple([value.type if hasattr(value, "type") else type_of(value) for value in inputs])
    return _asked(pins, NodeToPlace(op.name, name or op.name, types, attrs, location or user_location()))


def variable_device(name: str, type: TensorType, trainable: bool) -> str:
    """Returns the device that the enclosing scopes request for a new Variable; see :func:`requested_device`."""
    pins = context.device
    if not pins.asks:
        return pins.text
    attrs = {"shape": type.shape if type.ranked else None, "dtype": type.dtype, "trainable": trainable}
    return _asked(pins, NodeToPlace("variable", name, (), attrs, user_location()))


def _asked(pins: Pins, node: NodeToPlace) -> str:
    merged, later = DeviceSpec(), False
    for layer in reversed(pins.layers):
        if isinstance(layer, DeviceFunction):
            later = later or layer.later  # such a graph may run on several tasks
            if merged.is_complete and not layer.later:
                continue
            layer = _answer(layer, replace(node, device=str(merged)))
        merged = layer.merge(merged)
    text = _text(merged, later=later)
    _check_bound(pins, text, node.location)
    return text


def _answer(function: DeviceFunction, node: NodeToPlace) -> DeviceSpec:
    try:
        with trace_scope(None):  # called while a function is traced, but not part of it
            answer = function.function(node)
    except (ConcretizationError, LeakedTensorError) as error:
        message = (
            f"the device function {str(function)!r} was called for {node.op} and computes with a tensor of a function "
            "that is being traced, which has no value yet; let it decide by its argument (node.op, node.inputs, "
            "node.attrs, ...), by Python values or by tensors from outside the function"
        )
        raise ConcretizationError(message).here() from error
    except Exception as error:
        where = "" if node.location is None else f" at {node.location}"
        error.add_note(f"raised by the device function {str(function)!r}, called for {node.op}{where}")
        raise
    if answer is None:
        return DeviceSpec()
    asked = f"the device function {str(function)!r} was called for {node.op} and returned {answer!r:.60}"
    if not isinstance(answer, str | DeviceSpec | jax.Device):
        message = f"{asked}; it must return a name such as 'gpu:0', a gx.DeviceSpec, one of gx.devices(), or None"
        raise InvalidTypeError(message).at(node.location)
    try:
        spec = _spec(answer)
        if not function.later:
            find_device(spec, node.location)
    except GraphcError as error:
        error.args = (f"{asked}: {error.args[0]}",)
        raise error.at(node.location) from None
    return spec


def check_implemented(op: OpDef, device: str, location: Location | None = None) -> str:
    """Returns ``device``, or under soft placement the CPU, reported once per line, if only that implements the op."""
    if not op.platforms or device.split(":")[1].lower() in op.platforms:
        return device
    location = location or user_location()
    fit = [name for name in map(device_name, devices()) if name.split(":")[1].lower() in op.platforms]
    types = ", ".join(platform.upper() for platform in op.platforms)
    message = f"{op.name} has no implementation on {device}; there is one on {types}"
    first_cpu = "/device:CPU:0"
    if config.soft_placement and first_cpu in fit:
        say_once(f"{message}, so it runs on {first_cpu}", location, f"{op.name} on {device}")
        return first_cpu
    message += f", available here as {', '.join(fit)}" if fit else ", of which this process has none"
    if fit:
        message += f": put it under `with gx.device({fit[0]!r}):`"
        if first_cpu in fit:
            message += ", or set gx.config.soft_placement = True"
    raise UnimplementedError(message).at(location)


_log = logging.getLogger("graphc.placement")


def log_placement(op: str, name: str, requested: str, actual: str, location: Location | None) -> None:
    """Logs a placement, if ``gx.config.log_device_placement`` is on; ``requested`` is empty for no pin."""
    if LOGGED in busy:
        what = op if name == op else f"{op} {name!r}"
        where = "" if location is None else f" ({location.short})"
        _log.info("%s: requested %s, placed on %s%s", what, requested or "nothing", actual, where)
