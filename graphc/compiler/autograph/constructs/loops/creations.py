"""Iterations that run by themselves before a loop is rolled: they create Variables, or fill a window of a list."""

from __future__ import annotations

from typing import Any, cast

from graphc.compiler.autograph.constructs.loops.state import LoopVariables
from graphc.compiler.autograph.values.growing_list import room
from graphc.compiler.tracing import CREATES, Trace

__all__ = ["BUILD_BEFORE", "Creations", "ListLengths", "creates"]

BUILD_BEFORE = (
    "Create them before the call, by optimizer.build(model.trainable_variables) and by calling each layer once, so "
    "that the loop becomes one node"
)
"""The remedy where iterations after the first ones create Variables."""


class Creations:
    """The Variables that the iterations of a loop create which run by themselves in a function's first call.

    Attributes:
      iterations: the number of iterations that ran by themselves.
      attempts: how often it was tried to roll the rest.
      news: True if the last iteration created a Variable.
    """

    def __init__(self, trace: Trace) -> None:
        self._lifting = trace.root.lifting
        self._start = self._told = self._number()
        self.iterations = self.attempts = 0
        self.news = False

    @property
    def any(self) -> bool:
        """True if a Variable was created."""
        return self._number() > self._start

    def end_iteration(self) -> bool:
        """Counts an iteration; returns True if it created a Variable."""
        self.iterations += 1
        before, self._told = self._told, self._number()
        self.news = self._told > before
        return self.news

    def rolled(self) -> str:
        """Returns how the loop was compiled if no later iteration creates Variables."""
        how = f"{self.iterations:,} iterations run by themselves: they create"
        if self.iterations == 1:
            how = "iteration runs by itself: it creates"
        return f"its first {how} {self._text()}; the rest is one node"

    def unrolled(self, reason: str) -> str:
        """Returns why the loop is unrolled if a later iteration may create Variables, too.

        Args:
          reason: why the attempt to roll the later iterations ended.
        """
        if not self.any:
            return reason.replace(CREATES, "an iteration after the first creates a Variable", 1)
        first = "iteration creates" if self.iterations == 1 else f"{self.iterations:,} iterations create"
        return f"its first {first} {self._text()}, and later ones create Variables too"

    def _number(self) -> int:
        return 0 if self._lifting is None else len(self._lifting.created)

    def _text(self) -> str:
        return "" if self._lifting is None else self._lifting.created_text(self._start)


def creates(reason: str | None) -> bool:
    """Returns True if an attempt to roll a loop ended because its body creates a Variable."""
    return reason is not None and reason.startswith(CREATES)


class ListLengths:
    """The lengths of a loop's lists, while Python runs its first iterations: a window fills, then keeps its length.

    Attributes:
      are_steady: True if an iteration left the lengths as they were, after others had changed them.
    """

    MOST = 16
    """After so many iterations that all change a length, a list just grows."""

    def __init__(self, variables: LoopVariables) -> None:
        self._variables = variables
        self._lengths = self._of_names()
        self._iterations = 0
        self.are_steady = False

    def end_iteration(self) -> bool:
        """Counts an iteration; returns True if the next one need not be run by itself."""
        self._iterations += 1
        before, self._lengths = self._lengths, self._of_names()
        self.are_steady = self._iterations > 1 and self._lengths == before
        return self._lengths == before or self._iterations == self.MOST

    def rolled(self) -> str:
        """Returns how the loop was compiled."""
        return f"its first {self._iterations} iterations run by themselves, until its lists keep their length"

    def _of_names(self) -> list[int]:
        lists = [cast("list[Any]", value) for value in self._variables.get() if type(value) is list]
        return [room(one) for one in lists]
