"""The Coordinator: it stops threads together and collects their exceptions."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from numbers import Real
from types import TracebackType
from typing import Any, cast

from graphc.compiler.base import is_internal_file, start_on_thread, wait_until
from graphc.compiler.base.errors import CancelledError, FailedPreconditionError, InvalidTypeError, OutOfRangeError
from graphc.graphs.refusals import user_error

_logger = logging.getLogger("graphc.coordinator")

ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None]


class Coordinator:
    """Stops several threads together, and raises the exception that stopped them.

    Each thread works while :meth:`should_stop` is False. Any of them may call :meth:`request_stop`, with an exception
    if that is the reason. :meth:`join` waits for all threads, and raises that exception with the traceback of its
    thread. TensorFlow's ``tf.train.Coordinator``.

    Args:
      clean_stop_exception_types: exceptions that end the work as planned, which ``join`` does not raise. The default is
        the errors of a closed queue: OutOfRangeError and CancelledError.

    Raises:
      InvalidTypeError: one of the types is not an exception class.

    Example:
      >>> import threading
      >>> import graphc as gx
      >>> coord, numbers = gx.Coordinator(), []
      >>> def work():
      ...     while not coord.should_stop():
      ...         numbers.append(len(numbers))
      ...         if len(numbers) == 3:
      ...             coord.request_stop()
      >>> thread = threading.Thread(target=work)
      >>> thread.start()
      >>> coord.join([thread])
      >>> numbers
      [0, 1, 2]
    """

    def __init__(self, clean_stop_exception_types: Iterable[type[BaseException]] | None = None) -> None:
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (OutOfRangeError, CancelledError)
        self._clean = tuple(clean_stop_exception_types)
        kinds: tuple[Any, ...] = self._clean
        if not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds):
            raise user_error(
                f"Coordinator: clean_stop_exception_types must be exception classes, got {kinds!r:.80}",
                InvalidTypeError,
            )
        self._condition = threading.Condition()
        self._stopped = False
        self._reason: tuple[BaseException, TracebackType | None] | None = None
        self._joined = False
        self._registered: dict[threading.Thread, None] = {}
        self._callbacks: dict[object, Callable[[], None]] = {}

    def request_stop(self, ex: BaseException | ExceptionInfo | None = None) -> None:
        """Asks all threads to stop.

        Args:
          ex: the reason, for :meth:`join` to raise: an exception, or the result of ``sys.exc_info()``. The first one
            counts; exceptions of the clean types do not.

        Raises:
          InvalidTypeError: ``ex`` is not an exception.
          Exception: ``ex`` itself, if the threads were joined before, since nothing would raise it later.
        """
        reason = _exception(ex)
        with self._condition:
            clean = reason is None or isinstance(reason[0], self._clean)
            if not clean and self._joined:
                assert reason is not None
                raise reason[0].with_traceback(reason[1])
            if reason is not None:
                _logger.info(
                    "%s by %s: %s", "told again to stop" if self._stopped else "told to stop",
                    type(reason[0]).__name__, reason[0],
                )  # fmt: skip
            callbacks = () if self._stopped else tuple(self._callbacks.values())
            if not self._stopped:
                self._reason = None if clean else reason
                self._stopped = True
                self._callbacks.clear()
                self._condition.notify_all()
        for callback in callbacks:
            callback()

    def on_stop(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Registers a function that the thread that requests a stop calls; calls it at once after a stop.

        Args:
          callback: the function, which must neither wait nor raise.

        Returns:
          A function that removes the callback.
        """
        key = object()
        with self._condition:
            stopped = self._stopped
            if not stopped:
                self._callbacks[key] = callback
        if stopped:
            callback()

        def forget() -> None:
            with self._condition:
                self._callbacks.pop(key, None)

        return forget

    def clear_stop(self) -> None:
        """Withdraws the request to stop, and forgets its exception: the coordinator is as new."""
        with self._condition:
            self._stopped, self._joined, self._reason = False, False, None

    def should_stop(self) -> bool:
        """Returns True if the threads should stop."""
        return self._stopped

    @contextmanager
    def stop_on_exception(self) -> Generator[None]:
        """Requests a stop for an exception raised inside the scope, and suppresses it: :meth:`join` raises it.

        Example:
          >>> import graphc as gx
          >>> coord = gx.Coordinator()
          >>> with coord.stop_on_exception():
          ...     raise ValueError("no such record")
          >>> coord.join()
          Traceback (most recent call last):
          ...
          ValueError: no such record
        """
        try:
            yield
        except BaseException as error:
            self.request_stop(error)

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits for a request to stop.

        Args:
          timeout: the maximum time to wait, in seconds; None for no limit but the deadline in force.

        Returns:
          True if a stop was requested; False after the timeout.

        Raises:
          DeadlineExceededError: the deadline in force has passed.
          CancelledError: a token in force was cancelled.
        """
        with self._condition:
            return wait_until(self._condition, self.should_stop, "a request to stop", timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Makes the next :meth:`join` also wait for a thread."""
        _check_threads("register_thread", [thread])
        with self._condition:
            self._registered[thread] = None

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits until the threads have ended, including registered ones, and raises the exception that stopped them.

        Until a stop is requested, it waits as long as the threads run; after that, for the grace period.

        Args:
          threads: the threads, which must have been started; others are ignored.
          stop_grace_period_secs: seconds that the threads have to end after a stop is requested.
          ignore_live_threads: whether to ignore threads that still run after the grace period.

        Raises:
          Exception: the exception passed to :meth:`request_stop`, with its traceback.
          FailedPreconditionError: threads still run after the grace period; the message names them and their lines.
          InvalidArgumentError: the calling thread is one of them, or the grace period is no number from 0 on.
          DeadlineExceededError: the deadline in force has passed.
          CancelledError: a token in force was cancelled.
        """
        grace = _seconds(stop_grace_period_secs)
        with self._condition:
            passed = () if threads is None else tuple(threads)
            _check_threads("join", passed)
            awaited = [thread for thread in {**self._registered, **dict.fromkeys(passed)} if thread.is_alive()]
            if threading.current_thread() in awaited:
                raise user_error(
                    "Coordinator.join: a thread cannot wait for its own end; call it from the thread that started them"
                )
            self._wait_for(awaited, grace)
            live = [thread for thread in awaited if thread.is_alive()]
            self._joined = True
            self._registered = {}
            self.raise_requested_exception()
        if live and ignore_live_threads:
            _logger.info("stopped while threads still run: %s", ", ".join(map(_described, live)))
        elif live:
            raise user_error(_still_running(live, grace), FailedPreconditionError)

    def _wait_for(self, threads: Sequence[threading.Thread], grace: float) -> None:
        """Waits for the end of threads, with the condition held; after a stop, for the grace period only."""
        ended: list[bool] = []

        def have_ended() -> bool:
            return bool(ended)

        def watch() -> None:
            for thread in threads:
                thread.join()
            with self._condition:
                ended.append(True)
                self._condition.notify_all()

        def what() -> str:
            return f"threads to end: {', '.join(thread.name for thread in threads if thread.is_alive())}"

        if threads:
            start_on_thread(watch)
            wait_until(self._condition, lambda: have_ended() or self._stopped, what)
            wait_until(self._condition, have_ended, what, grace)

    @property
    def joined(self) -> bool:
        """True if :meth:`join` has returned or raised since the coordinator was new."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises the exception passed to :meth:`request_stop`, with its traceback; does nothing if there was none."""
        with self._condition:
            if self._reason is not None:
                error, traceback = self._reason
                raise error.with_traceback(traceback)


