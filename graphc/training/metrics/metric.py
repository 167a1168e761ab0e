"""Metric: sums over all rows that were seen, and what follows from them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial, wraps
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from graphc.compiler.base import nest
from graphc.compiler.base.errors import GraphcError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import NO_ATTRS, Tensor, Variable, apply, array_of, busy, context, exchanged, shorten
from graphc.compiler.ir import OPS, Attrs, OpDef
from graphc.compiler.ops import as_numbers, infer_by_evaluation, reshape, zeros
from graphc.library.states import Stateful

# Sums of metrics over the rows of a batch, as ops: one kernel each in eager mode.


def _weights(weights: Any, shape: tuple[int, ...]) -> Any:
    """A weight for each element: those given are for the first axes, and may have an axis of size 1 at their end."""
    if weights is None:
        return jnp.ones(shape, jnp.float32)
    if weights.ndim == len(shape) + 1 and weights.shape[-1] == 1:
        weights = weights[..., 0]
    weights = weights.reshape((*weights.shape, *[1] * (len(shape) - weights.ndim)))
    return jnp.broadcast_to(weights.astype(jnp.float32), shape)


def _alike(labels: Any, predictions: Any) -> tuple[Any, Any]:
    """Both of one shape: an axis of size 1 at the end that only one of them has is left out."""
    short = [value.shape[:-1] if value.shape[-1:] == (1,) else None for value in (labels, predictions)]
    if predictions.shape == short[0]:
        labels = labels[..., 0]
    elif labels.shape == short[1]:
        predictions = predictions[..., 0]
    if labels.shape != predictions.shape:
        raise ValueError(f"labels have shape {labels.shape} and predictions {predictions.shape}; they must be equal")
    return labels, predictions


def _classes(labels: Any, predictions: Any) -> tuple[Any, Any]:
    """Class numbers: of labels with an axis of size 1 too much, and of predictions that are scores."""
    if predictions.ndim == labels.ndim and labels.shape[-1:] == (1,) and predictions.shape[-1] > 1:
        labels = labels[..., 0]
    if predictions.ndim == labels.ndim + 1 and predictions.shape[-1] > 1:
        predictions = jnp.argmax(predictions, axis=-1)
    return _alike(labels, predictions)


def _weighted(values: Any, weights: Any = None) -> tuple[Any, Any]:
    weights = _weights(weights, values.shape)
    return jnp.sum(values.astype(jnp.float32) * weights), jnp.sum(weights)


def _matches(labels: Any, predictions: Any, weights: Any = None, *, kind: str, threshold: float) -> tuple[Any, Any]:
    if kind == "sparse":
        labels, predictions = _classes(labels, predictions)
    elif kind == "categorical":
        labels, predictions = (jnp.argmax(value, axis=-1) for value in _alike(labels, predictions))
    else:
        labels, predictions = _alike(labels, predictions)
    if kind == "binary":
        predictions = (predictions > threshold).astype(labels.dtype)
    return _weighted(labels == predictions, weights)


def _above(labels: Any, predictions: Any, weights: Any = None, *, thresholds: tuple[float, ...]) -> tuple[Any, ...]:
    """By threshold the weight of true and of false positives, then that of all positives and of all negatives."""
    labels, predictions = _alike(labels, predictions)
    weights = _weights(weights, labels.shape).reshape(-1)
    positive = labels.reshape(-1).astype(bool)
    above = predictions.reshape(-1) > jnp.asarray(thresholds, jnp.float32)[:, None]
    true, false = jnp.where(positive, weights, 0), jnp.where(positive, 0, weights)
    both = [jnp.sum(jnp.where(above, part, 0), axis=-1) for part in (true, false)]
    return (*both, jnp.sum(true), jnp.sum(false))


def _confusion(labels: Any, predictions: Any, weights: Any = None, *, num_classes: int) -> Any:
    labels, predictions = _classes(labels, predictions)
    weights = _weights(weights, labels.shape)
    bad = (jnp.minimum(labels, predictions) < 0) | (jnp.maximum(labels, predictions) >= num_classes)
    cells = jnp.where(bad, num_classes**2, labels.astype(jnp.int32) * num_classes + predictions.astype(jnp.int32))
    counts = jnp.zeros(num_classes**2, jnp.float32).at[cells.reshape(-1)].add(weights.reshape(-1), mode="drop")
    # A class that is none must not vanish without a word: it makes everything NaN, as in the sparse cross-entropy.
    return jnp.where(jnp.any(bad), jnp.nan, counts).reshape(num_classes, num_classes)


def _add(total: Any, more: Any) -> Any:
    """Returns a sum and what rounding took from it, with another number added (Knuth's two-sum)."""
    high, low = total[0], total[1]
    new = high + more
    part = new - high
    return jnp.stack([new, low + (high - (new - part)) + (more - part)])


def _total(total: Any) -> Any:
    return total[0] + total[1]


def _ratio(above: Any, below: Any) -> Any:
    """A quotient, 0 where there is nothing to divide by."""
    return jnp.where(below > 0, above / jnp.where(below > 0, below, 1), 0)


def _total_ratio(above: Any, below: Any) -> Any:
    return _ratio(_total(above), _total(below))


def _define(name: str, impl: Callable[..., Any], params: str, doc: str) -> OpDef:
    op = OpDef(
        name, impl=impl, infer=infer_by_evaluation(impl), params=tuple(params.split()), differentiable=False, doc=doc
    )
    return OPS.add(name, op)


_ROWS = "labels predictions weights"
WEIGHTED = _define("metrics.weighted", _weighted, "values weights", "The weighted sum, and the sum of the weights.")
MATCHES = _define("metrics.matches", _matches, _ROWS, "The weight of right predictions, and the sum of the weights.")
ABOVE = _define("metrics.above", _above, _ROWS, "The weights of positives above thresholds, and of all.")
CONFUSION = _define("metrics.confusion", _confusion, _ROWS, "The weight of each pair of label and prediction.")
TOTAL = _define("metrics.total", _total, "total", "A sum, of which the rounding error is kept apart.")
RATIO = _define("metrics.ratio", _ratio, "above below", "A quotient, 0 where there is nothing to divide by.")
TOTAL_RATIO = _define("metrics.total_ratio", _total_ratio, "above below", "The quotient of two such sums.")
ADD = _define("metrics.add", _add, "total more", "A sum and its rounding error, with a number added.")


# Updates in eager code: one program adds a batch to all sums of a metric, as one step for other threads.


class OpSums(NamedTuple):
    """The sums of a batch, not computed yet. ``values``: what it takes; the last are the weights, None for 1."""

    op: OpDef
    values: tuple[Any, ...]
    attrs: Attrs = NO_ATTRS


def by_op(batch: Callable[..., OpSums]) -> Callable[..., Mapping[str, Any]]:
    """Makes the ``sums`` method of a metric from one that returns the op for it."""
    # ``update`` then runs this op together with the additions; a class that overrides ``sums`` is not concerned.

    @wraps(batch)
    def sums(self: Any, *values: Any, **options: Any) -> Mapping[str, Any]:
        summed = batch(self, *values, **options)
        try:
            tensors = [as_numbers(1.0 if value is None else value) for value in summed.values]
            results: Any = apply(summed.op, tensors, summed.attrs)
        except GraphcError as error:
            error.args = (f"{self.name}: {error.args[0]}",)
            raise
        return dict(zip(self.named_variables(), nest.as_tuple(results), strict=True))

    vars(sums)["batch"] = batch
    return sums


def is_plain() -> bool:
    """Returns True if nothing looks at the ops of this thread: no trace, tape, device scope or counter."""
    return not busy or context.eager


def updated(
    totals: Sequence[Variable], values: Sequence[Any], op: OpDef | None = None, attrs: Attrs = NO_ATTRS
) -> bool:
    """Adds to sums what an op, or None for the values themselves, returns, in one program."""
    # ``totals`` hold the sums, with what rounding took from them.
    try:
        program = _program(len(totals), op, attrs)
        arrays = [
            value.raw if type(value) is Tensor else as_numbers(value).raw for value in values if value is not None
        ]
        while True:
            before = [array_of(total) for total in totals]
            after = program(*before, *arrays)
            if not all(map(_is_where, after, before)):
                return False
            if exchanged(totals, before, after):
                return True
    except Exception:
        return False


def _is_where(new: jax.Array, old: jax.Array) -> bool:
    home = old.sharding
    return new.sharding is home or new.sharding == home


@lru_cache(maxsize=512)
def _program(count: int, op: OpDef | None, attrs: Attrs) -> Callable[..., list[Any]]:
    """Returns the program that takes the sums, then what the op takes, and returns the new sums."""
    summed: Callable[..., Any] = (lambda *values: values) if op is None else partial(op.impl, **attrs)

    def update(*arrays: Any) -> list[Any]:  # flat: JAX takes a microsecond for each list among the arguments
        totals, values = arrays[:count], arrays[count:]
        sums = [ADD.impl(total, more) for total, more in zip(totals, nest.as_tuple(summed(*values)), strict=True)]
        for total, new in zip(totals, sums, strict=True):
            if (new.shape, new.dtype) != (total.shape, total.dtype):
                raise ValueError(f"{new.aval} is no {total.aval}")
        return sums

    return jax.jit(update)


class Metric(Stateful):
    """Sums over all rows that were seen, in Variables. Derive from it to write a metric.

    A subclass says the shapes of its sums and overrides :meth:`sums` and :meth:`result`. Each sum is kept with what
    rounding took from it, so that a count stays exact far beyond the 16.7 million that a float32 counts to, and a mean
    over many batches is that over all rows. Inside a data-parallel step the sums of all replicas are added.

    Args:
      name: for people; that of the class in lower case when None.
      shapes: the shape of each sum, by name.

    Example:
      >>> import graphc as gx
      >>> class RootMeanSquare(gx.metrics.Metric):
      ...     def __init__(self):
      ...         super().__init__(shapes={"squares": (), "count": ()})
      ...     def sums(self, values):
      ...         return {"squares": gx.sum(values**2), "count": gx.asarray(float(values.size))}
      ...     def result(self):
      ...         return gx.sqrt(self.total("squares") / self.total("count"))
      >>> metric = RootMeanSquare()
      >>> metric.update(gx.asarray([3.0, 4.0]))
      >>> metric.update(gx.asarray([0.0, 0.0]))
      >>> metric.result().item()
      2.5
    """

    def __init__(self, name: str | None = None, *, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.name = name or type(self).__name__.lower()
        self._totals = {
            key: Variable(zeros((2, *shape), "float32"), trainable=False, name=f"{self.name}/{key}")
            for key, shape in shapes.items()
        }

    def sums(self, *values: Any, **options: Any) -> Mapping[str, Any]:
        """Returns what a batch adds to each sum; subclasses override it."""
        del values, options
        kind = type(self).__name__
        raise UnimplementedError(
            f"{kind} is a Metric without a sums method; write {kind}.sums(self, y_true, y_pred)"
        ).here()

    def result(self) -> Tensor:
        """Returns the metric of all rows since the last :meth:`reset`; subclasses override it."""
        kind = type(self).__name__
        raise UnimplementedError(f"{kind} is a Metric without a result method; write {kind}.result(self)").here()

    def update(self, *values: Any, **options: Any) -> None:
        """Takes a batch in; the arguments are those of the metric's :meth:`sums`.

        Rows that only fill up a batch (``uneven="mask"``) do not count.

        Raises:
          UnimplementedError: there are such rows, and :meth:`sums` takes no ``sample_weight``.
        """
        weights = None if context.replica is None else context.replica.weights
        if weights is not None and values and as_numbers(values[0]).shape[:1] == weights.shape:
            values, options = self._weighted(weights, values, options)
        plain = is_plain()
        batch: Any = getattr(type(self).sums, "batch", None)
        if plain and batch is not None:
            summed: OpSums = batch(self, *values, **options)
            if updated(list(self._totals.values()), summed.values, summed.op, summed.attrs):
                return
        sums = self.sums(*values, **options)
        added = list(sums.values()) if context.replica is None else context.replica.total(list(sums.values()))
        totals = [self._totals[key] for key in sums]
        if plain and updated(totals, added):
            return
        for total, more in zip(totals, added, strict=True):
            total.assign(apply(ADD, (total, more)))

    def _weighted(
        self, row_weights: Any, values: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the arguments of :meth:`sums`, with the weights of rows in that of the examples."""
        signature = inspect.signature(self.sums)
        if "sample_weight" not in signature.parameters:
            raise UnimplementedError(
                f"{self.name}: some rows only fill up the batch (uneven='mask'), and {type(self).__name__}.sums takes "
                "no sample_weight to leave them out; let it take one, or use DataParallel(uneven='repeat')"
            ).here()
        bound = signature.bind(*values, **options)
        if (weight := bound.arguments.get("sample_weight")) is not None:
            weight = as_numbers(weight)
            row_weights = (
                weight * reshape(row_weights, (-1, *[1] * (weight.ndim - 1))) if weight.ndim else weight * row_weights
            )
        bound.arguments["sample_weight"] = row_weights
        return bound.args, bound.kwargs

    def total(self, key: str) -> Tensor:
        """Returns a sum over all rows."""
        return apply(TOTAL, (self._totals[key].value(),))

    def reset(self) -> None:
        """Forgets all rows."""
        for total in self._totals.values():
            total.assign(zeros(total.shape, total.dtype))

    def merge(self, others: Metric | Iterable[Metric]) -> None:
        """Takes in the rows that other metrics have seen.

        Args:
          others: metrics of the same class and settings, such as one for each process.

        Raises:
          InvalidTypeError: one is of another class, or has sums of other shapes.
        """
        for other in [others] if isinstance(others, Metric) else list(others):
            if type(other) is not type(self) or self._shapes() != other._shapes():
                raise InvalidTypeError(f"{self.name}: merge takes metrics of the same kind, got {other!r:.60}").here()
            for key, total in self._totals.items():
                high, low = other._totals[key].value()
                total.assign(apply(ADD, (apply(ADD, (total, high)), low)))

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {key: total.shape for key, total in self._totals.items()}

    @property
    def variables(self) -> list[Variable]:
        """The Variables that hold the sums."""
        return list(self._totals.values())

    def named_variables(self) -> dict[str, Variable]:
        """Returns the Variables that hold the sums, by name."""
        return dict(self._totals)

    # Keras's names.

    def update_state(self, *values: Any, **options: Any) -> None:
        """Takes a batch in, as :meth:`update` (Keras's name)."""
        try:
            self.update(*values, **options)
        except Exception as error:
            shorten(error)
            raise

    def reset_state(self) -> None:
        """Forgets all rows, as :meth:`reset` (Keras's name)."""
        self.reset()

    def __call__(self, *values: Any, **options: Any) -> Tensor:
        """Takes a batch in and returns the metric of all rows so far."""
        self.update(*values, **options)
        return self.result()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"
