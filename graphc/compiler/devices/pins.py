"""Pins: the combined meaning of the enclosing device scopes.

``gx.device`` takes a spec, which names a device, or a function, which is called for each op or Variable made. The
scopes are stored as they were opened; :mod:`graphc.compiler.core.placing` combines them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import MethodType
from typing import Any, Final

from graphc.compiler.ir import DeviceSpec

__all__ = ["NO_PINS", "DeviceFunction", "Pins"]


class DeviceFunction:
    """A function that chooses devices; equal only to itself.

    A compiled function keeps a trace for each set of scopes, so these are compared by the functions' identities,
    whether or not the functions are hashable.

    Attributes:
      later: whether the devices that it names may be made later.
    """

    __slots__ = ("_identity", "function", "later")

    def __init__(self, function: Callable[[Any], Any], *, later: bool = False) -> None:
        self.function = function
        self.later = later
        # A method is a new object at each attribute access.
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
    """The enclosing device scopes; false if there are none.

    Attributes:
      layers: the scopes, outermost first.
      text: the device that their specs name, such as ``/device:GPU:0``, even if it does not exist; empty if they leave
        it open. It does not include the choices of functions.
      around: the pins before the innermost scope was entered; None if they are not kept.
      bound: the device and description of the object that everything here is co-located with; None if there is none.
    """

    layers: tuple[DeviceSpec | DeviceFunction, ...] = ()
    text: str = field(default="", compare=False)
    around: Pins | None = field(default=None, compare=False, repr=False)
    bound: tuple[str, str] | None = field(default=None, compare=False)

    def __bool__(self) -> bool:
        return bool(self.layers)

    @property
    def asks(self) -> bool:
        """True if the scopes contain device functions."""
        for layer in self.layers:  # noqa: SIM110  each eager op in a scope asks, and any() takes three times as long
            if isinstance(layer, DeviceFunction):
                return True
        return False

    @property
    def spec(self) -> DeviceSpec:
        """The merged spec of the scopes: inner specs take precedence, outer ones fill in what they leave open."""
        merged: DeviceSpec | None = None
        for layer in reversed(self.layers):
            if isinstance(layer, DeviceSpec):
                merged = layer if merged is None else layer.merge(merged)
        return DeviceSpec() if merged is None else merged

    def __str__(self) -> str:
        return ", then ".join(map(str, self.layers))


NO_PINS: Final = Pins()
