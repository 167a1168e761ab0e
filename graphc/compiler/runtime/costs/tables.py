"""Reports that print as tables."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["PrintedReport", "plain_table"]


class PrintedReport:
    """A report whose text is what its ``__rich__`` method shows, without colours."""

    _width: ClassVar[int] = 140

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(file=(file := io.StringIO()), width=self._width, color_system=None, force_jupyter=False)
        console.print(self)
        return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def plain_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> RenderableType:
    """Returns a table of numbers; the first column holds names."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(names[0], no_wrap=True)
    for name in names[1:]:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*row)
    return table
