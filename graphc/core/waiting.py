"""Waiting for arrays that devices are still computing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax

from graphc.base import What, apart, detours, interruption, until_called, watched, when_done
from graphc.core.devices import device_name
from graphc.core.dtypes import type_of

__all__ = ["describe", "wait_for", "wait_for_async"]


def describe(array: Any) -> str:
    """An array in words, for messages: type and device."""
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
        if pending and interruption() is not None:
            apart(partial(_block, pending), what)
        elif pending:
            with watched(what):
                jax.block_until_ready(pending)
    jax.block_until_ready(arrays)


async def wait_for_async(arrays: Sequence[Any], what: What) -> None:
    """As :func:`wait_for`, in asyncio, whose loop goes on meanwhile."""
    pending = _pending(arrays)
    if pending:
        await until_called(lambda done: when_done(partial(_block, pending), done), what)
    jax.block_until_ready(arrays)


def _block(arrays: Sequence[Any]) -> None:
    jax.block_until_ready(arrays)


def _pending(arrays: Sequence[Any]) -> list[Any]:
    return [array for array in arrays if array.is_deleted() or not array.is_ready()]
