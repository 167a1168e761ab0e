"""Rows of the namespace ``nn``: activations, softmax, and what encodes classes.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Axis, DType

__all__ = [
    "celu",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "leaky_relu",
    "log1mexp",
    "log_sigmoid",
    "log_softmax",
    "logmeanexp",
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
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
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

def hard_silu(x: ArrayLike) -> Tensor:
    """The number times its hard_sigmoid.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.hard_silu``.
    """

hard_swish = hard_silu

def hard_tanh(x: ArrayLike) -> Tensor:
    """The number cut to the range from -1 to 1.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.hard_tanh``.
    """

def identity(x: ArrayLike) -> Tensor:
    """The tensor itself.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.identity``.
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

def log1mexp(x: ArrayLike) -> Tensor:
    """log(1 - exp(-x)), for numbers above zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.log1mexp``.
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

def logmeanexp(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """log(mean(exp(x))) over axis, without overflow on the way.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.logmeanexp``.
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

def sparse_plus(x: ArrayLike) -> Tensor:
    """0 below -1, the number above 1, a parabola between.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.sparse_plus``.
    """

def sparse_sigmoid(x: ArrayLike) -> Tensor:
    """The number cut to (-1, 1), moved and scaled to (0, 1).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.sparse_sigmoid``.
    """

def squareplus(x: ArrayLike, b: ArrayLike = 4) -> Tensor:
    """(x + sqrt(x ** 2 + b)) / 2.

    Args:
      x: a tensor, or what becomes one.
      b: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.squareplus``.
    """

def tanh(x: ArrayLike) -> Tensor:
    """The hyperbolic tangent.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.tanh``.
    """
