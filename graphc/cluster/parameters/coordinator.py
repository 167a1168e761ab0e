"""The coordinator of a training: it assigns steps to workers, and restarts tasks that have died."""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from graphc.cluster.parameters.group import LOST, LocalCopies, ServerGroup
from graphc.cluster.parameters.layout import ShardLayout
from graphc.cluster.parameters.schedule import AssignedStep, StepSchedule
from graphc.cluster.parameters.service import ServerOptions
from graphc.cluster.parameters.steps import StepText, TracedStep, signature
from graphc.cluster.parameters.tasks import PerWorker, Scheduled, TrainingTasks
from graphc.cluster.parameters.worker import STEPS_KEPT, WORKER, Assignment
from graphc.compiler.base import deadline, user_location, wait_until, warn_at
from graphc.compiler.base.errors import (
    AlreadyExistsError,
    CancelledError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    RetraceWarning,
    UnavailableError,
)
from graphc.compiler.core import Variable, variable_placement
from graphc.graphs.refusals import user_error

_GONE = (UnavailableError, DeadlineExceededError, NotFoundError, AlreadyExistsError)
_RETRY_SECONDS = 0.5
_TRACES = 5
"""Number of traces of a step after which to warn."""


@dataclass
class _Call:
    """A call of a step."""

    result: Scheduled
    step: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    drawn: Any = None  # the arguments, once a worker has drawn them, so that another one gets the same

    @property
    def name(self) -> str:
        return str(getattr(self.step, "__name__", "step"))


@dataclass(frozen=True)
class _Traced:
    step: Callable[..., Any]
    sign: Any
    key: str
    traced: TracedStep
    text: StepText


