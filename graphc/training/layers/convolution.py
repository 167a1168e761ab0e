"""Convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from graphc.compiler.autograph import call
from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike, Variable
from graphc.compiler.ops import as_numbers, nn, zeros
from graphc.training.layers.initializers import Initializer, initializer
from graphc.training.layers.layer import ActivationLike, TensorLayer, activation_of, padding_of, size, sizes

__all__ = ["Conv1D", "Conv2D"]


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
            error = InvalidArgumentError(
                f"layer {self.name!r} takes tensors of shape ({axes}){groups}; its shape is {input_shape}"
            )
            raise at(error, user_location())
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
