"""MonitoredTrainingSession: a Session that initializes, recovers and closes itself, and calls hooks."""

from __future__ import annotations

import dataclasses
import inspect
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

from graphc.compiler.base import pause
from graphc.compiler.base.errors import (
    AbortedError,
    FailedPreconditionError,
    InvalidArgumentError,
    OutOfRangeError,
    UnavailableError,
)
from graphc.graphs.queues import Coordinator
from graphc.graphs.refusals import user_error
from graphc.graphs.session.graphs.graph import Graph, default_graph
from graphc.graphs.session.graphs.naming import GraphKeys
from graphc.graphs.session.monitored.creators import ChiefSessionCreator, Scaffold, WorkerSessionCreator
from graphc.graphs.session.monitored.hooks import (
    CheckpointSaverHook,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StepCounterHook,
    SummarySaverHook,
)
from graphc.graphs.session.options import RunMetadata, RunOptions
from graphc.graphs.session.runners import start_queue_runners

_logger = logging.getLogger("graphc.monitored")

_LOST = (AbortedError, UnavailableError)
"""Errors that mean that a Session is lost, and that another one may work."""

_RECOVERY_SECONDS = 7200.0
"""Time limit, in seconds, for replacing a lost Session; a worker waits as long for its chief."""
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 5.0


@dataclasses.dataclass(frozen=True)
class StepContext:
    """The argument of a function that :meth:`MonitoredSession.run_step_fn` calls."""

    session: Any
    run_with_hooks: Callable[..., Any]

    def request_stop(self) -> None:
        """Ends the program's training loop."""
        raise StopIteration("the step function has asked for a stop")


class _Patience:
    """The growing pauses between attempts to replace a lost Session, and the time limit for all of them."""

    def __init__(self) -> None:
        self._end, self._pause = time.monotonic() + _RECOVERY_SECONDS, _FIRST_PAUSE

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self._end

    def wait(self) -> None:
        """Sleeps for the next pause; enforces the deadlines and cancellation tokens in force."""
        pause(self._pause, "a replacement of the lost Session")
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)


class _HookedSession:
    """Runs a Session that is ready for use with hooks, alongside its queue runners."""

    def __init__(self, session: Any, hooks: Sequence[SessionRunHook], grace: float) -> None:
        self.session = session
        self._hooks, self._grace = hooks, grace
        self._stopped = False
        self._coord = Coordinator(clean_stop_exception_types=())
        try:
            if session.graph.get_collection(GraphKeys.QUEUE_RUNNERS):
                start_queue_runners(session, self._coord)
            for hook in hooks:
                hook.after_create_session(session, self._coord)
        except BaseException:
            self.close()
            raise

    def should_stop(self) -> bool:
        self._coord.raise_requested_exception()
        return self._stopped or self._coord.should_stop()

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        if self._stopped:
            problem = "this monitored Session was asked to stop; look at should_stop() before each run"
            raise FailedPreconditionError(problem).here()
        try:
            return self._run(fetches, feed_dict, options or RunOptions(), run_metadata or RunMetadata())
        except _LOST:
            raise
        except Exception:
            self._raise_if_lost()
            raise

    def _raise_if_lost(self) -> None:
        """Raises the exception that stopped a thread if it means that the Session is lost: it causes other errors."""
        try:
            self._coord.raise_requested_exception()
        except _LOST:
            raise
        except Exception:
            return

    def _run(self, fetches: Any, feeds: Any, options: RunOptions, metadata: RunMetadata) -> Any:
        context = SessionRunContext(SessionRunArgs(fetches, feeds), self.session)
        requests = [hook.before_run(context) or SessionRunArgs(None) for hook in self._hooks]
        extra: list[Any] = [() if request.fetches is None else request.fetches for request in requests]
        for request in requests:
            if request.options is not None:
                options = _merged(options, request.options)
        results = self.session.run([fetches, extra], self._feeds(feeds, requests), options, metadata)
        for hook, request, result in zip(self._hooks, requests, results[1], strict=True):
            values = None if request.fetches is None else result
            hook.after_run(context, SessionRunValues(values, options, metadata))
        self._stopped = self._stopped or context.stop_requested
        return results[0]

    def _feeds(self, feeds: Mapping[Any, Any] | None, requests: Sequence[SessionRunArgs]) -> dict[Any, Any]:
        merged = dict(feeds or {})
        for hook, request in zip(self._hooks, requests, strict=True):
            extra: dict[Any, Any] = request.feed_dict or {}
            for key, value in extra.items():
                if key in merged:
                    problem = f"{key!r:.60} is fed by {type(hook).__name__}, and by another hook or the program too"
                    raise user_error(f"session.run: {problem}")
                merged[key] = value
        return merged

    def close(self) -> None:
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._grace, ignore_live_threads=True)
        finally:
            self.session.close()


def _merged(options: RunOptions, more: RunOptions) -> RunOptions:
    """Merges two RunOptions: the result requests everything that either does."""
    names = [field.name for field in dataclasses.fields(RunOptions)]
    return RunOptions(**{name: max(getattr(options, name), getattr(more, name)) for name in names})


