"""The watchdog: reports long waits without progress."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from graphc.compiler.base.config import config
from graphc.compiler.base.deadlines import Subject
from graphc.compiler.base.frames import Location, user_location

__all__ = ["listen_to_waits", "note_progress", "overseen", "watched"]

_logger = logging.getLogger("graphc.watchdog")


class Watch:
    """A wait under observation.

    Args:
      subject: the subject of the wait, for the report.
      place: the user's line that waits.
    """

    __slots__ = ("_what", "place", "reported", "since", "thread")

    def __init__(self, subject: Subject, place: Location | None) -> None:
        self._what = subject
        self.place = place
        self.since = time.monotonic()
        self.reported = False
        self.thread = threading.current_thread().name

    def progress(self) -> None:
        """Records progress: the time without progress starts anew, and another stall is reported again."""
        self.since, self.reported = time.monotonic(), False

    def report(self, seconds: float) -> None:
        """Logs that there was no progress."""
        self.reported = True
        try:
            subject = self._what if isinstance(self._what, str) else self._what()
        except Exception as error:  # it may read state that another thread is changing
            subject = f"something that cannot be described now ({error!r})"
        place = "" if self.place is None else f"\n  at {self.place}"
        _logger.warning("no progress for %.3g s: thread %s waits for %s%s", seconds, self.thread, subject, place)


class _Watchdog:
    """Observes all waits; its thread exists only while there are any."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._watches: dict[int, Watch] = {}
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None

    def add(self, watch: Watch) -> int:
        with self._condition:
            number = next(self._numbers)
            self._watches[number] = watch
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="graphc.watchdog", daemon=True)
                self._thread.start()
            return number

    def remove(self, number: int) -> None:
        with self._condition:
            self._watches.pop(number, None)
            if not self._watches:
                self._condition.notify_all()

    def _run(self) -> None:
        while True:
            with self._condition:
                limit = config.watchdog_seconds
                if not self._watches or limit is None:
                    self._thread = None
                    return
                now = time.monotonic()
                due = [watch for watch in self._watches.values() if not watch.reported and now - watch.since >= limit]
                if not due:
                    waits = [limit - (now - watch.since) for watch in self._watches.values() if not watch.reported]
                    # A wait that was reported may progress and stall again.
                    self._condition.wait(min(max(0.0, min(waits, default=limit)), threading.TIMEOUT_MAX))
                    continue
            for watch in due:  # without the lock: logging handlers may be the user's
                try:
                    watch.report(now - watch.since)
                except BaseException:
                    with self._condition:
                        self._thread = None  # the next wait starts another one
                    raise


_watchdog = _Watchdog()


_listener: Callable[[str, float], None] | None = None


def listen_to_waits(listener: Callable[[str, float], None] | None) -> None:
    """Sets a function called after each wait with its subject and its start by ``time.perf_counter``."""
    global _listener
    _listener = listener


_watch: ContextVar[Watch | None] = ContextVar("graphc.watch", default=None)


def note_progress() -> None:
    """Tells the watchdog that the current wait makes progress."""
    watch = _watch.get()
    if watch is not None:
        watch.progress()


@contextmanager
def watched(subject: Subject) -> Generator[None]:
    """Marks this thread as waiting inside the scope; see ``gx.config.watchdog_seconds``.

    Scopes nest: only the outermost counts, since the others are parts of its wait.

    Args:
      subject: the subject of the wait as a noun.
    """
    listener = _listener
    if listener is None:
        with overseen(subject):
            yield
        return
    start = time.perf_counter()
    try:
        with overseen(subject):
            yield
    finally:
        listener(subject if isinstance(subject, str) else subject(), start)


def overseen(subject: Subject) -> AbstractContextManager[None]:
    """Marks work that must make progress, including its waits, like :func:`watched`.

    Work that runs in a copy of the scope's context is part of it, on any thread.
    """
    if config.watchdog_seconds is None or _watch.get() is not None:
        return _NOTHING
    return _watching(Watch(subject, user_location()))


_NOTHING = nullcontext()


@contextmanager
def _watching(watch: Watch) -> Generator[None]:
    number = _watchdog.add(watch)
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)
        _watchdog.remove(number)
