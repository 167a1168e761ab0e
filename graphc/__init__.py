"""graphc: a graph compiler for Python on JAX. The public names; ``import graphc as gx``."""

from graphc.core import simulate_cpu_devices

simulate_cpu_devices()

from graphc.autograph import do_not_convert  # noqa: E402
from graphc.base import config, errors  # noqa: E402
from graphc.core import Tensor, Variable, wait_all  # noqa: E402
from graphc.function import TensorSpec, function, run_functions_eagerly  # noqa: E402
from graphc.gradients import GradientTape, custom_gradient, grad, value_and_grad  # noqa: E402
from graphc.ir import Graph  # noqa: E402
from graphc.ops import functions, linalg, nn, random  # noqa: E402
from graphc.ops.functions import *  # noqa: E402, F403

__version__ = "0.1.0"
