"""The steps of a plan: XLA programs, transfers between devices, and calls of Python functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.sharding import SingleDeviceSharding

from graphc.compiler.base import collection_paused, interrupts_held
from graphc.compiler.core import context, type_of
from graphc.compiler.devices import Device, devices, find_device
from graphc.compiler.ir import Graph, TensorType
from graphc.compiler.lowering import compiler_options, lower
from graphc.compiler.ops import (
    HOST_CALL,
    UNORDERED_HOST_CALL,
    HostFunction,
    calls_host,
    current_mode,
    is_interrupt,
    is_replaying,
    numbered_calls,
    waited_for,
)
from graphc.compiler.runtime.plan import Step

if TYPE_CHECKING:
    from graphc.compiler.runtime.executor import Execution
    from graphc.compiler.runtime.following import TracedExecution

# Placed values: values that JAX traces, with their devices, which tracers do not provide.


@dataclass(frozen=True, slots=True)
class DeviceValue:
    """An array or a tracer with its device."""

    value: Any  # the array, the tracer, or a number
    # The value's device; None for a value that goes wherever it is used, such as a constant.
    device: Device | None = None

    @classmethod
    def of(cls, value: Any) -> DeviceValue:
        """Returns an array with its device; numbers and unknown tracers have none."""
        concrete = isinstance(value, jax.Array) and not isinstance(value, Tracer)
        return cls(value, next(iter(value.devices())) if concrete else None)

    def to(self, device: Device | None) -> DeviceValue:
        """Returns the value on a device; its cotangents are transferred back."""
        if device is None or device is self.device:
            return self
        here = None if self.device is None else _only(self.device)
        return DeviceValue(jax.device_put(self.value, _only(device), src=here), device)

    def somewhere(self) -> DeviceValue:
        """Returns the value as an array on its device, or on the default one: its cotangents are summed there."""
        return self if self.device is not None else DeviceValue(jnp.asarray(self.value)).to(devices()[0])


def _only(device: Device) -> Any:
    return SingleDeviceSharding(device)  # pyright: ignore[reportArgumentType]


class PlacedFunction:
    """A function of placed values as a function of arrays, which JAX can transform."""

    def __init__(
        self,
        function: Callable[[Sequence[DeviceValue]], Sequence[DeviceValue]],
        devices: Sequence[Device | None] | Callable[[], Sequence[Device | None]],
    ) -> None:
        self._function = function
        self._devices = devices  # the devices of its arguments, or a function that returns them at a call
        self.results: Sequence[Device | None] = ()  # the devices of its results, after a call

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """Returns the results for arrays or tracers."""
        devices = self._devices() if callable(self._devices) else self._devices
        outputs = self._function(list(map(DeviceValue, values, devices)))
        self.results = [result.device for result in outputs]
        return tuple([result.value for result in outputs])


@dataclass(frozen=True, eq=False)
class Segment(Step):
    """Ops on one device, compiled by XLA as a single program."""

    graph: Graph = field(kw_only=True)
    # A segment on the same device with the same graph, whose program this one shares.
    like: Segment | None = field(default=None, kw_only=True, repr=False)
    kind: ClassVar[str] = "segment"

    def __post_init__(self) -> None:
        device: Any = find_device(self.device)
        object.__setattr__(self, "_place", device)
        # Without out_shardings, constants would be computed on JAX's default device, unless it is set for the call: XLA
        # refuses output shardings if a branch calls the host (JAX 0.10 and 0.11).
        host = calls_host(self.graph)
        object.__setattr__(self, "_calls_host", host)
        object.__setattr__(self, "_sharding", None if host else SingleDeviceSharding(device))
        jitted = self._compiled(numbered=host) if self.like is None else self.like.jitted
        object.__setattr__(self, "jitted", jitted)

    jitted: Any = field(init=False, repr=False)
    _calls_host: bool = field(init=False, repr=False)
    _place: Any = field(init=False, repr=False)
    _sharding: Any = field(init=False, repr=False)
    _followed: dict[Any, Any] = field(init=False, repr=False, default_factory=dict[Any, Any])

    def _compiled(self, *, numbered: bool) -> Any:
        options = compiler_options(self.graph) or None
        function = _typed(self.graph, numbered=numbered)
        return jax.jit(function, out_shardings=self._sharding, compiler_options=options)

    def prepare(self) -> None:
        """Compiles the segment."""
        if self.like is not None:
            return
        placement = SingleDeviceSharding(self._place)
        types = [value.type for value in self.graph.inputs]
        specs = [
            jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak, sharding=placement) for type in types
        ]
        numbers = [np.int32(0)] if self._calls_host else []
        with jax.default_device(self._place) if self._calls_host else nullcontext():
            self.jitted.lower(*numbers, *specs).compile()

    @property
    def blocks(self) -> bool:
        """True if it waits for Python functions that it calls."""
        return self._calls_host or super().blocks

    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Dispatches the program; the results may still be computing, unless it calls Python functions."""
        context.launched()
        # Committed to its device: JAX compiles anew for uncommitted arrays, such as the first values of a loop.
        arrays = [array if _is_held(array) else jax.device_put(array, self._place) for array in arrays]
        if not self._calls_host:
            return self.jitted(*arrays)
        with waited_for(lambda: execution.has_failed) as number, jax.default_device(self._place), interrupts_held():
            execution.calls[self] = number
            results = self.jitted(np.int32(number), *arrays)
            jax.block_until_ready(results)
        return results

    def follow(self, values: Sequence[DeviceValue], execution: TracedExecution) -> Sequence[DeviceValue]:
        """Calls the program in JAX's trace; each mode of differentiation may have its own program."""
        context.launched()
        mode = (current_mode(), is_replaying())
        if mode not in self._followed:
            self._followed[mode] = self._compiled(numbered=False)
        with jax.default_device(self._place) if self._calls_host else nullcontext():
            results = self._followed[mode](*[value.value for value in values])
        return [DeviceValue(result, self._place) for result in results]


