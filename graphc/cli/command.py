"""The ``graphc`` command: its subcommands, options and exit codes."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from graphc.cli.cache import clear_cache, list_cache
from graphc.cli.cluster import cluster_status, cluster_up, serve_task
from graphc.cli.graphs import add_graph_commands
from graphc.cli.scale import measure, scale
from graphc.cli.serving import add_options, serve
from graphc.cli.target import Target, add_target, compiled_function, load_target
from graphc.cli.timeline import print_timeline
from graphc.compiler.base import VERSION, is_internal_file
from graphc.compiler.base.errors import FileMissingError, GraphcError
from graphc.compiler.core import wait_all
from graphc.compiler.devices import Device, device_name, devices, simulate_cpu_devices
from graphc.compiler.runtime import profile, read_timeline
from graphc.compiler.runtime.costs import format_bytes
from graphc.tools.drawing import notebook_timeline, page
from graphc.tools.inspect import compare, explain
from graphc.training.distribute import launch

_PROFILED = 5
"""So many calls a profile is of."""
DONE, DIFFERENT, FAILED, INTERRUPTED = 0, 1, 2, 130

BASELINE_HELP = "another function of the file that should do the same, timed in the same turns; may be repeated"
PROFILE_HELP = (
    "a profile of JAX's, as gx.profile(jax_profiler=FOLDER) writes it, for the time that each node took; if the folder "
    "has none, the function is called and profiled into it"
)
CLUSTER_HELP = 'addresses of tasks by job, such as {"ps": ["127.0.0.1:2221"], "worker": ["127.0.0.1:2222"]}'
RESOURCES_HELP = "what Ray reserves for each task of a job, such as worker:num_gpus=1; may be repeated"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the ``graphc`` command."""
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    path = list(sys.path)  # a target's folder is added, as when Python runs a file
    try:
        return run(options)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if options.traceback:
            traceback.print_exc()
        else:
            Console(stderr=True, soft_wrap=True).print(Text(f"graphc: {_message(error)}"))
        return FAILED
    finally:
        sys.path[:] = path


def _message(error: Exception) -> str:
    """Returns the message of an error, with the place in the user's code; graphc's own errors name it themselves."""
    if isinstance(error, GraphcError):
        return str(error)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not is_internal_file(frame.filename)]
    users = [frame for frame in frames if not frame.filename.startswith(os.path.dirname(os.__file__))]
    text = f"{type(error).__name__}: {error}"
    if users:
        text += (
            f'\n  at File "{users[-1].filename}", line {users[-1].lineno}, in {users[-1].name}\n    {users[-1].line}'
        )
    return f"{text}\nwith --traceback before the subcommand, all of it is shown"


