"""Writes the table in ``docs/explanation/compiled.md`` from the cases: ``python -m tests.function.staleness_table``."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from tests.function.staleness import Case, cases

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "compiled.md"
_BEGIN, _END = "<!-- made by tests.function.staleness_table -->\n", "<!-- end -->\n"


def page() -> str:
    """The whole page, with the table anew."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{_table()}\n{_END}{after}"


def _table() -> str:
    rows = ["| what changes between two calls | followed | told | refused | baked in |", "|---|---|---|---|---|"]
    rows += [_row(area, list(found)) for area, found in groupby(cases(), key=lambda case: case.area)]
    return "".join(f"{row}\n" for row in rows)


def _row(area: str, found: list[Case]) -> str:
    columns: dict[str, list[str]] = {"followed": [], "warned": [], "refused": [], "documented": []}
    for case in found:
        columns["documented" if case.gap else case.outcome].append(case.kind)
    return f"| **{area}** | " + " | ".join("; ".join(kinds) for kinds in columns.values()) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
