"""``explain``: the report on what was compiled, rolled, unrolled, folded, pinned and run on the host, and why."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from graphc.compiler.base import Location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, VariableCreationError
from graphc.compiler.core import Variable, layout_text
from graphc.compiler.function import (
    Arguments,
    BoundFunction,
    Function,
    TracedFunction,
    TraceNotes,
    array_leaves,
    function,
)
from graphc.compiler.ir import CONSTANT, Graph, Node, is_world
from graphc.compiler.ir.passes import DEFAULT
from graphc.compiler.lowering import Executable
from graphc.compiler.ops import ASSIGN_VARIABLE, CALL_STATUS, COND, HOST_CALLS, READ_VARIABLE, SCAN, SWITCH, WHILE
from graphc.compiler.runtime.costs import CollectiveReport, Memory, collectives_of, memory_of, node_times
from graphc.compiler.tracing import LoopReport
from graphc.tools.inspect.explanation import (
    ArgumentReport,
    Explanation,
    GuardReport,
    LineReport,
    LoopEntry,
    VariableReport,
)
from graphc.tools.inspect.report import CompileCost

# A trace, lowered and compiled, and what that cost.


def lower_and_compile(traced: TracedFunction, arguments: Arguments) -> tuple[Any, Any, CompileCost]:
    """Lowers and compiles a trace of one program."""
    start = time.perf_counter()
    lowered = traced.lower(arguments)
    middle = time.perf_counter()
    executable = lowered.compile()
    end = time.perf_counter()
    first = traced.executable.times if isinstance(traced.executable, Executable) else None
    if first is None or first.lower is None or first.compile is None:
        return lowered, executable, CompileCost(traced.seconds, middle - start, end - middle)
    return lowered, executable, CompileCost(traced.seconds, first.lower, first.compile)


# Branches that Python decided when a function was traced, inferred from the lines with ops.


def decided_branches(lines: Sequence[LineReport]) -> list[tuple[Location, str]]:
    """Returns the ``if`` statements on Python values of which only some branches were traced."""
    # An ``if`` on a tensor is one of the lines: it makes an op. For a branch without ops it is unknown whether it was
    # taken.
    branches: list[tuple[Location, str]] = []
    by_file: dict[str, dict[int, LineReport]] = {}
    for line in lines:
        by_file.setdefault(line.location.file, {})[line.location.line] = line
    for file, reports in by_file.items():
        for node in _ifs(file):
            body = [reports[number] for number in _span(node.body) if number in reports]
            orelse = [reports[number] for number in _span(node.orelse) if number in reports]
            on_tensor = any(note.startswith("cond") for note in _notes(reports.get(node.test.lineno)))
            if on_tensor or not (body or orelse):
                continue
            taken = "sometimes true, sometimes false" if body and orelse else "true" if body else "false"
            location = (body or orelse)[0].location
            branches.append((Location(file, node.test.lineno, location.function), taken))
    return branches


def _notes(line: LineReport | None) -> list[str]:
    return [] if line is None else line.notes


def _ifs(file: str) -> Iterator[ast.If]:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return
    for outer in ast.walk(tree):
        if isinstance(outer, ast.FunctionDef):
            yield from (node for node in ast.walk(outer) if isinstance(node, ast.If))


def _span(body: Sequence[ast.stmt]) -> range:
    return range(body[0].lineno, (body[-1].end_lineno or body[-1].lineno) + 1) if body else range(0)


_OUTCOMES = {"dce": "removed", "fold": "folded", "loops": "removed"}
"""The effect of a pass on the ops that it removes; the other passes merge ops."""


def explain(
    fn: Callable[..., Any],
    *args: Any,
    compile: bool = True,
    profile: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> Explanation:
    """Explains a compiled function for some arguments, line by line and with reasons.

    The function is traced as in its first call, unless it was called with such arguments before; it is not run.
    ``print`` shows the explanation as text; a notebook displays it by itself, and ``html()`` returns a page with a
    drawing of the graph.

    Args:
      fn: a compiled function, or a plain one, which is compiled for the explanation.
      *args: its arguments.
      compile: whether to lower and compile it too, to report the cost.
      profile: the folder of a ``gx.profile(jax_profiler=folder)`` during which the function was called with such
        arguments: adds the time of each node.
      **kwargs: keyword arguments of ``fn``.

    Returns:
      The explanation.

    Raises:
      InvalidArgumentError: ``fn`` is not a function.
      NotFoundError: there is no profile in the folder.
      GraphcError: ``fn`` cannot be compiled.

    Example:
      >>> import graphc as gx
      >>> def doubled(x):
      ...     y = x * (1 + 1)
      ...     return y + x * 2
      >>> gx.explain(doubled, gx.asarray(1.0), compile=False)
      <Explanation of doubled: 3 ops traced, 2 left; loops: none>
    """
    if isinstance(fn, BoundFunction):
        fn, args = fn.__func__, (fn.__self__, *args)
    if not callable(fn):
        raise InvalidArgumentError(
            f"gx.explain: expected a function, got {fn!r:.60}; its arguments come after it"
        ).here()
    compiled = cast("Function", fn) if isinstance(fn, Function) else function(fn)
    _check_show(compiled, kwargs)
    traced = _trace(compiled, args, kwargs)
    arguments = compiled.bind(*args, **kwargs)
    one_program = compile and traced.plan is None
    details = _compile(traced, arguments, profile) if one_program else _Compiled(None, None, (), {})
    notes = traced.notes
    return Explanation(
        function=compiled.name,
        arguments=tuple(_arguments(arguments)),
        lines=tuple(_lines(notes)),
        loops=tuple(_loops(notes.loops)),
        variables=tuple(_variables(traced)),
        captured=tuple(_captured(traced, arguments)),
        guards=tuple(GuardReport(guard.source.text, guard.was, guard.seconds) for guard in traced.guards if guard.was),
        device=", ".join(traced.devices),
        steps=tuple(_steps(traced)),
        after_call=tuple(after.what for after, _ in traced.after_call),
        side_effects=tuple((effect.what, effect.location) for effect in notes.side_effects),
        unconverted=notes.unconverted,
        cost=details.cost,
        memory=details.memory,
        collectives=details.collectives,
        traces=tuple(map(str, compiled.trace_report())),
        graph=traced.graph,
        node_times=details.node_times,
    )


def _check_show(compiled: Function, kwargs: dict[str, Any]) -> None:
    """Raises for the option ``show`` of :func:`graphc.compare`: here all keywords are arguments of the function."""
    if "show" not in kwargs:
        return
    parameters = inspect.signature(compiled).parameters.values()
    if not any(each.name == "show" or each.kind is each.VAR_KEYWORD for each in parameters):
        raise InvalidTypeError(
            f"gx.explain has no option show, and {compiled.name} has no argument of that name; it returns an "
            "explanation, which print(...) shows"
        ).here()


def _trace(compiled: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> TracedFunction:
    try:
        return compiled.trace(*args, **kwargs)
    except VariableCreationError:
        # The function makes its Variables in its first call.
        compiled.make_variables(*args, **kwargs)
        return compiled.trace(*args, **kwargs)


class _Compiled(NamedTuple):
    """Facts about the compiled program."""

    cost: CompileCost | None
    memory: Memory | None
    collectives: tuple[CollectiveReport, ...]
    node_times: dict[str, float]


def _compile(traced: TracedFunction, arguments: Arguments, profile: str | os.PathLike[str] | None) -> _Compiled:
    _, executable, cost = lower_and_compile(traced, arguments)
    times = {} if profile is None else node_times(Path(profile), executable, traced.graph)
    return _Compiled(cost, memory_of(executable), collectives_of(executable), times)


def _arguments(arguments: Arguments) -> list[ArgumentReport]:
    tensors = dict(array_leaves(arguments))
    return [
        ArgumentReport(
            path, _laid_out(what, tensors.get(path)), static=path not in tensors and not what.startswith("a Variable")
        )
        for path, what in arguments.described()
    ]


def _laid_out(text: str, value: Any) -> str:
    """Returns the type of a tensor or Variable, with its layout if it is not on one device."""
    layout = layout_text(value.sharding) if hasattr(value, "sharding") else ""
    return f"{text}, {layout}" if layout else text


def _captured(traced: TracedFunction, arguments: Arguments) -> list[tuple[str, str]]:
    """Returns the tensors that the graph takes in addition to the arguments, which come first."""
    return [(value.name, str(value.type)) for value in traced.graph.inputs[len(arguments.arrays) :]]


def _loops(reports: Iterable[LoopReport]) -> list[LoopEntry]:
    return [
        LoopEntry(report.location, report.kind, report.reason, times, report.copies, report.nodes)
        for report, times in Counter(reports).items()
    ]


def _variables(traced: TracedFunction) -> list[VariableReport]:
    touched: dict[str, set[str]] = {}
    for node in traced.graph.walk():
        if node.op in (READ_VARIABLE, ASSIGN_VARIABLE):
            touched.setdefault(node.attrs["variable"], set()).add(node.op.name)
    return [
        VariableReport(
            name, _type_of(traced.variables.get(name)), READ_VARIABLE.name in ops, ASSIGN_VARIABLE.name in ops
        )
        for name, ops in sorted(touched.items())
    ]


def _steps(traced: TracedFunction) -> list[str]:
    """Returns the steps of a function that runs on several devices, or separately from the host."""
    if traced.plan is None:
        return []
    return [f"{step.kind} {step.name} on {step.device}{step.note and f': {step.note}'}" for step in traced.plan.steps]


def _type_of(variable: Variable | None) -> str:
    return "" if variable is None else _laid_out(str(variable.type), variable)


def _lines(notes: TraceNotes) -> list[LineReport]:
    """Returns the lines of the user's code, grouped by function in order of appearance."""
    reports: dict[tuple[str, int], LineReport] = {}

    def report(location: Location) -> LineReport:
        return reports.setdefault((location.file, location.line), LineReport(location))

    for node in notes.unoptimized.walk():
        if node.location is not None and _counts(node):
            report(node.location).ops += 1
    _count_passes(notes.unoptimized, report)
    for loop in _loops(notes.loops):
        if loop.location is not None:
            _note(report(loop.location), f"{loop.kind} loop: {loop.why}")
    for node in notes.unoptimized.walk():
        if node.location is not None:
            for text in _node_notes(node):
                _note(report(node.location), text)
    for effect in notes.side_effects:
        if effect.location is not None:
            _note(report(effect.location), f"only when traced: {effect.what}")
    for location, taken in decided_branches(list(reports.values())):
        _note(report(location), f"decided when traced: {taken}")
    order = {owner: index for index, owner in enumerate(dict.fromkeys(map(_function_of, reports.values())))}
    return sorted(reports.values(), key=lambda line: (order[_function_of(line)], line.location.line))


