"""fit: a training loop. It is short: copy it, and change it as you like."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Never, cast

from graphc.compiler.base import at, refuse_options, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import shorten
from graphc.training.distribute import process_index
from graphc.training.layers import Layer
from graphc.training.train.callbacks import Callback
from graphc.training.train.epochs import arguments_of, compiled_epoch, numbers_of, rows_of, skip_passes
from graphc.training.train.history import History
from graphc.training.train.progress import TrainingProgress, mean_of

__all__ = ["fit"]


def fit(
    step: Callable[..., Any],
    dataset: Iterable[Any],
    epochs: int = 1,
    *,
    steps: int | None = None,
    validation: tuple[Callable[..., Any], Iterable[Any]] | None = None,
    callbacks: Sequence[Callback] = (),
    history: History | None = None,
    progress: bool = True,
    **unsupported: Never,
) -> History:
    """Trains: calls a step for each batch of a dataset, for several epochs.

    A step takes a batch, updates the weights and returns the loss, or numbers by name. The history has their means over
    the rows of an epoch, also with a smaller last batch.

    If the step is a ``gx.function`` and the dataset a ``gx.data.Dataset`` of arrays in memory, each epoch from the
    second on is one program, with the same batches as a Python loop; ``history.how`` says whether it is, and why not.

    Args:
      step: the step; a batch that is a tuple or list is given as several arguments, else as one.
      dataset: the batches; each epoch iterates over it once. An iterator continues where it was, see ``steps``.
      epochs: the total number of epochs, including those that ``history`` already has.
      steps: the number of batches in an epoch, for endless datasets; all when None.
      validation: a function of a batch that returns numbers as a step does, and its dataset. Their names begin with
        ``val_`` in the history.
      callbacks: the callbacks, such as :class:`EarlyStopping`, :class:`Checkpoints`, :class:`CSVLog`.
      history: a history to continue; a new one when None. Restored with a checkpoint, it makes ``fit`` go on where that
        was saved.
      progress: whether to show a progress bar, and a line for each epoch; with several processes, the first one shows
        it.
      **unsupported: for the options of Keras's ``fit``: a message says what to write instead.

    Returns:
      The history.

    Raises:
      InvalidTypeError: the step is no function, ``validation`` no pair of a function and batches, or the step returns
        something else than numbers.
      InvalidArgumentError: an epoch has no batches.

    Example:
      >>> import graphc as gx
      >>> w, optimizer = gx.Variable(0.0), gx.optim.SGD(0.1)
      >>> @gx.function
      ... def step(x):
      ...     return optimizer.minimize(lambda: gx.mean((w - x) ** 2), [w])
      >>> history = gx.train.fit(step, [gx.asarray([1.0, 3.0]), gx.asarray([2.0])], epochs=20, progress=False)
      >>> round(w.item(), 2), len(history)
      (2.0, 20)
    """
    _check(step, validation)
    refuse_options("fit", unsupported, _INSTEAD)
    history = History() if history is None else history
    history.why_stopped = history.how = ""
    names = [name for name in history.values if not name.startswith("val_")]
    program: Any = None
    skip_passes(dataset, history.resumed)
    history.resumed = 0
    try:
        with ExitStack() as ends:
            shows = progress and process_index() == 0
            tell = ends.enter_context(TrainingProgress(epochs, history)) if shows else None
            for callback in callbacks:
                callback.start(history)
                ends.callback(callback.end, history)
            while len(history) < epochs and not history.why_stopped:
                batches = dataset if steps is None else itertools.islice(dataset, steps)
                if len(history) and not history.how:  # Variables are made now, and it is known what a step returns
                    program, history.how = compiled_epoch(step, batches, callbacks, names)
                parts = _steps(step, batches, callbacks, tell) if program is None else [program()]
                numbers = _mean(parts, "the step")
                names = list(numbers)
                if validation is not None:
                    found = _mean(_steps(*validation), "the validation")
                    numbers.update({f"val_{name}": value for name, value in found.items()})
                history.append(numbers)
                for callback in callbacks:
                    callback.epoch_end(history)
                if tell is not None:
                    tell.epoch_end()
    except Exception as error:
        shorten(error)
        raise
    return history


_STEP = "write a step that calls optimizer.minimize(loss, model): gx.train.fit(step, dataset)"
_INSTEAD = {
    **dict.fromkeys(("optimizer", "loss", "metrics"), _STEP),
    "validation_data": "write validation=(function, dataset), with a function that returns numbers for a batch",
    "batch_size": "write dataset.batch(n)",
    "verbose": "write progress=False or progress=True",
    "steps_per_epoch": "write steps=",
}
"""What Keras's ``fit`` takes, and what to write instead."""


def _check(step: Any, validation: Any) -> None:
    """Raises an error for objects that are easily mistaken for a step or for the validation pair."""
    if isinstance(step, Layer) or not callable(step):
        text = (
            "fit: fit takes a step function, which computes a loss for a batch, updates the weights and returns the "
            f"loss, got {type(step).__name__}; write one with optimizer.minimize"
        )
        raise at(InvalidTypeError(text), user_location())
    if validation is None:
        return
    pair = cast("Sequence[Any]", validation) if isinstance(validation, tuple | list) else ()
    if len(pair) != 2 or not callable(pair[0]):
        text = (
            "fit: validation is a pair (function, batches): a function that returns numbers for a batch, and a "
            f"dataset; got {type(cast(object, validation)).__name__}"
        )
        raise at(InvalidTypeError(text), user_location())


def _steps(
    step: Callable[..., Any],
    batches: Iterable[Any],
    callbacks: Sequence[Callback] = (),
    tell: TrainingProgress | None = None,
) -> Iterable[tuple[int, dict[str, Any]]]:
    """Runs the steps; yields the number of rows and the result of each, without waiting for the steps."""
    for place, batch in enumerate(batches, 1):
        numbers = numbers_of(step(*arguments_of(batch)))
        for callback in callbacks:
            callback.step_end(place, numbers)
        if tell is not None:
            tell.step_end(place, numbers)
        yield rows_of(batch), numbers


def _mean(parts: Iterable[tuple[int, Mapping[str, Any]]], what: str) -> dict[str, float]:
    """Returns the means over the rows of all batches, and waits for them."""
    sums: dict[str, list[tuple[int, Any]]] = {}
    count = 0
    for rows, numbers in parts:
        count += 1
        for name, value in numbers.items():
            sums.setdefault(name, []).append((rows, value))
    if count == 0:
        raise at(InvalidArgumentError(f"fit: the dataset of {what} has no batches"), user_location())
    return {
        name: sum(rows * _number(value, name, what) for rows, value in found) / (sum(rows for rows, _ in found) or 1)
        for name, found in sums.items()
    }


def _number(value: Any, name: str, what: str) -> float:
    """Returns one number from those of all replicas, or of all steps of a program."""
    try:
        return mean_of(value)
    except (TypeError, ValueError) as error:
        text = f"fit: {what} returns {name} = {value!r:.60}, which is no number; return the loss, or numbers by name"
        raise at(InvalidTypeError(text), user_location()) from error
