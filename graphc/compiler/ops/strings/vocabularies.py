"""Vocabularies: mappings between strings and integers."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np

from graphc.compiler.base.errors import OutOfRangeError
from graphc.compiler.core import StringTensor, Tensor, as_dtype, host_tensor, refused
from graphc.compiler.ops.strings.given import Texts, each, failed, known_numbers, strings_of, texts

__all__ = ["Vocabulary", "lookup"]


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
        held = texts("Vocabulary", "strings", strings).ravel().tolist() if np.size(strings) else []
        self._strings: tuple[str, ...] = tuple(held)
        self._places = {text: place for place, text in enumerate(self._strings, first)}
        self._default = default
        self._first = first
        if len(self._places) < len(self._strings):
            twice = next(text for place, text in enumerate(self._strings) if text in self._strings[:place])
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
        found = each(lambda text: self._places.get(text, self._default), array)
        for place, text, number in zip(np.ndindex(array.shape), array.ravel(), found, strict=True):
            if number is None:
                near = difflib.get_close_matches(str(text), self._strings, n=1)
                hint = f" (is it {near[0]!r}?)" if near else ""
                problem = f"{text!r:.60} is not in the vocabulary of {len(self)} strings{hint}; set a default"
                raise failed("lookup", problem, place)
        return host_tensor(np.array(found, as_dtype("int64")).reshape(array.shape))

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
        for place, number in zip(np.ndindex(array.shape), array.ravel().tolist(), strict=True):
            if type(number) is not int or not self._first <= number <= last:
                where = f"element {list(place)}: " if place else ""
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
    known = vocabulary if isinstance(vocabulary, Vocabulary) else Vocabulary(vocabulary, default)
    return known.lookup(x)
