"""The errors graphc raises.

Every error is a :class:`GraphcError` and also the built-in exception a user would catch. The status names are
the ones TensorFlow and gRPC use. A message says what was given, what was expected, where in the user's code, and
what to write instead; :func:`at` adds the place.
"""

from __future__ import annotations

import concurrent.futures
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from graphc.base.frames import Location

__all__ = [
    "CancelledError",
    "ConcretizationError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "GraphcError",
    "GraphcWarning",
    "InternalError",
    "InvalidArgumentError",
    "InvalidTypeError",
    "LeakedTensorError",
    "NotFoundError",
    "NumberOverflowError",
    "NumericsError",
    "OutOfRangeError",
    "ParseError",
    "RetraceWarning",
    "SideEffectWarning",
    "UndefinedNameError",
    "UnimplementedError",
    "UnsupportedSyntaxError",
    "VariableCreationError",
    "VerificationError",
    "at",
]


class GraphcError(Exception):
    """Base class of every error that graphc raises."""


class InvalidArgumentError(GraphcError, ValueError):
    """An argument has a value, shape or structure that the operation does not take."""


class InvalidTypeError(InvalidArgumentError, TypeError):
    """An argument has a type or dtype that the operation does not take."""


class OutOfRangeError(InvalidArgumentError, IndexError):
    """An index lies outside the axis it indexes."""


class NumberOverflowError(GraphcError, OverflowError):
    """A Python int that depends on tensors passes the 32 bits in which compiled code holds it."""


class NumericsError(InvalidArgumentError, FloatingPointError):
    """A NaN or an infinity was computed where there should be none."""


class NotFoundError(GraphcError, LookupError):
    """A named thing (device, op, variable) does not exist."""


class FailedPreconditionError(GraphcError, RuntimeError):
    """The system is not in the state that the call needs."""


class DeadlineExceededError(GraphcError, TimeoutError):
    """What was waited for was not done by the deadline; the message names it."""


class CancelledError(GraphcError, concurrent.futures.CancelledError):
    """What was waited for will not be done, since somebody has cancelled it, or waiting for it."""


class UnimplementedError(GraphcError, NotImplementedError):
    """The operation has a meaning that graphc does not compile (yet), so it refuses."""


class UnsupportedSyntaxError(UnimplementedError):
    """A Python construct cannot be compiled with Python's meaning; the message names line and remedy."""


class InternalError(GraphcError, RuntimeError):
    """graphc broke its own rules: please report it."""


class ConcretizationError(GraphcError, TypeError):
    """A symbolic tensor was used where Python needs a concrete value, such as ``bool(t)``."""


class LeakedTensorError(GraphcError, RuntimeError):
    """A symbolic tensor was used outside the function, branch or loop that made it."""


class UndefinedNameError(GraphcError, NameError):
    """A variable is read that was bound on one path only."""


class VariableCreationError(GraphcError, ValueError):
    """A compiled function makes a new Variable on every call."""


class VerificationError(GraphcError, ValueError):
    """A graph breaks a rule of the intermediate representation."""


class ParseError(GraphcError, ValueError):
    """A graph's text does not follow the grammar."""


class GraphcWarning(UserWarning):
    """Base class of graphc's warnings."""


class RetraceWarning(GraphcWarning):
    """A compiled function is traced again and again; the message gives the reason."""


class SideEffectWarning(GraphcWarning):
    """A Python side effect happens when the function is traced, not when it runs."""


E = TypeVar("E", bound=GraphcError)


def at(error: E, location: Location | None) -> E:
    """Returns ``error`` with the user's place appended to its message, unless it ends with that already.

    Args:
      error: the error to extend; its first argument is the message.
      location: where in the user's code, or None when that is unknown.

    Returns:
      The same error object.
    """
    if location is not None and error.args and not str(error.args[0]).endswith(place := f"\n  at {location}"):
        error.args = (f"{error.args[0]}{place}", *error.args[1:])
    return error
