"""Serves queries with several copies of a compiled function, from Python and over HTTP."""

from graphc.serve.answer import Answer
from graphc.serve.http import App, Offer, offer, offers, run
from graphc.serve.replicas import Replicas
from graphc.serve.stats import ReplicaStats, ServingStats

__all__ = ["Answer", "App", "Offer", "ReplicaStats", "Replicas", "ServingStats", "offer", "offers", "run"]
