"""Lists that grow by what loops count, not by what tensors hold: their length is known before the program runs."""

from __future__ import annotations

from typing import Any

import graphc as gx
from tests.conformance.harness import f, program

KNOWN = "`append` under a condition on the index of a loop"
WINDOW = "a list that a loop keeps at a length"
ROWS = f(1, -2, 4, 8, 3, 3, -5, 0.5)


@program("known lengths/samples after a burn-in", inputs=[(f(1.0),), (f(-0.3),)], construct=KNOWN, gradient=True)
def burn_in(x: Any) -> Any:
    kept = []
    for step in range(60):
        x = 0.5 * x + gx.sin(x)
        if step >= 40:
            kept.append(x)
    samples = gx.stack(kept)
    return samples, gx.mean(samples), len(kept)


@program("known lengths/a log of every tenth step", inputs=[(f(1.0),)], construct=KNOWN, gradient=True)
def every_tenth(x: Any) -> Any:
    log: list[Any] = []
    for step in range(60):
        loss = x * x
        x = x - 0.1 * loss
        if step % 10 == 0:
            log.append(loss)
    return gx.stack(log), sum(log), max(log)


@program("known lengths/left out with continue", inputs=[(f(1.0), 10, 5), (f(1.0), 0, 1)], construct=KNOWN)
def thinned(x: Any, burn: int, thin: int) -> Any:
    kept = [x]
    for step in range(50):
        x = 0.9 * x + 0.1
        if step < burn:
            continue
        if (step - burn) % thin:
            continue
        kept.append(x)
    return gx.concat([gx.reshape(k, (1,)) for k in kept])


@program("known lengths/two lists, of pairs and of tensors", inputs=[(f(1.0),)], construct=KNOWN, gradient=True)
def two_lists(x: Any) -> Any:
    kept, others = [], []
    for step in range(60, 10, -3):
        x = 0.9 * x + 0.1
        if (step > 20 and step % 4 == 0) or step == 12:
            kept.append(x)
        else:
            others.append((x, x * 2))
    return gx.stack(kept), gx.stack([double for _, double in others]), len(others)


@program("known lengths/differences of neighbours", inputs=[(ROWS,)], construct=KNOWN, gradient=True)
def neighbours(xs: Any) -> Any:
    differences = []
    last = xs[0]
    for place, x in enumerate(xs):
        if place > 0:
            differences.append(x - last)
        last = x
    return gx.stack(differences)


@program("known lengths/pairs of items", inputs=[(ROWS,)], construct=KNOWN, gradient=True)
def pairs(xs: Any) -> Any:
    distances = []
    for i in range(8):
        for j in range(i + 1, 8):
            distances.append(gx.abs(xs[i] - xs[j]))  # noqa: PERF401
    return gx.stack(distances)


@program("known lengths/pairs, by a condition", inputs=[(ROWS,)], construct=KNOWN)
def pairs_by_condition(xs: Any) -> Any:
    products = []
    for i in range(7):
        for j in range(6):
            if j < i:
                products.append(xs[i] * xs[j])  # noqa: PERF401
    return gx.stack(products).sum(), len(products)


@program("known lengths/a window that slides", inputs=[(ROWS,)], construct=WINDOW, gradient=True)
def window(xs: Any) -> Any:
    recent: list[Any] = []
    means = []
    for x in xs:
        recent.append(x)
        if len(recent) > 3:
            recent.pop(0)
        means.append(sum(recent) / len(recent))
    return gx.stack(recent), gx.stack(means)


@program("known lengths/batches that fill up", inputs=[(ROWS,)], construct=WINDOW)
def batches(xs: Any) -> Any:
    batch: list[Any] = []
    means = []
    for x in xs:
        batch.append(x)
        if len(batch) == 3:
            means.append((batch[0] + batch[1] + batch[2]) / 3)
            batch.clear()
    return gx.stack(means), len(batch), gx.stack(batch)


@program("known lengths/one list that depends on tensors, and one that does not", inputs=[(ROWS,)], construct=KNOWN)
def one_of_each(xs: Any) -> Any:
    positive, even = [], []
    for place, x in enumerate(xs):
        if x > 0:
            positive.append(x)
        if place % 2 == 0:
            even.append(x)
    return gx.stack(even), positive


@program(
    "known lengths/it depends on tensors after all",
    inputs=[(ROWS,)],
    construct="a list of a length that depends on tensors",
    refused=(gx.errors.UnimplementedError, "length is known at run time only"),
)
def not_known(xs: Any) -> Any:
    kept: list[Any] = []
    for place, x in enumerate(xs):
        if place > 2 and x > 0:
            kept.append(x)
    return gx.stack(kept)
