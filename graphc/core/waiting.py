"""Waiting for arrays that devices are still computing."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import jax
import numpy as np

from graphc.base import Deadline, Signal, What, detours, interruption, run_on_thread, until_called, watched, when_done
from graphc.base import deadline as deadline_scope
from graphc.base.errors import UnimplementedError
from graphc.core.context import context
from graphc.core.dtypes import type_of
from graphc.devices import device_name

__all__ = [
    "are_soon_computed",
    "deadline",
    "describe",
    "refuse_to_wait",
    "wait_for",
    "wait_for_async",
    "wait_for_future",
]

_SOON_SECONDS = 1e-4
_give_way: Callable[[], None] = getattr(os, "sched_yield", lambda: None)  # time.sleep(0) takes 70 us


def describe(array: Any) -> str:
    """Returns an array in words, for messages: type and device."""
    places = ", ".join(sorted(device_name(device) for device in array.devices()))
    return f"the tensor {type_of(array)} on {places}"


def wait_for(arrays: Sequence[Any], what: What) -> None:
    """Waits until arrays are computed, as long as what is in force allows; JAX itself has no bound for that.

    Args:
      arrays: of JAX.
      what: what is waited for, as a noun.

    Raises:
      DeadlineExceededError: the deadline in force has passed, and one is not computed.
      CancelledError: a token in force was cancelled, and one is not computed.
      Exception: what went wrong when they were computed.
    """
    if detours:
        pending = _pending(arrays)
        if pending and interruption() is not None and not are_soon_computed(pending):
            run_on_thread(partial(_block, pending), what)
        elif pending:
            with watched(what):
                jax.block_until_ready(pending)
    jax.block_until_ready(arrays)


def are_soon_computed(arrays: Sequence[Any]) -> bool:
    """Returns whether arrays are computed now, or within the time that it takes to have another thread wait for them.

    Raises:
      Exception: what went wrong when they were computed.
    """
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


async def wait_for_async(arrays: Sequence[Any], what: What) -> None:
    """As :func:`wait_for`, in asyncio, whose loop goes on meanwhile."""
    pending = _pending(arrays)
    if pending:
        await until_called(lambda done: when_done(partial(_block, pending), done), what)
    jax.block_until_ready(arrays)


def wait_for_future(future: Future[Any]) -> Any:
    """Waits for a future, and gives its result; one of Python's own has no bound for that either.

    Raises:
      DeadlineExceededError: the deadline in force has passed, and it is not done.
      CancelledError: a token in force was cancelled, and it is not done.
      Exception: what it raises.
    """
    if type(future).result is Future.result and not future.done():
        done = Signal()
        future.add_done_callback(lambda _: done.set())
        done.wait(f"the future {future!r}")
    return future.result()


def refuse_to_wait(use: str) -> None:
    """Refuses what waits where a function is traced, which would be done with when the function runs.

    Raises:
      UnimplementedError: a function is being traced.
    """
    if context.trace is not None:
        error = UnimplementedError(
            f"{use} in a compiled function: it would wait once, when the function is traced, and not at each call. "
            "Wait for the result of the call; gx.control_dependencies puts in order what happens inside"
        )
        raise context.trace.note_refusal(error)


def _block(arrays: Sequence[Any]) -> None:
    jax.block_until_ready(arrays)


def _pending(arrays: Sequence[Any]) -> list[Any]:
    # What a Python function is given that a program calls is NumPy's, and there.
    found = [array for array in arrays if not isinstance(array, np.ndarray | np.generic)]
    return [array for array in found if array.is_deleted() or not array.is_ready()]


def deadline(seconds: float | None) -> AbstractContextManager[Deadline | None]:
    """Everything inside the scope that waits must be done in so many seconds from now.

    That is: reading a tensor that is still being computed (``wait``, ``numpy``, ``print``), calls of compiled
    functions, which are waited for inside the scope, futures, and all else that can block. Of nested scopes the
    earliest deadline holds. Python code that does not wait is not interrupted.

    Args:
      seconds: how long; None sets no deadline, so that one of an outer scope holds.

    Returns:
      A context manager, which gives the deadline, or None if there is none.

    Raises:
      UnimplementedError: in a compiled function.
      InvalidArgumentError: ``seconds`` is zero, negative or not finite.
      DeadlineExceededError: inside the scope, by what waits; it names what was waited for.

    Example:
      >>> import graphc as gx
      >>> with gx.deadline(30.0):
      ...     total = gx.sum(gx.ones(1000)).item()
      >>> total
      1000.0
    """
    if context.trace is not None and not context.trace.root.is_graph:  # a Session that runs a graph keeps to it
        error = UnimplementedError(
            "gx.deadline in a compiled function: it would hold while the function is traced, and not when it runs. "
            "Open it around the call, or give the function timeout="
        )
        raise context.trace.refuse(error)
    return deadline_scope(seconds)
