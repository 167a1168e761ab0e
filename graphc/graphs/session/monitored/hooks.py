"""SessionRunHook, which is called around the runs of a monitored Session, and the hooks of an everyday training."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import numpy as np

from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.graphs.refusals import refusal, user_error
from graphc.graphs.session.graphs.graph import default_graph
from graphc.graphs.session.graphs.naming import GraphKeys
from graphc.graphs.session.summaries import FileWriter
from graphc.graphs.session.training.global_steps import get_global_step
from graphc.library.formats import message

_logger = logging.getLogger("graphc.monitored")


class SessionRunArgs(NamedTuple):
    """The fetches, feeds and options that a hook adds to a run, or that the program passed.

    Attributes:
      fetches: any nested structure of fetches; None for nothing.
      feed_dict: values for tensors of the graph.
      options: the options of the run, a ``RunOptions``.
    """

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """The results of a run, for a hook.

    Attributes:
      results: the values of the hook's fetches, in their structure; None if it fetched nothing.
      options: the options of the run.
      run_metadata: the ``RunMetadata`` of the run.
    """

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """The run that a hook is called for.

    Attributes:
      original_args: the arguments of the program's own call, without those that hooks add.
      session: the Session, to run operations without hooks.
      stop_requested: True if a hook has asked for a stop.
    """

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self.original_args, self.session = original_args, session
        self.stop_requested = False

    def request_stop(self) -> None:
        """Has ``should_stop()`` of the monitored Session return True from now on."""
        self.stop_requested = True


class SessionRunHook:
    """Is called around the runs of a monitored Session; override what is needed.

    Example:
      >>> import graphc as gx
      >>> from graphc.graphs.session.monitored import MonitoredSession, SessionRunArgs, SessionRunHook
      >>> with gx.Graph().as_default():
      ...     x = gx.Variable(3.0, name="x")
      ...     class Shows(SessionRunHook):
      ...         def before_run(self, run_context):
      ...             return SessionRunArgs(x)
      ...         def after_run(self, run_context, run_values):
      ...             print("x was", run_values.results)
      ...     step = x.assign_add(1.0)
      ...     with MonitoredSession(hooks=[Shows()]) as session:
      ...         session.run([step])
      x was 3.0
      [np.float32(4.0)]
    """

    def begin(self) -> None:
        """Is called once, before the Session is made; the graph may still grow here."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Is called when a Session is made, and again for each that replaces one that was lost.

        Args:
          session: the Session.
          coord: the coordinator of its threads.
        """

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Is called before each run.

        Args:
          run_context: the run's context.

        Returns:
          What to fetch and to feed besides; None for nothing.
        """

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each run that has not failed.

        Args:
          run_context: the run's context, the same as before.
          run_values: the values that the hook fetched.
        """

    def end(self, session: Any) -> None:
        """Called at the end, unless the program ends with an error.

        Args:
          session: the Session, which is closed afterwards.
        """


def _global_step_of(hook: SessionRunHook) -> Any:
    """Returns the global step of the default graph, which a hook needs."""
    step = get_global_step()
    if step is None:
        raise user_error(
            f"{type(hook).__name__} needs a global step: call tf.train.get_or_create_global_step() while the graph is "
            "built, and give it to the optimizer",
            FailedPreconditionError,
        )
    return step


class _StepTimer:
    """Triggers at intervals of seconds or steps; the first time at once, and once for each step."""

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if (every_secs is None) == (every_steps is None):
            raise user_error(
                f"give either every_secs or every_steps, got every_secs={every_secs} and every_steps={every_steps}"
            )
        self._every_secs, self._every_steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        self.last_step: Any = None
        self._last_time = 0.0

    def is_due(self, step: int) -> bool:
        if self.last_step is None or self.last_step == step:
            return self.last_step is None
        if self._every_secs is not None:
            return time.monotonic() >= self._last_time + self._every_secs
        return step >= self.last_step + self._every_steps

    def note(self, step: int) -> tuple[float | None, int | None]:
        """Records a trigger; returns the seconds and steps since the last one, None at the first."""
        now, before = time.monotonic(), (self._last_time, self.last_step)
        self._last_time, self.last_step = now, step
        return (None, None) if before[1] is None else (now - before[0], step - before[1])


_writers: Final[dict[str, FileWriter]] = {}
_writers_lock = threading.Lock()


def _writer_of(folder: str | None) -> FileWriter | None:
    """Returns the writer of a folder, one for all hooks, so that they write to one file; None for no folder."""
    if not folder:
        return None
    with _writers_lock:
        if folder not in _writers:
            _writers[folder] = FileWriter(folder)
        return _writers[folder]


class _StepHook(SessionRunHook):
    """Looks at the global step after each run."""

    def begin(self) -> None:
        self._global_step = _global_step_of(self)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step)

    def _due_step(self, timer: _StepTimer, run_context: SessionRunContext, run_values: SessionRunValues) -> int | None:
        """Returns the global step if a timer is due there; reads it only where it may be."""
        if not timer.is_due(int(run_values.results) + 1):
            return None
        step = int(run_context.session.run(self._global_step))
        return step if timer.is_due(step) else None


class StopAtStepHook(_StepHook):
    """Requests a stop at a global step.

    Args:
      num_steps: the number of steps to run from where the Session starts.
      last_step: the global step to stop at; one of both is given.

    Raises:
      InvalidArgumentError: both are given, or none.

    Example:
      >>> import graphc as gx
      >>> from graphc.graphs.session import get_or_create_global_step
      >>> from graphc.graphs.session.monitored import MonitoredSession, StopAtStepHook
      >>> with gx.Graph().as_default():
      ...     train = get_or_create_global_step().assign_add(1)
      ...     with MonitoredSession(hooks=[StopAtStepHook(last_step=3)]) as session:
      ...         while not session.should_stop():
      ...             print(session.run(train))
      1
      2
      3
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if (num_steps is None) == (last_step is None):
            problem = f"StopAtStepHook: give num_steps or last_step, got num_steps={num_steps}, last_step={last_step}"
            raise InvalidArgumentError(problem).here()
        self._num_steps, self._last_step = num_steps, last_step

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = int(session.run(self._global_step)) + self._num_steps

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        last: Any = self._last_step
        if run_values.results + 1 >= last and run_context.session.run(self._global_step) >= last:
            run_context.request_stop()


