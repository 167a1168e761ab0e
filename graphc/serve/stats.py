"""Statistics of replicas: counts, latencies, and the state of each replica."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from graphc.compiler.runtime.costs import PrintedReport, format_seconds

if TYPE_CHECKING:
    from rich.console import RenderableType

_KEPT_LATENCIES = 10_000


@dataclass
class Counts:
    """Counts of requests by outcome."""

    answered: int = 0
    failed: int = 0
    refused: int = 0
    expired: int = 0
    cancelled: int = 0
    padded: int = 0
    latencies: deque[float] = field(default_factory=lambda: deque[float](maxlen=_KEPT_LATENCIES))


@dataclass(frozen=True)
class ReplicaStats:
    """The statistics of one replica.

    Attributes:
      device: its device.
      batches: the number of batches that it answered.
      rows: the number of rows in them.
      failures: the number of batches that failed there.
      left_out: whether it gets no more batches.
    """

    device: str
    batches: int
    rows: int
    failures: int
    left_out: bool


@dataclass(frozen=True)
class ServingStats(PrintedReport):
    """The statistics of :class:`Replicas` so far; made by its ``stats``.

    Attributes:
      function: the name of the served function.
      answered: the number of requests that got their results.
      failed: the number of requests that got an error of their own.
      refused: the number of requests that found the queue full.
      expired: the number of requests that missed their deadline.
      cancelled: the number of requests that were cancelled.
      waiting: the number of rows that wait now.
      padded: the number of rows added to fill batches up to a compiled size.
      latencies: the 50th, 90th and 99th percentiles of the seconds from request to result, over the last 10,000.
      replicas: the statistics of each replica.
    """

    function: str
    answered: int
    failed: int
    refused: int
    expired: int
    cancelled: int
    waiting: int
    padded: int
    latencies: tuple[float, float, float] | None
    replicas: tuple[ReplicaStats, ...]

    @classmethod
    def of(cls, function: str, counts: Counts, waiting: int, replicas: Sequence[ReplicaStats]) -> ServingStats:
        """Builds the statistics from the counts."""
        percentiles = np.percentile(counts.latencies, [50, 90, 99]).tolist() if counts.latencies else None
        return cls(
            function, counts.answered, counts.failed, counts.refused, counts.expired, counts.cancelled, waiting,
            counts.padded, None if percentiles is None else (percentiles[0], percentiles[1], percentiles[2]),
            tuple(replicas),
        )  # fmt: skip

    @property
    def batches(self) -> int:
        """The number of batches answered."""
        return sum(replica.batches for replica in self.replicas)

    @property
    def rows(self) -> int:
        """The number of rows answered."""
        return sum(replica.rows for replica in self.replicas)

    def to_dict(self) -> dict[str, Any]:
        """Returns everything in plain numbers, strings, lists and dicts."""
        return {**asdict(self), "batches": self.batches, "rows": self.rows}

    _width = 100

    def __rich__(self) -> RenderableType:
        from rich import box
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in ("replica", "batches", "rows", "failures", ""):
            table.add_column(name, justify="left" if name in ("replica", "") else "right")
        for each in self.replicas:
            texts = "left out" if each.left_out else ""
            table.add_row(each.device, str(each.batches), str(each.rows), str(each.failures), texts)
        counts = ("answered", "failed", "refused", "expired", "cancelled")
        shown = [name for name in counts if getattr(self, name) or name == "answered"]
        texts = [", ".join(f"{getattr(self, name)} {name}" for name in shown)]
        if self.batches:
            texts.append(
                f"{self.rows / self.batches:.1f} rows a batch, and {self.padded / self.batches:.1f} of padding"
            )
        if self.latencies is not None:
            p50, p90, p99 = map(format_seconds, self.latencies)
            texts.append(f"latency: {p50} (median), {p90} (90 %), {p99} (99 %)")
        return Group(Text(f"replicas of {self.function}", style="bold"), table, *map(Text, texts))
