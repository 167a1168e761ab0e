"""The Ray actor that holds a task; it runs in the task's own process."""

from __future__ import annotations

import pickle
import platform
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import ray as module

from graphc.base import nest
from graphc.base.errors import GraphcError, UnknownError, error_of_code
from graphc.cluster.carriers.carrier import CARRIERS
from graphc.cluster.carriers.threads import ThreadPeer
from graphc.cluster.spec import ClusterSpec
from graphc.cluster.task import Call

__all__ = ["Answer", "Callers", "TaskActor", "packed", "running_time", "unpacked"]

ray: Any = module  # whose own annotations are partial
TICK = 0.1
"""After how many seconds silence is looked for again."""


@dataclass(frozen=True)
class Answer:
    """What became of a call: a value, or an error with its traceback as text."""

    value: Any = None
    error: BaseException | None = None
    trace: str = ""


class _OfJax:
    """A jax.Array under way: Ray puts the bytes of a NumPy array into shared memory, without a copy of its own."""

    def __init__(self, array: Any) -> None:
        self.array = array


def packed(message: Any) -> Any:
    """Returns a message with its JAX arrays as NumPy arrays that remember what they were."""
    leaves, structure = nest.flatten(message)
    if not any(isinstance(leaf, jax.Array) for leaf in leaves):
        return message
    return nest.unflatten(
        structure, (_OfJax(np.asarray(leaf)) if isinstance(leaf, jax.Array) else leaf for leaf in leaves)
    )


def unpacked(message: Any) -> Any:
    """Returns the message that :func:`packed` was given."""
    leaves, structure = nest.flatten(message)
    if not any(isinstance(leaf, _OfJax) for leaf in leaves):
        return message
    return nest.unflatten(
        structure, (jax.device_put(leaf.array) if isinstance(leaf, _OfJax) else leaf for leaf in leaves)
    )


def running_time() -> Iterator[float]:
    """Yields every tenth of a second how long this process has run; the time in which it was suspended is left out."""
    ran, last = 0.0, time.monotonic()
    while True:
        time.sleep(TICK)
        now = time.monotonic()
        ran, last = ran + min(now - last, 5 * TICK), now
        yield ran


class Callers:
    """When each process that waits for answers was last heard from. Time is the caller's argument.

    Example:
      >>> callers = Callers()
      >>> callers.heard("a", patience=2.0, now=0.0)
      >>> callers.silent(now=1.0), callers.silent(now=3.0), callers.silent(now=4.0)
      ([], ['a'], [])
    """

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def heard(self, caller: str, patience: float, now: float) -> None:
        """Notes that a caller lives; it is to be heard from again within so many seconds."""
        self._until[caller] = now + patience

    def silent(self, now: float) -> list[str]:
        """Returns the callers that were not heard from in time, and forgets them."""
        late = [caller for caller, until in [*self._until.items()] if until < now]
        for caller in late:
            del self._until[caller]
        return late


class TaskActor:
    """A task in a process of its own; other tasks and clients call these methods through Ray."""

    def __init__(self, jobs: Any, job: str, index: int) -> None:
        # As a task of this process it is found by its own address without a way through Ray.
        peer = CARRIERS["threads"].start(ClusterSpec(jobs), job, index)
        assert isinstance(peer, ThreadPeer)
        self._peer, self._task = peer, peer.task
        self._callers = Callers()
        self._running: dict[str, str] = {}
        self._ran = 0.0
        threading.Thread(target=self._watch, name="graphc callers", daemon=True).start()

    def handle(self, call: Call, caller: str, patience: float) -> Answer:
        """Runs a call; see :meth:`Task.handle`."""
        self._callers.heard(caller, patience, self._ran)
        self._running[call.id] = caller
        try:
            arguments = unpacked(tuple(call.arguments))
            found: Any = self._task.handle(Call(call.service, call.method, arguments, call.id, call.timeout))
            return Answer(packed(found))
        except BaseException as error:
            trace = "".join(traceback.format_exception(error))
            return Answer(None, _sendable(error), trace)
        finally:
            del self._running[call.id]

    @ray.method(concurrency_group="control")
    def ping(self, caller: str, patience: float) -> tuple[str, str]:
        """Returns the name of the task and of its machine; the caller lives, so its calls go on."""
        self._callers.heard(caller, patience, self._ran)
        return self._task.name, platform.node()

    @ray.method(concurrency_group="control")
    def cancel(self, call: str, reason: str) -> None:
        """Cancels a call."""
        self._task.cancel(call, reason)

    @ray.method(concurrency_group="control")
    def stop(self, reason: str) -> None:
        """Stops the task, and waits a moment for its calls to end."""
        self._peer.stop(reason)
        end = time.monotonic() + 1.0
        while self._running and time.monotonic() < end:
            time.sleep(0.005)

    def _watch(self) -> None:
        """Cancels the calls of processes that are gone: what they wait for must not be taken from others."""
        for self._ran in running_time():
            for caller in self._callers.silent(self._ran):
                for call in [call for call, by in [*self._running.items()] if by == caller]:
                    self._task.cancel(call, "its caller is gone")


def _sendable(error: BaseException) -> BaseException:
    """Returns the error itself if it can be pickled and be made again of that, else one with its message alone."""
    error = error.with_traceback(None)
    error.__cause__ = error.__context__ = None
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        if isinstance(error, GraphcError):
            return error_of_code(error.error_code)(error.message)
        return UnknownError(f"{type(error).__name__}: {error}")
