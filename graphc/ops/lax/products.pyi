"""Rows of ``lax``: products of tensors, and convolutions.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import DimensionNumbers, DType, Ints, Padding, Precision

__all__ = [
    "batch_matmul",
    "conv",
    "conv_general_dilated",
    "conv_transpose",
    "conv_with_general_padding",
    "dot",
    "dot_general",
]

def batch_matmul(lhs: ArrayLike, rhs: ArrayLike, precision: Precision = None) -> Tensor:
    """The products of the matrices in the last two axes; the axes before are the same.

    Args:
      lhs: a tensor, or what becomes one.
      rhs: a tensor, or what becomes one.
      precision: 'default', 'high' or 'highest', or a Precision of jax.lax, one or a pair; None for JAX's. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.batch_matmul``.

    Example:
      >>> import graphc as gx
      >>> lhs = gx.arange(8.0).reshape(2, 2, 2)
      >>> rhs = gx.arange(8.0).reshape(2, 2, 2)
      >>> gx.lax.batch_matmul(lhs, rhs).shape
      (2, 2, 2)
    """

def conv(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Ints,
    padding: Padding,
    precision: Precision = None,
    preferred_element_type: DType = None,
) -> Tensor:
    """A convolution of NCHW by OIHW.

    Args:
      lhs: a tensor, or what becomes one.
      rhs: a tensor, or what becomes one.
      window_strides: ints. Static.
      padding: 'SAME' to keep sizes but for the strides, 'VALID' for no padding, or pairs (before, after). Static.
      precision: 'default', 'high' or 'highest', or a Precision of jax.lax, one or a pair; None for JAX's. Static.
      preferred_element_type: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.conv``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.conv(gx.ones((1, 2, 2, 2)), gx.ones((2, 2, 2, 2)), (1, 1), "SAME").shape
      (1, 2, 2, 2)
    """

def conv_general_dilated(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Ints,
    padding: Padding,
    lhs_dilation: Ints | None = None,
    rhs_dilation: Ints | None = None,
    dimension_numbers: DimensionNumbers = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Precision = None,
    preferred_element_type: DType = None,
) -> Tensor:
    """A convolution in general: layouts by dimension_numbers, dilations, groups.

    Args:
      lhs: a tensor, or what becomes one.
      rhs: a tensor, or what becomes one.
      window_strides: ints. Static.
      padding: 'SAME' to keep sizes but for the strides, 'VALID' for no padding, or pairs (before, after). Static.
      lhs_dilation: ints, or None. Static.
      rhs_dilation: ints, or None. Static.
      dimension_numbers: which axes are what, in the form that jax.lax has for it. Static.
      feature_group_count: an int. Static.
      batch_group_count: an int. Static.
      precision: 'default', 'high' or 'highest', or a Precision of jax.lax, one or a pair; None for JAX's. Static.
      preferred_element_type: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.conv_general_dilated``.

    Example:
      >>> import graphc as gx
      >>> lhs = gx.ones((1, 2, 2, 2))
      >>> rhs = gx.ones((2, 2, 2, 2))
      >>> gx.lax.conv_general_dilated(lhs, rhs, (2, 1), "VALID").shape
      (1, 2, 1, 1)
    """

def conv_transpose(
    lhs: ArrayLike,
    rhs: ArrayLike,
    strides: Ints,
    padding: Padding,
    rhs_dilation: Ints | None = None,
    dimension_numbers: DimensionNumbers = None,
    transpose_kernel: bool = False,
    precision: Precision = None,
    preferred_element_type: DType = None,
    use_consistent_padding: bool = False,
) -> Tensor:
    """The transpose of a convolution, of NHWC by HWIO unless dimension_numbers says so.

    Args:
      lhs: a tensor, or what becomes one.
      rhs: a tensor, or what becomes one.
      strides: ints. Static.
      padding: 'SAME' to keep sizes but for the strides, 'VALID' for no padding, or pairs (before, after). Static.
      rhs_dilation: ints, or None. Static.
      dimension_numbers: which axes are what, in the form that jax.lax has for it. Static.
      transpose_kernel: True or False. Static.
      precision: 'default', 'high' or 'highest', or a Precision of jax.lax, one or a pair; None for JAX's. Static.
      preferred_element_type: a dtype or the name of one; None for the natural one.
      use_consistent_padding: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.conv_transpose``.

    Example:
      >>> import graphc as gx
      >>> lhs = gx.ones((1, 2, 2, 2))
      >>> rhs = gx.ones((2, 2, 2, 2))
      >>> gx.lax.conv_transpose(lhs, rhs, (2, 2), "SAME").shape
      (1, 4, 4, 2)
    """

def conv_with_general_padding(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Ints,
    padding: Padding,
    lhs_dilation: Ints | None,
    rhs_dilation: Ints | None,
    precision: Precision = None,
    preferred_element_type: DType = None,
) -> Tensor:
    """A convolution of NCHW by OIHW, with elements apart by the dilations.

    Args:
      lhs: a tensor, or what becomes one.
      rhs: a tensor, or what becomes one.
      window_strides: ints. Static.
      padding: 'SAME' to keep sizes but for the strides, 'VALID' for no padding, or pairs (before, after). Static.
      lhs_dilation: ints, or None. Static.
      rhs_dilation: ints, or None. Static.
      precision: 'default', 'high' or 'highest', or a Precision of jax.lax, one or a pair; None for JAX's. Static.
      preferred_element_type: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.conv_with_general_padding``.

    Example:
      >>> import graphc as gx
      >>> lhs = gx.ones((1, 2, 2, 2))
      >>> rhs = gx.ones((2, 2, 2, 2))
      >>> gx.lax.conv_with_general_padding(lhs, rhs, (1, 1), ((1, 0), (0, 1)), (1, 2), None).shape
      (1, 2, 2, 3)
    """

def dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: DimensionNumbers = None,
    precision: Precision = None,
    preferred_element_type: DType = None,
) -> Tensor:
    """The product of vectors and matrices; of other tensors as dot_general, by dimension_numbers.

    Args:
      lhs: a tensor, or what becomes one.
      rhs: a tensor, or what becomes one.
      dimension_numbers: which axes are what, in the form that jax.lax has for it. Static.
      precision: 'default', 'high' or 'highest', or a Precision of jax.lax, one or a pair; None for JAX's. Static.
      preferred_element_type: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.dot``.

    Example:
      >>> import graphc as gx
      >>> lhs = [[-5.0, -4.0], [-1.0, 0.0]]
      >>> rhs = [[-5.0, -1.0], [-4.0, 0.0]]
      >>> gx.lax.dot(lhs, rhs, precision="highest")
      Tensor([[41.,  5.],
       [ 5.,  1.]], shape=(2, 2), dtype=float32)
    """

def dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: DimensionNumbers,
    precision: Precision = None,
    preferred_element_type: DType = None,
) -> Tensor:
    """The sum of products over the contracted axes, for each place along the batch axes.

    Args:
      lhs: a tensor, or what becomes one.
      rhs: a tensor, or what becomes one.
      dimension_numbers: which axes are what, in the form that jax.lax has for it. Static.
      precision: 'default', 'high' or 'highest', or a Precision of jax.lax, one or a pair; None for JAX's. Static.
      preferred_element_type: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.dot_general``.

    Example:
      >>> import graphc as gx
      >>> lhs = gx.arange(8.0).reshape(2, 2, 2)
      >>> rhs = gx.arange(8.0).reshape(2, 2, 2)
      >>> dimension_numbers = (((2,), (2,)), ((0,), (0,)))
      >>> gx.lax.dot_general(lhs, rhs, dimension_numbers, precision=gx.lax.Precision.HIGHEST).shape
      (2, 2, 2)
    """
