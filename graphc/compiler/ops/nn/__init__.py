"""The namespace ``nn``: building blocks of neural networks."""

# Type checkers follow "__all__ += module.__all__" only for modules that are imported in this way.
# ruff: noqa: F403  __all__ is static in the stub file beside each module of rows

from typing import TYPE_CHECKING

import graphc.compiler.ops.nn.functions as functions
from graphc.compiler.base import hint_missing, lazy_names, names_of

if TYPE_CHECKING:
    from graphc.compiler.ops.nn.functions import *

__all__: list[str] = []
__all__ += functions.__all__

lazy_names(globals(), names_of((functions,)))

hint_missing(globals(), "gx.nn")
