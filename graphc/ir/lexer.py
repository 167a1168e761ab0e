"""Reads a graph's text token by token: marks, names, numbers, types and attribute values."""

from __future__ import annotations

import base64
import binascii
import json
import re
import sys
import zlib
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar

import numpy as np

from graphc.base import errors
from graphc.ir.types import OPEN, Literal, TensorType, dtype_from_short

__all__ = ["Reader"]

T = TypeVar("T")

# Possessive quantifiers, and a closing quote that may be absent: a text is read once, whatever stands in it.
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
"""How many bodies, tuples and lists may lie in each other. Python that is compiled stays well below."""
_MOST_DIGITS = sys.int_info.str_digits_check_threshold
"""Of an integer: so many (640) Python reads whatever its settings."""
_LAST_LINE = 2**31 - 1
"""Of a file, to Python."""

_NAMED = {"None": None, "True": True, "False": False}


class Reader:
    """The tokens of a text, and the small productions: names, types, attribute values.

    Args:
      text: what to read.
      literals: the arrays that are stored beside it, by name.
    """

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

    @property
    def place(self) -> int:
        """Returns where the next token is; give it to :meth:`fail` to point there later."""
        return self._at

    def peek(self, ahead: int = 0) -> str:
        """Returns the next token, or one further on; empty at the end."""
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

    @contextmanager
    def inside(self) -> Generator[None]:
        """Reads, inside the scope, something that lies in another thing of its kind."""
        if self._depth == _DEEPEST:
            self.fail(f"at most {_DEEPEST} bodies, tuples and lists in each other")
        self._depth += 1
        yield
        self._depth -= 1

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
        """Returns a string in double quotes."""
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
        """Returns a word, or any text in double quotes."""
        place, token = self._at, self.peek()
        if token.startswith('"'):
            name = self.string()
            if not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
                self.fail("a name that UTF-8 can hold", place)
            return name
        if not _WORD.fullmatch(token):
            self.fail("a name")
        return self.next()

    def integer(self) -> int:
        """Returns a decimal integer."""
        if not _INTEGER.fullmatch(self.peek()):
            self.fail("an integer")
        if len(self.peek()) > _MOST_DIGITS:
            self.fail(f"an integer of at most {_MOST_DIGITS} digits")
        return int(self.next())

    def line(self) -> int:
        """Returns the number of a line in a file."""
        place = self._at
        found = self.integer()
        if not 0 <= found <= _LAST_LINE:
            self.fail(f"the number of a line, at most {_LAST_LINE}", place)
        return found

    def float(self) -> float:
        """Returns a decimal number, ``inf`` or ``nan``."""
        if not _FLOAT.fullmatch(self.peek()):
            self.fail("a number")
        return float(self.next())

    def dtype(self) -> np.dtype[Any]:
        """Returns a dtype's short name."""
        token = self.peek()
        try:
            dtype = dtype_from_short(token)
        except TypeError:
            self.fail("a dtype such as f32, i32 or bool")
        self._at += 1
        return dtype

    def type(self) -> TensorType:
        """Returns a tensor type."""
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
            self.fail("a size from 0")
        return self.integer()

    def types(self) -> list[TensorType]:
        """One type, or a list of them in parentheses."""
        return self.list(")", self.type) if self.accept("(") else [self.type()]

    def value(self) -> Any:
        """Returns an attribute's value."""
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
            self.fail("a type whose sizes are all known, of a literal", start, str(type))
        place = self.place
        if self.accept("stored"):
            literal = self._stored(type)
        else:
            literal = self._packed(type) if self.accept("zlib") else self._listed(type)
        if literal is None:
            self.fail(f"the elements of {type}", place, found="others")
        self.word(")")
        return literal

    def _stored(self, type: TensorType) -> Literal | None:
        place = self.place
        name = self.string()
        if name not in self._literals:
            self.fail(f"the name of one of the {len(self._literals)} arrays that are stored beside the text", place)
        array = self._literals[name]
        return Literal(array) if (array.shape, array.dtype) == (type.shape, type.dtype) else None

    def _packed(self, type: TensorType) -> Literal | None:
        try:
            packed, unpacking = base64.b64decode(self.string(), validate=True), zlib.decompressobj()
            # What is more than the type says is not unpacked: a thousand times the text may be in it.
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
            # A list cannot tell the shapes of arrays without elements apart; all others must match.
            return Literal(array.reshape(type.shape)) if array.shape == type.shape or not array.size else None
        except (ValueError, TypeError, ArithmeticError):
            return None

    @property
    def _element_readers(self) -> dict[str, Callable[[], Any]]:
        """Returns what reads an element, by the kind of the dtype; all others are floats."""
        return {
            "b": self._boolean, "i": self.integer, "u": self.integer, "c": self._complex, "O": self._bytes,
        }  # fmt: skip

    def _bytes(self) -> bytes:
        place = self.place
        try:
            return self.string().encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            self.fail("a string that UTF-8 can hold", place)

    def _boolean(self) -> bool:
        if self.peek() not in ("True", "False"):
            self.fail("'True' or 'False'")
        return self.next() == "True"
