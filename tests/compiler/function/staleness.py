"""What a compiled function does when Python state changes between two calls: one table of cases.

Each case makes a program and what changes the state. ``test_staleness.py`` runs the program before and after the
change, eagerly and compiled; ``python -m tests.compiler.function.staleness_table`` writes the table of
``docs/explanation/compiled.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Case", "Outcome", "cases", "for_kind"]

Outcome = Literal["followed", "warned", "refused", "documented"]
Made = tuple[Callable[[Any], Any], Callable[[], Any]]


@dataclass(frozen=True)
class Case:
    """One kind of state.

    Attributes:
      area: what it belongs to.
      kind: what it is, for the table.
      outcome: ``followed``: the second call sees the change; ``warned``: a SideEffectWarning says that it will not;
        ``refused``: the first call raises; ``documented``: the table alone says that it does not.
      make: makes the state anew, and returns a program of one tensor and what changes the state.
      gap: whether the outcome is not yet the one that it should be.
      direct: whether the program calls a compiled function, and is not to be compiled itself.
      told: whether a SideEffectWarning says besides that code is not converted.
    """

    area: str
    kind: str
    outcome: Outcome
    make: Callable[[], Made]
    gap: bool
    direct: bool
    told: bool

    @property
    def name(self) -> str:
        """For the test's id."""
        return f"{self.area}: {self.kind}"


_AREAS = (
    "names",
    "functions and methods",
    "code that is not converted",
    "attributes",
    "containers",
    "arrays and tensors",
    "which object an argument is",
    "iterators",
    "loaders of data",
    "queues, files and readers",
    "the process and the world",
    "printed text",
)
_CASES: list[Case] = []


def for_kind(
    area: str, kind: str, outcome: Outcome, *, gap: bool = False, direct: bool = False, told: bool = False
) -> Callable[[Callable[[], Made]], None]:
    """Adds the function that it decorates to the table."""

    def add(make: Callable[[], Made]) -> None:
        _CASES.append(Case(area, kind, outcome, make, gap, direct, told))

    return add


def cases() -> list[Case]:
    """The whole table, in order."""
    from tests.compiler.function import (  # noqa: F401
        staleness_builtins,
        staleness_classes,
        staleness_data,
        staleness_libraries,
        staleness_names,
        staleness_objects,
        staleness_unconverted,
        staleness_world,
        staleness_wrappers,
    )

    return sorted(_CASES, key=lambda case: _AREAS.index(case.area))
