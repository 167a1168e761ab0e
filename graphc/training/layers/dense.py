"""Dense: the fully connected layer."""

from __future__ import annotations

from typing import Any

from graphc.compiler.autograph import call
from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike, Variable, as_dtype
from graphc.compiler.ops import as_numbers, matmul, zeros
from graphc.training.layers.arguments import ActivationLike, activation_of, size
from graphc.training.layers.initializers import Initializer, initializer
from graphc.training.layers.layer import TensorLayer

__all__ = ["Dense"]


class Dense(TensorLayer):
    """``activation(x @ kernel + bias)``.

    Args:
      units: the size of the output's last axis.
      activation: a function of one tensor, the name of one in ``gx.nn``, or None.
      use_bias: whether a bias is added.
      kernel_initializer: what the kernel starts with: ``"glorot_uniform"``, ``"glorot_normal"``, ``"he_uniform"``,
        ``"he_normal"``, ``"lecun_uniform"``, ``"lecun_normal"``, ``"zeros"``, ``"ones"``, or a function of shape and
        dtype. The draws are those of ``gx.random``. The bias starts at zero.
      name: for people.
      in_features: the size of the input's last axis; when it is given the Variables are made at once, else at the first
        call.
      dtype: the dtype of the Variables.

    Attributes:
      kernel: the Variable ``[in_features, units]``; None before the first call.
      bias: the Variable ``[units]``; None before the first call, or without bias.

    Raises:
      InvalidArgumentError: a size that is none, or an unknown activation or initializer.

    Example:
      >>> import graphc as gx
      >>> layer = gx.layers.Dense(2, "relu", kernel_initializer="ones")
      >>> layer([[1.0, 2.0, 3.0]]).numpy()
      array([[6., 6.]], dtype=float32)
      >>> layer.kernel.shape
      (3, 2)
    """

    __graphc_reads__ = ("kernel", "bias", "_activation", "built", "_compute_dtype")

    def __init__(
        self,
        units: int,
        activation: str | ActivationLike | None = None,
        use_bias: bool = True,
        kernel_initializer: str | Initializer = "glorot_uniform",
        name: str | None = None,
        in_features: int | None = None,
        *,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(name)
        self.units = size("Dense: units", units)
        self.use_bias = use_bias
        self.dtype = as_dtype(dtype)
        self.kernel: Variable | None = None
        self.bias: Variable | None = None
        self._activation = activation_of("Dense", activation)
        self._kernel_initializer = initializer(kernel_initializer, "Dense: kernel_initializer")
        if in_features is not None:
            self.build((size("Dense: in_features", in_features),))

    def build(self, input_shape: Any) -> None:
        """Makes kernel and bias.

        Args:
          input_shape: the last size is the number of the input's features.

        Raises:
          InvalidArgumentError: there is no last size.
        """
        if not input_shape:
            error = InvalidArgumentError(
                f"layer {self.name!r} takes a tensor of at least one axis, the last for the features; its shape is "
                f"{input_shape}"
            )
            raise at(error, user_location())
        shape = (size("Dense: the last size of the input", input_shape[-1]), self.units)
        # By a function, so that under a trace Variable can refuse before anything random is drawn.
        kernel = Variable(
            lambda: self._kernel_initializer(shape, self.dtype), name=f"{self.name}/kernel", dtype=self.dtype
        )
        if kernel.shape != shape:
            error = InvalidArgumentError(
                f"layer {self.name!r}: kernel_initializer gave a kernel of shape {kernel.shape}, shape {shape} was "
                "asked for"
            )
            raise at(error, user_location())
        if self.use_bias:
            self.bias = Variable(lambda: zeros(self.units, self.dtype), name=f"{self.name}/bias")
        self.kernel = kernel
        self.built = True

    def call(self, x: ArrayLike) -> Any:
        """Computes the output, of the input's shape with the last size ``units``.

        Raises:
          InvalidArgumentError: the input's last size is not that of the kernel.
        """
        value = self.cast(as_numbers(x))
        if self.kernel is None or value.shape[-1:] != self.kernel.shape[:1]:
            expected = "?" if self.kernel is None else self.kernel.shape[0]
            error = InvalidArgumentError(
                f"layer {self.name!r} takes tensors of shape (..., {expected}), got shape {value.shape}; a layer's "
                "sizes are fixed by its first call, so make another layer for another size"
            )
            raise at(error, user_location())
        result = matmul(value, self.cast(self.kernel))
        if self.bias is not None:
            result = result + self.cast(self.bias)
        return result if self._activation is None else call(self._activation)(result)
