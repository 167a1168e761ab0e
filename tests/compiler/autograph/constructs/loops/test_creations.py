"""Loops whose first iteration creates Variables: it runs by itself, and the rest is one node."""

from __future__ import annotations

import linecache
import re
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.function.trace_cache import FirstCalls
from graphc.training.layers import Dense, Sequential
from tests.compiler.autograph.differential import f

COUNT = 60
SAYS = "in the first call its first iteration runs by itself: it creates the Variable 'lazy"


class Lazy:
    """An object that makes its Variable when it is first used."""

    def __init__(self) -> None:
        self.w: Any = None
        self.all: list[Any] = []

    def value(self) -> Any:
        if self.w is None:
            self.w = gx.Variable(2.0, name="lazy")
        return self.w


def over_a_range(lazy: Lazy, x: Tensor) -> Any:
    i = None
    for i in range(3, 3 + COUNT):
        x = x + lazy.value() * i
        lazy.w.assign(lazy.w * 0.5)
    return x, i


def over_rows(lazy: Lazy, x: Tensor) -> Any:
    for i, row in enumerate(gx.arange(float(COUNT))):
        x = x + lazy.value() * i + row
    return x


ROWS = gx.data.Dataset.from_tensor_slices(np.arange(20, dtype=np.float32))


def over_a_dataset(lazy: Lazy, x: Tensor) -> Any:
    for row in ROWS:
        x = x + lazy.value() * row
    return x


def by_a_call(lazy: Lazy, x: Tensor) -> Any:
    return gx.fori_loop(2, COUNT, lambda i, total: total + lazy.value() * i, x)


def by_a_generator(lazy: Lazy, x: Tensor) -> Any:
    return sum(x * lazy.value() * i for i in range(COUNT))


def nested(lazy: Lazy, x: Tensor) -> Any:
    for i in range(COUNT):
        for j in range(COUNT):
            x = x + lazy.value() * (i * COUNT + j)
    return x


def ended_by_tensors(lazy: Lazy, x: Tensor) -> Any:
    last = -1
    for i in range(COUNT):
        x = x + lazy.value()
        last = i
        if x > 9:
            break
    else:
        last = 1000
    return x, last


def ended_in_the_first(lazy: Lazy, x: Tensor) -> Any:
    total, last = x * 0, -1
    for i in range(COUNT):
        if lazy.w is None:
            lazy.value()
            if x > 9:
                break
        total = total + x * lazy.value()
        last = i
        if i == COUNT - 5:
            break
    return total, last


def left_in_the_first(lazy: Lazy, x: Tensor) -> Any:
    for _ in range(COUNT):
        if lazy.w is None:
            lazy.value()
            break
        x = x + lazy.w
    else:
        x = x * 0
    return x


def never(lazy: Lazy, x: Tensor) -> Any:
    for _ in range(0):
        x = x + lazy.value()
    return x


def once_a_tensor_says_so(lazy: Lazy, x: Tensor) -> Any:
    for i in range(gx.asarray(10)):
        x = x + lazy.value() * i
    return x


def while_it_is_small(lazy: Lazy, x: Tensor) -> Any:
    while x < 9:
        x = x + lazy.value()
    return x


PEELED = (
    over_a_range,
    over_a_dataset,
    over_rows,
    by_a_call,
    by_a_generator,
    nested,
    ended_by_tensors,
    ended_in_the_first,
)


@pytest.mark.drawn(3)
@pytest.mark.parametrize("x", [0.001, 10.0])
@pytest.mark.parametrize("program", [*PEELED, left_in_the_first, never, once_a_tensor_says_so, while_it_is_small])
def test_both_calls_do_what_python_does(program: Any, x: float) -> None:
    plain, lazy = Lazy(), Lazy()
    compiled: Any = gx.function(program)
    for _ in range(2):
        wanted, found = program(plain, f(x)), compiled(lazy, f(x))
        for one, other in zip(gx.nest.flatten(wanted), gx.nest.flatten(found), strict=True):
            np.testing.assert_allclose(np.asarray(other), np.asarray(one), rtol=1e-5)
        assert (lazy.w is None) == (plain.w is None)
        if plain.w is not None:
            np.testing.assert_allclose(lazy.w.numpy(), plain.w.numpy(), rtol=1e-5)
    if program in PEELED:
        assert any(SAYS in loop.reason for loop in compiled.explain(lazy, f(x), compile=False).loops)


