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

from graphc.cluster.carriers.carrier import CARRIERS
from graphc.cluster.carriers.threads import ThreadPeer
from graphc.cluster.spec import ClusterSpec
from graphc.cluster.task import Call
from graphc.compiler.base import nest
from graphc.compiler.base.errors import GraphcError, UnknownError, error_of_code

__all__ = ["Answer", "Callers", "TaskActor", "from_wire", "running_time", "to_wire"]

ray: Any = module  # whose own annotations are partial
_SMALL_BYTES = 100_000
"""Minimum size of arguments and results, in bytes, that Ray puts into shared memory."""
TICK = 0.1
"""Seconds between two checks for silent callers."""


@dataclass(frozen=True)
class Answer:
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
    found: int = leaf.nbytes if hasattr(leaf, "nbytes") else len(leaf) if isinstance(leaf, bytes | str) else 0
    return found


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

        Returns:
          An :class:`Answer`, encoded by :func:`to_wire`.
        """
        given, caller, patience = from_wire(message)
        call = Call(*given)
        self._callers.heard(caller, patience, self._ran)
        self._running[call.id] = caller
        try:
            return to_wire(Answer(self._task.handle(call)))
        except BaseException as error:
            trace = "".join(traceback.format_exception(error))
            return to_wire(Answer(None, _sendable(error), trace))
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
