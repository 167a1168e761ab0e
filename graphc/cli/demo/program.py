"""The program of ``graphc demo``: small programs, their times against JAX, a network on many devices; then the page."""

from __future__ import annotations

import importlib.util
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import optax
from rich import box
from rich.console import Console
from rich.table import Table

import graphc as gx
from graphc.cli.demo.scenes import SCENES, Scene, edit_distance, play, square_roots
from graphc.cli.demo.spread import Spread, in_processes, on_devices
from graphc.compiler.runtime.costs import format_seconds

# Programs in graphc and written for JAX by hand: what their first call takes, and what later calls take.

_lax: Any = jax.lax
_jit = cast("Any", jax.jit)


@dataclass(frozen=True)
class Race:
    """A program both ways.

    Attributes:
      first: the seconds of the first calls, compiling included: graphc's, JAX's.
      later: the seconds of the later ones, the fastest of several: graphc's, JAX's.
    """

    program: str
    by_hand: str
    equal: bool
    first: tuple[float, float]
    later: tuple[float, float]


@_jit
def square_roots_in_jax(x: Any) -> Any:
    """Newton's method by hand."""

    def goes_on(state: Any) -> Any:
        return jnp.max(jnp.abs(state[0] * state[0] - x) / x) > 1e-6

    def round_of(state: Any) -> Any:
        y, rounds = state
        return (y + x / y) / 2, rounds + 1

    return _lax.while_loop(goes_on, round_of, (x, 0))


@_jit
def edit_distance_in_jax(a: Any, b: Any) -> Any:
    """The table by hand: a scan over rows, and one over each row."""

    def row(above: Any, entry: Any) -> Any:
        i, letter = entry

        def cell(left: Any, entry: Any) -> Any:
            corner, up, other = entry
            value = jnp.where(letter == other, corner, 1 + jnp.minimum(jnp.minimum(up, left), corner))
            return value, value

        first = i + 1
        _, values = _lax.scan(cell, first, (above[:-1], above[1:], b))
        return jnp.concatenate([first[None], values]), None

    last, _ = _lax.scan(row, jnp.arange(len(b) + 1), (jnp.arange(len(a)), a))
    return last[-1]


@gx.function
def heat(u: gx.Tensor) -> gx.Tensor:
    """The heat equation with a cold border."""
    for _ in range(200):
        u = u + 0.2 * (
            gx.roll(u, 1, axis=0) + gx.roll(u, -1, axis=0) + gx.roll(u, 1, axis=1) + gx.roll(u, -1, axis=1) - 4 * u
        )
        cast("Any", u)[0, :] = 0.0
        cast("Any", u)[-1, :] = 0.0
    return u


@_jit
def heat_in_jax(u: Any) -> Any:
    """The same by hand."""

    def step(_: Any, u: Any) -> Any:
        rolled = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1)
        return (u + 0.2 * (rolled - 4 * u)).at[0, :].set(0.0).at[-1, :].set(0.0)

    return _lax.fori_loop(0, 200, step, u)


