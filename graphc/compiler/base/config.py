"""Process-wide settings, read once from the environment and changed through ``gx.config``."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.base.registry import Registry
from graphc.compiler.base.slow_path import set_slow_path_reason


def flag(name: str) -> bool:
    """Returns True if an environment variable says yes."""
    return os.environ.get(name, "").lower() in {"1", "true", "yes", "on"}


def is_denied(name: str) -> bool:
    """Returns True if an environment variable says no."""
    return os.environ.get(name, "").lower() in {"0", "false", "no", "off"}


def _number(name: str, default: int) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdigit() else default


def _seconds(name: str) -> float | None:
    try:
        value = float(os.environ.get(name, ""))
    except ValueError:
        return None
    return value if 0 < value < math.inf else None


def _environment_progress() -> float | None:
    setting = os.environ.get("GRAPHC_PROGRESS_AFTER", "")
    if setting.lower() == "none":
        return None
    return 0.0 if setting.strip() in ("0", "0.0") else _seconds("GRAPHC_PROGRESS_AFTER") or 1.0


_TEXTS = ("numpy", "tensorflow")


def _environment_text() -> str | None:
    setting = os.environ.get("GRAPHC_TENSOR_TEXT", "").lower()
    return setting if setting in _TEXTS else None


@dataclass(frozen=True)
class Setting:
    """A setting that a layer above holds, since it is JAX's or changes what that layer does."""

    get: Callable[[], Any]
    set: Callable[[Any], None]
    scope: Callable[[Any], AbstractContextManager[Any]] | None = None  # in this thread; None for all threads


SETTINGS: Registry[Setting] = Registry("setting")
"""The settings of layers above, by name; their modules add them."""

_DEFAULT_BITS = (32, 64)
_PROPERTIES = (
    "max_in_flight", "inter_op_threads", "watchdog_seconds", "enable_x64", "default_dtype_bits", "log_device_placement",
    "visible_devices", "gpu_memory_fraction", "gpu_memory_growth", "intra_op_threads", "check_numerics",
    "compilation_cache",
)  # fmt: skip


