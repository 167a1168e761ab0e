"""What TensorFlow has as one function and graphc as several: compositions that the tables name as ``own.NAME``."""

# ruff: noqa: F403  __all__ is made of those of the modules

import graphc.compat.tensorflow2.own.arrays as arrays
import graphc.compat.tensorflow2.own.draws as draws
import graphc.compat.tensorflow2.own.flow as flow
import graphc.compat.tensorflow2.own.images as images
import graphc.compat.tensorflow2.own.indices as indices
import graphc.compat.tensorflow2.own.matrices as matrices
import graphc.compat.tensorflow2.own.networks as networks
import graphc.compat.tensorflow2.own.numbers as numbers
import graphc.compat.tensorflow2.own.segments as segments
import graphc.compat.tensorflow2.own.signals as signals
import graphc.compat.tensorflow2.own.texts as texts
from graphc.compat.tensorflow2.own.arrays import *
from graphc.compat.tensorflow2.own.draws import *
from graphc.compat.tensorflow2.own.flow import *
from graphc.compat.tensorflow2.own.images import *
from graphc.compat.tensorflow2.own.indices import *
from graphc.compat.tensorflow2.own.matrices import *
from graphc.compat.tensorflow2.own.networks import *
from graphc.compat.tensorflow2.own.numbers import *
from graphc.compat.tensorflow2.own.segments import *
from graphc.compat.tensorflow2.own.signals import *
from graphc.compat.tensorflow2.own.texts import *

__all__: list[str] = []
__all__ += arrays.__all__
__all__ += draws.__all__
__all__ += flow.__all__
__all__ += images.__all__
__all__ += indices.__all__
__all__ += matrices.__all__
__all__ += networks.__all__
__all__ += numbers.__all__
__all__ += segments.__all__
__all__ += signals.__all__
__all__ += texts.__all__
