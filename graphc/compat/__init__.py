"""Layer 9: the names of other libraries, as tables of aliases over graphc's functions.

``graphc.compat.v2`` is imported by itself, since that sets TensorFlow's dtypes.
"""

from graphc.compat.tensorflow2 import use_instead

__all__ = ["use_instead"]