def networks(x: Any, y: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Returns fifty steps of Adam over a small network: in graphc, and in JAX with optax."""
    model = gx.layers.Sequential([gx.layers.Dense(64, activation="tanh"), gx.layers.Dense(1)])
    model(x)
    start = [variable.numpy() for variable in model.trainable_variables]
    optimizer = gx.optim.Adam(0.01)
    optimizer.build(model.trainable_variables)

    @gx.function
    def trained(x: gx.Tensor, y: gx.Tensor) -> gx.Tensor:
        loss = gx.asarray(0.0)
        for _ in range(50):
            loss = optimizer.minimize(lambda: gx.mean((model(x) - y) ** 2), model)
        return loss

    rule = optax.adam(0.01)

    def loss_of(weights: Any, x: Any, y: Any) -> Any:
        first, bias, second, offset = weights
        return jnp.mean((jnp.tanh(x @ first + bias) @ second + offset - y) ** 2)

    @partial(jax.jit, donate_argnums=(0, 1))
    def trained_in_jax(weights: Any, state: Any, x: Any, y: Any) -> Any:
        def step(carried: Any, _: Any) -> Any:
            weights, state = carried
            loss, gradients = cast("Any", jax.value_and_grad)(loss_of)(weights, x, y)
            changes, state = rule.update(gradients, state, weights)
            return (cast("Any", optax.apply_updates(weights, changes)), state), loss

        carried, losses = _lax.scan(step, (weights, state), None, length=50)
        return carried, losses[-1]

    training: list[Any] = [[cast("Any", jnp.asarray)(array) for array in start]]
    training.append(rule.init(training[0]))

    def by_hand() -> Any:
        (training[0], training[1]), loss = cast("Any", trained_in_jax)(training[0], training[1], x.raw, y.raw)
        return loss

    return lambda: trained(x, y), by_hand


def race(size: int, rounds: int) -> Iterator[Race]:
    """Runs each program both ways, in turns."""
    rng = np.random.default_rng(0)

    def rows(*shape: int) -> gx.Tensor:
        return gx.asarray(rng.uniform(1.0, 2.0, shape).astype("float32"))

    numbers, grid = rows(500 * size), rows(size, size)
    words = [gx.asarray(rng.integers(0, 4, size + 1)) for _ in range(2)]  # a length that no scene has compiled
    network = networks(rows(2 * size, 16), rows(2 * size, 1))
    programs: dict[tuple[str, str], tuple[Callable[[], Any], Callable[[], Any]]] = {
        ("square roots, a while loop", "lax.while_loop"): (
            lambda: square_roots(numbers)[0],
            lambda: square_roots_in_jax(numbers.raw)[0],
        ),
        ("edit distance, a table", "two nested lax.scan"): (
            lambda: edit_distance(*words),
            lambda: edit_distance_in_jax(*(word.raw for word in words)),
        ),
        ("heat equation, 200 steps", "lax.fori_loop, .at[].set"): (lambda: heat(grid), lambda: heat_in_jax(grid.raw)),
        ("50 training steps of Adam", "lax.scan, optax"): network,
    }
    for (program, by_hand), calls in programs.items():
        firsts, results = zip(*map(_timed, calls), strict=True)
        laters = [(_timed(calls[0])[0], _timed(calls[1])[0]) for _ in range(rounds)]
        equal = np.allclose(np.asarray(results[0]), np.asarray(results[1]), rtol=1e-3, atol=1e-5)
        fastest = min(one for one, _ in laters), min(other for _, other in laters)
        yield Race(program, by_hand, bool(equal), (firsts[0], firsts[1]), fastest)


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    (result.wait() if isinstance(result, gx.Tensor) else result.block_until_ready())
    return time.perf_counter() - start, result


# The page of the demonstration: one file, which loads nothing, for light and dark screens.

_STYLE = """
:root{--paper:#fff;--ink:#0f172a;--quiet:#526077;--panel:#f5f7fa;--rule:#d5dce6;--ours:#2563eb;--theirs:#94a3b8}
@media(prefers-color-scheme:dark){:root{--paper:#0f172a;--ink:#e8eef6;--quiet:#a3b1c6;--panel:#172033;--rule:#334155;
--ours:#60a5fa;--theirs:#64748b}}
body{margin:0 auto;max-width:62rem;padding:1.5rem;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.7rem}h2{font-size:1.2rem;margin:2.2rem 0 .4rem}h3{font-size:1rem;margin:1rem 0 .3rem}
p{margin:.4rem 0}.quiet{color:var(--quiet)}
pre{background:var(--panel);border:1px solid var(--rule);border-radius:6px;padding:.7rem .9rem;overflow-x:auto;
font:13px/1.45 ui-monospace,monospace}
section details{margin:.5rem 0}summary{cursor:pointer;font-weight:600}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .8rem .3rem 0;text-align:right;border-bottom:1px solid var(--rule)}
th:first-child,td:first-child{text-align:left}
.bar{fill:var(--ours)}.bar.theirs{fill:var(--theirs)}.own text{fill:var(--ink);font:12px system-ui,sans-serif}
.curve{fill:none;stroke:var(--ours);stroke-width:2}.point{fill:none;stroke:var(--ink)}.axis{fill:none;stroke:var(--rule)}
"""


def demo_page(scenes: Sequence[Scene], races: Sequence[Race], spread: Sequence[Spread], notes: Sequence[str]) -> str:
    """Returns the page."""
    parts = [_scene(number, scene) for number, scene in enumerate(scenes, 1)]
    parts.append(
        f"<section><h2>Against JAX written by hand</h2><div class=scroll>{_table(races)}</div>{_bars(races)}"
        '<p class="quiet">The first call traces and compiles. Later calls: the fastest of several, in turns.</p>'
        "</section>"
    )
    where = ", ".join(escape(one.where) for one in spread)
    parts.append(
        f"<section><h2>The same training on {where}</h2>{_curve(spread)}"
        f"<p>The largest relative difference of a loss is {max(one.difference(spread[0]) for one in spread):.0e}.</p>"
        "</section>"
    )
    about = "".join(f'<p class="quiet">{escape(note)}</p>' for note in notes)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><title>graphc at work</title>'
        f"<style>{_STYLE}</style></head>\n<body><h1>graphc at work</h1>"
        f"<p>Ordinary Python, compiled: each program below has just run.</p>{about}\n{''.join(parts)}\n</body></html>\n"
    )


def _scene(number: int, scene: Scene) -> str:
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in scene.lines)
    pictures = "".join(
        f"<details open><summary>{escape(title)}</summary><div class=scroll>{html}</div></details>"
        for title, html in scene.html.items()
    )
    return (
        f"<section><h2>{number}. {escape(scene.title)}</h2><pre>{escape(scene.source.strip())}</pre>{paragraphs}"
        f"{pictures}</section>\n"
    )


def _table(races: Sequence[Race]) -> str:
    rows = "".join(
        f"<tr><td>{escape(one.program)}</td><td>{escape(one.by_hand)}</td><td>{'yes' if one.equal else 'NO'}</td>"
        + "".join(
            f"<td>{format_seconds(ours)}</td><td>{format_seconds(theirs)}</td><td>{ours / theirs:.2f}</td>"
            for ours, theirs in (one.first, one.later)
        )
        + "</tr>"
        for one in races
    )
    heads = ("program", "in JAX", "equal", "first call", "JAX's", "ratio", "later calls", "JAX's", "ratio")
    return f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>{rows}</table>"


def _bars(races: Sequence[Race]) -> str:
    """Draws the times of later calls, each pair by its longer one."""
    parts: list[str] = []
    for number, one in enumerate(races):
        y = 20 + number * 44
        parts.append(f'<text x="0" y="{y + 17}">{escape(one.program)}</text>')
        for line, (seconds, name) in enumerate(zip(one.later, ("graphc", "JAX by hand"), strict=True)):
            width = 380 * seconds / max(one.later)
            parts.append(
                f'<rect class="bar{" theirs" if line else ""}" x="200" y="{y + line * 16}" width="{width:.0f}" '
                f'height="13" rx="2"/><text x="{208 + width:.0f}" y="{y + 11 + line * 16}">'
                f"{format_seconds(seconds)} {name}</text>"
            )
    height = 30 + len(races) * 44
    return f'<div class=scroll><svg class="own" width="760" height="{height}" role="img">{"".join(parts)}</svg></div>'


def _curve(spread: Sequence[Spread]) -> str:
    """Draws the losses of the first training as a line, and those of the others as points on it."""
    top, count = max(spread[0].losses), len(spread[0].losses)

    def points(losses: Sequence[float]) -> list[tuple[float, float]]:
        return [(40 + 680 * i / max(count - 1, 1), 190 - 170 * loss / top) for i, loss in enumerate(losses)]

    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points(spread[0].losses))
    dots = "".join(
        f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{escape(one.where)}</title></circle>'
        for number, one in enumerate(spread[1:])
        for x, y in points(one.losses)[number :: len(spread) - 1]
    )
    return (
        f'<div class=scroll><svg class="own" width="760" height="220" role="img">'
        '<path class="axis" d="M40,20V190H720"/>'
        f'<text x="0" y="24">{top:.2f}</text><text x="14" y="194">0</text><text x="40" y="212">the loss of each step: '
        f"on one device (line), and on the others (points)</text>"
        f'<polyline class="curve" points="{line}"/>{dots}</svg></div>'
    )


SAME_LOSS = 1e-4
STYLE: dict[str, Any] = {"box": box.SIMPLE_HEAD, "pad_edge": False, "padding": (0, 1, 0, 0)}


def run_demo(folder: Path, *, quick: bool = False) -> None:
    """Runs the demonstration."""
    if importlib.util.find_spec("sklearn") is None:
        raise gx.errors.FailedPreconditionError(
            "the demo needs sklearn, which is not installed: pip install 'graphc[demo]'"
        )
    console = Console(highlight=False, soft_wrap=True)
    folder.mkdir(parents=True, exist_ok=True)
    console.print()  # apart from what the installation printed before
    console.rule("1. ordinary Python, compiled", align="left")
    scenes = play_all(console)
    console.rule("2. the same programs written for JAX by hand", align="left")
    with console.status("measuring"):
        races = list(race(20 if quick else 200, 2 if quick else 7))
    console.print(race_table(races))
    check_results(races)
    console.print("The results are equal. A first call traces and compiles; later calls: the fastest of several.\n")
    console.rule("3. a network that reads digits, on more devices and in two processes", align="left")
    notes = about_machine()
    console.print(*notes, sep="\n")
    spread = train_apart(console)
    page = write_files(folder, scenes, races, spread, notes)
    console.rule("everything, with its pictures", align="left")
    console.print(f"{page}  open it in a browser: {page.resolve().as_uri()}")
    check_losses(spread)


def play_all(console: Console) -> list[Scene]:
    """Plays the scenes, and prints three lines for each."""
    scenes: list[Scene] = []
    for number, title in enumerate(SCENES, 1):
        scenes.append(scene := play(title))
        console.print(f"[bold]{number}. {scene.title}[/bold]")
        for line in scene.lines:
            console.print(f"   {line}", markup=False)
    console.print()
    return scenes


def about_machine() -> list[str]:
    """Returns on what the demonstration runs, and what its times mean there."""
    devices: Any = cast("Any", jax.devices)()
    notes = [f"{len(devices)} x {devices[0].device_kind}; jax {jax.__version__}."]
    if jax.default_backend() == "cpu" and len(devices) > 1:
        notes.append(
            f"{len(devices)} simulated devices share {os.cpu_count()} cores: they show that a data-parallel program is "
            "right, not that it is fast."
        )
    return notes


def race_table(races: Sequence[Race]) -> Table:
    """Returns the times of both sides."""
    table = Table("program", **STYLE)
    for column in ("first call", "JAX", "ratio", "later", "JAX", "ratio"):
        table.add_column(column, justify="right")
    for one in races:
        times = [
            text
            for ours, theirs in (one.first, one.later)
            for text in (format_seconds(ours), format_seconds(theirs), f"{ours / theirs:.2f}")
        ]
        table.add_row(one.program if one.equal else f"{one.program}: NOT EQUAL", *times)
    return table


def train_apart(console: Console) -> list[Spread]:
    """Trains for an epoch on more and more devices, then in two processes."""
    spreads: list[Spread] = []
    with console.status("training"):
        for spread in (*on_devices(), in_processes()):
            spreads.append(spread)
            console.print(
                f"   {spread.where:12} loss {spread.losses[0]:.5f} to {spread.losses[-1]:.5f}, differs by "
                f"{spread.difference(spreads[0]):.0e}; {format_seconds(spread.seconds)} with compiling"
            )
    console.print()
    return spreads


def write_files(
    folder: Path, scenes: Sequence[Scene], races: Sequence[Race], spread: Sequence[Spread], notes: Sequence[str]
) -> Path:
    """Writes the page and all figures; returns the page."""
    results = {
        "scenes": [{"title": scene.title, "lines": scene.lines} for scene in scenes],
        "races": [asdict(one) for one in races],
        "spread": [asdict(one) for one in spread],
        "notes": notes,
    }
    (folder / "results.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    page = folder / "index.html"
    page.write_text(demo_page(scenes, races, spread, notes), encoding="utf-8")
    return page


def check_results(races: Sequence[Race]) -> None:
    """Makes sure that graphc computes what JAX does."""
    if other := [one.program for one in races if not one.equal]:
        raise gx.errors.FailedPreconditionError(f"results differ from those of JAX: {', '.join(other)}")


def check_losses(spread: Sequence[Spread]) -> None:
    """Makes sure that devices and processes change no loss."""
    apart = {one.where: one.difference(spread[0]) for one in spread if one.difference(spread[0]) > SAME_LOSS}
    if apart:
        raise gx.errors.FailedPreconditionError(f"the losses differ from those of one device: {apart}")
