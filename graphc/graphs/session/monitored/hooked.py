"""A Session with hooks and a coordinator, which a monitored Session recreates when it is lost."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import AbortedError, FailedPreconditionError, InvalidArgumentError, UnavailableError
from graphc.graphs.queues import Coordinator
from graphc.graphs.session.graphs.keys import GraphKeys
from graphc.graphs.session.monitored.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from graphc.graphs.session.options import RunMetadata, RunOptions
from graphc.graphs.session.runners import start_queue_runners

__all__ = ["LOST", "HookedSession"]

LOST = (AbortedError, UnavailableError)
"""Errors that mean that a Session is lost, and that another one may work."""


class HookedSession:
    """Runs a Session with hooks, alongside its queue runners.

    Args:
      session: the Session, which is ready for use.
      hooks: the hooks to call around each run.
      grace: seconds that threads have to end when it is closed.
    """

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
        """Returns True if a hook or a thread has requested a stop.

        Raises:
          Exception: the exception that stopped a thread.
        """
        self._coord.raise_requested_exception()
        return self._stopped or self._coord.should_stop()

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Runs the fetches of the program and the hooks; see :meth:`Session.run`.

        Raises:
          FailedPreconditionError: a stop was asked for before.
          InvalidArgumentError: a tensor is fed twice.
        """
        if self._stopped:
            problem = "this monitored Session was asked to stop; look at should_stop() before each run"
            raise at(FailedPreconditionError(problem), user_location())
        try:
            return self._run(fetches, feed_dict, options or RunOptions(), run_metadata or RunMetadata())
        except LOST:
            raise
        except Exception:
            self._raise_if_lost()
            raise

    def _raise_if_lost(self) -> None:
        """Raises the exception that stopped a thread if it means that the Session is lost: it causes other errors."""
        try:
            self._coord.raise_requested_exception()
        except LOST:
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
        for hook, request, found in zip(self._hooks, requests, results[1], strict=True):
            values = None if request.fetches is None else found
            hook.after_run(context, SessionRunValues(values, options, metadata))
        self._stopped = self._stopped or context.stop_requested
        return results[0]

    def _feeds(self, feeds: Mapping[Any, Any] | None, requests: Sequence[SessionRunArgs]) -> dict[Any, Any]:
        merged = dict(feeds or {})
        for hook, request in zip(self._hooks, requests, strict=True):
            given: dict[Any, Any] = request.feed_dict or {}
            for key, value in given.items():
                if key in merged:
                    problem = f"{key!r:.60} is fed by {type(hook).__name__}, and by another hook or the program too"
                    raise at(InvalidArgumentError(f"session.run: {problem}"), user_location())
                merged[key] = value
        return merged

    def close(self) -> None:
        """Ends the threads, and closes the Session.

        Raises:
          Exception: the exception that stopped a thread.
        """
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._grace, ignore_live_threads=True)
        finally:
            self.session.close()


def _merged(options: RunOptions, more: RunOptions) -> RunOptions:
    """Merges two RunOptions: the result requests everything that either does."""
    names = [field.name for field in dataclasses.fields(RunOptions)]
    return RunOptions(**{name: max(getattr(options, name), getattr(more, name)) for name in names})
