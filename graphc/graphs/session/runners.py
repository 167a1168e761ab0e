"""QueueRunner: threads that fill a queue and stop together."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, NoReturn

from graphc.compiler.base import CancellationToken
from graphc.compiler.base.errors import (
    CancelledError,
    FailedPreconditionError,
    InvalidTypeError,
    OutOfRangeError,
    UnimplementedError,
)
from graphc.graphs.queues import Coordinator, Fillers, QueueBase
from graphc.graphs.refusals import refusal, user_error
from graphc.graphs.session.graphs.graph import default_graph, stacks
from graphc.graphs.session.graphs.naming import GraphKeys
from graphc.graphs.session.plans.repeating import repeated

_logger = logging.getLogger("graphc.queue_runner")


class QueueRunner:
    """Fills a queue: one thread for each enqueue operation runs it repeatedly.

    A thread ends when its operation finds a queue closed, its own or one that it takes from, or when the coordinator
    requests a stop, which cancels its waits. The last thread closes the queue, so that consumers get the remaining
    elements and then OutOfRangeError. An exception stops the coordinator, and is the cause of that OutOfRangeError.
    TensorFlow's ``tf.train.QueueRunner``.

    Args:
      queue: the queue to fill.
      enqueue_ops: enqueue operations, possibly with repetitions. Without a Session, functions.
      close_op: an operation that closes the queue once no more elements come; ``queue.close()`` if None.
      cancel_op: an operation that closes the queue and cancels waiting enqueues, when a stop is requested;
        ``queue.close(cancel_pending_enqueues=True)`` if None.
      queue_closed_exception_types: exceptions of an enqueue operation that mean that a queue is closed; by default
        OutOfRangeError and CancelledError.
      queue_runner_def: refused; graphs are not stored as protocol buffers.

    Raises:
      InvalidArgumentError: there is no queue, or no operation.
      InvalidTypeError: ``queue`` is not a queue, or one of the types is not an exception class.
      UnimplementedError: ``queue_runner_def`` is given.

    Example:
      >>> import graphc as gx
      >>> with gx.Graph().as_default():
      ...     queue = gx.queues.FIFOQueue(10, "int32", shapes=[[]])
      ...     runner = gx.QueueRunner(queue, [queue.enqueue(1), queue.enqueue(2)])
      ...     pair = queue.dequeue_many(4)
      ...     with gx.Session() as session:
      ...         coord = gx.Coordinator()
      ...         threads = runner.create_threads(session, coord, start=True)
      ...         numbers = session.run(pair).tolist()
      ...         coord.request_stop()
      ...         coord.join(threads)
      >>> set(numbers) <= {1, 2}
      True
    """

    def __init__(
        self, queue: QueueBase | None = None, enqueue_ops: Sequence[Any] | None = None, close_op: Any = None,
        cancel_op: Any = None, queue_closed_exception_types: tuple[type[Exception], ...] | None = None,
        queue_runner_def: Any = None,
    ) -> None:  # fmt: skip
        if queue_runner_def is not None:
            raise _unimplemented()
        if queue is None or not enqueue_ops:
            raise refusal("QueueRunner", "expected a queue and a list of at least one operation that enqueues")
        candidate: Any = queue
        if not isinstance(candidate, QueueBase):
            raise user_error(f"QueueRunner: expected a queue, got {candidate!r:.60}", InvalidTypeError)
        self._queue = queue
        self._enqueue_ops = list(enqueue_ops)
        self._closed_types = _exception_types(queue_closed_exception_types)
        in_graph = not any(callable(op) for op in self._enqueue_ops)
        self._close_op = close_op or (queue.close() if in_graph else queue.close)
        self._cancel_op = cancel_op or (
            queue.close(cancel_pending_enqueues=True) if in_graph else lambda: queue.close(cancel_pending_enqueues=True)
        )
        self.remedy = "call runner.create_threads(sess, coord, start=True) before the first dequeue"
        self._exceptions: list[BaseException] = []
        self._lock = threading.Lock()
        self._running: weakref.WeakKeyDictionary[Any, _Crew] = weakref.WeakKeyDictionary()
        queue.expects(self)

    @property
    def queue(self) -> QueueBase:
        """The queue that it fills."""
        return self._queue

    @property
    def enqueue_ops(self) -> list[Any]:
        """The operations that enqueue."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        """The operation that closes the queue once no more elements come."""
        return self._close_op

    @property
    def cancel_op(self) -> Any:
        """The operation that closes the queue when a stop is requested."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[type[Exception], ...]:
        """The exceptions that mean that a queue is closed."""
        return self._closed_types

    @property
    def exceptions_raised(self) -> list[BaseException]:
        """The exceptions of its threads, if there is no coordinator."""
        return self._exceptions

    @property
    def name(self) -> str:
        """The name of the queue."""
        return self._queue.name

    def create_threads(
        self, sess: Any = None, coord: Coordinator | None = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """Makes the threads for a Session: one for each operation, and one that closes the queue at a stop.

        Args:
          sess: the Session that runs the operations; None if they are functions.
          coord: the coordinator that stops the threads, and that they report to; it waits for them when it joins.
          daemon: whether the process may end before the threads.
          start: whether to start them; otherwise the caller must.

        Returns:
          The threads; none if those of an earlier call for this Session still run.

        Raises:
          InvalidArgumentError: ``sess`` is None, and an operation is not a function.
          InvalidTypeError: ``coord`` is not a coordinator.
        """
        candidate: Any = coord
        if candidate is not None and not isinstance(candidate, Coordinator):
            problem = f"QueueRunner.create_threads: coord must be a Coordinator, got {candidate!r:.60}"
            raise InvalidTypeError(problem).here()
        if sess is None and not all(callable(op) for op in self._enqueue_ops):
            raise refusal("QueueRunner", "create_threads: expected the Session that runs the operations, got None")
        key = self if sess is None else sess
        with self._lock:
            running = self._running.get(key)
            if running is not None and running.left:
                return []
            crew = _Crew(self, sess, coord)
            self._running[key] = crew
            self._exceptions = []
        threads = crew.threads(daemon)
        if start:
            crew.fillers.start()
            for thread in threads:
                thread.start()
        return threads

    def to_proto(self, export_scope: str | None = None) -> NoReturn:
        """Raises an error: graphs are not stored as protocol buffers."""
        raise _unimplemented()

    @staticmethod
    def from_proto(queue_runner_def: Any, import_scope: str | None = None) -> NoReturn:
        """Raises an error: graphs are not stored as protocol buffers."""
        raise _unimplemented()


class _Crew:
    def __init__(self, runner: QueueRunner, sess: Any, coord: Coordinator | None) -> None:
        self._runner = runner
        self._session = None if sess is None else weakref.ref(sess)
        self._coord = coord
        self._lock = threading.Lock()
        self._token = CancellationToken()
        self._over = threading.Event()  # not overseen: it may last as long as the program
        self.left = len(runner.enqueue_ops)
        self.fillers: Fillers = runner.queue.fillers(None if sess is None else sess.resources)
        if coord is not None:
            self._forget = coord.on_stop(self._over.set)

    def threads(self, daemon: bool) -> list[threading.Thread]:
        runner, sess = self._runner, None if self._session is None else self._session()
        threads = [
            threading.Thread(target=self._fill, args=(sess, op), name=self._name(getattr(op, "name", number)))
            for number, op in enumerate(runner.enqueue_ops)
        ]
        if self._coord is not None:
            threads.append(threading.Thread(target=self._close_on_stop, args=(sess,), name=self._name("close_on_stop")))
        for thread in threads:
            thread.daemon = daemon
            if self._coord is not None:
                self._coord.register_thread(thread)
        return threads

    def _name(self, part: object) -> str:
        return f"QueueRunnerThread-{self._runner.name}-{part}"

    def _fill(self, sess: Any, op: Any) -> None:
        self.fillers.start()
        try:
            call = _repeating(sess, op)
            with self._token:
                while self._coord is None or not self._coord.should_stop():
                    call()
        except Exception as error:
            self._ended_by(sess, error)
        finally:
            self._leave(sess)

    def _ended_by(self, sess: Any, error: Exception) -> None:
        stopped = self._coord is not None and self._coord.should_stop()
        if stopped or getattr(sess, "_closed", False):
            return  # the effect of a stop, or of the end of the Session
        if isinstance(error, self._runner.queue_closed_exception_types):
            if error.__cause__ is not None:  # what ended the queue that this one is filled from
                self.fillers.fail(error.__cause__)
            return
        self.fillers.fail(error)
        if self._coord is not None:
            self._coord.request_stop(error)
            return
        self._runner.exceptions_raised.append(error)
        _logger.error("%s: %s", self._name("failed"), error, exc_info=error)

    def _leave(self, sess: Any) -> None:
        """Counts a thread that ends; the last one closes the queue."""
        with self._lock:
            self.left -= 1
            last = not self.left
        if last:
            if self._coord is None or not self._coord.should_stop():
                _run_quietly(sess, self._runner.close_op)
            self._over.set()

    def _close_on_stop(self, sess: Any) -> None:
        """Waits for a stop, and then closes the queue; ends with the last thread."""
        assert self._coord is not None
        self._over.wait()
        self._forget()
        if self._coord.should_stop():
            _run_quietly(sess, self._runner.cancel_op)
            self._token.cancel("the coordinator was asked to stop")


def _callable(sess: Any, op: Any) -> Callable[[], object]:
    return op if callable(op) else sess.make_callable(op)


def _repeating(sess: Any, op: Any) -> Callable[[], object]:
    """Returns the function that a thread repeats: several runs at once, if that makes no difference."""
    return (None if callable(op) else repeated(sess, op)) or _callable(sess, op)


def _run_quietly(sess: Any, op: Any) -> None:
    """Closes a queue that may already be closed, in a Session that may be closed, too."""
    try:
        _callable(sess, op)()
    except Exception as error:
        _logger.debug("closing a queue: %s", error)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Adds a runner to a collection of the graph, for :func:`start_queue_runners`.

    Args:
      qr: the runner.
      collection: the name of the collection.
    """
    qr.remedy = "call gx.start_queue_runners(sess, coord) before the first dequeue"
    default_graph().add_to_collection(collection, qr)


def start_queue_runners(
    sess: Any = None, coord: Coordinator | None = None, daemon: bool = True, start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:  # fmt: skip
    """Starts the threads of all runners in a collection of the graph.

    Args:
      sess: the Session; the default one if None.
      coord: the coordinator that stops the threads.
      daemon: whether the process may end before the threads.
      start: whether to start them; otherwise the caller must.
      collection: the name of the collection.

    Returns:
      The threads.

    Raises:
      FailedPreconditionError: there is no Session.
      InvalidTypeError: ``sess`` is not a Session.
    """
    session = sess if sess is not None else stacks.default_session
    if session is None:
        problem = "start_queue_runners: there is no default Session; use `with gx.Session() as sess:`, or pass one"
        raise FailedPreconditionError(problem).here()
    if not hasattr(session, "graph"):
        raise user_error(f"start_queue_runners: sess must be a Session, got {sess!r:.60}", InvalidTypeError)
    runners = session.graph.get_collection(collection)
    if not runners:
        _logger.warning("start_queue_runners: the collection %r of the graph has no queue runners", collection)
    with ExitStack() as stack:
        stack.enter_context(session.graph.as_default())
        return [thread for runner in runners for thread in runner.create_threads(session, coord, daemon, start)]


def _exception_types(kinds: Any) -> tuple[type[Exception], ...]:
    if kinds is None:
        return (OutOfRangeError, CancelledError)
    if (
        not isinstance(kinds, tuple)
        or not kinds
        or not all(isinstance(kind, type) and issubclass(kind, Exception) for kind in kinds)  # pyright: ignore
    ):
        problem = f"QueueRunner: queue_closed_exception_types must be a tuple of exception classes, got {kinds!r:.60}"
        raise InvalidTypeError(problem).here()
    return kinds  # pyright: ignore[reportUnknownVariableType]


def _unimplemented() -> UnimplementedError:
    problem = "graphs are not kept as protocol buffers; make the QueueRunner where the graph is built"
    return user_error(f"QueueRunner: {problem}", UnimplementedError)
