"""What graphc does and others do not, one small program each, as a user writes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import jax
import jax.numpy as jnp

import graphc as gx

__all__ = ["SCENES", "Scene", "edit_distance", "play", "square_roots"]


@dataclass(frozen=True)
class Scene:
    """One program, and what came of it. ``lines``: what to know of the result: two lines of text."""

    title: str
    source: str
    lines: tuple[str, str]
    html: dict[str, str]


@gx.function
def square_roots(x: gx.Tensor) -> Any:
    """By Newton's method: as many rounds as the numbers need."""
    y, rounds = x, gx.asarray(0)
    while gx.max(gx.abs(y * y - x) / x) > 1e-6:
        y = (y + x / y) / 2
        rounds = rounds + 1
    return y, rounds


def a_while_on_the_data() -> Iterator[Any]:
    yield square_roots
    numbers = gx.linspace(1.0, 1000.0, 1000)
    roots, rounds = square_roots(numbers)
    error = float(gx.max(gx.abs(roots - gx.sqrt(numbers)) / roots))
    yield f"{rounds.item()} rounds for 1,000 numbers, in one program; the largest error is {error:.1e}"

    def in_jax(x: Any) -> Any:
        while jnp.max(jnp.abs(x * x - 2)) > 1e-6:
            x = (x + 2 / x) / 2
        return x

    try:
        jax.jit(in_jax)(2.0)
    except jax.errors.TracerBoolConversionError as problem:
        yield f"jax.jit of such a loop: {type(problem).__name__}; there you write jax.lax.while_loop"


@gx.function
def edit_distance(a: gx.Tensor, b: gx.Tensor) -> gx.Tensor:
    """How many letters differ, at least: a table that two loops fill by index."""
    table: Any = gx.zeros((len(a) + 1, len(b) + 1), "int32")
    table[:, 0] = gx.arange(len(a) + 1)
    table[0, :] = gx.arange(len(b) + 1)
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                table[i + 1, j + 1] = table[i, j]
            else:
                least = gx.minimum(gx.minimum(table[i, j + 1], table[i + 1, j]), table[i, j])
                table[i + 1, j + 1] = 1 + least
    return table[-1, -1]


def a_table_filled_by_index() -> Iterator[Any]:
    yield edit_distance
    small = edit_distance(*(gx.asarray([*word.encode()]) for word in ("kitten", "sitting"))).item()
    first, second = (gx.random.randint((200,), 0, 4) for _ in range(2))
    large = edit_distance(first, second).item()
    size = len(str(edit_distance.graph(first, second)).splitlines())
    yield f"kitten to sitting: {small}; of two strands of 200 letters, 40,000 entries: {large}"
    yield f"the loops stay loops: the program has {size} lines for any length"


rate = 0.05


def plain(money: Any) -> Any:
    """Reads a global."""
    return money * (1.0 + rate)


interest = gx.function(plain)


def a_changed_global_is_seen() -> Iterator[Any]:
    global rate
    yield interest
    in_jax: Any = jax.jit(plain)
    results: list[tuple[float, float]] = []
    for new in (0.05, 0.10):
        rate = new
        results.append((float(interest(gx.asarray(100.0))), float(in_jax(100.0))))
    (before, stale_before), (after, stale_after) = results
    yield f"rate = 0.05 gives {before:.1f}, rate = 0.10 gives {after:.1f}: each call checks what the program has read"
    yield f"jax.jit of the same line gives {stale_before:.1f}, and then {stale_after:.1f} again"


@gx.function
def first_or_all(x: gx.Tensor) -> gx.Tensor:
    """A value of two shapes, which no compiled program can have."""
    if gx.sum(x) > 0:
        y = x[:2]
    else:
        y = x
    return y


def a_refusal_names_the_line() -> Iterator[Any]:
    yield first_or_all
    try:
        first_or_all(gx.ones(3))
    except gx.errors.InvalidArgumentError as problem:
        message, location, line = str(problem).splitlines()[:3]
        yield message[: message.index(" (")] + " ..." + message[message.index(": the shapes") :]
        yield f"{location.strip().rpartition('/')[2]}: {line.strip()}".replace('",', ",")


