"""``graphc scale``: one step of training on more and more devices."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, cast

import jax
import numpy as np
from rich import box
from rich.table import Table

from graphc.cli.target import load_target
from graphc.compiler.base import nest
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.compiler.core import Tensor
from graphc.compiler.devices import devices
from graphc.compiler.function import BoundFunction, Function, function
from graphc.compiler.runtime.costs import format_seconds
from graphc.training.distribute import DataParallel

_STEPS = 5  # whose results are compared
_LONGEST_SECONDS = 600.0
_SAME = 1e-4


@dataclass(frozen=True)
class Measurement:
    """A step on so many devices.

    Attributes:
      losses: the scalar results of the first steps.
      shared: whether the devices are simulated and share the cores of one processor.
    """

    devices: int
    seconds: float
    losses: list[float]
    shared: bool


@dataclass(frozen=True)
class Scaling:
    """Measurements of one step, the fewest devices first.

    Attributes:
      weak: whether the batch grew with the number of devices.
      measurements: one for each number of devices.
    """

    target: str
    weak: bool
    measurements: Sequence[Measurement]

    def efficiency(self, measurement: Measurement) -> float:
        """Returns the share of the perfect speed: 1 where n times the devices do n times the work in the same time."""
        first = self.measurements[0]
        grown = 1 if self.weak else measurement.devices / first.devices
        return first.seconds / (measurement.seconds * grown)

    def difference(self, measurement: Measurement) -> float:
        """The largest relative difference of a loss from the one on the fewest devices; 0 where there are none."""
        pairs = zip(self.measurements[0].losses, measurement.losses, strict=True)
        return max((abs(one - other) / max(abs(one), 1e-12) for one, other in pairs), default=0.0)

    @property
    def equal(self) -> bool | None:
        """True if the losses are the same for all numbers of devices, to a relative error of 1e-4; None without any."""
        if not self.measurements[0].losses:
            return None
        return all(self.difference(measurement) <= _SAME for measurement in self.measurements)

    @property
    def note(self) -> str:
        """Returns what there is to know about the times; empty for nothing."""
        first, last = self.measurements[0], self.measurements[-1]
        work = first.seconds if self.weak else first.seconds * first.devices / last.devices
        notes: list[str] = []
        if last.shared and last.devices > 1:
            notes.append(
                "The devices are simulated and share the cores of one processor, so more of them cannot be faster: "
                "look at the losses, and take the times on real devices."
            )
        elif last.seconds > 2 * work:
            notes.append(
                f"The step is too small for {last.devices} devices: {format_seconds(last.seconds - work)} of its "
                f"{format_seconds(last.seconds)} go into starting it and adding up gradients. Give it larger batches."
            )
        if self.equal is None:
            notes.append("There is no loss to compare: have the step return it, as a scalar tensor.")
        elif not self.equal:
            notes.append("The losses differ: the step does something else on several devices.")
        return " ".join(notes)

    def table(self) -> Table:
        """Returns a row for each number of devices."""
        scaling_table = Table(
            box=box.SIMPLE_HEAD, pad_edge=False, title=f"{self.target}, {'weak' if self.weak else 'strong'}"
        )
        for title in ("devices", "step", "efficiency", "last loss", "difference"):
            scaling_table.add_column(title, justify="right")
        for one in self.measurements:
            losses = (f"{one.losses[-1]:.6g}", f"{self.difference(one):.0e}") if one.losses else ("none", "none")
            scaling_table.add_row(str(one.devices), format_seconds(one.seconds), f"{self.efficiency(one):.0%}", *losses)
        return scaling_table

    def to_json(self) -> str:
        """All figures."""
        rows = [{**asdict(one), "efficiency": self.efficiency(one)} for one in self.measurements]
        figures = {"target": self.target, "weak": self.weak, "equal": self.equal, "measurements": rows}
        return json.dumps(figures, indent=2)


def scale(target: str, expression: str | None, counts: Sequence[int], *, weak: bool, rounds: int) -> Scaling:
    """Measures a step on several numbers of devices, each in a process of its own.

    The module is imported inside the scope of the devices, so its Variables are on all of them, and the arguments are
    split along their first axis.

    Args:
      target: ``FILE.py:FUNCTION`` or ``MODULE:FUNCTION``.
      expression: its arguments, as for ``graphc compare``.
      weak: whether each device gets the whole batch, so the work grows with the devices.
    """
    if not counts or min(counts) < 1:
        raise InvalidArgumentError(f"--devices takes numbers from 1, such as 1,2,4,8; got {list(counts)}")
    ordered = sorted(dict.fromkeys(counts))
    environment = {"GRAPHC_CPU_DEVICES": str(ordered[-1]), **os.environ}
    options = ["--rounds", str(rounds), *(["--weak"] if weak else []), *(["--args", expression] if expression else [])]
    measurements: list[Measurement] = []
    for count in ordered:
        command = [sys.executable, "-m", "graphc", "scale", target, "--measure", str(count), *options]
        child = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, timeout=_LONGEST_SECONDS
        )
        if child.returncode != 0:
            raise FailedPreconditionError(f"on {count} devices: {child.stderr.strip().removeprefix('graphc: ')}")
        measurements.append(Measurement(**json.loads(child.stdout.splitlines()[-1])))
    return Scaling(target, weak, measurements)


def measure(target: str, expression: str | None, count: int, *, weak: bool, rounds: int) -> Measurement:
    """Measures a step on so many devices of this process."""
    here = devices()
    if len(here) < count:
        raise InvalidArgumentError(
            f"{count} devices were asked for, but there are {len(here)}; GRAPHC_CPU_DEVICES={count} splits the CPU"
        )
    with ExitStack() as stack:
        parallel = DataParallel(here[:count])
        stack.enter_context(parallel.scope())
        loaded = load_target(target, expression)
        is_compiled = isinstance(loaded.function, Function | BoundFunction)
        step: Any = cast("Any", loaded.function) if is_compiled else function(loaded.function)
        lay_out = partial(_laid_out, parallel, count if weak else 1)
        args = [nest.map_structure(lay_out, arg) for arg in loaded.args]
        losses = [loss for _ in range(_STEPS) for loss in _scalars(step(*args))]
        seconds = [_timed(step, args) for _ in range(rounds)]
    shared = here[0].platform == "cpu" and count > 1
    return Measurement(count, statistics.median(seconds), losses, shared)


def _laid_out(parallel: DataParallel, times: int, leaf: Any) -> Any:
    if not getattr(leaf, "shape", ()):
        return leaf
    return parallel.shard(np.concatenate([np.asarray(leaf)] * times))


def _scalars(results: Any) -> list[float]:
    return [leaf.item() for leaf in nest.flatten(results)[0] if isinstance(leaf, Tensor) and leaf.shape == ()]


def _timed(step: Any, args: Sequence[Any]) -> float:
    begin = time.perf_counter()
    jax.block_until_ready([leaf.raw for leaf in nest.flatten(step(*args))[0] if isinstance(leaf, Tensor)])
    return time.perf_counter() - begin
