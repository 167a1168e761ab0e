"""The tables in docs/reference/compat-v1.md, written from the rows: ``python -m tests.compat.page_v1``."""

from __future__ import annotations

from pathlib import Path

from graphc.compat.tensorflow1.tables import CLASSES, DTYPES, ELSEWHERE, ERRORS, LATER, OPERATIONS, OTHERS, VALUES

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).parent.parent.parent / "docs" / "reference" / "compat-v1.md"
MARK = "<!-- What follows is written by python -m tests.compat.page_v1 -->\n"
ROWS = (*OPERATIONS, *OTHERS)


def page(text: str) -> str:
    """The page with its tables made anew.

    Args:
      text: the page; what stands before the mark is kept.
    """
    parts = [f"{text.partition(MARK)[0]}{MARK}"]
    for space in sorted({_space(row.names[0]) for row in ROWS}):
        rows = [row for row in ROWS if _space(row.names[0]) == space]
        parts.append(f"\n### {f'tf.{space}' if space else 'Top level'}\n\n| name | stands for |\n|---|---|\n")
        parts += [f"| {', '.join(f'`tf.{name}`' for name in row.names)} | `{_cell(row.call)}` |\n" for row in rows]
    parts.append("\n### Classes and errors\n\n| name | stands for |\n|---|---|\n")
    parts += [f"| `tf.{name}` | `{value.__name__}` |\n" for name, value in {**CLASSES, **ERRORS}.items()]
    parts.append(f"\n### Dtypes, constants and messages\n\n{_listed(DTYPES)}; {_listed(VALUES)}.\n")
    parts.append(
        f"\nImported when they are used, from absl, TensorBoard, clusters and monitored Sessions: {_listed(LATER)}.\n"
    )
    parts.append("\n## Missing names\n\n| name | instead |\n|---|---|\n")
    parts += [f"| `tf.{name}` | {_cell(text)} |\n" for name, text in sorted(ELSEWHERE.items())]
    return "".join(parts)


def _space(name: str) -> str:
    return name.rpartition(".")[0].partition(".")[0]


def _listed(names: object) -> str:
    return ", ".join(f"`tf.{name}`" for name in names if not name.startswith(("app.", "dtypes.", "__")))  # type: ignore[attr-defined]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
