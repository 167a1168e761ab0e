"""Process-wide settings, read once from the environment and changed through ``gx.config``."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

__all__ = ["Config", "config"]


def _flag(name: str) -> bool:
    return os.environ.get(name, "").lower() in {"1", "true", "yes", "on"}


def _number(name: str, default: int) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdigit() else default


@dataclass
class Config:
    """graphc's settings.

    Attributes:
      verify: check every graph before and after each pass (``GRAPHC_VERIFY``).
      max_traces: how many traces a compiled function keeps before it drops the one unused longest.
      max_unrolled_nodes: how many nodes an unrolled loop may add to a graph before it is refused.
      max_in_flight: how many data-parallel programs may run at once on simulated CPU devices; XLA's collectives
        deadlock there when many do (``GRAPHC_MAX_IN_FLIGHT``).
      warn_retraces: at which retrace of a function a warning is given first.
      full_traceback: whether the tracebacks of errors show graphc's own frames too, and its functions made of branches
        and loop bodies (``GRAPHC_FULL_TRACEBACK``).

    Example:
      >>> config.max_traces
      64
    """

    verify: bool = field(default_factory=lambda: _flag("GRAPHC_VERIFY"))
    max_traces: int = 64
    max_unrolled_nodes: int = 100_000
    max_in_flight: int = field(default_factory=lambda: _number("GRAPHC_MAX_IN_FLIGHT", 1))
    warn_retraces: int = 3
    full_traceback: bool = field(default_factory=lambda: _flag("GRAPHC_FULL_TRACEBACK"))


config = Config()
