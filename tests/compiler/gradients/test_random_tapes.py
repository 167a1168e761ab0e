"""Random programs with tapes give JAX's gradients eagerly, and the same ones compiled, or are refused with their line.

``python -m tests.compiler.gradients.test_random_tapes 0 500`` runs the programs of these numbers.
"""

from __future__ import annotations

import os
import random
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from tests.compiler.autograph.differential import compile_quietly, run
from tests.compiler.gradients.random_tapes import Texts, write_tapes
from tests.conformance.numbered_programs import Seeded
from tests.conformance.test_random_programs import REFUSALS, defined
from tests.draws import SEED

PROGRAMS = 5000
PARTS = 20
REFUSED_AT_MOST = 0.3
INPUTS = ((0.7, -0.3, 1.0, 0), (-0.4, 0.9, -1.0, 2))
ROWS = (0.5, -1.0, 0.25)


class State:
    """A Variable for JAX's side."""

    def __init__(self) -> None:
        self.assign(jnp.float32(0.5))

    def assign(self, value: Any) -> None:
        self._held = value

    def value(self) -> Any:
        return self._held * 1


def scan(body: Callable[[Any, Any], tuple[Any, Any]], state: Any, rows: Any) -> tuple[Any, None]:
    return reduce(lambda held, row: body(held, row)[0], rows, state), None


def while_loop(test: Callable[[Any], Any], body: Callable[[Any], Any], state: Any) -> Any:
    while test(state):
        state = body(state)
    return state


def replaced(new: Any, old: Any, values: Sequence[Any]) -> list[Any]:
    """The values of the names, with one object in the place of another."""
    swapped = [[new if item is old else item for item in value] if type(value) is list else value for value in values]
    return [new if value is old else value for value in swapped]


def functional(loss: Callable[..., Any], watched: Any, values: Sequence[Any]) -> list[Any]:
    """JAX's gradient of a block, and what the names hold after it: the same objects where the block leaves them."""
    known: list[Any] = []
    sizes: list[int] = []

    def block(argument: Any) -> tuple[Any, Any]:
        result, names = loss(argument, *values)
        sizes.extend(len(name) if type(name) is list else 0 for name in names)
        leaves = flat(names)
        objects = [(argument, watched), *((one, one) for one in flat([watched, *values]))]
        for leaf in leaves:
            outer = next((found for one, found in objects if one is leaf), None)
            known.append(next(n for n, one in enumerate(leaves) if one is leaf) if outer is None else outer)
        return result, [jnp.asarray(leaf) for leaf in leaves]

    gradient, leaves = jax.grad(block, has_aux=True)(watched)
    rest = iter([leaves[one] if type(one) is int else one for one in known])
    return [*([next(rest) for _ in range(size)] if size else next(rest) for size in sizes), gradient]


def flat(values: Sequence[Any]) -> list[Any]:
    return [item for value in values for item in (value if type(value) is list else [value])]


JAX = SimpleNamespace(
    sin=jnp.sin, tanh=jnp.tanh, grad=jax.grad, scan=scan, while_loop=while_loop,
    cond=lambda test, one, other: one() if test else other(),
)  # fmt: skip


def with_jax(text: str) -> Callable[..., Any]:
    namespace: dict[str, Any] = {"gx": JAX, "replaced": replaced, "functional": functional}
    exec(text, namespace)
    return namespace["program"]


def outcome(texts: Texts) -> str:
    """What became of the program: "same" or "refused"; anything else fails."""
    outcomes = {"same"}
    functionally = with_jax(texts.functional)
    with defined(texts.tapes) as program:
        compiled = compile_quietly(program)
        for given in INPUTS:
            wanted = functionally(*map(jnp.asarray, given), [jnp.float32(row) for row in ROWS], State())
            eager, _ = call(program, given)
            np.testing.assert_allclose(np.array(eager), np.array(wanted), rtol=1e-3, atol=1e-4, err_msg="eager, JAX")
            found, error = run(call, compiled, given)
            if error is None:
                np.testing.assert_allclose(np.array(found[0]), np.array(eager), rtol=1e-3, atol=1e-4)
                continue
            assert isinstance(error, REFUSALS), f"{error!r} is no refusal"
            assert "<random program" in str(error), f"no line in {error!r}"
            outcomes.add("refused")
    return "refused" if "refused" in outcomes else "same"


def call(program: Callable[..., Any], given: Sequence[float]) -> tuple[list[float], float]:
    variable.assign(0.5)
    results = program(*map(gx.asarray, given), gx.asarray(ROWS), variable)
    return [float(result) for result in results], float(variable.value())


variable: Any = None


@contextmanager
def own_variable() -> Iterator[None]:
    global variable
    variable = gx.Variable(0.5, name="s")
    yield


def numbered(number: int) -> Texts:
    """The program of that number."""
    return write_tapes(Seeded(random.Random(number)))


def run_numbers(numbers: Sequence[int]) -> tuple[Counter[str], str]:
    outcomes, failures = Counter[str](), ""
    with own_variable():
        for number in numbers:
            texts = numbered(number)
            try:
                outcomes[outcome(texts)] += 1
            except Exception:
                outcomes["failed"] += 1
                failures += f"program {number}\n{texts.tapes}\n{traceback.format_exc(limit=-2)}\n"
                print(failures.rpartition("program ")[2], flush=True)
    return outcomes, failures


@pytest.mark.parametrize("part", range(PARTS))
def test_gradients_of_random_programs_are_jaxs_or_refused(part: int) -> None:
    seed, count = os.environ.get(SEED, "all"), PROGRAMS // PARTS
    first = part * count
    if seed != "all":
        first, count = PROGRAMS + crc32(f"{seed} {part}".encode()), count // 10
    outcomes, failures = run_numbers(range(first, first + count))
    assert not failures, failures
    assert outcomes["refused"] <= (REFUSED_AT_MOST if seed == "all" else 0.6) * count, outcomes


if __name__ == "__main__":
    print(run_numbers(range(*map(int, sys.argv[1:3])))[0])
