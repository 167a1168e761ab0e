"""StringLookup: strings as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.ops import asarray, strings

__all__ = ["StringLookup"]


class StringLookup:
    """Turns strings into their numbers in a vocabulary, or numbers into the strings (Keras's layer).

    Args:
      vocabulary: the strings.
      num_oov_indices: 1 where strings that are not in the vocabulary have a number of their own, 0 to refuse them.
      mask_token: a string that has the first number; None for none.
      oov_token: what stands for strings that are not in the vocabulary, where numbers become strings.
      invert: whether numbers become strings.
      output_mode: ``"int"``.

    Raises:
      InvalidArgumentError: there is no vocabulary, or something else is asked for.

    Example:
      >>> import graphc as gx
      >>> lookup = gx.layers.StringLookup(["a", "b"])
      >>> lookup(["b", "rose"]).tolist(), lookup.get_vocabulary()
      ([2, 0], ['[UNK]', 'a', 'b'])
    """

    def __init__(
        self,
        vocabulary: Sequence[str] | None,
        num_oov_indices: int = 1,
        mask_token: str | None = None,
        oov_token: str = "[UNK]",
        invert: bool = False,
        output_mode: str = "int",
    ) -> None:
        if num_oov_indices not in (0, 1) or vocabulary is None or output_mode != "int":
            error = InvalidArgumentError(
                "StringLookup: here a vocabulary is given, num_oov_indices is 0 or 1, and output_mode is 'int'; got "
                f"vocabulary={vocabulary!r:.60}, num_oov_indices={num_oov_indices!r}, output_mode={output_mode!r}"
            )
            raise at(error, user_location())
        given: list[str] = asarray(cast("Any", vocabulary), dtype=str).tolist()
        special = [*([] if mask_token is None else [mask_token]), *([oov_token] if num_oov_indices else [])]
        # A saved vocabulary has the special strings in front.
        words = given if special and given[: len(special)] == special else [*special, *given]
        default = len(special) - 1 if num_oov_indices else None
        self._invert = invert
        self._words = words
        self._special = len(special)
        self._vocabulary = strings.Vocabulary(words, default)

    def __call__(self, inputs: Any) -> Any:
        """Returns the numbers of strings, or the strings of numbers."""
        return self._vocabulary.strings(inputs) if self._invert else self._vocabulary.lookup(inputs)

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[str]:
        """Returns the strings, in the order of their numbers."""
        return self._words[0 if include_special_tokens else self._special :]

    def vocabulary_size(self) -> int:
        """Returns how many numbers there are."""
        return len(self._words)