WEIGHTS = gx.Variable([0.0, 0.0], name="weights")


@gx.function
def train(x: gx.Tensor, y: gx.Tensor) -> gx.Tensor:
    """A hundred steps of gradient descent."""
    loss = gx.asarray(0.0)
    for _ in range(100):
        with gx.GradientTape() as tape:
            loss = gx.mean((x @ WEIGHTS - y) ** 2)
        WEIGHTS.assign_sub(0.3 * tape.gradient(loss, WEIGHTS))
    return loss


def a_graph_to_read() -> Iterator[Any]:
    yield train
    x, y = gx.asarray([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), gx.asarray([2.0, 1.0, 3.0])
    loss = train(x, y).item()
    explanation = train.explain(x, y)
    html = {"The graph": cast("Any", train.graph(x, y))._repr_html_(), "Explained": explanation.to_html()}
    yield f"100 steps in one program, the gradients in it: loss {loss:.1e}, weights {WEIGHTS.numpy().round(3)}"
    yield f"{explanation.ops} ops traced, {explanation.left} left; the graph and what was decided are drawn in the page"
    yield html


@gx.function
def two_chains() -> Any:
    """Two devices at work."""
    with gx.device("cpu:0"):
        a = gx.eye(512)
        for _ in range(12):
            a = gx.sin(a @ a)
    with gx.device("cpu:1"):
        b = gx.eye(512)
        for _ in range(12):
            b = gx.cos(b @ b)
    return gx.sum(a), gx.sum(b)


def a_timeline() -> Iterator[Any]:
    yield two_chains
    for part in two_chains():
        part.wait()
    with gx.profile() as timeline:
        for part in two_chains():
            part.wait()
    chains = [event for event in timeline.events if event.kind == "segment"]
    longest = sorted(chains, key=lambda event: event.start - event.end)[:2]
    both = max(min(event.end for event in longest) - max(event.start for event in longest), 0.0)
    share = both / min(event.end - event.start for event in longest)
    yield f"cpu:0 and cpu:1 each compute a chain of products; they overlap for {share:.0%} of the shorter one"
    yield f"gx.profile has {len(timeline.events)} events; the timeline is drawn in the page"
    yield {"The timeline": cast("Any", timeline)._repr_html_()}


@gx.function
def shrink(x: gx.Tensor) -> gx.Tensor:
    """Goes wrong at some point."""
    for _ in range(10):
        x = gx.sqrt(x - 1.0)
    return x


def a_nan_found() -> Iterator[Any]:
    yield shrink
    with gx.config.scope(check_numerics=True):
        try:
            shrink(gx.asarray([2.0, 9.0, 1e6]))
        except gx.errors.NumericsError as problem:
            message, location, line = str(problem).splitlines()[:3]
            yield f"{message.partition(' of the ')[0]} {message[message.index('in iteration') :].partition(' (gx')[0]}"
            yield f"{location.strip().rpartition('/')[2]}: {line.strip()}".replace('",', ",")


SCENES: dict[str, Callable[[], Iterator[Any]]] = {
    "A while that depends on the data": a_while_on_the_data,
    "A table that two loops fill by index": a_table_filled_by_index,
    "A global that changes is seen": a_changed_global_is_seen,
    "What cannot be compiled is refused, with your line": a_refusal_names_the_line,
    "The program is a graph that you can read, draw and explain": a_graph_to_read,
    "What ran where, and when": a_timeline,
    "A NaN, found by its line and iteration": a_nan_found,
}
"""By what they show: each yields its program, two lines of text, and perhaps pictures."""


def play(title: str) -> Scene:
    """Runs one of :data:`SCENES`."""
    program, first, second, *html = SCENES[title]()
    source = inspect.getsource(program.python_function)
    return Scene(title, source, (first, second), html[0] if html else {})
