"""TensorFlow's names of errors and of their codes, ``tf.errors``."""

from typing import Any

from graphc.compiler.base import errors

__all__ = ["CODES", "ERRORS"]

_STATUSES: dict[str, type[errors.GraphcError]] = {
    "ABORTED": errors.AbortedError,
    "ALREADY_EXISTS": errors.AlreadyExistsError,
    "CANCELLED": errors.CancelledError,
    "DATA_LOSS": errors.DataLossError,
    "DEADLINE_EXCEEDED": errors.DeadlineExceededError,
    "FAILED_PRECONDITION": errors.FailedPreconditionError,
    "INTERNAL": errors.InternalError,
    "INVALID_ARGUMENT": errors.InvalidArgumentError,
    "NOT_FOUND": errors.NotFoundError,
    "OUT_OF_RANGE": errors.OutOfRangeError,
    "PERMISSION_DENIED": errors.PermissionDeniedError,
    "RESOURCE_EXHAUSTED": errors.ResourceExhaustedError,
    "UNAUTHENTICATED": errors.UnauthenticatedError,
    "UNAVAILABLE": errors.UnavailableError,
    "UNIMPLEMENTED": errors.UnimplementedError,
    "UNKNOWN": errors.UnknownError,
}

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
