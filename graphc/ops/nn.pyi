"""Rows of the namespace ``nn``: activations, softmax and what neural networks are made of.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Axis, DType

__all__ = [
    "celu",
    "dot_product_attention",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_tanh",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "logsumexp",
    "mish",
    "one_hot",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "standardize",
    "swish",
    "tanh",
]

def celu(x: ArrayLike, alpha: float = 1.0) -> Tensor:
    """The number above zero, alpha * (exp(x / alpha) - 1) below.

    Args:
      x: a tensor, or what becomes one.
      alpha: a number. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.celu``.
    """

def dot_product_attention(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, scale: float | None = None, is_causal: bool = False
) -> Tensor:
    """softmax(query @ key.T * scale) @ value for tensors of axes (batch, time, head, feature).

    Args:
      query: a tensor, or what becomes one.
      key: a tensor, or what becomes one.
      value: a tensor, or what becomes one.
      scale: a number, or None. Static.
      is_causal: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.dot_product_attention``.
    """

def elu(x: ArrayLike, alpha: float = 1.0) -> Tensor:
    """The number above zero, alpha * (exp(x) - 1) below.

    Args:
      x: a tensor, or what becomes one.
      alpha: a number. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.elu``.
    """

def gelu(x: ArrayLike, approximate: bool = True) -> Tensor:
    """The number times the normal distribution function of x; approximate takes the formula with tanh.

    Args:
      x: a tensor, or what becomes one.
      approximate: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.gelu``.
    """

def glu(x: ArrayLike, axis: int = -1) -> Tensor:
    """One half along axis times the sigmoid of the other.

    Args:
      x: a tensor, or what becomes one.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.glu``.
    """

def hard_sigmoid(x: ArrayLike) -> Tensor:
    """min(max(x + 3, 0), 6) / 6.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.hard_sigmoid``.
    """

def hard_tanh(x: ArrayLike) -> Tensor:
    """The number cut to the range from -1 to 1.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.hard_tanh``.
    """

def leaky_relu(x: ArrayLike, negative_slope: float = 0.01) -> Tensor:
    """The number above zero, a small slope below.

    Args:
      x: a tensor, or what becomes one.
      negative_slope: a number. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.leaky_relu``.
    """

def log_sigmoid(x: ArrayLike) -> Tensor:
    """log(sigmoid(x)), without overflow on the way.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.log_sigmoid``.
    """

def log_softmax(x: ArrayLike, axis: Axis = -1) -> Tensor:
    """log(softmax(x)), without overflow on the way.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.log_softmax``.
    """

def logsumexp(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """log(sum(exp(x))) over axis, without overflow on the way.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.logsumexp``.
    """

def mish(x: ArrayLike) -> Tensor:
    """The number times tanh(softplus(x)).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.mish``.
    """

def one_hot(x: ArrayLike, num_classes: int, dtype: DType = None, axis: int = -1) -> Tensor:
    """1 at the position that x names on the new axis, 0 elsewhere; all 0 for a position out of range.

    Args:
      x: a tensor, or what becomes one.
      num_classes: an int. Static.
      dtype: a dtype or the name of one; None for the natural one.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.one_hot``.
    """

def relu(x: ArrayLike) -> Tensor:
    """max(x, 0); its gradient at 0 is 0.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.relu``.
    """

def relu6(x: ArrayLike) -> Tensor:
    """min(max(x, 0), 6).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.relu6``.
    """

def selu(x: ArrayLike) -> Tensor:
    """ELU scaled so that mean 0 and variance 1 are kept through layers.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.selu``.
    """

def sigmoid(x: ArrayLike) -> Tensor:
    """1 / (1 + exp(-x)).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.sigmoid``.
    """

def silu(x: ArrayLike) -> Tensor:
    """The number times its sigmoid.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.silu``.
    """

swish = silu

def soft_sign(x: ArrayLike) -> Tensor:
    """The number divided by one plus its magnitude.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.soft_sign``.
    """

def softmax(x: ArrayLike, axis: Axis = -1) -> Tensor:
    """The exponentials, scaled to sum 1 over axis.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.softmax``.
    """

def softplus(x: ArrayLike) -> Tensor:
    """log(1 + exp(x)), without overflow on the way.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.softplus``.
    """

def standardize(x: ArrayLike, axis: Axis = -1, epsilon: float = 1e-05) -> Tensor:
    """Shifted and scaled to mean 0 and variance 1 over axis.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      epsilon: a number. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.standardize``.
    """

def tanh(x: ArrayLike) -> Tensor:
    """The hyperbolic tangent.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.tanh``.
    """
