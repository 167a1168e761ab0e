"""``graphc graph``, ``graphc opt`` and ``graphc diff``: graphs in several forms, passes over text, differences."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from graphc.cli.target import Target, add_target, compiled_function, load_target
from graphc.compiler.base.errors import FileMissingError, InvalidArgumentError, VariableCreationError
from graphc.compiler.ir import Graph, difference, parse_graph, passes, print_graph, verify
from graphc.compiler.ir.passes import DEFAULT, Pass
from graphc.tools.drawing import draw_graph
from graphc.tools.inspect import to_dot, to_jaxpr, to_model_explorer, to_stablehlo, write_tensorboard

SAME, DIFFERENT = 0, 1

DRAWN = ("svg", "html")
FORMS = ("text", "dot", *DRAWN, "tensorboard", "model-explorer", "stablehlo", "jaxpr")
TO_HELP = f"the form: {', '.join(FORMS)}; left out, the ending of the file says it, else it is text"


def add_graph_commands(commands: Any) -> None:
    """Adds the subcommands."""
    graph = commands.add_parser("graph", help="print or draw the graph of a function")
    add_target(graph)
    graph.add_argument("--to", choices=FORMS, metavar="FORM", help=TO_HELP)
    graph.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to; for tensorboard a folder")
    graph.add_argument("--no-lines", action="store_true", help="leave out the lines of the source in the text")
    graph.set_defaults(run=_graph)

    optimize = commands.add_parser("opt", help="run passes over the text of a graph, and show what each changes")
    optimize.add_argument(
        "file", nargs="?", metavar="FILE.graph", help="the text, as graphc graph prints it; - for stdin"
    )
    optimize.add_argument("--pass", dest="passes", action="append", metavar="NAME", help="a pass; may be repeated "
                          "(the passes of gx.function)")  # fmt: skip
    optimize.add_argument("--list", action="store_true", help="list the passes")
    optimize.add_argument("-o", "--output", metavar="FILE", help="write the text that comes out; - for stdout alone")
    optimize.set_defaults(run=_opt)

    comparing = commands.add_parser("diff", help="show how two graphs differ, whatever their nodes are called")
    comparing.add_argument("before", metavar="A.graph", help="the text of a graph")
    comparing.add_argument("after", metavar="B.graph", help="the text of another")
    comparing.set_defaults(run=_diff)


def _graph(options: argparse.Namespace) -> int:
    form: str | None = options.to
    output: Path | None = options.output
    if form is None:
        ending = "" if output is None else output.suffix.lower().lstrip(".")
        form = ending if ending in FORMS else "text"
    target = load_target(options.target, options.args)
    graph = _graph_of(target)
    if form in DRAWN or form == "tensorboard":
        if output is None:
            raise InvalidArgumentError(f"graphc graph --to {form}: say where to with -o")
        _write_elsewhere(graph, form, output)
        return SAME
    text = _text(target, graph, form, lines=not options.no_lines)
    if output is None:
        print(text)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text + "\n", encoding="utf-8")
    return SAME


def _write_elsewhere(graph: Graph, form: str, output: Path) -> None:
    if form == "tensorboard":
        write_tensorboard(graph, output)
        print(f"tensorboard --logdir {output}")
    elif output.suffix.lower() == f".{form}":
        draw_graph(graph, output)
    else:
        raise InvalidArgumentError(f"graphc graph --to {form}: the file {output} must end in .{form}")


def _text(target: Target, graph: Graph, form: str, *, lines: bool) -> str:
    if form == "dot":
        return to_dot(graph)
    if form == "model-explorer":
        return to_model_explorer(graph)
    if form == "text":
        return print_graph(graph, locations=lines)
    variables = dict(compiled_function(target).trace(*target.args).variables)
    return to_jaxpr(graph, variables) if form == "jaxpr" else to_stablehlo(graph, variables)


def _graph_of(target: Target) -> Graph:
    compiled = compiled_function(target)
    try:
        return compiled.graph(*target.args)
    except VariableCreationError:
        # Its first call is an eager one, in which it makes its Variables.
        compiled(*target.args)
        return compiled.graph(*target.args)


def known_passes() -> dict[str, Pass]:
    """Returns the passes, by name."""
    by_name: dict[str, Pass] = {}
    for name in passes.__all__:
        kind: Any = getattr(passes, name)
        if isinstance(kind, type) and isinstance(getattr(kind, "name", None), str):
            instance: Any = kind()
            by_name[instance.name] = instance
    return dict(sorted(by_name.items()))


def _opt(options: argparse.Namespace) -> int:
    available = known_passes()
    console = Console(highlight=False, soft_wrap=True)
    if options.list:
        for name, step in available.items():
            console.print(Text(f"{name:12} {(inspect.getdoc(step) or '').partition(chr(10))[0]}"))
        return SAME
    if options.file is None:
        raise InvalidArgumentError("graphc opt: give a file with the text of a graph, or --list")
    graph = _read(options.file)
    quiet = options.output == "-"
    for step in _chosen(options.passes, available):
        before, graph = graph, step(graph)
        verify(graph)
        if not quiet:
            _show(step.name, before, graph, console)
    if quiet:
        print(graph)
    elif options.output is not None:
        Path(options.output).write_text(f"{graph}\n", encoding="utf-8")
    return SAME


def _chosen(names: Sequence[str] | None, available: dict[str, Pass]) -> Sequence[Pass]:
    if names is None:
        return DEFAULT
    for name in names:
        if name not in available:
            raise InvalidArgumentError(f"graphc opt: there is no pass {name!r}; there are {', '.join(available)}")
    return [available[name] for name in names]


def _show(name: str, before: Graph, after: Graph, console: Console) -> None:
    counts = [sum(1 for _ in graph.walk()) for graph in (before, after)]
    text = difference(before, after)
    console.print(Text(f"{name}: {counts[0]} nodes -> {counts[1]}{'' if text else ', nothing changed'}", style="bold"))
    _print_difference(text, console)


def _print_difference(text: str, console: Console) -> None:
    styles = {"-": "red", "+": "green", "@": "cyan"}
    for line in text.splitlines():
        console.print(Text(line, style=styles.get(line[:1], "")))


def _diff(options: argparse.Namespace) -> int:
    text = difference(_read(options.before), _read(options.after))
    _print_difference(text, Console(highlight=False, soft_wrap=True))
    return DIFFERENT if text else SAME


def _read(name: str) -> Graph:
    """Returns the graph of a file."""
    if name == "-":
        text = sys.stdin.read()
    elif Path(name).is_file():
        text = Path(name).read_text(encoding="utf-8")
    else:
        raise FileMissingError(f"there is no file {name}")
    graph = parse_graph(text)
    verify(graph)
    return graph
