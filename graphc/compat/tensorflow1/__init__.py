"""The implementation of ``graphc.compat.v1``: the tables of names."""

from graphc.compat.tensorflow1.names import LIBRARY, NAMES

__all__ = ["LIBRARY", "NAMES"]
