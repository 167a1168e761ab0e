"""Parser for the text that the printer writes; :mod:`graphc.compiler.ir.printer` documents the grammar."""

from __future__ import annotations

import base64
import binascii
import json
import re
import sys
import zlib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar

import numpy as np

from graphc.compiler.base import Location, deep_recursion, errors
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.opdef import OPS, OpDef
from graphc.compiler.ir.types import OPEN, Attrs, Literal, TensorType, dtype_from_short

# Lexer: reads a graph's text token by token: marks, names, numbers, types and attribute values.

T = TypeVar("T")

# Possessive quantifiers, and an optional closing quote: a text is scanned once, whatever it contains.
_TOKEN = re.compile(
    r"""\s++
      | (?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+"?)   # as in JSON
      | (?P<mark>->|[%:=,(){}\[\]@\#~])
      | (?P<atom>[-+A-Za-z0-9_./]++)               # words and numbers
      | (?P<other>.)""",
    re.VERBOSE | re.ASCII,
)
_WORD = re.compile(r"[A-Za-z0-9_./]+", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]+", re.ASCII)
_FLOAT = re.compile(r"-?(inf|nan|[0-9]+(\.[0-9]*)?(e[-+]?[0-9]+)?)", re.ASCII)

_DEEPEST = 200
"""Maximum nesting depth of bodies, tuples and lists; compiled Python stays well below it."""
_MOST_DIGITS = sys.int_info.str_digits_check_threshold
"""Maximum number of digits (640) of an integer that Python reads whatever its settings."""
_LAST_LINE = 2**31 - 1
"""Maximum line number in a Python file."""

_NAMED = {"None": None, "True": True, "False": False}


