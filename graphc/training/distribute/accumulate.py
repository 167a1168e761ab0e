"""Gradients of the mean loss over all rows: with any weights, over all replicas, at once or in micro-batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphc.compiler.autograph import call, scan
from graphc.compiler.base import at, nest, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import FUNCTIONS, Tensor, Variable, context, operand
from graphc.compiler.gradients import GradientTape
from graphc.compiler.ops import as_wide, asarray
from graphc.compiler.tracing import is_array
from graphc.training.distribute.axes import Replica

__all__ = ["mean_gradients"]


def mean_gradients(
    loss: Callable[..., Any], variables: Sequence[Variable], *batch: Any, accumulate: int | None = None
) -> tuple[Tensor, list[Tensor | None]]:
    """Returns the mean of the losses of all rows, and its gradients.

    The gradients of the weighted sum, and the weights, are summed over micro-batches and over the replicas of a
    data-parallel step, and divided once. So the result equals that of the whole batch, for any weights, devices and
    micro-batches. Only one micro-batch at a time has its activations in memory.

    Args:
      loss: a function of (a part of) the batch; returns the loss of each row, or a pair: the losses, and the weight
        of each in the mean.
      variables: the Variables to differentiate with respect to.
      *batch: the arguments of ``loss``; tensors have the rows on axis 0, in nested structures too.
      accumulate: the number of successive micro-batches; that of the enclosing data-parallel step when
        None, else 1. Rows need not divide by it: copies fill the last micro-batch, with no weight. Layers that mix
        rows, such as batch normalization, see a micro-batch at a time.

    Returns:
      The mean loss, a scalar, and the gradient of each Variable, None if the loss does not depend on it. They are the
      same on all replicas.

    Raises:
      InvalidTypeError: the loss does not return one loss, or one loss and one weight, for each row.
      InvalidArgumentError: ``accumulate`` is not an int of at least 1, or the batch has no rows.

    Example:
      >>> import graphc as gx
      >>> w = gx.Variable(2.0)
      >>> x = gx.asarray([1.0, 2.0, 6.0])
      >>> loss, [gradient] = gx.distribute.mean_gradients(lambda x: w * x, [w], x, accumulate=2)
      >>> loss.item(), gradient.item()
      (6.0, 3.0)
    """
    replica = context.replica if isinstance(context.replica, Replica) else None
    if accumulate is None:
        accumulate = 1 if replica is None else replica.wanted_parts()
    leaves, structure = nest.flatten(batch)
    places = [place for place, leaf in enumerate(leaves) if is_array(leaf) and len(leaf.shape)]
    rows = {leaves[place].shape[0] for place in places}
    _check(accumulate, rows)
    (count,) = rows

    def sums(parts: Sequence[Any], kept: Sequence[Any]) -> list[Any]:
        """Returns the weighted sum of the losses of some rows, the sum of their weights, and the sum's gradients."""
        given = nest.unflatten(structure, _replaced(leaves, places, parts))
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(variables)
            losses, weights = _of_rows(call(loss)(*given), parts[0].shape[0])
            for mask in kept:
                weights = weights * FUNCTIONS["reshape"](mask, (-1, *[1] * (len(weights.shape) - 1)))
            total = FUNCTIONS["sum"](losses * weights)
        return [total, FUNCTIONS["sum"](weights), *tape.gradient(total, list(variables))]

    whole = [asarray(operand(leaves[place])) for place in places]
    filled = None if replica is None else replica.row_weights()
    masks = [] if filled is None else [filled]
    found = sums(whole, masks) if accumulate == 1 else _in_parts(sums, whole, masks, count, accumulate, variables)
    known = [place for place, value in enumerate(found) if value is not None]
    if replica is not None:
        found = _replaced(found, known, replica.total([found[place] for place in known]))
    total, weight, *gradients = found
    pairs = zip(gradients, variables, strict=True)
    return total / weight, [None if value is None else asarray(value / weight, to.dtype) for value, to in pairs]


def _in_parts(
    sums: Callable[..., list[Any]], whole: Sequence[Any], masks: Sequence[Any], rows: int, parts: int,
    variables: Sequence[Variable],
) -> list[Any]:  # fmt: skip
    """Returns the sums over micro-batches of every ``parts``-th row, so that rows stay on the devices of the batch."""
    size = -(-rows // parts)
    kept = [*masks]
    if size * parts != rows:
        place = FUNCTIONS["arange"](size * parts)
        own = FUNCTIONS["astype"](place < rows, "float32")
        place = FUNCTIONS["minimum"](place, rows - 1)
        whole = [FUNCTIONS["take"](value, place, axis=0) for value in whole]
        kept = [own, *(FUNCTIONS["take"](mask, place, axis=0) for mask in masks)]

    split = [FUNCTIONS["reshape"](value, (size, parts, *value.shape[1:])) for value in [*whole, *kept]]

    unconnected: set[int] = set()

    def add(so_far: Any, part: Any) -> Any:
        values = [FUNCTIONS["take"](value, part, axis=1) for value in split]  # without a copy of all rows
        more = sums(values[: len(whole)], values[len(whole) :])
        unconnected.update(place for place, value in enumerate(more) if value is None)
        return [before if value is None else before + value for before, value in zip(so_far, more, strict=True)], None

    zero = asarray(0.0)
    start = [zero, zero, *[as_wide(FUNCTIONS["zeros_like"](variable)) for variable in variables]]
    found = scan(add, start, FUNCTIONS["arange"](parts))[0]
    return [None if place in unconnected else value for place, value in enumerate(found)]


def _replaced(values: Sequence[Any], places: Sequence[int], new: Sequence[Any]) -> list[Any]:
    found = [*values]
    for place, value in zip(places, new, strict=True):
        found[place] = value
    return found


def _of_rows(found: Any, rows: int) -> tuple[Any, Any]:
    """Returns the losses and the weights of some rows, in equal shapes."""
    pair = nest.as_tuple(found)
    losses, weights = pair if len(pair) == 2 else (found, 1.0)
    shape = losses.shape if isinstance(losses, Tensor) else ()
    if not isinstance(losses, Tensor) or not shape or shape[0] != rows:
        what = f"shape {tuple(shape)}" if isinstance(losses, Tensor) else f"{losses!r:.60}"
        error = InvalidTypeError(
            f"mean_gradients: the loss must be that of each of the {rows} rows, or a pair with their weights, got "
            f"{what}; take no mean in it, as a loss does with reduction='none'"
        )
        raise at(error, user_location())
    losses = as_wide(losses)  # in half precision, sums soon stop growing
    return losses, FUNCTIONS["broadcast_to"](asarray(weights, losses.dtype), shape)


def _check(accumulate: Any, rows: set[int]) -> None:
    problem = ""
    if isinstance(accumulate, bool) or not isinstance(accumulate, int) or accumulate < 1:
        problem = f"accumulate must be an int from 1, got {accumulate!r}"
    elif len(rows) != 1 or not min(rows):
        problem = f"the tensors of the batch must have the same number of rows, and some, got {sorted(rows)}"
    if problem:
        raise at(InvalidArgumentError(f"mean_gradients: {problem}"), user_location())
