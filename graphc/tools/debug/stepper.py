"""``gx.debug.step``: a compiled function, run node by node, with values beside the lines of its source."""

from __future__ import annotations

import io
import linecache
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphc.compiler.base import Location, at, user_location
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    VariableCreationError,
)
from graphc.compiler.core import Tensor, Variable, unexamined
from graphc.compiler.function import BoundFunction, Function, TracedFunction, function
from graphc.compiler.tracing import is_tracing
from graphc.tools.debug.breakpoints import BREAKPOINT, line_of, stops_at
from graphc.tools.debug.interpreter import Machine, Run
from graphc.tools.debug.names import Names

__all__ = ["Step", "Stepper", "step"]

_SHOWN = 12
"""Maximum number of steps in the table; the last ones are shown."""
_WIDTH = 110


@dataclass(frozen=True)
class Step:
    """A node that has run.

    Attributes:
      name: the node's name in the text of the graph.
      op: the name of its op.
      line: the user's line; None where it has none.
      path: the loops and branches around it, from the outside, such as ``("for[2]", "if true")``.
      values: its outputs, as tensors; a number of Python's where the graph holds one.
    """

    name: str
    op: str
    line: Location | None
    path: tuple[str, ...]
    values: tuple[Any, ...]

    @property
    def iteration(self) -> int | None:
        """The iteration of the innermost loop around, from 0; None outside of loops."""
        loops = [part for part in self.path if part.endswith("]")]
        return int(loops[-1].rpartition("[")[2][:-1]) if loops else None

    def __repr__(self) -> str:
        place = "".join(f" in {part}" for part in self.path)
        line = "" if self.line is None else f" at {self.line.short}"
        return f"<Step {self.name}{line}{place}: {', '.join(map(_brief, self.values)) or 'no output'}>"


