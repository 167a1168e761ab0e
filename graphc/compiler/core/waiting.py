"""Waiting for arrays that devices are still computing."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, cast

import jax
import numpy as np

from graphc.compiler.base import (
    Deadline,
    Signal,
    Subject,
    finish_given_up,
    interruption,
    nest,
    run_on_thread,
    slow_path_reasons,
    until_called,
    watched,
    when_done,
)
from graphc.compiler.base import deadline as deadline_scope
from graphc.compiler.base.errors import CancelledError, DeadlineExceededError, UnimplementedError
from graphc.compiler.core.context import context
from graphc.compiler.core.dtypes import type_of
from graphc.compiler.devices import device_name

_SOON_SECONDS = 1e-4
_give_way: Callable[[], None] = getattr(os, "sched_yield", lambda: None)  # time.sleep(0) takes 70 us


def describe(array: Any) -> str:
    """Returns a description of an array for messages: its type and device."""
    names = ", ".join(sorted(device_name(device) for device in array.devices()))
    return f"the tensor {type_of(array)} on {names}"


def wait_for(arrays: Sequence[Any], subject: Subject) -> None:
    """Waits until arrays are computed, within the deadlines and tokens in force, which JAX itself does not support."""
    if slow_path_reasons:
        pending = _pending(arrays)
        if pending and interruption() is not None and not are_soon_computed(pending):
            run_on_thread(partial(_block, pending), subject)
        elif pending:
            with watched(subject):
                jax.block_until_ready(pending)
    jax.block_until_ready(arrays)


def are_soon_computed(arrays: Sequence[Any]) -> bool:
    """Returns True if arrays are, or soon will be, computed: before another thread could start to wait for them."""
    end = 0.0
    for array in arrays:
        while not array.is_ready():
            now = time.perf_counter()
            end = end or now + _SOON_SECONDS
            if now > end:
                return False
            _give_way()
        array.block_until_ready()
    return True


async def wait_for_async(arrays: Sequence[Any], subject: Subject) -> None:
    """Waits like :func:`wait_for`, but lets the asyncio loop run meanwhile."""
    pending = _pending(arrays)
    if pending:
        await until_called(lambda done: when_done(partial(_block, pending), done), subject)
    jax.block_until_ready(arrays)


def wait_for_future(future: Future[Any]) -> Any:
    """Waits for a future within the deadlines and tokens in force, and returns its result."""
    if type(future).result is Future.result and not future.done():
        done = Signal()
        future.add_done_callback(lambda _: done.set())
        done.wait(f"the future {future!r}")
    return future.result()


def refuse_to_wait(use: str) -> None:
    """Raises if a function is being traced, where a wait would end before the compiled program runs."""
    if context.trace is not None:
        error = UnimplementedError(
            f"{use} in a compiled function would wait once, when the function is traced, and not at each call. "
            "Wait for the result of the call; gx.control_dependencies orders ops inside the function"
        )
        raise context.trace.note_refusal(error)


def _block(arrays: Sequence[Any]) -> None:
    jax.block_until_ready(arrays)


def _pending(arrays: Sequence[Any]) -> list[Any]:
    # What a Python function is given that a program calls is NumPy's, and there.
    dispatched = [array for array in arrays if not isinstance(array, np.ndarray | np.generic)]
    return [array for array in dispatched if array.is_deleted() or not array.is_ready()]


def deadline(seconds: float | None) -> AbstractContextManager[Deadline | None]:
    """Sets a deadline for everything inside the scope that waits.

    It limits reads of tensors that are still being computed (``wait``, ``numpy``, ``print``), calls of compiled
    functions, which are waited for inside the scope, futures, and all other blocking calls. Scopes nest: the earliest
    enclosing deadline applies. Python code that does not wait is not interrupted.

    Args:
      seconds: the time limit from now on; None sets no deadline, so that only enclosing ones apply.

    Returns:
      A context manager that returns the deadline, or None if there is none.

    Raises:
      UnimplementedError: in a compiled function.
      InvalidArgumentError: ``seconds`` is zero, negative or not finite.
      DeadlineExceededError: inside the scope, from the call that waits; the message names what was waited for.

    Example:
      >>> import graphc as gx
      >>> with gx.deadline(30.0):
      ...     total = gx.sum(gx.ones(1000)).item()
      >>> total
      1000.0
    """
    if context.trace is not None and not context.trace.root.is_graph:  # a Session that runs a graph observes it
        error = UnimplementedError(
            "gx.deadline in a compiled function would limit the tracing, and not the runs. "
            "Open it around the call, or give the function timeout="
        )
        raise context.trace.refuse(error)
    return deadline_scope(seconds)


def wait_all(*values: Any) -> None:
    """Waits until everything dispatched to any device is computed (MXNet's ``waitall``).

    This includes programs abandoned at a deadline or by a token, and the Python code that they call.

    Args:
      *values: tensors, Variables, and futures from :func:`graphc.submit` or ``concurrent.futures``, also in nested
        structures: waits only for these, and for the tensors that the futures return.

    Raises:
      DeadlineExceededError: the deadline in force (:func:`graphc.deadline`) passed first.
      CancelledError: a token in force was cancelled first.
      UnimplementedError: in a compiled function.
      Exception: the error of a future.

    Example:
      >>> import graphc as gx
      >>> y = gx.ones((2, 2)) + 1
      >>> gx.wait_all()
    """
    refuse_to_wait("gx.wait_all")
    if values:
        leaves = nest.flatten(values)[0]
        futures = cast("list[Future[Any]]", [leaf for leaf in leaves if isinstance(leaf, Future)])
        results = [wait_for_future(future) for future in futures]
        raws = [getattr(leaf, "raw", None) for leaf in (*leaves, *nest.flatten(results)[0])]
        arrays = [raw for raw in raws if hasattr(raw, "block_until_ready")]
        wait_for(arrays, lambda: ", ".join(map(describe, arrays[:3])) + (", ..." if len(arrays) > 3 else ""))
        return
    finish_given_up()  # first, so that an error at a deadline names the program
    live = cast("Any", jax.live_arrays)()
    wait_for(live, lambda: f"everything that was dispatched ({len(live)} arrays)")
    if interruption() is None:
        jax.effects_barrier()
    else:
        run_on_thread(jax.effects_barrier, "everything that was dispatched")


# Backpressure: a bound on the steps that are dispatched but not yet computed.

_LOOKED_AT = 8
"""Number of a program's outputs, from the first, among which the one to wait for is chosen; checking all takes long."""


class InFlight:
    """The steps that were dispatched and may not be computed yet, the oldest first."""

    def __init__(self) -> None:
        self._steps: deque[tuple[str, Any]] = deque()
        self._lock = threading.Lock()
        self._launching = threading.Lock()

    def launch(self, name: str, program: Callable[[], Any], limit: int = 1) -> Any:
        """Launches a program once fewer than ``limit`` steps are in flight, and records its outputs."""
        with self._launching:
            self.make_room(limit)
            results = program()
            self.add(name, nest.as_tuple(results)[:_LOOKED_AT])
        return results

    def make_room(self, limit: int) -> None:
        """Waits until fewer than ``limit`` steps are in flight; raises the error of a step's computation once."""
        while len(self._steps) >= limit:
            with self._lock:
                step = self._oldest()
            if step is None:
                return
            name, array = step
            try:
                wait_for((array,), lambda name=name, array=array: f"room for another step: {name!r}, {describe(array)}")
            except (CancelledError, DeadlineExceededError):
                raise  # still in flight
            except Exception:
                self._remove(step)
                if not array.is_deleted():  # deleted if another thread's step was given its memory
                    raise
            else:
                self._remove(step)

    def _remove(self, step: tuple[str, Any]) -> None:
        with self._lock:
            if self._steps and self._steps[0] is step:
                self._steps.popleft()

    def add(self, name: str, arrays: Sequence[Any]) -> None:
        """Records a dispatched step, by the smallest of its output arrays."""
        alive = [array for array in arrays if not array.is_deleted()]
        if alive:
            with self._lock:
                self._steps.append((name, min(alive, key=lambda array: array.nbytes)))

    def _oldest(self) -> tuple[str, Any] | None:
        """Returns the oldest step to wait for; skips steps whose outputs were donated to a later one."""
        while self._steps and self._steps[0][1].is_deleted():
            self._steps.popleft()
        return self._steps[0] if self._steps else None

    def __len__(self) -> int:
        return len(self._steps)


in_flight = InFlight()
"""The steps in flight of this process."""
