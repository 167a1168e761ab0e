"""The progress display of a training."""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from graphc.training.train.history import History

__all__ = ["TrainingProgress", "mean_of"]

_SECONDS = 0.5


def mean_of(value: Any) -> float:
    """Returns the mean of a step's result, over replicas and steps if it has several; waits for it."""
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    return float(np.mean(array))


class TrainingProgress:
    """A progress bar for the steps of an epoch, and a line for each finished epoch.

    Args:
      epochs: the total number of epochs.
      history: the history so far.
    """

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
