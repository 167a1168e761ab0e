"""What the device scopes around a piece of code say.

``gx.device`` takes a spec, which says where things go, or a function, which is asked about each thing that is made. The
scopes are kept as they were opened; :mod:`graphc.core.placing` finds out what they mean together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import MethodType
from typing import Any, Final

from graphc.ir import DeviceSpec

__all__ = ["NO_PINS", "DeviceFunction", "Pins"]


class DeviceFunction:
    """A function that says where a thing is made; equal to another only if both are one and the same.

    A compiled function keeps a trace for each set of scopes, so these are told apart by the functions themselves,
    whether they can be hashed or not.

    Attributes:
      function: the function.
      later: whether the devices that it names need not be there yet.
    """

    __slots__ = ("_identity", "function", "later")

    def __init__(self, function: Callable[[Any], Any], *, later: bool = False) -> None:
        self.function = function
        self.later = later
        # A method is an object of its own each time that it is looked up.
        method = isinstance(function, MethodType)
        self._identity = (id(function.__self__), id(function.__func__)) if method else (id(function),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceFunction) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __str__(self) -> str:
        return str(getattr(self.function, "__qualname__", type(self.function).__qualname__))


@dataclass(frozen=True, slots=True)
class Pins:
    """What the device scopes around say; false where there are none.

    Attributes:
      layers: the scopes, outermost first.
      text: the device that their specs name, such as ``/device:GPU:0``, also where it does not exist; empty where they
        leave that open. What functions say is not in it.
      around: what held before the innermost scope was entered; None where that is not kept.
      bound: the device of what everything here is placed with, and what that is; None if it is placed with nothing.
    """

    layers: tuple[DeviceSpec | DeviceFunction, ...] = ()
    text: str = field(default="", compare=False)
    around: Pins | None = field(default=None, compare=False, repr=False)
    bound: tuple[str, str] | None = field(default=None, compare=False)

    def __bool__(self) -> bool:
        return bool(self.layers)

    @property
    def asks(self) -> bool:
        """True if there are functions among them."""
        return any(isinstance(layer, DeviceFunction) for layer in self.layers)

    @property
    def spec(self) -> DeviceSpec:
        """Returns what the specs among them say together: the innermost first, of others what that leaves open."""
        merged: DeviceSpec | None = None
        for layer in reversed(self.layers):
            if isinstance(layer, DeviceSpec):
                merged = layer if merged is None else layer.merge(merged)
        return DeviceSpec() if merged is None else merged

    def __str__(self) -> str:
        return ", then ".join(map(str, self.layers))


NO_PINS: Final = Pins()
