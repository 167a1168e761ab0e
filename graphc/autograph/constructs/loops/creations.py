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
        lifting = trace.root.lifting
        self._created = [] if lifting is None else lifting.created
        self._start = self._told = len(self._created)
        self.iterations = self.attempts = 0
        self.news = False

    @property
    def any(self) -> bool:
        """True if a Variable was created."""
        return len(self._created) > self._start

    def end_iteration(self) -> bool:
        """Counts an iteration; returns True if it created a Variable."""
        self.iterations += 1
        before, self._told = self._told, len(self._created)
        self.news = self._told > before
        return self.news

    def text(self) -> str:
        """Returns the first Variable's name and line, with the number of the others."""
        (name, location), others = self._created[self._start], len(self._created) - self._start - 1
        more = f" and {others:,} other{'s' * (others > 1)}" if others else ""
        return f"the Variable {name!r}{more}" + ("" if location is None else f" ({location.short})")

    def rolled(self) -> str:
        """Returns how the loop was compiled if no later iteration creates Variables."""
        how = f"{self.iterations:,} iterations run by themselves: they create"
        if self.iterations == 1:
            how = "iteration runs by itself: it creates"
        return f"its first {how} {self.text()}; the rest is one node"

    def unrolled(self, reason: str) -> str:
        """Returns why the loop is unrolled if a later iteration may create Variables, too.

        Args:
          reason: why the attempt to roll the later iterations ended.
        """
        if not self.any:
            return reason.replace(CREATES, "an iteration after the first creates a Variable", 1)
        first = "iteration creates" if self.iterations == 1 else f"{self.iterations:,} iterations create"
        return f"its first {first} {self.text()}, and later ones create Variables too"


def creates(reason: str | None) -> bool:
    """Returns True if an attempt to roll a loop ended because its body creates a Variable."""
    return reason is not None and reason.startswith(CREATES)
