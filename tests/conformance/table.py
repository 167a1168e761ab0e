"""Writes the table of ``docs/reference/constructs.md`` from the suite: ``python -m tests.conformance.table``."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.harness import Program, programs

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "constructs.md"

_HEAD = """\
# What compiles, construct by construct

Tests check each row: its programs (`tests/conformance`) run as plain Python over eager tensors, compiled, and
where it makes sense under a `GradientTape`. The runs must agree in values, dtypes, exceptions, printed text, changed
arguments and gradients. If graphc refuses a program, it must do so with the message that the test names, at the
user's line.

*compiles* means that compiled code does what Python does, with the 32 bits of tensors (see
[Numbers and dtypes](numbers.md)). *runs at trace time* means that Python does it once, when
the function is traced. *refused* means that a compiled call raises an error that says what to write instead; graphc
changes nothing silently. *not yet* counts the programs that should compile but are refused today.

| construct | compiles | runs at trace time | refused | not yet |
|---|--:|--:|--:|--:|
"""


def page() -> str:
    """The whole page."""
    rows: dict[str, list[Program]] = {}
    for program in programs():
        rows.setdefault(program.construct, []).append(program)
    return _HEAD + "".join(f"{_row(construct, found)}\n" for construct, found in sorted(rows.items(), key=_place))


def _place(row: tuple[str, list[Program]]) -> str:
    return row[0].replace("`", "").lower()


def _row(construct: str, found: list[Program]) -> str:
    missing = [program for program in found if program.known_gap or program.known_difference]
    done = [program for program in found if program not in missing]
    outcomes = [program.outcome for program in done]
    counts = [outcomes.count(outcome) for outcome in ("compiles", "runs at trace time", "refused")]
    return f"| {construct} | {' | '.join(str(count or '') for count in (*counts, len(missing)))} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