def _versions() -> str:
    names = [f"{name} {metadata.version(name)}" for name in ("jax", "jaxlib", "numpy")]
    return f"graphc {VERSION} ({', '.join(names)}, Python {platform.python_version()})"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="graphc", description="Eager array code, compiled whole through XLA.")
    parser.add_argument("--traceback", action="store_true", help="show Python's traceback where something fails")
    parser.add_argument("--version", action="version", version=_versions(), help="show the versions of graphc and JAX")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="see graphc at work, in less than a minute")
    demo.add_argument("--out", type=Path, default=Path("demo"), metavar="FOLDER", help="where files go (demo)")
    demo.add_argument("--quick", action="store_true", help="smaller sizes: some seconds, and figures that mean little")
    demo.set_defaults(run=_demo)

    comparison = commands.add_parser("compare", help="check that a function does the same compiled, and time both")
    add_target(comparison)
    comparison.add_argument("--baseline", action="append", default=[], metavar="FUNCTION", help=BASELINE_HELP)
    comparison.add_argument("--rounds", type=int, default=30, metavar="N", help="samples of each mode, at most (30)")
    comparison.add_argument("--seconds", type=float, default=2.0, metavar="S", help="when to begin no new round (2)")
    comparison.add_argument("--rtol", type=float, metavar="X", help="the relative error that is allowed")
    comparison.add_argument("--atol", type=float, metavar="X", help="the absolute error that is allowed on top")
    comparison.add_argument("--no-gradients", action="store_true", help="compare values only")
    comparison.add_argument("--json", type=Path, metavar="FILE", help="write all figures to a file")
    comparison.add_argument("--html", type=Path, metavar="FILE", help="write a page to a file: the table, and bars")
    comparison.set_defaults(run=_compare)

    explanation = commands.add_parser("explain", help="say what became of each line of a function when it is compiled")
    add_target(explanation)
    explanation.add_argument("--no-compile", action="store_true", help="only trace it: leave out what compiling costs")
    explanation.add_argument("--json", type=Path, metavar="FILE", help="write all of it to a file")
    explanation.add_argument("--html", type=Path, metavar="FILE", help="write a page to a file: source, drawing, costs")
    explanation.add_argument("--profile", type=Path, metavar="FOLDER", help=PROFILE_HELP)
    explanation.set_defaults(run=_explain)

    add_graph_commands(commands)

    listing = commands.add_parser("devices", help="list the devices of gx.devices() by name")
    listing.set_defaults(run=_devices)

    cache = commands.add_parser("cache", help="list the compiled programs that are kept on disk, or clear them")
    cache.add_argument("--folder", type=Path, metavar="FOLDER", help="of the cache (gx.config.compilation_cache)")
    cache.add_argument("--clear", action="store_true", help="remove them")
    cache.set_defaults(run=_cache)

    launching = commands.add_parser("launch", help="run a program in several processes, which train together")
    launching.add_argument("--processes", type=int, required=True, metavar="N", help="how many, on this machine")
    launching.add_argument("--restarts", type=int, default=0, metavar="N", help="start all again after a failure (0)")
    launching.add_argument("--timeout", type=float, metavar="S", help="how long they wait for one that is late (300)")
    launching.add_argument("program", metavar="FILE.py", help="the program")
    launching.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="its arguments")
    launching.set_defaults(run=_launch)

    serving = commands.add_parser("serve", help="answer queries to functions over HTTP")
    add_options(serving)
    # How `graphc cluster serve` was spelled in version 0.1.
    serving.add_argument("--cluster", type=Path, help=argparse.SUPPRESS)
    serving.add_argument("--job", help=argparse.SUPPRESS)
    serving.add_argument("--task", type=int, help=argparse.SUPPRESS)
    serving.set_defaults(run=_serve)

    clusters = commands.add_parser("cluster", help="start the tasks of a cluster on Ray, or show their state")
    actions = clusters.add_subparsers(required=True, metavar="up|serve|status")
    up = actions.add_parser("up", help="start all, show their state, and end them with Ctrl-C")
    up.add_argument("file", type=Path, metavar="FILE.json", help=CLUSTER_HELP)
    up.add_argument("--resources", action="append", default=[], metavar="JOB:NAME=AMOUNT", help=RESOURCES_HELP)
    up.set_defaults(run=_cluster_up)
    task = actions.add_parser("serve", help="start one task, and wait until it ends")
    task.add_argument("file", type=Path, metavar="FILE.json", help=CLUSTER_HELP)
    task.add_argument("--job", metavar="NAME", help="the job of the task; may be left out where there is one")
    task.add_argument("--task", type=int, metavar="N", help="its index; may be left out where the job has one task")
    task.set_defaults(run=_cluster_serve)
    status = actions.add_parser("status", help="show the state of all; RAY_ADDRESS says where they run")
    status.add_argument("file", type=Path, metavar="FILE.json", help=CLUSTER_HELP)
    status.set_defaults(run=_cluster_status)

    scaling = commands.add_parser("scale", help="time a step on more and more devices, and compare its losses")
    add_target(scaling)
    scaling.add_argument("--devices", type=_counts, default=[1, 2, 4, 8], metavar="N,N", help="how many (1,2,4,8)")
    scaling.add_argument("--weak", action="store_true", help="give each device the whole batch: the work grows, too")
    scaling.add_argument("--rounds", type=int, default=20, metavar="N", help="how many steps are timed (20)")
    scaling.add_argument("--json", type=Path, metavar="FILE", help="write all figures to a file")
    scaling.add_argument("--measure", type=int, help=argparse.SUPPRESS)  # one number of devices, in this process
    scaling.set_defaults(run=_scale)

    timeline = commands.add_parser("timeline", help="show what ran when, from a file that gx.profile has written")
    timeline.add_argument("file", type=Path, metavar="FILE", help="the trace")
    timeline.add_argument(
        "--html", type=Path, metavar="FILE", help="write a page to a file, with a lane for each track"
    )
    timeline.set_defaults(run=_timeline)
    return parser


def _demo(options: argparse.Namespace) -> int:
    # Before anything makes JAX choose its devices; where there is a GPU these stand beside it and nothing uses them.
    if not os.environ.get("GRAPHC_CPU_DEVICES"):
        os.environ["GRAPHC_CPU_DEVICES"] = "8"
        simulate_cpu_devices()
    from graphc.cli.demo import run_demo

    run_demo(options.out, quick=options.quick)
    return DONE


