"""Writes random programs over tensors, vectors, lists and Python numbers.

``acc`` alone sees products and powers, and no condition reads it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from tests.conformance.random_expressions import Choices, Expressions, Names

DEPTH = 3
"""How deep statements nest."""

RESULT = "x, y, t, k, m, f, v, u, acc, box, table, log, cell.value, cell.count, told(mode, best)"
"""What every program returns, wherever it does."""

PARAMETERS = "x, y, t, v, w, k, m, s"
"""Two float scalars, an int scalar, two float vectors, two Python ints and a float Variable."""


class Writer(Expressions):
    """Writes one function, statement by statement."""

    def __init__(self, choices: Choices, names: Names, result: str, budget: int) -> None:
        super().__init__(choices, names)
        self.result, self.budget, self.bound = result, budget, False

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
        whole += ["mode", "best", "chosen", "listed", "visit"] * self.chance(2)
        rare = ["fail", "match", "try", "handlers"] * (self.names.whole and depth > 0 and self.chance(3))
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

    def write_handlers(self, depth: int, loop: bool) -> Iterator[str]:
        """Several exceptions, each with a handler of its own."""
        yield "try:"
        yield f"    if {self.condition()}:"
        yield f"        {self.raising()}"
        yield from self.indented(depth, loop)
        yield f"    {self.pick(['x = visit(y)', 'y = visit(x - k)'])}"
        yield self.pick(["except ValueError as error:", "except (ValueError, KeyError) as error:"])
        yield f"    {self.pick(['m = len(str(error)) % 5', 'mode = str(error)', 'm += 1'])}"
        if self.chance(3):
            yield self.pick(["    raise", "    raise KeyError('again') from error"])
        if self.chance(2):
            yield "except LookupError:"
            yield from self.indented(depth, loop)
        if self.chance(3):
            yield "else:"
            yield from self.indented(depth, loop)
        if self.chance(3):
            yield "finally:"
            yield f"    {self.pick(['k = (k + 1) % 7', 'cell.count += 1', 's.assign_add(1.0)', 'v[0] = 1'])}"

    def raising(self) -> str:
        return f"raise {self.pick(['ValueError', 'KeyError', 'IndexError'])}('raised {self.fresh('a')}')"

    def write_mode(self, depth: int, loop: bool) -> Iterator[str]:
        """A string that is the state of the program."""
        either = f"{self.pick(MODES)} if {self.condition(0)} else {self.pick(['mode', *MODES])}"
        yield self.pick([f"mode = {self.pick(MODES)}", f"mode = {either}", "mode = NEXT.get(mode, 'idle')"])
        if self.chance(2):
            yield f"if mode {self.pick(['==', '!='])} {self.pick(MODES)}:"
            yield from self.indented(depth, loop) if depth else ["    k = (k + 1) % 5"]

    def write_best(self, depth: int, loop: bool) -> Iterator[str]:
        """What is None until something is found."""
        if self.chance(4):
            yield "best = None"
        else:
            value = self.tensor(1)
            yield f"if best is None or best {self.pick(['<', '>'])} {value}:"
            yield f"    best = {value}"

    def write_chosen(self, depth: int, loop: bool) -> Iterator[str]:
        """A function or an object that a condition chooses."""
        first, second, condition = self.integer(0), self.integer(0), self.condition(0)
        yield f"act = (lambda a: a + {first}) if {condition} else (lambda a: a * {self.pick(['k', '0.5', '2'])})"
        yield self.pick(
            [
                f"x = gx.clip(act({self.tensor(0)}), -50, 50)",
                f"y = gx.clip(act(y) + act({second}), -50, 50)",
                f"x = gx.clip(sum(map(act, {self.pick(['v', 'w', 'box'])})), -50, 50)",
            ]
        )

    def write_listed(self, depth: int, loop: bool) -> Iterator[str]:
        """Reads and changes lists by places that tensors may choose, and unpacks them."""
        place, value = f"({self.count(0)}) % 2", self.pick([self.integer(0), self.tensor(0)])
        yield self.pick(
            [
                f"log[{place}] = {value}",
                f"x = gx.clip(x + log[{place}], -50, 50)",
                f"y = gx.clip(y + [e * 2 for e in {self.pick(['v', 'u', 'box'])}][{place}], -50, 50)",
                f"x = gx.clip(x + sum([e for e in w if e > {self.number()}]), -50, 50)",
                f"x, *others = [{self.tensor(0)}, {value}, *box]",
                f"m = len([e for e in v if e < {self.number()}])",
                f"x, y = sorted((x, y){self.pick(['', ', key=lambda a: -a', ', reverse=True'])})",
                f"m = max(range(4), key=lambda n: {self.pick(['v', 'w'])}[n])",
                f"k = (k + ({self.integer(0)} in log)) % 5",
            ]
        )

    def write_visit(self, depth: int, loop: bool) -> Iterator[str]:
        """Calls the nested function that changes names and may raise."""
        yield f"{self.pick(['x', 'y'])} = {self.pick(['visit', 'twice'])}({self.tensor(0)})"

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
    nested = [text for name, text in NESTED.items() if f"{name}(" in body]
    nested = [NESTED["visit"], *nested] if "twice(" in body and "visit(" not in body else nested
    lines = [START, *nested, body, f"return {RESULT}"]
    return "\n".join([CELL, TOLD, *used, _function(f"program({PARAMETERS})", lines)])


MODES = ("'idle'", "'up'", "'down'")

START = """\
mode, best = 'idle', None
f, u, acc, box, table, log = 0.5, w * 1, x * 0, (x, y), {'x': y, 'n': 0}, [1, 2]
cell = Cell(y)"""

NESTED = {
    "bump": """\
def bump(amount):
    nonlocal k, x
    k = (k + amount) % 5
    if k > 2:
        x = gx.clip(x - 1, -50, 50)
""",
    "visit": """\
def visit(value):
    nonlocal mode, m
    m = (m + 1) % 4
    if value > 2:
        mode = 'up'
        if m > 1:
            raise ValueError('visited')
    elif value < 0:
        mode = 'down'
    return gx.clip(value + m, -50, 50)
""",
    "twice": """\
def twice(value):
    try:
        return visit(value) + visit(value - 1)
    except ValueError:
        return value
""",
}
"""Functions that the program defines in itself, and that change its names."""

TOLD = """\
NEXT = {'idle': 'up', 'up': 'down'}

def told(mode, best):
    return 0 if mode == 'idle' else 1 if mode == 'up' else 2, best is None, 0 if best is None else best
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
