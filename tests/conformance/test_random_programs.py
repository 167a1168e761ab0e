"""Random programs mean the same eagerly, compiled and under a tape, or are refused with their line.

``GRAPHC_RANDOM_PROGRAMS=10000`` is the big run.
"""

from __future__ import annotations

import linecache
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import event, given, note, settings
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.base.errors import (
    GraphcError,
    InvalidArgumentError,
    InvalidTypeError,
    NumberOverflowError,
    UndefinedNameError,
    UnimplementedError,
)
from tests.compiler.autograph.differential import compile_quietly, run
from tests.conformance.harness import difference, f, fresh, i, snapshot, with_tape
from tests.conformance.random_expressions import SIZE
from tests.conformance.random_programs import write_program

EXAMPLES = int(os.environ.get("GRAPHC_RANDOM_PROGRAMS", "25"))
REFUSALS = (UnimplementedError, InvalidTypeError, InvalidArgumentError, UndefinedNameError, NumberOverflowError)
REFUSED_AT_MOST = 0.25
"""The share of programs that may be refused, so that it is compiling that is tried."""

# Fused products are rounded once where eager code rounds twice; what differs by meaning differs by a half or more.
TOLERANCE = 1e-3

Draw = Callable[[st.SearchStrategy[Any]], Any]
Function = Callable[..., Any]


@dataclass(frozen=True)
class Drawn:
    """Decisions that hypothesis makes, so that it can find a small program that fails."""

    draw: Draw

    def pick(self, options: Sequence[str]) -> str:
        return self.draw(st.sampled_from(options))

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))


@dataclass(frozen=True)
class Case:
    """A program, and arguments of one trace that differ in the values of their tensors."""

    text: str
    inputs: tuple[tuple[Any, ...], ...]


@st.composite
def cases(draw: Draw) -> Case:
    text = write_program(Drawn(draw))
    small, k = st.integers(-3, 4), draw(st.integers(-2, 3))
    vectors = st.lists(small, min_size=SIZE, max_size=SIZE)
    drawn = [(draw(small), draw(small), draw(st.integers(0, 4)), draw(vectors), draw(vectors)) for _ in range(2)]
    return Case(text, tuple(inputs_of(*values, k) for values in drawn))


def inputs_of(x: int, y: int, t: int, v: list[int], w: list[int], k: int) -> tuple[Any, ...]:
    return f(x), f(y + 0.5), i(t), f(v), f(w) + f(0.5), k, 2, variable


def variable() -> gx.Variable:
    """The one Variable, as it was at first."""
    global _variable
    if _variable is None:
        _variable = gx.Variable(1.0, name="s")
    _variable.assign(1.0)
    return _variable


_variable: gx.Variable | None = None


@contextmanager
def defined(text: str, file: str = "") -> Iterator[Function]:
    """Compiles the text as if it stood in a file."""
    file = file or f"<random program {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"gx": gx}
    try:
        exec(compile(text, file, "exec"), namespace)
        yield namespace["program"]
    finally:
        del linecache.cache[file]


def outcome(case: Case, *, tapes: int = 2) -> str:
    """What became of the program: "same", "raised" or "refused"; anything else fails.

    Args:
      case: the program, which runs eagerly and compiled.
      tapes: in how many ways gradients are compared, too: 1 for a tape around the compiled function, 2 for one that is
        compiled with it besides. They take two thirds of the time.
    """
    with defined(case.text) as program:
        compiled = compile_quietly(program)
        ways = [("compiled", program, compiled)]
        if tapes and all(call(program, given).error is None for given in case.inputs):
            ways.append(("a tape around the compiled function", with_tape(program), with_tape(compiled)))
            if tapes > 1:
                ways.append(("a tape inside", with_tape(program), compile_quietly(with_tape(program))))
        outcomes = [compare(name, eager, other, given) for name, eager, other in ways for given in case.inputs]
        # A gradient may be refused where values are not.
        return max(outcomes[: len(case.inputs)], key=["same", "raised", "refused"].index)


def compare(way: str, eager: Function, other: Function, given: tuple[Any, ...]) -> str:
    """Asserts that two functions do the same with an input, or that the second one is refused as it should be."""
    expected, found = call(eager, given), call(other, given)
    raised, error = expected.error, found.error
    if error is not None:
        assert difference(found.before, found.after, 0.0, python_numbers=False) is None, (
            f"{way}: {error!r} after changes"
        )
        if not isinstance(raised, type(error)):
            assert isinstance(error, REFUSALS), f"{way}: {error!r} is no refusal; eager code gives {expected}"
            assert re.search(r'<random program -?\d+>(:|", line )\d+', str(error)), f"{way}: no line in {error!r}"
            return "refused"
        same = isinstance(error, GraphcError | NameError) or str(error) == str(raised)
        assert same, f"{way}: {error!r} for {raised!r}"
        return "raised"
    assert raised is None, f"{way}: eager code raises {raised!r}"
    problem = difference((expected.result, expected.after), (found.result, found.after), TOLERANCE, python_numbers=True)
    assert problem is None, f"{way}: {problem}"
    return "same"


@dataclass(frozen=True)
class Call:
    """What a call gave, and its arguments before and after."""

    result: Any
    error: Exception | None
    before: Any
    after: Any


def call(function: Function, given: tuple[Any, ...]) -> Call:
    gx.random.seed(7)
    args = fresh(given)
    before = snapshot(args)
    result, error = run(function, *args)
    return Call(result, error, before, snapshot(args))


@pytest.mark.timeout(max(300, 3 * EXAMPLES))
@settings(max_examples=EXAMPLES)
@given(case=cases(), tapes=st.sampled_from((0, 1, 2)))
def test_random_programs_mean_the_same_or_are_refused(case: Case, tapes: int) -> None:
    note(case.text)
    event(outcome(case, tapes=tapes))


def test_most_random_programs_are_compiled() -> None:
    outcomes: Counter[str] = Counter()

    @settings(max_examples=40, derandomize=True, database=None)
    @given(case=cases())
    def count(case: Case) -> None:
        with defined(case.text) as program:
            if call(program, case.inputs[0]).error is None:
                _, error = run(compile_quietly(program).compiled.trace, *fresh(case.inputs[0]))
                outcomes["compiled" if error is None else "refused"] += 1

    count()
    assert outcomes["refused"] <= REFUSED_AT_MOST * outcomes.total(), outcomes
