"""Writes the tables in ``docs/reference/state.md`` from the cases: ``python -m tests.compiler.function.staleness_table``."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from tests.compiler.function.staleness import Case, cases

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "state.md"
_NAMES = {"warned": "told", "documented": "baked in"}
_BEGIN, _END = "<!-- made by tests.compiler.function.staleness_table -->\n", "<!-- end -->\n"


def page() -> str:
    """The whole page, with the table anew."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{_table()}\n{_END}{after}"


def _table() -> str:
    return "\n".join(_part(area, found) for area, found in groupby(cases(), key=lambda case: case.area))


def _part(area: str, found: Iterable[Case]) -> str:
    rows = [f"| {case.kind} | {_outcome(case)} |" for case in found]
    return "\n".join([f"### {area[0].upper()}{area[1:]}", "", "| state | outcome |", "|---|---|", *rows, ""])


def _outcome(case: Case) -> str:
    return _NAMES.get(case.outcome, case.outcome) if not case.gap else _NAMES["documented"]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
