"""The compiled functions of ops, from raw arrays to raw arrays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import jax

from graphc.compiler.ir import Attrs, Graph, OpDef

__all__ = [
    "NO_ATTRS",
    "Compiled",
    "is_pinned",
    "kernel",
    "region_function",
    "register_region_kernels",
    "register_region_runner",
]

NO_ATTRS = Attrs()

_KERNELS_KEPT = 512
"""Maximum number of compiled functions per op, one for each set of static attributes. The oldest is evicted first, so
that a loop over ``x[:i]`` does not fill the memory."""
_kernels_lock = threading.Lock()

_run_region: Callable[[Graph], Callable[..., Any]] | None = None


def register_region_runner(runner: Callable[[Graph], Callable[..., Any]]) -> None:
    """Sets the function that lowers a region for JAX; the lowering, a layer above, calls this once."""
    global _run_region
    _run_region = runner


def region_function(region: Graph) -> Callable[..., Any]:
    """Returns a region as a single-device function that JAX can trace."""
    assert _run_region is not None
    return _run_region(region)


Compiled: TypeAlias = Callable[..., Any]
"""A compiled function from raw arrays to raw arrays."""

RegionKernels: TypeAlias = Callable[[OpDef, Attrs, Sequence[Graph], Compiled], Compiled]
_make_region_kernel: RegionKernels | None = None


def register_region_kernels(make: RegionKernels) -> None:
    """Sets the function that compiles an op with regions; the runtime, a layer above, calls this once.

    Args:
      make: takes the op, its attributes, its regions, and its single-device function for JAX to trace.
    """
    global _make_region_kernel
    _make_region_kernel = make


def kernel(op: OpDef, attrs: Attrs = NO_ATTRS, regions: Sequence[Graph] = ()) -> Callable[..., Any]:
    """Returns an op's compiled function for these attributes and regions: raw arrays in, raw arrays out.

    The function is cached on the op, or on its first region: it refers to the regions, and a cache elsewhere would keep
    them alive.
    """
    if regions:
        return _region_kernel(op, attrs, regions)
    compiled = op.caches.get(attrs)
    if compiled is None:
        compiled = jax.jit(partial(op.impl, **attrs) if attrs else op.impl)
        with _kernels_lock:
            while len(op.caches) >= _KERNELS_KEPT:
                del op.caches[next(iter(op.caches))]
            op.caches[attrs] = compiled
    return compiled


def _region_kernel(op: OpDef, attrs: Attrs, regions: Sequence[Graph]) -> Callable[..., Any]:
    caches = regions[0].caches
    key = (op, attrs, *regions[1:])
    compiled = caches.get(key)
    if compiled is None:
        bodies = op.region_keywords([_run_region(region) for region in regions] if _run_region is not None else [])

        # Not a partial: JAX caches the signature of the function that it compiles, which would hold the regions as
        # defaults.
        def run(*values: Any) -> Any:
            return op.impl(*values, **attrs, **bodies)

        run.__name__ = run.__qualname__ = op.name
        compiled = jax.jit(run) if _make_region_kernel is None else _make_region_kernel(op, attrs, regions, run)
        caches[key] = compiled
    return compiled


def is_pinned(regions: Sequence[Graph]) -> bool:
    """Returns True if a region has nodes that are pinned to a device."""
    return any(node.device for region in regions for node in region.walk())
