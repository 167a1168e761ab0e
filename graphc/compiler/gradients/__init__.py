"""Gradient tapes, derivatives of functions, and custom gradients."""

from graphc.compiler.gradients.custom import custom_gradient
from graphc.compiler.gradients.forward import ForwardAccumulator, jvp, linearize
from graphc.compiler.gradients.jacobians import grad, hessian, jacfwd, jacobian, jacrev, value_and_grad
from graphc.compiler.gradients.tape import GradientTape

__all__ = [
    "ForwardAccumulator", "GradientTape", "custom_gradient", "grad", "hessian", "jacfwd", "jacobian", "jacrev", "jvp",
    "linearize", "value_and_grad",
]  # fmt: skip
