"""Tables of the functions that stand for builtins, library functions and methods while a function is traced.

The tables are filled once, by :mod:`graphc.compiler.autograph.builtins.table`, when graphc.compiler.autograph is
imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, NamedTuple, NoReturn, cast

from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import Variable, read
from graphc.compiler.tracing import context, current_trace

__all__ = ["OVERRIDES", "PURE", "Functions", "of_chosen_values", "of_values", "refuse_variables"]

Override = Callable[..., Any]
Functions = dict[Any, Override]
"""By the function that is replaced, what is called in its place."""


@dataclass(frozen=True)
class Overrides:
    """Tables of the functions that stand for others.

    Attributes:
      functions: by the builtin or library function, what is called in its place, with the function first; for a method
        of a builtin type, with the object as its second argument.
      list_methods: by the names of the methods of lists of known length, what is called where tensors may decide about
        a place or an item, with Python's own method, the list, and the arguments.
    """

    functions: Functions = field(default_factory=Functions)
    list_methods: dict[str, Override] = field(default_factory=dict[str, Override])

    def fill(
        self,
        functions: Mapping[Any, Override],
        list_methods: Mapping[str, Override],
    ) -> None:
        """Adds to the tables."""
        self.functions.update(functions)
        self.list_methods.update(list_methods)


OVERRIDES = Overrides()
"""The tables of every trace."""


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


def of_chosen_values(name: str) -> Callable[[Override], Override]:
    """Returns :func:`of_values` for a function that gives one of its arguments: not one of several Variables."""

    def decorate(stands_for: Override) -> Override:
        asks = of_values(stands_for)

        def call(native: Any, *args: Any, **kwargs: Any) -> Any:
            items: Any = args[0] if len(args) == 1 and type(args[0]) in (list, tuple) else args
            if context.trace is not None and sum(isinstance(item, Variable) for item in items) > 1:
                refuse_variables(f"{name}()")
            return asks(native, *args, **kwargs)

        return call

    return decorate


def refuse_variables(what: str) -> NoReturn:
    """Refuses what gives one of several Variables by their values: a later assignment and a tape would see which."""
    error = UnimplementedError(
        f"{what} of several Variables gives one of them, which depends on their values; choose among the values "
        "(v.value()), or choose a Variable with an if"
    )
    raise current_trace().refuse(error)


def _values(given: Any) -> Any:
    items: Any = given if type(given) in (list, tuple) else ()
    return type(given)(map(read, items)) if any(isinstance(item, Variable) for item in items) else read(given)
