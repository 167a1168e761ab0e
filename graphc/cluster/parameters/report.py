"""The report on a training with parameter servers, as an object, as JSON and as tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from graphc.cluster.parameters.ledger import FATES
from graphc.compiler.runtime.costs import PrintedReport, format_bytes, format_seconds, plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["ParameterReport", "ServerReport", "WorkerReport"]

_SLOW = 1.5


@dataclass(frozen=True)
class ServerReport:
    """The report on one server.

    Attributes:
      server: the server's task.
      version: the number of updates applied.
      bytes: the size of its values, without the optimizer's state.
      sent: the bytes that workers have pulled.
      received: the bytes that workers have pushed.
      repeats: the number of pushes that came again and were not applied again.
      staleness: the number of updates applied with each staleness.
      ledger: the counts of pushes and rows by worker and fate, such as ``{"worker": {"applied": 3, "applied_rows":
        96}}``.
    """

    server: str
    version: int
    bytes: int
    sent: int
    received: int
    repeats: int
    staleness: Mapping[int, int]
    ledger: Mapping[str, Mapping[str, int]]

    def count(self, fate: str) -> int:
        """Counts the pushes that were ``"applied"``, ``"dropped"``, ``"late"`` or ``"lost"``, or are ``"waiting"``."""
        return sum(row.get(fate, 0) for row in self.ledger.values())


@dataclass(frozen=True)
class WorkerReport:
    """The report on one worker.

    Attributes:
      worker: the worker's task.
      alive: whether it is assigned steps.
      steps: the number of steps it has done.
      seconds: the time of a step, as a moving average.
      slow: whether that time is more than one and a half times the median of the workers.
      failures: the number of times it was lost.
    """

    worker: str
    alive: bool
    steps: int
    seconds: float
    slow: bool
    failures: int


@dataclass(frozen=True)
class ParameterReport(PrintedReport):
    """The report on a training with parameter servers; see :meth:`ParameterServer.report`.

    Attributes:
      servers: the report on each server.
      workers: the report on each worker.
    """

    servers: tuple[ServerReport, ...]
    workers: tuple[WorkerReport, ...]

    @property
    def slow(self) -> list[str]:
        """The workers that are slow."""
        return [worker.worker for worker in self.workers if worker.slow]

    def to_dict(self) -> dict[str, Any]:
        """Returns everything in plain numbers, strings, lists and dicts."""
        return asdict(self)

    def to_json(self) -> str:
        """Returns :meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2)

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        histograms = [
            f"staleness at {server.server}: " + ", ".join(f"{key}: {count}" for key, count in server.staleness.items())
            for server in self.servers
            if server.staleness
        ]
        slow = [f"slow: {', '.join(self.slow)}"] if self.slow else []
        return Group(self._servers(), self._workers(), *map(Text, [*histograms, *slow]))

    def _servers(self) -> RenderableType:
        rows = [
            [
                server.server, str(server.version), format_bytes(server.bytes), format_bytes(server.sent),
                format_bytes(server.received), *[str(server.count(fate)) for fate in FATES[1:]], str(server.repeats),
            ]
            for server in self.servers
        ]  # fmt: skip
        return plain_table(["server", "version", "keeps", "pulled", "pushed", *FATES[1:], "repeats"], rows)

    def _workers(self) -> RenderableType:
        rows: list[list[str]] = []
        for worker in self.workers:
            fates = [
                max(server.ledger.get(worker.worker, {}).get(fate, 0) for server in self.servers) for fate in FATES
            ]
            state = "slow" if worker.slow else "" if worker.alive else "gone"
            seconds = format_seconds(worker.seconds) if worker.steps else "-"
            rows.append([worker.worker, str(worker.steps), seconds, *map(str, fates[1:]), str(worker.failures), state])
        return plain_table(["worker", "steps", "a step", *FATES[1:], "lost it", "state"], rows)

    def __repr__(self) -> str:
        return f"<ParameterReport of {len(self.servers)} servers and {len(self.workers)} workers>"


def is_slow(seconds: float, all_seconds: list[float]) -> bool:
    """Returns True if a time is far above the others."""
    median = sorted(all_seconds)[(len(all_seconds) - 1) // 2] if all_seconds else 0.0
    return len(all_seconds) > 1 and seconds > _SLOW * median
