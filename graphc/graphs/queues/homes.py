"""Lookup of the state of a queue or accumulator: in the process, or in the resources of a Session."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError, NotFoundError
from graphc.compiler.core import current_resources
from graphc.compiler.ir import Attrs

__all__ = ["PROCESS", "SESSION", "Alike", "Make", "claim", "found", "handle_of"]

PROCESS = "process"
"""The home of objects made in eager code: every run finds the same state there."""

SESSION = "session"
"""The home of objects in a graph: each Session has its own state."""

_claimed: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
_numbers = itertools.count()


class Alike(Protocol):
    """A state that exists once under a name."""

    @property
    def label(self) -> str:
        """Its kind and name, for messages."""
        ...

    def difference(self, attrs: Mapping[str, Any]) -> str:
        """Describes the first difference from an op's attributes; empty if there is none."""
        ...


T = TypeVar("T", bound=Alike)
Make = Callable[[str, Mapping[str, Any]], T]
"""A function that makes a state from its name for messages and its attributes."""


def handle_of(attrs: Mapping[str, Any]) -> str:
    """Returns the name that identifies a queue to its runners."""
    return f"{attrs['home']}/{attrs['container']}/{attrs['name']}"


def claim(make: Make[T], kind: type[T], spec: Mapping[str, Any], name: str, shared_name: str | None) -> tuple[T, Attrs]:
    """Makes a state in eager code, which lives as long as it is referenced, or finds the one with the shared name.

    Returns:
      The state, and the attributes by which ops find it.

    Raises:
      InvalidArgumentError: a different object has that shared name.
    """

    def made() -> tuple[T, Attrs]:
        attrs = Attrs({**spec, "container": "", "name": f"{name}_{next(_numbers)}", "home": PROCESS})
        state = make(shared_name or name, attrs)
        _claimed[attrs["name"]] = state
        return state, attrs

    if not shared_name:
        return made()
    shared = current_resources().get_or_make("", f"{kind.__name__} {shared_name}", made, tuple)
    try:
        _check(shared[0], spec)
    except InvalidArgumentError as error:
        raise at(error, user_location()) from None
    return shared


def found(make: Make[T], kind: type[T], attrs: Mapping[str, Any]) -> T:
    """Returns the state for an op's attributes; makes it at the first use.

    Raises:
      NotFoundError: the state was made in eager code, and no longer exists.
      InvalidArgumentError: a different object has that name.
    """
    name = attrs["name"]
    if attrs["home"] == PROCESS:
        state = _claimed.get(name)
        if state is None:
            problem = (
                "was made in eager code and no longer exists; keep a reference to the object while a graph uses it"
            )
            raise NotFoundError(f"{attrs['kind']} {name!r} {problem}")
        return state
    state = current_resources().get_or_make(attrs["container"], name, lambda: make(name, attrs), kind)
    _check(state, attrs)
    return state


def _check(state: Alike, attrs: Mapping[str, Any]) -> None:
    difference = state.difference(attrs)
    if difference:
        raise InvalidArgumentError(f"{state.label}: another object with that shared name has {difference}")
