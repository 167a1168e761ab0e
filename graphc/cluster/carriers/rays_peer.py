"""Tasks on Ray, as seen by callers, and the heartbeat that tells whether they are alive."""

from __future__ import annotations

import itertools
import math
import pickle
import platform
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import ray as module
from ray.exceptions import ActorAlreadyExistsError, ActorDiedError, RayActorError, RayError

from graphc.cluster.carriers.carrier import CARRIERS, Peer, Pending, ThreadPeer
from graphc.cluster.carriers.rays import NAMESPACE, environment
from graphc.cluster.spec import ClusterSpec, task_name
from graphc.cluster.task import ServiceCall
from graphc.compiler.base import Signal, check_interrupted, config, interruption, nest
from graphc.compiler.base.errors import (
    CancelledError,
    DeadlineExceededError,
    GraphcError,
    InvalidTypeError,
    UnavailableError,
    UnknownError,
    error_of_code,
)

# The Ray actor that holds a task; it runs in the task's own process.

ray: Any = module  # whose own annotations are partial
_SMALL_BYTES = 100_000
"""Minimum size of arguments and results, in bytes, that Ray puts into shared memory."""
TICK = 0.1
"""Seconds between two checks for silent callers."""


@dataclass(frozen=True)
class CallOutcome:
    """The outcome of a call: a value, or an error with its traceback as text."""

    value: Any = None
    error: BaseException | None = None
    trace: str = ""


def to_wire(message: Any) -> Any:
    """Encodes a message for Ray: a small one as bytes, which takes Ray a quarter less time.

    JAX arrays are sent as NumPy arrays, and arrive as such: converting them to JAX arrays at once would take half as
    long as the call, and compiled programs accept them as they are. Ray puts the arrays of a large message into shared
    memory.
    """
    leaves, structure = nest.flatten(message)
    if any(isinstance(leaf, jax.Array) for leaf in leaves):
        leaves = [np.asarray(leaf) if isinstance(leaf, jax.Array) else leaf for leaf in leaves]
        message = nest.unflatten(structure, leaves)
    return ray.cloudpickle.dumps(message) if sum(map(_size, leaves)) < _SMALL_BYTES else message


def from_wire(wire: Any) -> Any:
    """Decodes a message from :func:`to_wire`."""
    return pickle.loads(wire) if isinstance(wire, bytes) else wire


def _size(leaf: Any) -> int:
    size: int = leaf.nbytes if hasattr(leaf, "nbytes") else len(leaf) if isinstance(leaf, bytes | str) else 0
    return size


def running_time() -> Iterator[float]:
    """Yields, every tenth of a second, how long this process has run, without the time that it was suspended."""
    ran, last = 0.0, time.monotonic()
    while True:
        time.sleep(TICK)
        now = time.monotonic()
        ran, last = ran + min(now - last, 5 * TICK), now
        yield ran


class Callers:
    """The times at which callers were last heard from. Methods take the current time as an argument.

    Example:
      >>> callers = Callers()
      >>> callers.heard("a", patience=2.0, now=0.0)
      >>> callers.silent(now=1.0), callers.silent(now=3.0), callers.silent(now=4.0)
      ([], ['a'], [])
    """

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def heard(self, caller: str, patience: float, now: float) -> None:
        """Records that a caller is alive; it must be heard from again within ``patience`` seconds."""
        self._until[caller] = now + patience

    def silent(self, now: float) -> list[str]:
        """Returns the callers that were not heard from in time, and removes them."""
        late = [caller for caller, until in [*self._until.items()] if until < now]
        for caller in late:
            del self._until[caller]
        return late


