"""Times and amounts of memory in words."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["PrintedReport", "format_bytes", "format_seconds", "plain_table", "three_digits", "unit_of"]

_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


def unit_of(seconds: float) -> tuple[str, float]:
    """Returns the unit that suits a time, and its size in seconds."""
    return next((unit for unit in _UNITS if seconds >= unit[1]), _UNITS[-1])


def format_seconds(seconds: float) -> str:
    """Returns a time in a unit that suits it.

    Example:
      >>> format_seconds(0.00123), format_seconds(2.5), format_seconds(7.2e-6)
      ('1.23 ms', '2.5 s', '7.2 µs')
    """
    name, size = unit_of(seconds)
    return f"{three_digits(seconds / size)} {name}"


def format_bytes(count: int) -> str:
    """Returns an amount of memory in a unit that suits it.

    Example:
      >>> format_bytes(512), format_bytes(16_000_000)
      ('512 B', '15.3 MiB')
    """
    size, units = float(count), ["B", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        del units[0]
    return f"{three_digits(size)} {units[0]}"


def three_digits(value: float) -> str:
    """Returns a number with three digits, or all of those before the point."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


# Reports that print as tables.


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
