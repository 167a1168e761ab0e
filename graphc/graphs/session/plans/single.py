"""Plans of a single program, which need no executor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphc.compiler.runtime import Plan
from graphc.graphs.session.plans.steps import StateSegment

__all__ = ["Single"]


@dataclass(frozen=True)
class Single:
    """A plan of one program.

    Attributes:
      segment: the program.
      inputs: the feeds that it takes, by index.
      outputs: the results that are fetched, by index.
    """

    segment: StateSegment
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @classmethod
    def of(cls, plan: Plan) -> Single | None:
        """Returns a plan as one call of a program; None if it is more than that."""
        step = plan.steps[0] if len(plan.steps) == 1 else None
        if not isinstance(step, StateSegment) or plan.constants or not set(plan.outputs) <= set(step.outputs):
            return None
        return cls(step, step.inputs, tuple(map(step.outputs.index, plan.outputs)))

    def run(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Runs the program with the feeds."""
        results = self.segment.program([arrays[place] for place in self.inputs])
        return [results[place] for place in self.outputs]
