"""Callbacks that :func:`fit` calls at the ends of steps and epochs."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from typing import Any, Literal

from graphc.compiler.base.errors import InvalidArgumentError, NotFoundError
from graphc.compiler.base.files import PathLike, as_path, file_errors, make_directories
from graphc.compiler.core import Tensor
from graphc.training.distribute import process_index
from graphc.training.train.checkpoint import Checkpoint
from graphc.training.train.parts import parts_of

# History: the numbers that a training reports, epoch by epoch.


class History:
    """The numbers that a training reports, one value for each epoch; make it part of a checkpoint to resume it.

    Attributes:
      values: the numbers by name; NaN for an epoch that did not report one.
      why_stopped: the reason why a callback ended the training; empty if none did.
      how: the way the epochs after the first are run, and the reason.
      resumed: the number of epochs that :meth:`restore` has brought; :func:`fit` sets it to 0 when it continues after
        them.

    Example:
      >>> import graphc as gx
      >>> history = gx.train.History()
      >>> history.append({"loss": 0.5, "val_loss": 0.75})
      >>> history.append({"loss": 0.25, "val_loss": 0.5})
      >>> len(history), history["loss"], history.best("val_loss")
      (2, [0.5, 0.25], 2)
    """

    def __init__(self) -> None:
        self.values: dict[str, list[float]] = {}
        self._epochs = 0
        self.why_stopped = ""
        self.how = ""
        self.resumed = 0

    def __len__(self) -> int:
        return self._epochs

    def __getitem__(self, name: str) -> list[float]:
        if name not in self.values:
            there = ", ".join(map(repr, self.values)) or "nothing yet"
            raise NotFoundError(f"History: no epoch reported {name!r}; there is {there}").here()
        return self.values[name]

    def append(self, numbers: Mapping[str, float]) -> None:
        """Adds the numbers of an epoch."""
        for name in numbers:
            self.values.setdefault(name, [math.nan] * self._epochs)
        for name, column in self.values.items():
            column.append(float(numbers.get(name, math.nan)))
        self._epochs += 1

    def last(self) -> dict[str, float]:
        """Returns the numbers of the last epoch, without those that it did not report."""
        return {name: column[-1] for name, column in self.values.items() if not math.isnan(column[-1])}

    def best(self, name: str, mode: str = "min") -> int:
        """Returns the epoch, from 1, with the lowest value of a number, or the highest if ``mode`` is ``"max"``."""
        sign = -1.0 if mode == "max" else 1.0
        column = [math.inf if math.isnan(value) else sign * value for value in self[name]]
        return column.index(min(column)) + 1

    def state(self) -> dict[str, Any]:
        """Returns the numbers, for a checkpoint."""
        return {"epochs": self._epochs, "values": {name: list(column) for name, column in self.values.items()}}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes over the numbers of a checkpoint."""
        self.values = {name: list(column) for name, column in state["values"].items()}
        self.resumed = self._epochs = state["epochs"]

    def to_csv(self, path: PathLike) -> None:
        """Writes a table with a row for each epoch."""
        with file_errors(path), as_path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["epoch", *self.values])
            writer.writerows([n + 1, *(column[n] for column in self.values.values())] for n in range(len(self)))

    def __repr__(self) -> str:
        last = ", ".join(f"{name}={value:.4g}" for name, value in self.last().items())
        return f"<History of {len(self)} epochs{': ' if last else ''}{last}>"


class Callback:
    """A callback of :func:`fit`. Derive from it, and override the methods you need."""

    def start(self, history: History) -> None:
        """Called before the first epoch."""

    def step_end(self, step: int, numbers: Mapping[str, Any]) -> None:
        """Called after each step; a callback that overrides it makes epochs run step by step.

        Args:
          step: its number within the epoch, from 1.
          numbers: its results, by name; reading one waits for the step.
        """

    def epoch_end(self, history: History) -> None:
        """Called after each epoch; it may set ``history.why_stopped``, which ends the training."""

    def end(self, history: History) -> None:
        """Called at the end, even after an exception."""


