"""Name scopes: prefixes of the names of Variables, and of nodes of graphs that are built by hand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core.context import context

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
            raise InvalidArgumentError(f"name_scope: the name must be a string, got {name!r:.60}").here()
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


# Resources: named state that outlives the run that made it, such as queues and readers.

T = TypeVar("T")


class Resources:
    """Named state in containers, like TensorFlow's resource manager; safe to share between threads."""

    # Two resources of different kinds may have the same name.

    def __init__(self, graph: object | None = None) -> None:
        self.graph = graph  # whose runs use the resources; None for resources of several graphs, or of none
        self._lock = threading.Lock()
        self._containers: dict[str, dict[tuple[type[Any], str], Any]] = {}
        self.resets = 0  # resources from before the last one may be gone

    def get_or_make(self, container: str, name: str, make: Callable[[], T], kind: type[T]) -> T:
        """Returns a resource; ``make`` runs under the lock of all resources, so it must not request another one."""
        with self._lock:
            resources = self._containers.setdefault(container, {})
            resource = resources.get((kind, name))
            if resource is None:
                resource = resources[kind, name] = make()
            return cast("T", resource)

    def find(self, container: str, name: str, kind: type[T]) -> T | None:
        """Returns the resource of a name; None if it does not exist."""
        with self._lock:
            return self._containers.get(container, {}).get((kind, name))

    def put(self, container: str, name: str, resource: T, kind: type[T]) -> None:
        """Stores a resource under a name, replacing the existing one."""
        with self._lock:
            self._containers.setdefault(container, {})[kind, name] = resource

    def drop(self, container: str, name: str, kind: type[Any]) -> None:
        """Removes the resource of a name, if it exists."""
        with self._lock:
            self._containers.get(container, {}).pop((kind, name), None)

    def all(self, kind: type[T]) -> list[T]:
        """Returns the resources of that kind, container by container."""
        with self._lock:
            return [
                resource
                for resources in self._containers.values()
                for (of, _), resource in resources.items()
                if of is kind
            ]

    def reset(self, containers: Iterable[str]) -> list[Any]:
        """Removes and returns all resources in these containers."""
        with self._lock:
            self.resets += 1
            gone = [self._containers.pop(container, {}) for container in containers]
        return [resource for resources in gone for resource in resources.values()]

    def clear(self) -> list[Any]:
        """Removes and returns all resources."""
        return self.reset([*self._containers])


_PROCESS = Resources()
_current: ContextVar[Resources] = ContextVar("graphc.resources", default=_PROCESS)


def current_resources() -> Resources:
    """Returns the resources of the running Session, or those of the process."""
    return _current.get()


class resources_scope:  # noqa: N801  a class, since a generator takes three times as long
    """Makes these resources the current ones inside the scope."""

    __slots__ = ("_resources", "_token")

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def __enter__(self) -> None:
        self._token = _current.set(self._resources)

    def __exit__(self, *exception: object) -> None:
        _current.reset(self._token)
