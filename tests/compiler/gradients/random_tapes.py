"""Writes random programs whose gradients cross other constructs: tapes in branches, loops, helpers and other tapes.

Each program is written twice: with graphc's tapes, and for JAX, whose functional gradients take every name that holds
the watched tensor at that moment as their argument. The texts differ in the differentiated blocks only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.conformance.random_expressions import Choices

__all__ = ["NAMES", "Texts", "write_tapes"]

NAMES = ("x", "y", "a", "b", "g")
"""The floating scalars that every program has; ``c`` is an argument that only conditions read."""

RESULT = "x, y, a, b, g, pair[0], h[-1]"

TAKEN = ("h[-1]", "h[0]", "[x, y, a][k]", "pair[1]")

HELPERS = """
def choose(u, v):
    if u > v:
        return u * v
    return u


def climb(u, v):
    for i in range(6):
        if v > u:
            u = gx.tanh(u + v * 0.5)
    return u


def best_of(u, v):
    best = u
    if v > best:
        best = v
    return best * u
"""


@dataclass(frozen=True)
class Texts:
    """One program.

    Attributes:
      tapes: with graphc's tapes.
      functional: with JAX's functions, in a namespace where ``gx`` has JAX's.
    """

    tapes: str
    functional: str


class Writer:
    """Writes the statements of a program, each as a pair of lines."""

    def __init__(self, choices: Choices, budget: int) -> None:
        self.pick, self.between, self.budget, self.count = choices.pick, choices.number, budget, 0

    def chance(self, one_in: int) -> bool:
        return self.between(1, one_in) == one_in

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def name(self) -> str:
        return self.pick([*NAMES, "pair[0]"] if self.chance(6) else NAMES)

    def condition(self) -> str:
        left = self.pick([*NAMES, "c"])
        return f"{left} {self.pick(['<', '>'])} {self.pick(['-0.5', '0.2', '1000', *NAMES])}"

    def value(self, depth: int = 2) -> str:
        """A small floating scalar."""
        kinds = ["name", "name", "number"] + ["binary", "binary", "call", "python", "control"] * (depth > 0)
        kind = self.pick(kinds)
        if kind == "name":
            return self.name()
        if kind == "number":
            return self.pick(["0.5", "-1.5", "s.value()"])
        one, two = self.value(depth - 1), self.value(depth - 1)
        if kind == "binary":
            return f"({one} {self.pick(['+', '-', '*'])} {two})"
        if kind == "call":
            return self.pick([f"gx.sin({one})", f"gx.tanh({one})", f"choose({self.name()}, {two})",
                              f"climb({self.name()}, {two})", f"best_of({self.name()}, {self.name()})"])  # fmt: skip
        if kind == "python":
            other = self.name()
            return self.pick([f"max({self.name()}, {two})", f"({one} if {self.condition()} else {other})",
                              f"sum({other} * e for e in rows)", f"sum([e * {one} for e in rows])"])  # fmt: skip
        other = self.name()
        return self.pick([f"gx.cond({self.condition()}, lambda: gx.sin({one}), lambda: {other})",
                          f"gx.scan(lambda u, e: (u * e + {other}, u), gx.sin({one}), rows)[0]",
                          "gx.while_loop(lambda u: u < 0.3, "
                          f"lambda u: u + 0.25 * gx.tanh({other}) ** 2 + 0.1, gx.sin({one}))"])  # fmt: skip

    def block(self, depth: int, loop: bool, tape: bool) -> Iterator[tuple[str, str]]:
        empty = True
        for _ in range(self.between(1, 3)):
            if self.budget > 0:
                self.budget -= 1
                yield from self.statement(depth, loop, tape)
                empty = False
        if empty:
            yield "pass", "pass"

    def inner(self, depth: int, loop: bool, tape: bool) -> Iterator[tuple[str, str]]:
        for one, other in self.block(depth - 1, loop, tape):
            yield f"    {one}", f"    {other}"

    def statement(self, depth: int, loop: bool, tape: bool) -> Iterator[tuple[str, str]]:
        """Writes a statement; in a tape nothing jumps out."""
        kinds = ["assign", "assign", "alias", "alias", "item", "variable", "append", "take"]
        kinds += ["if", "if", "for", "while", "tape", "tape", "tape"] * (depth > 0)
        kinds += ["jump"] * loop + ["leave"] * (not tape and depth < 3)
        kind = self.pick(kinds)
        if kind in ("tape", "if", "for", "while"):
            yield from getattr(self, f"write_{kind}")(depth, loop, tape)
            return
        line = {
            "assign": f"{self.pick(NAMES)} = gx.tanh({self.value()})",
            "alias": f"{self.pick(NAMES)} = {self.pick(NAMES)}",
            "item": f"pair = [{self.pick(NAMES)}, pair[0]]",
            "append": f"h.append({self.pick(NAMES)})",
            "take": f"{self.pick(NAMES)} = {self.pick(TAKEN)}",
            "variable": f"s.assign(gx.tanh({self.value(1)}))",
            "jump": f"if {self.condition()}: {self.pick(['break', 'continue'])}",
            "leave": f"if {self.condition()}: return {RESULT}",
        }[kind]
        if kind == "variable" and tape:
            line = "pass"  # a loop that assigns a Variable has no gradient by it, and says so
        yield line, line

    def write_if(self, depth: int, loop: bool, tape: bool) -> Iterator[tuple[str, str]]:
        line = f"if {self.condition()}:"
        yield line, line
        yield from self.inner(depth, loop, tape)
        if self.chance(3):
            yield "else:", "else:"
            yield from self.inner(depth, loop, tape)

    def write_for(self, depth: int, loop: bool, tape: bool) -> Iterator[tuple[str, str]]:
        line = f"for {self.fresh('i')} in {self.pick(['range(6)', 'range(1)', 'range(7)', 'rows'])}:"
        yield line, line
        yield from self.inner(depth, True, tape)

    def write_while(self, depth: int, loop: bool, tape: bool) -> Iterator[tuple[str, str]]:
        n = self.fresh("n")
        for line in (f"{n} = c * 0", f"while {n} < {self.between(0, 4)}:", f"    {n} = {n} + 1"):
            yield line, line
        yield from self.inner(depth, True, tape)

    def write_tape(self, depth: int, loop: bool, tape: bool) -> Iterator[tuple[str, str]]:
        kind = self.pick(["gradient", "gradient", "gradient", "persistent", "jacobian", "forward", "grad"])
        t, w, watched = self.fresh("t"), self.fresh("w"), self.pick([*NAMES, "pair[0]"])
        yield f"{w} = {watched}", f"{w} = {watched}"
        body = [*self.inner(depth, False, True)] if kind != "grad" else []
        loss = f"l{t} = gx.sin({self.pick(['', f'{watched} * ', f'{w} * '])}({self.value()}))"
        names = ", ".join([*NAMES, "pair", "h"])
        # Every name that holds the watched tensor at this moment is the argument.
        yield "", f"def f{t}(v, {names}, {w}, taken={w}):" if kind != "grad" else f"def f{t}(v):"
        if kind != "grad":
            yield "", f"    {names}, {w} = replaced(v, taken, ({names}, {w}))"
            for _, line in body:
                yield "", line
            yield "", f"    {loss}"
            yield "", f"    return l{t}, ({names})"
            call = f"functional(f{t}, {w}, ({names}, {w}))"
            yield "", f"{names}, d{t} = {call}"
            opened = {
                "persistent": "gx.GradientTape(persistent=True)",
                "forward": f"gx.ForwardAccumulator({w}, gx.asarray(1.0))",
            }.get(kind, "gx.GradientTape()")
            yield f"with {opened} as {t}:", ""
            if kind != "forward":
                yield f"    {t}.watch({w})", ""
            for line, _ in body:
                yield line, ""
            yield f"    {loss}", ""
            zero = "unconnected_gradients='zero'"
            found = {"forward": f"{t}.jvp(l{t}, {zero})", "jacobian": f"{t}.jacobian(l{t}, {w}, {zero})"}.get(
                kind, f"{t}.gradient(l{t}, {w}, {zero})"
            )
            yield f"d{t} = {found}", ""
        else:
            expression = f"{self.value()} * v"
            yield "", f"    return {expression}"
            yield "", f"d{t} = gx.grad(f{t})({w})"
            yield f"d{t} = gx.grad(lambda v: {expression})({w})", ""
        target = self.pick(["g", "g", "x", "b"])
        line = f"{target} = gx.tanh({target} + d{t})"
        yield line, line


def write_tapes(choices: Choices, budget: int = 9) -> Texts:
    """Returns a random program ``program(x, y, c, rows, s)``."""
    writer = Writer(choices, budget)
    lines = [line for _ in range(2) for line in writer.block(3, False, False)]
    start = ["a, b, g, pair, h = x, y * 0.5, x * 0.0, [x, y], [x]"]
    end = [f"return {RESULT}"]
    texts = []
    for side in (0, 1):
        body = [*start, *(pair[side] for pair in lines if pair[side].strip()), *end]
        texts.append(
            HELPERS + "\n\ndef program(x, y, c, k, rows, s):\n" + "\n".join(f"    {line}" for line in body) + "\n"
        )
    return Texts(*texts)
