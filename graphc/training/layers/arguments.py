"""Argument checks of layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.ops import nn

__all__ = ["ActivationLike", "activation_of", "padding_of", "size", "sizes"]

ActivationLike = Callable[[Any], Any]


def size(what: str, value: Any, least: int = 1) -> int:
    """Returns a size as an int, such as one of NumPy's."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
        error = InvalidArgumentError(f"{what} must be an int of at least {least}, got {value!r:.60}")
        raise at(error, user_location())
    return value.__index__()


def sizes(what: str, value: Any, count: int) -> tuple[int, ...]:
    """Returns one size for each axis of space, from one for all or one for each."""
    if not isinstance(value, Sequence):
        return (size(what, value),) * count
    given = cast("Sequence[Any]", value)
    if len(given) != count:
        error = InvalidArgumentError(f"{what} must be an int, or one for each of {count} axes, got {value!r:.60}")
        raise at(error, user_location())
    return tuple(size(what, one) for one in given)


def padding_of(layer: str, value: Any) -> str:
    """Returns a padding by Keras's name, as ``gx.nn`` has it."""
    if not isinstance(value, str) or value.lower() not in ("valid", "same"):
        error = InvalidArgumentError(f"{layer}: padding must be 'valid' or 'same', got {value!r:.60}")
        raise at(error, user_location())
    return value.upper()


def activation_of(layer: str, given: Any) -> ActivationLike | None:
    """Returns an activation by name, or the function itself; None for none."""
    if given is None or callable(given):
        return given
    if isinstance(given, str):
        if given in nn.__all__:
            return getattr(nn, given)
        error = InvalidArgumentError(
            f"{layer}: there is no activation {given!r}; any function of one tensor will do, and these names: "
            f"{', '.join(nn.__all__)}"
        )
    else:
        error = InvalidTypeError(f"{layer}: activation must be a function, a name or None, got {given!r:.60}")
    raise at(error, user_location())
