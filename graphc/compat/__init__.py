"""The names of other libraries, as tables of aliases over graphc's functions.

``graphc.compat.v1`` and ``graphc.compat.v2`` are imported by themselves, since that sets TensorFlow's dtypes.
"""

from typing import TYPE_CHECKING

from graphc.compat.tensorflow2 import use_instead

if TYPE_CHECKING:
    from graphc.compat import testing

__all__ = ["testing", "use_instead"]
