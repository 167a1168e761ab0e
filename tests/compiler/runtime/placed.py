"""Programs for the tests of the runtime, and pins for their ops."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import graphc as gx

__all__ = ["PROGRAMS", "pins"]


def pins(seed: int, count: int = 3) -> Callable[[Any], str | None]:
    """A device function that pins about half of all ops, each to one of the first devices; the same for one seed."""
    draws = random.Random(seed)
    return lambda node: f"cpu:{draws.randrange(count)}" if draws.random() < 0.5 else None


def straight(x: Any) -> Any:
    """Several chains that meet."""
    a, b = gx.tanh(x) * 2, gx.exp(-x)
    c = a @ b
    return {"sum": gx.sum(a + c), "parts": [b - c, (a * b).T], "constant": gx.ones(2), "same": x}


def branches(x: Any) -> Any:
    """Conditions on tensors, nested, with elif and several results."""
    total, mean = gx.sum(x), gx.mean(x)
    if total > 1:
        y = x * 2
        if mean > 2:
            y = y - mean
    elif total < -1:
        y = -x
    else:
        y = gx.zeros_like(x)
    return y + total


def loops(x: Any) -> Any:
    """A loop over rows that collects others, one over a range, one until a condition holds."""
    rows = []
    last = gx.zeros(x.shape[1])
    for row in x:
        last = last * 0.5 + row
        rows.append(last)
    for i in range(20):
        last = last + i * 0.01
    count = 0
    while gx.sum(last) > 0.5:
        last = last * 0.5
        count += 1
    return gx.stack(rows), last, count


def early(x: Any) -> Any:
    """A loop that a condition leaves, with jumps."""
    found = -1
    for i in range(x.shape[0]):
        if x[i, 0] < 0:
            continue
        if gx.sum(x[i]) > 2:
            found = i
            break
    else:
        found = 100
    return found * 2


def failing(x: Any) -> Any:
    """An exception that tensors decide on, after a print."""
    print("sum", gx.sum(x))
    if gx.sum(x) > 1:
        raise ValueError("too large", gx.max(x))
    return x


def trained(x: Any) -> Any:
    """Gradients, by a tape inside."""
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = gx.tanh(x @ x)
        for _ in range(3):
            y = gx.sin(y) @ x
        loss = gx.sum(y**2)
    return loss, tape.gradient(loss, x)


PROGRAMS = [straight, branches, loops, early, failing]
