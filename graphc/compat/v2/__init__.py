"""The names of TensorFlow 2 over graphc's functions: ``import graphc.compat.v2 as tf``.

Each name is a row of :mod:`graphc.compat.tensorflow2.tables`: TensorFlow's name, argument names and order, and the call
of graphc's functions that it stands for. The signatures are those of TensorFlow 2.21. ``name`` and what only steers
TensorFlow's own runtime are taken and have no effect.

Importing it sets the dtypes that TensorFlow has, for the whole process: there are 64-bit types, and numbers for which
no dtype is given have 32 bits (``gx.config.enable_x64``, ``gx.config.default_dtype_bits``), unless the environment has
``GRAPHC_ENABLE_X64=0``.
"""

from typing import TYPE_CHECKING, Any

from graphc.compat.tensorflow2 import missing, top_level
from graphc.compiler.base import config

config.set_tensorflows_dtypes()
config.set_tensorflows_text()

_TOP = top_level()
globals().update(_TOP)

__version__ = "2.21.0"
"""The version of TensorFlow that the signatures are those of."""

__all__ = sorted(_TOP)  # pyright: ignore[reportUnsupportedDunderAll]  the tables are data

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...

else:

    def __getattr__(name):  # noqa: ANN001, ANN202
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing(name)
