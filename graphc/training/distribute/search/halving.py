"""Halving: the rule that stops trials of a search early; a state machine without threads."""

from __future__ import annotations

import math
from collections import defaultdict

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError

__all__ = ["Halving"]


class Halving:
    """Stops unpromising trials by asynchronous successive halving (Li and others, 2018), in its stopping variant.

    Trials are compared after ``first`` steps, ``first * factor``, ``first * factor**2`` and so on, which the paper
    calls rungs. A trial continues only if its value is among the best ``1 / factor`` of those that have come this far,
    or the best. Trials do not wait for each other: early trials continue more easily. In the paper's variant, stopped
    trials may resume later, which keeps their networks in memory.

    Args:
      first: the number of steps after which trials are first compared.
      factor: one trial in so many continues; also the growth of the steps between comparisons.

    Raises:
      InvalidArgumentError: ``first`` is not an int of at least 1, or ``factor`` not one of at least 2.

    Example:
      >>> import graphc as gx
      >>> halving = gx.distribute.Halving(first=1, factor=2)
      >>> [halving.goes_on(trial, 1, loss) for trial, loss in enumerate([0.5, 0.9, 0.4, 0.3])]
      [True, False, True, True]
    """

    def __init__(self, first: int = 1, factor: int = 3) -> None:
        for name, value, least in (("first", first, 1), ("factor", factor, 2)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:  # pyright: ignore[reportUnnecessaryIsInstance]
                error = InvalidArgumentError(f"Halving: {name} must be an int from {least}, got {value!r:.40}")
                raise at(error, user_location())
        self.first, self.factor = first, factor
        self._rungs: defaultdict[int, dict[int, float]] = defaultdict(dict)

    def goes_on(self, trial: int, step: int, loss: float) -> bool:
        """Records a trial's report, and returns True if it should continue.

        Args:
          trial: the trial's number.
          step: the number of steps it has made, from 1.
          loss: its current value; lower is better, and NaN is worst.
        """
        rung = self.first
        while rung < step:
            rung *= self.factor
        if rung != step:
            return True
        losses = self._rungs[step]
        losses[trial] = math.inf if math.isnan(loss) else loss
        if losses[trial] == math.inf:
            return False
        better = sum(other < losses[trial] for other in losses.values())
        return better < max(1, len(losses) // self.factor)
