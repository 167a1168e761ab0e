"""The parts of a checkpoint: Variables by name, and objects that return their state as data."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.core import Variable


@runtime_checkable
class Resumable(Protocol):
    """An object that returns its state as data and resumes from it, such as a dataset's iterator."""

    def state(self) -> Any:
        """Returns the state: a structure of JSON values, tuples, bytes and NumPy arrays."""
        ...

    def restore(self, state: Any) -> None:
        """Resumes from a state that :meth:`state` returned."""
        ...


def parts_of(name: str, value: Any) -> tuple[dict[str, Variable], dict[str, Resumable]]:
    """Returns the Variables and the resumable objects in a part of a checkpoint, by names that begin with its own."""
    # The value is a Variable, a layer, an optimizer, a generator, an object with ``variables`` or with ``state()`` and
    # ``restore()``, or a list, tuple or dict of these.
    variables: dict[str, Variable] = {}
    states: dict[str, Resumable] = {}
    _collect(name, value, variables, states)
    return variables, states


def _collect(name: str, value: Any, variables: dict[str, Variable], states: dict[str, Resumable]) -> None:
    if isinstance(value, Variable):
        variables[name] = value
    elif isinstance(getattr(value, "state", None), Variable):  # a generator of random numbers
        variables[name] = value.state
    elif not isinstance(value, type) and isinstance(value, Resumable):
        states[name] = value
    elif (inside := _inside(value)) is not None:
        for key, item in inside.items():
            _collect(f"{name}/{key}", item, variables, states)
    else:
        hint = f"; gx.Variable({value!r}, trainable=False) holds a number" if isinstance(value, int | float) else ""
        raise InvalidTypeError(
            f"Checkpoint: {name} has neither Variables nor state() and restore(), got {type(value).__name__} "
            f"{value!r:.60}{hint}"
        ).here()


def _inside(value: Any) -> Mapping[Any, Any] | None:
    """Returns the members of an object, by name; None if it can hold nothing to save."""
    if isinstance(value, Mapping):
        return cast("Mapping[Any, Any]", value)
    if callable(named := getattr(value, "named_variables", None)):
        return cast("Callable[[], Mapping[str, Variable]]", named)()
    members: object = getattr(value, "variables", value)
    return dict(enumerate(cast("list[Any]", members))) if isinstance(members, list | tuple) else None


def encoded(name: str, value: Any, arrays: dict[str, np.ndarray[Any, Any]]) -> Any:
    """Converts a state to JSON values; puts its arrays into ``arrays``, by names that begin with ``name``.

    Raises:
      InvalidTypeError: it contains something other than JSON values, tuples, bytes and NumPy arrays.
    """
    if isinstance(value, np.generic) and not isinstance(value, bytes | str):
        value = np.asarray(cast("Any", value))
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        if array.dtype.kind in "OSUT":
            return {"objects": encoded(name, array.ravel().tolist(), arrays), "shape": list(array.shape)}
        arrays[name] = array.copy()
        return {"array": name}
    if isinstance(value, list | tuple):
        sequence = cast("list[Any] | tuple[Any, ...]", value)
        items = [encoded(f"{name}/{key}", item, arrays) for key, item in enumerate(sequence)]
        return items if isinstance(sequence, list) else {"tuple": items}
    if isinstance(value, Mapping):
        pairs = cast("Mapping[Any, Any]", value).items()
        if all(isinstance(key, str) for key, _ in pairs):
            return {"dict": {key: encoded(f"{name}/{key}", item, arrays) for key, item in pairs}}
    raise InvalidTypeError(
        f"Checkpoint: {name} is {cast('Any', value)!r:.60}; the state of an object is made of numbers, "
        "strings, bytes, None, NumPy arrays, and lists, tuples and dicts by strings of these"
    ).here()


def decoded(value: Any, array: Callable[[str], np.ndarray[Any, Any]]) -> Any:
    """Restores a state from :func:`encoded`.

    Args:
      value: the encoded value.
      array: a function that returns an array by its name.
    """
    if isinstance(value, list):
        return [decoded(item, array) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    tagged = cast("dict[str, Any]", value)
    kind, content = next(iter(tagged.items()))
    if kind == "bytes":
        return base64.b64decode(content)
    if kind == "array":
        return np.array(array(content))
    if kind == "tuple":
        return tuple(decoded(content, array))
    if kind == "dict":
        return {key: decoded(item, array) for key, item in content.items()}
    restored: np.ndarray[Any, Any] = np.empty(len(content), object)
    restored[:] = decoded(content, array)
    return restored.reshape(tagged["shape"])
