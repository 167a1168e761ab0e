"""The time that devices compute, communicate and wait for each other, from JAX's profiler."""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jax

from graphc.compiler.runtime.costs.collectives import KINDS, instructions_of

__all__ = ["DeviceTime", "device_times", "times_of"]

_AROUND_OTHERS = "while|conditional|call"
"""Instructions that last as long as those inside them, which are recorded too."""

_Span = tuple[float, float]


@dataclass(frozen=True)
class DeviceTime:
    """A device's activity in seconds; no time is counted twice.

    Attributes:
      compute: some op ran that is no collective.
      communication: nothing but collectives ran, and all devices of this process had entered them.
      waiting: nothing but collectives ran, and another device of this process had not entered them yet.
    """

    compute: float
    communication: float
    waiting: float


def device_times(run: Callable[[], object], executable: Any) -> dict[int, DeviceTime]:
    """Runs something under JAX's profiler.

    Args:
      run: runs a program, maybe several times, and waits for it.
      executable: the program (``jax.stages.Compiled``).

    Returns:
      The times of each device, by its id or else its place among those of this process; nothing if the backend
      records no ops, or if another profile is open.
    """
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    with TemporaryDirectory(prefix="graphc-") as folder:
        try:
            jax.profiler.start_trace(folder, profiler_options=options)
        except RuntimeError:  # only one at a time
            run()
            return {}
        try:
            run()
        finally:
            jax.profiler.stop_trace()
        # The reader's types warn where they are made, and abort the process if that warning is an error.
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            profiler: Any = jax.profiler
            profiles = [profiler.ProfileData.from_file(str(path)) for path in Path(folder).rglob("*.xplane.pb")]
            planes = [plane for profile in profiles for plane in profile.planes]
            return times_of(planes, instructions_of(executable, KINDS), instructions_of(executable, _AROUND_OTHERS))


def times_of(planes: Iterable[Any], exchanging: Set[str], around: Set[str]) -> dict[int, DeviceTime]:
    """Adds up the ops in a profile.

    Args:
      planes: the planes of the profile (``jax.profiler.ProfilePlane``).
      exchanging: the names of the ops that are collectives.
      around: those of ops that do not count, as what is inside them does.
    """
    compute: defaultdict[int, list[_Span]] = defaultdict(list)
    collectives: defaultdict[tuple[Any, str], defaultdict[int, list[_Span]]]
    collectives = defaultdict(lambda: defaultdict(list))
    for device, op, launch, span in _ops(planes):
        if op in exchanging:
            collectives[launch, op][device].append(span)
        elif op not in around:
            compute[device].append(span)
    communication: defaultdict[int, list[_Span]] = defaultdict(list)
    waiting: defaultdict[int, list[_Span]] = defaultdict(list)
    for by_device in collectives.values():
        # A collective in a loop comes several times.
        for together in zip(*map(sorted, by_device.values()), strict=False):
            last = max(start for start, _ in together)
            for device, (start, end) in zip(by_device, together, strict=True):
                waiting[device].append((start, min(last, end)))
                communication[device].append((min(last, end), end))
    found: dict[int, DeviceTime] = {}
    for device in compute.keys() | communication.keys():
        computing = _length(compute[device])
        busy = _length([*compute[device], *communication[device]])
        all_in_all = _length([*compute[device], *communication[device], *waiting[device]])
        found[device] = DeviceTime(computing, busy - computing, all_in_all - busy)
    return found


def _ops(planes: Iterable[Any]) -> Iterator[tuple[int, str, Any, _Span]]:
    """Yields the device, name, launch, start and end in seconds of each op of XLA's."""
    for plane in planes:
        place = re.match(r"/device:\w+:(\d+)", plane.name)
        for line in plane.lines:
            for event in line.events:
                facts = dict(event.stats)
                device = facts.get("device_ordinal", None if place is None else int(place[1]))
                if "hlo_op" in facts and device is not None:
                    start = event.start_ns * 1e-9
                    yield device, str(facts["hlo_op"]), facts.get("run_id"), (start, start + event.duration_ns * 1e-9)


def _length(spans: Sequence[_Span]) -> float:
    """Returns how long at least one of them lasts."""
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total
