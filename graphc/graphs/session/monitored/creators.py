"""Session creators for a monitored Session: the chief initializes it, a worker waits for the chief."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from graphc.graphs.session.graphs.graph import default_graph
from graphc.graphs.session.monitored.manager import SessionManager, missing_values
from graphc.graphs.session.monitored.scaffold import Scaffold
from graphc.graphs.session.session import Session

__all__ = ["ChiefSessionCreator", "SessionCreator", "WorkerSessionCreator"]


class SessionCreator(ABC):
    """Makes Sessions."""

    @abstractmethod
    def create_session(self) -> Any:
        """Returns a new Session that is ready for use."""


class _Prepared(SessionCreator):
    """Makes Sessions with a scaffold.

    Args:
      scaffold: the operations that initialize and check; the graph's if None.
      master: the target of the Session.
      config: the config of the Session.
    """

    def __init__(self, scaffold: Scaffold | None, master: str, config: Any) -> None:
        self._scaffold = scaffold or Scaffold()
        self._master, self._config = master, config
        self._manager: SessionManager | None = None

    def missing(self, session: Any) -> str:
        """Returns the Variables without values in a Session; empty if it is ready for use."""
        return missing_values(session, self._scaffold.ready_op)

    def _finalized(self) -> SessionManager:
        if self._manager is None:
            scaffold = self._scaffold.finalize()
            self._manager = SessionManager(
                local_init_op=scaffold.local_init_op,
                local_init_feed_dict=scaffold.local_init_feed_dict,
                ready_op=scaffold.ready_op,
                ready_for_local_init_op=scaffold.ready_for_local_init_op,
                graph=default_graph(),
            )
        return self._manager


class ChiefSessionCreator(_Prepared):
    """Makes the Session of the chief: restores the latest checkpoint, or initializes the Variables.

    Args:
      scaffold: the operations that initialize, check and restore; the graph's if None.
      master: the target of the Session.
      config: the config of the Session.
      checkpoint_dir: the folder whose latest checkpoint is restored.
      checkpoint_filename_with_path: the checkpoint itself; instead of the folder.
    """

    def __init__(
        self, scaffold: Scaffold | None = None, master: str = "", config: Any = None,
        checkpoint_dir: str | None = None, checkpoint_filename_with_path: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(scaffold, master, config)
        self._folder, self._file = checkpoint_dir, checkpoint_filename_with_path

    def create_session(self) -> Session:
        """Returns a new Session; see :meth:`SessionManager.prepare_session`."""
        manager, scaffold = self._finalized(), self._scaffold
        return manager.prepare_session(
            self._master,
            init_op=scaffold.init_op,
            saver=scaffold.saver,
            checkpoint_dir=self._folder,
            checkpoint_filename_with_path=self._file,
            config=self._config,
            init_feed_dict=scaffold.init_feed_dict,
            init_fn=scaffold.init_fn,
        )


class WorkerSessionCreator(_Prepared):
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
        """Returns a new Session; see :meth:`SessionManager.wait_for_session`."""
        return self._finalized().wait_for_session(self._master, self._config, self._max_wait_secs)
