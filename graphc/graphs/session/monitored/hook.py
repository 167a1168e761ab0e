"""SessionRunHook: what is called around the runs of a monitored Session."""

from __future__ import annotations

from typing import Any, NamedTuple

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import FailedPreconditionError
from graphc.graphs.session.training.global_steps import get_global_step

__all__ = ["SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues", "global_step_of"]


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

    Args:
      original_args: the arguments of the program's own call, without those that hooks add.
      session: the Session, to run operations without hooks.
    """

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """Returns the arguments of the program's own call, without those that hooks add."""
        return self._original_args

    @property
    def session(self) -> Any:
        """The Session, for runs without hooks."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """True if a hook has asked for a stop."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Has ``should_stop()`` of the monitored Session return True from now on."""
        self._stop_requested = True


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


def global_step_of(hook: SessionRunHook) -> Any:
    """Returns the global step of the default graph, which a hook needs.

    Raises:
      FailedPreconditionError: the graph has no global step.
    """
    found = get_global_step()
    if found is None:
        error = FailedPreconditionError(
            f"{type(hook).__name__} needs a global step: call tf.train.get_or_create_global_step() while the graph is "
            "built, and give it to the optimizer"
        )
        raise at(error, user_location())
    return found
