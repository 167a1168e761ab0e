"""Aliases: a name and signature of another library, and the call of graphc's functions that it stands for."""

from __future__ import annotations
import __future__

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Alias", "alias"]

_ANNOTATIONS = __future__.annotations.compiler_flag
_TARGET = re.compile(r"\b(gx|own)\.(\w+(?:\.\w+)*)\(")


@dataclass(frozen=True)
class Alias:
    """One row of a table of names.

    Attributes:
      names: what the function is called, dotted below the library's own name; the first is its main name.
      signature: the parameters as the library has them, in Python's syntax.
      call: the call that it stands for, of ``gx.FUNCTION`` or of a composition ``own.FUNCTION``.
      example: arguments to call it with.
    """

    names: tuple[str, ...]
    signature: str
    call: str
    example: str

    @property
    def target(self) -> tuple[str, str] | None:
        """What is called, ``("gx", "sum")``; None where nothing of graphc's is."""
        found = _TARGET.search(self.call)
        return None if found is None else (found[1], found[2])

    def function(self, library: str, module: str, namespace: Mapping[str, Any]) -> Callable[..., Any]:
        """The function, compiled from the signature, so that Python itself binds the arguments.

        Args:
          library: what users call the library, ``tf``.
          module: the module that it is found in.
          namespace: what signature and call refer to.
        """
        name = self.names[0].rpartition(".")[2]
        source = f"def {name}({self.signature}):\n    return {self.call}\n"
        found: dict[str, Any] = {}
        code = compile(source, f"<graphc alias {library}.{self.names[0]}>", "exec", _ANNOTATIONS, dont_inherit=True)
        exec(code, {**namespace}, found)
        function: Callable[..., Any] = found[name]
        function.__module__ = module
        # Python's own messages about arguments begin with this name.
        function.__qualname__ = f"{library}.{self.names[0]}"
        function.__doc__ = self._docstring(library, module, namespace)
        return function

    def _docstring(self, library: str, module: str, namespace: Mapping[str, Any]) -> str:
        says = self._says(namespace)
        lines = [says, ""] if says else []
        lines += [f"TensorFlow's name for ``{self.call}``."]
        main, *others = self.names
        if others:
            also = "``, ``".join([f"{library}.{name}" for name in others])
            lines += [f"Also ``{also}``."]
        lines += ["", "Example:", f"  >>> import {module} as {library}"]
        lines += [f"  >>> result = {library}.{main}({self.example})"]
        return "\n".join(lines)

    def _says(self, namespace: Mapping[str, Any]) -> str:
        """The first line of what the function that is called says of itself."""
        target = self.target
        if target is None:
            return ""
        where, path = target
        called = namespace[where]
        for part in path.split("."):
            called = getattr(called, part)
        return (getattr(called, "__doc__", None) or "").partition("\n")[0]


def alias(names: str, signature: str, call: str, example: str) -> Alias:
    """A row of a table; see :class:`Alias` for the fields.

    Args:
      names: the names, separated by spaces.
      signature: the parameters.
      call: the call that it stands for.
      example: arguments to call it with.
    """
    return Alias(tuple(names.split()), signature, call, example)
