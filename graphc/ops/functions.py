"""The public array functions in one namespace; ``graphc`` itself has the names of this module."""

# Type checkers follow "__all__ += module.__all__" only for modules that are imported in this way.
# ruff: noqa: F403  __all__ is static in the stub file beside each module of rows

import graphc.ops.elementwise as elementwise
import graphc.ops.filling as filling
import graphc.ops.logic as logic
import graphc.ops.products as products
import graphc.ops.reduction as reduction
import graphc.ops.searching as searching
import graphc.ops.shape as shape
from graphc.ops.conversion import asarray, clip
from graphc.ops.elementwise import *
from graphc.ops.filling import *
from graphc.ops.indexing import get_item, update_item
from graphc.ops.logic import *
from graphc.ops.products import *
from graphc.ops.reduction import *
from graphc.ops.searching import *
from graphc.ops.shape import *

__all__: list[str] = ["asarray", "clip", "get_item", "update_item"]
__all__ += elementwise.__all__
__all__ += filling.__all__
__all__ += logic.__all__
__all__ += products.__all__
__all__ += reduction.__all__
__all__ += searching.__all__
__all__ += shape.__all__
