"""The public array functions in one namespace; ``graphc`` itself has the names of this module."""

# Type checkers follow "__all__ += module.__all__" only for modules that are imported in this way.
# ruff: noqa: F403  __all__ is static in the stub file beside each module of rows

from typing import TYPE_CHECKING

import graphc.ops.arranging as arranging
import graphc.ops.building as building
import graphc.ops.choosing as choosing
import graphc.ops.constants as constants
import graphc.ops.dtypes as dtypes
import graphc.ops.elementwise as elementwise
import graphc.ops.facts as facts
import graphc.ops.filling as filling
import graphc.ops.histograms as histograms
import graphc.ops.logic as logic
import graphc.ops.polynomials as polynomials
import graphc.ops.positions as positions
import graphc.ops.products as products
import graphc.ops.reduction as reduction
import graphc.ops.searching as searching
import graphc.ops.selecting as selecting
import graphc.ops.shapes as shapes
import graphc.ops.signals as signals
import graphc.ops.statistics as statistics
from graphc.base import lazy_names, names_of
from graphc.ops.conversion import asarray, clip, from_dlpack
from graphc.ops.indexing import get_item, update_item

if TYPE_CHECKING:
    from graphc.ops.arranging import *
    from graphc.ops.building import *
    from graphc.ops.choosing import *
    from graphc.ops.constants import *
    from graphc.ops.dtypes import *
    from graphc.ops.elementwise import *
    from graphc.ops.facts import *
    from graphc.ops.filling import *
    from graphc.ops.histograms import *
    from graphc.ops.logic import *
    from graphc.ops.polynomials import *
    from graphc.ops.positions import *
    from graphc.ops.products import *
    from graphc.ops.reduction import *
    from graphc.ops.searching import *
    from graphc.ops.selecting import *
    from graphc.ops.shapes import *
    from graphc.ops.signals import *
    from graphc.ops.statistics import *

__all__: list[str] = ["asarray", "clip", "from_dlpack", "get_item", "update_item"]
__all__ += arranging.__all__
__all__ += building.__all__
__all__ += choosing.__all__
__all__ += constants.__all__
__all__ += dtypes.__all__
__all__ += elementwise.__all__
__all__ += facts.__all__
__all__ += filling.__all__
__all__ += histograms.__all__
__all__ += logic.__all__
__all__ += polynomials.__all__
__all__ += positions.__all__
__all__ += products.__all__
__all__ += reduction.__all__
__all__ += searching.__all__
__all__ += selecting.__all__
__all__ += shapes.__all__
__all__ += signals.__all__
__all__ += statistics.__all__

lazy_names(
    globals(),
    names_of(
        (
            arranging,
            building,
            choosing,
            constants,
            dtypes,
            elementwise,
            facts,
            filling,
            histograms,
            logic,
            polynomials,
            positions,
            products,
            reduction,
            searching,
            selecting,
            shapes,
            signals,
            statistics,
        )
    ),
)
