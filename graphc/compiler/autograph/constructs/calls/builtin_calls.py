"""Calls of builtin functions and of methods of builtin types, with a note of what they change."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import re
import types
from abc import ABCMeta
from collections.abc import Callable
from enum import Enum
from typing import Any, cast

from graphc.compiler.autograph.constructs.calls.attributes import getattr_in_trace, hasattr_in_trace, listing
from graphc.compiler.autograph.constructs.calls.guarded import (
    PURE_BUILTINS,
    class_of,
    guarded,
    is_graphc_class,
    telling,
)
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.overrides import OVERRIDES
from graphc.compiler.autograph.constructs.purity.opaque import (
    check_read,
    is_opaque,
    is_pure_module,
    public_name,
    report_call,
    side_effect,
)
from graphc.compiler.autograph.constructs.purity.reading import is_library, read_attribute, read_inherited, read_method
from graphc.compiler.autograph.constructs.purity.unconverted import CLASS_TESTS, asked, follow, run_as_is, tested
from graphc.compiler.autograph.constructs.purity.watch import made
from graphc.compiler.autograph.constructs.storage.cells import ContentsCell
from graphc.compiler.autograph.constructs.storage.native_state import note_change
from graphc.compiler.autograph.values.choice import changing
from graphc.compiler.autograph.values.course import PerIterationNumber, by_trip
from graphc.compiler.autograph.values.index import LoopIndex
from graphc.compiler.autograph.values.kinds import found_on, is_users
from graphc.compiler.autograph.values.protocol import answer
from graphc.compiler.base import with_article
from graphc.compiler.core import ArrayMethods, converted
from graphc.compiler.tracing import Region, context, fixed

_PURE_METHODS: dict[type[Any], set[str]] = {
    list: {"copy", "count", "index"},
    dict: {"copy", "get", "items", "keys", "values"},
    set: {"copy", "difference", "intersection", "issubset", "issuperset", "isdisjoint", "union"},
}
CONTENT_METHODS = frozenset(
    ("append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault", "sort", "update")
)
_NUMERIC = (abs, bool, float, int, max, min, pow, round)
"""Functions of numbers that loops' indices have their own way with."""
_IMMUTABLE = (str, bytes, int, float, complex, tuple, frozenset, range, re.Match, re.Pattern, type(None))


def builtin_call(function: Any) -> Any:
    """Returns what to call in place of a builtin function, or of a method of a builtin type."""
    if function is len:
        return _len
    if (replaced := _replaced(function)) is not None:
        return tested(function, replaced) if function in CLASS_TESTS else replaced
    if function in (getattr, hasattr):
        return getattr_in_trace if function is getattr else hasattr_in_trace
    if function in (vars, dir):
        return functools.partial(listing, function)
    if function in PURE_BUILTINS:
        return tested(function, guarded(function)) if function in CLASS_TESTS else guarded(function)
    owner = getattr(function, "__self__", None)
    # The __self__ of a function in C is its module; a class method makes an object, as a function does.
    if owner is None or isinstance(owner, types.ModuleType) or (isinstance(owner, type) and is_library(owner)):
        function = report_call(function, f"the call of {function.__qualname__}")
        return telling(function, guarded(function))
    kind = class_of(owner)
    if isinstance(owner, BaseException) and function.__name__ == "__init__":
        return function  # called by the user's own, on a new exception
    native = _method(function, owner, kind, pure=_is_pure(function, owner, kind))
    return _list_method(native, cast("list[Any]", owner), function.__name__) if isinstance(owner, list) else native


def _is_pure(function: Any, owner: Any, kind: type[Any]) -> bool:
    """Returns True if a method of a builtin type changes nothing."""
    if isinstance(owner, (*_IMMUTABLE, ArrayMethods)) or is_graphc_class(kind):
        return True
    if any(isinstance(owner, base) and function.__name__ in names for base, names in _PURE_METHODS.items()):
        return True
    return kind.__module__ != "builtins" and is_pure_module(kind.__module__)


def _method(function: Any, owner: Any, kind: type[Any], *, pure: bool) -> Callable[..., Any]:
    """Returns a method of a builtin type, with a note of what it changes."""
    if kind is list and function.__name__ == "sort":
        return functools.partial(OVERRIDES[list.sort], function, owner)
    if not pure and isinstance(owner, list | dict) and function.__name__ in CONTENT_METHODS:
        return _changing_contents(function, cast("list[Any]", owner))
    if not pure:
        what = f"the call of {public_name(function)}"
        function = report_call(function, what)
        note_change(owner, what)
        return changing(guarded(function), owner)
    return guarded(function)


