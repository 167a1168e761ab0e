"""Functions that join, split and change strings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import FUNCTIONS, StringTensor, Tensor, as_strings, host_tensor, refused
from graphc.compiler.ops.strings.given import Texts, broadcast, each, failed, known_numbers, strings_of, texts
from graphc.compiler.ops.strings.rules import each_of, in_graphs, joined, parts, single

__all__ = [
    "format", "join", "length", "lower", "reduce_join", "regex_full_match", "regex_replace", "split", "strip", "substr",
    "upper",
]  # fmt: skip

_UNITS = ("CHAR", "BYTE")


@in_graphs("inputs", type=each_of())
def join(inputs: Sequence[Texts], separator: str = "") -> StringTensor:
    """Joins strings element by element.

    Args:
      inputs: tensors of strings, which are broadcast together.
      separator: the text between them.

    Raises:
      InvalidArgumentError: the shapes do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.strings.join(["data", gx.asarray(["a.csv", "b.csv"])], separator="/").tolist()
      ['data/a.csv', 'data/b.csv']
    """
    strings = as_strings(inputs) if isinstance(inputs, StringTensor) else None
    parts = list(strings) if strings is not None else list(inputs)
    if not parts:
        return strings_of([""], ())
    arrays = broadcast("join", *[texts("join", f"inputs[{index}]", part) for index, part in enumerate(parts)])
    rows = zip(*[array.ravel().tolist() for array in arrays], strict=True)
    return strings_of([separator.join(row) for row in rows], arrays[0].shape)


@in_graphs("x", type=joined)
def reduce_join(
    x: Texts, axis: int | Sequence[int] | None = None, keepdims: bool = False, separator: str = ""
) -> StringTensor:
    """Joins the strings along axes.

    Args:
      x: a tensor of strings.
      axis: the axis or axes, joined in this order; None for all.
      keepdims: whether the axes remain, with size 1.
      separator: the text between the strings.

    Raises:
      InvalidArgumentError: ``x`` does not have an axis.

    Example:
      >>> import graphc as gx
      >>> gx.strings.reduce_join([["a", "b"], ["c", "d"]], axis=1, separator="-").tolist()
      ['a-b', 'c-d']
    """
    array = texts("reduce_join", "x", x)
    requested = tuple(range(array.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    if not all(-array.ndim <= one < array.ndim for one in requested):
        raise failed("reduce_join", f"axis {axis} is out of range for shape {array.shape}")
    axes = tuple(one % array.ndim for one in requested)
    remaining = [one for one in range(array.ndim) if one not in axes]
    front = tuple(array.shape[one] for one in remaining)
    count = int(np.prod([array.shape[one] for one in axes], dtype=int))
    rows = np.transpose(array, (*remaining, *axes)).reshape(-1 if array.size else int(np.prod(front, dtype=int)), count)
    joined = strings_of([separator.join(row) for row in rows.tolist()], front)
    return FUNCTIONS["expand_dims"](joined, tuple(sorted(axes))) if keepdims and axes else joined


@in_graphs("x", type=parts)
def split(x: Texts, sep: str | None = None, maxsplit: int = -1, *, fill: str | None = None) -> StringTensor:
    """Splits each string, with the parts along a new last axis.

    Args:
      x: a tensor of strings.
      sep: the separator; None or empty for any white space, as in Python.
      maxsplit: the maximum number of splits; -1 for no limit.
      fill: the padding of strings with fewer parts than others; None to refuse these.

    Raises:
      InvalidArgumentError: strings have different numbers of parts and there is no ``fill``, though tensors need equal
        sizes.

    Example:
      >>> import graphc as gx
      >>> gx.strings.split(["a b", "c"], fill="").tolist()
      [['a', 'b'], ['c', '']]
    """
    array = texts("split", "x", x)
    rows = each(lambda text: text.split(sep or None, maxsplit), array)
    count = max(map(len, rows), default=0)
    for index, row in zip(np.ndindex(array.shape), rows, strict=True):
        if len(row) < count and fill is None:
            problem = f"{len(row)} parts, where another string has {count}; pass fill= to pad missing parts"
            raise failed("split", problem, index)
        row += [str(fill)] * (count - len(row))
    return strings_of([part for row in rows for part in row], (*array.shape, count))


@in_graphs("x", type=each_of())
def strip(x: Texts) -> StringTensor:
    """Removes leading and trailing white space from the strings.

    Args:
      x: a tensor of strings.

    Example:
      >>> import graphc as gx
      >>> gx.strings.strip([" a ", "b"]).tolist()
      ['a', 'b']
    """
    array = texts("strip", "x", x)
    return strings_of(each(str.strip, array), array.shape)


def _has_all_letters(function: str, encoding: str) -> bool:
    if encoding not in ("utf-8", ""):
        error = InvalidArgumentError(f"strings.{function}: encoding is {encoding!r}, expected 'utf-8' or ''")
        raise refused(error)
    return bool(encoding)


def _in_ascii(change: Callable[[str], str]) -> Callable[[str], str]:
    """Returns a change of case restricted to ASCII letters."""
    return lambda text: "".join([change(letter) if letter.isascii() else letter for letter in text])


@in_graphs("x", type=each_of())
def lower(x: Texts, encoding: str = "utf-8") -> StringTensor:
    """Converts the strings to lower case.

    Args:
      x: a tensor of strings.
      encoding: ``"utf-8"`` for all letters, ``""`` for ASCII letters only.

    Raises:
      InvalidArgumentError: the encoding is another one.

    Example:
      >>> import graphc as gx
      >>> gx.strings.lower("Cat").item()
      'cat'
    """
    array = texts("lower", "x", x)
    change = str.lower if _has_all_letters("lower", encoding) else _in_ascii(str.lower)
    return strings_of(each(change, array), array.shape)


@in_graphs("x", type=each_of())
def upper(x: Texts, encoding: str = "utf-8") -> StringTensor:
    """Converts the strings to upper case.

    Args:
      x: a tensor of strings.
      encoding: ``"utf-8"`` for all letters, ``""`` for ASCII letters only.

    Raises:
      InvalidArgumentError: the encoding is another one.

    Example:
      >>> import graphc as gx
      >>> gx.strings.upper("Cat").item()
      'CAT'
    """
    array = texts("upper", "x", x)
    change = str.upper if _has_all_letters("upper", encoding) else _in_ascii(str.upper)
    return strings_of(each(change, array), array.shape)


def _is_bytes(function: str, unit: str) -> bool:
    """Returns True if a unit is a byte of UTF-8; TensorFlow's names of characters are accepted too."""
    if unit.removeprefix("UTF8_") not in _UNITS:
        error = InvalidArgumentError(f"strings.{function}: unit is {unit!r}, expected 'CHAR' or 'BYTE'")
        raise refused(error)
    return unit == "BYTE"


