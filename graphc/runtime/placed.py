"""Values that JAX follows through a transformation, and where they are: a tracer does not say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.sharding import SingleDeviceSharding

from graphc.devices import Device, devices

__all__ = ["Placed", "PlacedFunction"]


@dataclass(frozen=True, slots=True)
class Placed:
    """An array or a tracer, and the device that it is on.

    Attributes:
      value: the array, the tracer, or a number.
      device: where it is; None for what goes wherever it is used, such as a constant.
    """

    value: Any
    device: Device | None = None

    @classmethod
    def of(cls, value: Any) -> Placed:
        """Returns an array with its device; numbers have none, and tracers of which nothing is known."""
        known = isinstance(value, jax.Array) and not isinstance(value, Tracer)
        return cls(value, next(iter(value.devices())) if known else None)

    def to(self, device: Device | None) -> Placed:
        """Returns the value on a device; its cotangents come back to where it is now."""
        if device is None or device is self.device:
            return self
        here = None if self.device is None else _only(self.device)
        return Placed(jax.device_put(self.value, _only(device), src=here), device)

    def somewhere(self) -> Placed:
        """Returns the value as an array on a device, the default one if it is on none: its cotangents meet there."""
        return self if self.device is not None else Placed(jnp.asarray(self.value)).to(devices()[0])


def _only(device: Device) -> Any:
    return SingleDeviceSharding(device)  # pyright: ignore[reportArgumentType]


class PlacedFunction:
    """A function of placed values as one of arrays, which JAX can transform.

    Args:
      function: the function.
      devices: where its arguments are, or what gives that when it is called.

    Attributes:
      results: where its results are, after a call.
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
