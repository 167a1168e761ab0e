"""Layer 14: the names of other libraries, as tables of aliases over graphc's functions.

``graphc.compat.v1`` and ``graphc.compat.v2`` are imported by themselves, since that sets TensorFlow's dtypes.
"""

from graphc.compat.tensorflow2 import use_instead

__all__ = ["use_instead"]