def test_a_training_loop_builds_its_model_and_its_optimizer(monkeypatch: pytest.MonkeyPatch) -> None:
    programs: list[Any] = []
    keep_program = FirstCalls.keep_program

    def keep(calls: FirstCalls, traced: Any) -> None:
        programs.append(traced.graph)
        keep_program(calls, traced)

    monkeypatch.setattr(FirstCalls, "keep_program", keep)
    x = gx.ones((4, 3))

    def train(model: Any, optimizer: Any, n: int) -> Any:
        loss = gx.asarray(0.0)
        for _ in range(n):
            model(x)
            loss = optimizer.minimize(lambda: gx.mean(model(x) ** 2), model.trainable_variables)
        return loss

    found: list[list[Any]] = []
    for run in (train, gx.function(train)):
        gx.random.seed(1)
        model, optimizer = Sequential([Dense(2), Dense(1)]), gx.optim.Adam(0.01)
        loss = run(model, optimizer, 30)
        found.append([loss, *(variable.numpy() for variable in (*model.variables, *optimizer.variables))])
    (program,) = programs
    assert [node.op.name for node in program.nodes].count("scan") == 1
    assert len(list(program.walk())) < 150  # two copies of the body: the first iteration, and that of the others
    for wanted, value in zip(*found, strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-3, atol=1e-5)


def test_explain_says_that_the_first_iteration_ran_by_itself() -> None:
    lazy, compiled = Lazy(), gx.function(by_a_call)
    compiled(lazy, f(1.0))
    (loop,) = compiled.explain(lazy, f(1.0), compile=False).loops
    line = next(n for n in range(1, 99) if "self.w = gx.Variable" in linecache.getline(__file__, n))
    assert (loop.kind, loop.reason) == (
        "rolled",
        f"its {COUNT - 2} iterations do the same work; in the first call its first iteration runs by itself: it "
        f"creates the Variable {lazy.w.name!r} (test_creations.py:{line}); the rest is one node",
    )


def accumulating(lazy: Lazy, x: Tensor) -> Any:
    for i in range(COUNT):
        x = x + lazy.value() * i
        if (i + 1) % 4 == 0:
            if not lazy.all:
                lazy.all.append(gx.Variable(0.0, name="steps"))
            lazy.all[0].assign_add(1.0)
    return x * lazy.all[0]


def test_iterations_run_by_themselves_until_all_variables_exist() -> None:
    plain, lazy, compiled = Lazy(), Lazy(), gx.function(accumulating)
    for _ in range(2):
        np.testing.assert_allclose(compiled(lazy, f(1.0)).numpy(), accumulating(plain, f(1.0)).numpy(), rtol=1e-6)
    (loop,) = compiled.explain(lazy, f(1.0), compile=False).loops
    assert re.search(
        r"its first 4 iterations run by themselves: they create the Variable 'lazy\w*' and 1 other ", loop.reason
    )


def every(lazy: Lazy, x: Tensor) -> Any:
    for i in range(210):
        lazy.all.append(gx.Variable(2.0, name="every"))
        x = x + lazy.all[-1] * i
    return x


def test_a_loop_that_always_creates_is_unrolled_and_the_warning_says_what_to_build() -> None:
    plain, lazy = Lazy(), Lazy()
    reason = (
        r"its first 4 iterations create the Variable 'every\w*' and 3 others \(test_creations\.py:\d+\), and later ones"
    )
    remedy = r"Create them before the call, by optimizer\.build\(model\.trainable_variables\) and by calling each layer"
    with pytest.warns(gx.errors.GraphcWarning, match=rf"^this for loop is unrolled, because {reason} .* {remedy}"):
        found = gx.function(every)(lazy, f(1.0))
    np.testing.assert_allclose(found.numpy(), every(plain, f(1.0)).numpy())
    assert len(lazy.all) == len(plain.all)


def until_it_is_large(lazy: Lazy, x: Tensor) -> Any:
    trips, done = 0, False
    while not done:
        x = x + lazy.value()
        trips += 1
        done = x > 50.0
    return x, trips


def test_a_while_creates_in_its_first_iteration() -> None:
    plain, lazy = Lazy(), Lazy()
    compiled: Any = gx.function(until_it_is_large)
    for _ in range(2):
        for one, other in zip(compiled(lazy, f(1.0)), until_it_is_large(plain, f(1.0)), strict=True):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other))
    (loop,) = compiled.explain(lazy, f(1.0), compile=False).loops
    assert loop.kind == "while"
    assert SAYS in loop.reason
