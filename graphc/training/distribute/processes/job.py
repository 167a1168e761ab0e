"""The job that this process belongs to as a rank: joining it, meeting the other ranks, and ending it."""

from __future__ import annotations

import atexit
import logging
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, TypeVar

import jax

from graphc.compiler.base import checked_seconds, interruption, thread_location, user_location
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    GraphcError,
    InvalidArgumentError,
    UnavailableError,
    code_of,
    error_of_code,
)
from graphc.compiler.runtime import BARRIER, observer
from graphc.training.distribute.processes.carriers import (
    HubCarrier,
    MemberCarrier,
    MessageCarrier,
    ProcessRank,
    find_place,
    free_port,
)
from graphc.training.distribute.processes.protocol import Hub, Member

FAILED_WITH_ANOTHER = 75
"""Exit code of a rank that ends because another rank failed: ``EX_TEMPFAIL``."""

_TIMEOUT = 300.0
_SILENCE = 60.0
_GRACE = 5.0
_TEXT = 2000
_T = TypeVar("_T")
_log = logging.getLogger("graphc")


class Job:
    """A rank's view of its job.

    Args:
      timeout: seconds to wait for ranks that are alive, at the start and at each barrier.
      check_every: the number of programs between comparisons of Variables; 0 for no comparison.
    """

    def __init__(self, process: ProcessRank, timeout: float, check_every: int) -> None:
        self.rank, self.count = process.rank, process.count
        self.timeout, self.check_every = timeout, check_every
        self.programs = self.batches = 0
        self.waited = 0.0  # seconds for others at barriers
        self.grace = min(_GRACE, timeout / 2)  # seconds that a program has to notice that the job has ended
        self._place = process
        silence, now = min(_SILENCE, timeout), time.monotonic()
        self._member = Member(process.rank, silence, now)
        self._turn = threading.RLock()
        self._carrier: MessageCarrier
        if process.rank == 0:
            self._carrier = HubCarrier(self._member, process, Hub(process.count, now, timeout, silence))
        else:
            self._carrier = MemberCarrier(self._member, process, timeout)
        self._thread = threading.get_ident()
        self._was_told = threading.Event()
        self._has_failed = False

    def start(self) -> str:
        """Waits until all ranks have arrived; returns the address for ``jax.distributed``."""
        message: dict[str, Any] = {
            "kind": "join", "rank": self.rank, "count": self.count, "where": f"{socket.gethostname()}:{os.getpid()}"
        }  # fmt: skip
        if self.rank == 0:
            host = socket.gethostbyname(self._place.host)
            message["coordinator"] = f"{host}:{free_port(host)}"
        with self._turn:
            self._carrier.send(message)
            while not self._member.coordinator:
                self._pump(self._carrier.interval)
                self._check()
        sys.excepthook = _Excepthook(self, sys.excepthook)
        atexit.register(self._finish)
        threading.Thread(target=self._look_after, name="graphc.processes", daemon=True).start()
        return self._member.coordinator

    def enter(
        self, what: str, facts: Mapping[str, str] | None = None, *, vote: int = 1, timeout: float | None = None,
        note: str = "",
    ) -> int:  # fmt: skip
        """Waits until all ranks arrive; ``what`` and ``facts``, by their names in messages, must be the same on all."""
        location = user_location()
        seconds = self.timeout if timeout is None else timeout
        bound = interruption()
        left = None if bound is None else bound.remaining()
        if left is not None:
            seconds = min(seconds, max(left, 0.0))
        source = "" if location is None else location.short
        start = time.perf_counter()
        with self._turn:
            self._check()
            self._carrier.send(self._member.enter(what, source, facts or {}, vote, seconds, note))
            while self._member.is_waiting:
                self._pump(self._carrier.interval)
            self._check()
            self.waited += time.perf_counter() - start
            if (timeline := observer()) is not None:
                timeline.waited(f"{BARRIER}{what}", start)
            return self._member.vote

    def gather(self, what: str, note: str) -> list[str]:
        """Waits until all ranks arrive; returns each rank's short text, in rank order."""
        self.enter(what, note=note)
        return self._member.notes

    def _check(self) -> None:
        failure = self._member.failure
        if failure is not None:
            self._was_told.set()
            raise error_of_code(failure.code)(failure.text).here()

    def _pump(self, timeout: float) -> None:
        """Handles messages for a while; reports that the rank is alive, and its current line."""
        if self._carrier.is_due():
            location = thread_location(self._thread)
            self._carrier.send({"kind": "alive", "place": "" if location is None else location.short})
        self._carrier.pump(timeout)
        while self._member.notices:
            _log.warning("%s", self._member.notices.pop(0))

    def _look_after(self) -> None:
        """Handles messages while the program computes: it may be stuck because another rank is missing."""
        while self._member.failure is None:
            time.sleep(self._carrier.interval)
            if self._turn.acquire(blocking=False):
                try:
                    self._pump(0.0)
                finally:
                    self._turn.release()
        if not self._was_told.wait(self.grace):
            print(f"graphc: rank {self.rank} ends: {self._member.failure.text}", file=sys.stderr)
            self._exit()

    def _exit(self) -> None:
        """Ends the process now, after flushing its output, once the ranks that depend on it are gone."""
        failure = self._member.failure
        at_fault = failure is None or failure.rank == self.rank
        dead = failure.rank if failure is not None and failure.code == code_of(UnavailableError) else None
        with self._turn:
            self._carrier.linger(self.grace + 2 * self._carrier.interval, dead)
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1 if at_fault else FAILED_WITH_ANOTHER)

    def fail(self, error: BaseException) -> None:
        """Tells the others that this rank ends with an exception, or the user that it ends because of another rank."""
        with self._turn:
            # A collective fails if another rank dies; JAX raises this as several types.
            if isinstance(error, jax.errors.JaxRuntimeError) or re.search(r"\b(Gloo|NCCL)\b", str(error)):
                self._listen(self.grace)
            failure = self._member.failure
            if failure is None:
                self._carrier.send({"kind": "failed", "text": f"{type(error).__name__}: {error}"[:_TEXT]})
                self._has_failed = True
            elif not isinstance(error, GraphcError):
                print(f"graphc: {failure.text}", file=sys.stderr)

    def _listen(self, seconds: float) -> None:
        """Waits briefly for news of another rank's end."""
        end = time.monotonic() + seconds
        while self._member.failure is None and time.monotonic() < end:
            self._pump(self._carrier.interval)

    def _finish(self) -> None:
        """Leaves the job; ends the process if JAX would wait for ranks that are gone."""
        with self._turn:
            if self._member.failure is None and not self._has_failed:
                self._member.has_left = True
                self._carrier.send({"kind": "leave"})
                self.grace = 0.0  # no program can notice that the job has ended
        if self._has_failed or self._member.failure is not None:
            self._exit()


