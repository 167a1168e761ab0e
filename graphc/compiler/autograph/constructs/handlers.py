"""Runs the handlers of a ``try`` statement for the exceptions of which one was raised.

For each there is a branch: the first one's is taken if it was the first, the other branch is that of the second, and so
on; the last needs no condition, since one of them was raised. What a handler does, raise included, stays in its branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from graphc.compiler.autograph.constructs.exceptions.caught import Caught
from graphc.compiler.autograph.constructs.exceptions.try_scope import TryScope
from graphc.compiler.autograph.constructs.loops.for_loops import Loopable
from graphc.compiler.autograph.constructs.loops.rolling import Test
from graphc.compiler.autograph.constructs.loops.state import LoopVariables

__all__ = ["caught", "happened", "otherwise", "restored", "throw", "throw_again"]


class Alternatives(Loopable):
    """Runs the generated ``for`` loop over the exceptions.

    Args:
      found: the exceptions that a ``try`` statement catches, of which one was raised.
    """

    def __init__(self, found: Sequence[Caught]) -> None:
        self._found = found

    def loop(
        self,
        extra_test: Test | None,
        body: Callable[[Any], None],
        variables: LoopVariables,
        statement: Any,
        *,
        probing: bool,
    ) -> None:
        """Runs the body for the first one; its branch for what else may have happened runs it for the others."""
        del extra_test, variables, statement, probing  # a handler that jumps ends nothing: it is the only one that runs
        body(Alternative(self._found, body))


@dataclass(frozen=True)
class Alternative:
    """An exception, and those of which one was raised if it was not this one.

    Attributes:
      found: all of them.
      body: what is done about each.
    """

    found: Sequence[Caught]
    body: Callable[[Alternative], None]


def caught(scope: TryScope) -> Alternatives:
    """Returns the exceptions of which one was raised."""
    return Alternatives(scope.sites)


def happened(one: Alternative) -> Any:
    """Returns whether it was this one."""
    return len(one.found) == 1 or one.found[0].condition


def otherwise(one: Alternative) -> None:
    """Tries the next exception, if it was not this one."""
    one.body(Alternative(one.found[1:], one.body))


def restored(one: Alternative) -> Sequence[Any]:
    """Returns what the names held that the body and the handlers bind; what else was changed is put back."""
    return one.found[0].handle()


def throw(one: Alternative) -> NoReturn:
    """Raises the exception."""
    raise one.found[0].error  # restored() has opened it, in the same branch


def throw_again(one: Alternative) -> NoReturn:
    """Raises the exception after a ``finally`` block."""
    raise one.found[0].take()  # the block has run in between: it is opened again here
