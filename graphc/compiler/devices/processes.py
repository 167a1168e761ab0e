"""What becomes of devices when a process forks, and when it ends."""

from __future__ import annotations

import atexit
import ctypes
import gc
import os
import sys
import threading
from contextlib import suppress
from typing import Any

import jax.monitoring

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import FailedPreconditionError
from graphc.compiler.devices.device import devices
from graphc.compiler.devices.settings import has_made_devices

__all__ = ["leave_threads_behind", "refuse_to_compile"]

_LOWERED = "/jax/core/compile/jaxpr_to_mlir_module_duration"
"""The event that JAX reports just before it compiles a program."""


def refuse_to_compile() -> None:
    """Makes a forked process, which lacks XLA's threads, raise an error when JAX would compile, which would hang.

    Compiled programs still run.
    """
    if not has_made_devices():
        return  # it makes its own devices
    monitoring: Any = jax.monitoring
    monitoring.register_event_duration_secs_listener(_refuse)


def _refuse(event: str, duration: float, **_: Any) -> None:
    del duration
    if event == _LOWERED:
        error = FailedPreconditionError(
            "this process was forked from one that had made its devices, and lacks XLA's threads, so "
            'that compiling would never end; start processes by multiprocessing.get_context("spawn"), or fork before '
            "anything is computed"
        )
        raise at(error, user_location())


def leave_threads_behind() -> None:
    """Lets the process end, with its own exit status, while daemon threads are in XLA, whose calls nothing interrupts.

    Python ends daemon threads when they next ask for its lock. Before Python 3.14 it does so by ``pthread_exit``, which
    unwinds the stack, and XLA's frames do not allow that: the C++ runtime aborts the process. Python 3.14 blocks such
    threads for ever; this does the same. ``os._exit`` would need the exit status, which Python tells nobody before it
    has ended. So Python ends as always, and the process then leaves before XLA's destructors, which would wait for
    everything that still computes.
    """
    if not any(thread.daemon for thread in threading.enumerate()) or not has_made_devices():
        return
    for device in devices():  # each holds its XLA client, whose destructor would wait, too
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(device))
    gc.freeze()  # without Python's last collection its end takes 26 ms, and 149 with it, in which threads may return
    with suppress(OSError, AttributeError):  # elsewhere pthread_exit unwinds nothing, or there is no on_exit
        libc: Any = ctypes.CDLL(None)
        if sys.version_info < (3, 14):
            ctypes.CDLL("libstdc++.so.6")._ZSt13set_terminatePFvvE(libc.pause)  # std::set_terminate
        libc.fflush(None)
        libc.on_exit(libc._exit, None)  # so _exit(status) comes first among what C runs at exit


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=refuse_to_compile)
atexit.register(leave_threads_behind)  # it runs before JAX's own exit handlers, which drop the clients
