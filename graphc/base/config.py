"""Process-wide settings, read once from the environment and changed through ``gx.config``."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from graphc.base.errors import InvalidArgumentError

__all__ = ["Config", "WideTypes", "config"]


def _flag(name: str) -> bool:
    return os.environ.get(name, "").lower() in {"1", "true", "yes", "on"}


def _number(name: str, default: int) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdigit() else default


@dataclass(frozen=True)
class WideTypes:
    """The switch of the 64-bit types, which JAX holds; a layer above, which knows JAX, says how it is asked and set.

    Attributes:
      enabled: whether they are on in this thread.
      enable: turns them on or off in all threads.
      scope: turns them on or off in this thread, inside a scope.
      defaults_changed: is called where the dtype of numbers without one has changed.
    """

    enabled: Callable[[], bool]
    enable: Callable[[bool], None]
    scope: Callable[[bool], AbstractContextManager[Any]]
    defaults_changed: Callable[[], None]


_DEFAULT_BITS = (32, 64)


@dataclass
class Config:
    """graphc's settings.

    Attributes:
      verify: check every graph before and after each pass (``GRAPHC_VERIFY``).
      max_traces: how many traces a compiled function keeps before it drops the one unused longest.
      max_unrolled_nodes: how many nodes an unrolled loop may add to a graph before it is refused.
      max_in_flight: how many data-parallel programs may run at once on simulated CPU devices; XLA's collectives
        deadlock there when many do (``GRAPHC_MAX_IN_FLIGHT``).
      warn_retraces: at which retrace of a function a warning is given first.
      full_traceback: whether the tracebacks of errors show graphc's own frames too, and its functions made of branches
        and loop bodies (``GRAPHC_FULL_TRACEBACK``).
      enable_x64: whether there are 64-bit types, by JAX's rules; as long as not, 32-bit ones stand in for them. It is
        JAX's own switch ``jax_enable_x64`` (``GRAPHC_ENABLE_X64`` or ``JAX_ENABLE_X64``). It may be set at any time:
        what was compiled before is kept for when it is set back.
      default_dtype_bits: 64, or 32 for 32-bit types of Python's numbers, and of new tensors for which none is given,
        although there are 64-bit ones; NumPy's arrays keep theirs (``GRAPHC_DEFAULT_DTYPE_BITS``).

    Example:
      >>> config.max_traces
      64
    """

    verify: bool = field(default_factory=lambda: _flag("GRAPHC_VERIFY"))
    max_traces: int = 64
    max_unrolled_nodes: int = 100_000
    max_in_flight: int = field(default_factory=lambda: _number("GRAPHC_MAX_IN_FLIGHT", 1))
    warn_retraces: int = 3
    full_traceback: bool = field(default_factory=lambda: _flag("GRAPHC_FULL_TRACEBACK"))
    _wide_types: WideTypes | None = field(default=None, init=False, repr=False)
    _default_bits: int = field(
        default_factory=lambda: 32 if _number("GRAPHC_DEFAULT_DTYPE_BITS", 64) == 32 else 64, init=False, repr=False
    )

    @property
    def enable_x64(self) -> bool:
        """Whether there are 64-bit types."""
        return self._wide_types is not None and self._wide_types.enabled()

    @enable_x64.setter
    def enable_x64(self, value: bool) -> None:
        self._switch().enable(_truth("enable_x64", value))

    @property
    def default_dtype_bits(self) -> int:
        """The size of the dtype that numbers have for which none is given, where there are 64-bit types."""
        return self._default_bits

    @default_dtype_bits.setter
    def default_dtype_bits(self, value: int) -> None:
        if type(value) is not int or value not in _DEFAULT_BITS:
            raise InvalidArgumentError(f"gx.config.default_dtype_bits: expected 32 or 64, got {value!r}")
        if value != self._default_bits:
            self._default_bits = value
            self._switch().defaults_changed()

    @contextmanager
    def scope(self, **settings: Any) -> Generator[None]:
        """Inside the scope these settings hold; at its end each has the value again that it had before.

        All but ``enable_x64`` hold in all threads; that one holds in the thread that opens the scope.

        Raises:
          InvalidArgumentError: there is no such setting.

        Example:
          >>> import graphc as gx
          >>> with gx.config.scope(enable_x64=True):
          ...     print(gx.asarray(0.1).dtype)
          float64
        """
        unknown = [name for name in settings if name.startswith("_") or name not in self._names()]
        if unknown:
            error = f"gx.config.scope: there is no setting {unknown[0]!r}; there are {', '.join(self._names())}"
            raise InvalidArgumentError(error)
        with ExitStack() as stack:
            for name, value in settings.items():
                if name == "enable_x64":
                    stack.enter_context(self._switch().scope(_truth(name, value)))
                else:
                    before = getattr(self, name)
                    setattr(self, name, value)
                    stack.callback(setattr, self, name, before)
            yield

    def _names(self) -> list[str]:
        plain = [name for name in self.__dataclass_fields__ if not name.startswith("_")]
        return [*plain, "enable_x64", "default_dtype_bits"]

    def _switch(self) -> WideTypes:
        assert self._wide_types is not None, "graphc.core, which knows JAX, is not imported"
        return self._wide_types

    def register_wide_types(self, switch: WideTypes) -> None:
        """Says how the 64-bit types are turned on; the core, a layer above, calls this once."""
        self._wide_types = switch
        if _flag("GRAPHC_ENABLE_X64"):
            switch.enable(True)


def _truth(name: str, value: Any) -> bool:
    if type(value) is not bool:
        raise InvalidArgumentError(f"gx.config.{name}: expected True or False, got {value!r}")
    return value


config = Config()
