"""Programs that travel between tasks: identified by a key inside a process, as StableHLO between processes."""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Callable
from typing import Any

import jax

from graphc.compiler.base.errors import FailedPreconditionError

__all__ = ["Program", "program_of"]


class Program:
    """A function of JAX arrays that other tasks run.

    Inside a process, it is passed as it is. Pickling exports it with ``jax.export``: the resulting StableHLO needs none
    of the user's code to run.

    Args:
      function: a function that takes and returns nested structures of arrays.
      types: the types of its arguments, or a function that returns them; shapes may have symbols of ``jax.export``.
      key: its name; a new name if empty.
    """

    def __init__(self, function: Callable[..., Any], types: Any, key: str = "", content: bytes = b"") -> None:
        self.key = key or secrets.token_hex(8)
        self._types, self._content = types, content
        self.compiled: Any = jax.jit(function)
        _running[self.key] = self

    def __reduce__(self) -> Any:
        if not self._content:
            try:
                from jax import export

                types: Any = self._types() if callable(self._types) else self._types
                self._content = bytes(export.export(self.compiled)(*types).serialize())
            except ImportError as error:
                raise FailedPreconditionError(
                    f"a program cannot go to another process: {error}: pip install 'graphc[cluster]'"
                ) from error
        return _restored, (self.key, self._content)


_running: weakref.WeakValueDictionary[str, Program] = weakref.WeakValueDictionary()
"""The programs of this process, by key."""


def _restored(key: str, content: bytes) -> Program:
    found = _running.get(key)
    if found is None:
        from jax import export

        exported: Any = export.deserialize(bytearray(content))
        found = Program(exported.call, (), key, content)
    return found


def program_of(program: Program) -> Any:
    """Returns the compiled function of a program."""
    return program.compiled
