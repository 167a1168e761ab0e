"""How a workload is measured: its first call, its calls in turns, its memory and its loops."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Row, arrays, batch, measure
from benchmarks.workloads.workload import Side, Workload, expert_side, graphc_side

__all__ = ["BARS", "Measured", "check", "measured"]

BARS = {"run": 1.15, "first": 1.5, "memory": 1.5}
"""What the ratios must not exceed."""
_SMALL_MEMORY = 64 * 1024
"""Bytes below which a program's memory is not compared."""
_SECONDS = 1.0
"""For the samples of a side, at most."""
_SAMPLE = 1e-3
"""Seconds that a sample takes at least."""


@dataclass
class Measured:
    """What was found of a workload.

    Attributes:
      name: of the workload.
      run: the ratio of the medians of the run times.
      spread: the quartiles of the ratios of the single rounds.
      seconds: the median run times, graphc's and the expert's.
      first: processor time of the first call less that of a warm one, in seconds, graphc's and the expert's; None for
        eager rows.
      memory: temporaries and outputs less aliased, in bytes; None for eager rows.
      loops: how many loops the programs have, inner ones included.
      unrolled: why graphc unrolled loops, one reason for each.
      failure: what went wrong, if it did.
    """

    name: str
    run: float | None = None
    spread: tuple[float, float] | None = None
    seconds: tuple[float, float] | None = None
    first: tuple[float, float] | None = None
    memory: tuple[int, int] | None = None
    loops: tuple[int, int] | None = None
    unrolled: tuple[str, ...] = ()
    failure: str = ""

    @property
    def ratios(self) -> dict[str, float | None]:
        """Returns the ratios by the names of their bars; None for what was not measured or is too small to compare."""
        first = self.first[0] / max(self.first[1], 1e-3) if self.first else None
        memory = None
        if self.memory:
            memory = 1.0 if max(self.memory) < _SMALL_MEMORY else self.memory[0] / max(self.memory[1], _SMALL_MEMORY)
        return {"run": self.run, "first": first, "memory": memory}

    @property
    def is_rolled(self) -> bool:
        """Returns True if graphc has a loop wherever the expert has one."""
        return not self.loops or not self.unrolled or self.loops[0] >= self.loops[1]

    @property
    def missed(self) -> list[str]:
        """Returns what does not hold its bar."""
        over = [name for name, ratio in self.ratios.items() if ratio is not None and ratio > BARS[name]]
        return [*over, *(["loops"] if not self.is_rolled else []), *([self.failure] if self.failure else [])]

    def as_json(self) -> dict[str, Any]:
        """Returns all of it, the ratios included."""
        return {**asdict(self), "ratios": self.ratios, "rolled": self.is_rolled, "missed": self.missed}


def check(workload: Workload, ours: Side, expert: Side) -> None:
    """Compares the results of two calls of each side: values, and gradients where the workload has them.

    Raises:
      AssertionError: they differ.
    """
    for _ in range(2):  # a step that updates state gives something else the second time
        for one, other in zip(arrays(ours.call()), arrays(expert.call()), strict=True):
            one, other = np.asarray(one), np.asarray(other)
            scale = workload.tolerance * max(1.0, float(np.max(np.abs(other), initial=0.0)) if other.size else 1.0)
            np.testing.assert_allclose(one, other, rtol=workload.tolerance, atol=scale, err_msg=workload.name)


def measured(workload: Workload, rounds: int, *, quick: bool = False) -> Iterator[Measured]:
    """Measures a workload; yields what is known after each step, so that one that fails leaves the others' results."""
    found = Measured(workload.name)
    given = workload.draw(workload.tiny if quick else workload.size)
    _warm_up()
    expert, theirs = _first_call(lambda: expert_side(workload, given))
    ours, mine = _first_call(lambda: graphc_side(workload, given))
    if not workload.eager:
        found.first = mine, theirs
    yield found
    check(workload, ours, expert)  # both have been called as often, so that steps have updated their state as often
    _time(workload, ours, expert, found, rounds)
    yield found
    if not workload.eager:
        _inspect(workload, given, ours, found)
        yield found


def _warm_up() -> None:
    """Imports what both sides need, and compiles a small program on each."""
    x = np.ones((3, 5), np.float32)

    def loop(x: Any) -> Any:
        for _ in range(7):
            x = gx.tanh(x) * 0.5
        while gx.sum(x) > 1.0:
            x = x * 0.5
        return gx.sum(x)

    def by_hand(x: Any) -> Any:
        x = jax.lax.scan(lambda x, _: (jnp.tanh(x) * 0.5, None), x, None, length=7)[0]
        return jnp.sum(x)

    gx.function(gx.grad(loop))(gx.asarray(x)).wait()
    jax.jit(jax.grad(by_hand))(jnp.asarray(x)).block_until_ready()


def _first_call(make: Any) -> tuple[Side, float]:
    """Returns a side that has been called, and the processor time of its first call less that of a warm one."""
    jax.clear_caches()
    gc.collect()
    side = make()
    times = [_processor_time(side) for _ in range(3)]
    return side, times[0] - min(times[1:])


def _processor_time(side: Side) -> float:
    start = time.process_time()
    jax.block_until_ready(arrays(side.call()))
    return time.process_time() - start


def _time(workload: Workload, ours: Side, expert: Side, found: Measured, rounds: int) -> None:
    """Times the calls of both sides in turns."""
    slowest = max(_seconds(ours), _seconds(expert))
    calls = max(1, round(_SAMPLE / slowest))
    rounds = max(2, min(rounds, int(_SECONDS / (slowest * calls))))

    def prepare(_: bool) -> Duel:
        sides = [
            Contender(label, batch(side.call, (), calls), calls)
            for label, side in (("graphc", ours), ("the expert", expert))
        ]
        return Duel(*sides, lambda: ())

    result = measure(Row(workload.name, workload.name, BARS["run"], prepare), rounds)
    found.run, found.spread = result.ratio, result.spread
    found.seconds = statistics.median(result.measured), statistics.median(result.baseline)


def _seconds(side: Side) -> float:
    start = time.perf_counter()
    jax.block_until_ready(arrays(side.call()))
    return time.perf_counter() - start


def _inspect(workload: Workload, given: Sequence[Any], ours: Side, found: Measured) -> None:
    """Looks into both programs."""
    explained = gx.explain(ours.function, *ours.arguments)
    found.unrolled = tuple(loop.reason for loop in explained.loops if loop.kind == "unrolled")
    expert = expert_side(workload, given)
    traced = expert.function.trace(*expert.arguments)  # type: ignore[attr-defined]
    found.loops = _loops_of_graph(explained.graph), _loops_of_jaxpr(traced.jaxpr.jaxpr)
    needs = traced.lower().compile().memory_analysis()
    if explained.memory is not None and needs is not None:
        memory = explained.memory
        found.memory = (
            memory.temporaries + memory.outputs - memory.aliased,
            needs.temp_size_in_bytes + needs.output_size_in_bytes - needs.alias_size_in_bytes,
        )


def _loops_of_graph(graph: Any) -> int:
    return sum((node.op.name in ("scan", "while")) + sum(map(_loops_of_graph, node.regions)) for node in graph.nodes)


def _loops_of_jaxpr(jaxpr: Any) -> int:
    count = 0
    for equation in jaxpr.eqns:
        count += equation.primitive.name in ("scan", "while")
        for value in equation.params.values():
            for part in value if isinstance(value, list | tuple) else (value,):
                part = getattr(part, "jaxpr", part)
                count += _loops_of_jaxpr(part) if hasattr(part, "eqns") else 0
    return count
