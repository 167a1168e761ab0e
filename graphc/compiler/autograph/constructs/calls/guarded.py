"""Code that is called as it is: it tells what it is given, and what it would look at or change behind our backs."""

from __future__ import annotations

import builtins
import functools
import operator
import sys
import types
import warnings
from typing import Any, cast

from graphc.compiler.autograph.constructs.calls.cached_calls import CACHED
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.purity.natives import ITERATING, call_watched, check_arguments, may_change
from graphc.compiler.autograph.constructs.purity.special_methods import called_by
from graphc.compiler.autograph.constructs.purity.unconverted import handed
from graphc.compiler.autograph.constructs.purity.watch import check_iterator, made, made_here, operator_method
from graphc.compiler.autograph.frontend.convert import is_converted
from graphc.compiler.autograph.values.control import control
from graphc.compiler.autograph.values.protocol import alternatives, check_given
from graphc.compiler.autograph.values.python_object import found_on
from graphc.compiler.core import Tensor
from graphc.compiler.tracing import Region, context

__all__ = [
    "MAPPING",
    "PURE_BUILTINS",
    "class_of",
    "guarded",
    "is_debugger",
    "is_graphc_class",
    "telling",
]

PURE_BUILTINS: frozenset[Any] = frozenset(
    getattr(builtins, name)
    for name in (  # noqa: SIM905  46 quoted names would hide the list
        "abs all any bool callable complex dict divmod enumerate filter float format frozenset getattr hasattr hash "
        "id int isinstance issubclass iter len list map max min object pow property range repr reversed round set "
        "slice sorted str sum super tuple type zip"
    ).split(" ")
)
_CALLING_BUILTINS: frozenset[Any] = frozenset((filter, iter, map, max, min, sorted))
MAPPING: frozenset[Any] = frozenset((filter, map))
_DEBUGGERS = frozenset(("bdb", "debugpy", "ipdb", "pdb", "pudb"))
_ASKING_FRAMES: frozenset[Any] = frozenset(
    (super, locals, globals, vars, dir, eval, exec, warnings.warn, sys._getframe)  # pyright: ignore[reportPrivateUsage]
)
"""Functions that look at the frame that calls them."""
_CALLBACKS = (
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    functools.partial,
    operator.attrgetter,
    operator.itemgetter,
    operator.methodcaller,
    CACHED,
)


def telling(function: Any, native: Any) -> Any:
    """Returns what is called, which tells first what it is given where it is not converted, and so reads unseen."""
    inside = getattr(native, "__func__", native)
    converted = isinstance(inside, types.FunctionType) and is_converted(inside)
    if converted or function is functools.partial or is_debugger(function):  # a partial calls nothing when it is made
        return native
    owner = getattr(function, "__self__", function)
    renews = is_graphc_class(class_of(owner)) and context.trace is not None

    def told(*args: Any, **kwargs: Any) -> Any:
        handed((owner, *args, *kwargs.values()), called=not renews)
        result = in_python(native, *args, **kwargs)
        if renews and context.trace is not None:
            context.trace.root.reads.renew(owner)  # such as an optimizer, which learns what it updates
        return result

    return told


def is_debugger(function: Any) -> bool:
    """Returns True if a function stops in the frame that calls it, which is to be the user's."""
    module = getattr(function, "__module__", None) or ""
    return function is breakpoint or module.partition(".")[0] in _DEBUGGERS


def class_of(value: Any) -> type[Any]:
    """Returns the class of an object."""
    return cast("type[Any]", type(value))


def is_graphc_class(kind: type[Any]) -> bool:
    """Returns True if a class is one of graphc's own."""
    return kind.__module__.split(".")[0] == "graphc"


def guarded(function: Any) -> Any:
    """The function, with a check of what it is given: a loop index that it would look at, an object it would change."""
    calling = not isinstance(function, type | types.BuiltinFunctionType) or function not in _CALLING_BUILTINS
    trace = context.trace
    if trace is None or _takes_tensors(function) or _hashable_function(function) in _ASKING_FRAMES:
        return function
    # A builtin is looked up before its arguments are evaluated: these may be the first lists of unknown length.
    iterates = _hashable_function(function) in ITERATING
    watches = not iterates and _hashable_function(function) not in PURE_BUILTINS and may_change(function)
    asks = bool(called_by(function))
    if calling and trace.parent is None and not (trace.root.has_growing or iterates or watches or asks):
        return functools.partial(in_python, function)

    def checked(*args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            check_given(value, function)
            if watches or iterates or isinstance(trace, Region):
                check_iterator(value)
        if not calling:
            args = tuple([_called_back(value) for value in args])
            calls_first = function in MAPPING or (function is iter and len(args) == 2)
            if calls_first and args and (isinstance(args[0], type) or _is_called(args[0])):
                args = (control.call(args[0]), *args[1:])
            kwargs = {
                name: control.call(f) if _is_called(f) and name == "key" else _called_back(f)
                for name, f in kwargs.items()
            }
        check_arguments(function, args, kwargs)
        result = call_watched(function, args, kwargs) if watches else in_python(function, *args, **kwargs)
        return made(result) if _is_new(function, result) else made_here(result)

    return checked


def _is_new(function: Any, result: Any) -> bool:
    """Returns True if a result is an object that the call made."""
    if isinstance(function, type):
        fresh = (object.__new__, list.__new__, dict.__new__)
        # A __new__ of the user's may give an object that was there before.
        return class_of(result) is function and found_on(function, "__new__") in fresh
    return function is sorted or getattr(function, "__name__", "") == "copy"


def _hashable_function(function: Any) -> Any:
    # Other callables may not be hashable.
    return function if isinstance(function, type | types.BuiltinFunctionType) else None


def _called_back(value: Any) -> Any:
    """Returns an argument that the builtin calls, as a call of it would be converted."""
    return control.call(value) if isinstance(value, _CALLBACKS) or alternatives(value) is not None else value


def _is_called(value: Any) -> bool:
    """Returns True if a function is an object of the user's, which are called by a method."""
    return operator_method(value, "__call__") is not None


def _takes_tensors(function: Any) -> bool:
    """Graphc's own functions take a loop index as the tensor that it is."""
    module = getattr(function, "__module__", None) or ""
    return module.split(".")[0] == "graphc" or isinstance(getattr(function, "__self__", None), Tensor)
