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

    Example:
      >>> import graphc as gx
      >>> gx.nn.celu([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.918,  0.5  ,  3.   ], dtype=float32)
    """

def elu(x: ArrayLike, alpha: float = 1.0) -> Tensor:
    """The number above zero, alpha * (exp(x) - 1) below.

    Args:
      x: a tensor, or what becomes one.
      alpha: a number. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.elu``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.elu([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.918,  0.5  ,  3.   ], dtype=float32)
    """

def gelu(x: ArrayLike, approximate: bool = True) -> Tensor:
    """The number times the normal distribution function of x; approximate takes the formula with tanh.

    Args:
      x: a tensor, or what becomes one.
      approximate: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.gelu``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.gelu([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.015,  0.346,  2.996], dtype=float32)
    """

def glu(x: ArrayLike, axis: int = -1) -> Tensor:
    """One half along axis times the sigmoid of the other.

    Args:
      x: a tensor, or what becomes one.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.glu``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.glu([[-5.0, -4.0], [-1.0, 0.0]]).numpy().round(3)
      array([[-0.09],
             [-0.5 ]], dtype=float32)
    """

def hard_sigmoid(x: ArrayLike) -> Tensor:
    """min(max(x + 3, 0), 6) / 6.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.hard_sigmoid``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.hard_sigmoid([-2.5, 0.5, 3.0]).numpy().round(3)
      array([0.083, 0.583, 1.   ], dtype=float32)
    """

def hard_silu(x: ArrayLike) -> Tensor:
    """The number times its hard_sigmoid.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.hard_silu``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.hard_silu([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.208,  0.292,  3.   ], dtype=float32)
    """

hard_swish = hard_silu

def hard_tanh(x: ArrayLike) -> Tensor:
    """The number cut to the range from -1 to 1.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.hard_tanh``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.hard_tanh([-2.5, 0.5, 3.0])
      Tensor([-1. ,  0.5,  1. ], shape=(3,), dtype=float32)
    """

def identity(x: ArrayLike) -> Tensor:
    """The tensor itself.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.identity``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.identity([-2.5, 0.5, 3.0])
      Tensor([-2.5,  0.5,  3. ], shape=(3,), dtype=float32)
    """

def leaky_relu(x: ArrayLike, negative_slope: float = 0.01) -> Tensor:
    """The number above zero, a small slope below.

    Args:
      x: a tensor, or what becomes one.
      negative_slope: a number. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.leaky_relu``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.leaky_relu([-2.5, 0.5, 3.0], negative_slope=0.1)
      Tensor([-0.25,  0.5 ,  3.  ], shape=(3,), dtype=float32)
    """

def log1mexp(x: ArrayLike) -> Tensor:
    """log(1 - exp(-x)), for numbers above zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.log1mexp``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.log1mexp([0.25, 2.0, 7.0]).numpy().round(3)
      array([-1.509e+00, -1.450e-01, -1.000e-03], dtype=float32)
    """

def log_sigmoid(x: ArrayLike) -> Tensor:
    """log(sigmoid(x)), without overflow on the way.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.log_sigmoid``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.log_sigmoid([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-2.579, -0.474, -0.049], dtype=float32)
    """

def log_softmax(x: ArrayLike, axis: Axis = -1) -> Tensor:
    """log(softmax(x)), without overflow on the way.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.log_softmax``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.log_softmax([[-5.0, -4.0], [-1.0, 0.0]]).numpy().round(3)
      array([[-1.313, -0.313],
             [-1.313, -0.313]], dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.nn.logmeanexp(gx.arange(8.0).reshape(2, 2, 2), axis=1).numpy().round(3)
      array([[1.434, 2.434],
             [5.434, 6.434]], dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.nn.logsumexp(gx.arange(8.0).reshape(2, 2, 2), axis=1).numpy().round(3)
      array([[2.127, 3.127],
             [6.127, 7.127]], dtype=float32)
    """

def mish(x: ArrayLike) -> Tensor:
    """The number times tanh(softplus(x)).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.mish``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.mish([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.197,  0.375,  2.987], dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.nn.one_hot([2, 0, 5], 3)
      Tensor([[0., 0., 1.],
       [1., 0., 0.],
       [0., 0., 0.]], shape=(3, 3), dtype=float32)
    """

def relu(x: ArrayLike) -> Tensor:
    """max(x, 0); its gradient at 0 is 0.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.relu``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.relu([-2.5, 0.5, 3.0])
      Tensor([0. , 0.5, 3. ], shape=(3,), dtype=float32)
    """

def relu6(x: ArrayLike) -> Tensor:
    """min(max(x, 0), 6).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.relu6``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.relu6([-10.0, 2.0, 12.0])
      Tensor([0., 2., 6.], shape=(3,), dtype=float32)
    """

def selu(x: ArrayLike) -> Tensor:
    """ELU scaled so that mean 0 and variance 1 are kept through layers.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.selu``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.selu([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-1.614,  0.525,  3.152], dtype=float32)
    """

def sigmoid(x: ArrayLike) -> Tensor:
    """1 / (1 + exp(-x)).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.sigmoid``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.sigmoid([-2.5, 0.5, 3.0]).numpy().round(3)
      array([0.076, 0.622, 0.953], dtype=float32)
    """

def silu(x: ArrayLike) -> Tensor:
    """The number times its sigmoid.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.silu``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.silu([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.19 ,  0.311,  2.858], dtype=float32)
    """

swish = silu

def soft_sign(x: ArrayLike) -> Tensor:
    """The number divided by one plus its magnitude.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.soft_sign``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.soft_sign([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.714,  0.333,  0.75 ], dtype=float32)
    """

def softmax(x: ArrayLike, axis: Axis = -1) -> Tensor:
    """The exponentials, scaled to sum 1 over axis.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.softmax``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.softmax([[-5.0, -4.0], [-1.0, 0.0]]).numpy().round(3)
      array([[0.269, 0.731],
             [0.269, 0.731]], dtype=float32)
    """

def softplus(x: ArrayLike) -> Tensor:
    """log(1 + exp(x)), without overflow on the way.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.softplus``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.softplus([-2.5, 0.5, 3.0]).numpy().round(3)
      array([0.079, 0.974, 3.049], dtype=float32)
    """

def sparse_plus(x: ArrayLike) -> Tensor:
    """0 below -1, the number above 1, a parabola between.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.sparse_plus``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.sparse_plus([-2.5, 0.5, 3.0]).numpy().round(3)
      array([0.   , 0.562, 3.   ], dtype=float32)
    """

def sparse_sigmoid(x: ArrayLike) -> Tensor:
    """The number cut to (-1, 1), moved and scaled to (0, 1).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.sparse_sigmoid``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.sparse_sigmoid([-2.5, 0.5, 3.0])
      Tensor([0.  , 0.75, 1.  ], shape=(3,), dtype=float32)
    """

def squareplus(x: ArrayLike, b: ArrayLike = 4) -> Tensor:
    """(x + sqrt(x ** 2 + b)) / 2.

    Args:
      x: a tensor, or what becomes one.
      b: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.squareplus``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.squareplus([-2.5, 0.5, 3.0]).numpy().round(3)
      array([0.351, 1.281, 3.303], dtype=float32)
    """

def tanh(x: ArrayLike) -> Tensor:
    """The hyperbolic tangent.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.tanh``.

    Example:
      >>> import graphc as gx
      >>> gx.nn.tanh([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.987,  0.462,  0.995], dtype=float32)
    """
