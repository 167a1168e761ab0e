"""Layer 7: array functions that are made of others, with TensorFlow's and JAX's names (``gx.arrays``)."""

# ruff: noqa: F403  __all__ is made of those of the modules

import graphc.arrays.draws as draws
import graphc.arrays.frames as frames
import graphc.arrays.gathering as gathering
import graphc.arrays.images as images
import graphc.arrays.making as making
import graphc.arrays.matrices as matrices
import graphc.arrays.networks as networks
import graphc.arrays.numbers as numbers
import graphc.arrays.segments as segments
from graphc.arrays.draws import *
from graphc.arrays.frames import *
from graphc.arrays.gathering import *
from graphc.arrays.images import *
from graphc.arrays.known import known_sizes, known_values
from graphc.arrays.making import *
from graphc.arrays.matrices import *
from graphc.arrays.networks import *
from graphc.arrays.numbers import *
from graphc.arrays.segments import *

__all__: list[str] = ["known_sizes", "known_values"]
__all__ += draws.__all__
__all__ += frames.__all__
__all__ += gathering.__all__
__all__ += images.__all__
__all__ += making.__all__
__all__ += matrices.__all__
__all__ += networks.__all__
__all__ += numbers.__all__
__all__ += segments.__all__
