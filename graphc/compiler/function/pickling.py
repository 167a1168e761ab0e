"""Pickling of compiled functions: like Python functions, by name if possible, and without caches."""

from __future__ import annotations

import sys
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphc.compiler.function.function import Function
    from graphc.compiler.function.options import FunctionOptions

__all__ = ["reduced"]


def reduced(function: Function, options: FunctionOptions, is_method: bool) -> Any:
    """Returns the result of ``__reduce_ex__``: the function's name in its module, or the parts to rebuild it from."""
    named = _named_like(function)
    if named is function:
        if not (function.__module__ == "__main__" and _is_for_another_main()):
            return _name(function)
    elif hasattr(named, "clone") and named.python_function is function.python_function:
        # As f.clone(...): pickle would look for Python's function under the name that the compiled one has.
        return _clone, (named, options)
    return _made, (function.python_function, options, is_method)


def _named_like(function: Function) -> Any:
    """Returns the object that has the function's name in its module."""
    try:
        return attrgetter(_name(function))(sys.modules[function.__module__])
    except (AttributeError, KeyError):
        return None


def _name(function: Any) -> str:
    return function.__qualname__


def _is_for_another_main() -> bool:
    """Returns True if cloudpickle asks, which pickles functions of the main module by value for another main module."""
    asking = sys._getframe(3).f_globals  # pyright: ignore[reportPrivateUsage]
    return str(asking.get("__name__")).endswith("cloudpickle")


def _clone(function: Function, options: FunctionOptions) -> Function:
    return function.clone(**options)


def _made(python_function: Any, options: FunctionOptions, is_method: bool) -> Function:
    from graphc.compiler.function.function import Function

    return Function.made(python_function, options, is_method=is_method)
