"""Layer 7: input pipelines: sources, transformations, and the processes that serve them."""

from graphc.data import sources

__all__ = ["sources"]
