"""``free_device``: a device for each of several trainings that run at a time, such as the trials of a search."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from graphc.compiler.base import wait_until
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import device
from graphc.compiler.devices import Device, device_name, find_device, local_devices
from graphc.compiler.tracing import refuse_in_trace

_taken: Counter[Device] = Counter()
_changed = threading.Condition()


@contextmanager
def free_device(devices: Sequence[Any] | None = None) -> Generator[str]:
    """Runs a block on a device that no other such block uses; waits until one is free.

    Libraries that search for good settings, such as Optuna, run each trial in a thread: with this scope in the trial,
    its Variables and ops are on a device of its own.

    Args:
      devices: the names or ``jax.Device`` objects to choose from; those of this process when None. One that is named
        twice serves two blocks at a time.

    Yields:
      The name of the device.

    Raises:
      InvalidArgumentError: ``devices`` is empty, or the scope is entered in a compiled function.
      DeadlineExceededError: the deadline in force passed before a device was free.

    Example:
      >>> import graphc as gx
      >>> with gx.distribute.free_device() as first, gx.distribute.free_device() as second:
      ...     first, second, gx.ones(3).device
      ('/device:CPU:0', '/device:CPU:1', '/device:CPU:1')
    """
    refuse_in_trace("free_device: enter it outside of compiled functions", InvalidArgumentError)
    slots = Counter(local_devices() if devices is None else map(find_device, devices))
    if not slots:
        raise InvalidArgumentError("free_device: devices is empty; None stands for all").here()

    def free() -> list[Device]:
        return [chosen for chosen, count in slots.items() if _taken[chosen] < count]

    with _changed:
        wait_until(_changed, lambda: bool(free()), f"one of {len(slots)} devices to be free")
        chosen = free()[0]
        _taken[chosen] += 1
    try:
        with device(chosen):
            yield device_name(chosen)
    finally:
        with _changed:
            _taken[chosen] -= 1
            _changed.notify_all()