def _replaced(function: Any) -> Callable[..., Any] | None:
    """Returns the function that stands for a builtin, or for a method of a string, which may be given late texts."""
    owner = getattr(function, "__self__", None)
    if type(owner) is not str:
        replaced = OVERRIDES.get(function)
        return None if replaced is None else _of_numbers(function, functools.partial(replaced, guarded(function)))
    replaced = OVERRIDES.get(getattr(str, function.__name__))
    return None if replaced is None else functools.partial(replaced, guarded(function), owner)


def _of_numbers(function: Any, replaced: Callable[..., Any]) -> Callable[..., Any]:
    """Returns what stands for a function; one of numbers that Python knows is left to Python."""
    if function not in _NUMERIC and getattr(function, "__module__", "") != "math":
        return replaced

    def call(*args: Any, **kwargs: Any) -> Any:
        numeric = PerIterationNumber if function in _NUMERIC else PerIterationNumber | LoopIndex
        result = NotImplemented
        if not kwargs and any(isinstance(value, numeric) for value in args):
            result = by_trip(function, args)
        return replaced(*args, **kwargs) if result is NotImplemented else result

    return call


def _list_method(native: Callable[..., Any], owner: list[Any], name: str) -> Callable[..., Any]:
    """Returns a list's method, which is another one while the list's length is known at run time only."""
    # The call decides which: its arguments may have changed the list by then.

    def method(*args: Any, **kwargs: Any) -> Any:
        result = answer(name, owner, *args, **kwargs)
        return native(*args, **kwargs) if result is NotImplemented else result

    return method


def _len(value: Any) -> Any:
    """``len``; of a list whose length is known at run time only, a number that depends on tensors."""
    check_read(value)
    length = answer("__len__", value)
    return OVERRIDES[len](guarded(len), value) if length is NotImplemented else length


def _changing_contents(function: Any, owner: list[Any] | dict[Any, Any]) -> Any:
    """Returns a method that changes what a list or dict holds, and nothing else."""
    watched = guarded(function)

    def noted(*args: Any, **kwargs: Any) -> Any:
        what = f"the call of {type(owner).__name__}.{function.__name__}"
        if context.trace is not None:
            context.trace.writing(ContentsCell(owner, what))
            index = args[0] if len(args) == 1 and isinstance(args[0], LoopIndex) else None
            if function.__name__ == "append" and index is not None and index.region is context.trace:
                return function(*args)  # which keeps the index of this loop without a look at it
        return watched(*args, **kwargs)

    return noted


# Calls of classes: objects that the traced code makes.

_PURE_CLASSES = (contextlib.nullcontext, contextlib.suppress)


def class_call(kind: type[Any]) -> Any:
    """Returns what to call in place of a class."""
    if kind in PURE_BUILTINS or kind in OVERRIDES:
        return builtin_call(kind)
    if issubclass(kind, BaseException):
        init = found_on(kind, "__init__")
        return functools.partial(_construct, kind) if _is_written(init) and is_users(kind, init) else kind
    end = found_on(kind, "__del__")
    if isinstance(end, types.FunctionType) and is_users(kind, end):
        side_effect(f"the call of {end.__qualname__}")  # when Python drops the object, wherever that is
    constructors = [inspect.getattr_static(kind, name, None) for name in ("__init__", "__new__", "__post_init__")]
    for name, constructor in zip(("__init__", "__new__", "__post_init__"), constructors, strict=True):
        if isinstance(constructor, types.FunctionType):
            read_method(kind, name, constructor)
        elif isinstance(constructor, staticmethod):
            read_attribute(kind, name, constructor.__func__)
        elif constructor is not None:
            read_inherited(kind, name)
    _follow_making(kind)
    if is_library(kind) and is_opaque(kind):
        return guarded(report_call(kind, ""))
    pure = is_pure_class(kind) or issubclass(kind, Enum)  # `Color(1)` looks a member up
    if any(map(_is_written, constructors)) and not pure:
        if _only_initializes(kind, *constructors):
            return functools.partial(_construct, kind)
        follow(kind, *constructors)
        what = f"the construction of {with_article(kind.__qualname__)}"
        if is_library(kind):
            return guarded(report_call(kind, what))
        side_effect(what)
        return guarded(kind)
    makes_defaults = isinstance(context.trace, Region) and dataclasses.is_dataclass(kind)
    return functools.partial(_with_defaults, kind, guarded(kind)) if makes_defaults else guarded(kind)


