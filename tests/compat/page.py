"""The table in docs/reference/compat.md, written from the rows: ``python -m tests.compat.page``."""

from __future__ import annotations

from pathlib import Path

from graphc.compat.tensorflow2.names import LATER
from graphc.compat.tensorflow2.tables import CLASSES, DTYPES, ELSEWHERE, ERRORS, ROWS

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).parent.parent.parent / "docs" / "reference" / "compat.md"
MARK = "<!-- What follows is written by python -m tests.compat.page -->\n"

THEMES = {
    "": "Top level",
    "math": "tf.math",
    "nn": "tf.nn",
    "linalg": "tf.linalg",
    "signal": "tf.signal",
    "random": "tf.random",
    "bitwise": "tf.bitwise",
    "debugging": "tf.debugging",
    "config": "tf.config",
    "nest": "tf.nest",
    "sparse": "tf.sparse",
    "ragged": "tf.ragged",
    "keras": "tf.keras",
    "autograph": "tf.autograph",
    "strings": "tf.strings",
    "io": "tf.io",
}


def page(text: str) -> str:
    """The page with its tables made anew.

    Args:
      text: the page; what stands before the mark is kept.
    """
    kept = text.partition(MARK)[0]
    parts = [f"{kept}{MARK}"]
    for space, title in THEMES.items():
        rows = [row for row in ROWS if row.names[0].rpartition(".")[0].partition(".")[0] == space]
        parts.append(f"\n### {title}\n\n| name | stands for |\n|---|---|\n")
        parts += [f"| {', '.join(f'`tf.{name}`' for name in row.names)} | `{_cell(row.call)}` |\n" for row in rows]
    parts.append("\n### Classes, dtypes and errors\n\n| name | stands for |\n|---|---|\n")
    parts += [f"| `tf.{name}` | `{value.__name__}` |\n" for name, value in {**CLASSES, **ERRORS}.items()]
    listed = ", ".join(f"`tf.{name}`" for name in DTYPES if "." not in name)
    parts.append(f"\nDtypes, also in `tf.dtypes`: {listed}.\n")
    listed = ", ".join(f"`tf.{name}`" for name in LATER)
    parts.append(f"\nImported when they are used: {listed}.\n")
    parts.append("\n## Missing names\n\n| name | instead |\n|---|---|\n")
    parts += [f"| `tf.{name}` | {_cell(text)} |\n" for name, text in ELSEWHERE.items()]
    return "".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    """Writes the page."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
