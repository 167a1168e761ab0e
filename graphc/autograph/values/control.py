"""The control flow that values need: a choice asks a conditional, an int that overflows ends the program.

It is traced by the constructs, which stand above the values. They hand it down once, when graphc.autograph is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Control", "call", "hand_down", "if_exp", "note_raise", "or_", "require", "require_limit", "unless"]

Thunk = Callable[[], Any]


@dataclass(frozen=True)
class Control:
    """The constructs that values ask for; the functions of this module call them.

    Attributes:
      call: gives what to call in place of a function.
      if_exp: traces a conditional expression.
      note_raise: notes that code of the user's raises an exception.
      or_: traces ``a or b``.
      require: raises an error where a condition does not hold.
      require_limit: the same, for what compiled code alone cannot do.
      unless: runs statements where a condition does not hold.
    """

    call: Callable[[Any], Any]
    if_exp: Callable[[Any, Thunk, Thunk], Any]
    note_raise: Callable[[BaseException], None]
    or_: Callable[[Thunk, Thunk], Any]
    require: Callable[[Any, Callable[[], Exception]], None]
    require_limit: Callable[[Any, Callable[[], Exception]], None]
    unless: Callable[[Any, Callable[[], None]], None]


_control: list[Control] = []


def hand_down(control: Control) -> None:
    """Sets the constructs that values use."""
    _control[:] = [control]


def call(function: Any) -> Any:
    """Returns what to call in place of a function in converted code."""
    return _control[0].call(function)


def if_exp(condition: Any, true: Thunk, false: Thunk) -> Any:
    """Traces ``true() if condition else false()``."""
    return _control[0].if_exp(condition, true, false)


def note_raise(error: BaseException) -> None:
    """Notes that code of the user's raises an exception."""
    _control[0].note_raise(error)


def or_(first: Thunk, second: Thunk) -> Any:
    """Traces ``first() or second()``."""
    return _control[0].or_(first, second)


def require(condition: Any, error: Callable[[], Exception]) -> None:
    """Raises an error where a condition does not hold: at once, or when the program runs if it depends on tensors."""
    _control[0].require(condition, error)


def require_limit(condition: Any, error: Callable[[], Exception]) -> None:
    """As :func:`require`, for what compiled code alone cannot do: no handler of the function catches the error."""
    _control[0].require_limit(condition, error)


def unless(condition: Any, body: Callable[[], None]) -> None:
    """Runs statements where a condition does not hold."""
    _control[0].unless(condition, body)
