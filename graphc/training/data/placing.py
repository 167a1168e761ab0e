"""Placement of elements on devices before they are used."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import jax as _jax

from graphc.compiler.core import Tensor
from graphc.compiler.devices import find_device
from graphc.compiler.runtime import observer
from graphc.training.data.elements import Nested, Row

__all__ = ["placer"]

jax: Any = _jax  # its functions are only partly annotated


def placer(to: Any, *, local: bool = False) -> Callable[[Row], Row]:
    """Returns a function that moves a row to its device.

    Args:
      to: a device or its name, a sharding of JAX's, or an object with ``shard(batch)``.
      local: whether a row holds this process's part of a batch, for an object with ``from_local(batch)``.

    While a ``gx.profile`` is open, each row is an event of the kind ``transfer``.
    """
    name = str(getattr(to, "name", None) or (to if isinstance(to, str) else type(to).__name__))
    move = _mover(to, local)

    def place(row: Row) -> Row:
        timeline = observer()
        if timeline is None:
            return move(row)
        start = time.perf_counter()
        moved = jax.block_until_ready(move(row))
        timeline.add(f"a batch to {name}", "transfer", threading.current_thread().name, start)
        return moved

    return place


def _mover(to: Any, local: bool) -> Callable[[Row], Row]:
    shard = getattr(to, "from_local" if local else "shard", None)
    if shard is not None:
        return lambda row: tuple([_raw(shard(leaf)) if _moves(leaf) else leaf for leaf in row])
    place = to if isinstance(to, jax.sharding.Sharding | jax.Device) else find_device(to)
    return lambda row: tuple([jax.device_put(leaf, place) if _moves(leaf) else leaf for leaf in row])


def _moves(leaf: Any) -> bool:
    return not isinstance(leaf, bytes | Nested) and leaf.dtype.kind != "O"


def _raw(leaf: Any) -> Any:
    return leaf.raw if isinstance(leaf, Tensor) else leaf
