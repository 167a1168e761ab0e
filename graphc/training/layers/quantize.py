"""``quantize``: a trained model with weights of 8 bits, and what that costs it."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, cast

import jax.numpy as jnp
import numpy as np

from graphc.compiler.base.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    UnimplementedError,
)
from graphc.compiler.core import Tensor, Variable, operand
from graphc.compiler.ops import asarray, astype, matmul
from graphc.training.layers.layer import Layer
from graphc.training.layers.module import Module

_LEVELS = 127  # symmetric: -128 is not used


class QuantizedWeight(Module):
    """A weight as 8-bit integers and a scale for each channel, the last axis; see :func:`quantize`.

    Functions of tensors take it as the tensor that it stands for.

    Attributes:
      values: the Variable with the integers.
      scale: the Variable with what one step of each channel stands for.
      dtype: of the tensor.
    """

    def __init__(self, weight: Variable) -> None:
        array = weight.numpy().astype(np.float32)
        largest = np.abs(array).max(axis=tuple(range(array.ndim - 1)), initial=0.0)
        scale = np.where(largest > 0, largest / _LEVELS, 1.0).astype(np.float32)
        values = np.clip(np.rint(array / scale), -_LEVELS, _LEVELS).astype(np.int8)
        self.dtype = weight.dtype
        self.values = Variable(values, trainable=False, name=f"{weight.name}/values")
        self.scale = Variable(scale, trainable=False, name=f"{weight.name}/scale")

    __array_ufunc__ = None  # NumPy leaves products to this class

    def __matmul__(self, other: Any) -> Tensor:
        return matmul(self.dequantized(), other)

    def __rmatmul__(self, other: Any) -> Tensor:
        return matmul(other, self.dequantized())

    @property
    def shape(self) -> Any:
        """The shape of the tensor."""
        return self.values.shape

    def dequantized(self) -> Tensor:
        """Returns the tensor that it stands for, in floating point."""
        return astype(astype(self.values, "float32") * self.scale, self.dtype)


@operand.register(QuantizedWeight)
def _operand(value: QuantizedWeight) -> Tensor:
    return value.dequantized()


@dataclass(frozen=True)
class WeightReport:
    """A report on one weight.

    Attributes:
      name: where it is found in the model.
      shape: of it.
      bytes_before: that it took.
      bytes_after: that its integers and scales take.
      error: the root mean square of what rounding changed, as a part of that of the weight.
    """

    name: str
    shape: tuple[int, ...]
    bytes_before: int
    bytes_after: int
    error: float


@dataclass(frozen=True)
class QuantizationReport:
    """The report of :func:`quantize`.

    Attributes:
      weights: those that are quantized.
      bytes_before: of all Variables of the model.
      bytes_after: of all Variables of the quantized one.
      metric: the name of what both were measured by; empty if by nothing.
      before: the metric of the model.
      after: that of the quantized one.
    """

    weights: tuple[WeightReport, ...]
    bytes_before: int
    bytes_after: int
    metric: str = ""
    before: float | None = None
    after: float | None = None

    def __str__(self) -> str:
        part = self.bytes_after / self.bytes_before
        lines = [
            f"{len(self.weights)} weights in 8 bits: {self.bytes_before:,} bytes to {self.bytes_after:,} ({part:.0%})"
        ]
        lines += [
            f"  {weight.name} {weight.shape}: {weight.bytes_before:,} to {weight.bytes_after:,}, changed by "
            f"{weight.error:.2%}"
            for weight in self.weights
        ]
        if self.before is not None and self.after is not None:
            lines.append(f"{self.metric}: {self.before:.4f} before, {self.after:.4f} after")
        return "\n".join(lines)


class MetricLike(Protocol):
    """The interface of a metric that evaluates a model, such as one of ``gx.metrics``."""

    def reset(self) -> None:
        """Forgets what it has seen."""
        ...

    def update(self, *values: Any) -> None:
        """Sees labels and outputs of a batch."""
        ...

    def result(self) -> Any:
        """Returns the value for all that it has seen."""
        ...


def quantize(
    model: Layer, bits: int = 8, *, data: Any = None, metric: MetricLike | None = None
) -> tuple[Any, QuantizationReport]:
    """Makes a copy of a trained model whose weights are 8-bit integers with a scale for each channel.

    Every floating Variable of two axes or more that is an attribute of a layer becomes a :class:`QuantizedWeight`:
    kernels and embeddings, not biases, norms, or what is in lists. Rounding is symmetric: the largest weight of a
    channel, an index of the last axis, becomes 127 or -127. Programs read the integers and make floating numbers of
    them where they are used, so that activations stay as they are. The copy is for inference: its integers are not
    trained.

    Args:
      model: a layer that has its Variables: one that was called.
      bits: of the integers; 8.
      data: what to measure on: a tuple of arrays ``(x, y)``, or a dataset or list of such batches.
      metric: such as ``gx.metrics.SparseCategoricalAccuracy()``; it is given ``(y, outputs)``, and reset before.

    Returns:
      The copy, and a report of the bytes of each weight, and of the metric before and after.

    Raises:
      InvalidTypeError: the model is no layer.
      FailedPreconditionError: it has no weights to quantize, or a weight has numbers that are not finite.
      InvalidArgumentError: one of ``data`` and ``metric`` is given without the other, or there are no batches.
      UnimplementedError: other ``bits`` than 8.

    Example:
      >>> import graphc as gx
      >>> model = gx.layers.Sequential([gx.layers.Dense(64, in_features=32), gx.layers.Dense(8, in_features=64)])
      >>> small, report = gx.layers.quantize(model)
      >>> small(gx.ones((1, 32))).shape, report.bytes_before, report.bytes_after
      ((1, 8), 10528, 3136)
    """
    _check(model, bits, data, metric)
    copied = copy.deepcopy(model)
    names = {id(variable): name for name, variable in copied.named_variables().items()}
    quantized: dict[int, QuantizedWeight] = {}
    reports: list[WeightReport] = []
    for layer in (copied, *copied.submodules):
        for attribute, weight in list(vars(layer).items()):
            if isinstance(weight, Variable) and len(weight.shape) > 1 and jnp.issubdtype(weight.dtype, jnp.floating):
                if id(weight) not in quantized:
                    _check_finite(names[id(weight)], weight)
                    quantized[id(weight)] = QuantizedWeight(weight)
                    reports.append(_report(names[id(weight)], weight, quantized[id(weight)]))
                setattr(layer, attribute, quantized[id(weight)])
    if not reports:
        raise FailedPreconditionError(
            f"quantize: {model.name!r} has no floating Variables of two axes or more as attributes of its layers; call "
            "it once, so that it makes them"
        ).here()
    before = after = None
    if metric is not None:
        before, after = _measured(model, data, metric), _measured(copied, data, metric)
    name = "" if metric is None else str(getattr(metric, "name", type(metric).__name__))
    return copied, QuantizationReport(tuple(reports), _bytes(model), _bytes(copied), name, before, after)


def _check_finite(name: str, weight: Variable) -> None:
    with np.errstate(over="ignore"):
        finite = np.isfinite(weight.numpy().astype(np.float32))
    if not finite.all():
        raise FailedPreconditionError(
            f"quantize: {np.size(finite) - np.count_nonzero(finite)} of {np.size(finite)} numbers of {name!r} are NaN, "
            "infinite or too large for float32, which no scale fits; restore weights from before the training diverged"
        ).here()


def _report(name: str, weight: Variable, quantized: QuantizedWeight) -> WeightReport:
    exact = weight.numpy().astype(np.float64)
    difference = quantized.dequantized().numpy().astype(np.float64) - exact
    error = float(np.sqrt((difference**2).mean() / max((exact**2).mean(), np.finfo(np.float64).tiny)))
    size = quantized.values.numpy().nbytes + quantized.scale.numpy().nbytes
    return WeightReport(name, tuple(weight.shape), weight.numpy().nbytes, size, error)


def _bytes(model: Layer) -> int:
    return sum(variable.raw.nbytes for variable in model.variables)


def _measured(model: Layer, data: Any, metric: MetricLike) -> float:
    pair = isinstance(data, tuple) and hasattr(cast("tuple[Any, ...]", data)[0], "shape")
    metric.reset()
    count = 0
    for x, y in cast("Iterable[Any]", [data] if pair else data):
        metric.update(y, model(asarray(x)))
        count += 1
    if not count:
        raise InvalidArgumentError("quantize: data has no batches to measure on").here()
    return float(metric.result())


def _check(model: Any, bits: Any, data: Any, metric: Any) -> None:
    if not isinstance(model, Layer):
        raise InvalidTypeError(f"quantize: expected a layer or a model of layers, got {model!r:.60}").here()
    if bits != 8:
        raise UnimplementedError(f"quantize: weights are made 8 bits wide, not {bits!r:.20}").here()
    if (data is None) != (metric is None):
        raise InvalidArgumentError(
            "quantize: give both data and metric, such as data=(x, y), metric=gx.metrics.SparseCategoricalAccuracy(), "
            "or neither"
        ).here()
