"""Conversion between numbers and strings."""

from __future__ import annotations

import difflib
import re
from functools import cache
from typing import Any

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError, OutOfRangeError
from graphc.compiler.core import StringTensor, Tensor, as_dtype, host_tensor, refused
from graphc.compiler.ops.strings.given import Texts, each, failed, known_numbers, strings_of, texts
from graphc.compiler.ops.strings.rules import each_of, in_graphs

__all__ = ["Vocabulary", "as_string", "lookup", "to_number"]

_INT = re.compile(r"\s*[+-]?[0-9]+\s*")
_FLOAT = re.compile(
    r"\s*[+-]?([0-9]+\.?[0-9]*([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?|inf(inity)?|nan)\s*", re.IGNORECASE
)


def number(text: str, dtype: np.dtype[Any]) -> Any:
    """Returns the number in a string; None if it is not a number that the dtype holds."""
    whole = dtype.kind in "iu"
    # For plain text Python accepts what the patterns do, and underscores, in a fifth of the time.
    if not (text.isascii() and "_" not in text) and (_INT if whole else _FLOAT).fullmatch(text) is None:
        return None
    try:
        if not whole:
            return float(text)
        integer, (least, most) = int(text), _limits(dtype)
    except ValueError:
        return None
    return integer if least <= integer <= most else None


@cache
def _limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


@in_graphs("x", type=each_of(lambda attrs: attrs["out_type"]))
def to_number(x: Texts, out_type: Any = np.float32) -> Tensor:
    """Parses strings as numbers.

    Args:
      x: a tensor of strings.
      out_type: a dtype of floats or integers.

    Returns:
      A tensor of numbers, which is a constant of a program.

    Raises:
      InvalidArgumentError: a string is not a number, or not one that the dtype holds.

    Example:
      >>> import graphc as gx
      >>> gx.strings.to_number(["1.5", " -2"]).tolist()
      [1.5, -2.0]
    """
    array = texts("to_number", "x", x)
    dtype = as_dtype(out_type)
    if dtype.kind not in "iufV":
        raise refused(InvalidArgumentError(f"strings.to_number: out_type is {dtype.name}, expected floats or integers"))
    values = each(lambda text: number(text, dtype), array)
    for index, text, value in zip(np.ndindex(array.shape), array.ravel(), values, strict=True):
        if value is None:
            raise failed("to_number", f"{text!r:.60} is not a number of dtype {dtype.name}", index)
    return host_tensor(np.array(values, dtype).reshape(array.shape))


@in_graphs("x", type=each_of())
def as_string(
    x: Any, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1, fill: str = ""
) -> StringTensor:
    """Formats numbers as strings.

    Args:
      x: a tensor of numbers or booleans.
      precision: the number of digits after the decimal point; -1 for six.
      scientific: whether floats are written with an exponent.
      shortest: whether floats are written in the shorter form, with or without an exponent.
      width: the minimum length of the strings; -1 for no minimum.
      fill: the padding on the left (on the right for ``"-"``) up to ``width``: a space, ``"0"``, ``"+"`` or ``"-"``.

    Raises:
      InvalidArgumentError: ``scientific`` and ``shortest`` are combined, or ``fill`` is invalid.
      ConcretizationError: the argument is a tensor without a value, while a function is traced.

    Example:
      >>> import graphc as gx
      >>> gx.strings.as_string([1, 20], width=3, fill="0").tolist()
      ['001', '020']
    """
    array = known_numbers("as_string", "x", x)
    if scientific and shortest:
        raise refused(InvalidArgumentError("strings.as_string: scientific and shortest cannot be combined"))
    if len(fill) > 1 or fill not in " 0+-":
        raise refused(InvalidArgumentError(f"strings.as_string: fill is {fill!r}, expected ' ', '0', '+' or '-'"))
    size = str(width) if width >= 0 else ""
    digits = f".{precision}" if precision >= 0 else ""
    kind = "e" if scientific else "g" if shortest else "f"
    real = f"%{fill}{size}{digits}{kind}"
    if array.dtype.kind == "b":
        formatted = each(lambda value: f"%{fill.strip('0+ ')}{size}s" % ("true" if value else "false"), array)
    elif array.dtype.kind in "iu":
        formatted = each(lambda value: f"%{fill}{size}d" % value, array)
    elif array.dtype.kind == "c":
        formatted = each(lambda value: f"({real % value.real},{real % value.imag})", array)
    else:
        formatted = each(lambda value: real % value, array)
    return strings_of(formatted, array.shape)


