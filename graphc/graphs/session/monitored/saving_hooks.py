"""Hooks that write files: checkpoints and summaries."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.graphs.session.event_protos import message
from graphc.graphs.session.graphs.graph import default_graph
from graphc.graphs.session.graphs.keys import GraphKeys
from graphc.graphs.session.monitored.hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    global_step_of,
)
from graphc.graphs.session.monitored.timer import SecondOrStepTimer
from graphc.graphs.session.monitored.writers import FileWriterCache

__all__ = ["CheckpointSaverHook", "CheckpointSaverListener", "SummarySaverHook"]

_logger = logging.getLogger("graphc.monitored")


class CheckpointSaverListener:
    """A listener that a :class:`CheckpointSaverHook` calls around each checkpoint; override what you need."""

    def begin(self) -> None:
        """Called once, before the Session is made; may still add to the graph."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Called before a checkpoint is saved."""

    def after_save(self, session: Any, global_step_value: int) -> bool | None:
        """Called after a checkpoint was saved; returning True requests a stop."""

    def end(self, session: Any, global_step_value: int) -> None:
        """Called at the end."""


class CheckpointSaverHook(SessionRunHook):
    """Saves checkpoints: at the start, at intervals of steps or seconds, and at the end.

    Args:
      checkpoint_dir: the folder.
      save_secs: seconds between checkpoints.
      save_steps: steps between checkpoints; pass one of the two.
      saver: the saver; if None, the scaffold's, or the one in the graph's collection.
      checkpoint_basename: the prefix of the names of the checkpoints.
      scaffold: a :class:`Scaffold` that has the saver.
      listeners: the listeners to call around each checkpoint.
      save_graph_def: whether to write the graph's text into the folder, as ``graph.txt``.

    Raises:
      InvalidArgumentError: both intervals are given or none, or both a saver and a scaffold.
    """

    def __init__(
        self, checkpoint_dir: str, save_secs: float | None = None, save_steps: int | None = None, saver: Any = None,
        checkpoint_basename: str = "model.ckpt", scaffold: Any = None,
        listeners: Sequence[CheckpointSaverListener] | None = None, save_graph_def: bool = True,
    ) -> None:  # fmt: skip
        if saver is not None and scaffold is not None:
            problem = "CheckpointSaverHook: give a saver or a scaffold, not both"
            raise at(InvalidArgumentError(problem), user_location())
        self._folder = Path(checkpoint_dir)
        self._path = str(self._folder / checkpoint_basename)
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._given, self._scaffold = saver, scaffold
        self._listeners, self._save_graph = list(listeners or ()), save_graph_def

    def begin(self) -> None:
        """Looks up the global step."""
        self._global_step = global_step_of(self)
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Saves the initial state of the Session."""
        del coord
        if self._save_graph:
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / "graph.txt").write_text(f"{session.graph.ir}\n", encoding="utf-8")
        step = int(session.run(self._global_step))
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetches the global step."""
        del run_context
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Saves a checkpoint if it is due."""
        if not self._timer.should_trigger_for_step(int(run_values.results) + 1):
            return
        step = int(run_context.session.run(self._global_step))
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Any) -> None:
        """Saves the last step, if it is not saved yet."""
        step = int(session.run(self._global_step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Any, step: int) -> bool:
        """Saves a checkpoint; returns True if a listener requests a stop."""
        for listener in self._listeners:
            listener.before_save(session, step)
        path = self._saver().save(session, self._path, global_step=step)
        _logger.info("saved %s", path)
        stop_requests = [listener.after_save(session, step) for listener in self._listeners]
        return any(stop_requests)

    def _saver(self) -> Any:
        if self._given is None and self._scaffold is not None:
            return self._scaffold.saver
        if self._given is None:
            savers = default_graph().get_collection(GraphKeys.SAVERS)
            if len(savers) != 1:
                problem = (
                    f"CheckpointSaverHook: the graph's collection {GraphKeys.SAVERS!r} has {len(savers)} savers; give "
                    "the hook a saver, or a scaffold"
                )
                raise at(FailedPreconditionError(problem), user_location())
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
            raise at(InvalidArgumentError("SummarySaverHook: give either scaffold or summary_op"), user_location())
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._output_dir, self._writer = output_dir, summary_writer
        self._scaffold, self._given = scaffold, summary_op

    def begin(self) -> None:
        """Looks up the global step, and opens the file."""
        if self._writer is None and self._output_dir:
            self._writer = FileWriterCache.get(self._output_dir)
        self._next_step: int | None = None
        self._global_step = global_step_of(self)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetches the summaries if they are due."""
        del run_context
        self._now = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        return SessionRunArgs([self._global_step, self._summaries() if self._now else []])

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Writes the fetched summaries."""
        before, found = run_values.results
        step = int(run_context.session.run(self._global_step)) if self._now else int(before) + 1
        if self._next_step is None and self._writer is not None:
            log = message("SessionLog")
            self._writer.add_session_log(log(status=log.START), step)
        if self._now:
            self._timer.update_last_triggered_step(step)
        if self._now and self._writer is not None:
            for summary in found:
                self._writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Any) -> None:
        """Waits until everything is written."""
        del session
        if self._writer is not None:
            self._writer.flush()

    def _summaries(self) -> list[Any]:
        found = self._given if self._scaffold is None else self._scaffold.summary_op
        return list(found) if isinstance(found, list | tuple) else [] if found is None else [found]  # pyright: ignore
