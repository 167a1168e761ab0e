"""``python -m benchmarks``: measures the rows and prints the table."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track

from benchmarks import (
    argument_kinds,
    call_kinds,
    calls,
    checkpoints,
    data,
    data_sources,
    eager,
    fresh,
    functions,
    global_view,
    loops,
    memory,
    metrics,
    mlp,
    outside_calls,
    parameters,
    processes,
    queues,
    readers,
    replica_view,
    runtime,
    saved,
    serving,
    serving_http,
    sessions,
    tapes,
    tracing,
)
from benchmarks.attacks import Cost
from benchmarks.attacks import run as run_attacks
from benchmarks.harness import Result, Row, measure
from benchmarks.report import WIDTH, machine, markdown, table, write_json
from benchmarks.workloads.measuring import Measured
from benchmarks.workloads.running import run as run_workloads

__all__ = ["ROWS", "main"]

_MODULES = (
    eager,
    functions,
    fresh,
    memory,
    metrics,
    tapes,
    calls,
    argument_kinds,
    call_kinds,
    outside_calls,
    tracing,
    loops,
    mlp,
    runtime,
    sessions,
    queues,
    readers,
    replica_view,
    global_view,
    processes,
    parameters,
    checkpoints,
    data,
    data_sources,
    saved,
    serving,
    serving_http,
)
ROWS: tuple[Row, ...] = tuple(row for module in _MODULES for row in module.ROWS)


def main(arguments: Sequence[str] | None = None) -> Sequence[Result | Measured | Cost]:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", metavar="NAME", action="append", help="measure rows whose names begin so; repeatable")
    parser.add_argument("--rounds", type=int, default=1000, help="samples of each contender, at most (1000)")
    parser.add_argument("--json", type=Path, help="where to write the numbers (build/benchmarks.json)")
    parser.add_argument(
        "--workloads", action="store_true", help="measure programs against what an expert writes in JAX, not the rows"
    )
    parser.add_argument(
        "--attacks", action="store_true", help="measure what hostile requests cost a server, not the rows"
    )
    parser.add_argument("--limit", type=float, default=90.0, help="seconds that a workload may take (90)")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes and two rounds: whether it runs, not how fast"
    )
    parser.add_argument("--markdown", action="store_true", help="print the table once more, for README.md")
    options = parser.parse_args(arguments)
    console = Console()
    console = console if console.is_terminal else Console(width=WIDTH)
    rounds = 2 if options.quick else options.rounds
    if options.workloads:
        try:
            return run_workloads(
                console,
                options.only or (),
                rounds,
                options.json or Path("build/workloads.json"),
                limit=options.limit,
                quick=options.quick,
                as_markdown=options.markdown,
            )
        except ValueError as error:
            parser.error(str(error))
    if options.attacks:
        return run_attacks(console, options.json or Path("build/attacks.json"), quick=options.quick)
    rows = [row for row in ROWS if not options.only or row.name.startswith(tuple(options.only))]
    if not rows:
        parser.error(f"no row is called {options.only}; there are {', '.join(row.name for row in ROWS)}")
    results = [
        measure(row, rounds, quick=options.quick)
        for row in track(rows, description="measuring", console=console, transient=True)
    ]
    about = machine()
    console.print(
        table(results, f"{about['device']}, {about['processor']}, {about['cores']} cores, jax {about['jax']}")
    )
    if options.markdown:
        print(markdown(results))
    path = options.json or Path("build/benchmarks.json")
    write_json(results, path)
    console.print(f"Every sample is in {path}.")
    return results


if __name__ == "__main__":
    main()