class Reader:
    """A reader of a text's tokens and of small productions: names, types, attribute values."""

    def __init__(self, text: str, literals: Mapping[str, Any] = MappingProxyType({})) -> None:
        self._text = text
        self._literals = literals
        self._tokens: list[str] = []
        self._starts: list[int] = []
        for match in _TOKEN.finditer(text):
            if match.lastgroup is not None:
                self._tokens.append(match[0])
                self._starts.append(match.start())
        self._tokens.append("")
        self._starts.append(len(text))
        self._at = 0
        self._depth = 0
        self.file = ""

    @property
    def place(self) -> int:
        """The position of the next token, for :meth:`fail` to point to later."""
        return self._at

    def peek(self, ahead: int = 0) -> str:
        """Returns the next token, or one further ahead; empty at the end."""
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def next(self) -> str:
        """Consumes and returns the next token."""
        token = self._tokens[self._at]
        if token:
            self._at += 1
        return token

    def accept(self, token: str) -> bool:
        """Consumes the next token if it equals ``token``; returns True if it does."""
        if self._tokens[self._at] != token:
            return False
        self._at += 1
        return True

    def word(self, token: str) -> None:
        """Consumes the next token, which must equal ``token``."""
        if self._tokens[self._at] != token:
            self.fail(f"'{token}'")
        self._at += 1

    def end(self) -> None:
        """Requires that the text is at its end."""
        if self.peek():
            self.fail("the end of the text")

    def fail(self, expected: str, position: int | None = None, actual: str | None = None) -> NoReturn:
        """Raises a ParseError for the next token, or for the one at ``position``."""
        at = self._at if position is None else position
        start, token = self._starts[at], self._tokens[at]
        line = self._text.count("\n", 0, start) + 1
        column = start - (self._text.rfind("\n", 0, start) + 1) + 1
        shown = actual or (f"'{token[:40]}'" if token else "the end of the text")
        raise errors.ParseError(f"line {line}, column {column}: expected {expected}, found {shown}")

    @contextmanager
    def inside(self) -> Generator[None]:
        """Counts one level of nesting while the scope is open."""
        if self._depth == _DEEPEST:
            self.fail(f"at most {_DEEPEST} levels of bodies, tuples and lists")
        self._depth += 1
        yield
        self._depth -= 1

    def list(self, close: str, item: Callable[[], T]) -> list[T]:
        """Reads items between commas up to and including a closing mark; a comma may precede the mark."""
        items: list[T] = []
        while not self.accept(close):
            items.append(item())
            if not self.accept(","):
                self.word(close)
                break
        return items

    def string(self) -> str:
        """Reads a string in double quotes."""
        token = self.peek()
        if not token.startswith('"'):
            self.fail("a string in double quotes")
        try:
            text = json.loads(token, strict=False)
        except ValueError:
            self.fail("a string with the escapes of JSON")
        self._at += 1
        return text

    def name(self) -> str:
        """Reads a word, or any text in double quotes."""
        start, token = self._at, self.peek()
        if token.startswith('"'):
            name = self.string()
            if not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
                self.fail("a name that UTF-8 can hold", start)
            return name
        if not _WORD.fullmatch(token):
            self.fail("a name")
        return self.next()

    def integer(self) -> int:
        """Reads a decimal integer."""
        if not _INTEGER.fullmatch(self.peek()):
            self.fail("an integer")
        if len(self.peek()) > _MOST_DIGITS:
            self.fail(f"an integer of at most {_MOST_DIGITS} digits")
        return int(self.next())

    def line(self) -> int:
        """Reads a line number."""
        start = self._at
        lineno = self.integer()
        if not 0 <= lineno <= _LAST_LINE:
            self.fail(f"the number of a line, at most {_LAST_LINE}", start)
        return lineno

    def float(self) -> float:
        """Reads a decimal number, ``inf`` or ``nan``."""
        if not _FLOAT.fullmatch(self.peek()):
            self.fail("a number")
        return float(self.next())

    def dtype(self) -> np.dtype[Any]:
        """Reads the short name of a dtype."""
        token = self.peek()
        try:
            dtype = dtype_from_short(token)
        except TypeError:
            self.fail("a dtype such as f32, i32 or bool")
        self._at += 1
        return dtype

    def type(self) -> TensorType:
        """Reads a tensor type."""
        weak = self.accept("~")
        dtype = self.dtype()
        self.word("[")
        if self.accept("*"):
            self.word("]")
            return TensorType((), dtype, weak, ranked=False)
        return TensorType(tuple(self.list("]", self._size)), dtype, weak)

    def _size(self) -> int:
        if self.accept("?"):
            return OPEN
        if self.peek().startswith("-"):
            self.fail("a nonnegative size")
        return self.integer()

    def types(self) -> list[TensorType]:
        """Reads one type, or a list of types in parentheses."""
        return self.list(")", self.type) if self.accept("(") else [self.type()]

    def value(self) -> Any:
        """Reads an attribute's value."""
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
            self.fail("a value with a textual form", actual="a Python object, which a printed graph cannot hold")
        if not _WORD.fullmatch(token):
            self.fail("a value")
        return self.dtype()

    def _tuple(self) -> tuple[Any, ...]:
        self.word("(")
        with self.inside():
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
        start = self.place
        type = self.type()
        if not self.accept("("):
            return type
        if type.is_open:
            self.fail("a literal's type, without open sizes", start, str(type))
        position = self.place
        if self.accept("stored"):
            literal = self._stored(type)
        else:
            literal = self._packed(type) if self.accept("zlib") else self._listed(type)
        if literal is None:
            self.fail(f"the elements of {type}", position, actual="other elements")
        self.word(")")
        return literal

    def _stored(self, type: TensorType) -> Literal | None:
        start = self.place
        name = self.string()
        if name not in self._literals:
            self.fail(f"the name of one of the {len(self._literals)} arrays that are stored beside the text", start)
        array = self._literals[name]
        return Literal(array) if (array.shape, array.dtype) == (type.shape, type.dtype) else None

    def _packed(self, type: TensorType) -> Literal | None:
        try:
            packed, unpacking = base64.b64decode(self.string(), validate=True), zlib.decompressobj()
            # Data beyond the type's size is not unpacked: it may be a thousand times the text.
            data = unpacking.decompress(packed, type.size * type.dtype.itemsize + 1)
            if not unpacking.eof or unpacking.unused_data:
                return None
            return Literal(np.frombuffer(data, type.dtype).reshape(type.shape))
        except (ValueError, OverflowError, binascii.Error, zlib.error):
            return None

    def _listed(self, type: TensorType) -> Literal | None:
        kind = type.dtype.kind
        element = self._element_readers.get(kind, self.float)

        def nested() -> Any:
            if not self.accept("["):
                return element()
            with self.inside():
                return self.list("]", nested)

        elements = nested()
        try:
            with np.errstate(over="raise"):
                array = np.array(elements, type.dtype)
            # A list cannot distinguish the shapes of empty arrays; all other shapes must match.
            return Literal(array.reshape(type.shape)) if array.shape == type.shape or not array.size else None
        except (ValueError, TypeError, ArithmeticError):
            return None

    @property
    def _element_readers(self) -> dict[str, Callable[[], Any]]:
        """The functions that read an element, by kind of dtype; all other kinds are floats."""
        return {
            "b": self._boolean, "i": self.integer, "u": self.integer, "c": self._complex, "O": self._bytes,
        }  # fmt: skip

    def _bytes(self) -> bytes:
        start = self.place
        try:
            return self.string().encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            self.fail("a string that UTF-8 can hold", start)

    def _boolean(self) -> bool:
        if self.peek() not in ("True", "False"):
            self.fail("'True' or 'False'")
        return self.next() == "True"


