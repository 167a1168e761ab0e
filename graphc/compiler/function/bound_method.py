"""A compiled method with its instance."""

from __future__ import annotations

import copy
import functools
from typing import TYPE_CHECKING, Any, Generic

from graphc.compiler.core import context
from graphc.compiler.function.concrete import ConcreteFunction
from graphc.compiler.function.guards import MISS
from graphc.compiler.tracing import register_bound_method

if TYPE_CHECKING:
    from graphc.compiler.function.function import Function
    from graphc.compiler.function.retrace import TraceReport
    from graphc.compiler.function.traced import TracedFunction
    from graphc.compiler.ir import Graph

__all__ = ["BoundFunction", "P", "R", "bound"]

# The type parameters of compiled functions, which show type checkers and editors the Python function's signature.

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, TypeVar

    P = ParamSpec("P", default=...)
    R = TypeVar("R", default=Any)
else:  # type parameters have defaults since Python 3.13
    from typing import ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")


_TAKE_ARGUMENTS = frozenset(("compare", "explain", "graph", "lower", "make_variables", "trace"))


class BoundFunction(Generic[P, R]):
    """A compiled method with its instance, made anew at each access."""

    __slots__ = ("_function", "_instance")

    _function: Function
    _instance: Any

    @property
    def __func__(self) -> Function:
        """The compiled function, as for Python methods."""
        return self._function

    @property
    def __self__(self) -> Any:
        """The instance, as for Python methods."""
        return self._instance

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Calls the compiled method."""
        function = self._function
        signals = function.signals
        if (
            not signals.busy or context.eager
        ) and not signals.slow_path_reasons:  # as in Function; a shared method would cost a tenth of a call
            entry = function._entry  # pyright: ignore[reportPrivateUsage]
            result = entry(None, self._instance, *args, **kwargs) if kwargs else entry(None, self._instance, *args)
            if result is not MISS:
                return result
        return function(self._instance, *args, **kwargs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Returns the method for arguments of given types; see :meth:`Function.get_concrete_function`."""
        return ConcreteFunction(self._function, args, kwargs, (self._instance,))

    if TYPE_CHECKING:  # found by __getattr__; listed for editors
        name: str
        num_traces: int

        def python_function(self, *args: P.args, **kwargs: P.kwargs) -> R:
            """Runs the method as Python, uncompiled."""
            ...

        def graph(self, *args: Any, **kwargs: Any) -> Graph:
            """Returns the graph that is traced for these arguments; see :meth:`Function.graph`."""
            ...

        def trace(self, *args: Any, **kwargs: Any) -> TracedFunction:
            """Traces the method for these arguments; see :meth:`Function.trace`."""
            ...

        def lower(self, *args: Any, **kwargs: Any) -> Any:
            """Returns the lowered program; see :meth:`Function.lower`."""
            ...

        def compare(self, *args: Any, **kwargs: Any) -> Any:
            """Compares eager and compiled results and times; see :func:`graphc.compare`."""
            ...

        def explain(self, *args: Any, **kwargs: Any) -> Any:
            """Explains the compiled program; see :func:`graphc.explain`."""
            ...

        def trace_report(self) -> list[TraceReport]:
            """Returns a report for each trace, with its reason."""
            ...

        def clear_cache(self) -> None:
            """Drops all traces."""
            ...

    def __reduce__(self) -> Any:
        return bound, (self._function, self._instance)

    def __deepcopy__(self, memo: dict[int, Any]) -> BoundFunction:
        return bound(self._function, copy.deepcopy(self._instance, memo))

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._function, name)
        if name in _TAKE_ARGUMENTS:
            return functools.partial(attribute, self._instance)
        if name in ("python_function", "__wrapped__"):  # the latter is where inspect.signature looks
            return attribute.__get__(self._instance)
        return attribute


register_bound_method(BoundFunction)


def bound(function: Function, instance: Any, new: Any = object.__new__) -> BoundFunction:
    """Returns a compiled method with its instance; called at each access, and so skips ``__init__``."""
    made = new(BoundFunction)
    made._function, made._instance = function, instance
    return made
