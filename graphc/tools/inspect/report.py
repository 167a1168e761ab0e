"""The report of a comparison, as an object, as JSON, as a table and as a page."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from graphc.compiler.runtime.costs import Memory, format_bytes, format_seconds
from graphc.tools.drawing import Bar, bars, page, shown
from graphc.tools.inspect.equality import Agreement, Difference
from graphc.tools.inspect.listing import failures_of, format_table, middle_half, one_time_costs, speed_text
from graphc.tools.inspect.timing import CallTiming

if TYPE_CHECKING:
    from rich.console import RenderableType

# A comparison as a notebook shows it: a table, and bars.


def comparison_html(comparison: Comparison) -> str:
    """Returns a comparison as a piece of HTML."""
    heads = ("mode", "equal", "median", "middle half", "speed", "launches", "memory")
    head = "".join(f"<th{_number(column)}>{text}</th>" for column, text in enumerate(heads))
    rows = "".join(f"<tr>{_row(comparison, mode)}</tr>" for mode in comparison.modes)
    table = f'<table class="gx-table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    timed = [(mode, mode.timing) for mode in comparison.modes if mode.timing is not None]
    chart = bars([Bar(mode.name, time.median, *time.quartiles, format_seconds(time.median)) for mode, time in timed])
    title = f"<b>{escape(comparison.function)}</b> on {escape(comparison.machine.device)}"
    failures = "".join(f'<div class="gx-bad">{escape(line.text)}</div>' for line in failures_of(comparison))
    costs = "".join(f'<div class="gx-caption">{escape(line.text)}</div>' for line in one_time_costs(comparison))
    notes = "".join(f"<div>note: {escape(note)}</div>" for note in comparison.notes)
    return shown(f"<div>{title}</div>{table}{chart if timed else ''}{failures}{costs}{notes}")


def _row(comparison: Comparison, mode: ModeReport) -> str:
    timing = mode.timing
    equal = "" if mode.values is None else "yes" if mode.equal else "NO"
    cells = (
        mode.name,
        equal,
        "" if timing is None else format_seconds(timing.median),
        "" if timing is None else middle_half(timing),
        "" if mode.values is None else speed_text(comparison, mode.name),
        "" if mode.launches is None else str(mode.launches),
        "" if mode.memory is None else format_bytes(mode.memory.total),
    )
    colour = {"yes": ' class="gx-good"', "NO": ' class="gx-bad"'}
    return "".join(
        f"<td{colour.get(cell, '') if column == 1 else _number(column)}>{escape(cell)}</td>"
        for column, cell in enumerate(cells)
    )


def _number(column: int) -> str:
    return ' class="n"' if column > 1 else ""


@dataclass(frozen=True)
class CompileCost:
    """The one-time costs of a compiled function in seconds.

    Attributes:
      lower: from the graph to XLA's input; 0 for a function of several programs, where it is part of the next.
    """

    trace: float
    lower: float
    compile: float

    @property
    def total(self) -> float:
        """All three together."""
        return self.trace + self.lower + self.compile


@dataclass(frozen=True)
class Machine:
    """The machine of the comparison.

    Attributes:
      platform: ``cpu``, ``gpu`` or ``tpu``.
      memory_in_use: bytes in use on the default device when the comparison was done; None where it does not tell.
      peak_memory: the most that this process has used on it; None where it does not tell.
    """

    device: str
    platform: str
    num_devices: int
    cpus: int
    jax: str
    python: str
    memory_in_use: int | None
    peak_memory: int | None


@dataclass(frozen=True)
class ModeReport:
    """The report on one way to run the function.

    Attributes:
      name: ``"eager"``, ``"compiled"`` or the name of a baseline.
      values: how its outputs, and the Variables after the call, compare with eager code's; None for eager code itself.
      gradients: how its gradients compare with eager code's; None where they were not compared.
      first_call: seconds of the first call, which may compile ops; the compiled function was compiled before.
      launches: programs handed to devices in one call; None where that cannot be counted.
      memory: what the compiled program needs; None where the backend does not tell.
      timing: how long a call takes; None where it was not timed.
    """

    name: str
    values: Agreement | None
    gradients: Agreement | None
    first_call: float
    launches: int | None
    memory: Memory | None
    timing: CallTiming | None = None

    @property
    def equal(self) -> bool:
        """True if everything that was compared agrees with eager code."""
        return all(agreement is None or agreement.equal for agreement in (self.values, self.gradients))

    @property
    def close(self) -> bool:
        """True if what differs from eager code exceeds the tolerance by no more than ten times."""
        return all(agreement is None or agreement.close for agreement in (self.values, self.gradients))


@dataclass(frozen=True)
class Comparison:
    """A function's modes, compared; see :func:`graphc.compare`.

    Attributes:
      notes: what a reader of the figures should know.

    Example:
      >>> import graphc as gx
      >>> found = gx.compare(lambda x: x * x + 1, gx.asarray([1.0, 2.0]), rounds=3, show=False)
      >>> found.equal, found.mode("compiled").launches
      (True, 1)
    """

    function: str
    modes: tuple[ModeReport, ...]
    cost: CompileCost
    notes: tuple[str, ...]
    machine: Machine

    @property
    def equal(self) -> bool:
        """True if all modes agree with eager code."""
        return all(mode.equal for mode in self.modes)

    def mode(self, name: str) -> ModeReport:
        """Returns the report on the mode of this name.

        Raises:
          KeyError: there is none.
        """
        for mode in self.modes:
            if mode.name == name:
                return mode
        raise KeyError(name)

    def speedup(self, name: str = "compiled", over: str = "eager") -> float | None:
        """Returns how many times as fast one mode is as another, by their medians; None where one was not timed."""
        timings = self.mode(name).timing, self.mode(over).timing
        return None if timings[0] is None or timings[1] is None else timings[1].median / timings[0].median

    def speedup_range(self, name: str = "compiled", over: str = "eager") -> tuple[float, float] | None:
        """Returns the quartiles of the ratio over the rounds, in each of which both ran; None where one was not timed.

        Far apart, they say that the load of the machine changed while it was measured.
        """
        timing, other = self.mode(name).timing, self.mode(over).timing
        return None if timing is None or other is None else timing.ratios(other).quartiles

    @property
    def break_even(self) -> int | None:
        """After how many calls compiling has paid for itself; None where it does not."""
        eager, compiled = self.mode("eager").timing, self.mode("compiled").timing
        if eager is None or compiled is None or compiled.median >= eager.median:
            return None
        return math.ceil(self.cost.total / (eager.median - compiled.median))

    def to_dict(self) -> dict[str, Any]:
        """Everything that was found, in plain numbers, strings, lists and dicts; times are in seconds."""
        return {
            "function": self.function,
            "equal": self.equal,
            "speedup": self.speedup(),
            "speedup_range": self.speedup_range(),
            "break_even_calls": self.break_even,
            "compiling": {**vars(self.cost), "total": self.cost.total},
            "modes": [_mode_to_dict(mode) for mode in self.modes],
            "notes": list(self.notes),
            "machine": vars(self.machine),
        }

    def to_json(self) -> str:
        """:meth:`to_dict` as JSON text; an infinite error stands there as the text ``"inf"``."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def table(self) -> RenderableType:
        """Returns the comparison as a table, for ``rich``."""
        return format_table(self)

    def html(self) -> str:
        """Returns an HTML page with the table, and the times of all modes as bars; it loads nothing."""
        return page(f"{self.function}, compared", comparison_html(self))

    def _repr_html_(self) -> str:
        return comparison_html(self)

    def __rich__(self) -> RenderableType:
        return self.table()

    def __repr__(self) -> str:
        speedup = self.speedup()
        speed = "not timed" if speedup is None else f"compiled {speedup:.3g} times as fast as eager"
        return f"<Comparison of {self.function}: {'equal' if self.equal else 'NOT EQUAL'}, {speed}>"


def _mode_to_dict(mode: ModeReport) -> dict[str, Any]:
    timing = mode.timing
    return {
        "name": mode.name,
        "equal": mode.equal,
        "values": _agreement_to_list(mode.values),
        "gradients": _agreement_to_list(mode.gradients),
        "first_call": mode.first_call,
        "launches": mode.launches,
        "memory": None if mode.memory is None else {**vars(mode.memory), "total": mode.memory.total},
        "timing": None
        if timing is None
        else {
            "median": timing.median,
            "quartiles": list(timing.quartiles),
            "calls_per_sample": timing.calls,
            "samples": list(timing.samples),
        },
    }


def _agreement_to_list(agreement: Agreement | None) -> list[dict[str, Any]] | None:
    return None if agreement is None else [_difference_to_dict(difference) for difference in agreement.differences]


def _difference_to_dict(difference: Difference) -> dict[str, Any]:
    def number(value: float | None) -> float | str | None:
        return value if value is None or math.isfinite(value) else str(value)

    return {
        "path": difference.path,
        "type": difference.type,
        "equal": difference.equal,
        "error": number(difference.error),
        "relative": number(difference.relative),
        "allowed": number(difference.allowed),
        "index": list(difference.index),
        "problem": difference.problem,
    }
