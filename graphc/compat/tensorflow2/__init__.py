"""What ``graphc.compat.v2`` is made of: the tables of names, and compositions that they name."""

from graphc.compat.tensorflow2.names import NAMES, missing, top_level, use_instead

__all__ = ["NAMES", "missing", "top_level", "use_instead"]