class MonitoredSession:
    """Runs a graph with hooks, in a Session that it initializes, and replaces when it is lost.

    The constructor calls the hooks' ``begin``, finalizes the graph, makes the Session, initializes it or restores it
    from a checkpoint, and starts queue runners. If a run fails with AbortedError or UnavailableError, or because a
    cluster task was restarted, it is repeated in a new Session from the same creator. An OutOfRangeError, which means
    that the input has ended, ends ``with`` without an error.

    Args:
      session_creator: the creator of the Session; a :class:`ChiefSessionCreator` if None.
      hooks: the hooks to call around each run.
      stop_grace_period_secs: seconds that threads have to end when it is closed.

    Example:
      >>> import graphc as gx
      >>> from graphc.graphs.session.monitored import MonitoredSession
      >>> with gx.Graph().as_default():
      ...     count = gx.Variable(0, name="count")
      ...     more = count.assign_add(1)
      ...     with MonitoredSession() as session:
      ...         print([int(session.run(more)) for _ in range(3)])
      [1, 2, 3]
    """

    def __init__(
        self, session_creator: Any = None, hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:  # fmt: skip
        self._build = default_graph()
        self._was_finalized = self._build.finalized
        self._hooks = list(hooks or ())
        for hook in self._hooks:
            hook.begin()
        self._creator: ChiefSessionCreator | WorkerSessionCreator = session_creator or ChiefSessionCreator()
        self._grace = stop_grace_period_secs
        self._closed = False
        self._inner: _HookedSession | None = None
        try:
            self._opened()
        except BaseException:
            self._build.finalized = self._was_finalized
            raise

    @property
    def graph(self) -> Graph | None:
        """The graph that it runs; None once it is closed."""
        return None if self._inner is None else self._inner.session.graph

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Runs the fetches of the program and the hooks; see :meth:`Session.run`.

        Raises:
          FailedPreconditionError: the Session is closed, or a stop was requested.
        """
        return self._kept(lambda inner: inner.run(fetches, feed_dict, options, run_metadata))

    def run_step_fn(self, step_fn: Callable[[StepContext], Any]) -> Any:
        """Calls a function that makes a step from runs with and without hooks.

        Args:
          step_fn: a function that takes a :class:`StepContext` as an argument named ``step_context``.

        Raises:
          InvalidArgumentError: the function takes other arguments.
          StopIteration: the function requested a stop.
        """
        if [*inspect.signature(step_fn).parameters] != ["step_context"]:
            problem = f"run_step_fn: the function takes one argument, step_context; got {inspect.signature(step_fn)}"
            raise InvalidArgumentError(problem).here()
        return self._kept(lambda inner: step_fn(StepContext(inner.session, inner.run)))

    def should_stop(self) -> bool:
        """Returns True if a hook or a thread has requested a stop, or the Session is closed."""
        if self._closed:
            return True
        inner = self._opened()
        try:
            return inner.should_stop()
        except Exception as error:
            if not self._is_lost(inner, error):
                return True  # close() raises it
            self._lose(error)
            return False

    def close(self) -> None:
        """Calls the hooks' ``end``, ends the threads and closes the Session.

        Raises:
          Exception: the exception that stopped a thread.
          FailedPreconditionError: the Session is already closed.
        """
        self._close(clean=True)

    # Implementation

    def _opened(self, patience: _Patience | None = None) -> _HookedSession:
        """Returns the Session; if there is none, makes one, and retries while it fails like a lost Session."""
        if self._closed:
            raise user_error("Session is already closed.", FailedPreconditionError)
        patience = patience or _Patience()
        while self._inner is None:
            try:
                with self._build.as_default():
                    self._inner = _HookedSession(self._creator.create_session(), self._hooks, self._grace)
            except _LOST as error:
                if patience.is_over:
                    raise
                _logger.warning("no Session could be made; trying again: %s", error)
                patience.wait()
        return self._inner

    def _kept(self, act: Callable[[_HookedSession], Any]) -> Any:
        """Calls a function with the Session; if that is lost, with another one: at once, then after growing pauses."""
        patience: _Patience | None = None
        while True:
            inner = self._opened(patience)
            try:
                return act(inner)
            except Exception as error:
                if not self._is_lost(inner, error) or (patience is not None and patience.is_over):
                    raise
                self._lose(error)
            if patience is None:
                patience = _Patience()
            else:
                patience.wait()

    def _is_lost(self, inner: _HookedSession, error: Exception) -> bool:
        """Returns True if an error means that another Session may work and should be made.

        A Variable without a value means that, if the Session was ready: its task was restarted, and has lost it.
        """
        if isinstance(error, _LOST):
            return True
        missing = getattr(self._creator, "missing", None)  # a creator of the user's may have only create_session
        if missing is None or not isinstance(error, FailedPreconditionError):
            return False
        try:
            return bool(missing(inner.session))
        except _LOST:
            return True

    def _lose(self, error: Exception) -> None:
        _logger.warning("the Session is lost; making another one: %s", error)
        inner, self._inner = self._inner, None
        if inner is not None:
            try:
                inner.close()
            except Exception as other:
                _logger.debug("closing a Session that is lost: %s", other)

    def _close(self, *, clean: bool) -> None:
        if self._closed:
            raise user_error("Session is already closed.", FailedPreconditionError)
        inner, self._closed = self._inner, True
        try:
            for hook in self._hooks if clean and inner is not None else ():
                hook.end(inner.session)  # pyright: ignore[reportOptionalMemberAccess]
        finally:
            self._inner = None
            self._build.finalized = self._was_finalized
            if inner is not None:
                _closed(inner)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        ended = kind is None or issubclass(kind, OutOfRangeError | StopIteration)
        if not self._closed:
            self._close(clean=ended)
        return ended and kind is not None


def _closed(inner: _HookedSession) -> None:
    """Closes a Session; ignores an error that it is lost."""
    try:
        inner.close()
    except _LOST as error:
        _logger.warning("the Session was lost when it was closed: %s", error)


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
