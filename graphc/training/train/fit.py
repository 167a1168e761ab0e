"""fit: a training loop. It is short: copy it, and change it as you like."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any, Never, Self, cast

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from graphc.compiler.autograph import LoopVariables, do_not_convert, run_for
from graphc.compiler.base import nest, refuse_options
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import shorten
from graphc.compiler.function import Function, function
from graphc.compiler.ops import asarray
from graphc.compiler.ops.functions import mean
from graphc.compiler.tracing import current_trace, fixed
from graphc.training.data import Dataset
from graphc.training.distribute import process_index
from graphc.training.layers import Layer
from graphc.training.train.callbacks import Callback, History

# Epochs: the arguments and results of a step, and an epoch as one program.


def arguments_of(batch: Any) -> tuple[Any, ...]:
    """Returns the arguments of a step for a batch."""
    return tuple(cast("Sequence[Any]", batch)) if isinstance(batch, tuple | list) else (batch,)


def rows_of(batch: Any) -> int:
    """Returns the number of rows in a batch; 1 if nothing in it has axes."""
    shapes = [getattr(leaf, "shape", ()) for leaf in nest.flatten(batch)[0]]
    return next((shape[0] for shape in shapes if shape), 1)


def numbers_of(result: Any) -> dict[str, Any]:
    """Returns the numbers in a step's result, by name."""
    if isinstance(result, Mapping):
        return dict(cast("Mapping[str, Any]", result))
    return {} if result is None else {"loss": result}


def compiled_epoch(
    step: Callable[..., Any], dataset: Any, callbacks: Sequence[Callback], names: Sequence[str]
) -> tuple[Callable[[], tuple[int, Mapping[str, float]]] | None, str]:
    """Makes a program that runs an epoch, if possible. ``names``: the names of the numbers that a step returns."""
    why, program = _why_not(step, dataset, callbacks), None
    if not why:
        returned: dict[str, None] = {}
        program = _program(step, dataset, names, returned)
        try:
            loops = [loop.reason for loop in program.trace().loops if loop.kind == "dataset"]
            why = next((reason for reason in loops if not reason.endswith("part of the program")), "")
            if not why and returned.keys() != {*names}:  # a history that another step has begun
                why = f"the step returns {', '.join(returned)}, and the history has {', '.join(names)}"
        except GraphcError as error:
            why = error.message.partition("\n")[0]
    if program is None or why:
        return None, f"a program for each step: {why}"

    def run() -> tuple[int, Mapping[str, float]]:
        rows, *sums = (value.item() for value in program())
        return int(rows), {name: value / rows for name, value in zip(names, sums, strict=True)}

    return run, "a program for each epoch, from the second on"


def _why_not(step: Any, dataset: Any, callbacks: Sequence[Callback]) -> str:
    if not isinstance(step, Function):
        return "the step is not a gx.function"
    if not isinstance(dataset, Dataset):
        return f"the batches come from {type(dataset).__name__}, and not from a gx.data.Dataset"
    if any(type(callback).step_end is not Callback.step_end for callback in callbacks):
        return "a callback looks at each step"
    return ""


def skip_passes(dataset: Any, count: int) -> None:
    """Makes a dataset that reshuffles in each pass continue as after ``count`` passes."""
    if isinstance(dataset, Dataset):
        for _ in range(count):
            iter(dataset).close()


def _program(step: Callable[..., Any], dataset: Dataset, names: Sequence[str], returned: dict[str, None]) -> Any:
    """Returns a function that runs an epoch and returns the number of rows, and the sums of the steps' results."""
    # Once it is traced, ``returned`` has the names of all results.

    def epoch() -> Any:
        current_trace().root.reads.record(fixed(step, "the step"), step)  # what the step reads is guarded from there on
        sums: tuple[Any, ...] = tuple(asarray(0.0) for _ in range(1 + len(names)))

        def body(batch: Any) -> None:
            nonlocal sums
            numbers, rows = numbers_of(step(*arguments_of(batch))), rows_of(batch)
            _note(returned, numbers)
            more = [1.0, *(mean(numbers.get(name, 0.0)) for name in names)]
            sums = tuple(total + rows * number for total, number in zip(sums, more, strict=True))

        def put(values: tuple[Any, ...]) -> None:
            nonlocal sums
            sums = values

        run_for(dataset, None, body, LoopVariables(lambda: sums, put, ["the rows", *names]))
        return sums

    return function(epoch)


