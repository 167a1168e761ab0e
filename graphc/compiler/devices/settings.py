"""Device settings applied before first use: visible GPUs, their memory, and CPU threads.

JAX and XLA read them from JAX's settings and from the environment when they make their devices, and not again.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import hashlib
import os
import platform
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import jax
import jax.monitoring

from graphc.compiler.base import SETTINGS, Setting, config, flag, is_denied
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.compiler.base.files import file_errors
from graphc.compiler.devices.device import devices
from graphc.compiler.ir import DeviceSpec

_FRACTION = "XLA_PYTHON_CLIENT_MEM_FRACTION"
_PREALLOCATE = "XLA_PYTHON_CLIENT_PREALLOCATE"
# The number of threads that XLA computes with on the CPU, by default the number of processors.
_THREADS = "PJRT_NPROC"
_VISIBLE = ("jax_cuda_visible_devices", "jax_rocm_visible_devices")

_jax_config: Any = jax.config  # its settings are not annotated
_visible: list[int] | None = None
_cache: list[str] = []  # the last folder set for the compilation cache
_platforms: list[Any] = []  # JAX's setting before all GPUs were hidden


def has_made_devices() -> bool:
    """Returns True if JAX has made its devices; JAX shows it by refusing to change the number of CPU devices."""
    number = _jax_config.jax_num_cpu_devices
    try:
        _jax_config.update("jax_num_cpu_devices", max(number, 1) + 1)
    except RuntimeError:
        return True
    _jax_config.update("jax_num_cpu_devices", number)
    return False


def _get(name: str) -> Any:
    if name == "compilation_cache":
        return _cache[-1] if _cache else _jax_config.jax_compilation_cache_dir
    if name == "visible_devices":
        return None if _visible is None else list(_visible)
    if name == "gpu_memory_fraction":
        text = os.environ.get(_FRACTION)
        return float(text) if text else None
    if name == "intra_op_threads":
        text = os.environ.get(_THREADS, "")
        return int(text) if text.isdigit() else None
    return os.environ.get(_PREALLOCATE, "").lower() in ("0", "false")


def _set(name: str, value: Any) -> None:
    if name == "compilation_cache":
        _set_compilation_cache(value)
        return
    checked = _CHECKS[name](value)
    if _get(name) == checked:
        return
    if has_made_devices():
        if checked == [] and not devices("gpu"):
            return
        raise FailedPreconditionError(
            f"gx.config.{name} = {value!r} comes too late: JAX has already made its devices, at the first "
            "tensor or call of gx.devices(); set it earlier, right after `import graphc as gx`"
        ).here()
    _SETTERS[name](checked)


def _checked_devices(value: Any) -> list[int] | None:
    if value is None:
        return None
    if isinstance(value, Sequence) and not isinstance(value, str):
        numbers = [_gpu(entry) for entry in value]  # pyright: ignore[reportUnknownVariableType]
        if None not in numbers and len(set(numbers)) == len(numbers):
            return [number for number in numbers if number is not None]
    raise _error("visible_devices", value, "a list of different GPUs, such as [0, 1] or ['gpu:0'], or None for all")


def _gpu(entry: Any) -> int | None:
    """Returns the number of a GPU; None for any other value."""
    if isinstance(entry, str):
        spec = DeviceSpec.parse(entry)
        return spec.device_index if spec.device_type == "GPU" else None
    return entry if type(entry) is int and entry >= 0 else None


def _checked_fraction(value: Any) -> float | None:
    if value is None:
        return None
    if type(value) in (int, float) and 0 < value <= 1:
        return float(value)
    raise _error("gpu_memory_fraction", value, "a number above 0 and not above 1, or None for XLA's default")


def _checked_threads(value: Any) -> int | None:
    if value is None or (type(value) is int and value >= 1):
        return value
    raise _error("intra_op_threads", value, "a positive int or None")


def _error(name: str, value: Any, expected: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"gx.config.{name}: expected {expected}, got {value!r}").here()


def _set_devices(numbers: list[int] | None) -> None:
    global _visible
    _visible = numbers
    if numbers == []:
        _platforms.append(_jax_config.jax_platforms)
        _jax_config.update("jax_platforms", "cpu")
        return
    if _platforms:
        _jax_config.update("jax_platforms", _platforms.pop())
    for setting in _VISIBLE:
        _jax_config.update(setting, "all" if numbers is None else ",".join(map(str, numbers)))


def _set_fraction(fraction: float | None) -> None:
    if fraction is None:
        os.environ.pop(_FRACTION, None)
    else:
        os.environ[_FRACTION] = str(fraction)


def _set_threads(threads: int | None) -> None:
    if threads is None:
        os.environ.pop(_THREADS, None)
    else:
        os.environ[_THREADS] = str(threads)


def _set_growth(growth: bool) -> None:
    os.environ[_PREALLOCATE] = "false" if growth else "true"


def _set_compilation_cache(value: Any) -> None:
    """Makes JAX cache compiled programs of every size, in a folder for machines like this one."""
    # JAX's key of a program (its text, the compile options, the versions of JAX and XLA) does not distinguish
    # processors for which XLA compiles different instructions.
    if value is None or value is False:
        folder = None
    elif value is True or (isinstance(value, str | os.PathLike) and str(cast("Any", value))):
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = (caches / "graphc" if value is True else Path(cast("str", value)).expanduser()) / _machine()
        with file_errors(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            about = folder.stat()
        if hasattr(os, "getuid") and (about.st_uid != os.getuid() or about.st_mode & 0o022):
            raise _error(
                "compilation_cache", str(folder), "a folder that belongs to the user and that nobody else can write "
                "to, since graphc runs the programs in it"
            )  # fmt: skip
    else:
        raise _error("compilation_cache", value, "a folder, True for the user's cache folder, or None for no cache")
    _cache[:] = [] if folder is None else [str(folder.parent)]
    if folder is not None:
        _jax_config.update("jax_persistent_cache_min_compile_time_secs", 0)
        _jax_config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    _jax_config.update("jax_compilation_cache_dir", None if folder is None else str(folder))
    if has_made_devices():  # JAX may already have checked whether there is a cache
        import_module("jax.experimental.compilation_cache.compilation_cache").reset_cache()


def _machine() -> str:
    """Returns a name for machines whose processors have the same instructions."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    features = [line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part"))]
    text = "\n".join([platform.machine(), platform.processor(), *sorted(set(features))])
    return f"{platform.machine() or 'machine'}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