# Vocabularies: mappings between strings and integers.


class Vocabulary:
    """A mapping from strings to integers, by position (Keras's StringLookup).

    Args:
      strings: the strings, without duplicates.
      default: the number of unknown strings; None to refuse them.
      first: the number of the first string.

    Raises:
      InvalidArgumentError: a string occurs twice.

    Example:
      >>> import graphc as gx
      >>> labels = gx.strings.Vocabulary(["cat", "dog"])
      >>> labels.lookup(["dog", "cat", "dog"]).tolist(), labels.strings([0, 1]).tolist()
      ([1, 0, 1], ['cat', 'dog'])
    """

    def __init__(self, strings: Texts, default: int | None = None, *, first: int = 0) -> None:
        words = texts("Vocabulary", "strings", strings).ravel().tolist() if np.size(strings) else []
        self._strings: tuple[str, ...] = tuple(words)
        self._places = {text: index for index, text in enumerate(self._strings, first)}
        self._default = default
        self._first = first
        if len(self._places) < len(self._strings):
            twice = next(text for index, text in enumerate(self._strings) if text in self._strings[:index])
            raise failed("Vocabulary", f"{twice!r} occurs twice")

    def __len__(self) -> int:
        return len(self._strings)

    def lookup(self, x: Texts) -> Tensor:
        """Returns the numbers of strings.

        Args:
          x: a tensor of strings.

        Returns:
          Integers, of 64 bits if 64-bit types are enabled.

        Raises:
          InvalidArgumentError: a string is not in the vocabulary, and there is no default.
        """
        array = texts("lookup", "x", x)
        numbers = each(lambda text: self._places.get(text, self._default), array)
        for index, text, number in zip(np.ndindex(array.shape), array.ravel(), numbers, strict=True):
            if number is None:
                near = difflib.get_close_matches(str(text), self._strings, n=1)
                hint = f" (is it {near[0]!r}?)" if near else ""
                problem = f"{text!r:.60} is not in the vocabulary of {len(self)} strings{hint}; set a default"
                raise failed("lookup", problem, index)
        return host_tensor(np.array(numbers, as_dtype("int64")).reshape(array.shape))

    __call__ = lookup

    def strings(self, x: Any) -> StringTensor:
        """Returns the strings of numbers.

        Args:
          x: a tensor of integers.

        Raises:
          OutOfRangeError: a number has no string.
          ConcretizationError: the argument is a tensor without a value, while a function is traced.
        """
        array = known_numbers("Vocabulary.strings", "x", x)
        last = self._first + len(self) - 1
        for index, number in zip(np.ndindex(array.shape), array.ravel().tolist(), strict=True):
            if type(number) is not int or not self._first <= number <= last:
                where = f"element {list(index)}: " if index else ""
                error = OutOfRangeError(
                    f"strings.Vocabulary.strings: {where}{number} has no string; the numbers are {self._first} "
                    f"to {last}"
                )
                raise refused(error)
        return strings_of([self._strings[int(number) - self._first] for number in array.ravel()], array.shape)


def lookup(vocabulary: Vocabulary | Texts, x: Texts, default: int | None = None) -> Tensor:
    """Returns the index of each string in a vocabulary.

    Args:
      vocabulary: the strings, without duplicates; or a :class:`Vocabulary` for repeated use.
      x: a tensor of strings.
      default: the number of unknown strings; None to refuse them.

    Raises:
      InvalidArgumentError: a string is not in the vocabulary, and there is no default.

    Example:
      >>> import graphc as gx
      >>> gx.strings.lookup(["cat", "dog"], ["dog", "cow", "cat"], default=-1).tolist()
      [1, -1, 0]
    """
    table = vocabulary if isinstance(vocabulary, Vocabulary) else Vocabulary(vocabulary, default)
    return table.lookup(x)