class TaskActor:
    """A task in its own process; other tasks and clients call these methods through Ray."""

    def __init__(self, jobs: Any, job: str, index: int) -> None:
        # This process finds its own task by address without going through Ray.
        peer = CARRIERS["threads"].start(ClusterSpec(jobs), job, index)
        assert isinstance(peer, ThreadPeer)
        self._peer, self._task = peer, peer.task
        self._callers = Callers()
        self._running: dict[str, str] = {}
        self._ran = 0.0
        threading.Thread(target=self._watch, name="graphc callers", daemon=True).start()

    def handle(self, message: Any) -> Any:
        """Runs a call; see :meth:`Task.handle`.

        Args:
          message: the call, who calls, and within how many seconds that one is to be heard from again.
        """
        fields, caller, patience = from_wire(message)
        call = ServiceCall(*fields)
        self._callers.heard(caller, patience, self._ran)
        self._running[call.id] = caller
        try:
            return to_wire(CallOutcome(self._task.handle(call)))
        except BaseException as error:
            trace = "".join(traceback.format_exception(error))
            return to_wire(CallOutcome(None, _sendable(error), trace))
        finally:
            del self._running[call.id]

    @ray.method(concurrency_group="control")
    def ping(self, caller: str, patience: float) -> tuple[str, str]:
        """Returns the names of the task and of its machine; the caller is alive, so its calls continue."""
        self._callers.heard(caller, patience, self._ran)
        return self._task.name, platform.node()

    @ray.method(concurrency_group="control")
    def cancel(self, call: str, reason: str) -> None:
        """Cancels a call."""
        self._task.cancel(call, reason)

    @ray.method(concurrency_group="control")
    def stop(self, reason: str) -> None:
        """Stops the task, and waits briefly for its calls to end."""
        self._peer.stop(reason)
        end = time.monotonic() + 1.0
        while self._running and time.monotonic() < end:
            time.sleep(0.005)

    def _watch(self) -> None:
        """Cancels the calls of processes that are gone, so that they take nothing from others."""
        for self._ran in running_time():
            for caller in self._callers.silent(self._ran):
                for call in [call for call, by in [*self._running.items()] if by == caller]:
                    self._task.cancel(call, "its caller is gone")


def _sendable(error: BaseException) -> BaseException:
    """Returns the error itself if it survives pickling, else an error with only its message."""
    error = error.with_traceback(None)
    error.__cause__ = error.__context__ = None
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        if isinstance(error, GraphcError):
            return error_of_code(error.error_code)(error.message)
        return UnknownError(f"{type(error).__name__}: {error}")


_CALLS = 256
"""Maximum number of calls that a task runs at once; further calls wait."""
_START_SECONDS = 120.0
"""Seconds that a task has to start."""
_LOOK_SECONDS = 1.0
_CALLER = uuid.uuid4().hex
_numbers = itertools.count()


def start_peer(
    cluster: ClusterSpec, job: str, index: int, forget: Callable[[Any], None], resources: Mapping[str, float]
) -> RayPeer | None:
    """Starts a task as a Ray actor and waits until it answers; None if its address is in use."""
    address = cluster.task_address(job, index)
    own = {name: amount for name, amount in resources.items() if name not in ("num_cpus", "num_gpus", "memory")}
    builtin = {name: amount for name, amount in resources.items() if name not in own}
    kind: Any = ray.remote(concurrency_groups={"control": 4})(TaskActor)
    try:
        actor = kind.options(
            name=address,
            namespace=NAMESPACE,
            max_concurrency=_CALLS,
            runtime_env={"env_vars": environment(resources.get("num_gpus", 0))},
            **{"num_cpus": 0, **builtin, "resources": own},
        ).remote(cluster.as_dict(), job, index)
    except ActorAlreadyExistsError:
        return None
    peer = RayPeer(address, actor, forget, name=task_name(job, index))
    late = f"Ray has not started {peer.where} within {_START_SECONDS:g} s; does its cluster have {dict(resources)}?"
    try:
        peer.meet(_START_SECONDS, late)
    except BaseException:
        ray.kill(actor)
        raise
    return peer


