"""``assert`` and ``raise``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, cast

from graphc.compiler.autograph.constructs.branches.branch import (
    choose,
    condition_of,
    if_stmt,
    is_symbolic_condition,
    truth,
)
from graphc.compiler.autograph.constructs.branches.logic import not_
from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.exceptions.failure import as_limit, note_raise
from graphc.compiler.autograph.values.choice import over_choices, use
from graphc.compiler.tracing import context

__all__ = ["assert_stmt", "raise_stmt", "require", "require_limit", "unless"]


def assert_stmt(condition: Any, message: Callable[[], Any] | None) -> None:
    """``assert condition, message``; on a tensor it fails, or not, when the program runs."""

    def fail() -> NoReturn:
        raise_stmt(lambda: AssertionError(*(() if message is None else (message(),))), None)

    condition = condition_of(condition)
    if is_symbolic_condition(condition):
        choose(condition, lambda: None, fail)  # Python makes the message only if the assertion fails
    elif not truth(condition):
        fail()


def raise_stmt(error: Callable[[], Any], cause: Callable[[], Any] | None) -> NoReturn:
    """``raise error from cause``."""
    _raise(error(), cause)


@over_choices(use)
def _raise(raised: Any, cause: Callable[[], Any] | None) -> NoReturn:
    if context.trace is not None:
        # `raise E` makes an E(), by an __init__ of the user's perhaps.
        if isinstance(raised, type) and issubclass(raised, BaseException):
            raised = call(cast("Any", raised))()
        if isinstance(raised, BaseException):
            note_raise(raised)
    raised = cast("BaseException", raised)  # as Python will say if it is none
    if cause is None:  # `from None` would hide the context
        raise raised
    raise raised from cause()


def require(condition: Any, error: Callable[[], Exception]) -> None:
    """Raises an error where a condition does not hold: at once, or when the program runs if it depends on tensors."""
    unless(condition, lambda: raise_stmt(error, None))


def unless(condition: Any, body: Callable[[], None]) -> None:
    """Runs statements that bind no names where a condition does not hold."""
    if_stmt(not_(condition), body, lambda: None, tuple, lambda _: None, ())


def require_limit(condition: Any, error: Callable[[], Exception]) -> None:
    """As :func:`require`, for what compiled code alone cannot do: no handler of the function catches the error."""
    require(condition, lambda: as_limit(error()))
