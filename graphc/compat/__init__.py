"""Layer 9: the names of other libraries, as tables of aliases over graphc's functions."""

from graphc.compat import v2
from graphc.compat.v2.names import use_instead

__all__ = ["use_instead", "v2"]
