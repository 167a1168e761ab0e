"""Hooks that use values: log them, stop at NaN, run something at the end, or feed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError, OutOfRangeError
from graphc.graphs.session.graphs.graph import default_graph
from graphc.graphs.session.monitored.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from graphc.graphs.session.monitored.timer import SecondOrStepTimer

__all__ = ["FeedFnHook", "FinalOpsHook", "LoggingTensorHook", "NanLossDuringTrainingError", "NanTensorHook"]

_logger = logging.getLogger("graphc.monitored")


class LoggingTensorHook(SessionRunHook):
    """Logs values of tensors, at intervals of runs or seconds, at level INFO.

    Args:
      tensors: tensors or their names, or a dict of them by their names in the log.
      every_n_iter: the number of runs of this process between logs.
      every_n_secs: seconds between logs; pass at most one of the two.
      at_end: whether to log at the end, too; without an interval, only then.
      formatter: a function from a dict of the values to the line; by default ``name = value, ... (seconds sec)``.

    Raises:
      InvalidArgumentError: no time to log is given.
    """

    def __init__(
        self, tensors: Any, every_n_iter: int | None = None, every_n_secs: float | None = None, at_end: bool = False,
        formatter: Callable[[Any], str] | None = None,
    ) -> None:  # fmt: skip
        neither = every_n_iter is None and every_n_secs is None
        if not (at_end and neither) and (every_n_iter is None) == (every_n_secs is None):
            raise _refusal("give every_n_iter or every_n_secs, at_end=True, or one of the numbers and at_end")
        if every_n_iter is not None and every_n_iter <= 0:
            raise _refusal(f"every_n_iter is {every_n_iter}; expected a positive number of runs")
        named = cast("Mapping[str, Any]", tensors) if isinstance(tensors, Mapping) else None
        self._tensors: dict[Any, Any] = {item: item for item in _listed(tensors)} if named is None else dict(named)
        self._order = list(self._tensors) if named is None else sorted(named)
        self._timer = None if neither else SecondOrStepTimer(every_n_secs, every_n_iter)
        self._at_end, self._formatter = at_end, formatter

    def begin(self) -> None:
        """Looks up the tensors."""
        graph = default_graph()
        self._runs = 0
        self._found = [graph.as_graph_element(_output(self._tensors[tag])) for tag in self._order]
        if self._timer is not None:
            self._timer.reset()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Fetches the tensors if they are due."""
        del run_context
        self._now = self._timer is not None and self._timer.should_trigger_for_step(self._runs)
        return SessionRunArgs(self._found) if self._now else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Logs the fetched values."""
        del run_context
        if self._now:
            self._log(run_values.results)
        self._runs += 1

    def end(self, session: Any) -> None:
        """Logs the last values, if requested."""
        if self._at_end:
            self._log(session.run(self._found))

    def _log(self, values: Iterable[Any]) -> None:
        by_name = dict(zip(self._order, values, strict=True))
        seconds = None if self._timer is None else self._timer.update_last_triggered_step(self._runs)[0]
        if self._formatter is not None:
            line = self._formatter(by_name)
        else:
            with np.printoptions(suppress=True):
                line = ", ".join(f"{getattr(tag, 'name', tag)} = {value}" for tag, value in by_name.items())
            line += "" if seconds is None else f" ({seconds:.3f} sec)"
        _logger.info("%s", line)


def _listed(tensors: Any) -> list[Any]:
    return [tensors] if isinstance(tensors, str) or not isinstance(tensors, Iterable) else list(tensors)  # pyright: ignore


def _output(tensor: Any) -> Any:
    """Converts the name of an operation to that of its tensor."""
    return f"{tensor}:0" if isinstance(tensor, str) and ":" not in tensor else tensor


def _refusal(problem: str) -> InvalidArgumentError:
    return at(InvalidArgumentError(f"LoggingTensorHook: {problem}"), user_location())


class NanLossDuringTrainingError(RuntimeError):
    """A loss was NaN."""

    def __str__(self) -> str:
        return self.args[0] if self.args else "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Ends the training when a loss is NaN.

    Args:
      loss_tensor: the loss, a scalar.
      fail_on_nan_loss: whether to raise an error; otherwise the training stops.

    Raises:
      NanLossDuringTrainingError: the loss is NaN; raised by the run that computed it.
    """

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss, self._fail = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetches the loss."""
        del run_context
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Checks the loss."""
        if not np.any(np.isnan(run_values.results)):
            return
        problem = f"NaN loss during training: {getattr(self._loss, 'name', self._loss)!r} is not a number"
        if self._fail:
            raise NanLossDuringTrainingError(f"{problem}; try a smaller learning rate")
        _logger.warning("%s; the training stops", problem)
        run_context.request_stop()


class FinalOpsHook(SessionRunHook):
    """Runs final fetches at the end.

    Args:
      final_ops: tensors and operations, in any nested structure; None for nothing.
      final_ops_feed_dict: the feeds of the final fetches.
    """

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None) -> None:
        self._ops, self._feeds = final_ops, final_ops_feed_dict
        self._values: Any = None

    @property
    def final_ops_values(self) -> Any:
        """The values, after the end."""
        return self._values

    def end(self, session: Any) -> None:
        """Runs the final fetches.

        Raises:
          OutOfRangeError: they read more of an input that has ended.
        """
        if self._ops is None:
            return
        try:
            self._values = session.run(self._ops, feed_dict=self._feeds)
        except OutOfRangeError as error:
            error.add_note("FinalOpsHook runs after the input has ended: its fetches must only read Variables")
            raise


class FeedFnHook(SessionRunHook):
    """Feeds the values that a function returns.

    Args:
      feed_fn: a function of no arguments that returns a dict of values by tensor; called before each run.
    """

    def __init__(self, feed_fn: Callable[[], Any]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Feeds the values."""
        del run_context
        return SessionRunArgs(None, self.feed_fn())
