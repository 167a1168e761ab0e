"""The end of a process while other threads are still inside XLA, whose calls cannot be interrupted.

Python ends daemon threads when they next ask for its lock. Before Python 3.14 it does so with ``pthread_exit``, which
unwinds the stack, and XLA's frames do not allow that: the C++ runtime aborts the process. Python 3.14 blocks such
threads for ever instead. This module does the same on older versions, and then leaves without XLA's destructors, which
would wait for everything that still computes.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import sys
import threading
from contextlib import suppress
from typing import Any

from graphc.devices.device import devices
from graphc.devices.settings import has_made_devices

__all__ = ["leave_threads_behind"]


def leave_threads_behind() -> None:
    """Lets the process end, with its own exit status, while daemon threads are in XLA.

    ``os._exit`` would need the status, which Python does not tell to anybody before it has ended.
    """
    if not any(thread.daemon for thread in threading.enumerate()) or not has_made_devices():
        return
    for device in devices():  # a device holds its XLA client, which would wait for its programs
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(device))
    gc.freeze()  # Python's last collection takes as long as all other steps of its end together
    with suppress(OSError, AttributeError):  # elsewhere pthread_exit unwinds nothing, or there is no on_exit
        libc: Any = ctypes.CDLL(None)
        if sys.version_info < (3, 14):
            ctypes.CDLL("libstdc++.so.6")._ZSt13set_terminatePFvvE(libc.pause)  # std::set_terminate
        libc.fflush(None)
        libc.on_exit(libc._exit, None)  # _exit(status) comes first among what C runs at exit


atexit.register(leave_threads_behind)  # it runs before JAX's own exit handlers, which drop the clients
