"""Layer 5: gradient tapes, gradients of functions, custom gradients."""

from graphc.gradients.custom import custom_gradient
from graphc.gradients.functional import grad, value_and_grad
from graphc.gradients.tape import GradientTape

__all__ = ["GradientTape", "custom_gradient", "grad", "value_and_grad"]
