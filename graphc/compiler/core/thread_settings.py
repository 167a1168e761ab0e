"""JAX's thread-local settings, for threads that work on behalf of another one."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from typing import Any, cast

import jax

from graphc.compiler.base import config

__all__ = ["thread_settings"]

_jax_config = cast("Any", jax.config)
_precision = cast("Any", jax.default_matmul_precision)


def thread_settings() -> Callable[[], AbstractContextManager[None]]:
    """Returns the settings of this thread: 64-bit types, and the precision of matrix products.

    Returns:
      A function that opens a scope with these settings, in any thread; the same one for the same settings.
    """
    return _scope_of(config.enable_x64, _jax_config.jax_default_matmul_precision)


@cache
def _scope_of(wide: bool, precision: Any) -> Callable[[], AbstractContextManager[None]]:
    @contextmanager
    def scope() -> Generator[None]:
        with ExitStack() as stack:
            if config.enable_x64 != wide:
                stack.enter_context(config.scope(enable_x64=wide))
            if _jax_config.jax_default_matmul_precision != precision:
                stack.enter_context(_precision(precision))
            yield

    return scope