@in_graphs("x", type=each_of(lambda _: np.dtype(np.int32)))
def length(x: Texts, unit: str = "CHAR") -> Tensor:
    """Returns the lengths of the strings.

    Args:
      x: a tensor of strings.
      unit: ``"CHAR"``, or ``"BYTE"`` for the bytes of UTF-8.

    Raises:
      InvalidArgumentError: the unit is another one.

    Example:
      >>> import graphc as gx
      >>> gx.strings.length(["a", "bcd"]).tolist()
      [1, 3]
    """
    array = texts("length", "x", x)
    in_bytes = _is_bytes("length", unit)
    lengths = each(lambda text: len(_encoded(text)) if in_bytes else len(text), array)
    return host_tensor(np.array(lengths, np.int32).reshape(array.shape))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@in_graphs("x", "pos", "len", type=each_of())
def substr(x: Texts, pos: Any, len: Any, unit: str = "CHAR") -> StringTensor:
    """Returns a part of each string.

    Args:
      x: a tensor of strings.
      pos: the start of the part; negative values count from the end. Tensors are broadcast.
      len: the maximum length of the part; a negative value means the rest.
      unit: ``"CHAR"``, or ``"BYTE"`` for the bytes of UTF-8.

    Raises:
      InvalidArgumentError: a position is before the start or past the end of a string.

    Example:
      >>> import graphc as gx
      >>> gx.strings.substr(["image_07.png", "image_12.png"], 6, 2).tolist()
      ['07', '12']
    """
    in_bytes = _is_bytes("substr", unit)
    positions, lengths = known_numbers("substr", "pos", pos), known_numbers("substr", "len", len)
    arrays = broadcast("substr", texts("substr", "x", x), positions, lengths)

    def part(text: str, start: int, count: int) -> str | None:
        encoded: Any = _encoded(text) if in_bytes else text
        size = encoded.__len__()
        if not -size <= start <= size:
            return None
        start += size if start < 0 else 0
        cut = encoded[start : size if count < 0 else start + count]
        return cut.decode("utf-8", "surrogateescape") if in_bytes else cut

    pieces: list[str] = []
    for index, (text, start, count) in zip(
        np.ndindex(arrays[0].shape), zip(*[array.ravel().tolist() for array in arrays], strict=True), strict=True
    ):
        cut = part(text, start, count)
        if cut is None:
            raise failed("substr", f"position {start} is outside {text!r:.60}", index)
        pieces.append(cut)
    return strings_of(pieces, arrays[0].shape)


