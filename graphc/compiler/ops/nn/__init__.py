"""The namespace ``nn``: building blocks of neural networks."""

# Type checkers follow "__all__ += module.__all__" only for modules that are imported in this way.
# ruff: noqa: F403  __all__ is static in the stub file beside each module of rows

from typing import TYPE_CHECKING

import graphc.compiler.ops.nn.activations as activations
import graphc.compiler.ops.nn.attention as attention
import graphc.compiler.ops.nn.convolution as convolution
import graphc.compiler.ops.nn.normalisation as normalisation
import graphc.compiler.ops.nn.pooling as pooling
from graphc.compiler.base import hint_missing, lazy_names, names_of

if TYPE_CHECKING:
    from graphc.compiler.ops.nn.activations import *
    from graphc.compiler.ops.nn.attention import *
    from graphc.compiler.ops.nn.convolution import *
    from graphc.compiler.ops.nn.normalisation import *
    from graphc.compiler.ops.nn.pooling import *

__all__: list[str] = []
__all__ += activations.__all__
__all__ += attention.__all__
__all__ += convolution.__all__
__all__ += normalisation.__all__
__all__ += pooling.__all__

lazy_names(globals(), names_of((activations, attention, convolution, normalisation, pooling)))

hint_missing(globals(), "gx.nn")
