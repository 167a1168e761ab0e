"""The shared thread pool of this process: calls of ``gx.submit``, and steps of graphs."""

from __future__ import annotations

import os

from graphc.compiler.base import Pool, config

__all__ = ["inter_op_pool"]


def _limit() -> int:
    return config.inter_op_threads or os.cpu_count() or 1


inter_op_pool = Pool("graphc.pool", _limit)
"""The pool, with at most ``gx.config.inter_op_threads`` threads."""
