"""Layer 5: what runs beside each other: threads, and calls that are given to them."""

from graphc.runtime.pool import inter_op_pool

__all__ = ["inter_op_pool"]
