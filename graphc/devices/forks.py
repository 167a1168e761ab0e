"""Forked children of a process that has made its devices: they lack XLA's threads, so compiling would hang."""

from __future__ import annotations

import os
from typing import Any

import jax.monitoring

from graphc.base import at, user_location
from graphc.base.errors import FailedPreconditionError
from graphc.devices.settings import has_made_devices

__all__ = ["refuse_to_compile"]

_LOWERED = "/jax/core/compile/jaxpr_to_mlir_module_duration"
"""The event that JAX reports just before it compiles a program."""


def refuse_to_compile() -> None:
    """Makes this process raise an error when JAX would compile; compiled programs still run."""
    if not has_made_devices():
        return  # it makes its own devices
    monitoring: Any = jax.monitoring
    monitoring.register_event_duration_secs_listener(_refuse)


def _refuse(event: str, duration: float, **_: Any) -> None:
    del duration
    if event == _LOWERED:
        error = FailedPreconditionError(
            "this process was forked from one that had made its devices, and lacks XLA's threads, so "
            'that compiling would never end; start processes by multiprocessing.get_context("spawn"), or fork before '
            "anything is computed"
        )
        raise at(error, user_location())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=refuse_to_compile)
