"""Layers that shift and scale their inputs to mean 0 and variance 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike, Tensor, Variable, context
from graphc.compiler.ops import as_numbers, astype, mean, nn, ones, reshape, square, stop_gradient, zeros
from graphc.training.layers.layer import TensorLayer


class BatchNormalization(TensorLayer):
    """Normalises each channel by its mean and variance: of the batch while training, else of all batches before.

    The moving statistics follow those of the batches: ``moving * momentum + batch * (1 - momentum)``. In a
    data-parallel step the batch is that of all replicas. A layer with ``trainable = False`` uses the moving statistics
    in training too. From Ioffe and Szegedy, 2015.

    Args:
      axis: that of the channels.
      momentum: how much of the moving statistics is kept at each batch.
      epsilon: added to the variance.
      center: whether an offset is added, the Variable ``beta``.
      scale: whether the result is scaled, by the Variable ``gamma``.
      name: for people.

    Raises:
      InvalidArgumentError: ``momentum`` is no number from 0 to 1.

    Example:
      >>> import graphc as gx
      >>> layer = gx.layers.BatchNormalization(momentum=0.5)
      >>> layer([[1.0], [3.0]], training=True).numpy().round(2)
      array([[-1.],
             [ 1.]], dtype=float32)
      >>> layer.moving_mean.tolist(), layer.moving_variance.tolist()
      ([1.0], [1.0])
    """

    __graphc_reads__ = (
        *("gamma", "beta", "moving_mean", "moving_variance", "axis", "momentum", "epsilon"),
        *("built", "_trainable", "_compute_dtype"),
    )

    def __init__(
        self,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        if not 0 <= momentum <= 1:
            raise InvalidArgumentError(f"BatchNormalization: momentum must be from 0 to 1, got {momentum!r:.60}").here()
        self.axis, self.momentum, self.epsilon = axis, float(momentum), float(epsilon)
        self.center, self.scale = center, scale
        self.gamma: Variable | None = None
        self.beta: Variable | None = None
        self.moving_mean: Variable | None = None
        self.moving_variance: Variable | None = None

    def build(self, input_shape: Any) -> None:
        """Makes the Variables.

        Args:
          input_shape: the size of its axis ``axis`` is the number of channels.

        Raises:
          InvalidArgumentError: there is no such axis, or no other.
        """
        rank = len(input_shape or ())
        if rank < 2 or not -rank <= self.axis < rank:
            raise InvalidArgumentError(
                f"layer {self.name!r} takes a batch with channels along axis {self.axis}; its shape is {input_shape}"
            ).here()
        count = input_shape[self.axis]
        self.gamma = Variable(ones(count), name=f"{self.name}/gamma") if self.scale else None
        self.beta = Variable(zeros(count), name=f"{self.name}/beta") if self.center else None
        self.moving_mean = Variable(zeros(count), trainable=False, name=f"{self.name}/moving_mean")
        self.moving_variance = Variable(ones(count), trainable=False, name=f"{self.name}/moving_variance")
        self.built = True

    def call(self, x: ArrayLike, training: bool = False) -> Any:
        """Normalises the input.

        Raises:
          InvalidArgumentError: it has another number of channels than the first.
        """
        value = as_numbers(x)
        moving_mean, moving_variance = self.moving_mean, self.moving_variance
        if moving_mean is None or moving_variance is None:
            raise InvalidArgumentError(f"layer {self.name!r}: call it, or build it, before").here()
        axis = self.axis % max(value.ndim, 1)
        if value.shape[axis : axis + 1] != moving_mean.shape:
            raise InvalidArgumentError(
                f"layer {self.name!r} takes {moving_mean.shape[0]} channels along axis {self.axis}, got shape "
                f"{value.shape}; a layer's sizes are fixed by its first call"
            ).here()
        wide = _wide(value)
        if training and self._trainable:
            others = tuple(other for other in range(value.ndim) if other != axis)
            centre = _over_replicas(mean(wide, axis=others))
            spread = _over_replicas(mean(square(wide - self._along(centre, axis, value.ndim)), axis=others))
            for moving, batch in ((moving_mean, centre), (moving_variance, spread)):
                batch = astype(stop_gradient(batch), moving.dtype)
                moving.assign(moving * self.momentum + batch * (1.0 - self.momentum))
        else:
            centre, spread = moving_mean, moving_variance
        weights = [self._along(part, axis, value.ndim) for part in (centre, spread, self.gamma, self.beta)]
        return self.cast(nn.batch_norm(wide, *weights, epsilon=self.epsilon))

    @staticmethod
    def _along(part: Any, axis: int, rank: int) -> Any:
        if part is None or axis == rank - 1:
            return part
        return reshape(part, (-1, *[1] * (rank - 1 - axis)))


def _wide(value: Tensor) -> Tensor:
    """Returns a tensor in at least the precision of float32, in which means are taken."""
    return value if value.type.is_inexact and value.dtype.itemsize >= 4 else astype(value, "float32")


def _over_replicas(statistic: Any) -> Any:
    """Returns the mean over the replicas, which have as many rows each, so that it is that of the whole batch."""
    return statistic if context.replica is None else context.replica.mean([statistic])[0]


class LayerNormalization(TensorLayer):
    """Normalises each example by its mean and variance over its own axes (Ba and others, 2016).

    Args:
      axis: one axis or several: those that the means are taken over.
      epsilon: added to the variance.
      center: whether an offset is added, the Variable ``beta``.
      scale: whether the result is scaled, by the Variable ``gamma``.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> gx.layers.LayerNormalization()([[1.0, 3.0], [10.0, 30.0]]).numpy().round(2)
      array([[-1.,  1.],
             [-1.,  1.]], dtype=float32)
    """

    __graphc_reads__ = ("gamma", "beta", "axis", "epsilon", "built", "_compute_dtype")

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.axis = (axis,) if isinstance(axis, int) else tuple(axis)
        self.epsilon, self.center, self.scale = float(epsilon), center, scale
        self.gamma: Variable | None = None
        self.beta: Variable | None = None

    def build(self, input_shape: Any) -> None:
        """Makes the Variables.

        Args:
          input_shape: of the input; the Variables have the sizes of the axes ``axis``.

        Raises:
          InvalidArgumentError: there is no such axis.
        """
        rank = len(input_shape or ())
        if not self.axis or any(not -rank <= axis < rank for axis in self.axis):
            raise InvalidArgumentError(
                f"layer {self.name!r} normalises over the axes {self.axis}; the input has shape {input_shape}"
            ).here()
        over = {axis % rank for axis in self.axis}
        first = min(over)  # leading axes of size 1 broadcast without being there
        shape = [count if axis in over else 1 for axis, count in enumerate(input_shape)][first:]
        self.gamma = Variable(ones(shape), name=f"{self.name}/gamma") if self.scale else None
        self.beta = Variable(zeros(shape), name=f"{self.name}/beta") if self.center else None
        self.built = True

    def call(self, x: ArrayLike) -> Any:
        """Normalises the input."""
        value = as_numbers(x)
        return self.cast(nn.layer_norm(_wide(value), self.gamma, self.beta, axis=self.axis, epsilon=self.epsilon))
