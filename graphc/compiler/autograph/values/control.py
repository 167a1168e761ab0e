"""The control flow that values need: a choice asks a conditional, an int that overflows ends the program.

It is traced by the constructs, which stand above the values. They are set once, when graphc.compiler.autograph is
imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["control"]

Thunk = Callable[[], Any]


class Control:
    """The constructs that values ask for.

    Attributes:
      call: gives what to call in place of a function in converted code.
      note_raise: notes that code of the user's raises an exception.
      or_: traces ``first() or second()``.
      require: raises an error where a condition does not hold: at once, or when the program runs if it depends on
        tensors.
      require_limit: the same, for what compiled code alone cannot do: no handler of the function catches the error.
      unless: runs statements where a condition does not hold.
    """

    call: Callable[[Any], Any]
    if_exp: Callable[[Any, Thunk, Thunk], Any]
    note_raise: Callable[[BaseException], None]
    or_: Callable[[Thunk, Thunk], Any]
    require: Callable[[Any, Callable[[], Exception]], None]
    require_limit: Callable[[Any, Callable[[], Exception]], None]
    unless: Callable[[Any, Callable[[], None]], None]


control = Control()
