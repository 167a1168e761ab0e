"""Replicas: several copies of a function that answer queries in batches, from any thread or asyncio task."""

from __future__ import annotations

import atexit
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from numbers import Real
from types import TracebackType
from typing import Any, Self, cast

from graphc.compiler.base import checked_seconds, deadline, interruption, logs, user_location, wait_until
from graphc.compiler.base.errors import (
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    ResourceExhaustedError,
)
from graphc.compiler.core import thread_settings
from graphc.compiler.devices import device_name, find_device, local_devices
from graphc.compiler.tracing import refuse_in_trace
from graphc.serve.batching import Answer, Batcher, QueryBatch, Request
from graphc.serve.copies import Array, BatchProgram, HostArguments, Key, ReplicatedFunction, padded
from graphc.serve.stats import Counts, ReplicaStats, ServingStats

_GRACE_SECONDS = 5.0


class Replicas:
    """Answers queries with several copies of a function, one on each of several devices.

    A query has arrays with one or more rows, and gets the function's results for them, as NumPy arrays. Any thread may
    send queries. A query that comes while nothing is computed is computed at once. Rows of others are batched, as soon
    as there are ``max_batch`` of them, one has waited ``max_delay_ms`` while a device is free, or all devices are.
    Batches are padded to a few sizes, so that few programs are compiled;
    results do not include the padding. A query that fails does so alone. A device that fails where others do not is
    left out, which is logged.

    The result of a row must not depend on the other rows, which is checked on the first batch of each kind. The
    function may read Variables, of which each device gets a copy, but must not assign any. An exception for a row is
    raised by its query.

    Close replicas, or use ``with``: until then, threads wait for queries, so Python cannot collect the replicas or the
    copies of the Variables on the devices.

    Args:
      f: a compiled function, a layer, or a Python function that could be compiled.
      devices: names such as ``"gpu:0"`` or ``jax.Device`` objects; those of this process when None. A device that
        is named twice has two batches at a time, so that the host prepares one while the other is computed.
      max_batch: the maximum number of rows to compute together. Larger queries are split.
      max_delay_ms: the maximum time that a row waits for others while a device is free and another one computes, in
        milliseconds.
      timeout: seconds within which a query must be answered; None for no limit but ``gx.deadline``.
      max_waiting: the maximum number of rows that wait; 64 batches for each device when None.
      sizes: the batch sizes to compile for, the last one being ``max_batch``; powers of two when None.
      name: its name in messages and statistics; the function's own when None.

    Raises:
      InvalidTypeError: ``f`` is not a function.
      InvalidArgumentError: an option has a value that it cannot have.
      NotFoundError: a device does not exist.

    Example:
      >>> import graphc as gx
      >>> import numpy as np
      >>> w = gx.Variable([[1.0], [2.0]])
      >>> @gx.function
      ... def predict(x):
      ...     return x @ w
      >>> with gx.serve.Replicas(predict, max_batch=8) as replicas:
      ...     answers = [replicas.submit(np.full((1, 2), n, np.float32)) for n in range(3)]
      ...     [answer.result().tolist() for answer in answers]
      [[[0.0]], [[3.0]], [[6.0]]]
    """

    def __init__(
        self,
        f: Callable[..., Any],
        devices: Sequence[Any] | None = None,
        *,
        max_batch: int = 32,
        max_delay_ms: float = 2.0,
        timeout: float | None = 60.0,
        max_waiting: int | None = None,
        sizes: Sequence[int] | None = None,
        name: str | None = None,
    ) -> None:
        if not callable(f):
            raise InvalidTypeError(f"Replicas: expected a function or a layer, got {f!r:.60}").here()
        targets = local_devices() if devices is None else [find_device(device) for device in devices]
        if not targets:
            raise InvalidArgumentError("Replicas: devices is empty; None stands for all").here()
        self.max_batch = _count("max_batch", max_batch)
        waiting = 64 * self.max_batch * len(targets) if max_waiting is None else _count("max_waiting", max_waiting)
        self.max_waiting = waiting
        self.name = name or _name_of(f)
        self._timeout = checked_seconds(timeout, "Replicas: timeout")
        delay = _milliseconds(max_delay_ms)
        self._copies = ReplicatedFunction(f, self.name, targets, _sizes(sizes, self.max_batch))
        self._batcher = Batcher(len(targets), max_batch=self.max_batch, max_delay=delay, max_waiting=waiting)
        self._counts = Counts()
        self._requests: dict[int, Request] = {}
        self._handed: deque[QueryBatch] = deque()  # from a thread that helps to those that compute
        self._lock = threading.RLock()
        self._work = threading.Condition(self._lock)  # the computing threads wait on it
        self._late = threading.Condition(self._lock)  # the deadline thread waits on it
        self._looks_at = math.inf
        self._closed = False
        self._settings = thread_settings()
        names = [f"graphc.serve.{number}" for number in range(len(targets))]
        self._threads = [threading.Thread(target=self._run, name=name, daemon=True) for name in names]
        self._threads.append(threading.Thread(target=self._expire, name="graphc.serve.deadlines", daemon=True))
        for thread in self._threads:
            thread.start()
        atexit.register(self._end)

    def submit(self, *args: Any, **kwargs: Any) -> Answer:
        """Submits rows, without waiting for the results.

        The deadline in force (``gx.deadline``) also applies to the request.

        Args:
          *args: the arguments of the function: arrays with the same number of rows, also in nested structures.
          **kwargs: its keyword arguments.

        Returns:
          The future of the function's results for these rows; it can be awaited and cancelled.

        Raises:
          InvalidTypeError: an argument is no array.
          InvalidArgumentError: there are no rows, or the arrays differ in their number of rows.
          ResourceExhaustedError: too many rows are already waiting.
          FailedPreconditionError: the replicas are closed.
        """
        answer = self.enqueue(*args, **kwargs)
        with self._lock:
            if self._batcher.wakes() is not None:
                self._work.notify()
        return answer

    def enqueue(self, *args: Any, **kwargs: Any) -> Answer:
        """Submits rows without waking a thread that computes them; the caller calls :meth:`help` soon."""
        refuse_in_trace(
            f"Replicas: {self.name!r} is asked in a compiled function, where it would be asked once, when that is "
            "traced; call the function itself there",
            FailedPreconditionError,
        )
        rows = HostArguments.of(f"Replicas of {self.name!r}", args, kwargs)
        answer = Answer(self.name, len(rows), user_location())
        now = time.monotonic()
        seconds = _least(self._timeout, None if (limit := interruption()) is None else limit.remaining())
        with self._lock:
            self._check_open(rows)
            number = self._batcher.submit(now, rows.key, len(rows), now + seconds)
            self._requests[number] = Request(answer, rows, now)
            answer.drop = partial(self._drop, number)
            if now + seconds < self._looks_at:
                self._late.notify()
        return answer

    def help(self) -> None:
        """Computes what one request alone asks for, if batches like it are quick, or wakes threads.

        An event loop that has enqueued rows calls it. To hand over a batch of one request and its result takes as long
        as to compute it; while threads compute for several requests, the loop reads the next ones.
        """
        with self._lock:
            batch = self._batcher.next(time.monotonic())
            alone = batch is not None and len(self._requests) == 1
            if batch is not None and not (
                alone and self._copies.is_quick(batch.replica, cast("Key", batch.key), batch.rows)
            ):
                self._handed.append(batch)
                batch = None
            if self._handed or self._batcher.wakes() is not None:
                self._work.notify()
        if batch is not None:
            with self._settings():
                self._answer(batch)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Submits rows and waits for the results; see :meth:`submit`.

        Raises:
          DeadlineExceededError: the results are not ready in time.
          Exception: an error of :meth:`submit`, or the function's error for one of the rows.
        """
        return self.submit(*args, **kwargs).result()

    def warm_up(self, *args: Any, **kwargs: Any) -> None:
        """Compiles all sizes on all devices, for rows like these, before the first query; stops early when closed.

        Args:
          *args: arguments for the function, of one row or more; the function may raise for these rows.
          **kwargs: likewise.
        """
        rows = HostArguments.of(f"Replicas of {self.name!r}", args, kwargs)
        first = [leaf[:1] for leaf in rows.leaves]
        for size in self._copies.sizes:
            leaves = padded([first], size)
            program = self._copies.program(rows.key, leaves)
            for device in range(len(self._copies.devices)):
                if self._closed:
                    return
                self._copies.warm_up(device, program, rows.key, leaves)

    def refresh(self) -> None:
        """Updates all copies to the current values of the function's Variables, without compiling again."""
        self._copies.refresh()

    def stats(self) -> ServingStats:
        """Returns the statistics so far; ``print`` shows them as a table."""
        with self._lock:
            names = [device_name(device) for device in self._copies.devices]
            each = [
                ReplicaStats(name, replica.batches, replica.rows, replica.failures, replica.out)
                for name, replica in zip(names, self._batcher.replicas, strict=True)
            ]
            return ServingStats.of(self.name, self._counts, self._batcher.waiting, each)

    def close(self) -> None:
        """Refuses further queries, answers the accepted ones, and ends the threads; may be called again.

        Raises:
          DeadlineExceededError: the deadline in force passed before; the threads end when their work is done.
        """
        with self._lock:
            self._closed = True
            self._batcher.close()
            self._work.notify_all()
            self._late.notify_all()
            wait_until(self._work, lambda: self._batcher.is_idle, self._what)
            self._work.notify_all()
            self._late.notify_all()
        for thread in self._threads:
            if thread is not threading.current_thread():  # a callback of an answer may close
                thread.join()
        atexit.unregister(self._end)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        names = ", ".join(device_name(device) for device in self._copies.devices)
        return f"<{'closed ' if self._closed else ''}replicas of {self.name} on {names}>"

    def _what(self) -> str:
        """Describes what :meth:`close` waits for."""
        busy = ", ".join(device_name(self._copies.devices[batch.replica]) for batch in self._batcher.running)
        if not self._requests:
            return f"a batch of {self.name!r} on {busy}, whose requests were given up"
        return f"{len(self._requests)} requests to {self.name!r}" + (f", computed on {busy}" if busy else "")

    def _check_open(self, rows: HostArguments) -> None:
        if self._closed:
            raise FailedPreconditionError(f"Replicas: those of {self.name!r} are closed").here()
        if not self._batcher.has_room(len(rows)):
            self._counts.refused += 1
            raise ResourceExhaustedError(
                f"Replicas: {self._batcher.waiting} rows already wait for {self.name!r}, and {len(rows)} more would be "
                f"over max_waiting={self._batcher.max_waiting}; try again later, or serve on more devices"
            ).here()

    def _run(self) -> None:
        """Answers batches; each computing thread runs this."""
        with self._settings():
            while (batch := self._next()) is not None:
                self._answer(batch)

    def _next(self) -> QueryBatch | None:
        """Waits for a batch; returns None once there will be none."""
        with self._lock:
            while True:
                now = time.monotonic()
                batch = self._handed.popleft() if self._handed else self._batcher.next(now)
                if batch is not None:
                    if self._batcher.wakes() is not None:  # another replica is free for what still waits
                        self._work.notify()
                    return batch
                if self._closed and self._batcher.is_idle:
                    return None
                wakes = self._batcher.wakes()
                self._work.wait(None if wakes is None else max(0.0, wakes - now))

    def _answer(self, batch: QueryBatch) -> None:
        """Computes a batch, and sets the results of its requests."""
        with self._lock:
            requests = {piece: self._requests.get(piece.request) for piece in batch.pieces}
        pending = [(piece, request) for piece, request in requests.items() if request is not None]
        program, leaves, padding = None, list[Array](), 0
        try:
            if pending:
                parts = [[leaf[piece.start : piece.stop] for leaf in request.rows.leaves] for piece, request in pending]
                rows = sum(piece.rows for piece, _ in pending)
                leaves = padded(parts, self._copies.size(rows))
                program = self._copies.program(pending[0][1].rows.key, leaves)
                results = self._copies.run(batch.replica, program, pending[0][1].rows.key, leaves, rows)
                padding = len(leaves[0]) - rows
                start = 0
                for piece, request in pending:
                    # A copy, which does not keep the rows of others alive.
                    own = (
                        [leaf[start : start + piece.rows].copy() for leaf in results]
                        if len(pending) > 1
                        else ([leaf[: piece.rows] for leaf in results])
                    )
                    request.parts[piece.start] = program, own
                    start += piece.rows
        except BaseException as error:  # SystemExit also goes to the requests: the thread continues
            self._failed(batch, error, program, leaves)
        else:
            self._answered(batch, padding)

    def _answered(self, batch: QueryBatch, padding: int) -> None:
        now = time.monotonic()
        with self._lock:
            out = self._batcher.left_out
            done = [self._requests.pop(number) for number in self._batcher.answered(batch)]
            for request in done:
                self._counts.latencies.append(now - request.submitted)
            self._counts.answered += len(done)
            self._counts.padded += padding
            for index in {*self._batcher.left_out} - {*out}:
                logs.logger().warning(
                    "Replicas: %s is left out, since batches of %s failed there that other devices could answer",
                    device_name(self._copies.devices[index]), self.name,
                )  # fmt: skip
            self._wake()
        for request in done:
            request.answer.set_result(request.result())

    def _failed(
        self, batch: QueryBatch, error: BaseException, program: BatchProgram | None, leaves: Sequence[Array]
    ) -> None:
        with self._lock:
            failing = [self._requests.pop(number) for number in self._batcher.failed(batch)]
            self._counts.failed += len(failing)
            self._wake()
        if failing and program is not None:
            error = self._copies.explained(error, program, leaves)
        for request in failing:
            request.answer.set_exception(error)

    def _wake(self) -> None:
        """Wakes other threads that may wait for retried work, or for the end."""
        if self._batcher.has_retries or (self._closed and self._batcher.is_idle):
            self._work.notify_all()
            self._late.notify_all()

    def _expire(self) -> None:
        """Expires requests whose deadline has passed; the deadline thread runs this."""
        while True:
            with self._lock:
                now = time.monotonic()
                late = [self._requests.pop(number) for number in self._batcher.expire(now)]
                self._counts.expired += len(late)
                waiting = self._batcher.waiting
                if not late:
                    if self._closed and self._batcher.is_idle:
                        return
                    self._looks_at = self._batcher.expires()
                    self._late.wait(None if math.isinf(self._looks_at) else max(0.0, self._looks_at - now))
                    continue
                self._wake()
            for request in late:
                text = f"{request.answer.describe()} was not answered within {now - request.submitted:.3g} s"
                error = DeadlineExceededError(f"{text}; {waiting} rows still wait for {self.name!r}")
                request.answer.set_exception(error.at(request.answer.place))

    def _drop(self, number: int) -> bool:
        """Cancels a request."""
        with self._lock:
            dropped = self._batcher.drop(number)
            if dropped:
                del self._requests[number]
                self._counts.cancelled += 1
                self._wake()
            return dropped

    def _end(self) -> None:
        """Ends the threads before Python shuts down, and gives running work some time."""
        with suppress(DeadlineExceededError), deadline(_GRACE_SECONDS):
            self.close()


def _name_of(f: Any) -> str:
    if isinstance(f, partial):
        return _name_of(f.func)
    return str(getattr(f, "__name__", None) or getattr(f, "name", None) or type(f).__name__)


def _least(*seconds: float | None) -> float:
    return min((each for each in seconds if each is not None), default=math.inf)


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidArgumentError(f"Replicas: {name} must be an int from 1, got {value!r:.60}").here()
    return value


def _milliseconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < math.inf:
        raise InvalidArgumentError(f"Replicas: max_delay_ms must be a number from 0, got {value!r:.60}").here()
    return float(value) / 1000


def _sizes(requested: Any, most: int) -> list[int]:
    if requested is None:
        return [*[2**power for power in range(most.bit_length()) if 2**power < most], most]
    sizes = sorted({_count("each of sizes", size) for size in requested})
    if not sizes or sizes[-1] != most:
        raise InvalidArgumentError(
            f"Replicas: the largest of sizes must be max_batch={most}, got {requested!r:.60}"
        ).here()
    return sizes