@dataclass
class Config:
    """graphc's settings.

    Attributes:
      verify: whether to check every graph before and after each pass (``GRAPHC_VERIFY``).
      max_traces: the maximum number of traces of a compiled function; beyond it the least recently used is dropped.
      max_unrolled_nodes: the maximum number of nodes that an unrolled loop may add to a graph; larger loops are
        refused.
      max_in_flight: the maximum number of steps (calls of compiled functions) that are dispatched but not yet computed;
        further calls wait. None leaves it to JAX, except for data-parallel programs on simulated CPU devices, which run
        one at a time: XLA's collectives deadlock when many run (``GRAPHC_MAX_IN_FLIGHT``).
      intra_op_threads: the number of threads that XLA computes with on the CPU; None for the number of processors. Set
        it before the first tensor is made.
      inter_op_threads: the maximum number of tasks that run at once, such as calls passed to ``gx.submit``; None for
        the number of processors (``GRAPHC_INTER_OP_THREADS``).
      watchdog_seconds: the time in seconds without progress after which a wait is reported, as a warning of the logger
        ``graphc.watchdog``; None for never (``GRAPHC_WATCHDOG_SECONDS``).
      compilation_cache: a folder that keeps compiled programs for the next process; True for one in the user's cache
        folder; None for no cache. ``graphc cache`` lists and clears it (``GRAPHC_COMPILATION_CACHE``).
      heartbeat_timeout: the time in seconds without an answer after which a cluster task counts as unavailable
        (``GRAPHC_HEARTBEAT_TIMEOUT``).
      warn_retraces: the number of retraces of a function at which the first warning is issued.
      progress_after: the time in seconds after which the terminal shows what is being traced, compiled or placed; None
        for never (``GRAPHC_PROGRESS_AFTER``, a nonnegative number or ``none``).
      full_traceback: whether tracebacks of errors also show graphc's own frames, and its functions for branches and
        loop bodies (``GRAPHC_FULL_TRACEBACK``).
      soft_placement: whether a device scope that names a device that does not exist, or that has no implementation of
        an op, falls back to the CPU and reports it through ``logging``; otherwise it is an error
        (``GRAPHC_SOFT_PLACEMENT``; TensorFlow's ``allow_soft_placement``).
      log_device_placement: whether to log the device of each op to the logger ``graphc.placement``
        (``GRAPHC_LOG_DEVICE_PLACEMENT``).
      check_numerics: whether to check each op for NaN and infinities that its inputs do not have; the first such op
        raises a :class:`NumericsError` with its line. Eager ops are then waited for, and functions are compiled anew
        (``GRAPHC_CHECK_NUMERICS``).
      visible_devices: the GPUs that this process uses, by number, such as ``[0, 1]``; ``[]`` for none of them, None for
        all. Set it and the next two before anything is computed, since JAX makes its devices once.
      gpu_memory_fraction: the fraction of each GPU's memory that XLA allocates, from 0 to 1; None for its default,
        three quarters.
      gpu_memory_growth: whether XLA allocates this memory as needed instead of at the start.
      enable_x64: whether 64-bit types are enabled, by JAX's rules; if not, 32-bit ones replace them. It is JAX's own
        switch ``jax_enable_x64`` (``GRAPHC_ENABLE_X64`` or ``JAX_ENABLE_X64``). It may be set at any time: programs
        compiled before are kept for when it is set back. Importing ``graphc.compat.v2`` sets it, unless the environment
        has ``GRAPHC_ENABLE_X64=0``.
      tensor_text: the style of ``print``, ``str`` and ``repr`` of tensors: ``"numpy"``, like NumPy's arrays, or
        ``"tensorflow"``, with shape and dtype (``GRAPHC_TENSOR_TEXT``). ``format`` and f-strings show only values in
        either style. Importing ``graphc.compat.v2`` sets ``"tensorflow"``, unless the environment decides.
      default_dtype_bits: the bits of the default dtypes under x64, for Python numbers and new tensors without a given
        dtype: 64 or 32; NumPy arrays keep their dtypes (``GRAPHC_DEFAULT_DTYPE_BITS``).

    Example:
      >>> config.max_traces
      64
    """

    verify: bool = field(default_factory=lambda: flag("GRAPHC_VERIFY"))
    max_traces: int = 64
    max_unrolled_nodes: int = 100_000
    heartbeat_timeout: float = field(default_factory=lambda: _seconds("GRAPHC_HEARTBEAT_TIMEOUT") or 10.0)
    warn_retraces: int = 3
    progress_after: float | None = field(default_factory=_environment_progress)
    full_traceback: bool = field(default_factory=lambda: flag("GRAPHC_FULL_TRACEBACK"))
    soft_placement: bool = field(default_factory=lambda: flag("GRAPHC_SOFT_PLACEMENT"))
    tensor_text: str = field(default_factory=lambda: _environment_text() or "numpy")
    _max_in_flight: int | None = field(
        default_factory=lambda: _number("GRAPHC_MAX_IN_FLIGHT", 0) or None, init=False, repr=False
    )
    _inter_op_threads: int | None = field(
        default_factory=lambda: _number("GRAPHC_INTER_OP_THREADS", 0) or None, init=False, repr=False
    )
    _watchdog_seconds: float | None = field(
        default_factory=lambda: _seconds("GRAPHC_WATCHDOG_SECONDS"), init=False, repr=False
    )

    def update_detours(self) -> None:
        """Sends compiled calls down the slow path if a setting requires it."""
        set_slow_path_reason("max_in_flight", "steps in flight are bounded", active=self._max_in_flight is not None)
        set_slow_path_reason("watchdog", "a watchdog looks after calls", active=self._watchdog_seconds is not None)

    @property
    def check_numerics(self) -> bool:
        """True if ops are checked for NaN and infinities."""
        return SETTINGS["check_numerics"].get()

    @check_numerics.setter
    def check_numerics(self, value: bool) -> None:
        SETTINGS["check_numerics"].set(_truth("check_numerics", value))

    @property
    def max_in_flight(self) -> int | None:
        """The maximum number of steps in flight; None leaves it to JAX."""
        return self._max_in_flight

    @max_in_flight.setter
    def max_in_flight(self, value: int | None) -> None:
        self._max_in_flight = _count("max_in_flight", value)
        self.update_detours()

    @property
    def inter_op_threads(self) -> int | None:
        """The maximum number of tasks that run at once; None for the number of processors."""
        return self._inter_op_threads

    @inter_op_threads.setter
    def inter_op_threads(self, value: int | None) -> None:
        self._inter_op_threads = _count("inter_op_threads", value)

    @property
    def watchdog_seconds(self) -> float | None:
        """The time in seconds without progress after which a wait is reported; None for never."""
        return self._watchdog_seconds

    @watchdog_seconds.setter
    def watchdog_seconds(self, value: float | None) -> None:
        self._watchdog_seconds = None if value is None else _positive("watchdog_seconds", value)
        self.update_detours()

    @property
    def enable_x64(self) -> bool:
        """True if 64-bit types are enabled."""
        return SETTINGS["enable_x64"].get()

    @enable_x64.setter
    def enable_x64(self, value: bool) -> None:
        SETTINGS["enable_x64"].set(_truth("enable_x64", value))

    @property
    def default_dtype_bits(self) -> int:
        """The bits of the default dtypes, if 64-bit types are enabled."""
        return SETTINGS["default_dtype_bits"].get()

    @default_dtype_bits.setter
    def default_dtype_bits(self, value: int) -> None:
        if type(value) is not int or value not in _DEFAULT_BITS:
            raise _unexpected("default_dtype_bits", "32 or 64", value)
        SETTINGS["default_dtype_bits"].set(value)

    @property
    def log_device_placement(self) -> bool:
        """True if the device of each op is logged."""
        return SETTINGS["log_device_placement"].get()

    @log_device_placement.setter
    def log_device_placement(self, value: bool) -> None:
        SETTINGS["log_device_placement"].set(_truth("log_device_placement", value))

    @property
    def visible_devices(self) -> list[int] | None:
        """The GPUs that this process uses, by number; None for all."""
        return SETTINGS["visible_devices"].get()

    @visible_devices.setter
    def visible_devices(self, value: Sequence[int | str] | None) -> None:
        SETTINGS["visible_devices"].set(value)

    @property
    def gpu_memory_fraction(self) -> float | None:
        """The fraction of each GPU's memory that XLA allocates; None for its default."""
        return SETTINGS["gpu_memory_fraction"].get()

    @gpu_memory_fraction.setter
    def gpu_memory_fraction(self, value: float | None) -> None:
        SETTINGS["gpu_memory_fraction"].set(value)

    @property
    def gpu_memory_growth(self) -> bool:
        """True if GPU memory is allocated as needed."""
        return SETTINGS["gpu_memory_growth"].get()

    @gpu_memory_growth.setter
    def gpu_memory_growth(self, value: bool) -> None:
        SETTINGS["gpu_memory_growth"].set(_truth("gpu_memory_growth", value))

    @property
    def intra_op_threads(self) -> int | None:
        """The number of threads that XLA computes with on the CPU; None for the number of processors."""
        return SETTINGS["intra_op_threads"].get()

    @intra_op_threads.setter
    def intra_op_threads(self, value: int | None) -> None:
        SETTINGS["intra_op_threads"].set(value)

    @property
    def compilation_cache(self) -> str | None:
        """The folder that keeps compiled programs for the next process; None for no cache."""
        return SETTINGS["compilation_cache"].get()

    @compilation_cache.setter
    def compilation_cache(self, value: str | os.PathLike[str] | bool | None) -> None:
        SETTINGS["compilation_cache"].set(value)

    @contextmanager
    def scope(self, **settings: Any) -> Generator[None]:
        """Applies settings inside the scope, and restores the previous values at its end.

        All but ``enable_x64`` apply to all threads; that one applies to the thread that opens the scope.

        Raises:
          InvalidArgumentError: a setting does not exist.

        Example:
          >>> import graphc as gx
          >>> with gx.config.scope(enable_x64=True):
          ...     print(gx.asarray(0.1).dtype)
          float64
        """
        unknown = [name for name in settings if name.startswith("_") or name not in _all_names()]
        if unknown:
            raise self._unknown("gx.config.scope", unknown[0])
        with ExitStack() as stack:
            for name, value in settings.items():
                setting = SETTINGS[name] if name in SETTINGS else None  # noqa: SIM401  a miss is no KeyError
                if setting is not None and setting.scope is not None:
                    stack.enter_context(setting.scope(_truth(name, value)))
                else:
                    before = getattr(self, name)
                    setattr(self, name, value)
                    stack.callback(setattr, self, name, before)
            yield

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name not in _all_names():
            raise self._unknown("gx.config", name)
        check = _PLAIN.get(name)
        object.__setattr__(self, name, value if check is None else check(name, value))

    def _unknown(self, use: str, name: str) -> InvalidArgumentError:
        message = f"{use}: there is no setting {name!r}; the settings are {', '.join(_all_names())}"
        return InvalidArgumentError(message).here()

    def set_tensorflows_dtypes(self) -> None:
        """Enables 64-bit types with 32-bit default dtypes, unless the environment disables them."""
        if not is_denied("GRAPHC_ENABLE_X64"):
            self.enable_x64 = True
            self.default_dtype_bits = 32

    def set_tensorflows_text(self) -> None:
        """Shows tensors in TensorFlow's style, unless the environment sets a style."""
        if _environment_text() is None:
            self.tensor_text = "tensorflow"


