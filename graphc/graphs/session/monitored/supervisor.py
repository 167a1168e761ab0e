"""Supervisor: TensorFlow 1's older way to initialize, save and stop a training."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.graphs.queues import Coordinator, LooperThread
from graphc.graphs.session.event_files import FileWriter
from graphc.graphs.session.event_protos import message
from graphc.graphs.session.graphs.graph import Graph, default_graph
from graphc.graphs.session.graphs.keys import GraphKeys
from graphc.graphs.session.monitored.manager import SessionManager
from graphc.graphs.session.monitored.scaffold import Scaffold
from graphc.graphs.session.saver import Saver
from graphc.graphs.session.session import Session
from graphc.graphs.session.summaries import merge_all
from graphc.graphs.session.training.global_steps import get_global_step
from graphc.graphs.session.variables.initializing import (
    global_variables,
    global_variables_initializer,
    report_uninitialized_variables,
)
from graphc.graphs.session.variables.variable import GraphVariable

__all__ = ["Supervisor"]

_logger = logging.getLogger("graphc.monitored")

_DEFAULT: Final = 0


class Supervisor:
    """Makes the Session of a training, saves and summarizes it in separate threads, and stops them together.

    It finalizes the graph. :class:`MonitoredTrainingSession` is the newer way. TensorFlow's ``tf.train.Supervisor``.

    Args:
      graph: the graph; the default one if None.
      ready_op: returns the names of uninitialized Variables; made if it is not given, None for no check.
      ready_for_local_init_op: the same for ``local_init_op``; none if omitted.
      is_chief: whether this process initializes and saves; otherwise it waits for the one that does.
      init_op: an operation that initializes the Variables; made if omitted.
      init_feed_dict: the feeds of ``init_op``.
      local_init_op: an operation that initializes the state of each process; made if omitted.
      logdir: the folder of checkpoints and events; None for none.
      summary_op: the summary operation; all summaries of the graph if omitted, None for none.
      saver: the saver of the Variables; made if omitted, None for none.
      global_step: the global step; the graph's if omitted, None for none.
      save_summaries_secs: seconds between summaries; 0 to write none.
      save_model_secs: seconds between checkpoints; 0 to save none.
      recovery_wait_secs: the maximum time between two checks of the condition waited for, in seconds.
      stop_grace_secs: seconds that threads have to end.
      checkpoint_basename: the prefix of the names of the checkpoints.
      session_manager: the manager that makes Sessions; a :class:`SessionManager` if None.
      summary_writer: the writer of events; a FileWriter of ``logdir`` if omitted, None for none.
      init_fn: a function called with the Session after ``init_op``.
      local_init_run_options: the settings with which ``local_init_op`` runs.

    Raises:
      InvalidArgumentError: this is not the chief, and a Variable is not pinned.

    Example:
      >>> import graphc as gx
      >>> from graphc.graphs.session.monitored import Supervisor
      >>> with gx.Graph().as_default():
      ...     count = gx.Variable(0, name="count")
      ...     more = count.assign_add(1)
      ...     supervisor = Supervisor()
      ...     with supervisor.managed_session() as session:
      ...         while not supervisor.should_stop():
      ...             if session.run(more) == 3:
      ...                 supervisor.request_stop()
      ...         print(session.run(count))
      3
    """

    USE_DEFAULT = _DEFAULT

    def __init__(
        self, graph: Graph | None = None, ready_op: Any = _DEFAULT, ready_for_local_init_op: Any = _DEFAULT,
        is_chief: bool = True, init_op: Any = _DEFAULT, init_feed_dict: Any = None, local_init_op: Any = _DEFAULT,
        logdir: str | None = None, summary_op: Any = _DEFAULT, saver: Any = _DEFAULT, global_step: Any = _DEFAULT,
        save_summaries_secs: float = 120, save_model_secs: float = 600, recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120, checkpoint_basename: str = "model.ckpt",
        session_manager: SessionManager | None = None, summary_writer: Any = _DEFAULT,
        init_fn: Callable[[Any], Any] | None = None, local_init_run_options: Any = None,
    ) -> None:  # fmt: skip
        self._graph = graph or default_graph()
        self.is_chief = is_chief
        self.coord = Coordinator()
        with self._graph.as_default():
            self.ready_op = _chosen(ready_op, GraphKeys.READY_OP, report_uninitialized_variables)
            self.ready_for_local_init_op = _chosen(
                ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None
            )
            self.init_op = _chosen(init_op, GraphKeys.INIT_OP, global_variables_initializer)
            local = _chosen(local_init_op, GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op)
            self.saver = _chosen(saver, GraphKeys.SAVERS, lambda: Saver() if global_variables() else None)
            self.summary_op = _chosen(summary_op, GraphKeys.SUMMARY_OP, merge_all)
            self.global_step = _chosen(global_step, GraphKeys.GLOBAL_STEP, get_global_step)
        self.init_feed_dict, self._init_fn = init_feed_dict, init_fn
        self._grace = stop_grace_secs
        self._logdir = logdir if is_chief else None
        self.save_path = str(Path(self._logdir) / checkpoint_basename) if self._logdir else None
        self.save_summaries_secs, self.save_model_secs = save_summaries_secs, save_model_secs
        self.summary_writer: Any = None if summary_writer is _DEFAULT or not is_chief else summary_writer
        if summary_writer is _DEFAULT and self._logdir:
            self.summary_writer = FileWriter(self._logdir)
        self._graph_written = self._writer_closed = False
        self.session_manager = session_manager or SessionManager(
            local, self.ready_op, self.ready_for_local_init_op, self._graph, recovery_wait_secs, local_init_run_options
        )
        self._check_pins()
        self._graph.finalize()

    def _check_pins(self) -> None:
        for variable in [] if self.is_chief else self._graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
            if isinstance(variable, GraphVariable) and not variable.device:
                problem = (
                    f"Supervisor: {variable!r} is pinned nowhere, and so each worker would have its own; build the "
                    "graph under tf.device(tf.train.replica_device_setter(cluster=...))"
                )
                raise at(InvalidArgumentError(problem), user_location())

    # Sessions

    def prepare_or_wait_for_session(
        self, master: str = "", config: Any = None, wait_for_checkpoint: bool = False, max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Session:  # fmt: skip
        """Makes the Session: the chief restores or initializes it, others wait until it has.

        Args:
          master: the target of the Session.
          config: the config of the Session.
          wait_for_checkpoint: whether the chief waits for a checkpoint.
          max_wait_secs: the maximum time to wait, in seconds.
          start_standard_services: whether to start the threads that save and summarize, and the queue runners.
        """
        self.coord.clear_stop()
        if not self.is_chief:
            session = self.session_manager.wait_for_session(master, config, max_wait_secs)
        else:
            if self.summary_writer is not None:
                self.summary_writer.reopen()
                self._writer_closed = False
            session = self.session_manager.prepare_session(
                master, self.init_op, self.saver, self._logdir, None, wait_for_checkpoint, max_wait_secs, config,
                self.init_feed_dict, self._init_fn,
            )  # fmt: skip
            self._write_graph()
            if start_standard_services:
                self.start_standard_services(session)
        if start_standard_services:
            self.start_queue_runners(session)
        return session

    @contextmanager
    def managed_session(
        self, master: str = "", config: Any = None, start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Generator[Session]:  # fmt: skip
        """Makes the Session, and ends everything at the end of the scope.

        Exceptions from inside the scope and from threads are raised at its end, except an OutOfRangeError, which
        means that the input has ended. See :meth:`prepare_or_wait_for_session`.
        """
        session: Session | None = None
        try:
            session = self.prepare_or_wait_for_session(master, config, start_standard_services=start_standard_services)
            yield session
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if session is not None:
                    session.close()

    # Threads

    def start_standard_services(self, sess: Session) -> list[LooperThread]:
        """Starts the threads that save and summarize, and returns them.

        Raises:
          FailedPreconditionError: this is not the chief.
        """
        if not self.is_chief:
            problem = "Supervisor.start_standard_services: only the chief saves and summarizes"
            raise at(FailedPreconditionError(problem), user_location())
        if not self._logdir:
            return []
        if self.global_step is not None:
            self._log_session("START", self._step(sess))
        threads: list[LooperThread] = []
        if self.save_summaries_secs and self.summary_writer is not None:
            if self.summary_op is not None:
                threads.append(self.loop(self.save_summaries_secs, self._summarize, (sess,)))
            if self.global_step is not None:
                threads.append(_StepCounter(self, sess))
                threads[-1].start()
        if self.saver is not None and self.save_model_secs:
            threads.append(self.loop(self.save_model_secs, self._save, (sess,)))
        return threads

    def start_queue_runners(self, sess: Session, queue_runners: Sequence[Any] | None = None) -> list[Any]:
        """Starts the threads of queue runners, all of the graph's if None, and returns them."""
        runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS) if queue_runners is None else queue_runners
        with self._graph.as_default():
            return [
                thread
                for runner in runners
                for thread in runner.create_threads(sess, coord=self.coord, daemon=True, start=True)
            ]

    def loop(
        self, timer_interval_secs: float | None, target: Callable[..., object], args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:  # fmt: skip
        """Starts a thread that calls a function repeatedly; see :class:`LooperThread`."""
        return LooperThread.loop(self.coord, timer_interval_secs, target, args, kwargs)

    def stop(
        self, threads: Sequence[Any] | None = None, close_summary_writer: bool = True, ignore_live_threads: bool = False
    ) -> None:
        """Stops all threads, and waits for their end; see :meth:`Coordinator.join`. A second call does nothing.

        Args:
          threads: further threads to wait for.
          close_summary_writer: whether to close the event file.
          ignore_live_threads: whether to ignore threads that still run after the grace period.
        """
        self.coord.request_stop()
        try:
            self.coord.join(threads, self._grace, ignore_live_threads)
        finally:
            if close_summary_writer and self.summary_writer is not None and not self._writer_closed:
                self._writer_closed = True
                self._log_session("STOP", None)
                self.summary_writer.close()
                self._graph_written = False

    def request_stop(self, ex: Any = None) -> None:
        """Requests a stop of all threads; see :meth:`Coordinator.request_stop`."""
        self.coord.request_stop(ex)

    def should_stop(self) -> bool:
        """Returns True if a stop was requested."""
        return self.coord.should_stop()

    def stop_on_exception(self) -> AbstractContextManager[None]:
        """Requests a stop for an exception raised inside; see :meth:`Coordinator.stop_on_exception`."""
        return self.coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Waits until a stop is requested."""
        self.coord.wait_for_stop()

    # Output

    def summary_computed(self, sess: Session, summary: Any, global_step: Any = None) -> None:
        """Writes a summary.

        Args:
          sess: the Session that gave it.
          summary: the result of a summary operation.
          global_step: its step; the Session's global step if None.

        Raises:
          FailedPreconditionError: there is no writer.
        """
        if self.summary_writer is None:
            problem = "Supervisor.summary_computed: there is no summary writer; give logdir, or summary_writer"
            raise at(FailedPreconditionError(problem), user_location())
        step = self._step(sess) if global_step is None and self.global_step is not None else global_step
        self.summary_writer.add_summary(summary, step)

    def _step(self, session: Session) -> int:
        return int(session.run(self.global_step))

    def _summarize(self, session: Session) -> None:
        self.summary_computed(session, session.run(self.summary_op))

    def _save(self, session: Session) -> None:
        _logger.info("saved %s", self.saver.save(session, self.save_path, global_step=self.global_step))

    def _log_session(self, status: str, step: int | None) -> None:
        if self.summary_writer is not None:
            log = message("SessionLog")
            self.summary_writer.add_session_log(log(status=getattr(log, status)), step)

    def _write_graph(self) -> None:
        if self._logdir:
            Path(self._logdir).mkdir(parents=True, exist_ok=True)
            (Path(self._logdir) / "graph.txt").write_text(f"{self._graph.ir}\n", encoding="utf-8")
        if self.summary_writer is not None and not self._graph_written:
            self.summary_writer.add_graph(self._graph)
            self._graph_written = True


class _StepCounter(LooperThread):
    """Writes the global steps per second."""

    def __init__(self, supervisor: Supervisor, session: Session) -> None:
        super().__init__(supervisor.coord, supervisor.save_summaries_secs)
        self._supervisor, self._session = supervisor, session

    def start_loop(self) -> None:
        self._time, self._step = time.monotonic(), self._now()

    def run_loop(self) -> None:
        now, step = time.monotonic(), self._now()
        rate = (step - self._step) / (now - self._time) if now > self._time else float("inf")
        self._time, self._step = now, step
        tag, summary = f"{self._supervisor.global_step.op.name}/sec", message("Summary")
        self._supervisor.summary_writer.add_summary(
            summary(value=[summary.Value(tag=tag, simple_value=rate)]), step
        )  # fmt: skip
        _logger.info("%s: %g", tag, rate)

    def _now(self) -> int:
        return int(self._session.run(self._supervisor.global_step))


def _chosen(given: Any, key: str, make: Callable[[], Any]) -> Any:
    """Returns the given value, or the first item of a collection of the graph, or a new one, which is added there."""
    if given is not _DEFAULT:
        return given
    graph = default_graph()
    found = graph.get_collection(key)
    if found:
        return found[0]
    made = make()
    if made is not None:
        graph.add_to_collection(key, made)
    return made
