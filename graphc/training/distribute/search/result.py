"""The result of a search: its trials, the best of them, a table and a plot."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import FailedPreconditionError, NotFoundError
from graphc.compiler.base.files import PathLike, as_path, file_errors
from graphc.compiler.runtime.costs import PrintedReport, format_seconds
from graphc.training.distribute.search.space import Config

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["SearchResult", "Trial"]

_SHOWN = 20


@dataclass
class Trial:
    """One configuration, with its outcome.

    Attributes:
      number: its index among the configurations, from 0.
      config: the chosen values.
      status: ``"waiting"``, ``"running"``, ``"done"``, ``"stopped"`` (early, as unpromising) or ``"failed"``.
      values: the values of the metric, after each step.
      metrics: the metrics that the function reported last.
      device: the device that it ran on.
      seconds: its run time in seconds.
      error: its error, as text.
      result: the function's result; None for a trial of an earlier run.
    """

    number: int
    config: Config
    status: Literal["waiting", "running", "done", "stopped", "failed"] = "waiting"
    values: list[float] = field(default_factory=list[float])
    metrics: dict[str, float] = field(default_factory=dict[str, float])
    device: str = ""
    seconds: float = 0.0
    error: str = ""
    result: Any = field(default=None, repr=False)

    @property
    def value(self) -> float:
        """The last value of the metric; NaN for none."""
        return self.values[-1] if self.values else math.nan


@dataclass(frozen=True)
class SearchResult(PrintedReport):
    """The result of :func:`search`.

    Attributes:
      trials: the trials, in the order of their configurations.
      metric: the name of the metric that ranks them.
      mode: ``"min"`` or ``"max"``.
    """

    trials: tuple[Trial, ...]
    metric: str
    mode: str

    @property
    def best(self) -> Trial:
        """The trial with the best last value.

        Raises:
          FailedPreconditionError: no trial reported a number; the message contains the first error.
        """
        ranked = self.ranked()
        if not ranked or math.isnan(ranked[0].value):
            said = next((f"; trial {trial.number} raised {trial.error}" for trial in self.trials if trial.error), "")
            error = FailedPreconditionError(f"search: none of the {len(self.trials)} trials reported a number{said}")
            raise at(error, user_location())
        return ranked[0]

    def ranked(self) -> list[Trial]:
        """Returns the trials, best first."""
        sign = -1.0 if self.mode == "max" else 1.0
        return sorted(self.trials, key=lambda trial: (math.isnan(trial.value), sign * trial.value))

    @property
    def steps(self) -> int:
        """The total number of steps of all trials."""
        return sum(len(trial.values) for trial in self.trials)

    def to_dict(self) -> dict[str, Any]:
        """Returns everything but the trials' results, in plain numbers, strings, lists and dicts."""
        names = ("number", "config", "status", "values", "metrics", "device", "seconds", "error")
        trials = [{name: getattr(trial, name) for name in names} for trial in self.trials]
        return {"metric": self.metric, "mode": self.mode, "trials": trials}

    def __rich__(self) -> RenderableType:
        from rich import box
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        names = list(dict.fromkeys(name for trial in self.trials for name in trial.config))
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in ("trial", *names, self.metric, "steps", "time"):
            table.add_column(name, justify="right")
        table.add_column("")
        ranked = self.ranked()
        for trial in ranked[:_SHOWN]:
            cells = [_shown(trial.config.get(name, "")) for name in names]
            said = trial.status if not trial.error else f"failed: {trial.error.splitlines()[0]:.60}"
            made = (str(len(trial.values)), format_seconds(trial.seconds), said)
            table.add_row(str(trial.number), *cells, _shown(trial.value), *made)
        counts = Counter(trial.status for trial in self.trials)
        ends = ", ".join(f"{counts[status]} {status}" for status in ("done", "stopped", "failed"))
        title = f"{len(ranked)} trials, {self.steps} steps: {ends}"
        more = [Text(f"and {len(ranked) - _SHOWN} others")] if len(ranked) > _SHOWN else []
        return Group(Text(title, style="bold"), table, *more)

    def plot(self, path: PathLike | None = None) -> Any:
        """Plots the metric of each trial over its steps; the best one stands out.

        Args:
          path: the file to write the picture to; None to write no file.

        Returns:
          A ``matplotlib.figure.Figure``, which notebooks display.

        Raises:
          NotFoundError: matplotlib is not installed.
        """
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise at(NotFoundError("drawing needs matplotlib: pip install 'graphc[viz]'"), user_location()) from None
        figure = Figure(figsize=(7, 4), layout="constrained")
        axes: Any = figure.subplots()
        for trial in reversed(drawn := [trial for trial in self.ranked() if trial.values]):
            stands_out = trial is drawn[0]
            style: dict[str, Any] = {"color": "tab:red", "linewidth": 2, "label": _named(trial.config)}
            style = style if stands_out else {"color": "tab:gray", "linewidth": 0.8, "alpha": 0.6}
            axes.plot(range(1, len(trial.values) + 1), trial.values, marker=".", **style)
        axes.set(xlabel="step", ylabel=self.metric, title=f"{len(self.trials)} trials, the best in red")
        axes.legend() if drawn else None
        if path is not None:
            with file_errors(path):
                figure.savefig(as_path(path))
        return figure


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _named(config: Config) -> str:
    return ", ".join(f"{name}={_shown(value)}" for name, value in config.items())