@cache
def _all_names() -> tuple[str, ...]:
    """Returns the names of all settings."""
    plain = [name for name in Config.__dataclass_fields__ if not name.startswith("_")]
    return (*plain, *_PROPERTIES)


def _truth(name: str, value: Any) -> bool:
    if type(value) is not bool:
        raise _unexpected(name, "True or False", value)
    return value


def _count(name: str, value: Any) -> int | None:
    if value is not None and (type(value) is not int or value < 1):
        raise _unexpected(name, "a positive int or None", value)
    return value


def _number_of(name: str, value: Any) -> int:
    if type(value) is not int or value < 1:
        raise _unexpected(name, "a positive int", value)
    return value


def _unexpected(name: str, expected: str, value: Any) -> InvalidArgumentError:
    return InvalidArgumentError(f"gx.config.{name}: expected {expected}, got {value!r}").here()


def _text(name: str, value: Any) -> str:
    if value not in _TEXTS:
        raise _unexpected(name, " or ".join(map(repr, _TEXTS)), value)
    return value


def _positive(name: str, value: Any) -> float:
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    if not (numeric and 0 < value < math.inf):
        also = " or None" if name == "watchdog_seconds" else ""
        raise _unexpected(name, f"a positive, finite number of seconds{also}", value)
    return value


def _waiting(name: str, value: Any) -> float | None:
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (numeric and 0 <= value < math.inf):
        raise _unexpected(name, "a finite nonnegative number of seconds or None", value)
    return value


_PLAIN: Final[dict[str, Callable[[str, Any], Any]]] = {
    "verify": _truth,
    "max_traces": _number_of,
    "max_unrolled_nodes": _number_of,
    "heartbeat_timeout": _positive,
    "warn_retraces": _number_of,
    "full_traceback": _truth,
    "progress_after": _waiting,
    "soft_placement": _truth,
    "tensor_text": _text,
}
"""The validators of the settings that are plain attributes."""

config = Config()
config.update_detours()
