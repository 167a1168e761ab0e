"""Metrics: the counts and measurements of an application, in Prometheus's text format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from graphc.serve.stats import ServingStats

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

_COUNTERS = {
    "answered": "Queries that got their results.",
    "failed": "Queries that got an error of their own.",
    "refused": "Queries that found the queue full.",
    "expired": "Queries that missed their deadline.",
    "cancelled": "Queries that were cancelled.",
    "padded": "Rows added to fill batches up to a compiled size.",
}
_OF_REPLICAS = (
    (CounterMetricFamily, "rows", "Rows that a replica answered."),
    (CounterMetricFamily, "batches", "Batches that a replica answered."),
    (CounterMetricFamily, "failures", "Batches that failed."),
    (GaugeMetricFamily, "left_out", "1 if a replica gets no batches."),
)


class Metrics:
    """Counts requests, and reports these counts and those of replicas."""

    def __init__(self, stats: Callable[[], Mapping[str, ServingStats]], is_ready: Callable[[], bool]) -> None:
        self._stats, self._is_ready = stats, is_ready
        self.registry = CollectorRegistry()
        labels = ("function", "status")
        self._requests = Counter("graphc_requests", "Requests by status code.", labels, registry=self.registry)
        self._seconds = Histogram(
            "graphc_request_seconds", "Seconds from the head of a request to its answer.", ("function",),
            buckets=_BUCKETS, registry=self.registry,
        )  # fmt: skip
        self.registry.register(self)

    def observe(self, function: str, status: int, seconds: float) -> None:
        """Counts a request to a function."""
        self._requests.labels(function, str(status)).inc()
        self._seconds.labels(function).observe(seconds)

    def describe(self) -> Iterable[Metric]:
        """Returns nothing: the registry calls this before there are statistics."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yields the statistics of the replicas; called by the registry."""
        by_name = self._stats()
        yield GaugeMetricFamily("graphc_ready", "1 if queries are answered without compiling.", float(self._is_ready()))
        for field, text in _COUNTERS.items():
            family = CounterMetricFamily(f"graphc_queries_{field}", text, labels=["function"])
            for name, stats in by_name.items():
                family.add_metric([name], getattr(stats, field))
            yield family
        waiting = GaugeMetricFamily("graphc_waiting_rows", "Rows that wait for a device.", labels=["function"])
        latency = GaugeMetricFamily(
            "graphc_query_seconds", "Quantiles of the seconds of the last 10,000 queries.",
            labels=["function", "quantile"],
        )  # fmt: skip
        for name, stats in by_name.items():
            waiting.add_metric([name], stats.waiting)
            for quantile, seconds in zip(("0.5", "0.9", "0.99"), stats.latencies or (), strict=False):
                latency.add_metric([name, quantile], seconds)
        yield from (waiting, latency)
        for kind, field, text in _OF_REPLICAS:
            family = kind(f"graphc_replica_{field}", text, labels=["function", "replica", "device"])
            for name, stats in by_name.items():
                for index, replica in enumerate(stats.replicas):
                    family.add_metric([name, str(index), replica.device], float(getattr(replica, field)))
            yield family
