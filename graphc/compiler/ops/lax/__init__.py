"""The namespace ``lax``: the functions of ``jax.lax``, with the same names, arguments and strict dtype rules."""

# Type checkers follow "__all__ += module.__all__" only for modules that are imported in this way.
# ruff: noqa: F403  __all__ is static in the stub file beside each module of rows

from typing import TYPE_CHECKING

import graphc.compiler.ops.lax.arrays as arrays
import graphc.compiler.ops.lax.elementwise as elementwise
import graphc.compiler.ops.lax.sorting as sorting
from graphc.compiler.base import lazy_names, names_of

if TYPE_CHECKING:
    from graphc.compiler.ops.lax.arrays import *
    from graphc.compiler.ops.lax.elementwise import *
    from graphc.compiler.ops.lax.sorting import *

__all__: list[str] = []
__all__ += elementwise.__all__
__all__ += arrays.__all__
__all__ += sorting.__all__

lazy_names(globals(), names_of((elementwise, arrays, sorting)))