_CHECKS: dict[str, Any] = {
    "visible_devices": _checked_devices,
    "gpu_memory_fraction": _checked_fraction,
    "gpu_memory_growth": bool,
    "intra_op_threads": _checked_threads,
}
_SETTERS: dict[str, Any] = {
    "visible_devices": _set_devices,
    "gpu_memory_fraction": _set_fraction,
    "gpu_memory_growth": _set_growth,
    "intra_op_threads": _set_threads,
}

for _name in (*_SETTERS, "compilation_cache"):
    SETTINGS.add(_name, Setting(partial(_get, _name), partial(_set, _name)))
if _folder := os.environ.get("GRAPHC_COMPILATION_CACHE"):
    _name = "GRAPHC_COMPILATION_CACHE"
    config.compilation_cache = False if is_denied(_name) else flag(_name) or _folder


# What becomes of devices when a process forks, and when it ends.

_LOWERED = "/jax/core/compile/jaxpr_to_mlir_module_duration"
"""The event that JAX reports just before it compiles a program."""


def refuse_to_compile() -> None:
    """Makes a forked process, which lacks XLA's threads, raise an error when JAX would compile, which would hang."""
    if not has_made_devices():
        return  # it makes its own devices
    monitoring: Any = jax.monitoring
    monitoring.register_event_duration_secs_listener(_refuse)


def _refuse(event: str, duration: float, **_: Any) -> None:
    del duration
    if event == _LOWERED:
        raise FailedPreconditionError(
            "this process was forked from one that had made its devices, and lacks XLA's threads, so "
            'that compiling would never end; start processes by multiprocessing.get_context("spawn"), or fork before '
            "anything is computed"
        ).here()


def leave_threads_behind() -> None:
    """Lets the process end, with its own exit status, while daemon threads are in XLA, which nothing interrupts."""
    # Python ends daemon threads when they next ask for its lock. Before Python 3.14 it does so by ``pthread_exit``,
    # which unwinds the stack; XLA's frames do not allow that, and the C++ runtime aborts the process. Python 3.14
    # blocks such threads for ever; this does the same. ``os._exit`` would need the exit status, which Python tells
    # nobody before it has ended. So Python ends as always, and the process then leaves before XLA's destructors, which
    # would wait for everything that still computes.
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
