"""Slow-path reasons: why compiled calls cannot take the fast path.

The fast path of a call checks one condition: is this dict empty? It is empty if running the program is all that a call
must do: functions do not run eagerly, no deadline or cancellation token is in force in any thread, steps in flight are
unbounded, and no watchdog looks for steps without progress. Arrays on several devices are a separate reason: code that
checks for them itself uses the other dict.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

SPREAD_ARRAYS: Final = "spread"
"""The key of the reason "arrays are on several devices"."""

slow_path_reasons: dict[Hashable, str] = {}
"""The reasons, by the key of what causes them."""

other_slow_path_reasons: dict[Hashable, str] = {}
"""The reasons without that of arrays on several devices."""


def set_slow_path_reason(key: Hashable, reason: str, active: bool) -> None:
    """Adds a reason, or removes it."""
    if active:
        slow_path_reasons[key] = reason
    else:
        slow_path_reasons.pop(key, None)
    if key == SPREAD_ARRAYS:
        return
    if active:
        other_slow_path_reasons[key] = reason
    else:
        other_slow_path_reasons.pop(key, None)