def _follow_making(kind: type[Any]) -> None:
    """Tells of what functions read that run as they are when an object is made: fields' factories, a metaclass's."""
    for field in dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ():
        factory = field.default_factory
        if isinstance(factory, types.FunctionType) and context.trace is not None:
            context.trace.root.reads.record(fixed(factory, f"the factory of {kind.__name__}.{field.name}"), factory)
            run_as_is(factory)
    if issubclass(kind, Enum):
        _follow_class_method(kind, "_missing_")
    call = found_on(type(kind), "__call__")
    if isinstance(call, types.FunctionType) and is_users(type(kind), call):
        read_method(type(kind), "__call__", call)
        follow(types.MethodType(call, kind))


def _follow_class_method(kind: type[Any], name: str) -> None:
    """Tells of what a class method of the user's reads that Python calls."""
    method: Any = getattr(kind, name)
    inside = getattr(method, "__func__", None)
    if isinstance(inside, types.FunctionType) and is_users(kind, inside):
        read_attribute(kind, name, method)
        follow(method)


def defined_class(kind: Any) -> None:
    """Notes a class that the function has made, of which nobody else knows, and tells of what ran to make it."""
    if context.trace is None or not isinstance(kind, type):
        return
    context.trace.root.made_classes.add(kind)
    _follow_class_method(kind.__mro__[1], "__init_subclass__")
    for value in vars(kind).values():
        asked(value, ("__set_name__",))


def _with_defaults(kind: type[Any], make: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Gives a new object of a dataclass, and what its fields' factories make, which the open region may change too."""
    new = make(*args, **kwargs)
    _own_defaults(new, (*args, *kwargs.values()))
    return new


def _own_defaults(new: Any, arguments: tuple[Any, ...]) -> None:
    for field in dataclasses.fields(new):
        value = getattr(new, field.name, None)
        # An argument is no new object.
        if field.default_factory is not dataclasses.MISSING and not any(value is one for one in arguments):
            made(value)


def _only_initializes(kind: type[Any], init: Any, new: Any, post_init: Any) -> bool:
    """Tells if making an object is no more than calling the user's ``__init__`` or ``__post_init__`` on a new one."""
    if type(kind) not in (type, ABCMeta) or new is not object.__new__:  # a metaclass may have its own __call__
        return False
    # _construct puts the converted __post_init__ into the object's __dict__.
    return _is_written(init) if post_init is None else not _is_written(init) and hasattr(kind, "__dict__")


def _construct(kind: type[Any], /, *args: Any, **kwargs: Any) -> Any:
    """Returns a new object, which the code of the open region may change, since nobody else knows of it."""
    # An exception's __new__ keeps the args.
    instance: Any = kind.__new__(kind, *args, **kwargs) if issubclass(kind, BaseException) else object.__new__(kind)
    if isinstance(context.trace, Region):
        context.trace.journal.own(instance)
    init, post_init = found_on(kind, "__init__"), found_on(kind, "__post_init__")
    if post_init is None or _is_written(init):
        in_python(converted(init), instance, *args, **kwargs)
        return instance
    # What dataclasses generate asks the object for the method, and finds what is put there first.
    arguments, method = (*args, *kwargs.values()), converted(types.MethodType(post_init, instance))

    def after_init(*args: Any) -> None:
        _own_defaults(instance, arguments)
        method(*args)

    vars(instance)["__post_init__"] = after_init  # past the __setattr__ of a frozen dataclass
    try:
        in_python(init, instance, *args, **kwargs)
    finally:
        del vars(instance)["__post_init__"]
    return instance


def _is_written(method: Any) -> bool:
    """Returns True if a constructor is Python code, and not generated (a dataclass's, a namedtuple's)."""
    function = method.__func__ if isinstance(method, staticmethod) else method
    return isinstance(function, types.FunctionType) and function.__code__.co_filename != "<string>"


def is_pure_class(kind: type[Any]) -> bool:
    """Returns True if a class does nothing but compute, as those of pure modules do."""
    return kind in _PURE_CLASSES or is_pure_module(kind.__module__)
