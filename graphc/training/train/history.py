"""History: the numbers that a training reports, epoch by epoch."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import NotFoundError
from graphc.compiler.base.files import PathLike, as_path, file_errors

__all__ = ["History"]


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
            raise at(NotFoundError(f"History: no epoch reported {name!r}; there is {there}"), user_location())
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

    def plot(self, path: PathLike | None = None) -> Any:
        """Plots the numbers over the epochs: each in its own plot, together with its validation value.

        Args:
          path: the file to write the picture to; None to write no file.

        Returns:
          A ``matplotlib.figure.Figure``, which notebooks display.

        Raises:
          NotFoundError: matplotlib is not installed.
        """
        try:
            figures = import_module("matplotlib.figure")
        except ImportError as error:
            text = f"History.plot needs matplotlib, which is not installed ({error}): pip install 'graphc[viz]'"
            raise at(NotFoundError(text), user_location()) from error
        names = list(dict.fromkeys(name.removeprefix("val_") for name in self.values)) or ["nothing yet"]
        members = {"_repr_png_": _png}  # which notebooks ask for; matplotlib's own picture needs pyplot
        kind = type("Figure", (figures.Figure,), members)
        figure = kind(figsize=(5 * len(names), 3.5), layout="constrained")
        for name, axes in zip(names, figure.subplots(1, len(names), squeeze=False)[0], strict=True):
            for key in (name, f"val_{name}"):
                if key in self.values:
                    axes.plot(range(1, len(self) + 1), self.values[key], marker=".", label=key)
            axes.set(xlabel="epoch", title=name)
            axes.legend() if axes.lines else None
        if path is not None:
            with file_errors(path):
                figure.savefig(as_path(path))
        return figure

    def __repr__(self) -> str:
        last = ", ".join(f"{name}={value:.4g}" for name, value in self.last().items())
        return f"<History of {len(self)} epochs{': ' if last else ''}{last}>"


def _png(figure: Any) -> bytes:
    """Returns the picture that a notebook shows."""
    figure.savefig(file := io.BytesIO(), format="png")
    return file.getvalue()
