"""Writes random expressions, by the kind of value that they give.

Numbers stay exact: floats are multiples of a half that are clipped, ints are taken modulo something, so that rounding
never decides which way a program goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

SIZE = 4
"""How long the vectors are."""


class Choices(Protocol):
    """Where the decisions come from: hypothesis, or a random generator."""

    def pick(self, options: Sequence[str]) -> str: ...

    def number(self, low: int, high: int) -> int: ...


@dataclass
class Names:
    """What a piece of code may read, by kind."""

    floats: list[str]
    counts: list[str]
    ints: list[str]
    helpers: list[str] = field(default_factory=list)
    indices: list[str] = field(default_factory=list)
    elements: list[str] = field(default_factory=list)
    whole: bool = True
    """Whether the vectors, the list, the dict and the rest of the state are there, too."""


class Expressions:
    """Writes the expressions of one function."""

    def __init__(self, choices: Choices, names: Names) -> None:
        self.names, self.counters = names, 0
        self.pick, self.integer_between = choices.pick, choices.number

    def chance(self, one_in: int) -> bool:
        return self.integer_between(1, one_in) == one_in

    def fresh(self, letter: str) -> str:
        self.counters += 1
        return f"{letter}{self.counters}"

    def number(self) -> str:
        return str(self.integer_between(-3, 4))

    def integer(self, depth: int = 1) -> str:
        """A Python int in eager code, unless a tensor has met one of the names."""
        names = self.names
        nested = ["binary", "binary", "call"] * (depth > 0)
        kind = self.pick(["name", "name", "number", *["index"] * (2 * bool(names.indices)), *nested])
        if kind == "name":
            return self.pick(names.ints)
        if kind == "index":
            return self.pick(names.indices)
        if kind == "binary":
            left, right = self.integer(depth - 1), self.integer(depth - 1)
            return f"({left} {self.pick(['+', '-', '*'])} {right}) % {self.integer_between(2, 9)}"
        if kind == "call":
            left, right = self.integer(depth - 1), self.integer(depth - 1)
            calls = [f"abs({left})", f"max({left}, {right})", f"min({left}, {right})", f"({left} // 2)"]
            calls += ["len(v)", f"({left} if {self.condition(0)} else {right})"]
            calls += ["table['n']", "len(log)", "cell.count"] * names.whole
            return self.pick(calls if names.whole else calls[:4])
        return self.number()

    def count(self, depth: int = 1) -> str:
        """An int tensor between 0 and 8."""
        other = self.pick([*self.names.counts, self.integer(depth)])
        symbol = self.pick(["+", "-", "*"])
        return f"({self.pick(self.names.counts)} {symbol} {other}) % {self.integer_between(2, 9)}"

    def position(self) -> str:
        """An index into a vector."""
        kind = self.pick(["number", "count", "int", *["index"] * (2 * bool(self.names.indices))])
        if kind == "number":
            return str(self.integer_between(-SIZE, SIZE - 1))
        if kind == "count":
            return f"({self.count(0)}) % {SIZE}"
        return f"({self.pick(self.names.indices) if kind == 'index' else self.integer(0)}) % {SIZE}"

    def tensor(self, depth: int = 2) -> str:
        """A float scalar."""
        names = self.names
        nested = ["binary", "number", "clip", "ternary", "half", "larger", *["call"] * bool(names.helpers)]
        whole = ["item", "sum", "held", "held", "comprehension"] * names.whole
        kind = self.pick([*["name"] * 3, *["element"] * (2 * bool(names.elements)), *(nested + whole) * (depth > 0)])
        part = depth - 1
        if kind == "name":
            return self.pick(names.floats)
        if kind == "element":
            return self.pick(names.elements)
        if kind == "number":
            return f"({self.pick(names.floats)} {self.pick(['+', '-', '*'])} {self.integer()})"
        if kind == "binary":
            return f"({self.tensor(part)} {self.pick(['+', '-'])} {self.tensor(part)})"
        if kind == "ternary":
            return f"({self.tensor(part)} if {self.condition(0)} else {self.tensor(part)})"
        if kind == "half":
            return f"{self.pick(['f + ', '']) * names.whole}{self.tensor(0)} * 0.5"
        if kind == "larger":
            return f"{self.pick(['max', 'min', 'gx.maximum'])}({self.tensor(part)}, {self.tensor(part)})"
        if kind == "call":
            return f"{self.pick(names.helpers)}({self.tensor(0)}, {self.integer(0)})"
        if kind == "item":
            return f"{self.pick(['v', 'w', 'u'])}[{self.position()}]"
        if kind == "sum":
            return f"gx.sum({self.vector()})"
        if kind == "held":
            return self.pick(["table['x']", "box[0]", "cell.value", "cell.push(2)", "s.value()", "s * 2"])
        if kind == "comprehension":
            name = self.fresh("c")
            return f"sum({name} {self.pick(['+', '*'])} {self.integer(0)} for {name} in {self.pick(['v', 'w'])})"
        return f"gx.clip({self.tensor(part)}, -20, 20)"

    def vector(self) -> str:
        name = self.pick(["v", "w", "u"])
        kinds = [name, f"{name}[1:]", f"{name}[::2]", f"{name} * {self.tensor(0)}"]
        return self.pick([*kinds, f"gx.where({name} > {self.tensor(0)}, {name}, {self.number()})"])

    def condition(self, depth: int = 1) -> str:
        nested = ["chain", "not", "and", "or", "call"] * (depth > 0)
        kind = self.pick(["tensor", "tensor", "count", "int", *["element"] * bool(self.names.elements), *nested])
        compare = self.pick(["<", "<=", ">", ">=", "==", "!="])
        if kind == "tensor":
            return f"{self.pick(self.names.floats)} {compare} {self.number()}"
        if kind == "element":
            return f"{self.pick(self.names.elements)} {compare} {self.tensor(0)}"
        if kind == "count":
            return f"{self.count()} {compare} {self.integer()}"
        if kind == "int":
            return f"{self.integer()} {compare} {self.integer()}"
        if kind == "chain":
            return f"{self.number()} < {self.integer()} <= {self.count(0)}"
        if kind == "not":
            return f"not {self.condition(0)}"
        if kind == "call":
            calls = ["gx.any(v > 1)", "gx.all(w < 2)", f"any(e > {self.number()} for e in v)", "f > 0", "log", "t"]
            calls += ["gx.random.uniform(()) < 0.5", "s > 2", "cell.count > 1"]
            return self.pick(calls) if self.names.whole else self.condition(0)
        return f"({self.condition(0)} {kind} {self.condition(0)})"
