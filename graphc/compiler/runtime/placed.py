"""Placed values: values that JAX traces, with their devices, which tracers do not provide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.sharding import SingleDeviceSharding

from graphc.compiler.devices import Device, devices

__all__ = ["Placed", "PlacedFunction"]


@dataclass(frozen=True, slots=True)
class Placed:
    """An array or a tracer with its device.

    Attributes:
      value: the array, the tracer, or a number.
      device: the value's device; None for a value that goes wherever it is used, such as a constant.
    """

    value: Any
    device: Device | None = None

    @classmethod
    def of(cls, value: Any) -> Placed:
        """Returns an array with its device; numbers and unknown tracers have none."""
        known = isinstance(value, jax.Array) and not isinstance(value, Tracer)
        return cls(value, next(iter(value.devices())) if known else None)

    def to(self, device: Device | None) -> Placed:
        """Returns the value on a device; its cotangents are transferred back."""
        if device is None or device is self.device:
            return self
        here = None if self.device is None else _only(self.device)
        return Placed(jax.device_put(self.value, _only(device), src=here), device)

    def somewhere(self) -> Placed:
        """Returns the value as an array on its device, or on the default one: its cotangents are summed there."""
        return self if self.device is not None else Placed(jnp.asarray(self.value)).to(devices()[0])


def _only(device: Device) -> Any:
    return SingleDeviceSharding(device)  # pyright: ignore[reportArgumentType]


class PlacedFunction:
    """A function of placed values as a function of arrays, which JAX can transform.

    Args:
      function: the function.
      devices: the devices of its arguments, or a function that returns them at a call.

    Attributes:
      results: the devices of its results, after a call.
    """

    def __init__(
        self,
        function: Callable[[Sequence[Placed]], Sequence[Placed]],
        devices: Sequence[Device | None] | Callable[[], Sequence[Device | None]],
    ) -> None:
        self._function = function
        self._devices = devices
        self.results: Sequence[Device | None] = ()

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """Returns the results for arrays or tracers."""
        devices = self._devices() if callable(self._devices) else self._devices
        found = self._function(list(map(Placed, values, devices)))
        self.results = [result.device for result in found]
        return tuple([result.value for result in found])
