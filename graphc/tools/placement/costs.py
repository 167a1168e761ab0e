"""Costs of units on devices and of transfers between devices: XLA's estimates, and measurements."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from graphc.compiler.devices import Device
from graphc.compiler.ir import Value
from graphc.compiler.lowering import lower
from graphc.compiler.ops import calls_host
from graphc.compiler.runtime import Stateless, extract
from graphc.tools.placement.problem import Link
from graphc.tools.placement.units import Part

__all__ = ["Costs", "measure_link"]

_MOST_MEASURED = 64
_ROUNDS = 7
_SMALL_BYTES, _LARGE_BYTES = 4, 1 << 22


class Costs:
    """The costs of the parts of a graph.

    XLA estimates the operations and bytes of each part. The most expensive parts are timed, on one device of each
    model; for all others, and for those that call the host, the estimate is scaled by the ratio of the timed parts.

    Args:
      stateless: the graph.
      parts: its parts.
      wanted: the values that are needed outside the part that computes them.
      measure: whether to time parts; if not, a part takes a nanosecond for each thousand operations or bytes, so that
        only comparisons are meaningful.
    """

    def __init__(
        self, stateless: Stateless, parts: Sequence[Part], wanted: Collection[Value], *, measure: bool
    ) -> None:
        graphs = [extract(part.nodes, wanted, stateless.resolve)[0] for part in parts]
        self._types = [[value.type for value in graph.inputs] for graph in graphs]
        self._programs: list[Any] = [jax.jit(lower(graph).function) for graph in graphs]
        self._calls_host = list(map(calls_host, graphs))
        self._measure = measure
        self._estimates = [self._estimate(number) for number in range(len(parts))]

    def seconds(self, device: Device) -> list[float]:
        """Returns the time of each part on a device, in seconds."""
        if not self._measure:
            return [estimate * 1e-12 for estimate in self._estimates]
        largest = sorted(range(len(self._estimates)), key=lambda number: -self._estimates[number])
        pure = [number for number in largest if not self._calls_host[number]]
        measured = {number: self._timed(number, device) for number in pure[:_MOST_MEASURED]}
        scale = statistics.median(measured[number] / self._estimates[number] for number in measured) if measured else 0
        return [measured.get(number, estimate * scale) for number, estimate in enumerate(self._estimates)]

    def _estimate(self, number: int) -> float:
        structs = [jax.ShapeDtypeStruct(type.shape, type.dtype) for type in self._types[number]]
        analysis: Any = self._programs[number].lower(*structs).compile().cost_analysis() or {}
        found: Any = analysis
        # XLA reports -1 for unknown costs, such as those of host calls.
        return max(0.0, float(found.get("flops", 0.0))) + max(0.0, float(found.get("bytes accessed", 0.0))) + 1.0

    def _timed(self, number: int, device: Device) -> float:
        place: Any = device
        arrays = [jax.device_put(jnp.zeros(type.shape, type.dtype), place) for type in self._types[number]]
        with jax.default_device(place):
            return timed(lambda: self._programs[number](*arrays))


def measure_link(source: Device, target: Device) -> Link:
    """Derives latency and rate of a link from the transfer times of a small and a large array."""
    seconds: list[float] = []
    for size in (_SMALL_BYTES, _LARGE_BYTES):
        array = jax.device_put(jnp.zeros(size // 4, jnp.float32), source)  # pyright: ignore[reportArgumentType]
        seconds.append(timed(lambda array=array: jax.device_put(array, target)))  # pyright: ignore[reportArgumentType]
    latency, large = seconds
    return Link(latency, max(0.0, large - latency) / (_LARGE_BYTES - _SMALL_BYTES))


def timed(run: Callable[[], Any], rounds: int = _ROUNDS) -> float:
    """Returns the fastest of several runs in seconds, each waited for, after one that may compile."""
    jax.block_until_ready(run())
    found: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        jax.block_until_ready(run())
        found.append(time.perf_counter() - start)
    return min(found)
