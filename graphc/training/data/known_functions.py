"""Makes functions of elements; a function that another dataset makes for each element is compiled once, or never."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import Any

from graphc.training.data.elements import Row, described
from graphc.training.data.functions import UserFunction

__all__ = ["inside_of_a_function", "user_function"]

_inside: ContextVar[bool] = ContextVar("graphc.training.data.inside", default=False)


@contextlib.contextmanager
def inside_of_a_function() -> Generator[None]:
    """Marks code that runs once per element: inside it, only functions that are always the same are compiled."""
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)


def user_function(
    function: Callable[..., Any], spec: Any, use: str, *, compiled: bool = True, sample: Callable[[], Row] | None = None
) -> UserFunction:
    """Returns a function of elements; one that another dataset makes for each element is compiled once, or never.

    Args:
      function: see :class:`UserFunction`, as of the others.
      spec: the types of the elements it gets.
      use: the transformation.
      compiled: whether to try to compile it.
      sample: a function that returns one row of the input.
    """
    if not compiled or not _inside.get():
        return UserFunction(function, spec, use, compiled=compiled, sample=sample)
    given: Any = function
    # Methods of two objects have the same code: they differ in their objects, as closures do in their cells.
    code = None if getattr(given, "__self__", None) is not None else getattr(given, "__code__", None)
    if code is None or given.__closure__ or given.__defaults__ or given.__kwdefaults__:
        found = UserFunction(function, spec, use, compiled=False, sample=sample)
        found.reason = "the enclosing dataset makes a new function for each element"
        return found
    key = (code, id(given.__globals__), use, described(spec))
    if key not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = UserFunction(function, spec, use)
    return _known[key].with_sample(sample)


_known: dict[Any, UserFunction] = {}
_MOST_KNOWN = 256
