"""What ``graphc.compat.v1`` is made of: the tables of names."""

from graphc.compat.tensorflow1.names import LIBRARY, NAMES

__all__ = ["LIBRARY", "NAMES"]
