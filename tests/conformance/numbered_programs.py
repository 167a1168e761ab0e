"""Runs many random programs, each known by its number: ``python -m tests.conformance.numbered_programs 0 500``.

The programs of ``test_random_programs``, their decisions made by a random generator that the number seeds instead of
by hypothesis: cheaper, and a run can be split over processes, go on where it stopped and look at all its failures.
"""

from __future__ import annotations

import os
import random
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

if __name__ == "__main__":
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("GRAPHC_VERIFY", "1")

from tests.conformance.random_expressions import SIZE
from tests.conformance.random_programs import write_program
from tests.conformance.test_random_programs import Case, inputs_of, outcome

TAPES = (2, 0, 1, 0)
"""In how many ways the gradients of a program are compared, by its number; they take two thirds of the time."""


@dataclass(frozen=True)
class Seeded:
    """Decisions that a random generator makes."""

    generator: random.Random

    def pick(self, options: Sequence[str]) -> str:
        return self.generator.choice(options)

    def number(self, low: int, high: int) -> int:
        return self.generator.randint(low, high)


def numbered(number: int) -> Case:
    """The program of that number, with its inputs."""
    generator = random.Random(number)
    text = write_program(Seeded(generator))
    k = generator.randint(-2, 3)

    def small() -> int:
        return generator.randint(-3, 4)

    def vector() -> list[int]:
        return [small() for _ in range(SIZE)]

    drawn = [(small(), small(), generator.randint(0, 4), vector(), vector()) for _ in range(2)]
    return Case(text, tuple(inputs_of(*values, k) for values in drawn))


def main(first: int, last: int) -> int:
    """Runs the programs from the first number to the one before the last; the exit status says whether one failed."""
    outcomes: Counter[str] = Counter()
    for number in range(first, last):
        case = numbered(number)
        try:
            outcomes[outcome(case, tapes=TAPES[number % len(TAPES)])] += 1
        except Exception:
            outcomes["failed"] += 1
            print(f"program {number}\n{case.text}\n{case.inputs}\n{traceback.format_exc(limit=-3)}", flush=True)
    print(f"programs {first} to {last - 1}: {dict(outcomes)}", flush=True)
    return min(outcomes["failed"], 1)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
