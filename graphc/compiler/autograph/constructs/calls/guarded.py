"""Code that is called as it is: it tells what it is given, and what it would look at or change behind our backs."""

from __future__ import annotations

import builtins
import functools
import itertools
import operator
import random
import sys
import types
import warnings
from collections.abc import Callable, Iterable
from typing import Any, cast
from weakref import WeakSet

import numpy as np

from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.purity.natives import ITERATING, call_watched, check_arguments, may_change
from graphc.compiler.autograph.constructs.purity.reading import names_of
from graphc.compiler.autograph.constructs.purity.unconverted import handed
from graphc.compiler.autograph.constructs.purity.watch import (
    called_by,
    check_iterator,
    made,
    made_here,
    operator_method,
)
from graphc.compiler.autograph.constructs.storage.native_state import equal_states, state_of
from graphc.compiler.autograph.frontend.convert import is_converted
from graphc.compiler.autograph.values.choice import over_choices, use
from graphc.compiler.autograph.values.kinds import found_on
from graphc.compiler.autograph.values.protocol import alternatives, check_given
from graphc.compiler.base import is_library_file
from graphc.compiler.core import Tensor, converted, outside_scope
from graphc.compiler.tracing import Region, Source, content_of, context, dispatched, fixed, result_of_call

# ``functools.lru_cache`` and ``cached_property``: what they keep is made outside of the trace, and outlives it.

CACHED: type[Any] = type(functools.lru_cache(len))
_KNOWN = (type(None), bool, int, float, complex, str, bytes, type, types.ModuleType)
"""Types of arguments that are equal at the next call, if they are exactly of this type."""

_RANDOM_STATES: tuple[Any, ...] = (random.random.__self__, np.random.rand.__self__)  # pyright: ignore
"""The generators behind the functions of the modules ``random`` and ``numpy.random``."""

_changing = WeakSet[Any]()
"""The functions that were seen to change something."""
_calls = itertools.count()


def call_cached(function: Any, otherwise: Callable[[Any], Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls what ``functools.lru_cache`` made, or what ``otherwise`` returns where an argument is the trace's own."""
    trace = context.trace
    cached = getattr(function, "__func__", function)
    owner = () if cached is function else (function.__self__,)
    arguments = (*owner, *args, *kwargs.values())
    parts = [_source(value) for value in arguments]
    sources = [part for part in parts if part is not None]
    if trace is None or len(sources) < len(parts) or cached.cache_parameters()["maxsize"] == 0:
        return otherwise(function)(*args, **kwargs)
    what = f"the call of {cached.__name__}, which does more than fill its cache,"
    if trace.parent is not None and cached in _changing:
        trace.side_effect(what)
    before = None if trace.parent is None else _state_within_reach(cached, arguments)
    try:
        result = in_python(_ask, function, *args, **kwargs)
    except Exception:  # a cache keeps no exceptions: what the function read counts
        handed((function, *args, *kwargs.values()))
        raise
    if before is not None and not equal_states(before, _state_within_reach(cached, arguments)):
        _changing.add(cached)  # when it is traced again, the cache answers
        trace.side_effect(what)
    ask = functools.partial(_ask, cached)
    trace.root.reads.record(result_of_call(cached.__name__, ask, id(cached), sources, list(kwargs)), result)
    return result


def _state_within_reach(function: Any, args: Iterable[Any]) -> list[Any]:
    """Returns the state of what a function may change: arguments, and what it, or a function that it calls, names."""
    values, functions = [*_RANDOM_STATES, *args], [function]
    for one in functions:
        inner = getattr(one, "__func__", one)
        inner = getattr(inner, "__wrapped__", inner)
        if not isinstance(inner, types.FunctionType) or is_library_file(inner.__code__.co_filename):
            continue
        names = names_of(inner.__code__, inner=True).outside
        values += [next(_calls)] if "print" in names else []  # nobody sees what was printed: it counts as a change
        parts = [*map(inner.__globals__.get, names), *map(content_of, inner.__closure__ or ())]
        functions += [part for part in parts if callable(part) and not any(part is other for other in functions)]
        values += parts
    return [state_of(value, False) for value in values]


def _ask(cached: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Asks the cache, outside of any trace."""
    if context.trace is None:
        return cached(*args, **kwargs)
    with outside_scope():
        return cached(*args, **kwargs)


def _source(value: Any) -> Source | None:
    """Returns how the next call finds an argument; None for an object that the trace made."""
    assert context.trace is not None
    source = context.trace.root.reads.source(value)
    if source is not None:
        return source
    kind = cast("type[Any]", type(value))
    if kind is tuple:
        plain = all(_is_known(part) for part in cast("tuple[Any, ...]", value))
    else:
        plain = _is_known(value)
    return fixed(value, repr(value)) if plain else None


def _is_known(value: Any) -> bool:
    return type(value) in _KNOWN


def computed_once(owner: Any, name: str) -> Any:
    """Returns the first value of a ``functools.cached_property``, which the object keeps."""
    assert context.trace is not None
    made_here = context.trace.root.reads.source(owner) is None
    return in_python(getattr if made_here else _compute, owner, name)


def _compute(owner: Any, name: str) -> Any:
    with outside_scope():
        return getattr(owner, name)


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
                args = (converted(args[0]), *args[1:])
            kwargs = {
                name: converted(f) if _is_called(f) and name == "key" else _called_back(f) for name, f in kwargs.items()
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
    return converted(value) if isinstance(value, _CALLBACKS) or alternatives(value) is not None else value


def _is_called(value: Any) -> bool:
    """Returns True if a function is an object of the user's, which are called by a method."""
    return operator_method(value, "__call__") is not None


def _takes_tensors(function: Any) -> bool:
    """Graphc's own functions take a loop index as the tensor that it is."""
    module = getattr(function, "__module__", None) or ""
    return module.split(".")[0] == "graphc" or isinstance(getattr(function, "__self__", None), Tensor)


# ``functools.singledispatch`` and ``singledispatchmethod``: the class counts that a value has in plain Python.

# All functions that singledispatch makes share one code object.
DISPATCHING = cast("types.FunctionType", functools.singledispatch(len)).__code__


@over_choices(None, use)
def call_dispatched(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Calls what ``functools.singledispatch`` chooses by the class that the first argument has in plain Python."""
    if not args:  # Python says that there is none
        return in_python(function, **kwargs)
    return converted(_implementation(function.dispatch, converted(type)(args[0]), id(function)))(*args, **kwargs)


@over_choices(None, None, None, use)
def call_dispatched_method(descriptor: Any, owner: Any, kind: type[Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls what ``functools.singledispatchmethod`` chooses by the class of the first argument."""
    if not args:
        return in_python(descriptor.__get__(owner, kind), **kwargs)
    chosen = _implementation(descriptor.dispatcher.dispatch, converted(type)(args[0]), id(descriptor))
    return converted(chosen.__get__(owner, kind))(*args, **kwargs)


def _implementation(dispatch: Callable[[type[Any]], Any], kind: type[Any], key: int) -> Any:
    """Returns the implementation for a class, and notes it: another one may be registered before the next call."""
    implementation = dispatch(kind)
    if context.trace is not None:
        text = f"the implementation of a singledispatch for {kind.__name__}"
        context.trace.root.reads.record(dispatched(dispatch, kind, text, key), implementation)
    return implementation
