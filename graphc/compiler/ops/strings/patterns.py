"""String functions with regular expressions, in Python's syntax."""

from __future__ import annotations

import re

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import StringTensor, Tensor, host_tensor, refused
from graphc.compiler.ops.strings.given import Texts, each, strings_of, texts
from graphc.compiler.ops.strings.late import each_of, in_graphs

__all__ = ["regex_full_match", "regex_replace"]


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
        found = each(lambda text: compiled.sub(put, text, count=0 if replace_global else 1), array)
    except (re.error, IndexError) as error:
        problem = f"strings.regex_replace: rewrite {rewrite!r} does not fit the pattern: {error}"
        raise refused(InvalidArgumentError(problem)) from None
    return strings_of(found, array.shape)


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
    found = each(lambda text: compiled.fullmatch(text) is not None, array)
    return host_tensor(np.array(found, bool).reshape(array.shape))
