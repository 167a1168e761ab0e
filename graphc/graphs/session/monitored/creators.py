"""Scaffold and session creators: the chief restores or initializes a Session, a worker waits for the chief."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from graphc.compiler.base import pause
from graphc.compiler.base.errors import DeadlineExceededError, FailedPreconditionError
from graphc.graphs.refusals import user_error
from graphc.graphs.session.checkpoints import get_checkpoint_state
from graphc.graphs.session.graphs.control_flow import group
from graphc.graphs.session.graphs.graph import default_graph
from graphc.graphs.session.graphs.naming import GraphKeys
from graphc.graphs.session.saver import Saver
from graphc.graphs.session.session import Session
from graphc.graphs.session.summaries import merge_all
from graphc.graphs.session.variables.initializers import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)

_FIRST_PAUSE = 0.02
"""Seconds between a worker's first two looks at the chief's Variables; later pauses double, up to the longest."""
_LONGEST_PAUSE = 30.0


class Scaffold:
    """The operations that initialize, check, save and summarize a graph.

    Omitted ones are taken from the graph's collections when :meth:`finalize` is called, or made and added there.

    Args:
      init_op: an operation that initializes the global Variables.
      init_feed_dict: the feeds of ``init_op``.
      init_fn: a function called with the scaffold and the Session after ``init_op``.
      ready_op: returns the names of uninitialized Variables: a tensor of strings.
      ready_for_local_init_op: the same for the Variables that ``local_init_op`` needs.
      local_init_op: an operation that initializes the state of each process.
      summary_op: returns the summaries.
      saver: the saver of the Variables.

    Example:
      >>> import graphc as gx
      >>> from graphc.graphs.session.monitored import Scaffold
      >>> with gx.Graph().as_default() as graph:
      ...     v = gx.Variable(1.0, name="v")
      ...     scaffold = Scaffold().finalize()
      >>> with gx.Session(graph=graph) as session:
      ...     print(session.run(scaffold.ready_op))
      ...     session.run(scaffold.init_op)
      ...     print(session.run(scaffold.ready_op))
      [b'v']
      []
    """

    def __init__(
        self, init_op: Any = None, init_feed_dict: Any = None, init_fn: Callable[[Scaffold, Any], Any] | None = None,
        ready_op: Any = None, ready_for_local_init_op: Any = None, local_init_op: Any = None, summary_op: Any = None,
        saver: Any = None,
    ) -> None:  # fmt: skip
        self.init_op, self.init_feed_dict, self.init_fn = init_op, init_feed_dict, init_fn
        self.ready_op, self.ready_for_local_init_op = ready_op, ready_for_local_init_op
        self.local_init_op, self.summary_op, self.saver = local_init_op, summary_op, saver

    def finalize(self) -> Scaffold:
        """Makes missing operations, and finalizes the graph; returns the scaffold.

        Raises:
          FailedPreconditionError: a collection of the graph has several candidates.
        """
        graph = default_graph()
        defaults: tuple[tuple[str, str, Callable[[], Any]], ...] = (
            ("init_op", GraphKeys.INIT_OP, global_variables_initializer),
            ("ready_op", GraphKeys.READY_OP, report_uninitialized_variables),
            (
                "ready_for_local_init_op", GraphKeys.READY_FOR_LOCAL_INIT_OP,
                lambda: report_uninitialized_variables(global_variables(), name="report_uninitialized_globals"),
            ),
            (
                "local_init_op", GraphKeys.LOCAL_INIT_OP,
                lambda: group(local_variables_initializer(), *graph.get_collection(GraphKeys.TABLE_INITIALIZERS)),
            ),
            ("summary_op", GraphKeys.SUMMARY_OP, merge_all),
            ("saver", GraphKeys.SAVERS, lambda: Saver(allow_empty=True)),
        )  # fmt: skip
        for name, key, make in defaults:
            if getattr(self, name) is not None:
                continue
            candidates = graph.get_collection(key)
            if len(candidates) > 1:
                problem = f"the collection {key!r} of the graph has {len(candidates)} items; give Scaffold({name}=...)"
                raise FailedPreconditionError(problem).here()
            value = candidates[0] if candidates else make()
            if not candidates and value is not None:
                graph.add_to_collection(key, value)
            setattr(self, name, value)
        self.saver.build()
        graph.finalize()
        return self


class _Creator:
    def __init__(self, scaffold: Scaffold | None, master: str, config: Any) -> None:
        self._scaffold = scaffold or Scaffold()
        self._master, self._config = master, config
        self._graph: Any = None

    def missing(self, session: Any) -> str:
        """Returns the Variables without values in a Session; empty if it is ready for use."""
        return missing_values(session, self._scaffold.ready_op)

    def _new(self) -> Session:
        if self._graph is None:
            self._scaffold.finalize()
            self._graph = default_graph()
        return Session(self._master, self._graph, self._config)

    def _make_ready(self, session: Session) -> str:
        """Runs ``local_init_op`` if its Variables have values; returns what the Session lacks, empty if nothing."""
        missing = missing_values(session, self._scaffold.ready_for_local_init_op)
        if missing:
            return missing
        session.run(self._scaffold.local_init_op)
        return self.missing(session)


class ChiefSessionCreator(_Creator):
    """Makes the Session of the chief: restores the latest checkpoint, or initializes the Variables.

    Args:
      scaffold: the operations that initialize, check and restore; the graph's if None.
      master: the target of the Session.
      config: the config of the Session.
      checkpoint_dir: the folder whose latest checkpoint is restored.
      checkpoint_filename_with_path: the checkpoint itself; instead of the folder.

    Raises:
      InvalidArgumentError: both a folder and a checkpoint are given.
    """

    def __init__(
        self, scaffold: Scaffold | None = None, master: str = "", config: Any = None,
        checkpoint_dir: str | None = None, checkpoint_filename_with_path: str | None = None,
    ) -> None:  # fmt: skip
        if checkpoint_dir and checkpoint_filename_with_path:
            raise user_error("ChiefSessionCreator: give checkpoint_dir or checkpoint_filename_with_path, not both")
        super().__init__(scaffold, master, config)
        self._folder, self._file = checkpoint_dir, checkpoint_filename_with_path

    def create_session(self) -> Session:
        """Returns a new Session that is ready for use.

        Raises:
          FailedPreconditionError: Variables are still uninitialized.
        """
        session, scaffold = self._new(), self._scaffold
        try:
            if not self._restore(session):
                session.run(scaffold.init_op, feed_dict=scaffold.init_feed_dict)
                if scaffold.init_fn is not None:
                    scaffold.init_fn(scaffold, session)
            problem = self._make_ready(session)
            if problem:
                problem = f"ChiefSessionCreator: the initializers have run, and the model is not ready: {problem}"
                raise FailedPreconditionError(problem).here()
        except BaseException:
            session.close()
            raise
        return session

    def _restore(self, session: Session) -> bool:
        """Returns True if there was a checkpoint."""
        saver = self._scaffold.saver
        if self._file:
            saver.restore(session, self._file)
            return True
        state = get_checkpoint_state(str(self._folder)) if self._folder else None
        if state is None or not state.model_checkpoint_path:
            return False
        saver.restore(session, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return True


class WorkerSessionCreator(_Creator):
    """Makes the Session of a worker, when the chief has initialized the Variables.

    Args:
      scaffold: the operations that check; those of the graph if None.
      master: the target of the Session.
      config: the config of the Session.
      max_wait_secs: the maximum time to wait, in seconds.
    """

    def __init__(
        self, scaffold: Scaffold | None = None, master: str = "", config: Any = None, max_wait_secs: float = 1800
    ) -> None:
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Session:
        """Returns a new Session whose Variables the chief has initialized.

        Raises:
          DeadlineExceededError: Variables are still uninitialized after ``max_wait_secs``; the message names them.
        """
        session, end, length = self._new(), time.monotonic() + self._max_wait_secs, _FIRST_PAUSE
        try:
            while problem := self._make_ready(session):
                left = end - time.monotonic()
                if left <= 0:
                    raise user_error(
                        f"Session was not ready after waiting {self._max_wait_secs:g} s: {problem}. Is the chief "
                        "running, with the same graph and cluster?",
                        DeadlineExceededError,
                    )
                pause(min(length, left), f"the chief to initialize the model: {problem}")
                length = min(2 * length, _LONGEST_PAUSE)
        except BaseException:
            session.close()
            raise
        return session


def missing_values(session: Any, ready_op: Any) -> str:
    """Returns the names of uninitialized Variables in a Session, from an operation; empty if there are none."""
    if ready_op is None:
        return ""
    try:
        names = session.run(ready_op)
    except FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            raise
        return str(error)
    if names is None or names.dtype.kind in "iu" or not names.size:
        return ""
    return f"Variables not initialized: {', '.join(name.decode() for name in names.ravel())}"