class Stepper:
    """A run of a compiled function that stops where it is told to; see :func:`step`.

    The stepper stands before a node. It may be iterated: ``for step in stepper`` runs node after node.

    Attributes:
      steps: the last thousand nodes that have run.
    """

    def __init__(
        self, traced: TracedFunction, machine: Machine, inputs: Sequence[Any], file: str,
        points: Sequence[tuple[str, int]], end: Callable[[Sequence[Any]], Any], variables: Mapping[str, Variable],
    ) -> None:  # fmt: skip
        self.steps: deque[Step] = deque(maxlen=1000)
        self._traced, self._machine, self._file, self._points = traced, machine, file, list(points)
        self._end, self._variables = end, variables
        self._outputs: list[Any] | None = None
        self._failure: Exception | None = None
        self._generator = machine.run(traced.notes.unoptimized, inputs)
        self._upcoming: Run | None = None
        self._advance()

    def __iter__(self) -> Iterator[Step]:
        return self

    def __next__(self) -> Step:
        found = self.next()
        if found is None:
            raise StopIteration
        return found

    @property
    def done(self) -> bool:
        """True if the program is at its end."""
        return self._upcoming is None

    @property
    def line(self) -> Location | None:
        """The user's line that runs next; None at the end."""
        return None if self._upcoming is None else self._upcoming.node.location

    def next(self) -> Step | None:
        """Runs the next node; of a loop or branch, no more than its beginning.

        Returns:
          What it computed; None at the end of the program.

        Raises:
          Exception: the error of the node, such as of a function that the program calls on the host.
        """
        if self._upcoming is None:
            return None
        run = self._upcoming
        self._advance()
        node = run.node
        found = Step(node.name, node.op.name, node.location, run.path, tuple(run.outputs))
        self.steps.append(found)
        return found

    def run_to(self, line: int | str) -> Stepper:
        """Runs until a node of a line comes next, in whichever iteration, or the program ends.

        Called at a node of that line it goes on to the next time that the program comes there.

        Args:
          line: a line of the function's file, or ``"file.py:12"``.

        Returns:
          The stepper.

        Raises:
          InvalidArgumentError: it is no line.
          NotFoundError: no node of the function is on that line.
        """
        point = line_of(line)
        nodes = self._traced.notes.unoptimized.walk()
        if not any(stops_at([point], node.location, self._file) for node in nodes):
            raise self._without_nodes(line)
        return self._run_until([point])

    def run(self) -> Stepper:
        """Runs to the next breakpoint, or to the end.

        Returns:
          The stepper.
        """
        return self._run_until(self._points)

    def run_to_nan(self) -> Step | None:
        """Runs up to the first node that gives a NaN.

        Returns:
          That node; None if there is none up to the end.
        """
        while (found := self.next()) is not None:
            if any(map(_has_nan, found.values)):
                return found
        return None

    def value(self, name: str) -> Any:
        """Returns a value as it is now, by the name of a Python variable, of a node, or of a Variable.

        Args:
          name: of a variable of the function's code, such as ``"loss"``, where functions that it calls have variables
            of that name the one that was set last; of a Variable, such as ``"dense/kernel"``; or of a node, such as
            ``"%matmul_1"``, where the sign may be left out if nothing else has the name.

        Raises:
          NotFoundError: nothing has that name, or it has not been computed yet.
        """
        known = self.values if not name.startswith("%") else self._machine.nodes
        if (found := name.removeprefix("%")) in known:
            return known[found]
        text = (
            f"gx.debug: there is no value {name!r} yet; there are {', '.join(map(repr, self._machine.known)) or 'none'}"
        )
        raise at(NotFoundError(text), user_location())

    @property
    def values(self) -> dict[str, Any]:
        """The values as they are now: of nodes, of Variables, and of the variables of the code, by name."""
        return {**self._machine.nodes, **self._machine.state, **self._machine.known}

    def result(self) -> Any:
        """Runs to the end, breakpoints or not, and returns what the function returns.

        Raises:
          Exception: the error of the function.
        """
        while self._upcoming is not None:
            self.next()
        if self._failure is not None:
            raise self._failure
        assert self._outputs is not None
        return self._end(self._outputs)

    def commit(self) -> None:
        """Gives the Variables the values that the run has computed for them; until then they keep theirs.

        Raises:
          FailedPreconditionError: the program is not at its end.
        """
        if not self.done or self._outputs is None:
            text = "gx.debug: the program is not at its end, and a part of an update is none; call result() first"
            raise at(FailedPreconditionError(text), user_location())
        for name, variable in self._variables.items():
            variable.assign(self._machine.state[name])

    def __repr__(self) -> str:
        from rich.console import Console

        out = io.StringIO()
        Console(file=out, width=_WIDTH, color_system=None).print(self._table())
        return out.getvalue().rstrip("\n")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        del include, exclude
        return {"text/plain": repr(self)}

    def _table(self) -> Any:
        from rich.table import Table
        from rich.text import Text

        table = Table(title=f"{self._traced.graph.name}: {len(self.steps)} nodes have run", title_justify="left")
        for name in ("line", "source", "in", "node", "value"):
            table.add_column(name, overflow="ellipsis", no_wrap=True)
        for found in list(self.steps)[-_SHOWN:]:
            shown = ", ".join(map(_brief, found.values))
            table.add_row(*map(Text, (*_place(found.line), " ".join(found.path), found.name, shown)))
        if self._upcoming is not None:
            node = self._upcoming.node
            table.add_row(
                *map(Text, (*_place(node.location), " ".join(self._upcoming.path), f"-> {node.name}", "next"))
            )
        return table

    def _coming(self) -> Run | None:
        return self._upcoming

    def _advance(self) -> None:
        try:
            self._upcoming = next(self._generator)
        except StopIteration as end:
            self._upcoming, self._outputs = None, end.value
        except Exception as error:
            self._upcoming, self._failure = None, error
            raise

    def _run_until(self, points: Sequence[tuple[str, int]]) -> Stepper:
        while (before := self._upcoming) is not None:
            self.next()
            coming = self._coming()
            if coming is None or (points is self._points and coming.node.op is BREAKPOINT):
                break
            moved = (coming.node.location, coming.path) != (before.node.location, before.path)
            if moved and stops_at(points, coming.node.location, self._file):
                break
        return self

    def _without_nodes(self, line: int | str) -> NotFoundError:
        lines = {
            node.location.line
            for node in self._traced.notes.unoptimized.walk()
            if node.location is not None and node.location.file == self._file
        }
        text = f"gx.debug: nothing is computed on line {line}; nodes are on {', '.join(map(str, sorted(lines)))}"
        return at(NotFoundError(text), user_location())


