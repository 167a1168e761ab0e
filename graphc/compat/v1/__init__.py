"""The names of TensorFlow 1 over graphc's functions: ``import graphc.compat.v1 as tf``.

Each name is a row of :mod:`graphc.compat.tensorflow1.tables`: TensorFlow's name, argument names and order, and the call
of graphc's functions that it stands for. The signatures are those of ``tf.compat.v1`` of TensorFlow 2.21.

Importing it sets the dtypes that TensorFlow has, for the whole process, as an import of ``graphc.compat.v2`` does.
"""

from typing import TYPE_CHECKING, Any

from graphc.compat.tensorflow1 import LIBRARY
from graphc.compiler.base import config

config.set_tensorflows_dtypes()

_TOP = LIBRARY.top_level()
globals().update(_TOP)

__all__ = sorted(_TOP)  # pyright: ignore[reportUnsupportedDunderAll]  the tables are data

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...

else:

    def __getattr__(name):  # noqa: ANN001, ANN202
        if name.startswith("__"):
            raise AttributeError(name)
        return globals().setdefault(name, LIBRARY.found_later(name))
