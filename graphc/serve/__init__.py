"""Serves queries with several copies of a compiled function, from Python and over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphc.serve import http
from graphc.serve.batching import Answer
from graphc.serve.http import Offer, offer, offers
from graphc.serve.replicas import Replicas
from graphc.serve.stats import ReplicaStats, ServingStats

if TYPE_CHECKING:
    from graphc.serve.http import App, run

__all__ = ["Answer", "App", "Offer", "ReplicaStats", "Replicas", "ServingStats", "offer", "offers", "run"]


def __getattr__(name: str) -> Any:
    if name in ("App", "run"):  # imported at their first use
        return getattr(http, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
