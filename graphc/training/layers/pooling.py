"""Layers that take the largest number or the mean of each window, or of all positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike
from graphc.compiler.ops import as_numbers, max, mean, nn
from graphc.training.layers.layer import Layer, TensorLayer, padding_of, sizes

__all__ = [
    "AveragePooling1D",
    "AveragePooling2D",
    "GlobalAveragePooling1D",
    "GlobalAveragePooling2D",
    "GlobalMaxPooling1D",
    "GlobalMaxPooling2D",
    "MaxPooling1D",
    "MaxPooling2D",
]


def _checked(layer: Layer, space: int, x: ArrayLike) -> Any:
    value = as_numbers(x)
    if value.ndim != space + 2:
        axes = ", ".join(["batch", *["height", "width"][-space:], "channels"])
        error = InvalidArgumentError(f"layer {layer.name!r} takes tensors of shape ({axes}), got shape {value.shape}")
        raise at(error, user_location())
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
