"""Functions of Python's library that only compute, given plain values: text, JSON, numbers, places in sorted lists."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from re import Match, Pattern, RegexFlag
from typing import Any, cast

from graphc.compiler.autograph.constructs.exceptions.origins import in_python

__all__ = ["only_computes", "with_plain_values"]

_COMPUTING: dict[str, frozenset[str] | None] = {
    **dict.fromkeys(
        (
            "_json",
            "_struct",
            "binascii",
            "colorsys",
            "fractions",
            "html",
            "json",
            "re",
            "shlex",
            "statistics",
            "string",
        ),
    ),
    **dict.fromkeys(("base64", "cmath", "fnmatch", "struct", "textwrap", "unicodedata", "urllib.parse", "zlib")),
    "_bisect": frozenset(("bisect_left", "bisect_right")),
    "ast": frozenset(("literal_eval",)),
    "bisect": frozenset(("bisect_left", "bisect_right")),
    "heapq": frozenset(("nlargest", "nsmallest")),
    "posixpath": frozenset(("basename", "commonprefix", "dirname", "isabs", "join", "normpath", "split", "splitext")),
    "pprint": frozenset(("pformat",)),
    "str": None,
}
"""By module, the functions that do; None for all of them."""
_NOT_COMPUTING = frozenset(("dump", "load", "pack_into", "purge", "shlex", "unpack_from"))
"""Functions of these modules that write or read, or keep what they read."""
_PLAIN = frozenset(
    (str, bytes, int, float, complex, bool, type(None), Decimal, Fraction, Match, Pattern, RegexFlag, range)
)


def only_computes(function: Any) -> bool:
    """Returns True if a function of Python's library computes, and does nothing else, of plain values."""
    module, name = str(getattr(function, "__module__", None) or _class_of_method(function)), _name(function)
    kept = isinstance(function, types.FunctionType | types.BuiltinFunctionType) or function is Fraction
    if not kept or name in _NOT_COMPUTING:
        return False
    names = _COMPUTING.get(module if module in _COMPUTING else module.partition(".")[0], frozenset[str]())
    return names is None or name in names


def _class_of_method(function: Any) -> str:
    """Returns the class whose static method a function in C is, such as ``str.maketrans``."""
    return str(getattr(function, "__qualname__", "")).partition(".")[0]


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", ""))


def with_plain_values(function: Callable[..., Any], report: Callable[[], None]) -> Callable[..., Any]:
    """Returns a function that only computes.

    Args:
      function: it.
      report: says that it may have a side effect, for what it is given is not plain: it may call code of the user's.
    """

    @functools.wraps(function, updated=())
    def called(*args: Any, **kwargs: Any) -> Any:
        if not all(map(_is_plain, (*args, *kwargs.values()))):
            report()
        return in_python(function, *args, **kwargs)

    return called


def _is_plain(value: Any) -> bool:
    kind = cast("type[Any]", type(value))
    if kind is dict:
        table = cast("dict[Any, Any]", value)
        return all(map(_is_plain, table)) and all(map(_is_plain, table.values()))
    return kind in _PLAIN or (kind in (list, tuple, set, frozenset) and all(map(_is_plain, value)))