def find_peer(address: str, forget: Callable[[Any], None]) -> RayPeer | None:
    """Returns the task at an address; None if there is none on this Ray cluster."""
    try:
        actor = ray.get_actor(address, namespace=NAMESPACE)
    except ValueError:
        return None
    peer = RayPeer(address, actor, forget)
    limit = config.heartbeat_timeout
    try:
        peer.meet(limit, f"the task at {address} has not answered for {limit:g} s")
    except UnavailableError:
        if peer.lost:  # it has ended, and Ray will soon release its name
            return None
        raise
    return peer


class RayPeer(Peer):
    """A task that is a Ray actor."""

    def __init__(self, address: str, actor: Any, forget: Callable[[Any], None], name: str = "the task") -> None:
        self.name, self.address, self.node = name, address, ""
        self._lost = self._stopped = False
        self._actor, self._forget = actor, forget
        self._pinged_at: float | None = None
        self._last = -math.inf

    @property
    def where(self) -> str:
        """Its name, address and machine, for messages."""
        return f"{self.name} at {self.address}" + (f" on {self.node}" if self.node else "")

    @property
    def lost(self) -> bool:
        """True if its process has ended; asks it."""
        if not self._lost:
            try:
                _answer_of(self._actor.ping.remote(_CALLER, 2 * config.heartbeat_timeout), _LOOK_SECONDS)
            except RayError as error:
                self.error(error)
        return self._lost

    def start(self, service: str, method: str, *arguments: Any) -> Pending:
        """Begins a call."""
        what = f"{service}.{method} at {self.where}"
        check_interrupted(what)
        current = interruption()
        left = None if current is None else current.remaining()
        timeout = None if left is None else max(left, 1e-6)
        call = f"{_CALLER}/{next(_numbers)}"
        message = (service, method, arguments, call, timeout), _CALLER, 2 * config.heartbeat_timeout
        try:
            answer = self._actor.handle.remote(to_wire(message))
        except (TypeError, pickle.PicklingError) as error:
            reason = error.__cause__ or error
            raise InvalidTypeError(
                f"{what}: an argument cannot be sent to another process: {reason}; calls take nests of arrays, "
                "numbers, strings and bytes"
            ) from error
        return _Remote(self, what, call, answer)

    def stop(self, reason: str) -> None:
        """Ends the task and its process; releases the address of a process that has died."""
        if self._stopped:
            return
        lost = self._lost
        self._lost = self._stopped = True
        self._forget(self)
        try:
            if not lost:
                _answer_of(self._actor.stop.remote(reason), 2 * config.heartbeat_timeout)
        except RayActorError:  # it has died in the meantime
            pass
        finally:
            ray.kill(self._actor)  # Ray keeps the name of a dead actor as long as it is referenced
            until = time.monotonic() + 2 * config.heartbeat_timeout
            while _is_named(self.address, self._actor) and time.monotonic() < until:
                Signal().wait(f"Ray to end {self.where}", 0.01)

    def cancel(self, call: str, reason: str) -> None:
        """Cancels a call."""
        if not self._lost:
            self._actor.cancel.remote(call, reason)

    def meet(self, seconds: float, problem: str) -> None:
        """Waits until it answers, and learns its name and its machine."""
        try:
            answer = _answer_of(self._actor.ping.remote(_CALLER, 2 * config.heartbeat_timeout), seconds)
        except RayError as error:
            raise self.error(error) from error
        if answer is None:
            raise UnavailableError(problem)
        self.name, self.node = answer

    def beat(self, now: float, limit: float) -> bool:
        """Asks at intervals whether it is alive; returns False after ``limit`` seconds without an answer.

        Args:
          now: seconds since this process started.
        """
        if self._pinged_at is not None:
            return now - self._pinged_at <= limit
        if now - self._last >= limit / 4:
            self._pinged_at = self._last = now

            def answered(_: Any) -> None:
                self._pinged_at = None

            self._actor.ping.remote(_CALLER, 2 * limit).future().add_done_callback(answered)
        return True

    def error(self, error: BaseException) -> BaseException:
        """Returns the error for callers if Ray raises one."""
        if isinstance(error, ActorDiedError):
            self._lost = True
            self._forget(self)
            ray.kill(self._actor)  # until then, Ray's client library still finds a dead actor by its name
            reason = str(error).strip().splitlines()[-1].partition(". ")[0]
            return UnavailableError(f"{self.where} has ended: {reason}")
        if isinstance(error, RayActorError):
            return UnavailableError(f"{self.where} cannot be reached: {error}")
        cause: Any = getattr(error, "cause", error)
        return UnknownError(f"Ray could not bring a call to {self.where}: {type(cause).__name__}: {cause}")


