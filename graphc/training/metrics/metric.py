"""Metric: sums over all rows that were seen, and what follows from them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidTypeError, UnimplementedError
from graphc.compiler.core import Tensor, Variable, apply, context, shorten
from graphc.compiler.ops import as_numbers, reshape, zeros
from graphc.library.states import Stateful
from graphc.training.metrics.sums import ADD, TOTAL
from graphc.training.metrics.updating import OpSums, is_plain, updated

__all__ = ["Metric"]


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
        error = UnimplementedError(f"{kind} is a Metric without a sums method; write {kind}.sums(self, y_true, y_pred)")
        raise at(error, user_location())

    def result(self) -> Tensor:
        """Returns the metric of all rows since the last :meth:`reset`; subclasses override it."""
        kind = type(self).__name__
        error = UnimplementedError(f"{kind} is a Metric without a result method; write {kind}.result(self)")
        raise at(error, user_location())

    def update(self, *values: Any, **options: Any) -> None:
        """Takes a batch in; the arguments are those of the metric's :meth:`sums`.

        Rows that only fill up a batch (``uneven="mask"``) do not count.

        Raises:
          UnimplementedError: there are such rows, and :meth:`sums` takes no ``sample_weight``.
        """
        kept = None if context.replica is None else context.replica.weights
        if kept is not None and values and as_numbers(values[0]).shape[:1] == kept.shape:
            values, options = self._weighted(kept, values, options)
        plain = is_plain()
        batch: Any = getattr(type(self).sums, "batch", None)
        if plain and batch is not None:
            found: OpSums = batch(self, *values, **options)
            if updated(list(self._totals.values()), found.values, found.op, found.attrs):
                return
        sums = self.sums(*values, **options)
        added = list(sums.values()) if context.replica is None else context.replica.total(list(sums.values()))
        totals = [self._totals[key] for key in sums]
        if plain and updated(totals, added):
            return
        for total, more in zip(totals, added, strict=True):
            total.assign(apply(ADD, (total, more)))

    def _weighted(
        self, kept: Any, values: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the arguments of :meth:`sums`, with the weights of rows in that of the examples."""
        signature = inspect.signature(self.sums)
        if "sample_weight" not in signature.parameters:
            error = UnimplementedError(
                f"{self.name}: some rows only fill up the batch (uneven='mask'), and {type(self).__name__}.sums takes "
                "no sample_weight to leave them out; let it take one, or use DataParallel(uneven='repeat')"
            )
            raise at(error, user_location())
        bound = signature.bind(*values, **options)
        if (weight := bound.arguments.get("sample_weight")) is not None:
            weight = as_numbers(weight)
            kept = weight * reshape(kept, (-1, *[1] * (weight.ndim - 1))) if weight.ndim else weight * kept
        bound.arguments["sample_weight"] = kept
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
                error = InvalidTypeError(f"{self.name}: merge takes metrics of the same kind, got {other!r:.60}")
                raise at(error, user_location())
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
