"""Writes random programs over tensors, vectors, lists and Python numbers.

Numbers stay exact: floats are multiples of a half that are clipped, ints are taken modulo something, so that rounding
never decides which way a program goes. ``acc`` alone sees products and powers, and no condition reads it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

SIZE = 4
"""How long the vectors are."""

DEPTH = 3
"""How deep statements nest."""

RESULT = "x, y, t, k, m, f, v, u, acc, box, table, log, cell.value, cell.count"
"""What every program returns, wherever it does."""

PARAMETERS = "x, y, t, v, w, k, m, s"
"""Two float scalars, an int scalar, two float vectors, two Python ints and a float Variable."""


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


class Writer:
    """Writes one function, statement by statement."""

    def __init__(self, choices: Choices, names: Names, result: str, budget: int) -> None:
        self.choices, self.names, self.result, self.budget = choices, names, result, budget
        self.counters, self.bound = 0, False
        self.pick, self.integer_between = choices.pick, choices.number

    def chance(self, one_in: int) -> bool:
        return self.integer_between(1, one_in) == one_in

    def fresh(self, letter: str) -> str:
        self.counters += 1
        return f"{letter}{self.counters}"

    # --- expressions

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

    # --- statements

    def block(self, depth: int, loop: bool, least: int = 1, most: int = 4) -> list[str]:
        lines: list[str] = []
        for _ in range(self.integer_between(least, most)):
            if self.budget > 0:
                self.budget -= 1
                lines += self.statement(depth, loop)
        return lines or ["pass"]

    def indented(self, depth: int, loop: bool) -> list[str]:
        return [f"    {line}" for line in self.block(depth - 1, loop)]

    def statement(self, depth: int, loop: bool) -> Iterator[str]:
        simple = ["float", "float", "float", "int", "int", "count", "augment", "augment", "return"]
        whole = ["store", "store", "store", "swap", "mixed", "new", "accumulate", "entry", "last", "call"]
        whole += ["grow"] * (depth == DEPTH or self.chance(3))
        nested = ["if", "if", "if", "for", "for", "for", "while"] * (depth > 0)
        rare = ["fail", "match", "try"] * (self.names.whole and depth > 0 and self.chance(3))
        kinds = [*simple, *whole * self.names.whole, *nested, *rare, *["jump", "jump"] * loop]
        yield from getattr(self, f"write_{self.pick(kinds)}")(depth, loop)

    def write_float(self, depth: int, loop: bool) -> Iterator[str]:
        yield f"{self.pick(self.names.floats)} = gx.clip({self.tensor()}, -50, 50)"

    def write_int(self, depth: int, loop: bool) -> Iterator[str]:
        yield f"{self.pick(self.names.ints)} = {self.integer(2)}"

    def write_count(self, depth: int, loop: bool) -> Iterator[str]:
        yield f"{self.pick(self.names.counts)} = {self.count()}"

    def write_augment(self, depth: int, loop: bool) -> Iterator[str]:
        name = self.pick([*self.names.ints, *self.names.floats])
        yield f"{name} {self.pick(['+=', '-='])} {self.integer()}"

    def write_return(self, depth: int, loop: bool) -> Iterator[str]:
        if depth < DEPTH and self.chance(2):
            yield f"return {self.result}"

    def write_jump(self, depth: int, loop: bool) -> Iterator[str]:
        yield self.pick(["break", "continue"])

    def write_store(self, depth: int, loop: bool) -> Iterator[str]:
        """Assigns to items of a vector."""
        name = self.pick(["v", "v", "v", "u"])
        kind = self.pick(["item", "item", "item", "augment", "augment", "slice", "swap", "copy", "copy", "alias"])
        if kind == "item":
            yield f"{name}[{self.position()}] = gx.clip({self.tensor(1)}, -50, 50)"
        elif kind == "augment":
            yield f"{name}[{self.position()}] {self.pick(['+=', '-='])} {self.integer(0)}"
        elif kind == "slice":
            yield f"{name}{self.pick(['[1:3]', '[::2]', '[:]'])} = {self.pick([self.number(), self.tensor(0)])}"
        elif kind == "swap":
            first, second = self.position(), self.position()
            yield f"{name}[{first}], {name}[{second}] = {name}[{second}], {name}[{first}]"
        elif kind == "alias":
            yield self.pick(["u = v", "v = u"])
        else:
            yield f"{name} = gx.clip({self.pick(['v', 'w', 'u'])} {self.pick(['+', '-'])} {self.integer(0)}, -50, 50)"

    def write_swap(self, depth: int, loop: bool) -> Iterator[str]:
        yield self.pick(["x, y = y, x", "k, m = m, k", "x, k = x + k, k + 1", "box = (x, box[0])", "x, y = box"])

    def write_mixed(self, depth: int, loop: bool) -> Iterator[str]:
        """Ints that become floats, and floats that do not grow."""
        yield self.pick(["f = 0.5", "f = -1.5", "f = f + 1", "f = k", "f = -f", "f = float(k)", "f = x", "f += 0.5"])

    def write_grow(self, depth: int, loop: bool) -> Iterator[str]:
        """Changes the list."""
        value = self.pick([self.integer(0), self.tensor(0)])
        kinds = [f"log.append({value})", f"log.append({value})", f"log = [*log, {value}]", f"log += [{value}]"]
        yield self.pick(
            [*kinds, f"log[{self.integer_between(-1, 1)}] = {value}", "log.pop()", "log.reverse()", "log.insert(1, 7)"]
        )

    def write_new(self, depth: int, loop: bool) -> Iterator[str]:
        """Binds a name that may be bound on this path only, or reads it."""
        if self.bound and self.chance(2):
            yield "x = gx.clip(x + z, -50, 50)"
        else:
            self.bound = True
            yield f"z = {self.pick([self.tensor(1), self.integer(0)])}"

    def write_accumulate(self, depth: int, loop: bool) -> Iterator[str]:
        terms = [
            f"{self.tensor(1)} * {self.tensor(1)}",
            f"gx.tanh({self.tensor(1)})",
            "gx.sum(v * w)",
            "gx.random.normal(())",
        ]
        yield f"acc = acc * 0.5 + {self.pick(terms)}"

    def write_entry(self, depth: int, loop: bool) -> Iterator[str]:
        """Changes an entry of the dict, an attribute of the object, or the Variable."""
        value, number = f"gx.clip({self.tensor(1)}, -50, 50)", self.integer()
        entries = [f"table['x'] = {value}", f"table['n'] = {number}", "table['n'] += 1"]
        attributes = [f"cell.value = {value}", f"cell.count = {number}", "cell.count += 1", f"cell.push({number})"]
        yield self.pick([*entries, *attributes, f"s.assign({value})", f"s.assign_add({self.tensor(0)})"])

    def write_last(self, depth: int, loop: bool) -> Iterator[str]:
        if self.names.indices:
            yield f"{self.pick(self.names.ints)} = {self.pick(self.names.indices)}"

    def write_call(self, depth: int, loop: bool) -> Iterator[str]:
        yield f"bump({self.integer(0)})"

    def write_fail(self, depth: int, loop: bool) -> Iterator[str]:
        if self.chance(2):
            yield f"assert {self.condition()}, 'asserted {self.fresh('a')}'"
        else:
            yield f"if {self.condition()}:"
            yield f"    raise ValueError('raised {self.fresh('a')}')"

    def write_try(self, depth: int, loop: bool) -> Iterator[str]:
        yield "try:"
        yield from self.indented(depth, loop)
        yield self.pick(["except ValueError:", "finally:"])
        yield f"    {self.pick(['k += 1', 'x = x + 1', 'm = 0'])}"

    def write_match(self, depth: int, loop: bool) -> Iterator[str]:
        yield f"match {self.pick([self.integer(), self.count()])}:"
        for case in ("0", self.pick(["1 | 2", "3", "n if n > 1"]), "_"):
            yield f"    case {case}:"
            yield from (f"    {line}" for line in self.indented(depth, loop))

    def write_if(self, depth: int, loop: bool) -> Iterator[str]:
        yield f"if {self.condition()}:"
        yield from self.indented(depth, loop)
        if self.chance(4):
            yield f"elif {self.condition()}:"
            yield from self.indented(depth, loop)
        if self.chance(2):
            yield "else:"
            yield from self.indented(depth, loop)

    def write_for(self, depth: int, loop: bool) -> Iterator[str]:
        index, element, other = self.fresh("i"), self.fresh("e"), self.fresh("e")
        indices, elements = [index], list[str]()
        kind = self.pick(["range", "range", "range", "tuple", *["vector", "vector"] * self.names.whole])
        if kind == "range":
            low, high = self.integer_between(3, 9), self.integer_between(0, 12)
            ranges = [f"{high}", f"{high}", f"{low}, -2, -1", f"1, {low}, 2", self.count(0), f"{self.integer(0)} % 7"]
            head = f"{index} in range({self.pick([*ranges, *self.names.indices])})"
        elif kind == "tuple":
            head = f"{index} in {self.pick(['(1, 4)', '[0, 2, 3]', f'gx.arange({self.integer_between(0, 7)})'])}"
        else:
            name, elements = self.pick(["v", "w", "u"]), [element]
            heads = [f"{element} in {name}", f"{element} in {name}[1:]", f"{element} in reversed({name})"]
            counted = [f"{index}, {element} in enumerate({name})", f"{index}, {element} in zip(range(3), {name})"]
            paired = [
                f"{element}, {other} in zip({name}, w)",
                f"{index}, ({element}, {other}) in enumerate(zip({name}, w))",
            ]
            head = self.pick([*heads, *counted, *paired])
            indices = [index] * (index in head)
            elements += [other] * (other in head)
        yield f"for {head}:"
        self.names.indices += indices
        self.names.elements += elements
        yield from self.indented(depth, True)
        del self.names.indices[len(self.names.indices) - len(indices) :]
        del self.names.elements[len(self.names.elements) - len(elements) :]
        yield from self.ending(depth, loop)

    def write_while(self, depth: int, loop: bool) -> Iterator[str]:
        counter = self.fresh("n")
        yield f"{counter} = {self.pick(['0', 't * 0']) if self.names.whole else '0'}"
        limit = self.integer_between(1, 6)
        if self.chance(3):
            yield "while True:"
            yield f"    if {counter} >= {limit}:"
            yield "        break"
        else:
            yield f"while {counter} < {limit} and {self.condition(0)}:"
        yield f"    {counter} += 1"
        yield from self.indented(depth, True)
        yield from self.ending(depth, loop)

    def ending(self, depth: int, loop: bool) -> Iterator[str]:
        if self.chance(4):
            yield "else:"
            yield from self.indented(depth, loop)


def _helper(choices: Choices, name: str) -> str:
    """A function of a float tensor and an int that may return early."""
    writer = Writer(choices, Names(["a"], ["b * 1"], ["b"], whole=False), "a", 4)
    writer.names.counts = ["b"]
    return _function(f"{name}(a, b)", [*writer.block(DEPTH - 1, False), "return a"])


def write_program(choices: Choices) -> str:
    """The text of a program: what it uses, and ``program(x, y, t, v, w, k, m, s)``."""
    helpers = {name: _helper(choices, name) for name in ("first", "second")}
    writer = Writer(choices, Names(["x", "y"], ["t"], ["k", "m"], list(helpers)), RESULT, 20)
    body = "\n".join(writer.block(DEPTH, False, 3, 8))
    used = [text for name, text in helpers.items() if f"{name}(" in body]
    lines = [START, *[BUMP] * ("bump(" in body), body, f"return {RESULT}"]
    return "\n".join([CELL, *used, _function(f"program({PARAMETERS})", lines)])


START = """\
f, u, acc, box, table, log = 0.5, w * 1, x * 0, (x, y), {'x': y, 'n': 0}, [1, 2]
cell = Cell(y)"""

BUMP = """\
def bump(amount):
    nonlocal k, x
    k = (k + amount) % 5
    if k > 2:
        x = gx.clip(x - 1, -50, 50)
"""

CELL = """\
class Cell:
    def __init__(self, value):
        self.value, self.count = value, 0

    def push(self, amount):
        if self.value > amount:
            self.value = gx.clip(self.value - amount, -50, 50)
        else:
            self.count += 1
        return self.value
"""


def _function(head: str, lines: Sequence[str]) -> str:
    return f"def {head}:\n" + textwrap.indent("\n".join(lines), "    ") + "\n"
