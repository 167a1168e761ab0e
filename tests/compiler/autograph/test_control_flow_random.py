"""Random programs over tensors and Python numbers: compiled, they mean what they mean eagerly, or they are refused."""

from __future__ import annotations

import linecache
import os
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import given, note, settings
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.autograph import to_source
from graphc.compiler.base.errors import GraphcError
from tests.compiler.autograph.differential import compile_quietly, run
from tests.conformance.comparing import difference

Draw = Callable[[st.SearchStrategy[Any]], Any]

TENSORS = ["x", "y"]
COUNTS = ["t"]
INTS = ["k", "m"]
EXAMPLES = int(os.environ.get("GRAPHC_RANDOM_PROGRAMS", "60"))


class Program:
    """Writes a program over two float tensors, one int tensor and two Python ints.

    Values stay small: tensors are clipped and ints taken modulo something, so that rounding does not decide.
    """

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.counters = 0
        self.budget = 14
        self.indices: list[str] = []

    def pick(self, options: list[str]) -> str:
        return self.draw(st.sampled_from(options))

    def number(self) -> str:
        return str(self.draw(st.integers(-3, 4)))

    def integer(self, depth: int = 2) -> str:
        """An expression that is a Python int in eager code, unless a tensor has met one of the names."""
        kind = self.pick(["name", "number", *["index"] * (2 * bool(self.indices)), *["binary"] * depth])
        if kind == "name":
            return self.pick(INTS)
        if kind == "number":
            return self.number()
        if kind == "index":
            return self.pick(self.indices)
        symbol = self.pick(["+", "-", "*"])
        return f"({self.integer(depth - 1)} {symbol} {self.integer(depth - 1)}) % {self.draw(st.integers(2, 9))}"

    def count(self, depth: int = 1) -> str:
        other = self.pick([*COUNTS, self.integer(depth)])
        return f"({self.pick(COUNTS)} {self.pick(['+', '-', '*'])} {other}) % {self.draw(st.integers(2, 9))}"

    def tensor(self, depth: int = 2) -> str:
        kind = self.pick(["name", "name", *["binary", "number", "clip", "ternary"] * (depth > 0)])
        if kind == "name":
            return self.pick(TENSORS)
        if kind == "number":
            return f"({self.pick(TENSORS)} {self.pick(['+', '-', '*'])} {self.integer(1)})"
        if kind == "binary":
            return f"({self.tensor(depth - 1)} {self.pick(['+', '-'])} {self.tensor(depth - 1)})"
        if kind == "ternary":
            return f"({self.tensor(depth - 1)} if {self.condition(0)} else {self.tensor(depth - 1)})"
        return f"gx.clip({self.tensor(depth - 1)}, -20, 20)"

    def condition(self, depth: int = 1) -> str:
        kind = self.pick(["tensor", "count", "int", *["chain", "not", "and", "or"] * (depth > 0)])
        compare = self.pick(["<", "<=", ">", ">=", "==", "!="])
        if kind == "tensor":
            return f"{self.pick(TENSORS)} {compare} {self.number()}"
        if kind == "count":
            return f"{self.count()} {compare} {self.integer(1)}"
        if kind == "int":
            return f"{self.integer(1)} {compare} {self.integer(1)}"
        if kind == "chain":
            return f"{self.number()} < {self.integer(1)} <= {self.count(0)}"
        if kind == "not":
            return f"not {self.condition(0)}"
        return f"({self.condition(0)} {kind} {self.condition(0)})"

    def block(self, depth: int, loop: bool) -> Iterator[str]:
        for _ in range(self.draw(st.integers(1, 4))):
            if self.budget <= 0:
                break
            self.budget -= 1
            yield from self.statement(depth, loop)
        yield "pass"

    def indented(self, depth: int, loop: bool) -> Iterator[str]:
        return (f"    {line}" for line in self.block(depth - 1, loop))

    def statement(self, depth: int, loop: bool) -> Iterator[str]:
        simple = ["tensor", "tensor", "int", "count", "augment", "return", "store", "last"]
        nested = ["if", "if", "for", "for", "while"] * (depth > 0)
        yield from getattr(self, f"write_{self.pick([*simple, *nested, *['jump'] * loop])}")(depth, loop)

    def write_tensor(self, depth: int, loop: bool) -> Iterator[str]:
        yield f"{self.pick(TENSORS)} = gx.clip({self.tensor()}, -50, 50)"

    def write_int(self, depth: int, loop: bool) -> Iterator[str]:
        yield f"{self.pick(INTS)} = {self.integer()}"

    def write_count(self, depth: int, loop: bool) -> Iterator[str]:
        yield f"{self.pick(COUNTS)} = {self.count()}"

    def write_augment(self, depth: int, loop: bool) -> Iterator[str]:
        if self.draw(st.booleans()):
            yield f"{self.pick(INTS)} += {self.integer(1)}"
        else:
            yield f"{self.pick(TENSORS)} -= {self.integer(1)}"

    def write_last(self, depth: int, loop: bool) -> Iterator[str]:
        yield f"{self.pick(INTS)} = {self.pick([*self.indices, *INTS])}"

    def write_store(self, depth: int, loop: bool) -> Iterator[str]:
        if self.draw(st.integers(0, 2)) == 0:
            yield self.pick([f"log.append({self.integer(1)})", f"log = [*log, {self.integer(0)}]", "log.reverse()"])
        else:
            yield f"box = ({self.pick(TENSORS)}, box[0])"

    def write_return(self, depth: int, loop: bool) -> Iterator[str]:
        if self.draw(st.booleans()):
            yield "return x, y, t, k, m, log, box"

    def write_jump(self, depth: int, loop: bool) -> Iterator[str]:
        yield self.pick(["break", "continue"])

    def write_if(self, depth: int, loop: bool) -> Iterator[str]:
        yield f"if {self.condition()}:"
        yield from self.indented(depth, loop)
        if self.draw(st.booleans()):
            yield "else:"
            yield from self.indented(depth, loop)

    def write_for(self, depth: int, loop: bool) -> Iterator[str]:
        self.counters += 1
        index = f"i{self.counters}"
        items = [f"range({self.draw(st.integers(0, 12))})", f"range({self.draw(st.integers(5, 9))})"]
        items += [f"range({self.draw(st.integers(3, 9))}, -2, -1)", f"range({self.count(0)})", "(1, 4)"]
        chosen = self.pick([*items, *[f"range({name})" for name in self.indices]])
        yield f"for {index} in {chosen}:"
        self.indices.append(index)
        yield from self.indented(depth, True)
        self.indices.remove(index)

    def write_while(self, depth: int, loop: bool) -> Iterator[str]:
        self.counters += 1
        counter = f"n{self.counters}"
        yield f"{counter} = {self.pick(['0', 't * 0'])}"
        yield f"while {counter} < {self.draw(st.integers(1, 6))} and {self.condition(0)}:"
        yield f"    {counter} += 1"
        yield from self.indented(depth, True)