class _Excepthook:
    """Tells the other ranks about an exception that ends this one."""

    def __init__(self, job: Job, before: Any) -> None:
        self._job = job
        self._before = before

    def __call__(self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        """Shows the exception as before, and tells the other ranks."""
        self._before(kind, error, traceback)
        self._job.fail(error)


_job: Job | None = None


def current_job() -> Job | None:
    """Returns the job that this process is a rank of; None before :func:`initialize`, or if it is alone."""
    return _job


def process_index() -> int:
    """Returns the rank of this process, from 0.

    Example:
      >>> import graphc as gx
      >>> gx.distribute.process_index(), gx.distribute.process_count()
      (0, 1)
    """
    return 0 if _job is None else _job.rank


def process_count() -> int:
    """Returns the number of processes that run the program; 1 if :func:`initialize` has found no others."""
    return 1 if _job is None else _job.count


def initialize(*, timeout: float | None = None, check_every: int = 100) -> None:
    """Joins the processes that run this program, if there are several; call it before any tensor is made.

    It finds its place in the environment set by ``graphc launch``, SLURM, Open MPI or a Kubernetes indexed job, waits
    for the others, and starts JAX's runtime for several processes: with gloo and one device per process on CPUs, with
    NCCL on GPUs. Without such an environment it does nothing, so the same script also runs alone.

    Args:
      timeout: seconds to wait for ranks that are alive, at the start and before each program;
        ``GRAPHC_PROCESS_TIMEOUT``, else 300, when None. A rank that gives no sign of life for as long, or for 60 s, is
        dead.
      check_every: the number of programs between comparisons of a program's Variables over the ranks, and of batches
        that ``shard`` lays out every so many; 0 for never.

    Raises:
      InvalidArgumentError: the environment lacks something, which the message names.
      DeadlineExceededError: ranks have not arrived; the message names them.
      FailedPreconditionError: a tensor was already made, or two processes have the same rank.

    Example:
      >>> import graphc as gx
      >>> gx.distribute.initialize()
      >>> gx.distribute.process_count()
      1
    """
    global _job
    seconds = checked_seconds(timeout, "gx.distribute.initialize") or _environment_timeout()
    if isinstance(check_every, bool) or not isinstance(check_every, int) or check_every < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        message = f"gx.distribute.initialize: check_every must be an int from 0, got {check_every!r}"
        raise InvalidArgumentError(message).here()
    if _job is not None:
        raise FailedPreconditionError("gx.distribute.initialize was called already").here()
    process = find_place()
    if process is None:
        return
    if jax.distributed.is_initialized():
        raise FailedPreconditionError(
            "jax.distributed is initialized already; call gx.distribute.initialize() in its place, which does that too"
        ).here()
    job = Job(process, seconds, check_every)
    _start_jax(job, process, job.start())
    _job = job


def _environment_timeout() -> float:
    text = os.environ.get("GRAPHC_PROCESS_TIMEOUT", "")
    try:
        return (checked_seconds(float(text), "GRAPHC_PROCESS_TIMEOUT") if text else None) or _TIMEOUT
    except ValueError:
        raise InvalidArgumentError(f"GRAPHC_PROCESS_TIMEOUT must be a number of seconds, got {text!r}").here() from None


def _start_jax(job: Job, process: ProcessRank, coordinator: str) -> None:
    try:
        # Several simulated devices in each of several processes would deadlock.
        jax.config.update("jax_num_cpu_devices", 1)
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(
            coordinator,
            job.count,
            job.rank,
            local_device_ids=_local_devices(process),
            cluster_detection_method="deactivate",
            initialization_timeout=max(1, int(job.timeout)),
            coordinator_bind_address=coordinator,
        )
    except RuntimeError as error:
        if isinstance(error, GraphcError):
            raise
        text = (
            "gx.distribute.initialize must come first: JAX has its devices already, since a tensor was made or devices "
            f"were asked for before it ({error})"
        )
        raise FailedPreconditionError(text).here() from error


def _local_devices(process: ProcessRank) -> list[int] | None:
    """Returns the GPU of a process that shares its machine with others; None for all visible GPUs."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    alone = process.local_rank is None or process.local_count == 1
    return None if alone or (visible and "," not in visible) else [process.local_rank or 0]


def synchronized(iterable: Iterable[_T]) -> Iterator[_T]:
    """Iterates as long as every process has a next element: when one process runs out, all stop.

    Each process passes its own elements, such as its part of the batches. Without this, a process with more elements
    would wait for the others in a step that they never enter.

    Args:
      iterable: the elements; each process passes its own.

    Returns:
      An iterator over the same elements, up to the last one that all processes have.

    Example:
      >>> import graphc as gx
      >>> list(gx.distribute.synchronized([1, 2, 3]))
      [1, 2, 3]
    """
    end: Any = object()
    iterator = iter(iterable)
    while True:
        element = next(iterator, end)
        if _job is not None and not _job.enter("the next element of synchronized(...)", vote=int(element is not end)):
            return
        if element is end:
            return
        yield element
