"""What an explanation says, as an object, as JSON, as text and as HTML."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console

from graphc.base import Location
from graphc.costs import CollectiveReport, Memory
from graphc.inspect.listing import format_explanation
from graphc.inspect.page import explanation_page
from graphc.inspect.report import CompileCost
from graphc.ir import Graph

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["ArgumentReport", "Explanation", "GuardReport", "LineReport", "LoopEntry", "VariableReport"]

_WIDTH = 120
_FEW = 5
"""So many copies of a body cost no more than a loop, and shorter loops are unrolled on purpose."""


@dataclass(frozen=True)
class ArgumentReport:
    """An argument, or a part of one.

    Attributes:
      path: the expression that reaches it: ``batch['x'][0]``.
      what: it is: a type for a tensor, and how it lies on several devices; else the value.
      static: whether it is a Python value that is part of the program, so that another value needs another trace.
    """

    path: str
    what: str
    static: bool


@dataclass
class LineReport:
    """What became of a line of the user's code.

    Attributes:
      location: which line.
      ops: how many ops were traced from it, constants not counted, in all iterations of unrolled loops.
      left: how many of them the program has.
      folded: how many became constants.
      merged: how many were the same as others.
      removed: how many nothing needed.
      notes: what else is to be said of it.
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
    """What became of a loop.

    Attributes:
      location: where it is; None where that is unknown.
      kind: ``"rolled"`` (one loop in the program, of a known number of iterations), ``"while"`` (one that ends when the
        program finds so) or ``"unrolled"``.
      reason: why.
      times: how often it was met, as an inner loop is in each iteration of an unrolled one.
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
    """Something that a call looks at again.

    Attributes:
      what: where it is found: an argument, an attribute, a global.
      was: what it was.
      seconds: about what it takes to look at it.
    """

    what: str
    was: str
    seconds: float


@dataclass(frozen=True)
class VariableReport:
    """A Variable that the program works on.

    Attributes:
      name: its name.
      type: shape and dtype; and how it lies, where that is not on one device.
      read: whether its value is used.
      written: whether it is assigned.
    """

    name: str
    type: str
    read: bool
    written: bool


@dataclass(frozen=True)
class Explanation:
    """What was compiled, and why so; see :func:`graphc.explain`.

    Attributes:
      function: the function's name.
      arguments: what it was traced for.
      lines: the lines of the user's code that have a part in the program, or of which there is something to say.
      loops: what became of each loop.
      variables: what the program reads and writes.
      captured: the tensors that it uses from outside, by the names of its inputs, and their types.
      guards: what is looked at again at each call besides the types of tensors, and what it was: a change means a new
        trace.
      device: the device that ops of it are pinned to, where it therefore runs, or several; empty where it is free.
      steps: of a function that runs on several devices, or apart from the host: what is done, in an order.
      after_call: what is done after each run.
      side_effects: what Python did when the function was traced and will not do again, each with its line.
      unconverted: the functions whose Python control flow was not converted, and why.
      cost: what each step took, in seconds; None where nothing was compiled.
      memory: what the program needs; None where the backend does not tell.
      collectives: what the devices exchange in a program that runs on several, by kind.
      traces: each time the function was traced, and why.
      graph: the program, after the passes.
      node_times: the seconds that each node took in one run, by its path in the graph; empty without a profile.

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
        """Returns how many ops were traced, constants not counted."""
        return sum(line.ops for line in self.lines)

    @property
    def left(self) -> int:
        """Returns how many ops the program has, those of loop bodies and branches counted once."""
        return sum(line.left for line in self.lines)

    def line(self, number: int) -> LineReport:
        """Returns the report on the first line of this number.

        Raises:
          KeyError: there is nothing to say of it.
        """
        for line in self.lines:
            if line.location.line == number:
                return line
        raise KeyError(number)

    def to_dict(self) -> dict[str, Any]:
        """Everything, in plain numbers, strings, lists and dicts; times are in seconds, memory in bytes."""
        return {**asdict(self), "graph": str(self.graph), "ops": self.ops, "left": self.left}

    def to_json(self) -> str:
        """:meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def html(self) -> str:
        """Returns a page that shows all of it: the source, the graph as a drawing, costs, memory and traces.

        The page is one file that loads nothing; save it, send it, print it.
        """
        return explanation_page(self)

    def to_html(self) -> str:
        """Returns the text of the explanation with its colours, as a piece of HTML."""
        # A console that sees a notebook would show the text there by itself, too.
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
