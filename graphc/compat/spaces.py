"""The namespaces that tables of names make, and what is said of names that are in none."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any

from graphc.compiler.base import errors

__all__ = ["CODES", "ERRORS", "Library", "Namespace", "imported"]


def imported(module: str, name: str) -> Any:
    """Returns a name of a module that is imported when it is first used."""
    return getattr(import_module(module), name)


@dataclass(frozen=True)
class Library:
    """The names of another library.

    Attributes:
      later: names of objects that are imported when they are first used, with what imports them.
    """

    name: str
    module: str
    names: Mapping[str, Any]
    elsewhere: Mapping[str, str]
    later: Mapping[str, Callable[[], Any]] = field(default_factory=dict[str, "Callable[[], Any]"])

    def top_level(self) -> dict[str, Any]:
        """Returns the names of the library itself: functions, objects and namespaces."""
        spaces: dict[str, Namespace] = {}
        top: dict[str, Any] = {}

        def space(path: str) -> Namespace:
            if path not in spaces:
                spaces[path] = Namespace(self, path)
                parent, _, name = path.rpartition(".")
                put(parent, name, spaces[path])
            return spaces[path]

        def put(path: str, name: str, value: Any) -> None:
            if path:
                setattr(space(path), name, value)
            else:
                top[name] = value

        for full, value in self.names.items():
            path, _, name = full.rpartition(".")
            put(path, name, value)
        for full in self.later:
            if "." in full:
                space(full.rpartition(".")[0])
        for path, namespace in spaces.items():
            namespace.__all__ = self._inside(path)  # pyright: ignore[reportAttributeAccessIssue]
        return top

    def _inside(self, path: str) -> list[str]:
        below = [full[len(path) + 1 :] for full in (*self.names, *self.later) if full.startswith(f"{path}.")]
        return sorted({rest.partition(".")[0] for rest in below})

    def found_later(self, path: str) -> Any:
        """Returns what a name stands for that is imported now."""
        make = self.later.get(path)
        if make is None:
            raise self.missing(path)
        return make()

    def missing(self, path: str) -> AttributeError:
        """Returns the error for a name that is not there."""
        parts = path.split(".")
        for end in range(len(parts), 0, -1):
            prefix = ".".join(parts[:end])
            if prefix in self.elsewhere:
                return AttributeError(f"graphc has no {self.name}.{path}: {self.elsewhere[prefix]}")
        near = [f"{self.name}.{name}" for name in _near(path, (*self.names, *self.later))]
        meant = f"; did you mean {' or '.join(near)}?" if near else ""
        return AttributeError(f"graphc has no {self.name}.{path}{meant}")


class Namespace(ModuleType):
    """A namespace such as ``tf.math``; a name that it has not raises an error that says what to use."""

    def __init__(self, library: Library, path: str) -> None:
        says = f"TensorFlow's namespace ``{library.name}.{path}``, as far as graphc has it."
        super().__init__(f"{library.module}.{path}", says)
        self._library = library
        self._path = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # tools probe for private names, which no namespace of TensorFlow's has
            raise AttributeError(name)
        value = self._library.found_later(f"{self._path}.{name}")
        setattr(self, name, value)
        return value


def _near(path: str, names: Iterable[str]) -> list[str]:
    """Returns the names that are most alike: the same name elsewhere first."""
    names = list(names)
    last = path.rpartition(".")[2]
    same = [name for name in names if name.rpartition(".")[2] == last]
    return same[:3] or difflib.get_close_matches(path, names, n=3)


# TensorFlow's names of errors and of their codes, ``tf.errors``.

_STATUSES: dict[str, type[errors.GraphcError]] = {
    "ABORTED": errors.AbortedError, "ALREADY_EXISTS": errors.AlreadyExistsError, "CANCELLED": errors.CancelledError,
    "DATA_LOSS": errors.DataLossError, "DEADLINE_EXCEEDED": errors.DeadlineExceededError,
    "FAILED_PRECONDITION": errors.FailedPreconditionError, "INTERNAL": errors.InternalError,
    "INVALID_ARGUMENT": errors.InvalidArgumentError, "NOT_FOUND": errors.NotFoundError,
    "OUT_OF_RANGE": errors.OutOfRangeError, "PERMISSION_DENIED": errors.PermissionDeniedError,
    "RESOURCE_EXHAUSTED": errors.ResourceExhaustedError, "UNAUTHENTICATED": errors.UnauthenticatedError,
    "UNAVAILABLE": errors.UnavailableError, "UNIMPLEMENTED": errors.UnimplementedError, "UNKNOWN": errors.UnknownError,
}  # fmt: skip

ERRORS: dict[str, Any] = {
    "errors.OpError": errors.GraphcError,
    **{f"errors.{error.__name__}": error for error in _STATUSES.values()},
}
"""The classes by name: graphc raises them for the same reasons."""

CODES: dict[str, int] = {
    "errors.OK": 0,
    **{f"errors.{name}": errors.code_of(error) for name, error in _STATUSES.items()},
}
"""The numbers of the statuses by name."""