class EarlyStopping(Callback):
    """Ends the training when a number has not improved for some epochs.

    Args:
      monitor: the name of the number.
      patience: the number of epochs without improvement after which training stops.
      min_delta: the minimum improvement.
      mode: whether lower is better (``"min"``) or higher (``"max"``).
      best: an object to restore, at the end, to its state after the best epoch: a layer, or anything with Variables. It
        is kept in memory, so a resumed training knows only the epochs since it resumed.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        patience: int = 3,
        *,
        min_delta: float = 0.0,
        mode: Literal["min", "max"] = "min",
        best: Any = None,
    ) -> None:
        if mode not in ("min", "max"):
            raise InvalidArgumentError(f"EarlyStopping: mode must be 'min' or 'max', got {mode!r}").here()
        self.monitor, self.patience = monitor, patience
        self._min_delta, self._sign, self._best = min_delta, -1.0 if mode == "max" else 1.0, best
        self._kept: dict[str, Tensor] | None = None

    def epoch_end(self, history: History) -> None:
        """Compares the number with the best one so far."""
        best, best_epoch = float("inf"), 0
        for epoch, value in enumerate(history[self.monitor], 1):
            if self._sign * value < best - self._min_delta:
                best, best_epoch = self._sign * value, epoch
        if best_epoch == len(history) and self._best is not None:
            self._kept = {name: variable.value() for name, variable in parts_of("", self._best)[0].items()}
        if len(history) - best_epoch >= self.patience:
            history.why_stopped = f"{self.monitor} is not better than {self._sign * best:g}, of epoch {best_epoch}"

    def end(self, history: History) -> None:
        """Restores the best state."""
        if self._kept is not None:
            for name, variable in parts_of("", self._best)[0].items():
                variable.assign(self._kept[name])


class Checkpoints(Callback):
    """Saves a checkpoint after epochs.

    Args:
      checkpoint: the checkpoint. The training's history is one of its parts, so that :func:`fit` continues with the
        epoch after the restored one.
      every: the number of epochs between checkpoints.
    """

    def __init__(self, checkpoint: Checkpoint, *, every: int = 1) -> None:
        self.checkpoint, self.every = checkpoint, every

    def start(self, history: History) -> None:
        """Checks that the checkpoint includes the history.

        Raises:
          InvalidArgumentError: it does not.
        """
        if all(part is not history for part in self.checkpoint.parts.values()):
            raise InvalidArgumentError(
                "Checkpoints: the checkpoint does not have the history that fit continues; make history = "
                "gx.train.History(), and give history=history to gx.train.Checkpoint and to gx.train.fit"
            ).here()

    def epoch_end(self, history: History) -> None:
        """Saves the current state."""
        if len(history) % self.every == 0:
            self.checkpoint.save(len(history))

    def end(self, history: History) -> None:
        """Waits until the last checkpoint is written."""
        self.checkpoint.wait()


class CSVLog(Callback):
    """Writes the history as a table after each epoch; with several processes, the first one does.

    Args:
      path: the file.
    """

    def __init__(self, path: PathLike) -> None:
        self.path = path

    def epoch_end(self, history: History) -> None:
        """Rewrites the file."""
        if process_index() == 0:
            make_directories(as_path(self.path).parent)
            history.to_csv(self.path)


class TensorBoard(Callback):
    """Writes the numbers of each epoch as events for TensorBoard (``pip install 'graphc[viz]'``).

    With several processes, the first one writes.

    Args:
      folder: the folder of the files; ``tensorboard --logdir FOLDER`` shows them.

    Raises:
      NotFoundError: TensorBoard is not installed.
    """

    def __init__(self, folder: PathLike) -> None:
        from graphc.graphs.session import FileWriter

        self._writer = FileWriter(str(as_path(folder))) if process_index() == 0 else None

    def start(self, history: History) -> None:
        """Opens a file."""
        if self._writer is not None:
            self._writer.reopen()

    def epoch_end(self, history: History) -> None:
        """Writes the numbers of the epoch."""
        from graphc.library.formats import message

        if self._writer is None:
            return
        summary = message("Summary")
        values = [summary.Value(tag=name, simple_value=value) for name, value in history.last().items()]
        self._writer.add_summary(summary(value=values), len(history))
        self._writer.flush()

    def end(self, history: History) -> None:
        """Closes the file."""
        if self._writer is not None:
            self._writer.close()
