"""Layer 11: answers queries with several copies of a compiled function."""

from graphc.serve.answer import Answer
from graphc.serve.replicas import Replicas
from graphc.serve.stats import ReplicaStats, ServingStats

__all__ = ["Answer", "ReplicaStats", "Replicas", "ServingStats"]