@in_graphs("inputs", type=single)
def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3) -> StringTensor:
    """Inserts tensors into a template string.

    Args:
      template: the template.
      inputs: a tensor, or a tuple or list of them, one for each placeholder.
      placeholder: the text that a tensor replaces.
      summarize: the number of elements shown at the start and the end of each axis; -1 for all.

    Raises:
      InvalidArgumentError: the numbers of placeholders and inputs differ.
      ConcretizationError: an input is a tensor without a value, while a function is traced; an f-string in converted
        code is formatted when the program runs.

    Example:
      >>> import graphc as gx
      >>> gx.strings.format("step {} of {}", (gx.asarray(3), gx.asarray([1, 2, 3]))).item()
      'step 3 of [1 2 3]'
    """
    values = list(cast("Sequence[Any]", inputs)) if isinstance(inputs, list | tuple) else [inputs]
    parts = template.split(placeholder)
    if parts.__len__() != values.__len__() + 1:
        problem = f"{parts.__len__() - 1} times {placeholder!r} in the template, but {values.__len__()} inputs"
        raise failed("format", problem)
    written = [_written(f"inputs[{index}]", value, summarize) for index, value in enumerate(values)]
    return strings_of(["".join([part for pair in zip(parts, [*written, ""], strict=True) for part in pair])], ())


def _written(name: str, value: Any, summarize: int) -> str:
    """Returns a tensor as TensorFlow writes it."""
    strings = as_strings(value)
    array = known_numbers("format", name, value) if strings is None else strings.__array__()
    return _row(array, summarize)


def _row(array: np.ndarray[Any, Any], summarize: int, indent: int = 1) -> str:
    if array.ndim == 0:
        item = array.item()
        return f'"{item}"' if isinstance(item, str) else _number(array)
    count = array.shape[0]
    short = 0 <= 2 * summarize < count
    indices = [*range(summarize), *range(count - summarize, count)] if short else range(count)
    rows = [_row(array[index, ...], summarize, indent + 1) for index in indices]
    if short:
        rows.insert(summarize, "...")
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * indent
    return f"[{between.join(rows)}]"


def _number(array: np.ndarray[Any, Any]) -> str:
    if array.dtype.kind in "biu":
        return str(int(array))
    if array.dtype.kind == "c":
        return str(array.item())
    return (
        np.format_float_positional(cast("Any", array), trim="-") if 1e-4 <= abs(array) < 1e16 else f"{array.item():g}"
    )


# String functions with regular expressions, in Python's syntax.


def _compiled(function: str, pattern: Texts) -> re.Pattern[str]:
    text = str(texts(function, "pattern", pattern).item())
    try:
        return re.compile(text)
    except re.error as error:
        problem = f"strings.{function}: pattern {text!r} is not a regular expression: {error}"
        raise refused(InvalidArgumentError(problem)) from None


@in_graphs("x", type=each_of())
def regex_replace(x: Texts, pattern: Texts, rewrite: str, replace_global: bool = True) -> StringTensor:
    r"""Replaces the matches of a pattern in each string.

    Args:
      x: a tensor of strings.
      pattern: a regular expression.
      rewrite: the replacement, in which ``\1`` is the match of the first group and ``\0`` the whole match.
      replace_global: False to replace only the first match.

    Raises:
      InvalidArgumentError: the pattern is invalid, or ``rewrite`` refers to a group that it does not have.

    Example:
      >>> import graphc as gx
      >>> gx.strings.regex_replace(["img_07.png"], r"img_(\d+)", r"\1-small").tolist()
      ['07-small.png']
    """
    array = texts("regex_replace", "x", x)
    compiled = _compiled("regex_replace", pattern)
    # In Python \0 is the null character.
    put = re.sub(r"\\(\d)", r"\\g<\1>", rewrite)
    try:
        replaced = each(lambda text: compiled.sub(put, text, count=0 if replace_global else 1), array)
    except (re.error, IndexError) as error:
        problem = f"strings.regex_replace: rewrite {rewrite!r} does not fit the pattern: {error}"
        raise refused(InvalidArgumentError(problem)) from None
    return strings_of(replaced, array.shape)


@in_graphs("x", type=each_of(lambda _: np.dtype(np.bool_)))
def regex_full_match(x: Texts, pattern: Texts) -> Tensor:
    r"""Tests whether a pattern matches each whole string.

    Args:
      x: a tensor of strings.
      pattern: a regular expression.

    Raises:
      InvalidArgumentError: the pattern is invalid.

    Example:
      >>> import graphc as gx
      >>> gx.strings.regex_full_match(["a.csv", "a.txt"], r".*\.csv").tolist()
      [True, False]
    """
    array = texts("regex_full_match", "x", x)
    compiled = _compiled("regex_full_match", pattern)
    matches = each(lambda text: compiled.fullmatch(text) is not None, array)
    return host_tensor(np.array(matches, bool).reshape(array.shape))