def parse_graph(text: str, ops: Mapping[str, OpDef] = OPS, literals: Mapping[str, Any] | None = None) -> Graph:
    """Returns the graph that a text describes; ``parse_graph(print_graph(g)) == g``.

    Types are taken from the text, not inferred again: :func:`graphc.compiler.ir.verify` does that.

    Args:
      text: the text of one graph, in the printer's grammar.
      ops: the known ops by name.
      literals: the arrays stored beside the text, by name.

    Raises:
      ParseError: the text does not follow the grammar, or names an op or value that does not exist; the message has the
        line, the column and the expected token.

    Example:
      >>> graph = parse_graph("graph same(%x: f32[2]) -> (f32[2]) { return %x }")
      >>> graph
      <Graph same: 1 inputs, 0 nodes -> f32[2]>
    """
    reader = Reader(text, literals or {})
    reader.word("graph")
    with deep_recursion():
        graph = _GraphParser(reader, ops).graph(reader.name())
    reader.end()
    return graph


class _GraphParser:
    """A parser for one graph; a region has its own, because it sees only its own inputs."""

    def __init__(self, reader: Reader, ops: Mapping[str, OpDef]) -> None:
        self._reader = reader
        self._ops = ops
        self._inputs: dict[str, Value] = {}
        self._nodes: dict[str, Node] = {}

    def graph(self, name: str) -> Graph:
        """Returns a graph with this name, from its signature, nodes and outputs."""
        reader = self._reader
        reader.word("(")
        reader.list(")", self._input)
        reader.word("->")
        start = reader.place
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
        actual = [value.type for value in outputs]
        if actual != types:
            reader.fail(f"the types of the graph's outputs, ({', '.join(map(str, actual))})", start, "other types")
        return Graph(list(self._inputs.values()), list(self._nodes.values()), outputs, name)

    def _input(self) -> None:
        name = self._new_name()
        self._reader.word(":")
        self._inputs[name] = Value(self._reader.type(), None, len(self._inputs), name)

    def _new_name(self) -> str:
        self._reader.word("%")
        start = self._reader.place
        name = self._reader.name()
        if name in self._inputs or name in self._nodes:
            self._reader.fail("a name that is not taken", start)
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
        # "{" opens attributes or regions: "=" follows an attribute's name.
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
        start = self._reader.place
        name = self._reader.name()
        if name not in self._ops:
            self._reader.fail(f"the name of one of the {len(self._ops)} ops", start)
        return self._ops[name]

    def _use(self) -> Value:
        reader = self._reader
        reader.word("%")
        start = reader.place
        name = reader.name()
        if name in self._inputs:
            return self._inputs[name]
        node = self._nodes.get(name)
        if node is None:
            reader.fail("the name of an input or of a node above", start)
        if not reader.accept("#"):
            if len(node.outputs) != 1:
                reader.fail(f"'#' and which of the {len(node.outputs)} outputs of %{name}")
            return node.outputs[0]
        start = reader.place
        index = reader.integer()
        if not 0 <= index < len(node.outputs):
            reader.fail(f"an output of %{name}, which has {len(node.outputs)}", start)
        return node.outputs[index]

    def _attrs(self) -> Attrs:
        items: dict[str, Any] = {}

        def item() -> None:
            start = self._reader.place
            name = self._reader.name()
            if name in items:
                self._reader.fail("a new attribute name", start)
            self._reader.word("=")
            items[name] = self._reader.value()

        self._reader.word("{")
        self._reader.list("}", item)
        return Attrs(items)

    def _controls(self) -> Sequence[Node]:
        def control() -> Node:
            self._reader.word("%")
            start = self._reader.place
            node = self._nodes.get(self._reader.name())
            if node is None:
                self._reader.fail("the name of a node above", start)
            return node

        self._reader.word("(")
        return self._reader.list(")", control)

    def _location(self) -> Location:
        reader = self._reader
        reader.word("(")
        if reader.peek() != ":" or not reader.file:  # without a file it is that of the location before
            reader.file = reader.string()
        file = reader.file
        reader.word(":")
        line = reader.line()
        location = Location(file, line, reader.string()) if reader.accept("in") else Location(file, line)
        reader.word(")")
        return location

    def _regions(self, op: OpDef) -> list[Graph]:
        reader = self._reader
        regions: list[Graph] = []
        while not reader.accept("}"):
            start = reader.place
            label = reader.name()
            if label != op.region_label(len(regions)):
                reader.fail(f"the op's regions ({', '.join(op.regions)}) in order", start)
            name = reader.name() if reader.accept(":") else label
            with reader.inside():
                regions.append(_GraphParser(reader, self._ops).graph(name))
        return regions
