"""MonitoredTrainingSession: a monitored Session with the hooks for a training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from graphc.graphs.session.monitored.creators import ChiefSessionCreator, WorkerSessionCreator
from graphc.graphs.session.monitored.hook import SessionRunHook
from graphc.graphs.session.monitored.saving_hooks import CheckpointSaverHook, SummarySaverHook
from graphc.graphs.session.monitored.scaffold import Scaffold
from graphc.graphs.session.monitored.session import MonitoredSession
from graphc.graphs.session.monitored.step_hooks import StepCounterHook

__all__ = ["MonitoredTrainingSession"]

_DEFAULT: Final[Any] = object()


def MonitoredTrainingSession(  # noqa: N802  TensorFlow's name
    master: str = "", is_chief: bool = True, checkpoint_dir: str | None = None, scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None, chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: float | None = _DEFAULT, save_summaries_steps: int | None = _DEFAULT,
    save_summaries_secs: float | None = _DEFAULT, config: Any = None, stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100, max_wait_secs: float = 7200, save_checkpoint_steps: int | None = _DEFAULT,
    summary_dir: str | None = None, save_graph_def: bool = True,
) -> MonitoredSession:  # fmt: skip
    """Makes a monitored Session for training: the chief initializes or restores, and saves; workers wait for it.

    Args:
      master: the target of the Session.
      is_chief: whether this is the chief.
      checkpoint_dir: the folder of the checkpoints; None for none.
      scaffold: the operations that initialize, check, save and summarize; the graph's if None.
      hooks: the hooks to call around each run.
      chief_only_hooks: the same, for the chief only.
      save_checkpoint_secs: a checkpoint once in so many seconds; 600 if nothing is said about checkpoints.
      save_summaries_steps: steps between summaries; 100 if no interval is given.
      save_summaries_secs: seconds between summaries.
      config: the config of the Session.
      stop_grace_period_secs: seconds that threads have to end when it is closed.
      log_step_count_steps: steps between logs of the speed; 0 or None for none.
      max_wait_secs: the maximum time that a worker waits for the chief, in seconds.
      save_checkpoint_steps: a checkpoint once in so many steps.
      summary_dir: the folder of the summaries; that of the checkpoints if None.
      save_graph_def: whether to write the graph's text into the folder of the checkpoints.

    Example:
      >>> import tempfile
      >>> import graphc as gx
      >>> from graphc.graphs.session import GradientDescentOptimizer, get_or_create_global_step
      >>> from graphc.graphs.session.monitored import MonitoredTrainingSession, StopAtStepHook
      >>> folder = tempfile.mkdtemp()
      >>> def train(steps):
      ...     with gx.Graph().as_default():
      ...         w = gx.Variable(8.0)
      ...         step = GradientDescentOptimizer(0.25).minimize(w * w, get_or_create_global_step())
      ...         hooks = [StopAtStepHook(last_step=steps)]
      ...         with MonitoredTrainingSession(
      ...             checkpoint_dir=folder, hooks=hooks, log_step_count_steps=0, save_summaries_steps=0
      ...         ) as session:
      ...             while not session.should_stop():
      ...                 session.run(step)
      ...             return float(session.run_step_fn(lambda step_context: step_context.session.run(w)))
      >>> train(2), train(3)  # the second one goes on where the first has ended
      (2.0, 1.0)
    """
    if not is_chief:
        worker = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks, stop_grace_period_secs)
    scaffold = scaffold or Scaffold()
    summaries = _first_or_default(save_summaries_steps, save_summaries_secs, (100, None))
    seconds, steps = _first_or_default(save_checkpoint_secs, save_checkpoint_steps, (600, None))
    summary_dir = summary_dir or checkpoint_dir
    every: list[SessionRunHook] = list(chief_only_hooks or ())
    if summary_dir and log_step_count_steps:
        every.append(StepCounterHook(log_step_count_steps, output_dir=summary_dir))
    if summary_dir and any(summaries):
        every.append(SummarySaverHook(summaries[0], summaries[1], summary_dir, scaffold=scaffold))
    if checkpoint_dir and (seconds or steps):
        saver = CheckpointSaverHook(
            checkpoint_dir, seconds, steps, scaffold=scaffold, save_graph_def=save_graph_def
        )  # fmt: skip
        every.append(saver)
    chief = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(chief, [*every, *(hooks or ())], stop_grace_period_secs)


def _first_or_default(first: Any, second: Any, default: tuple[Any, Any]) -> tuple[Any, Any]:
    """Returns two alternative numbers: the defaults if neither is given, None for an omitted one."""
    if first is _DEFAULT and second is _DEFAULT:
        return default
    return tuple(None if value is _DEFAULT else value or None for value in (first, second))  # pyright: ignore
