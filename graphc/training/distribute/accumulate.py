"""Gradients of the mean loss over all rows: with any weights, over all replicas, at once or in micro-batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphc.compiler.autograph import call, scan
from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import FUNCTIONS, Tensor, Variable, context, operand
from graphc.compiler.gradients import GradientTape
from graphc.compiler.ops import as_wide, asarray
from graphc.compiler.tracing import is_array
from graphc.training.distribute.collectives import Replica


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
    indices = [index for index, leaf in enumerate(leaves) if is_array(leaf) and len(leaf.shape)]
    rows = {leaves[index].shape[0] for index in indices}
    _check(accumulate, rows)
    (count,) = rows

    def sums(parts: Sequence[Any], row_masks: Sequence[Any]) -> list[Any]:
        """Returns the weighted sum of the losses of some rows, the sum of their weights, and the sum's gradients."""
        arguments = nest.unflatten(structure, _replaced(leaves, indices, parts))
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(variables)
            losses, weights = _of_rows(call(loss)(*arguments), parts[0].shape[0])
            for mask in row_masks:
                weights = weights * FUNCTIONS["reshape"](mask, (-1, *[1] * (len(weights.shape) - 1)))
            total = FUNCTIONS["sum"](losses * weights)
        return [total, FUNCTIONS["sum"](weights), *tape.gradient(total, list(variables))]

    whole = [asarray(operand(leaves[index])) for index in indices]
    filled = None if replica is None else replica.row_weights()
    masks = [] if filled is None else [filled]
    totals = sums(whole, masks) if accumulate == 1 else _in_parts(sums, whole, masks, count, accumulate, variables)
    connected = [index for index, value in enumerate(totals) if value is not None]
    if replica is not None:
        totals = _replaced(totals, connected, replica.total([totals[index] for index in connected]))
    total, weight, *gradients = totals
    pairs = zip(gradients, variables, strict=True)
    return total / weight, [None if value is None else asarray(value / weight, to.dtype) for value, to in pairs]


def _in_parts(
    sums: Callable[..., list[Any]], whole: Sequence[Any], masks: Sequence[Any], rows: int, parts: int,
    variables: Sequence[Variable],
) -> list[Any]:  # fmt: skip
    """Returns the sums over micro-batches of every ``parts``-th row, so that rows stay on the devices of the batch."""
    size = -(-rows // parts)
    row_masks = [*masks]
    if size * parts != rows:
        index = FUNCTIONS["arange"](size * parts)
        own = FUNCTIONS["astype"](index < rows, "float32")
        index = FUNCTIONS["minimum"](index, rows - 1)
        whole = [FUNCTIONS["take"](value, index, axis=0) for value in whole]
        row_masks = [own, *(FUNCTIONS["take"](mask, index, axis=0) for mask in masks)]

    split = [FUNCTIONS["reshape"](value, (size, parts, *value.shape[1:])) for value in [*whole, *row_masks]]

    unconnected: set[int] = set()

    def add(so_far: Any, part: Any) -> Any:
        values = [FUNCTIONS["take"](value, part, axis=1) for value in split]  # without a copy of all rows
        more = sums(values[: len(whole)], values[len(whole) :])
        unconnected.update(index for index, value in enumerate(more) if value is None)
        return [before if value is None else before + value for before, value in zip(so_far, more, strict=True)], None

    zero = asarray(0.0)
    start = [zero, zero, *[as_wide(FUNCTIONS["zeros_like"](variable)) for variable in variables]]
    totals = scan(add, start, FUNCTIONS["arange"](parts))[0]
    return [None if index in unconnected else value for index, value in enumerate(totals)]


def _replaced(values: Sequence[Any], indices: Sequence[int], new: Sequence[Any]) -> list[Any]:
    copied = [*values]
    for index, value in zip(indices, new, strict=True):
        copied[index] = value
    return copied


def _of_rows(result: Any, rows: int) -> tuple[Any, Any]:
    """Returns the losses and the weights of some rows, in equal shapes."""
    pair = nest.as_tuple(result)
    losses, weights = pair if len(pair) == 2 else (result, 1.0)
    shape = losses.shape if isinstance(losses, Tensor) else ()
    if not isinstance(losses, Tensor) or not shape or shape[0] != rows:
        what = f"shape {tuple(shape)}" if isinstance(losses, Tensor) else f"{losses!r:.60}"
        raise InvalidTypeError(
            f"mean_gradients: the loss must be that of each of the {rows} rows, or a pair with their weights, got "
            f"{what}; take no mean in it, as a loss does with reduction='none'"
        ).here()
    losses = as_wide(losses)  # in half precision, sums soon stop growing
    return losses, FUNCTIONS["broadcast_to"](asarray(weights, losses.dtype), shape)


def _check(accumulate: Any, rows: set[int]) -> None:
    problem = ""
    if isinstance(accumulate, bool) or not isinstance(accumulate, int) or accumulate < 1:
        problem = f"accumulate must be an int from 1, got {accumulate!r}"
    elif len(rows) != 1 or not min(rows):
        problem = f"the tensors of the batch must have the same number of rows, and some, got {sorted(rows)}"
    if problem:
        raise InvalidArgumentError(f"mean_gradients: {problem}").here()
