"""Metrics: the counts and measurements of an application, in Prometheus's text format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from graphc.compiler.base.errors import FailedPreconditionError
from graphc.serve.stats import ServingStats

if TYPE_CHECKING:
    from prometheus_client.core import Metric

__all__ = ["KIND", "Metrics"]

KIND = "text/plain; version=0.0.4; charset=utf-8"

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

_COUNTERS = {
    "answered": "Queries that got their results.",
    "failed": "Queries that got an error of their own.",
    "refused": "Queries that found the queue full.",
    "expired": "Queries that missed their deadline.",
    "cancelled": "Queries that were cancelled.",
    "padded": "Rows added to fill batches up to a compiled size.",
}


class Metrics:
    """Counts requests, and reports these counts and those of replicas.

    Args:
      stats: a function that returns the statistics of each function by name.
      is_ready: a function that says whether queries are answered without compiling.

    Raises:
      FailedPreconditionError: prometheus-client is not installed.
    """

    def __init__(self, stats: Callable[[], Mapping[str, ServingStats]], is_ready: Callable[[], bool]) -> None:
        try:
            from prometheus_client import CollectorRegistry, Counter, Histogram
        except ImportError:
            text = "gx.serve.App needs prometheus-client: pip install 'graphc[serve]'"
            raise FailedPreconditionError(text) from None
        self._stats, self._is_ready = stats, is_ready
        self._registry = CollectorRegistry()
        labels = ("function", "status")
        self._requests = Counter("graphc_requests", "Requests by status code.", labels, registry=self._registry)
        self._seconds = Histogram(
            "graphc_request_seconds", "Seconds from the head of a request to its answer.", ("function",),
            buckets=_BUCKETS, registry=self._registry,
        )  # fmt: skip
        self._registry.register(self)

    def observe(self, function: str, status: int, seconds: float) -> None:
        """Counts a request to a function."""
        self._requests.labels(function, str(status)).inc()
        self._seconds.labels(function).observe(seconds)

    def text(self) -> bytes:
        """Returns everything in the text format."""
        from prometheus_client import generate_latest

        return generate_latest(self._registry)

    def describe(self) -> Iterable[Metric]:
        """Returns nothing: the registry calls this before there are statistics."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yields the statistics of the replicas; called by the registry."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        found = self._stats()
        yield GaugeMetricFamily("graphc_ready", "1 if queries are answered without compiling.", float(self._is_ready()))
        for field, text in _COUNTERS.items():
            family = CounterMetricFamily(f"graphc_queries_{field}", text, labels=["function"])
            for name, stats in found.items():
                family.add_metric([name], getattr(stats, field))
            yield family
        waiting = GaugeMetricFamily("graphc_waiting_rows", "Rows that wait for a device.", labels=["function"])
        latency = GaugeMetricFamily(
            "graphc_query_seconds", "Quantiles of the seconds of the last 10,000 queries.",
            labels=["function", "quantile"],
        )  # fmt: skip
        of_replicas = ["function", "replica", "device"]
        rows = CounterMetricFamily("graphc_replica_rows", "Rows that a replica answered.", labels=of_replicas)
        batches = CounterMetricFamily("graphc_replica_batches", "Batches that a replica answered.", labels=of_replicas)
        failures = CounterMetricFamily("graphc_replica_failures", "Batches that failed.", labels=of_replicas)
        out = GaugeMetricFamily("graphc_replica_left_out", "1 if a replica gets no batches.", labels=of_replicas)
        for name, stats in found.items():
            waiting.add_metric([name], stats.waiting)
            for quantile, seconds in zip(("0.5", "0.9", "0.99"), stats.latencies or (), strict=False):
                latency.add_metric([name, quantile], seconds)
            for place, replica in enumerate(stats.replicas):
                labels = [name, str(place), replica.device]
                rows.add_metric(labels, replica.rows)
                batches.add_metric(labels, replica.batches)
                failures.add_metric(labels, replica.failures)
                out.add_metric(labels, float(replica.left_out))
        yield from (waiting, latency, rows, batches, failures, out)
