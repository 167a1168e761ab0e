"""The content of an explanation, as an object, as JSON, as text and as HTML."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console

from graphc.compiler.base import Location
from graphc.compiler.ir import Graph
from graphc.compiler.runtime.costs import CollectiveReport, Memory
from graphc.tools.inspect.listing import format_explanation
from graphc.tools.inspect.page import explanation_page
from graphc.tools.inspect.report import CompileCost

if TYPE_CHECKING:
    from rich.console import RenderableType

_WIDTH = 120
_FEW = 5
"""So many copies of a body cost no more than a loop, and shorter loops are unrolled on purpose."""


@dataclass(frozen=True)
class ArgumentReport:
    """A report on an argument, or a part of one.

    Attributes:
      what: a tensor's type and its layout over several devices; for other values the value.
      static: whether it is a Python value that is part of the program, so that another value needs another trace.
    """

    path: str
    what: str
    static: bool


@dataclass
class LineReport:
    """A report on a line of the user's code.

    Attributes:
      ops: the number of ops traced from it, without constants, in all iterations of unrolled loops.
    """

    location: Location
    ops: int = 0
    left: int = 0
    folded: int = 0
    merged: int = 0
    removed: int = 0
    notes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class LoopEntry:
    """A report on a loop.

    Attributes:
      location: the loop's line; None if it is unknown.
      kind: ``"rolled"`` (one loop in the program, with a known number of iterations), ``"while"`` (one whose end the
        program determines) or ``"unrolled"``.
      reason: the reason for this kind.
      times: the number of times that it was met, for example as an inner loop in each iteration of an unrolled one.
      copies: how often the body of an unrolled loop was traced, each time.
      nodes: the nodes of all these copies, as they were traced.
    """

    location: Location | None
    kind: str
    reason: str
    times: int = 1
    copies: int = 0
    nodes: int = 0

    @property
    def why(self) -> str:
        """The reason, and for an unrolled loop its cost, with that of one copy, which a rolled loop would have."""
        if self.copies < _FEW or self.nodes < self.copies:
            return self.reason
        each = f"{self.nodes / self.copies:,.0f}"
        return f"{self.reason}; {self.copies:,} copies of its body have {self.nodes:,} nodes, rolled about {each}"


@dataclass(frozen=True)
class GuardReport:
    """A condition that each call checks. ``what``: the value's source: an argument, an attribute, a global."""

    what: str
    was: str
    seconds: float


@dataclass(frozen=True)
class VariableReport:
    """A report on a Variable that the program uses.

    Attributes:
      type: the shape and dtype, and the layout if it is not on one device.
    """

    name: str
    type: str
    read: bool
    written: bool


@dataclass(frozen=True)
class Explanation:
    """An explanation of a compiled function; see :func:`graphc.explain`.

    Attributes:
      lines: the lines of the user's code with a part in the program, or with remarks.
      loops: a report for each loop.
      variables: the Variables that the program reads and writes.
      captured: the tensors that it uses from outside: the names of the inputs, and their types.
      guards: the values, other than the types of tensors, that each call checks: a change means a new trace.
      device: the device or devices that ops of it are pinned to, where it therefore runs; empty if there are none.
      steps: the steps of a function that runs on several devices, or separately from the host, in order.
      side_effects: the Python side effects of tracing, which calls do not repeat, each with its line.
      unconverted: the functions whose Python control flow was not converted, with the reason.
      cost: the time of each step in seconds; None if nothing was compiled.
      memory: the memory of the program; None if the backend does not report it.
      collectives: the exchanges between devices in a program that runs on several, by kind.
      traces: a report for each trace, with its reason.
      node_times: the time of each node in one run in seconds, by its path in the graph; empty without a profile.

    Example:
      >>> import graphc as gx
      >>> def total(x):
      ...     for i in range(100):
      ...         x = x + i
      ...     return x
      >>> found = gx.explain(total, gx.asarray(1.0), compile=False)
      >>> [(loop.kind, loop.reason) for loop in found.loops]
      [('rolled', 'its 100 iterations do the same work')]
    """

    function: str
    arguments: tuple[ArgumentReport, ...]
    lines: tuple[LineReport, ...]
    loops: tuple[LoopEntry, ...]
    variables: tuple[VariableReport, ...]
    captured: tuple[tuple[str, str], ...]
    guards: tuple[GuardReport, ...]
    device: str
    steps: tuple[str, ...]
    after_call: tuple[str, ...]
    side_effects: tuple[tuple[str, Location | None], ...]
    unconverted: dict[str, str]
    cost: CompileCost | None
    memory: Memory | None
    collectives: tuple[CollectiveReport, ...]
    traces: tuple[str, ...]
    graph: Graph
    node_times: dict[str, float]

    @property
    def ops(self) -> int:
        """The number of traced ops, without constants."""
        return sum(line.ops for line in self.lines)

    @property
    def left(self) -> int:
        """The number of ops in the program, counting those of loop bodies and branches once."""
        return sum(line.left for line in self.lines)

    def line(self, number: int) -> LineReport:
        """Returns the report on the first line with this number.

        Raises:
          KeyError: there is no report on this line.
        """
        for line in self.lines:
            if line.location.line == number:
                return line
        raise KeyError(number)

    def to_dict(self) -> dict[str, Any]:
        """Returns everything in plain numbers, strings, lists and dicts; times are in seconds, memory in bytes."""
        return {**asdict(self), "graph": str(self.graph), "ops": self.ops, "left": self.left}

    def to_json(self) -> str:
        """Returns :meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def html(self) -> str:
        """Returns an HTML page with everything: the source, the graph as a drawing, costs, memory and traces.

        The page is a single file without external resources.
        """
        return explanation_page(self)

    def to_html(self) -> str:
        """Returns the text of the explanation with its colours, as an HTML fragment."""
        # A console that detects a notebook would also display the text there.
        console = Console(file=io.StringIO(), width=_WIDTH, record=True, color_system="truecolor", force_jupyter=False)
        console.print(self)
        return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")

    def __rich__(self) -> RenderableType:
        return format_explanation(self)

    def __str__(self) -> str:
        console = Console(file=(file := io.StringIO()), width=_WIDTH, color_system=None, force_jupyter=False)
        console.print(self)
        return "\n".join(line.rstrip() for line in file.getvalue().splitlines())

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        loops = ", ".join(f"{loop.kind} x{loop.times}" if loop.times > 1 else loop.kind for loop in self.loops)
        return f"<Explanation of {self.function}: {self.ops} ops traced, {self.left} left; loops: {loops or 'none'}>"
