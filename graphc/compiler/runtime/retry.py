"""RetryPolicy: rules for retrying failed work."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

from graphc.compiler.base import at, checked_seconds, nest, user_location
from graphc.compiler.base.errors import InvalidArgumentError

__all__ = ["RetryPolicy"]


@dataclass(frozen=True)
class RetryPolicy:
    """The number of attempts, and the failures after which to retry.

    Variables keep their state after a failed attempt: a compiled function that fails leaves them unchanged, but Python
    code may have assigned some.

    Args:
      max_attempts: the maximum number of attempts, including the first.
      on: the exceptions after which to retry. A passed deadline or a cancellation always ends the work.
      backoff: the seconds to wait before the second attempt; None for no wait.
      factor: the factor by which each wait exceeds the one before.

    Example:
      >>> RetryPolicy(3, on=(OSError,), backoff=0.5).delay(2)
      1.0
    """

    max_attempts: int
    on: tuple[type[Exception], ...] = (Exception,)
    backoff: float | None = None
    factor: float = 2.0

    def __post_init__(self) -> None:
        if type(self.max_attempts) is not int or self.max_attempts < 1:
            raise _error(f"max_attempts must be a positive int, got {self.max_attempts!r}")
        given: Any = self.on
        kinds: tuple[Any, ...] = nest.as_tuple(given)
        if not kinds or not all(isinstance(kind, type) and issubclass(kind, Exception) for kind in kinds):
            raise _error(f"on must be exception classes, got {given!r}")
        object.__setattr__(self, "on", kinds)
        checked_seconds(self.backoff, "gx.RetryPolicy: backoff")
        if isinstance(self.factor, bool) or not isinstance(self.factor, Real) or not self.factor >= 1:
            raise _error(f"factor must be a number of at least 1, got {self.factor!r}")

    def delay(self, attempt: int) -> float:
        """Returns the seconds to wait after an attempt, counted from 1."""
        return (self.backoff or 0.0) * self.factor ** (attempt - 1)


def _error(message: str) -> InvalidArgumentError:
    return at(InvalidArgumentError(f"gx.RetryPolicy: {message}"), user_location())
