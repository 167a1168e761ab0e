"""The public array functions in one namespace, which ``graphc`` re-exports."""

# Type checkers follow "__all__ += module.__all__" only for modules that are imported in this way.
# ruff: noqa: F403  __all__ is static in the stub file beside each module of rows

from typing import TYPE_CHECKING

import graphc.compiler.ops.building as building
import graphc.compiler.ops.choosing as choosing
import graphc.compiler.ops.constants as constants
import graphc.compiler.ops.creation as creation
import graphc.compiler.ops.dtypes as dtypes
import graphc.compiler.ops.elementwise as elementwise
import graphc.compiler.ops.facts as facts
import graphc.compiler.ops.histograms as histograms
import graphc.compiler.ops.linear_algebra as linear_algebra
import graphc.compiler.ops.manipulation as manipulation
import graphc.compiler.ops.searching as searching
import graphc.compiler.ops.statistical as statistical
from graphc.compiler.base import lazy_names, names_of
from graphc.compiler.ops.conversion import asarray, clip, from_dlpack
from graphc.compiler.ops.indexing import get_item, update_item

if TYPE_CHECKING:
    from graphc.compiler.ops.building import *
    from graphc.compiler.ops.choosing import *
    from graphc.compiler.ops.constants import *
    from graphc.compiler.ops.creation import *
    from graphc.compiler.ops.dtypes import *
    from graphc.compiler.ops.elementwise import *
    from graphc.compiler.ops.facts import *
    from graphc.compiler.ops.histograms import *
    from graphc.compiler.ops.linear_algebra import *
    from graphc.compiler.ops.manipulation import *
    from graphc.compiler.ops.searching import *
    from graphc.compiler.ops.statistical import *

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
__all__ += searching.__all__
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
            searching,
            statistical,
        )
    ),
)
