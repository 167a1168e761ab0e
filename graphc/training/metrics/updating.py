"""Updates in eager code: one program adds a batch to all sums of a metric, as one step for other threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial, wraps
from typing import Any, NamedTuple

import jax

from graphc.compiler.base import nest
from graphc.compiler.base.errors import GraphcError
from graphc.compiler.core import NO_ATTRS, Tensor, Variable, apply, array_of, busy, context, exchanged
from graphc.compiler.ir import Attrs, OpDef
from graphc.compiler.ops import as_numbers
from graphc.training.metrics.sums import ADD

__all__ = ["OpSums", "by_op", "is_plain", "updated"]


class OpSums(NamedTuple):
    """The sums of a batch, not computed yet.

    Attributes:
      op: the op that returns them.
      values: what it takes; the last are the weights, None for 1.
      attrs: its attributes.
    """

    op: OpDef
    values: tuple[Any, ...]
    attrs: Attrs = NO_ATTRS


def by_op(batch: Callable[..., OpSums]) -> Callable[..., Mapping[str, Any]]:
    """Makes the ``sums`` method of a metric from one that returns the op for it.

    ``update`` then runs this op together with the additions; a class that overrides ``sums`` is not concerned.
    """

    @wraps(batch)
    def sums(self: Any, *values: Any, **options: Any) -> Mapping[str, Any]:
        found = batch(self, *values, **options)
        try:
            tensors = [as_numbers(1.0 if value is None else value) for value in found.values]
            results: Any = apply(found.op, tensors, found.attrs)
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
    """Adds to sums what an op returns, in one program.

    Args:
      totals: the Variables that hold the sums, with what rounding took from them.
      values: what the op takes: tensors, arrays and numbers; None is left out.
      op: the op; None to add the values themselves.
      attrs: its attributes.

    Returns:
      False if that fails, with nothing changed: the ops one by one then raise the error.
    """
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
    place = old.sharding
    return new.sharding is place or new.sharding == place


@lru_cache(maxsize=512)
def _program(count: int, op: OpDef | None, attrs: Attrs) -> Callable[..., list[Any]]:
    """Returns the program that takes the sums, then what the op takes, and returns the new sums."""
    summed: Callable[..., Any] = (lambda *values: values) if op is None else partial(op.impl, **attrs)

    def update(*arrays: Any) -> list[Any]:  # flat: JAX takes a microsecond for each list among the arguments
        totals, values = arrays[:count], arrays[count:]
        found = [ADD.impl(total, more) for total, more in zip(totals, nest.as_tuple(summed(*values)), strict=True)]
        for total, new in zip(totals, found, strict=True):
            if (new.shape, new.dtype) != (total.shape, total.dtype):
                raise ValueError(f"{new.aval} is no {total.aval}")
        return found

    return jax.jit(update)