def _counts(node: Node) -> bool:
    """Returns True if a node is the user's: not a constant, nor part of the call's status."""
    return node.op is not CONSTANT and node.op is not CALL_STATUS


def _function_of(line: LineReport) -> tuple[str, str]:
    return line.location.file, line.location.function


def _note(line: LineReport, text: str) -> None:
    if text not in line.notes:
        line.notes.append(text)


def _count_passes(graph: Graph, report: Callable[[Location], LineReport]) -> None:
    """Repeats the passes, and counts the ops that each removed from each line."""
    counts, repeated = _count(graph), _repeated(graph)
    for step in DEFAULT:
        graph = step(graph)
        after = _count(graph)
        for location, count in (counts - after).items():
            line, outcome = report(location), _OUTCOMES.get(step.name, "merged")
            setattr(line, outcome, getattr(line, outcome) + count)
        counts = after
    for location in (repeated.keys() - _repeated(graph).keys()) & counts.keys():  # nothing of the line stays in a loop
        _note(report(location), "computed once, not in each iteration")
    for location, count in counts.items():
        report(location).left += count


def _count(graph: Graph) -> Counter[Location]:
    nodes = (node for node in graph.walk() if _counts(node))
    return Counter(node.location for node in nodes if node.location is not None)


def _repeated(graph: Graph) -> Counter[Location]:
    """Returns the ops in loops, once for each enclosing loop."""
    regions = [region for node in graph.walk() if node.op in (SCAN, WHILE) for region in node.regions]
    return sum(map(_count, regions), Counter[Location]())


def _node_notes(node: Node) -> list[str]:
    texts: list[str] = []
    if node.op in (COND, SWITCH):
        sizes = " and ".join(str(sum(inner.op is not CONSTANT for inner in region.walk())) for region in node.regions)
        texts.append(f"{node.op.name}: decided by the program, branches of {sizes} ops")
    if any(is_world(effect.resource) for effect in node.op.effects(node.attrs)):
        name = str(node.attrs["function"]).rpartition("_")[0] if node.op in HOST_CALLS else node.op.name
        texts.append(f"runs on the host: {name}")
    if node.device:
        texts.append(f"pinned to {node.device}")
    return texts
