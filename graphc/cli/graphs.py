"""``graphc graph``: the graph of a function in several forms."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from graphc.cli.target import Target, add_target, compiled_function, load_target
from graphc.compiler.base.errors import InvalidArgumentError, VariableCreationError
from graphc.compiler.ir import Graph, print_graph
from graphc.tools.drawing import draw_graph
from graphc.tools.inspect import to_dot, to_jaxpr, to_stablehlo

DRAWN = ("svg", "html")
FORMS = ("text", "dot", *DRAWN, "stablehlo", "jaxpr")
TO_HELP = f"the form: {', '.join(FORMS)}; left out, the ending of the file says it, else it is text"


def add_graph_commands(commands: Any) -> None:
    """Adds the subcommand."""
    graph = commands.add_parser("graph", help="print or draw the graph of a function")
    add_target(graph)
    graph.add_argument("--to", choices=FORMS, metavar="FORM", help=TO_HELP)
    graph.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to")
    graph.add_argument("--no-lines", action="store_true", help="leave out the lines of the source in the text")
    graph.set_defaults(run=_graph)


def _graph(options: argparse.Namespace) -> int:
    form: str | None = options.to
    output: Path | None = options.output
    if form is None:
        ending = "" if output is None else output.suffix.lower().lstrip(".")
        form = ending if ending in FORMS else "text"
    target = load_target(options.target, options.args)
    graph = _graph_of(target)
    if form in DRAWN:
        if output is None:
            raise InvalidArgumentError(f"graphc graph --to {form}: say where to with -o")
        if output.suffix.lower() != f".{form}":
            raise InvalidArgumentError(f"graphc graph --to {form}: the file {output} must end in .{form}")
        draw_graph(graph, output)
        return 0
    text = _text(target, graph, form, lines=not options.no_lines)
    if output is None:
        print(text)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text + "\n", encoding="utf-8")
    return 0


def _text(target: Target, graph: Graph, form: str, *, lines: bool) -> str:
    if form == "dot":
        return to_dot(graph)
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
