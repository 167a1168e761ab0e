"""Why compiled calls take the long way.

The short way of a call asks one question: is this dict empty? It is as long as nothing asks for more than to run the
program: functions do not run eagerly, no deadline or cancellation token is in force anywhere, steps in flight are not
bounded, and nobody watches for steps that make no progress.
"""

from __future__ import annotations

from collections.abc import Hashable

__all__ = ["detours", "set_detour"]

detours: dict[Hashable, str] = {}
"""The reasons, by who gives them."""


def set_detour(key: Hashable, reason: str, active: bool) -> None:
    """Adds a reason, or takes it back."""
    if active:
        detours[key] = reason
    else:
        detours.pop(key, None)
