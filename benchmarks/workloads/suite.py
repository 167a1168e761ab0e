"""All workloads."""

from __future__ import annotations

from benchmarks.workloads import (
    arithmetic,
    eager,
    lists,
    matrices,
    networks,
    optimizers,
    searches,
    signals,
    simulations,
    tables,
)
from benchmarks.workloads.workload import Workload

__all__ = ["WORKLOADS"]

_MODULES = (tables, lists, networks, searches, arithmetic, simulations, optimizers, signals, matrices, eager)
WORKLOADS: tuple[Workload, ...] = tuple(workload for module in _MODULES for workload in module.WORKLOADS)