class _Remote(Pending):
    """A call of a task on Ray. Tokens in force cancel it, even if no thread waits for it yet."""

    def __init__(self, peer: RayPeer, what: str, call: str, answer: Any) -> None:
        self.peer = peer
        self._what, self._call = what, call
        self._done = Signal()
        self._answer: Any = CallOutcome()
        current = interruption()
        tokens = () if current is None else current.tokens
        self._leave = [token.on_cancel(lambda: peer.cancel(call, "the caller has cancelled it")) for token in tokens]
        _heart.watch(self)
        answer.future().add_done_callback(self._arrived)

    def _arrived(self, future: Any) -> None:
        error = future.exception()
        self.end(future.result() if error is None else CallOutcome(None, error))

    def end(self, answer: Any) -> None:
        """Sets an answer, encoded by :func:`to_wire`; the first one counts."""
        _heart.forget(self)
        if not self._done.is_set:
            self._answer = answer
            self._done.set()
        for leave in self._leave:
            leave()

    def fail(self, limit: float) -> None:
        self.end(CallOutcome(None, UnavailableError(f"{self.peer.where} has not answered for {limit:g} s")))
        self.peer.cancel(self._call, "its caller has given up")

    def result(self) -> Any:
        try:
            self._done.wait(self._what)
        except BaseException:
            self.peer.cancel(self._call, "the caller no longer waits")
            raise
        answer: CallOutcome = from_wire(self._answer)
        error = answer.error
        if error is None:
            return answer.value
        if isinstance(error, RayError):
            raise self.peer.error(error) from error
        if isinstance(error, CancelledError | DeadlineExceededError):
            check_interrupted(self._what)
        if answer.trace:
            error.add_note(f"in the process of {self.peer.where}:\n{answer.trace}")
        raise error


class _Heart:
    """The thread that checks whether tasks with pending answers are alive."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pending: dict[_Remote, None] = {}
        self._thread: threading.Thread | None = None

    def watch(self, pending: _Remote) -> None:
        with self._lock:
            self._pending[pending] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="graphc heart", daemon=True)
                self._thread.start()

    def forget(self, pending: _Remote) -> None:
        with self._lock:
            self._pending.pop(pending, None)

    def _run(self) -> None:
        for now in running_time():
            with self._lock:
                pending = [*self._pending]
            limit = config.heartbeat_timeout
            try:
                silent = {peer for peer in {each.peer for each in pending} if not peer.beat(now, limit)}
            except Exception:  # Ray was shut down in the meantime: the answers say so
                continue
            for each in pending:
                if each.peer in silent:
                    each.fail(limit)


_heart = _Heart()


def _answer_of(reference: Any, seconds: float) -> Any:
    """Returns the value of a reference; None if it does not arrive in time."""
    done = Signal()
    future = reference.future()

    def wake(_: Any) -> None:
        done.set()

    future.add_done_callback(wake)
    return future.result() if done.wait("Ray", seconds) else None


def _is_named(address: str, actor: Any) -> bool:
    try:
        return bool(ray.get_actor(address, namespace=NAMESPACE) == actor)
    except ValueError:
        return False
