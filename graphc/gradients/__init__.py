"""Layer 7: gradient tapes, derivatives of functions, and custom gradients."""

from graphc.gradients.custom import custom_gradient
from graphc.gradients.forward import ForwardAccumulator, jvp, linearize
from graphc.gradients.functional import grad, value_and_grad
from graphc.gradients.jacobians import hessian, jacfwd, jacobian, jacrev
from graphc.gradients.tape import GradientTape

__all__ = [
    "ForwardAccumulator",
    "GradientTape",
    "custom_gradient",
    "grad",
    "hessian",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linearize",
    "value_and_grad",
]