def step(f: Callable[..., Any], /, *args: Any, breakpoints: Iterable[int | str] = (), **kwargs: Any) -> Stepper:
    """Runs a compiled function node by node, with the values beside the lines of its source.

    The function is traced anew, so that the values get the names of the variables of its code. The graph runs as it was
    traced, before the passes, each node as eager code runs it, loops and branches iteration by iteration. Variables
    keep their values, unless :meth:`Stepper.commit` is called; what the program prints and calls on the host happens.

    Args:
      f: a compiled function or method, or a plain function, which is compiled.
      *args: its arguments.
      breakpoints: lines of the function's file, or texts such as ``"file.py:12"``; :meth:`Stepper.run` stops there, and
        where the program calls :func:`gx.debug.breakpoint`.
      **kwargs: keyword arguments of ``f``.

    Returns:
      The stepper, before the first node.

    Raises:
      InvalidArgumentError: ``f`` is no function, or a breakpoint is no line.
      FailedPreconditionError: it is called inside a compiled function.
      GraphcError: ``f`` cannot be compiled.

    Example:
      >>> import graphc as gx
      >>> def area(width, height):
      ...     total = width * height
      ...     return total + 1.0
      >>> stepper = gx.debug.step(area, gx.asarray(2.0), gx.asarray(3.0))
      >>> stepper.next().op, stepper.value("total").item()
      ('multiply', 6.0)
      >>> stepper.result().item()
      7.0
    """
    points = [line_of(point) for point in breakpoints]
    if is_tracing():
        text = "gx.debug.step is called inside a compiled function; call it outside, on that function"
        raise at(FailedPreconditionError(text), user_location())
    if isinstance(f, BoundFunction):
        f, args = f.__func__, (f.__self__, *args)
    if not callable(f):
        text = f"gx.debug.step: expected a function, got {f!r:.60}; its arguments come after it"
        raise at(InvalidArgumentError(text), user_location())
    fresh = f.clone() if isinstance(f, Function) else function(f)
    names = Names()
    with unexamined():
        traced = names.noted(lambda: _traced(fresh, args, kwargs))
    arguments = fresh.bind(*args, **kwargs)
    inputs = [*arguments.arrays, *traced.captures(arguments)]
    variables = dict(traced.variables.items())
    state = {name: Tensor(variable.value().raw) for name, variable in variables.items()}
    machine = Machine(names, state)

    def end(outputs: Sequence[Any]) -> Any:
        raw = [value.raw if isinstance(value, Tensor) else np.asarray(value) for value in outputs]
        for after, place in traced.after_call[: traced.can_fail]:
            after.run(raw[place], arguments)
        return traced.packer(arguments)(map(Tensor, raw[: traced.num_results]))

    code = getattr(fresh.python_function, "__code__", None)
    file = "" if code is None else code.co_filename
    return Stepper(traced, machine, list(map(Tensor, inputs)), file, points, end, variables)


def _traced(fresh: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TracedFunction:
    try:
        return fresh.trace(*args, **kwargs)
    except VariableCreationError:
        fresh.make_variables(*args, **kwargs)  # it makes its Variables in its first call
        return fresh.trace(*args, **kwargs)


def _place(line: Location | None) -> tuple[str, str]:
    return ("", "") if line is None else (str(line.line), linecache.getline(line.file, line.line).strip())


def _brief(value: Any) -> str:
    """Returns a value in a few characters."""
    if not isinstance(value, Tensor):
        return repr(value)
    if value.size <= 4:
        return np.array2string(value.numpy(), precision=5, separator=", ").replace("\n", "")
    if value.type.is_inexact:
        numbers = value.numpy()
        return f"{value.type} from {np.min(numbers):.4g} to {np.max(numbers):.4g}"
    return str(value.type)


def _has_nan(value: Any) -> bool:
    numbers = value.numpy() if isinstance(value, Tensor) else np.asarray(value)
    return numbers.dtype.kind in "fcV" and bool(np.any(numbers != numbers))
