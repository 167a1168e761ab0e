"""Convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from graphc.compiler.autograph import call
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike, Variable
from graphc.compiler.ops import as_numbers, max, mean, nn, zeros
from graphc.training.layers.layer import ActivationLike, Layer, TensorLayer, activation_of, padding_of, size, sizes
from graphc.training.layers.module import Initializer, initializer


class _Conv(TensorLayer):
    """A convolution over axes of space, with the channels last."""

    __graphc_reads__: ClassVar[tuple[str, ...]] = (
        *("kernel", "bias", "kernel_size", "strides", "padding", "dilation_rate", "groups", "_activation"),
        *("built", "_compute_dtype"),
    )
    _space = 0
    _function: Callable[..., Any]

    def __init__(
        self,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str = "valid",
        dilation_rate: int | Sequence[int] = 1,
        groups: int = 1,
        activation: str | ActivationLike | None = None,
        use_bias: bool = True,
        kernel_initializer: str | Initializer = "glorot_uniform",
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        kind, space = type(self).__name__, self._space
        self.filters = size(f"{kind}: filters", filters)
        self.kernel_size = sizes(f"{kind}: kernel_size", kernel_size, space)
        self.strides = sizes(f"{kind}: strides", strides, space)
        self.padding = padding_of(kind, padding)
        self.dilation_rate = sizes(f"{kind}: dilation_rate", dilation_rate, space)
        self.groups = size(f"{kind}: groups", groups)
        self.use_bias = use_bias
        self.kernel: Variable | None = None
        self.bias: Variable | None = None
        self._activation = activation_of(kind, activation)
        self._kernel_initializer = initializer(kernel_initializer, f"{kind}: kernel_initializer")

    def build(self, input_shape: Any) -> None:
        """Makes kernel and bias.

        Args:
          input_shape: the last size is the number of channels.

        Raises:
          InvalidArgumentError: it has another number of axes, or the channels do not divide by ``groups``.
        """
        if len(input_shape or ()) != self._space + 2 or input_shape[-1] % self.groups or self.filters % self.groups:
            axes = ", ".join(["batch", *["height", "width"][-self._space :], "channels"])
            groups = f", in {self.groups} groups of as many channels and filters" if self.groups > 1 else ""
            raise InvalidArgumentError(
                f"layer {self.name!r} takes tensors of shape ({axes}){groups}; its shape is {input_shape}"
            ).here()
        shape = (*self.kernel_size, input_shape[-1] // self.groups, self.filters)
        self.kernel = Variable(
            lambda: self._kernel_initializer(shape, "float32"), name=f"{self.name}/kernel", dtype="float32"
        )
        if self.use_bias:
            self.bias = Variable(zeros(self.filters), name=f"{self.name}/bias")
        self.built = True

    def call(self, x: ArrayLike) -> Any:
        """Computes the convolution, with the filters along the last axis.

        Raises:
          InvalidArgumentError: the input has another number of channels than the first.
        """
        options = (self.strides, self.padding, self.dilation_rate, self.groups)
        result = type(self)._function(as_numbers(x), self.cast(self.kernel), *options)
        if self.bias is not None:
            result = result + self.cast(self.bias)
        return result if self._activation is None else call(self._activation)(result)


class Conv1D(_Conv):
    """A convolution over one axis: ``(batch, length, channels)`` to ``(batch, length, filters)``.

    Args:
      filters: the number of channels of the output.
      kernel_size: how many positions a filter spans.
      strides: how far it is moved.
      padding: ``"valid"`` for none, or ``"same"`` to keep the length but for the strides.
      dilation_rate: how far apart the positions are.
      groups: into how many groups the channels are split, each with filters of its own.
      activation: a function of one tensor, the name of one in ``gx.nn``, or None.
      use_bias: whether a bias is added.
      kernel_initializer: what the kernel starts with, as for :class:`Dense`.
      name: for people.

    Raises:
      InvalidArgumentError: a size that is none, or an unknown padding, activation or initializer.

    Example:
      >>> import graphc as gx
      >>> gx.layers.Conv1D(4, 3, padding="same")(gx.ones((2, 10, 1))).shape
      (2, 10, 4)
    """

    __graphc_reads__ = _Conv.__graphc_reads__
    _space = 1
    _function = staticmethod(nn.conv1d)


class Conv2D(_Conv):
    """A convolution over two axes: ``(batch, height, width, channels)`` to ``(batch, height, width, filters)``.

    Args:
      filters: the number of channels of the output.
      kernel_size: how many positions a filter spans, one number or two.
      strides: how far it is moved, one number or two.
      padding: ``"valid"`` for none, or ``"same"`` to keep the sizes but for the strides.
      dilation_rate: how far apart the positions are, one number or two.
      groups: into how many groups the channels are split, each with filters of its own.
      activation: a function of one tensor, the name of one in ``gx.nn``, or None.
      use_bias: whether a bias is added.
      kernel_initializer: what the kernel starts with, as for :class:`Dense`.
      name: for people.

    Raises:
      InvalidArgumentError: a size that is none, or an unknown padding, activation or initializer.

    Example:
      >>> import graphc as gx
      >>> gx.layers.Conv2D(8, 3, strides=2, activation="relu")(gx.ones((2, 28, 28, 1))).shape
      (2, 13, 13, 8)
    """

    __graphc_reads__ = _Conv.__graphc_reads__
    _space = 2
    _function = staticmethod(nn.conv2d)


# Layers that take the largest number or the mean of each window, or of all positions.


def _checked(layer: Layer, space: int, x: ArrayLike) -> Any:
    value = as_numbers(x)
    if value.ndim != space + 2:
        axes = ", ".join(["batch", *["height", "width"][-space:], "channels"])
        raise InvalidArgumentError(
            f"layer {layer.name!r} takes tensors of shape ({axes}), got shape {value.shape}"
        ).here()
    return value


class _Pooling(TensorLayer):
    """A reduction over sliding windows; the channels are last.

    Args:
      pool_size: how many positions a window spans: one number, or one for each axis.
      strides: how far it is moved; side by side when None.
      padding: ``"valid"`` for none, or ``"same"`` to keep the sizes but for the strides.
      name: for people.

    Raises:
      InvalidArgumentError: a size that is none, or an unknown padding.
    """

    __graphc_reads__: ClassVar[tuple[str, ...]] = ("pool_size", "strides", "padding", "built", "_compute_dtype")
    _space = 0
    _function: Callable[..., Any]

    def __init__(
        self,
        pool_size: int | Sequence[int] = 2,
        strides: int | Sequence[int] | None = None,
        padding: str = "valid",
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        kind = type(self).__name__
        self.pool_size = sizes(f"{kind}: pool_size", pool_size, self._space)
        self.strides = self.pool_size if strides is None else sizes(f"{kind}: strides", strides, self._space)
        self.padding = padding_of(kind, padding)

    def call(self, x: ArrayLike) -> Any:
        """Computes what is taken of each window."""
        value = _checked(self, self._space, x)
        return type(self)._function(value, self.pool_size, self.strides, self.padding)


class _GlobalPooling(TensorLayer):
    """A reduction over all positions; the channels are last.

    Args:
      keepdims: whether the axes of space stay, with size 1.
      name: for people.
    """

    __graphc_reads__: ClassVar[tuple[str, ...]] = ("keepdims", "built", "_compute_dtype")
    _space = 0
    _function: Callable[..., Any]

    def __init__(self, keepdims: bool = False, name: str | None = None) -> None:
        super().__init__(name)
        self.keepdims = bool(keepdims)

    def call(self, x: ArrayLike) -> Any:
        """Computes what is taken of all positions."""
        value = _checked(self, self._space, x)
        return type(self)._function(value, axis=tuple(range(1, 1 + self._space)), keepdims=self.keepdims)


class MaxPooling1D(_Pooling):
    """The largest number of each window over one axis; padding does not count.

    Args:
      pool_size: how many positions a window spans: one number, or one for each axis.
      strides: how far it is moved; side by side when None.
      padding: ``"valid"`` for none, or ``"same"`` to keep the sizes but for the strides.
      name: for people.

    Raises:
      InvalidArgumentError: a size that is none, or an unknown padding.

    Example:
      >>> import graphc as gx
      >>> gx.layers.MaxPooling1D()(gx.ones((1, 6, 3))).shape
      (1, 3, 3)
    """

    __graphc_reads__ = _Pooling.__graphc_reads__
    _space = 1
    _function = staticmethod(nn.max_pool)


class AveragePooling1D(_Pooling):
    """The mean of each window over one axis; padding does not count.

    Args:
      pool_size: how many positions a window spans: one number, or one for each axis.
      strides: how far it is moved; side by side when None.
      padding: ``"valid"`` for none, or ``"same"`` to keep the sizes but for the strides.
      name: for people.

    Raises:
      InvalidArgumentError: a size that is none, or an unknown padding.

    Example:
      >>> import graphc as gx
      >>> gx.layers.AveragePooling1D()(gx.ones((1, 6, 3))).shape
      (1, 3, 3)
    """

    __graphc_reads__ = _Pooling.__graphc_reads__
    _space = 1
    _function = staticmethod(nn.avg_pool)


class GlobalMaxPooling1D(_GlobalPooling):
    """The largest number of each channel over one axis.

    Args:
      keepdims: whether the axes of space stay, with size 1.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> gx.layers.GlobalMaxPooling1D()(gx.ones((1, 6, 3))).shape
      (1, 3)
    """

    __graphc_reads__ = _GlobalPooling.__graphc_reads__
    _space = 1
    _function = staticmethod(max)


class GlobalAveragePooling1D(_GlobalPooling):
    """The mean of each channel over one axis.

    Args:
      keepdims: whether the axes of space stay, with size 1.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> gx.layers.GlobalAveragePooling1D()(gx.ones((1, 6, 3))).shape
      (1, 3)
    """

    __graphc_reads__ = _GlobalPooling.__graphc_reads__
    _space = 1
    _function = staticmethod(mean)


class MaxPooling2D(_Pooling):
    """The largest number of each window over two axes; padding does not count.

    Args:
      pool_size: how many positions a window spans: one number, or one for each axis.
      strides: how far it is moved; side by side when None.
      padding: ``"valid"`` for none, or ``"same"`` to keep the sizes but for the strides.
      name: for people.

    Raises:
      InvalidArgumentError: a size that is none, or an unknown padding.

    Example:
      >>> import graphc as gx
      >>> gx.layers.MaxPooling2D()(gx.ones((1, 6, 8, 3))).shape
      (1, 3, 4, 3)
    """

    __graphc_reads__ = _Pooling.__graphc_reads__
    _space = 2
    _function = staticmethod(nn.max_pool)


class AveragePooling2D(_Pooling):
    """The mean of each window over two axes; padding does not count.

    Args:
      pool_size: how many positions a window spans: one number, or one for each axis.
      strides: how far it is moved; side by side when None.
      padding: ``"valid"`` for none, or ``"same"`` to keep the sizes but for the strides.
      name: for people.

    Raises:
      InvalidArgumentError: a size that is none, or an unknown padding.

    Example:
      >>> import graphc as gx
      >>> gx.layers.AveragePooling2D()(gx.ones((1, 6, 8, 3))).shape
      (1, 3, 4, 3)
    """

    __graphc_reads__ = _Pooling.__graphc_reads__
    _space = 2
    _function = staticmethod(nn.avg_pool)


class GlobalMaxPooling2D(_GlobalPooling):
    """The largest number of each channel over two axes.

    Args:
      keepdims: whether the axes of space stay, with size 1.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> gx.layers.GlobalMaxPooling2D()(gx.ones((1, 6, 8, 3))).shape
      (1, 3)
    """

    __graphc_reads__ = _GlobalPooling.__graphc_reads__
    _space = 2
    _function = staticmethod(max)


class GlobalAveragePooling2D(_GlobalPooling):
    """The mean of each channel over two axes.

    Args:
      keepdims: whether the axes of space stay, with size 1.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> gx.layers.GlobalAveragePooling2D()(gx.ones((1, 6, 8, 3))).shape
      (1, 3)
    """

    __graphc_reads__ = _GlobalPooling.__graphc_reads__
    _space = 2
    _function = staticmethod(mean)
