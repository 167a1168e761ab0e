"""Layers without Variables that change shapes or numbers: Activation, Flatten, Reshape; and Embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphc.compiler.autograph import call
from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import ArrayLike, Variable
from graphc.compiler.ops import as_numbers, reshape, take, where
from graphc.training.layers.arguments import ActivationLike, activation_of, size
from graphc.training.layers.initializers import Initializer, initializer
from graphc.training.layers.layer import TensorLayer

__all__ = ["Activation", "Embedding", "Flatten", "Reshape"]


class Activation(TensorLayer):
    """A function of one tensor as a layer.

    Args:
      activation: the function, or the name of one in ``gx.nn``.
      name: for people.

    Raises:
      InvalidArgumentError: an unknown name.
      InvalidTypeError: it is neither.

    Example:
      >>> import graphc as gx
      >>> gx.layers.Activation("relu")([-1.0, 1.0]).tolist()
      [0.0, 1.0]
    """

    __graphc_reads__ = ("_activation", "built", "_compute_dtype")

    def __init__(self, activation: str | ActivationLike, name: str | None = None) -> None:
        super().__init__(name)
        self._activation = activation_of("Activation", activation)

    def call(self, x: ArrayLike) -> Any:
        """Computes what the function gives."""
        return x if self._activation is None else call(self._activation)(x)


class Flatten(TensorLayer):
    """Joins all axes but the first: ``(batch, ...)`` to ``(batch, features)``.

    Args:
      name: for people.

    Example:
      >>> import graphc as gx
      >>> gx.layers.Flatten()(gx.ones((2, 3, 4))).shape
      (2, 12)
    """

    __graphc_reads__ = ("built", "_compute_dtype")

    def call(self, x: ArrayLike) -> Any:
        """Returns the tensor with two axes."""
        value = as_numbers(x)
        if value.ndim < 1:
            raise at(InvalidArgumentError(f"layer {self.name!r} takes a batch, got a scalar"), user_location())
        count = 1
        for length in value.shape[1:]:
            count *= length
        return reshape(value, (value.shape[0], count))


class Reshape(TensorLayer):
    """Gives each example another shape.

    Args:
      target_shape: without the axis of the batch; one size may be -1.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> gx.layers.Reshape((-1, 2))(gx.ones((3, 4))).shape
      (3, 2, 2)
    """

    __graphc_reads__ = ("target_shape", "built", "_compute_dtype")

    def __init__(self, target_shape: Sequence[int], name: str | None = None) -> None:
        super().__init__(name)
        self.target_shape = tuple(target_shape)

    def call(self, x: ArrayLike) -> Any:
        """Returns the tensor in the other shape."""
        value = as_numbers(x)
        return reshape(value, (*value.shape[:1], *self.target_shape))


class Embedding(TensorLayer):
    """Gives each number of a category a vector that is trained.

    Args:
      input_dim: how many categories there are; their numbers start at 0.
      output_dim: the size of the vectors.
      embeddings_initializer: what they start with, as ``kernel_initializer`` of :class:`Dense`.
      name: for people.

    Attributes:
      embeddings: the Variable ``[input_dim, output_dim]``.

    Raises:
      InvalidArgumentError: a size that is none, or an unknown initializer.

    Example:
      >>> import graphc as gx
      >>> gx.layers.Embedding(10, 4)([[1, 2, 9]]).shape
      (1, 3, 4)
    """

    __graphc_reads__ = ("embeddings", "input_dim", "built", "_compute_dtype")

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: str | Initializer = "uniform",
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.input_dim, self.output_dim = (
            size("Embedding: input_dim", input_dim),
            size("Embedding: output_dim", output_dim),
        )
        self.embeddings: Variable | None = None
        self._initializer = initializer(embeddings_initializer, "Embedding: embeddings_initializer")

    def build(self, input_shape: Any) -> None:
        """Makes the vectors.

        Args:
          input_shape: of any input.
        """
        del input_shape
        shape = (self.input_dim, self.output_dim)
        self.embeddings = Variable(lambda: self._initializer(shape, "float32"), name=f"{self.name}/embeddings")
        self.built = True

    def call(self, x: ArrayLike) -> Any:
        """Returns the vectors, along a new last axis; NaN for the number of no category.

        Raises:
          InvalidTypeError: the input is no integers.
        """
        value = as_numbers(x)
        if value.dtype.kind not in "iu":
            error = InvalidTypeError(f"layer {self.name!r} takes integers, the numbers of categories; got {value.type}")
            raise at(error, user_location())
        # A negative number must not count from the end, as an index does; past the end it gives NaN.
        return take(self.cast(self.embeddings), where(value < 0, self.input_dim, value), axis=0)