def _exception(error: Any) -> tuple[BaseException, TracebackType | None] | None:
    """Returns an exception as a caller passes it, and its current traceback."""
    if isinstance(error, tuple):
        parts = cast("tuple[Any, ...]", error)
        if len(parts) == 3 and (isinstance(parts[1], BaseException) or parts[1] is None):
            return None if parts[1] is None else (parts[1], parts[2] or parts[1].__traceback__)
    elif error is None:
        return None
    elif isinstance(error, BaseException):
        return error, error.__traceback__
    raise user_error(
        f"Coordinator.request_stop: ex must be an exception, the result of sys.exc_info(), or None, got {error!r:.60}",
        InvalidTypeError,
    )


def _check_threads(method: str, threads: Sequence[Any]) -> None:
    for thread in threads:
        if not isinstance(thread, threading.Thread):
            raise user_error(
                f"Coordinator.{method}: expected instances of threading.Thread, got {thread!r:.60}", InvalidTypeError
            )


def _seconds(seconds: Any) -> float:
    if isinstance(seconds, bool) or not isinstance(seconds, Real) or not float(seconds) >= 0:
        raise user_error(
            f"Coordinator.join: stop_grace_period_secs must be a number of at least 0, got {seconds!r:.60}"
        )
    return float(seconds)


def _still_running(threads: Sequence[threading.Thread], grace: float) -> str:
    count = "1 thread is" if len(threads) == 1 else f"{len(threads)} threads are"
    listed = "".join(f"\n  {_described(thread)}" for thread in threads)
    return (
        f"Coordinator.join: {count} still running {grace:g} s after the request to stop; make each check "
        f"coord.should_stop() often, close the queues that they wait on, or pass ignore_live_threads=True:{listed}"
    )


def _described(thread: threading.Thread) -> str:
    """Returns a thread's name, with the innermost line of the user's code that it runs."""
    frame = sys._current_frames().get(thread.ident or 0)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and is_internal_file(frame.f_code.co_filename):
        frame = frame.f_back
    return thread.name if frame is None else f"{thread.name}, in {frame.f_code.co_filename}, line {frame.f_lineno}"