class StepCounterHook(_StepHook):
    """Measures the global steps per second, for the log and TensorBoard.

    Args:
      every_n_steps: steps between measurements.
      every_n_secs: seconds between measurements; pass one of the two.
      output_dir: the folder of the event file; None for none.
      summary_writer: the writer; a FileWriter of ``output_dir`` if None.

    Raises:
      InvalidArgumentError: both intervals are given, or none.
    """

    def __init__(
        self, every_n_steps: int | None = 100, every_n_secs: float | None = None, output_dir: str | None = None,
        summary_writer: Any = None,
    ) -> None:  # fmt: skip
        self._timer = _StepTimer(every_n_secs, every_n_steps)
        self._output_dir, self._writer = output_dir, summary_writer

    def begin(self) -> None:
        if self._writer is None and self._output_dir:
            self._writer = _writer_of(self._output_dir)
        super().begin()
        self._tag = f"{self._global_step.op.name}/sec"

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = self._due_step(self._timer, run_context, run_values)
        if step is not None:
            seconds, steps = self._timer.note(step)
            if seconds and steps is not None:
                if self._writer is not None:
                    summary = message("Summary")
                    value = summary.Value(tag=self._tag, simple_value=steps / seconds)
                    self._writer.add_summary(summary(value=[value]), step)
                _logger.info("%s: %g", self._tag, steps / seconds)

    def end(self, session: Any) -> None:
        if self._writer is not None:
            self._writer.flush()


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
            raise refusal(
                "LoggingTensorHook", "give every_n_iter or every_n_secs, at_end=True, or one of the numbers and at_end"
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise refusal("LoggingTensorHook", f"every_n_iter is {every_n_iter}; expected a positive number of runs")
        named = cast("Mapping[str, Any]", tensors) if isinstance(tensors, Mapping) else None
        self._tensors: dict[Any, Any] = {item: item for item in _listed(tensors)} if named is None else dict(named)
        self._order = list(self._tensors) if named is None else sorted(named)
        self._timer = None if neither else _StepTimer(every_n_secs, every_n_iter)
        self._at_end, self._formatter = at_end, formatter

    def begin(self) -> None:
        graph = default_graph()
        self._runs = 0
        self._found = [graph.as_graph_element(_output(self._tensors[tag])) for tag in self._order]
        if self._timer is not None:
            self._timer.reset()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        self._now = self._timer is not None and self._timer.is_due(self._runs)
        return SessionRunArgs(self._found) if self._now else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._now:
            self._log(run_values.results)
        self._runs += 1

    def end(self, session: Any) -> None:
        if self._at_end:
            self._log(session.run(self._found))

    def _log(self, values: Iterable[Any]) -> None:
        by_name = dict(zip(self._order, values, strict=True))
        seconds = None if self._timer is None else self._timer.note(self._runs)[0]
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
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not np.any(np.isnan(run_values.results)):
            return
        problem = f"NaN loss during training: {getattr(self._loss, 'name', self._loss)!r} is not a number"
        if self._fail:
            raise NanLossDuringTrainingError(f"{problem}; try a smaller learning rate")
        _logger.warning("%s; the training stops", problem)
        run_context.request_stop()


class CheckpointSaverHook(_StepHook):
    """Saves checkpoints: at the start, at intervals of steps or seconds, and at the end.

    Args:
      checkpoint_dir: the folder.
      save_secs: seconds between checkpoints.
      save_steps: steps between checkpoints; pass one of the two.
      saver: the saver; if None, the scaffold's, or the one in the graph's collection.
      checkpoint_basename: the prefix of the names of the checkpoints.
      scaffold: a :class:`Scaffold` that has the saver.
      save_graph_def: whether to write the graph's text into the folder, as ``graph.txt``.

    Raises:
      InvalidArgumentError: both intervals are given or none, or both a saver and a scaffold.
    """

    def __init__(
        self, checkpoint_dir: str, save_secs: float | None = None, save_steps: int | None = None, saver: Any = None,
        checkpoint_basename: str = "model.ckpt", scaffold: Any = None, save_graph_def: bool = True,
    ) -> None:  # fmt: skip
        if saver is not None and scaffold is not None:
            raise user_error("CheckpointSaverHook: give a saver or a scaffold, not both")
        self._folder = Path(checkpoint_dir)
        self._path = str(self._folder / checkpoint_basename)
        self._timer = _StepTimer(save_secs, save_steps)
        self._given, self._scaffold = saver, scaffold
        self._save_graph = save_graph_def

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._save_graph:
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / "graph.txt").write_text(f"{session.graph.ir}\n", encoding="utf-8")
        step = int(session.run(self._global_step))
        self._save(session, step)
        self._timer.note(step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = self._due_step(self._timer, run_context, run_values)
        if step is not None:
            self._timer.note(step)
            self._save(run_context.session, step)

    def end(self, session: Any) -> None:
        step = int(session.run(self._global_step))
        if step != self._timer.last_step:
            self._save(session, step)

    def _save(self, session: Any, step: int) -> None:
        _logger.info("saved %s", self._saver().save(session, self._path, global_step=step))

    def _saver(self) -> Any:
        if self._given is None and self._scaffold is not None:
            return self._scaffold.saver
        if self._given is None:
            savers = default_graph().get_collection(GraphKeys.SAVERS)
            if len(savers) != 1:
                raise user_error(
                    f"CheckpointSaverHook: the graph's collection {GraphKeys.SAVERS!r} has {len(savers)} savers; give "
                    "the hook a saver, or a scaffold",
                    FailedPreconditionError,
                )
            self._given = savers[0]
        return self._given


class SummarySaverHook(SessionRunHook):
    """Writes summaries for TensorBoard: of the first run, and at intervals of steps or seconds.

    Args:
      save_steps: steps between summaries.
      save_secs: seconds between summaries; pass one of the two.
      output_dir: the folder of the event file.
      summary_writer: the writer; a FileWriter of ``output_dir`` if None.
      scaffold: a :class:`Scaffold` that has the summary.
      summary_op: the summary, or a list of summaries; one of both is given.

    Raises:
      InvalidArgumentError: both intervals are given, or none.
    """

    def __init__(
        self, save_steps: int | None = None, save_secs: float | None = None, output_dir: str | None = None,
        summary_writer: Any = None, scaffold: Any = None, summary_op: Any = None,
    ) -> None:  # fmt: skip
        if (scaffold is None) == (summary_op is None):
            raise user_error("SummarySaverHook: give either scaffold or summary_op")
        self._timer = _StepTimer(save_secs, save_steps)
        self._output_dir, self._writer = output_dir, summary_writer
        self._scaffold, self._given = scaffold, summary_op

    def begin(self) -> None:
        if self._writer is None and self._output_dir:
            self._writer = _writer_of(self._output_dir)
        self._next_step: int | None = None
        self._global_step = _global_step_of(self)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        self._now = self._next_step is None or self._timer.is_due(self._next_step)
        return SessionRunArgs([self._global_step, self._summaries() if self._now else []])

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        before, summaries = run_values.results
        step = int(run_context.session.run(self._global_step)) if self._now else int(before) + 1
        if self._next_step is None and self._writer is not None:
            log = message("SessionLog")
            self._writer.add_session_log(log(status=log.START), step)
        if self._now:
            self._timer.note(step)
        if self._now and self._writer is not None:
            for summary in summaries:
                self._writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Any) -> None:
        if self._writer is not None:
            self._writer.flush()

    def _summaries(self) -> list[Any]:
        summaries = self._given if self._scaffold is None else self._scaffold.summary_op
        return list(summaries) if isinstance(summaries, list | tuple) else [] if summaries is None else [summaries]  # pyright: ignore
