"""Random programs do the same before and after conversion, also when both branches of every ``if`` are run."""

from __future__ import annotations

import linecache
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from graphc.compiler.autograph import convert, to_source
from tests.compiler.autograph.frontend.reference_operators import Plain, both, plain

NAMES = ["a", "b", "c", "d"]
Draw = Callable[[st.SearchStrategy[Any]], Any]


class Program:
    """Writes a random program over four integer variables, of which two may be unbound."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.counters = 0
        self.budget = 25

    def pick(self, *options: str) -> str:
        return self.draw(st.sampled_from(options))

    def expression(self, depth: int = 2) -> str:
        kinds = ["name", "number"] + ["binary", "chain", "bool", "ternary", "comprehension", "not"] * (depth > 0)
        kind = self.pick(*kinds)
        part = self.expression
        if kind == "name":
            return self.pick(*NAMES)
        if kind == "number":
            return str(self.draw(st.integers(-2, 4)))
        if kind == "binary":
            return f"({part(depth - 1)} {self.pick('+', '-', '*', '//', '%')} {part(depth - 1)}) % 50"
        if kind == "chain":
            return f"({part(depth - 1)} < {part(depth - 1)} <= {part(depth - 1)})"
        if kind == "bool":
            return f"({part(depth - 1)} {self.pick('and', 'or')} {part(depth - 1)})"
        if kind == "ternary":
            return f"({part(depth - 1)} if {part(depth - 1)} else {part(depth - 1)})"
        if kind == "comprehension":
            return f"sum(({part(depth - 1)}) for {self.pick(*NAMES)} in range(3))"
        return f"(not {part(depth - 1)})"

    def block(self, depth: int, in_loop: bool) -> Iterator[str]:
        for _ in range(self.draw(st.integers(1, 4))):
            if self.budget <= 0:
                break
            self.budget -= 1
            yield from self.statement(depth, in_loop)
        yield "pass"

    def indented(self, depth: int, in_loop: bool) -> Iterator[str]:
        return (f"    {line}" for line in self.block(depth - 1, in_loop))

    def statement(self, depth: int, in_loop: bool) -> Iterator[str]:
        simple = ["assign", "assign", "augment", "unpack", "return", "delete", "lambda", "walrus", "nonlocal"]
        kind = self.pick(
            *simple,
            *["break", "continue"] * in_loop,
            *["if", "if", "while", "for", "try", "with", "match"] * (depth > 0),
        )
        yield from getattr(self, f"write_{kind}")(depth, in_loop)

    def write_assign(self, depth: int, in_loop: bool) -> Iterator[str]:
        yield f"{self.pick(*NAMES)} = {self.expression()}"

    def write_augment(self, depth: int, in_loop: bool) -> Iterator[str]:
        yield f"{self.pick(*NAMES)} {self.pick('+=', '-=')} {self.expression(1)}"

    def write_unpack(self, depth: int, in_loop: bool) -> Iterator[str]:
        yield f"{self.pick(*NAMES)}, {self.pick(*NAMES)} = {self.expression(1)}, {self.expression(1)}"

    def binding(self, depth: int = 2) -> str:
        """An expression that binds names by := on some ways."""
        part = self.binding
        match self.pick("name", "plain", *["and", "or", "not", "ternary", "chain"] * (depth > 0)):
            case "name":
                return f"({self.pick(*NAMES)} := {self.expression(1)})"
            case "plain":
                return self.expression(1)
            case "not":
                return f"(not {part(depth - 1)})"
            case "ternary":
                return f"({part(depth - 1)} if {part(depth - 1)} else {part(depth - 1)})"
            case "chain":
                return f"({self.expression(0)} < {self.expression(0)} <= {part(0)} < {part(0)})"
            case word:
                return f"({part(depth - 1)} {word} {part(depth - 1)})"

    def write_walrus(self, depth: int, in_loop: bool) -> Iterator[str]:
        kind = self.pick("if", "if", "while", "return", "assign", "assert")
        if kind == "if":
            yield f"if {self.binding()}:"
            yield from self.indented(0, in_loop)
            yield "else:"
            yield from self.indented(0, in_loop)
        elif kind == "while":
            self.counters += 1
            yield f"n{self.counters} = 0"
            yield f"while (n{self.counters} := n{self.counters} + 1) < 4 and {self.binding()}:"
            yield from self.indented(0, True)
            yield from self.loop_else(1, in_loop)
        else:
            yield {"return": "return", "assign": f"{self.pick(*NAMES)} =", "assert": "assert"}[kind] + self.binding()

    def write_delete(self, depth: int, in_loop: bool) -> Iterator[str]:
        if self.draw(st.integers(0, 3)) == 0:
            yield f"del {self.pick(*NAMES)}"

    def write_lambda(self, depth: int, in_loop: bool) -> Iterator[str]:
        if self.draw(st.integers(0, 3)) == 0:
            yield f"later = lambda: {self.expression(1)}"
        else:
            yield f"{self.pick(*NAMES)} = later()"

    def write_nonlocal(self, depth: int, in_loop: bool) -> Iterator[str]:
        if self.draw(st.integers(0, 3)) == 0:
            name = self.pick(*NAMES)
            yield "def change():"
            yield f"    nonlocal {name}"
            yield f"    if {self.expression(1)}:"
            yield f"        {name} = 7"
            yield f"    return {name}"
        else:
            yield f"{self.pick(*NAMES)} = change()"

    def write_return(self, depth: int, in_loop: bool) -> Iterator[str]:
        yield f"return {self.expression()}"

    def write_break(self, depth: int, in_loop: bool) -> Iterator[str]:
        yield "break"

    def write_continue(self, depth: int, in_loop: bool) -> Iterator[str]:
        yield "continue"

    def write_if(self, depth: int, in_loop: bool) -> Iterator[str]:
        yield f"if {self.expression()}:"
        yield from self.indented(depth, in_loop)
        if self.draw(st.booleans()):
            yield f"elif {self.expression()}:"
            yield from self.indented(depth, in_loop)
        if self.draw(st.booleans()):
            yield "else:"
            yield from self.indented(depth, in_loop)

    def write_match(self, depth: int, in_loop: bool) -> Iterator[str]:
        part = self.expression
        yield f"match {self.pick(part(1), f'({part(1)}, {part(1)})', f'[{part(0)}, ({part(0)}, {part(0)})]')}:"
        for _ in range(self.draw(st.integers(1, 3))):
            pattern = self.pattern(2)
            must_guard = pattern == "_" or pattern in NAMES
            guard = self.pick(f" if {part(1)}", f" if ({self.pick(*NAMES)} := {part(1)})", *[""] * (not must_guard))
            yield f"    case {pattern}{guard}:"
            yield from (f"    {line}" for line in self.indented(depth, in_loop))
        if self.draw(st.booleans()):
            yield f"    case {self.pick('_', *NAMES)}:"
            yield from (f"    {line}" for line in self.indented(depth, in_loop))

    def pattern(self, depth: int) -> str:
        part = self.pattern
        kinds = ["value", "values", "name", "name", "any"] + ["pair", "star", "as", "either"] * (depth > 0)
        match self.pick(*kinds):
            case "value":
                return str(self.draw(st.integers(-1, 3)))
            case "values":
                return "(0 | 1 | None)"
            case "name":
                return self.pick(*NAMES)
            case "pair":
                return f"({part(depth - 1)}, {part(depth - 1)})"
            case "star":
                return f"[{part(depth - 1)}, *{self.pick('_', *NAMES)}]"
            case "as":
                return f"(0 | 1 as {self.pick(*NAMES)})"
            case "either":
                name = self.pick(*NAMES)
                return f"((0, {name}) | ({name}, 1) | [{name}, [_, 1 | 2]] | (1 | 2 as {name}))"
            case _:
                return "_"

    def loop_else(self, depth: int, in_loop: bool) -> Iterator[str]:
        if self.draw(st.booleans()):
            yield "else:"
            yield from self.indented(depth, in_loop)

    def write_while(self, depth: int, in_loop: bool) -> Iterator[str]:
        self.counters += 1
        counter = f"n{self.counters}"
        yield f"{counter} = 0"
        yield self.pick(
            f"while {counter} < 3:", f"while {counter} < 3 and {self.expression(1)}:", f"while (e := {counter}) < 3:"
        )
        yield f"    {counter} += 1"
        yield from self.indented(depth, True)
        yield from self.loop_else(depth, in_loop)

    def write_for(self, depth: int, in_loop: bool) -> Iterator[str]:
        yield f"for {self.pick(*NAMES, 'e')} in range({self.draw(st.integers(0, 3))}):"
        yield from self.indented(depth, True)
        yield from self.loop_else(depth, in_loop)

    def write_try(self, depth: int, in_loop: bool) -> Iterator[str]:
        yield "try:"
        yield from self.indented(depth, in_loop)
        yield self.pick("except ZeroDivisionError:", "except Exception:", "except Exception as d:")
        yield from self.indented(depth, in_loop)
        if self.draw(st.booleans()):
            yield "else:"
            yield from self.indented(depth, in_loop)
        if self.draw(st.booleans()):
            yield "finally:"
            yield f"    {self.pick(*NAMES)} = {self.expression(1)}"

    def write_with(self, depth: int, in_loop: bool) -> Iterator[str]:
        manager, target = (
            self.pick("nullcontext(3)", "suppress(ZeroDivisionError)"),
            self.pick("", f" as {self.pick(*NAMES)}"),
        )
        yield f"with {manager}{target}:"
        yield from self.indented(depth, in_loop)


@st.composite
def programs(draw: Draw) -> str:
    program = Program(draw)
    first = "c, d = 2, 3" if draw(st.integers(0, 4)) else "pass"
    body = "\n".join([first, *program.block(3, False)])
    return "def program(a, b, later=int, change=int):\n" + textwrap.indent(f"{body}\nreturn a, b, c, d", "    ")


def define(text: str) -> Callable[..., Any]:
    """Compiles the text as if it stood in a file."""
    file = "<random program>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {}
    exec(compile("from contextlib import nullcontext, suppress", file, "exec"), namespace)
    exec(compile(text, file, "exec"), namespace)
    return namespace["program"]


def outcome(fn: Callable[..., Any], *args: int) -> tuple[object, ...]:
    try:
        return "value", repr(fn(*args)).partition(" at 0x")[0]
    except NameError:
        return ("unbound",)
    except (
        ArithmeticError,
        AssertionError,
        TypeError,
    ) as error:  # a caught error in arithmetic, whose type the message names
        return (type(error),)


@pytest.mark.parametrize("operators", [plain, both], ids=["plain", "both"])
@given(text=programs(), a=st.integers(-1, 3), b=st.integers(-1, 3))
def test_random_programs_keep_their_meaning(operators: Plain, text: str, a: int, b: int) -> None:
    try:
        original = define(text)
    except SyntaxError:  # such as a name that a pattern binds twice, or declared nonlocal and never bound
        return
    note(text)
    note(to_source(original))
    assert outcome(convert(original, operators=operators), a, b) == outcome(original, a, b)
