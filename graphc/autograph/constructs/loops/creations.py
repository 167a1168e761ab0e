"""The Variables that the first iterations of a loop create, in reports and warnings."""

from __future__ import annotations

from graphc.tracing import CREATES, Trace

__all__ = ["BUILD_BEFORE", "Creations", "creates"]

BUILD_BEFORE = (
    "Create them before the call, by optimizer.build(model.trainable_variables) and by calling each layer once, so "
    "that the loop becomes one node"
)
"""The remedy where iterations after the first ones create Variables."""


class Creations:
    """The Variables that the iterations of a loop create which run by themselves in a function's first call.

    Args:
      trace: the trace around the loop.

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
