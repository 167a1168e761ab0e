"""The table of the functions that stand for builtins, library functions and methods while a function is traced.

The table is filled once, by :mod:`graphc.compiler.autograph.builtins.table`, when graphc.compiler.autograph is
imported.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple, cast

from graphc.compiler.core import Variable, read

Override = Callable[..., Any]
Functions = dict[Any, Override]
"""By the function that is replaced, what is called in its place."""


OVERRIDES: Functions = {}
"""The table of every trace, for builtins, library functions and methods of builtin types.

What is called gets the function first, and the object second for a method.
"""


class _Sample(NamedTuple):
    """A named tuple: all share the code of their methods."""

    item: object


PURE = frozenset(
    id(cast("FunctionType", getattr(method, "__func__", method)).__code__)
    for method in (getattr(_Sample, name) for name in ("_replace", "_asdict", "_make", "__getnewargs__"))
)
"""The ids of the code of library functions that are known to compute only; it lives as long as its library."""


def of_values(stands_for: Override) -> Override:
    """Returns what stands for a function that asks for values: it gets those of Variables, in lists and tuples too."""

    def call(native: Any, *args: Any, **kwargs: Any) -> Any:
        return stands_for(native, *map(_values, args), **kwargs)

    return call


def _values(argument: Any) -> Any:
    items: Any = argument if type(argument) in (list, tuple) else ()
    return type(argument)(map(read, items)) if any(isinstance(item, Variable) for item in items) else read(argument)
