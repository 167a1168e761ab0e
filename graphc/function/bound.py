"""A compiled method with its instance."""

from __future__ import annotations

import copy
import functools
from typing import TYPE_CHECKING, Any

from graphc.core import context
from graphc.function.concrete import ConcreteFunction
from graphc.function.guards import MISS

if TYPE_CHECKING:
    from graphc.function.function import Function

__all__ = ["BoundFunction", "bound"]

_TAKE_ARGUMENTS = frozenset(("compare", "explain", "graph", "lower", "make_variables", "trace"))


class BoundFunction:
    """A compiled method with its instance; made at each access, it holds nothing of its own."""

    __slots__ = ("_function", "_instance")

    _function: Function
    _instance: Any

    @property
    def __func__(self) -> Function:
        """The compiled function, as of Python's own methods."""
        return self._function

    @property
    def __self__(self) -> Any:
        """The instance, as of Python's own methods."""
        return self._instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the compiled method."""
        function = self._function
        asked = function.asked
        if (
            not asked.busy or context.eager
        ) and not asked.detours:  # as Function, which takes a tenth of the time of a call
            entry = function._entry  # pyright: ignore[reportPrivateUsage]
            result = entry(None, self._instance, *args, **kwargs) if kwargs else entry(None, self._instance, *args)
            if result is not MISS:
                return result
        return function(self._instance, *args, **kwargs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Returns the method for arguments of certain types; see :meth:`Function.get_concrete_function`."""
        return ConcreteFunction(self._function, args, kwargs, (self._instance,))

    def __reduce__(self) -> Any:
        return bound, (self._function, self._instance)

    def __deepcopy__(self, memo: dict[int, Any]) -> BoundFunction:
        return bound(self._function, copy.deepcopy(self._instance, memo))

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._function, name)
        if name in _TAKE_ARGUMENTS:
            return functools.partial(attribute, self._instance)
        if name == "python_function":
            return attribute.__get__(self._instance)
        return attribute


def bound(function: Function, instance: Any, new: Any = object.__new__) -> BoundFunction:
    """A compiled method with its instance; each access of one makes one, so without a call of ``__init__``."""
    made = new(BoundFunction)
    made._function, made._instance = function, instance
    return made