def _is_held(array: Any) -> bool:
    return isinstance(array, jax.Array) and array.committed


@dataclass(frozen=True, eq=False)
class Transfer(Step):
    """A transfer of a value to another device; the copy shares no memory, since one of them may be updated in place."""

    kind: ClassVar[str] = "transfer"

    def __post_init__(self) -> None:
        target = find_device(self.device)
        object.__setattr__(self, "_target", target)
        object.__setattr__(self, "_move", _mover(target))

    _target: Any = field(init=False, repr=False)
    _move: Any = field(init=False, repr=False)

    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Starts the copy; returns the value itself if it is already on the device."""
        (array,) = arrays
        if isinstance(array, jax.Array) and array.devices() == {self._target}:
            return (array,)
        try:
            return (self._move(array),)
        except ValueError:  # from another platform, or split over devices, which a program does not accept
            return (jax.device_put(array, self._target, may_alias=False),)

    def follow(self, values: Sequence[DeviceValue], execution: TracedExecution) -> Sequence[DeviceValue]:
        """Transfers the value; its cotangents are transferred back."""
        return (values[0].to(self._target),)


@cache
def _mover(device: Device) -> Any:
    """Returns a program that copies its input to a device, in a third of the time of device_put."""
    sharding = SingleDeviceSharding(device)  # pyright: ignore[reportArgumentType]
    return jax.jit(_moved, in_shardings=sharding, out_shardings=sharding)


def _moved(array: Any) -> Any:
    return array


class HostCallFailed(Exception):
    """Signals that a Python function raised an exception."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status  # the number of the exception, for :func:`graphc.compiler.ops.host_error`
        self.is_interrupt = is_interrupt(status)  # whether it is Ctrl-C, or another exception that ends a program


@dataclass(frozen=True, eq=False)
class HostCall(Step):
    """A call of a Python function."""

    function: HostFunction = field(kw_only=True)
    # Whether it takes and returns the program's status and host call count before its other values; if not, it returns
    # a status of its own.
    ordered: bool = field(kw_only=True)
    kind: ClassVar[str] = "host call"

    @property
    def blocks(self) -> bool:
        """True: it waits for its inputs and for the function."""
        return True

    def run(self, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Calls the function."""
        values = [np.asarray(array) for array in arrays]
        before = int(values[0]) if self.ordered else 0
        results = self.function(*values) if self.ordered else self.function.run(*values)
        status = int(results[0])
        if status != before:
            raise HostCallFailed(status)
        return results

    def follow(self, values: Sequence[DeviceValue], execution: TracedExecution) -> Sequence[DeviceValue]:
        """Calls the function as a single program would: a repeated forward pass does not call it again."""
        op = HOST_CALL if self.ordered else UNORDERED_HOST_CALL
        attrs = {"function": self.function.name, "results": self.function.results}
        return [DeviceValue(result) for result in op.impl(*[value.value for value in values], **attrs)]


def _typed(graph: Graph, *, numbered: bool) -> Callable[..., Any]:
    """Returns a graph's function that converts its inputs to the exact types in the graph."""
    # A constant carried by a loop arrives as a NumPy array, and a number as a Python number: the former is never weakly
    # typed, the latter always is.
    # numbered: whether the function takes its call number first (see :func:`graphc.compiler.ops.host`).
    function, types = lower(graph).function, [value.type for value in graph.inputs]

    def typed(*arrays: Any) -> Any:
        with collection_paused():
            return function(*map(as_type, arrays, types))

    def with_number(number: Any, *arrays: Any) -> Any:
        with numbered_calls(number):
            return typed(*arrays)

    wrapper = with_number if numbered else typed
    wrapper.__name__ = wrapper.__qualname__ = graph.name
    return wrapper


def as_type(array: Any, type: TensorType) -> Any:
    """Returns an array or number with the exact type in a graph."""
    if type_of(array) == type:
        return array
    kind: Any = np.zeros((), type.dtype).item().__class__ if type.weak else type.dtype
    return lax.convert_element_type(array, kind)
