"""Array functions that are made of others, with TensorFlow's and JAX's names (``gx.arrays``)."""

# ruff: noqa: F403  __all__ is made of those of the modules

import graphc.library.arrays.gathering as gathering
import graphc.library.arrays.images as images
import graphc.library.arrays.making as making
import graphc.library.arrays.matrices as matrices
import graphc.library.arrays.networks as networks
import graphc.library.arrays.numbers as numbers
import graphc.library.arrays.segments as segments
from graphc.library.arrays.gathering import *
from graphc.library.arrays.gathering import known_sizes, known_values
from graphc.library.arrays.images import *
from graphc.library.arrays.making import *
from graphc.library.arrays.matrices import *
from graphc.library.arrays.networks import *
from graphc.library.arrays.numbers import *
from graphc.library.arrays.segments import *

__all__: list[str] = ["known_sizes", "known_values"]
__all__ += gathering.__all__
__all__ += images.__all__
__all__ += making.__all__
__all__ += matrices.__all__
__all__ += networks.__all__
__all__ += numbers.__all__
__all__ += segments.__all__
