"""Name scopes: prefixes of the names of Variables, and of nodes of graphs that are built by hand."""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core.context import context

__all__ = ["name_scope", "scoped_name"]

_prefix: ContextVar[str] = ContextVar("graphc_name_scope", default="")


def scoped_name(name: str) -> str:
    """Returns a name prefixed by the open scopes."""
    return f"{_prefix.get()}{name}"


class name_scope:  # noqa: N801  it is written like a function: with gx.name_scope("layer"):
    """A prefix for the names of Variables, and of nodes of graphs that are built by hand.

    Scopes nest; ``as`` binds the whole path, which ends with a slash. In compiled functions, nodes are named by their
    ops and the user's lines, whatever the scope.

    Args:
      name: the scope's name. A name that ends with a slash is a whole path; the empty name is the outermost scope.

    Attributes:
      name: the scope's name.

    Raises:
      InvalidArgumentError: ``name`` is not a string.

    Example:
      >>> import graphc as gx
      >>> with gx.name_scope("encoder"), gx.name_scope("dense") as scope:
      ...     w = gx.Variable(1.0, name="w")
      >>> scope, w.name
      ('encoder/dense/', 'encoder/dense/w')
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            error = InvalidArgumentError(f"name_scope: the name must be a string, got {name!r:.60}")
            raise at(error, user_location())
        self.name = name
        self._open: list[tuple[AbstractContextManager[str] | None, Any]] = []

    def __enter__(self) -> str:
        naming = getattr(getattr(context.trace, "builder", None), "naming", None)
        graph: AbstractContextManager[str] | None = None if naming is None else naming(self.name)
        if graph is not None:
            path = graph.__enter__()
        elif not self.name or self.name.endswith("/"):
            path = self.name
        else:
            path = f"{_prefix.get()}{self.name}/"
        self._open.append((graph, _prefix.set(path)))
        return path

    def __exit__(self, *error: Any) -> None:
        graph, token = self._open.pop()
        _prefix.reset(token)
        if graph is not None:
            graph.__exit__(*error)