@do_not_convert
def _note(returned: dict[str, None], numbers: Mapping[str, Any]) -> None:
    """Records the names of a step's results, once, while it is traced."""
    returned.update(dict.fromkeys(numbers))


# The progress display of a training.

_SECONDS = 0.5


def mean_of(value: Any) -> float:
    """Returns the mean of a step's result, over replicas and steps if it has several; waits for it."""
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    return float(np.mean(array))


class TrainingProgress:
    """A progress bar for the steps of an epoch, and a line for each finished epoch."""

    def __init__(self, epochs: int, history: History) -> None:
        self._epochs, self._history = epochs, history
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        # In a notebook rich's bar is a widget; without ipywidgets it warns instead, in the middle of the output.
        console = Console(force_jupyter=None if find_spec("ipywidgets") else False)
        self._bar = Progress(*columns, TextColumn("{task.fields[numbers]}"), transient=True, console=console)
        self._task = self._bar.add_task(self._title, total=None, numbers="")
        self._steps, self._how = 0, ""
        self._shown = self._begun = time.monotonic()

    @property
    def _title(self) -> str:
        return f"epoch {min(len(self._history) + 1, self._epochs)}/{self._epochs}"

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def step_end(self, step: int, numbers: Mapping[str, Any]) -> None:
        """Shows a step; its numbers only at intervals, because reading them waits for the step."""
        self._steps = step
        self._bar.update(self._task, completed=step)
        if (now := time.monotonic()) - self._shown > _SECONDS:
            self._shown = now
            self._bar.update(self._task, numbers=_text({name: mean_of(value) for name, value in numbers.items()}))

    def epoch_end(self) -> None:
        """Shows an epoch."""
        now = time.monotonic()
        line = f"epoch {len(self._history)}/{self._epochs}  {_text(self._history.last())}  {now - self._begun:.2f} s"
        if self._how != self._history.how:
            self._how = self._history.how
            self._bar.console.print(self._how, style="dim", highlight=False)
        why = self._history.why_stopped
        self._bar.console.print(line + (f"  stopped: {why}" if why else ""), highlight=False)
        self._begun = now
        self._bar.reset(self._task, description=self._title, total=self._steps or None, numbers="")


def _text(numbers: Mapping[str, Any]) -> str:
    return "  ".join(f"{name} {float(value):.4g}" for name, value in numbers.items())


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
                    means = _mean(_steps(*validation), "the validation")
                    numbers.update({f"val_{name}": value for name, value in means.items()})
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
        raise InvalidTypeError(text).here()
    if validation is None:
        return
    pair = cast("Sequence[Any]", validation) if isinstance(validation, tuple | list) else ()
    if len(pair) != 2 or not callable(pair[0]):
        text = (
            "fit: validation is a pair (function, batches): a function that returns numbers for a batch, and a "
            f"dataset; got {type(cast(object, validation)).__name__}"
        )
        raise InvalidTypeError(text).here()


def _steps(
    step: Callable[..., Any],
    batches: Iterable[Any],
    callbacks: Sequence[Callback] = (),
    tell: TrainingProgress | None = None,
) -> Iterable[tuple[int, dict[str, Any]]]:
    """Runs the steps; yields the number of rows and the result of each, without waiting for the steps."""
    for number, batch in enumerate(batches, 1):
        numbers = numbers_of(step(*arguments_of(batch)))
        for callback in callbacks:
            callback.step_end(number, numbers)
        if tell is not None:
            tell.step_end(number, numbers)
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
        raise InvalidArgumentError(f"fit: the dataset of {what} has no batches").here()
    return {
        name: sum(rows * _number(value, name, what) for rows, value in entries)
        / (sum(rows for rows, _ in entries) or 1)
        for name, entries in sums.items()
    }


def _number(value: Any, name: str, what: str) -> float:
    """Returns one number from those of all replicas, or of all steps of a program."""
    try:
        return mean_of(value)
    except (TypeError, ValueError) as error:
        text = f"fit: {what} returns {name} = {value!r:.60}, which is no number; return the loss, or numbers by name"
        raise InvalidTypeError(text).here() from error