def _compare(options: argparse.Namespace) -> int:
    target = load_target(options.target, options.args)
    baselines = {name: target.other(name) for name in options.baseline}
    comparison = compare(
        target.function,
        *target.args,
        baselines=baselines,
        rounds=options.rounds,
        seconds=options.seconds,
        rtol=options.rtol,
        atol=options.atol,
        gradients=not options.no_gradients,
    )
    if options.json is not None:
        _write(options.json, comparison.to_json())
    if options.html is not None:
        _write(options.html, comparison.html())
    return DONE if comparison.equal else DIFFERENT


def _explain(options: argparse.Namespace) -> int:
    target = load_target(options.target, options.args)
    if options.profile is not None:
        _profile(target, options.profile)
    explanation = explain(target.function, *target.args, compile=not options.no_compile, profile=options.profile)
    console = Console()
    if console.is_terminal:
        console.print(explanation)
    else:
        print(explanation)  # as wide as the text is, not as a terminal might be
    for path, text in ((options.json, explanation.to_json), (options.html, explanation.html)):
        if path is not None:
            _write(path, text())
    return DONE


def _profile(target: Target, folder: Path) -> None:
    """Calls a function some times under JAX's profiler, unless the folder has a profile already."""
    if any(folder.rglob("*.xplane.pb")):
        return
    compiled = compiled_function(target)
    compiled(*target.args)  # compiling is no part of the profile
    wait_all()
    with profile(jax_profiler=folder):
        for _ in range(_PROFILED):
            compiled(*target.args)
        wait_all()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


def _devices(options: argparse.Namespace) -> int:
    del options
    Console().print(devices_table(devices()))
    return DONE


def _cache(options: argparse.Namespace) -> int:
    (clear_cache if options.clear else list_cache)(options.folder, Console())
    return DONE


def _launch(options: argparse.Namespace) -> int:
    if not Path(options.program).is_file():
        raise FileMissingError(f"graphc launch: there is no file {options.program}")
    return launch(
        [options.program, *options.arguments], options.processes, restarts=options.restarts, timeout=options.timeout
    )


def _counts(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected numbers with commas between them, such as 1,2,4; got {text!r}"
        ) from None


def _serve(options: argparse.Namespace) -> int:
    if options.cluster is not None:
        text = f"graphc serve --cluster ends with version 0.3; write graphc cluster serve {options.cluster}"
        Console(stderr=True, soft_wrap=True).print(Text(text))
        serve_task(options.cluster, options.job, options.task, Console())
    else:
        serve(options, Console())
    return DONE


def _cluster_serve(options: argparse.Namespace) -> int:
    serve_task(options.file, options.job, options.task, Console())
    return DONE


def _cluster_up(options: argparse.Namespace) -> int:
    cluster_up(options.file, options.resources, Console())
    return DONE


def _cluster_status(options: argparse.Namespace) -> int:
    return DONE if cluster_status(options.file, Console()) else FAILED


def _scale(options: argparse.Namespace) -> int:
    how: dict[str, Any] = {"weak": options.weak, "rounds": options.rounds}
    if options.measure is not None:
        print(json.dumps(asdict(measure(options.target, options.args, options.measure, **how))))
        return DONE
    scaling = scale(options.target, options.args, options.devices, **how)
    Console().print(scaling.table(), scaling.note, highlight=False)
    if options.json is not None:
        _write(options.json, scaling.to_json())
    return DONE if scaling.equal else DIFFERENT


def _timeline(options: argparse.Namespace) -> int:
    events = read_timeline(options.file)
    print_timeline(events, Console())
    if options.html is not None:
        title = options.file.name
        _write(options.html, page(title, f"<h1>{escape(title)}</h1>{notebook_timeline(events)}"))
    return DONE


def devices_table(listed: Sequence[Device]) -> Table:
    """Returns a table of devices, with the process that each belongs to, and their memory if one of them tells."""
    limits = [(device.memory_stats() or {}).get("bytes_limit") for device in listed]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("device", no_wrap=True)
    table.add_column("model")
    table.add_column("process")
    if any(limit is not None for limit in limits):
        table.add_column("memory", justify="right")
    for device, limit in zip(listed, limits, strict=True):
        memory = "" if limit is None else format_bytes(limit)
        cells = device_name(device), device.device_kind, str(device.process_index), memory
        table.add_row(*cells[: len(table.columns)])
    return table
