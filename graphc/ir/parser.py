"""Reads the text that the printer writes; the grammar stands in the docstring of :mod:`graphc.ir.printer`."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np

from graphc.base import Location, errors
from graphc.ir.graph import Graph
from graphc.ir.node import Node, Value
from graphc.ir.opdef import OPS, OpDef
from graphc.ir.types import Attrs, Literal, TensorType, dtype_from_short

__all__ = ["parse_graph"]

T = TypeVar("T")

_TOKEN = re.compile(
    r"""\s*(?: (?P<string>"[^"\\]*(?:\\.[^"\\]*)*")   # as in JSON
           | (?P<mark>->|[%:=,(){}\[\]@\#~])
           | (?P<atom>[-+A-Za-z0-9_./]+)              # words and numbers
           | (?P<other>.) )""",
    re.VERBOSE | re.ASCII,
)
_WORD = re.compile(r"[A-Za-z0-9_./]+", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]+", re.ASCII)
_FLOAT = re.compile(r"-?(inf|nan|[0-9]+(\.[0-9]*)?(e[-+]?[0-9]+)?)", re.ASCII)
_NAMED = {"None": None, "True": True, "False": False}


def parse_graph(text: str, ops: Mapping[str, OpDef] = OPS) -> Graph:
    """The graph that a text describes; ``parse_graph(print_graph(g)) == g``.

    Types are taken from the text and not inferred again: :func:`graphc.ir.verify` does that.

    Args:
      text: one graph, in the printer's grammar.
      ops: where the ops are looked up.

    Raises:
      ParseError: the text does not follow the grammar, or names an op or value that does not exist; the message has
        the line, the column and what was expected.

    Example:
      >>> graph = parse_graph("graph same(%x: f32[2]) -> (f32[2]) { return %x }")
      >>> graph
      <Graph same: 1 inputs, 0 nodes -> f32[2]>
    """
    reader = _Reader(text)
    reader.word("graph")
    graph = _GraphParser(reader, ops).graph(reader.name())
    reader.end()
    return graph


class _Reader:
    """The tokens of a text, and the small productions: names, types, attribute values."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[str] = []
        self._starts: list[int] = []
        for match in _TOKEN.finditer(text):
            kind = match.lastgroup or "other"
            self._tokens.append(match[kind])
            self._starts.append(match.start(kind))
        self._tokens.append("")
        self._starts.append(len(text))
        self._at = 0

    @property
    def place(self) -> int:
        """Where the next token is; give it to :meth:`fail` to point there later."""
        return self._at

    def peek(self, ahead: int = 0) -> str:
        """The next token, or one further on; empty at the end."""
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def next(self) -> str:
        """Takes the next token."""
        token = self._tokens[self._at]
        if token:
            self._at += 1
        return token

    def accept(self, token: str) -> bool:
        """Takes the next token if it is this one."""
        if self._tokens[self._at] != token:
            return False
        self._at += 1
        return True

    def word(self, token: str) -> None:
        """Takes the next token, which must be this one."""
        if self._tokens[self._at] != token:
            self.fail(f"'{token}'")
        self._at += 1

    def end(self) -> None:
        """The text must be at its end."""
        if self.peek():
            self.fail("the end of the text")

    def fail(self, expected: str, place: int | None = None, found: str | None = None) -> NoReturn:
        """Raises a ParseError for the next token, or for the one at ``place``."""
        at = self._at if place is None else place
        start, token = self._starts[at], self._tokens[at]
        line = self._text.count("\n", 0, start) + 1
        column = start - (self._text.rfind("\n", 0, start) + 1) + 1
        shown = found or (f"'{token[:40]}'" if token else "the end of the text")
        raise errors.ParseError(f"line {line}, column {column}: expected {expected}, found {shown}")

    def list(self, close: str, item: Callable[[], T]) -> list[T]:
        """Items between commas up to a closing mark, which is taken; a comma may stand before the mark."""
        items: list[T] = []
        while not self.accept(close):
            items.append(item())
            if not self.accept(","):
                self.word(close)
                break
        return items

    def string(self) -> str:
        """A string in double quotes."""
        token = self.peek()
        if not token.startswith('"') or len(token) < 2:
            self.fail("a string in double quotes")
        try:
            text = json.loads(token, strict=False)
        except ValueError:
            self.fail("a string with the escapes of JSON")
        self._at += 1
        return text

    def name(self) -> str:
        """A word, or any text in double quotes."""
        token = self.peek()
        if token.startswith('"'):
            return self.string()
        if not _WORD.fullmatch(token):
            self.fail("a name")
        return self.next()

    def integer(self) -> int:
        """A decimal integer."""
        if not _INTEGER.fullmatch(self.peek()):
            self.fail("an integer")
        return int(self.next())

    def float(self) -> float:
        """A decimal number, ``inf`` or ``nan``."""
        if not _FLOAT.fullmatch(self.peek()):
            self.fail("a number")
        return float(self.next())

    def dtype(self) -> np.dtype[Any]:
        """A dtype's short name."""
        token = self.peek()
        try:
            dtype = dtype_from_short(token)
        except TypeError:
            self.fail("a dtype such as f32, i32 or bool")
        self._at += 1
        return dtype

    def type(self) -> TensorType:
        """A tensor type."""
        weak = self.accept("~")
        dtype = self.dtype()
        self.word("[")
        return TensorType(tuple(self.list("]", self._size)), dtype, weak)

    def _size(self) -> int:
        if self.peek().startswith("-"):
            self.fail("a size from 0")
        return self.integer()

    def types(self) -> list[TensorType]:
        """One type, or a list of them in parentheses."""
        return self.list(")", self.type) if self.accept("(") else [self.type()]

    def value(self) -> Any:
        """An attribute's value."""
        token = self.peek()
        if token in _NAMED:
            return _NAMED[self.next()]
        if token.startswith('"'):
            return self.string()
        if token == "(":
            return self._tuple()
        if token == "complex":
            return self._complex()
        if token == "~" or self.peek(1) == "[":
            return self._typed()
        if _INTEGER.fullmatch(token):
            return self.integer()
        if _FLOAT.fullmatch(token):
            return self.float()
        if token == "<":
            self.fail("a value that has a text", found="a Python object, which a printed graph cannot hold")
        if not _WORD.fullmatch(token):
            self.fail("a value")
        return self.dtype()

    def _tuple(self) -> tuple[Any, ...]:
        self.word("(")
        return tuple(self.list(")", self.value))

    def _complex(self) -> complex:
        self.word("complex")
        self.word("(")
        real = self.float()
        self.word(",")
        imaginary = self.float()
        self.word(")")
        return complex(real, imaginary)

    def _typed(self) -> TensorType | Literal:
        type = self.type()
        if not self.accept("("):
            return type
        place = self.place
        literal = self._packed(type) if self.accept("zlib") else self._listed(type)
        if literal is None:
            self.fail(f"the elements of {type}", place, found="others")
        self.word(")")
        return literal

    def _packed(self, type: TensorType) -> Literal | None:
        try:
            data = zlib.decompress(base64.b64decode(self.string(), validate=True))
            return Literal(np.frombuffer(data, type.dtype).reshape(type.shape))
        except (ValueError, binascii.Error, zlib.error):
            return None

    def _listed(self, type: TensorType) -> Literal | None:
        kind = type.dtype.kind
        element = {"b": self._boolean, "i": self.integer, "u": self.integer, "c": self._complex}.get(kind, self.float)

        def nested() -> Any:
            return self.list("]", nested) if self.accept("[") else element()

        elements = nested()
        try:
            with np.errstate(over="raise"):
                array = np.array(elements, type.dtype)
            # A list cannot tell the shapes of arrays without elements apart; all others must match.
            return Literal(array.reshape(type.shape)) if array.shape == type.shape or not array.size else None
        except (ValueError, TypeError, ArithmeticError):
            return None

    def _boolean(self) -> bool:
        if self.peek() not in ("True", "False"):
            self.fail("'True' or 'False'")
        return self.next() == "True"


class _GraphParser:
    """Parses one graph; a region gets a parser of its own, because it sees only its own inputs."""

    def __init__(self, reader: _Reader, ops: Mapping[str, OpDef]) -> None:
        self._reader = reader
        self._ops = ops
        self._inputs: dict[str, Value] = {}
        self._nodes: dict[str, Node] = {}

    def graph(self, name: str) -> Graph:
        """The signature, the nodes and the outputs of a graph with this name."""
        reader = self._reader
        reader.word("(")
        reader.list(")", self._input)
        reader.word("->")
        place = reader.place
        types = reader.types()
        reader.word("{")
        while reader.peek() == "%":
            self._node()
        reader.word("return")
        outputs: list[Value] = []
        if reader.peek() == "%":
            outputs.append(self._use())
            while reader.accept(","):
                outputs.append(self._use())
        reader.word("}")
        found = [value.type for value in outputs]
        if found != types:
            reader.fail(f"the types of what the graph returns, ({', '.join(map(str, found))})", place, "other types")
        return Graph(list(self._inputs.values()), list(self._nodes.values()), outputs, name)

    def _input(self) -> None:
        name = self._new_name()
        self._reader.word(":")
        self._inputs[name] = Value(self._reader.type(), None, len(self._inputs), name)

    def _new_name(self) -> str:
        self._reader.word("%")
        place = self._reader.place
        name = self._reader.name()
        if name in self._inputs or name in self._nodes:
            self._reader.fail("a name that is not taken", place)
        return name

    def _node(self) -> None:
        reader = self._reader
        name = self._new_name()
        reader.word(":")
        types = reader.types()
        reader.word("=")
        op = self._op()
        reader.word("(")
        inputs = reader.list(")", self._use)
        # "{" opens attributes or regions: an attribute's name is followed by "=".
        attrs = self._attrs() if reader.peek() == "{" and reader.peek(2) == "=" else Attrs()
        device = reader.string() if reader.accept("@") else ""
        controls = self._controls() if reader.accept("after") else ()
        location = self._location() if reader.accept("loc") else None
        self._nodes[name] = Node(
            op,
            inputs,
            attrs,
            types,
            regions=self._regions(op) if reader.accept("{") else (),
            control_inputs=controls,
            device=device,
            name=name,
            location=location,
        )

    def _op(self) -> OpDef:
        place = self._reader.place
        name = self._reader.name()
        if name not in self._ops:
            self._reader.fail(f"the name of one of the {len(self._ops)} ops", place)
        return self._ops[name]

    def _use(self) -> Value:
        reader = self._reader
        reader.word("%")
        place = reader.place
        name = reader.name()
        if name in self._inputs:
            return self._inputs[name]
        node = self._nodes.get(name)
        if node is None:
            reader.fail("the name of an input or of a node above", place)
        if not reader.accept("#"):
            if len(node.outputs) != 1:
                reader.fail(f"'#' and which of the {len(node.outputs)} outputs of %{name}")
            return node.outputs[0]
        place = reader.place
        index = reader.integer()
        if not 0 <= index < len(node.outputs):
            reader.fail(f"an output of %{name}, which has {len(node.outputs)}", place)
        return node.outputs[index]

    def _attrs(self) -> Attrs:
        items: dict[str, Any] = {}

        def item() -> None:
            place = self._reader.place
            name = self._reader.name()
            if name in items:
                self._reader.fail("an attribute that is not given yet", place)
            self._reader.word("=")
            items[name] = self._reader.value()

        self._reader.word("{")
        self._reader.list("}", item)
        return Attrs(items)

    def _controls(self) -> Sequence[Node]:
        def control() -> Node:
            self._reader.word("%")
            place = self._reader.place
            node = self._nodes.get(self._reader.name())
            if node is None:
                self._reader.fail("the name of a node above", place)
            return node

        self._reader.word("(")
        return self._reader.list(")", control)

    def _location(self) -> Location:
        reader = self._reader
        reader.word("(")
        file = reader.string()
        reader.word(":")
        line = reader.integer()
        location = Location(file, line, reader.string()) if reader.accept("in") else Location(file, line)
        reader.word(")")
        return location

    def _regions(self, op: OpDef) -> list[Graph]:
        reader = self._reader
        regions: list[Graph] = []
        while not reader.accept("}"):
            place = reader.place
            label = reader.name()
            if label != op.region_labels(len(regions) + 1)[-1]:
                reader.fail(f"the op's regions ({', '.join(op.regions)}) in order", place)
            name = reader.name() if reader.accept(":") else label
            regions.append(_GraphParser(reader, self._ops).graph(name))
        return regions
