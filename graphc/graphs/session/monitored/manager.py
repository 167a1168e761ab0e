"""SessionManager: makes Sessions with initialized Variables, from a checkpoint, by initializers, or by the chief."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from graphc.compiler.base import at, pause, user_location
from graphc.compiler.base.errors import DeadlineExceededError, FailedPreconditionError, InvalidArgumentError
from graphc.graphs.session.checkpoints import get_checkpoint_state
from graphc.graphs.session.graphs.graph import Graph, default_graph
from graphc.graphs.session.session import Session

__all__ = ["SessionManager", "missing_values"]

_logger = logging.getLogger("graphc.monitored")

_FIRST_PAUSE = 0.02
"""Seconds between the first two checks of a condition; later pauses double."""


class SessionManager:
    """Makes Sessions that are ready for use: the chief's own, or those of workers that wait for the chief.

    Args:
      local_init_op: an operation that runs in each new Session.
      ready_op: returns the names of uninitialized Variables; the Session is ready when there are none.
      ready_for_local_init_op: the same for ``local_init_op``, which runs when there are none.
      graph: the graph that the Sessions run; the default graph if None.
      recovery_wait_secs: the maximum time between two checks of the condition waited for, in seconds.
      local_init_run_options: the settings with which ``local_init_op`` runs.
      local_init_feed_dict: the feeds of ``local_init_op``.

    Raises:
      InvalidArgumentError: ``ready_for_local_init_op`` is given without ``local_init_op``.

    Example:
      >>> import graphc as gx
      >>> from graphc.graphs.session import report_uninitialized_variables
      >>> from graphc.graphs.session.monitored import SessionManager
      >>> with gx.Graph().as_default():
      ...     v = gx.Variable(1.0, name="v")
      ...     manager = SessionManager(ready_op=report_uninitialized_variables())
      ...     with manager.prepare_session("", init_op=gx.global_variables_initializer()) as session:
      ...         float(session.run(v))
      1.0
    """

    def __init__(
        self, local_init_op: Any = None, ready_op: Any = None, ready_for_local_init_op: Any = None,
        graph: Graph | None = None, recovery_wait_secs: float = 30, local_init_run_options: Any = None,
        local_init_feed_dict: Any = None,
    ) -> None:  # fmt: skip
        if ready_for_local_init_op is not None and local_init_op is None:
            problem = (
                "SessionManager: ready_for_local_init_op is given, and there is no local_init_op that waits for it"
            )
            raise at(InvalidArgumentError(problem), user_location())
        self._local_init_op = local_init_op
        self._ready_op, self._ready_for_local_init_op = ready_op, ready_for_local_init_op
        self._graph = graph or default_graph()
        self._pause = recovery_wait_secs
        self._options, self._feeds = local_init_run_options, local_init_feed_dict

    def prepare_session(
        self, master: str, init_op: Any = None, saver: Any = None, checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None, wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200, config: Any = None, init_feed_dict: Any = None,
        init_fn: Callable[[Any], Any] | None = None,
    ) -> Session:  # fmt: skip
        """Makes an initialized Session: from a checkpoint, or otherwise by the initializers.

        Args:
          master: the target of the Session.
          init_op: an operation that initializes the Variables if there is no checkpoint.
          saver: the saver that restores the Variables.
          checkpoint_dir: the folder whose latest checkpoint is taken.
          checkpoint_filename_with_path: the checkpoint itself; instead of the folder.
          wait_for_checkpoint: whether to wait until the folder has one.
          max_wait_secs: the maximum time to wait, in seconds; then the Variables are initialized.
          config: the config of the Session.
          init_feed_dict: the feeds of ``init_op``.
          init_fn: a function called with the Session after ``init_op``.

        Raises:
          FailedPreconditionError: there is no checkpoint or initializer, or Variables are still uninitialized.
          InvalidArgumentError: both a folder and a checkpoint are given.
        """
        session, restored = self._restored(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
        )
        try:
            if not restored:
                self._initialize(session, init_op, init_feed_dict, init_fn)
            problem = self._missing(session)
            if problem:
                raise _error(f"prepare_session: the initializers have run, and the model is not ready: {problem}")
        except BaseException:
            session.close()
            raise
        return session

    def _initialize(self, session: Session, init_op: Any, feeds: Any, init_fn: Callable[[Any], Any] | None) -> None:
        if init_op is None and init_fn is None and self._local_init_op is None:
            raise _error("prepare_session: there is no checkpoint, and no init_op, init_fn or local_init_op was given")
        if init_op is not None:
            session.run(init_op, feed_dict=feeds)
        if init_fn is not None:
            init_fn(session)

    def recover_session(
        self, master: str, saver: Any = None, checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None, wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200, config: Any = None,
    ) -> tuple[Session, bool]:  # fmt: skip
        """Makes a Session, restored from a checkpoint if there is one.

        Returns:
          The Session, and True if the checkpoint set all of its values; see :meth:`prepare_session`.
        """
        session, restored = self._restored(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
        )
        problem = self._missing(session)
        if restored and problem:
            _logger.info("the checkpoint did not make the model ready: %s", problem)
        return session, restored and not problem

    def wait_for_session(self, master: str, config: Any = None, max_wait_secs: float | None = None) -> Session:
        """Makes a Session whose Variables another process initializes, and waits until they are.

        Args:
          master: the target of the Session.
          config: the config of the Session.
          max_wait_secs: the maximum time to wait, in seconds; None for no limit but the deadline in force.

        Raises:
          DeadlineExceededError: Variables are still uninitialized after that time; the message names them.
        """
        session = Session(master, self._graph, config)
        problem = ""

        def is_ready() -> bool:
            nonlocal problem
            problem = self._missing(session)
            return not problem

        try:
            if not self._wait(is_ready, max_wait_secs, lambda: f"the chief to initialize the model: {problem}"):
                error = DeadlineExceededError(
                    f"Session was not ready after waiting {max_wait_secs:g} s: {problem}. Is the chief running, with "
                    "the same graph and cluster?"
                )
                raise at(error, user_location())
        except BaseException:
            session.close()
            raise
        return session

    def _restored(
        self, master: str, saver: Any, folder: str | None, file: str | None, wait: bool, max_wait_secs: float,
        config: Any,
    ) -> tuple[Session, bool]:  # fmt: skip
        """Returns a new Session, and whether a checkpoint was restored."""
        if folder and file:
            problem = "give checkpoint_dir or checkpoint_filename_with_path, not both"
            raise at(InvalidArgumentError(f"SessionManager: {problem}"), user_location())
        session = Session(master, self._graph, config)
        try:
            if saver is None or not (folder or file):
                return session, False
            if file:
                saver.restore(session, file)
                return session, True
            if wait:
                self._wait(lambda: _latest(folder) is not None, max_wait_secs, lambda: f"a checkpoint in {folder!r}")
            state = _latest(folder)
            if state is None:
                return session, False
            saver.restore(session, state.model_checkpoint_path)
            saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        except BaseException:
            session.close()
            raise
        return session, True

    def _missing(self, session: Session) -> str:
        """Runs ``local_init_op`` if it may; returns what the Session lacks, empty if it is ready."""
        if self._local_init_op is not None:
            problem = missing_values(session, self._ready_for_local_init_op)
            if problem:
                return problem
            session.run(self._local_init_op, feed_dict=self._feeds, options=self._options)
        return missing_values(session, self._ready_op)

    def _wait(self, predicate: Callable[[], bool], max_wait_secs: float | None, what: Callable[[], str]) -> bool:
        """Waits until a predicate is true; returns False after a timeout."""
        end = None if max_wait_secs is None else time.monotonic() + max_wait_secs
        length = _FIRST_PAUSE
        while not predicate():
            left = length if end is None else end - time.monotonic()
            if left <= 0:
                return False
            pause(min(length, left), what)
            length = min(2 * length, self._pause)
        return True


def _latest(folder: str | None) -> Any:
    state = get_checkpoint_state(str(folder))
    return state if state is not None and state.model_checkpoint_path else None


def missing_values(session: Any, ready_op: Any) -> str:
    """Returns the names of uninitialized Variables in a Session, from an operation; empty if there are none."""
    if ready_op is None:
        return ""
    try:
        found = session.run(ready_op)
    except FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            raise
        return str(error)
    if found is None or found.dtype.kind in "iu" or not found.size:
        return ""
    return f"Variables not initialized: {', '.join(name.decode() for name in found.ravel())}"


def _error(problem: str) -> FailedPreconditionError:
    return at(FailedPreconditionError(f"SessionManager.{problem}"), user_location())