@st.composite
def programs(draw: Draw) -> str:
    body = "\n".join(Program(draw).block(3, False))
    first = "log, box = [], (x, y)"
    last = "return x, y, t, k, m, log, box"
    return "def program(x, y, t, k, m):\n" + textwrap.indent(f"{first}\n{body}\n{last}", "    ") + "\n"


def define(text: str) -> Callable[..., Any]:
    """Compiles the text as if it stood in a file."""
    file = f"<random program {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"gx": gx}
    exec(compile(text, file, "exec"), namespace)
    return namespace["program"]


@settings(max_examples=EXAMPLES)
@given(text=programs(), x=st.integers(-2, 3), y=st.integers(-2, 3), t=st.integers(0, 4), k=st.integers(-2, 3))
def test_random_programs_mean_the_same_or_are_refused(text: str, x: int, y: int, t: int, k: int) -> None:
    fn = define(text)
    note(text)
    note(to_source(fn))
    arguments = gx.asarray(float(x)), gx.asarray(y + 0.5), gx.asarray(t), k, 2
    eager, expected = run(fn, *arguments)
    compiled, found = run(compile_quietly(fn), *arguments)
    if expected is not None:
        assert found is not None, f"eager code raises {expected!r}"
    elif found is not None:
        assert isinstance(found, GraphcError), repr(found)
    else:
        problem = difference(eager, compiled)
        assert problem is None, f"eager and compiled differ at {problem}"
