"""Dumps what the front end makes of every program: ``python -m tests.conformance.dump out.txt --random 5000``.

For each program of the suite, and for random ones, it writes the graph, or the refusal, and how many nodes were
inserted while the program was traced, those of given-up attempts included. A change that only moves code must leave the
dump as it was, byte for byte: dump before and after, and compare the files.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import graphc as gx
from graphc.compiler.ir import GraphBuilder
from tests.conformance.harness import fresh, programs
from tests.conformance.random_programs import write_program
from tests.conformance.test_random_programs import defined, inputs_of

ROOT = Path(__file__).parents[2]


@dataclass
class Pseudorandom:
    """Decisions of a random number generator."""

    source: random.Random

    def pick(self, options: Sequence[str]) -> str:
        return self.source.choice(options)

    def number(self, low: int, high: int) -> int:
        return self.source.randint(low, high)


class Inserted:
    """Counts the nodes that are inserted anywhere."""

    def __init__(self) -> None:
        self.count = 0
        insert = GraphBuilder.append

        def counting(builder: GraphBuilder, *args: Any, **settings: Any) -> Any:
            self.count += 1
            return insert(builder, *args, **settings)

        GraphBuilder.append = counting  # type: ignore[method-assign]  # pyright: ignore[reportAttributeAccessIssue]


def described(fn: Callable[..., Any], given: tuple[Any, ...], inserted: Inserted, **options: Any) -> str:
    """Returns the graph of a program, or why it has none."""
    gx.random.seed(7)
    before = inserted.count
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")
            graph = gx.function(fn, on_retrace="ignore", **options).graph(*fresh(given))
        text = str(graph)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
    text = text.replace(f"{ROOT}/", "")
    return f"inserted {inserted.count - before}\n{text}\n"


def entries(count: int) -> Iterator[tuple[str, str]]:
    """Yields the name of each program and what becomes of it."""
    inserted = Inserted()
    for program in programs():
        for place, given in enumerate(program.inputs):
            yield f"{program.name} {place}", described(program.fn, given, inserted, **program.options)
    for number in range(count):
        text = write_program(Pseudorandom(random.Random(number)))
        with defined(text, f"<random program {number}>") as fn:
            given = inputs_of(2, 1, 3, [1, -2, 3], [0, 2, -1], 2)
            yield f"random {number}", text + described(fn, given, inserted)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--random", type=int, default=0, metavar="N", help="so many random programs besides")
    options = parser.parse_args(arguments)
    digest = hashlib.sha256()
    with options.out.open("w") as out:
        for name, text in entries(options.random):
            entry = f"### {name}\n{text}\n"
            digest.update(entry.encode())
            out.write(entry)
    sys.stdout.write(f"{digest.hexdigest()}\n")


if __name__ == "__main__":
    main()
