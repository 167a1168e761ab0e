"""Problems: errors as HTTP answers, with matching status codes."""

from __future__ import annotations

from typing import Any

from graphc.compiler.base.errors import (
    CancelledError,
    DeadlineExceededError,
    GraphcError,
    InvalidArgumentError,
    NumberOverflowError,
    ResourceExhaustedError,
    UnavailableError,
    UnimplementedError,
)

_LONGEST = 1000
"""The maximum length of a message, which may repeat names of the request."""

_STATUSES: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], int], ...] = (
    (DeadlineExceededError, 504),
    ((ResourceExhaustedError, UnavailableError, CancelledError), 503),
    (UnimplementedError, 501),
    ((InvalidArgumentError, NumberOverflowError), 400),
    (GraphcError, 500),
    # Exceptions that the function raises for the values of a query (`raise` and `assert` on tensors).
    ((ValueError, TypeError, ArithmeticError, LookupError, AssertionError), 422),
)


class ProblemError(Exception):
    """A request that is answered with an error; it is no HTTPException, since bodies are read without Starlette too."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "RequestError",
        headers: dict[str, str] | None = None,
        close: bool = False,
    ) -> None:
        super().__init__(message[:_LONGEST])
        self.status, self.kind, self.close = status, kind, close
        self.headers = {**(headers or {}), **({"retry-after": "1"} if status == 503 else {})}
        if close:
            self.headers["connection"] = "close"

    def to_dict(self) -> dict[str, Any]:
        """Returns the body of the answer."""
        return {"error": {"status": self.status, "type": self.kind, "message": str(self)}}


def problem_of(error: BaseException) -> ProblemError:
    """Returns the answer for an error of ``Replicas`` or of the function.

    The first line of the message goes to the client. The other lines name files of the server and go to the log.
    """
    status = next((status for kinds, status in _STATUSES if isinstance(error, kinds)), 500)
    text = error.message if isinstance(error, GraphcError) else str(error)
    if status == 500 and not isinstance(error, GraphcError):
        text = "the function failed; the log of the server says why"
    return ProblemError(status, text.partition("\n")[0], kind=type(error).__name__)