class TrainingCoordinator:
    """Runs one training, with a thread for each worker.

    Args:
      tasks: the tasks of servers and workers.
      options: the servers' options.
      split: the size in bytes above which Variables are split by rows; None for no limit.
      timeout: seconds within which a worker must finish a step.

    Attributes:
      variables: the Variables that servers keep.
      schedule: the assignment of steps to workers.
      failures: the number of times that each worker was lost.
      servers: the servers.
      local: the Variables of this program.
    """

    def __init__(self, tasks: TrainingTasks, options: ServerOptions, split: int | None, timeout: float) -> None:
        self._tasks, self._options, self._split, self._timeout = tasks, options, split, timeout
        self._name = secrets.token_hex(4)
        self.servers = ServerGroup(tasks, self._name, options, timeout)
        self.workers = tasks.names("worker")
        self.variables: dict[str, Variable] = {}
        self.failures: Counter[str] = Counter()
        self.schedule = StepSchedule.of(self.workers, len(self.servers.names), options.round, options.policy)
        self.local = LocalCopies(self.servers, self.variables)
        self._traced: list[_Traced] = []
        self._known: dict[str, set[str]] = {name: set() for name in self.workers}
        self._tracing = threading.Lock()
        self._changed = threading.Condition()
        self._error: BaseException | None = None
        self._reported: BaseException | None = None
        self._ended = False
        self._threads = [
            threading.Thread(target=self._serve, args=(index,), name=f"graphc {name}", daemon=True)
            for index, name in enumerate(self.workers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, result: Scheduled, step: Callable[..., Any], args: tuple[Any, ...], kwargs: Any) -> None:
        """Accepts a call of a step; raises a pending error, once."""
        self.local.write()
        with self.reporting(), self._changed:
            if self._ended:
                raise user_error(
                    "ParameterServer: it is closed and accepts no steps; schedule steps before close(), inside "
                    "the with block, or make another ParameterServer",
                    FailedPreconditionError,
                )
            self._raise()
            self.schedule.submit(_Call(result, step, args, kwargs))
            self._changed.notify_all()

    def join(self) -> None:
        """Waits until all steps are done, and the last round has ended; raises a pending error, once."""
        with self._changed:
            wait_until(self._changed, lambda: self.schedule.idle, "the steps that were scheduled")
            self._raise()
            if self.schedule.round is not None and self.servers.layout is not None:
                self.schedule.flushed(self.servers.all("flush"))

    def end(self) -> None:
        """Ends the training; waiting steps are cancelled."""
        with self._changed:
            self._ended = True
            self._give_up(_closed())
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(self._timeout)
        if self.servers.layout is not None:
            for server in range(len(self.servers.names)):
                try:
                    self.servers.call(server, "end")
                except LOST:
                    continue
        self._tasks.stop()

    @contextmanager
    def reporting(self) -> Generator[None]:
        """Marks errors raised inside as reported to the user, so that they are not raised again."""
        try:
            yield
        except BaseException as error:
            with self._changed:
                self._reported = error
                if self._error is error:
                    self._error = None
            raise

    def is_reported(self, error: BaseException) -> bool:
        """Returns True if an error is the last one reported to the user."""
        return self._reported is error

    def _raise(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _give_up(self, error: BaseException) -> None:
        for work in self.schedule.clear():
            work.what.result.finish(None, error)

    def _serve(self, index: int) -> None:
        while (work := self._next(self.workers[index])) is not None:
            try:
                self._do(index, work)
            except BaseException as error:
                self._failed(index, work, error)

    def _next(self, name: str) -> AssignedStep | None:
        with self._changed:
            while not self._ended:
                work = self.schedule.next(name, time.monotonic())
                if work is not None:
                    return work
                self._changed.wait()
            self._give_up(_closed())  # a step whose worker was lost is pending again
            return None

    def _failed(self, index: int, work: AssignedStep, error: BaseException) -> None:
        """Records a failed step: no further steps begin, and waiting threads get the error."""
        with self._changed:
            self.schedule.done(self.workers[index], [], time.monotonic())
            work.what.result.finish(None, error)
            self._error = self._error or error
            self._give_up(CancelledError(f"a step before has failed: {error}"))
            self._changed.notify_all()

    def _do(self, index: int, work: AssignedStep) -> None:
        call: _Call = work.what
        if call.drawn is None:
            args = tuple(_drawn(value, index) for value in call.args)
            call.drawn = args, {name: _drawn(value, index) for name, value in call.kwargs.items()}
        program, read = self._step(call.step, call.drawn)
        traced = program.traced
        starts: list[int] = [*self.servers.starts]
        name = self.workers[index]
        try:
            answer = self._run(index, program, work.number, traced.others(), read, traced.arrays(call.drawn))
        except _GONE as error:
            self._lost(index, error)
            return
        if "lost" in answer:
            lost: list[int] = answer["lost"]
            versions = {server: self.servers.again(server, starts[server]) for server in lost}
            with self._changed:
                for server, version in versions.items():
                    if version is not None:
                        self.schedule.restarted(server, version, lost=self._options.durability != "sync")
                self.schedule.failed(name, alive=True)
                self._changed.notify_all()
            return
        call.result.finish(traced.result(answer["results"]))
        with self._changed:
            self.schedule.done(name, answer["entries"], time.monotonic())
            self._changed.notify_all()

    def _run(self, index: int, step: _Traced, number: int, others: Any, read: Any, arrays: Sequence[Any]) -> Any:
        """Runs a step on a worker, and sends it the step if it does not know it."""
        peer, sent = self._tasks.peer("worker", index), self._known[self.workers[index]]
        rows = next((array.shape[0] for array in arrays if array.ndim), 1)
        for again in (False, True):
            # A worker may wait for servers twice.
            with deadline(1.5 * self._timeout):
                if not sent:
                    servers = tuple(self._tasks.addresses("ps"))
                    peer.call(WORKER, "join", Assignment(self._name, servers, self._timeout / 2))
                if step.key not in sent:
                    peer.call(WORKER, "learn", self._name, step.key, step.text)
                    sent.add(step.key)
                try:
                    # Not in this thread, which could not abandon a running program.
                    return peer.start(
                        WORKER, "run", self._name, step.key, self._name, number, rows, others, read, arrays
                    ).result()
                except NotFoundError:
                    if again:
                        raise
                    sent.clear()
        raise AssertionError

    def _lost(self, index: int, error: BaseException) -> None:
        """Reassigns the step of a lost worker, and waits until that worker is back."""
        name = self.workers[index]
        with self._changed:
            self.failures[name] += 1
            self._known[name].clear()
            given_up = self.schedule.failed(name)
            self._changed.notify_all()
        if given_up is not None:
            text = (
                f"{given_up.attempts} workers were lost over the step {given_up.number}, "
                f"{given_up.what.name!r}; the last was {name}: {error}; give ParameterServer more than "
                f"timeout={self._timeout:g} if the step takes longer"
            )
            self._failed(index, given_up, UnavailableError(text))
        try:
            self._again(index)
        finally:
            with self._changed:
                self.schedule.revive(name)
                self._changed.notify_all()

    def _again(self, index: int) -> None:
        """Waits until a worker is back, whatever errors occur, or until the training has ended."""
        end = time.monotonic() + self._timeout
        while not self._ended:
            try:
                self._tasks.again("worker", index, self._timeout)
                return
            except Exception as gone:
                with self._changed:
                    if not self.schedule.alive and time.monotonic() > end and self._error is None:
                        self._error = UnavailableError(f"no worker is left; the last was {self.workers[index]}: {gone}")
                        self._give_up(self._error)
                        self._changed.notify_all()
                    self._changed.wait(_RETRY_SECONDS)

    def _step(self, step: Callable[..., Any], arguments: Any) -> tuple[_Traced, list[Any]]:
        """Returns the program of a step for these arguments, and its other reads; the first step starts the servers."""
        with self._tracing:
            sign = signature(arguments)
            for index, cached in enumerate(self._traced):
                fits = cached.step == step and cached.sign == sign
                if fits and (read := cached.traced.read(arguments)) is not None:
                    self._traced.append(self._traced.pop(index))
                    return cached, read
            self._note_traces(step)
            saved = variable_placement.made
            variable_placement.made = self.made
            try:
                traced = TracedStep(step, arguments)
            finally:
                variable_placement.made = saved
            layout = self._started()
            if traced.optimizer is not None:
                if outside := sorted(name for name in traced.updated if name not in self.variables):
                    raise InvalidArgumentError(
                        f"ParameterServer: the step updates Variable {outside[0]!r}, which no server keeps; make it in "
                        "server.scope()"
                    )
                versions = self.servers.learn(traced.optimizer, traced.updated)
                for server, version in versions.items():
                    self.schedule.restarted(server, version, lost=False)
                if versions:
                    self.local.begin(traced.optimizer, traced.taker.targets, fresh=not any(versions.values()))
                missing = sorted(traced.updated - traced.trained)
                if missing and not self.servers.by_element:
                    raise InvalidArgumentError(
                        f"ParameterServer: the gradient of Variable {missing[0]!r} is None, and what the optimizer "
                        "does to one number depends on all; give it all gradients, or make it for those Variables that "
                        "have one"
                    )
            text = traced.text(layout)
            program = _Traced(step, sign, secrets.token_hex(4), traced, text)
            self._traced = [*self._traced, program][-STEPS_KEPT:]
            return program, traced.captured

    def _note_traces(self, step: Callable[..., Any]) -> None:
        """Warns about a step that is compiled again and again."""
        count = sum(other.step is step for other in self._traced)
        if count == _TRACES:
            name = getattr(step, "__name__", "step")
            text = (
                f"ParameterServer: the step {name!r} is compiled for the {count + 1}th time, because the shapes of its "
                "arguments, or Python values that it reads, differ each time; pass changing numbers as arrays, and use "
                "batches of one size"
            )
            warn_at(RetraceWarning(text), user_location())

    def made(self, variable: Variable) -> None:
        """Registers a Variable for the servers to keep."""
        if self.servers.layout is not None:
            raise InvalidArgumentError(
                f"ParameterServer: Variable {variable.name!r} is made after the servers have started; call the model "
                "once, in server.scope(), before the first step is scheduled"
            )
        self.variables[variable.name] = variable

    def _started(self) -> ShardLayout:
        if self.servers.layout is None:
            layout = ShardLayout(self.variables.values(), len(self.servers.names), self._split)
            self.local.note()
            versions = self.servers.start(layout)
            with self._changed:
                self.schedule.started(versions)
        assert self.servers.layout is not None
        return self.servers.layout


def _closed() -> CancelledError:
    return CancelledError("the parameter server was closed")


def _drawn(value: Any, worker: int) -> Any:
    return value.next(worker) if isinstance(value, PerWorker) else value
