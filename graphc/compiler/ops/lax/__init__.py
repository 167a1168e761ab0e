"""The namespace ``lax``: the functions of ``jax.lax``, with the same names, arguments and strict dtype rules."""

# Type checkers follow "__all__ += module.__all__" only for modules that are imported in this way.
# ruff: noqa: F403  __all__ is static in the stub file beside each module of rows

from typing import TYPE_CHECKING

import graphc.compiler.ops.lax.elementwise as elementwise
import graphc.compiler.ops.lax.products as products
import graphc.compiler.ops.lax.reducing as reducing
import graphc.compiler.ops.lax.shaping as shaping
import graphc.compiler.ops.lax.slicing as slicing
import graphc.compiler.ops.lax.sorting as sorting
from graphc.compiler.base import lazy_names, names_of

if TYPE_CHECKING:
    from graphc.compiler.ops.lax.elementwise import *
    from graphc.compiler.ops.lax.products import *
    from graphc.compiler.ops.lax.reducing import *
    from graphc.compiler.ops.lax.shaping import *
    from graphc.compiler.ops.lax.slicing import *
    from graphc.compiler.ops.lax.sorting import *

__all__: list[str] = []
__all__ += elementwise.__all__
__all__ += products.__all__
__all__ += reducing.__all__
__all__ += shaping.__all__
__all__ += slicing.__all__
__all__ += sorting.__all__

lazy_names(globals(), names_of((elementwise, products, reducing, shaping, slicing, sorting)))
