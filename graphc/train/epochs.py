"""Epochs: what a step is given and gives, and an epoch as one program."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from graphc.autograph import scan
from graphc.base import nest
from graphc.function import Function, function
from graphc.ops.functions import stack
from graphc.train.callbacks import Callback

__all__ = ["arguments_of", "compiled_epoch", "numbers_of", "rows_of", "why_step_by_step"]

_MOST_BYTES = 2**28
"""How large a dataset may be that is joined into arrays for a program that runs an epoch."""


def arguments_of(batch: Any) -> tuple[Any, ...]:
    """Returns what a step is given for a batch."""
    return tuple(cast("Sequence[Any]", batch)) if isinstance(batch, tuple | list) else (batch,)


def rows_of(batch: Any) -> int:
    """Returns how many rows a batch has; 1 if nothing in it has axes."""
    shapes = [np.shape(leaf) for leaf in nest.flatten(batch)[0]]
    return next((shape[0] for shape in shapes if shape), 1)


def numbers_of(result: Any) -> dict[str, Any]:
    """Returns the numbers that a step returned, by name."""
    if isinstance(result, Mapping):
        return dict(cast("Mapping[str, Any]", result))
    return {} if result is None else {"loss": result}


def why_step_by_step(step: Any, dataset: Any, callbacks: Sequence[Callback], steps: int | None, epochs: int) -> str:
    """Returns why the epochs cannot be programs; empty if they can.

    Args:
      step: what is called for a batch.
      dataset: the batches.
      callbacks: what is called at the ends of steps and epochs.
      steps: how many batches an epoch has; None for all.
      epochs: how many epochs are left.
    """
    if not isinstance(step, Function):
        return "the step is no gx.function"
    if not isinstance(dataset, list | tuple) or steps is not None:
        return "the dataset is no list of batches, so it may give others in each epoch"
    if any(type(callback).step_end is not Callback.step_end for callback in callbacks):
        return "a callback looks at each step"
    if epochs < 3:
        return "it would be compiled for fewer than two epochs"
    leaves = nest.flatten(list(cast("Sequence[Any]", dataset)))[0]
    if any(not hasattr(leaf, "dtype") for leaf in leaves):
        return "the batches hold other things than arrays and tensors"
    return (
        "" if sum(leaf.size * leaf.dtype.itemsize for leaf in leaves) <= _MOST_BYTES else "the dataset is over 256 MB"
    )


def compiled_epoch(step: Callable[..., Any], batches: Sequence[Any]) -> tuple[Callable[[], tuple[int, Any]], int]:
    """Makes a function that runs the first batches of an epoch, those that are alike, as one program.

    Args:
      step: what is called for a batch.
      batches: those of an epoch.

    Returns:
      The function, which gives the number of rows and the numbers of all its steps by name; and how many batches it
      runs.
    """
    flat = [nest.flatten(arguments_of(batch)) for batch in batches]
    kinds = [(structure, [(leaf.shape, leaf.dtype) for leaf in leaves]) for leaves, structure in flat]
    count = sum(1 for _ in itertools.takewhile(lambda kind: kind == kinds[0], kinds))
    joined = [stack(column) for column in zip(*(leaves for leaves, _ in flat[:count]), strict=True)]

    def one(carry: Any, leaves: Any) -> Any:
        return carry, numbers_of(step(*nest.unflatten(flat[0][1], leaves)))

    def epoch(joined: Any) -> Any:
        return scan(one, None, joined)[1]

    run = function(epoch)
    return lambda: (count * rows_of(batches[0]), run(joined)), count
