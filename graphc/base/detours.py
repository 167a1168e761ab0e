"""Why compiled calls take the long way.

The short way of a call asks one question: is this dict empty? It is as long as nothing asks for more than to run the
program: functions do not run eagerly, no deadline or cancellation token is in force anywhere, steps in flight are not
bounded, and nobody watches for steps that make no progress. Arrays on several devices are a reason of their own: who
looks for them asks the other dict.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

__all__ = ["SPREAD_ARRAYS", "detours", "other_detours", "set_detour"]

SPREAD_ARRAYS: Final = "spread"
"""The key of the reason that there are arrays on several devices."""

detours: dict[Hashable, str] = {}
"""The reasons, by who gives them."""

other_detours: dict[Hashable, str] = {}
"""The reasons but for arrays on several devices."""


def set_detour(key: Hashable, reason: str, active: bool) -> None:
    """Adds a reason, or takes it back."""
    if active:
        detours[key] = reason
    else:
        detours.pop(key, None)
    if key == SPREAD_ARRAYS:
        return
    if active:
        other_detours[key] = reason
    else:
        other_detours.pop(key, None)
