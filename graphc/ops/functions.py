"""The public array functions in one namespace, which ``graphc`` re-exports."""

# Type checkers follow "__all__ += module.__all__" only for modules that are imported in this way.
# ruff: noqa: F403  __all__ is static in the stub file beside each module of rows

from typing import TYPE_CHECKING

import graphc.ops.building as building
import graphc.ops.choosing as choosing
import graphc.ops.constants as constants
import graphc.ops.creation as creation
import graphc.ops.dtypes as dtypes
import graphc.ops.elementwise as elementwise
import graphc.ops.facts as facts
import graphc.ops.histograms as histograms
import graphc.ops.linear_algebra as linear_algebra
import graphc.ops.manipulation as manipulation
import graphc.ops.polynomials as polynomials
import graphc.ops.searching as searching
import graphc.ops.sets as sets
import graphc.ops.signals as signals
import graphc.ops.sorting as sorting
import graphc.ops.statistical as statistical
from graphc.base import lazy_names, names_of
from graphc.ops.conversion import asarray, clip, from_dlpack
from graphc.ops.indexing import get_item, update_item

if TYPE_CHECKING:
    from graphc.ops.building import *
    from graphc.ops.choosing import *
    from graphc.ops.constants import *
    from graphc.ops.creation import *
    from graphc.ops.dtypes import *
    from graphc.ops.elementwise import *
    from graphc.ops.facts import *
    from graphc.ops.histograms import *
    from graphc.ops.linear_algebra import *
    from graphc.ops.manipulation import *
    from graphc.ops.polynomials import *
    from graphc.ops.searching import *
    from graphc.ops.sets import *
    from graphc.ops.signals import *
    from graphc.ops.sorting import *
    from graphc.ops.statistical import *

__all__: list[str] = ["asarray", "clip", "from_dlpack", "get_item", "update_item"]
__all__ += building.__all__
__all__ += choosing.__all__
__all__ += constants.__all__
__all__ += creation.__all__
__all__ += dtypes.__all__
__all__ += elementwise.__all__
__all__ += facts.__all__
__all__ += histograms.__all__
__all__ += linear_algebra.__all__
__all__ += manipulation.__all__
__all__ += polynomials.__all__
__all__ += searching.__all__
__all__ += sets.__all__
__all__ += signals.__all__
__all__ += sorting.__all__
__all__ += statistical.__all__

lazy_names(
    globals(),
    names_of(
        (
            building,
            choosing,
            constants,
            creation,
            dtypes,
            elementwise,
            facts,
            histograms,
            linear_algebra,
            manipulation,
            polynomials,
            searching,
            sets,
            signals,
            sorting,
            statistical,
        )
    ),
)
