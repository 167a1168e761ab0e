"""MonitoredSession: a Session that initializes, recovers and closes itself, and calls hooks."""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from graphc.compiler.base import at, pause, user_location
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from graphc.graphs.session.graphs.graph import Graph, default_graph
from graphc.graphs.session.monitored.creators import ChiefSessionCreator, SessionCreator
from graphc.graphs.session.monitored.hook import SessionRunHook
from graphc.graphs.session.monitored.hooked import LOST, HookedSession
from graphc.graphs.session.monitored.scaffold import Scaffold

__all__ = ["MonitoredSession", "SingularMonitoredSession", "StepContext"]

_logger = logging.getLogger("graphc.monitored")

_RECOVERY_SECONDS = 7200.0
"""Time limit, in seconds, for replacing a lost Session; a worker waits as long for its chief."""
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 5.0


class StepContext:
    """The argument of a function that :meth:`MonitoredSession.run_step_fn` calls.

    Args:
      session: the Session, to run operations without hooks.
      run_with_hooks: a function that runs like :meth:`MonitoredSession.run`.
    """

    def __init__(self, session: Any, run_with_hooks: Callable[..., Any]) -> None:
        self._session, self._run = session, run_with_hooks

    @property
    def session(self) -> Any:
        """The Session, to run operations without hooks."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """Runs with hooks; takes the arguments of :meth:`MonitoredSession.run`."""
        return self._run(*args, **kwargs)

    def request_stop(self) -> None:
        """Ends the program's training loop.

        Raises:
          StopIteration: always; ``with MonitoredSession() as session:`` exits without an error.
        """
        raise StopIteration("the step function has asked for a stop")


class _Patience:
    """The growing pauses between attempts to replace a lost Session, and the time limit for all of them."""

    def __init__(self) -> None:
        self._end, self._pause = time.monotonic() + _RECOVERY_SECONDS, _FIRST_PAUSE

    @property
    def is_over(self) -> bool:
        """True if the time limit has passed."""
        return time.monotonic() > self._end

    def wait(self) -> None:
        """Sleeps for the next pause; enforces the deadlines and cancellation tokens in force."""
        pause(self._pause, "a replacement of the lost Session")
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)


class _Monitored:
    """The common base of :class:`MonitoredSession` and :class:`SingularMonitoredSession`."""

    def __init__(
        self, creator: SessionCreator | None, hooks: Sequence[SessionRunHook] | None, grace: float, recovers: bool
    ) -> None:
        self._build = default_graph()
        self._was_finalized = self._build.finalized
        self._hooks = list(hooks or ())
        for hook in self._hooks:
            hook.begin()
        self._creator = creator or ChiefSessionCreator()
        self._grace, self._recovers = grace, recovers
        self._closed = False
        self._inner: HookedSession | None = None
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
            raise at(InvalidArgumentError(problem), user_location())
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

    def _opened(self, patience: _Patience | None = None) -> HookedSession:
        """Returns the Session; if there is none, makes one, and retries while it fails like a lost Session."""
        if self._closed:
            raise at(FailedPreconditionError("Session is already closed."), user_location())
        patience = patience or _Patience()
        while self._inner is None:
            try:
                with self._build.as_default():
                    self._inner = HookedSession(self._creator.create_session(), self._hooks, self._grace)
            except LOST as error:
                if not self._recovers or patience.is_over:
                    raise
                _logger.warning("no Session could be made; trying again: %s", error)
                patience.wait()
        return self._inner

    def _kept(self, act: Callable[[HookedSession], Any]) -> Any:
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

    def _is_lost(self, inner: HookedSession, error: Exception) -> bool:
        """Returns True if an error means that another Session may work and should be made.

        A Variable without a value means that, if the Session was ready: its task was restarted, and has lost it.
        """
        if not self._recovers or isinstance(error, LOST):
            return self._recovers
        missing = getattr(self._creator, "missing", None)
        if missing is None or not isinstance(error, FailedPreconditionError):
            return False
        try:
            return bool(missing(inner.session))
        except LOST:
            return True

    def _lose(self, error: Exception) -> None:
        """Abandons the Session."""
        _logger.warning("the Session is lost; making another one: %s", error)
        inner, self._inner = self._inner, None
        if inner is not None:
            try:
                inner.close()
            except Exception as other:
                _logger.debug("closing a Session that is lost: %s", other)

    def _close(self, *, clean: bool) -> None:
        if self._closed:
            raise at(FailedPreconditionError("Session is already closed."), user_location())
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


def _closed(inner: HookedSession) -> None:
    """Closes a Session; ignores an error that it is lost."""
    try:
        inner.close()
    except LOST as error:
        _logger.warning("the Session was lost when it was closed: %s", error)


class MonitoredSession(_Monitored):
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
        self, session_creator: SessionCreator | None = None, hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:  # fmt: skip
        super().__init__(session_creator, hooks, stop_grace_period_secs, recovers=True)


class SingularMonitoredSession(_Monitored):
    """Runs a graph with hooks, like :class:`MonitoredSession`, but a lost Session is an error.

    Args:
      hooks: the hooks to call around each run.
      scaffold: the operations that initialize, check and restore; the graph's if None.
      master: the target of the Session.
      config: the config of the Session.
      checkpoint_dir: the folder whose latest checkpoint is restored.
      stop_grace_period_secs: seconds that threads have to end when it is closed.
      checkpoint_filename_with_path: the checkpoint itself; instead of the folder.
    """

    def __init__(
        self, hooks: Sequence[SessionRunHook] | None = None, scaffold: Scaffold | None = None, master: str = "",
        config: Any = None, checkpoint_dir: str | None = None, stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:  # fmt: skip
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        super().__init__(creator, hooks, stop_grace_period_secs, recovers=False)

    def raw_session(self) -> Any:
        """The Session, for runs without hooks, and for savers; None once it is closed."""
        return None if self._inner is None else self._inner.session
