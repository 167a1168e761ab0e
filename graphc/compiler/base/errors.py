"""The errors that graphc raises.

Every error is a :class:`GraphcError` and also the built-in exception a user would catch. The status names are
the ones TensorFlow and gRPC use, and so are the numbers in ``error_code``. A message says what was given, what was
expected, where in the user's code, and what to write instead; :meth:`GraphcError.here` adds the place.
"""

from __future__ import annotations

import concurrent.futures
from typing import Any, ClassVar, Self

from graphc.compiler.base.frames import Location, user_location

__all__ = [
    "AbortedError", "AlreadyExistsError", "CancelledError", "ConcretizationError", "DataLossError",
    "DeadlineExceededError", "FailedPreconditionError", "FileMissingError", "FileStateError", "GradientWarning",
    "GraphcError", "GraphcWarning", "InternalError", "InvalidArgumentError", "InvalidTypeError", "LeakedTensorError",
    "NotFoundError", "NumberOverflowError", "NumericsError", "OutOfRangeError", "ParseError", "PermissionDeniedError",
    "ResourceExhaustedError", "RetraceWarning", "SideEffectWarning", "UnauthenticatedError", "UnavailableError",
    "UndefinedNameError", "UnimplementedError", "UnknownError", "UnsupportedSyntaxError", "VariableCreationError",
    "VerificationError", "code_of", "error_of_code",
]  # fmt: skip


class GraphcError(Exception):
    """Base class of every error that graphc raises.

    Args:
      *args: the message. TensorFlow's form ``(node_def, op, message)``, optionally with a code, is accepted too.

    Attributes:
      error_code: the status number in gRPC and TensorFlow.
      node_def: the node that failed, with its ``name``; None if no node failed.
      op: the failed operation of a graph built by hand, or None.

    Example:
      >>> from graphc.compiler.base.errors import OutOfRangeError
      >>> error = OutOfRangeError(None, None, "the queue is closed")
      >>> error.message, error.error_code
      ('the queue is closed', 11)
    """

    error_code: ClassVar[int] = 2
    node_def: Any = None
    op: Any = None

    def __init__(self, *args: Any) -> None:
        if len(args) >= 3:
            if args[0] is not None:
                self.node_def = args[0]
            if args[1] is not None:
                self.op = args[1]
            args = (args[2],)
        super().__init__(*args)

    @property
    def message(self) -> str:
        """The message: the problem, its place, and the remedy."""
        return str(self.args[0]) if self.args else ""

    def at(self, location: Location | None) -> Self:
        """Appends the user's place to the message, unless it already ends with it, and returns the error itself."""
        if location is not None and self.args and not str(self.args[0]).endswith(suffix := f"\n  at {location}"):
            self.args = (f"{self.args[0]}{suffix}", *self.args[1:])
        return self

    def here(self) -> Self:
        """Appends the user's line that is running to the message, and returns the error itself."""
        return self.at(user_location())


class InvalidArgumentError(GraphcError, ValueError):
    """An argument has a value, shape or structure that the operation does not accept."""

    error_code = 3


class InvalidTypeError(InvalidArgumentError, TypeError):
    """An argument has a type or dtype that the operation does not accept."""


class OutOfRangeError(InvalidArgumentError, IndexError):
    """An index is out of range for its axis."""

    error_code = 11


class NumberOverflowError(GraphcError, OverflowError):
    """A Python int that depends on tensors exceeds the 32 bits that compiled code uses for it."""


class NumericsError(InvalidArgumentError, FloatingPointError):
    """An op computed a NaN or an infinity from inputs without any."""


class NotFoundError(GraphcError, LookupError):
    """A named thing (device, op, variable) does not exist."""

    error_code = 5


class FailedPreconditionError(GraphcError, RuntimeError):
    """The system is not in the state that the call requires."""

    error_code = 9


class FileMissingError(NotFoundError, FileNotFoundError):
    """A file or folder does not exist."""


class FileStateError(FailedPreconditionError, OSError):
    """A folder exists where a file is expected, or the other way round, or a folder is not empty."""


class DeadlineExceededError(GraphcError, TimeoutError):
    """A wait did not end before the deadline; the message names its subject."""

    error_code = 4


class CancelledError(GraphcError, concurrent.futures.CancelledError):
    """The work, or the wait for it, was cancelled."""

    error_code = 1


class UnimplementedError(GraphcError, NotImplementedError):
    """graphc does not compile this operation (yet) and refuses it."""

    error_code = 12


class UnsupportedSyntaxError(UnimplementedError):
    """A Python construct cannot be compiled with Python's meaning; the message names the line and a remedy."""


class InternalError(GraphcError, RuntimeError):
    """graphc broke its own rules; please report it."""

    error_code = 13


class AlreadyExistsError(GraphcError, FileExistsError):
    """The object to create (a file, a folder, a named resource) exists already."""

    error_code = 6


class PermissionDeniedError(GraphcError, PermissionError):
    """The program lacks the permission."""

    error_code = 7


class ResourceExhaustedError(GraphcError, MemoryError):
    """Memory, disk space or another bounded resource is exhausted."""

    error_code = 8


class AbortedError(GraphcError, RuntimeError):
    """The operation was aborted by a conflicting one; retrying may succeed."""

    error_code = 10


class UnavailableError(GraphcError, ConnectionError):
    """A service is unreachable; retrying may succeed."""

    error_code = 14


class DataLossError(GraphcError, OSError):
    """Data is corrupt or truncated, for example a record with a wrong checksum."""

    error_code = 15


class UnauthenticatedError(GraphcError, PermissionError):
    """The caller is not authenticated."""

    error_code = 16


class UnknownError(GraphcError, RuntimeError):
    """The cause of the failure is unknown."""


class ConcretizationError(GraphcError, TypeError):
    """A symbolic tensor was used where Python needs a concrete value, such as in ``bool(t)``."""


class LeakedTensorError(GraphcError, RuntimeError):
    """A symbolic tensor was used outside the function, branch or loop that made it."""


class UndefinedNameError(GraphcError, NameError):
    """A variable that was bound on only one path is read."""


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


class GradientWarning(GraphcWarning):
    """A gradient does not flow where it may be expected to."""


_STATUSES: tuple[type[GraphcError], ...] = (
    CancelledError, UnknownError, InvalidArgumentError, DeadlineExceededError, NotFoundError, AlreadyExistsError,
    PermissionDeniedError, ResourceExhaustedError, FailedPreconditionError, AbortedError, OutOfRangeError,
    UnimplementedError, InternalError, UnavailableError, DataLossError, UnauthenticatedError,
)  # fmt: skip


def error_of_code(code: int) -> type[GraphcError]:
    """Returns the error class of a status number.

    Args:
      code: the status number from 1 to 16; 0 is success.

    Raises:
      KeyError: no error has the code.

    Example:
      >>> error_of_code(11)
      <class 'graphc.errors.OutOfRangeError'>
    """
    if 1 <= code <= len(_STATUSES):
        return _STATUSES[code - 1]
    raise KeyError(f"no error has the code {code!r}; error codes are 1 to {len(_STATUSES)}")


def code_of(error: type[GraphcError]) -> int:
    """Returns the status number of an error class, or of its nearest base class that has one.

    Args:
      error: the class.
    """
    return error.error_code


for _name in __all__:  # tracebacks and pickles have the public name
    globals()[_name].__module__ = "graphc.errors"
