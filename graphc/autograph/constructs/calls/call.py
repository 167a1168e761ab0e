"""Calls: the user's functions are converted as they are called, libraries are not, and side effects are watched."""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import functools
import inspect
import sys
import types
import warnings
from abc import ABCMeta
from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from typing import Any, cast

from graphc.autograph.constructs.calls.generator_managers import converted_maker
from graphc.autograph.constructs.failures.origins import in_python
from graphc.autograph.constructs.overrides import OVERRIDES, PURE, Functions
from graphc.autograph.constructs.purity.advice import tell_of_debugger
from graphc.autograph.constructs.purity.files import check_unread
from graphc.autograph.constructs.purity.impure import (
    check_read,
    is_reported,
    public_name,
    report_call,
    side_effect,
)
from graphc.autograph.constructs.purity.item_reads import (
    asks_for_key,
    counts_as_a_whole,
    counts_by_item,
    holds_item,
    known_item,
)
from graphc.autograph.constructs.purity.jax_functions import checked
from graphc.autograph.constructs.purity.natives import ITERATING, call_watched, check_arguments, may_change
from graphc.autograph.constructs.purity.reading import (
    entering,
    found_after,
    is_library,
    read_attribute,
    read_descriptor,
    read_method,
    read_missing,
    read_namespace,
)
from graphc.autograph.constructs.purity.recursion import check_recursion
from graphc.autograph.constructs.purity.unconverted import follow, handed, run_as_is
from graphc.autograph.constructs.purity.watch import (
    check_iterator,
    check_stores,
    is_pure_module,
    made,
    made_here,
    operator_method,
)
from graphc.autograph.constructs.storage.cells import ContentsCell
from graphc.autograph.constructs.storage.unfollowed import note_change
from graphc.autograph.frontend.convert import convert, is_converted
from graphc.autograph.frontend.source import NoSourceError
from graphc.autograph.values.choice import Choice, ask, decide, use
from graphc.autograph.values.growing_list import growing, refuse_growing
from graphc.autograph.values.index import LoopIndex, is_symbolic
from graphc.autograph.values.kept_tensors import changing
from graphc.autograph.values.number import example_of, has_attribute, met, number
from graphc.autograph.values.python_object import PLAIN, found_on, is_users
from graphc.autograph.values.spans import Span
from graphc.base import is_graphc_file, is_installed_file, is_internal_file, is_library_file, remember
from graphc.base.errors import UnsupportedSyntaxError
from graphc.core import ArrayMethods, Region, Tensor, context, dispatched, fixed
from graphc.ops import call_jax

__all__ = ["FUNCTIONS", "call", "call_method", "convert_call", "do_not_convert", "is_pure_class", "load_attr"]

_PURE_BUILTINS: frozenset[Any] = frozenset(
    getattr(builtins, name)
    for name in (  # noqa: SIM905  46 quoted names would hide the list
        "abs all any bool callable complex dict divmod enumerate filter float format frozenset getattr hasattr hash "
        "id int isinstance issubclass iter len list map max min object pow property range repr reversed round set "
        "slice sorted str sum super tuple type zip"
    ).split(" ")
)
_CALLING_BUILTINS: frozenset[Any] = frozenset((filter, map, max, min, sorted))
_MAPPING: frozenset[Any] = frozenset((filter, map))
_SPECIAL_METHODS: dict[Any, tuple[str, ...]] = {
    abs: ("__abs__",),
    bool: ("__bool__", "__len__"),
    float: ("__float__",),
    format: ("__format__", "__str__", "__repr__"),
    hash: ("__hash__",),
    int: ("__int__", "__index__"),
    iter: ("__iter__",),
    len: ("__len__",),
    repr: ("__repr__",),
    str: ("__str__", "__repr__"),
}
_IMPURE_NUMPY = frozenset(
    {"at", "byteswap", "copyto", "fill", "fill_diagonal", "itemset", "partition", "place", "put", "put_along_axis"}
    | {"putmask", "resize", "setfield", "setflags", "sort"}
)
_PURE_METHODS: dict[type[Any], set[str]] = {
    list: {"copy", "count", "index"},
    dict: {"copy", "get", "items", "keys", "values"},
    set: {"copy", "difference", "intersection", "issubset", "issuperset", "isdisjoint", "union"},
}
_CONTENT_METHODS = frozenset(
    ("append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault", "sort", "update")
)
_TEXTS: frozenset[Any] = frozenset((ascii, format, print, repr, str))
_KEEPING = _CONTENT_METHODS | {"format", "format_map", "join"}
"""Methods that take one of several values as it is: they put it somewhere, or write it when the program runs."""
_DECIDED: frozenset[Any] = frozenset((callable, isinstance, issubclass))
_DEBUGGERS = frozenset(("bdb", "debugpy", "ipdb", "pdb", "pudb"))
_DISPATCHING = cast("types.FunctionType", functools.singledispatch(len)).__code__
_ASKING_FRAMES: frozenset[Any] = frozenset(
    (super, locals, globals, vars, dir, eval, exec, warnings.warn, sys._getframe)  # pyright: ignore[reportPrivateUsage]
)
"""Functions that look at the frame that calls them."""
_IMMUTABLE = (str, bytes, int, float, complex, tuple, frozenset, range, type(None))
_CALLBACKS = (
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    functools.partial,
    Choice,
)
_PRINT = print
_PURE_CLASSES = (contextlib.nullcontext, contextlib.suppress)

_NAMESPACES = (ArrayMethods, types.ModuleType, type)

_unconverted: dict[int, bool] = {}


def do_not_convert(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function so that calls of it in compiled code run it as it is (``tf.autograph``'s do_not_convert).

    Example:
      >>> import graphc as gx
      >>> @gx.do_not_convert
      ... def helper(x):
      ...     return x + 1
    """
    if isinstance(function, types.FunctionType):
        remember(_unconverted, function.__code__, True)
    return function


def call(function: Any) -> Any:
    """What to call in place of ``function`` in converted code.

    Raises:
      UnimplementedError: the call has, or may have, a side effect where one is not allowed.
    """
    trace = context.trace
    if trace is None:
        return function
    if isinstance(function, Choice):
        return functools.partial(_call_one, function)
    if function is breakpoint:
        tell_of_debugger()
        return function  # it stops in the frame that calls it
    if isinstance(function, types.FunctionType) and function.__code__ is _DISPATCHING:
        return functools.partial(_dispatched, function)
    if isinstance(function, types.FunctionType):
        if function is builtins.print and is_library_file(function.__code__.co_filename):
            return call(_PRINT)  # a library has put its own in the place of Python's, as Ray does
        native = _user_or_library(function, function)
        # Functions of graphc's own may look at the frame that calls them, and take tensors and plain values.
        if _takes_choices(function, native):
            return native
        return _reading(function, _with_choices(function, native))
    if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType):
        if (stands_for := OVERRIDES.functions.get(function.__func__)) is not None:
            return functools.partial(stands_for, function, function.__self__)
        read_method(_kind(function.__self__), function.__func__.__name__, function.__func__)
        native = _user_or_library(function.__func__, function)
        return _reading(function, _bound(native, function.__self__))
    if isinstance(function, functools.partial):
        return functools.partial(call(function.func), *function.args, **function.keywords)
    if isinstance(function, type):
        native = _class(function)
        if function in _PURE_BUILTINS:
            return _with_choices(function, native)
        hands_over = native is not function and is_library(function) and function is not functools.partial
        return _reading(function, native) if hands_over and not _is_graphc(function) else native
    if function is object.__getattribute__:
        return _own_attr
    if isinstance(function, types.MethodWrapperType) and function.__name__ == "__getattribute__":
        return functools.partial(_own_attr, function.__self__)
    if isinstance(function, types.BuiltinFunctionType | types.MethodWrapperType | types.WrapperDescriptorType):
        return _with_choices(function, _builtin(function))
    if isinstance(function, types.MethodDescriptorType):
        return functools.partial(_call_of_class, function)
    if _is_graphc(_kind(getattr(function, "__func__", function))):
        return _reading(function, function)
    if not callable(function):
        return functools.partial(in_python, function)  # which says so
    if (made_of := OVERRIDES.objects.get(_kind(function))) is not None:
        return made_of(function)
    method = inspect.getattr_static(_kind(function), "__call__", None)
    if isinstance(method, types.FunctionType):
        read_method(_kind(function), "__call__", method)
        return _reading(function, _bound(_user_or_library(method, function), function))
    module = getattr(function, "__module__", None) or type(function).__module__
    if not is_pure_module(module) or _changes_array(function) or is_reported(function):
        function = report_call(function, f"the call of {function!r:.60}")
    return _reading(function, _guarded(checked(function)))


def _reading(function: Any, native: Any) -> Any:
    """What is called, which tells first what it is given where it is not converted, and so reads unseen."""
    inside = getattr(native, "__func__", native)
    converted = isinstance(inside, types.FunctionType) and is_converted(inside)
    if converted or function is functools.partial or _is_debugger(function):  # a partial calls nothing when it is made
        return native
    owner = getattr(function, "__self__", function)
    renews = _is_graphc(_kind(owner)) and context.trace is not None

    def told(*args: Any, **kwargs: Any) -> Any:
        handed((owner, *args, *kwargs.values()), called=not renews)
        result = in_python(native, *args, **kwargs)
        if renews and context.trace is not None:
            context.trace.root.reads.renew(owner)  # such as an optimizer, which learns what it updates
        return result

    return told


def _dispatched(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Calls what ``functools.singledispatch`` chooses by the class that the first argument has in plain Python."""
    if not args:
        return in_python(function, **kwargs)
    if isinstance(args[0], Choice):
        return use(args[0], lambda value: _dispatched(function, value, *args[1:], **kwargs))
    return call(_implementation(function.dispatch, call(type)(args[0]), id(function)))(*args, **kwargs)


def _dispatched_method(found: Any, owner: Any, kind: type[Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls what ``functools.singledispatchmethod`` chooses by the class of the first argument."""
    if not args:
        return in_python(found.__get__(owner, kind), **kwargs)
    if isinstance(args[0], Choice):
        return use(args[0], lambda value: _dispatched_method(found, owner, kind, value, *args[1:], **kwargs))
    chosen = _implementation(found.dispatcher.dispatch, call(type)(args[0]), id(found))
    return call(chosen.__get__(owner, kind))(*args, **kwargs)


def _implementation(dispatch: Callable[[type[Any]], Any], kind: type[Any], key: int) -> Any:
    """What ``functools.singledispatch`` chooses for a class; another one may be registered before the next call."""
    found = dispatch(kind)
    if context.trace is not None:
        text = f"the implementation of a singledispatch for {kind.__name__}"
        context.trace.root.reads.record(dispatched(dispatch, kind, text, key), found)
    return found


def _call_one(function: Choice, /, *args: Any, **kwargs: Any) -> Any:
    """Calls one of several functions."""
    return use(function, lambda value: call(value)(*args, **kwargs))


def _call_of_class(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Calls a method of a builtin class by the class: ``str.upper(text)`` for ``text.upper()``."""
    if args and (isinstance(args[0], Choice) or _kind(args[0]) is function.__objclass__):
        return call_method(args[0], function.__name__)(*args[1:], **kwargs)
    return _guarded(checked(function))(*args, **kwargs)


def _takes_choices(function: types.FunctionType, native: Any) -> bool:
    """Whether a function, or what is called in its place, is converted or graphc's own."""
    code = getattr(native, "__code__", None)
    return is_graphc_file(function.__code__.co_filename) or (code is not None and is_converted(code))


def _with_choices(function: Any, native: Any) -> Any:
    """A function of Python's own, which is called with each of the values that an argument may be.

    Args:
      function: the function.
      native: what to call in its place.
    """
    if function in _TEXTS or getattr(function, "__name__", "") in _KEEPING or _is_debugger(function):
        return native

    def called(*args: Any, **kwargs: Any) -> Any:
        for place, value in enumerate(args):
            if isinstance(value, Choice) and (place or function not in _MAPPING):
                either = decide if function in _DECIDED else ask
                return either(value, lambda one: called(*args[:place], one, *args[place + 1 :], **kwargs))  # noqa: B023
        for name, value in kwargs.items():
            if isinstance(value, Choice):
                return ask(value, lambda one: called(*args, **{**kwargs, name: one}))  # noqa: B023
        return native(*args, **kwargs)

    return called


def _is_debugger(function: Any) -> bool:
    """Whether a function stops in the frame that calls it, which is to be the user's."""
    module = getattr(function, "__module__", None) or ""
    return function is breakpoint or module.partition(".")[0] in _DEBUGGERS


def convert_call(function: Any) -> Any:
    """The converted form of the function that a user decorated, wherever it is defined.

    Raises:
      NoSourceError: its source is not available.
      UnsupportedSyntaxError: it holds syntax that cannot be converted.
    """
    if isinstance(function, types.FunctionType) and id(function.__code__) not in _unconverted:
        check_stores(function)
        converted = convert(function)
        entering(function, converted)
        return converted
    return call(function)


def call_method(owner: Any, name: str) -> Any:
    """What to call for ``owner.name(...)``."""
    if isinstance(owner, Choice):
        return functools.partial(_call_method_of_one, owner, name)
    if counts_by_item(owner):
        if name == "get" and isinstance(owner, dict):
            return functools.partial(_get_item, cast("dict[Any, Any]", owner))
        counts_as_a_whole(owner)
    if name == "get" and type(owner) is dict and "__builtins__" in owner:
        return functools.partial(_get_global, cast("dict[str, Any]", owner))
    return call(load_attr(owner, name))


def _get_global(namespace: dict[str, Any], /, *args: Any, **kwargs: Any) -> Any:
    """``globals().get(name, default)``."""
    if args:
        read_namespace(namespace, args[0])
    return in_python(namespace.get, *args, **kwargs)


def _get_item(owner: dict[Any, Any], /, *args: Any, **kwargs: Any) -> Any:
    """``owner.get(key, default)`` of a dict that counts by item."""
    if len(args) in (1, 2) and not kwargs and asks_for_key(owner, args[0]):
        return known_item(owner, args[0]) if holds_item(owner, args[0]) else (*args, None)[1]
    counts_as_a_whole(owner)
    return call(load_attr(owner, "get"))(*args, **kwargs)


def _call_method_of_one(owner: Choice, name: str, /, *args: Any, **kwargs: Any) -> Any:
    return use(owner, lambda value: call_method(value, name)(*args, **kwargs))


def load_attr(owner: Any, name: str, *, by_item: bool = False) -> Any:
    """``owner.name``: a property or another descriptor of the user's is a call.

    Args:
      owner: the object.
      name: of the attribute.
      by_item: whether what it holds is about to be asked for items, and for nothing else.
    """
    kind, fallback = cast("type[Any]", type(owner)), None
    if kind is Choice:
        return ask(owner, lambda value: load_attr(value, name))
    if is_symbolic(owner) and not has_attribute(owner, name):
        return in_python(getattr, example_of(owner), name)  # which says that there is none
    if is_symbolic(owner) and name == "__class__":
        return call(type)(owner)
    try:
        if context.trace is None or (kind in PLAIN and kind is not super) or isinstance(owner, _NAMESPACES):
            value = in_python(getattr, owner, name)
            read_attribute(owner, name, value, by_item=by_item)
            return value
        check_unread(owner, name)
        fallback = operator_method(owner, "__getattr__")
        if (finder := operator_method(owner, "__getattribute__")) is not None:
            return call(finder)(owner, name)
        return _found_attr(owner, name, getattr if fallback is None else _without_fallback, by_item=by_item)
    except AttributeError:
        read_missing(owner, name)
        if fallback is None:
            raise
        return call(fallback)(owner, name)


def _without_fallback(owner: Any, name: str) -> Any:
    """``getattr`` that leaves ``__getattr__`` out."""
    return found_on(_kind(owner), "__getattribute__")(owner, name)


def _found_attr(owner: Any, name: str, native: Callable[[Any, str], Any], *, by_item: bool) -> Any:
    kind, instance = _kind(owner), owner
    if kind is super:
        kind, instance = found_after(owner, name), owner.__self__
    found = found_on(kind, name)
    if isinstance(found, property):
        if isinstance(found.fget, types.FunctionType) and is_users(kind, found.fget):
            read_descriptor(kind, name, found)
            return call(found.fget)(instance)
    elif isinstance(found, functools.singledispatchmethod):
        return functools.partial(_dispatched_method, found, owner, kind)
    elif isinstance(found, functools.cached_property):
        if name not in owner.__dict__:
            side_effect(f"the first use of the cached property {name!r} of a {kind.__name__}")
    elif (getter := operator_method(found, "__get__")) is not None and (
        found_on(_kind(found), "__set__") is not None or name not in getattr(owner, "__dict__", ())
    ):
        read_descriptor(kind, name, found)
        return call(getter)(found, owner, kind)
    value = in_python(native, owner, name)
    read_attribute(owner, name, value, by_item=by_item)
    return value


def _own_attr(owner: Any, name: str) -> Any:
    """``object.__getattribute__(owner, name)``, also by ``super()``, as a ``__getattribute__`` of the user's asks."""
    if context.trace is None or isinstance(owner, _NAMESPACES):
        return in_python(object.__getattribute__, owner, name)
    try:
        return _found_attr(owner, name, object.__getattribute__, by_item=False)
    except AttributeError:
        read_missing(owner, name)
        raise


def call_special(owner: Any, *names: str) -> tuple[bool, Any]:
    """Calls the first of these special methods that a class of the user's defines.

    Returns:
      Whether there is one, and its result.
    """
    for name in names:
        method = operator_method(owner, name)
        if method is not None:
            return True, call(method)(owner)
    return False, None


def _bound(replaced: Any, owner: Any) -> Any:
    """What stands for a bound method: a converted function is bound, all else is made of the bound method already."""
    converted = isinstance(replaced, types.FunctionType) and is_converted(replaced)
    return types.MethodType(replaced, owner) if converted else replaced


def _kind(value: Any) -> type[Any]:
    return cast("type[Any]", type(value))


def _is_graphc(kind: type[Any]) -> bool:
    return kind.__module__.split(".")[0] == "graphc"


def _user_or_library(code_owner: Any, original: Any) -> Any:
    """A Python function: converted if it is the user's, as it is if it is graphc's or a pure library's."""
    if not isinstance(code_owner, types.FunctionType):
        return original
    code = code_owner.__code__
    check_stores(code_owner)
    check_recursion(code_owner)
    replaced = OVERRIDES.functions.get(code_owner) if original is code_owner else None
    if is_graphc_file(code.co_filename):
        if (wrapped := code_owner.__dict__.get("__wrapped__")) is not None and context.trace is not None:
            context.trace.root.reads.wraps(code_owner, wrapped, code_owner.__name__)  # as gx.grad(f) does
        return original if replaced is None else functools.partial(replaced, original)
    maker = None if is_converted(code) else converted_maker(code_owner)
    if maker is None and replaced is None and _is_to_convert(code):
        return _converted(code_owner, original)
    entering(code_owner)
    if is_converted(code):
        return original
    if maker is not None:
        return maker if original is code_owner else functools.partial(maker, original.__self__)
    if id(code) in PURE:
        return original
    if replaced is not None:
        return functools.partial(replaced, original)
    if id(code) in _unconverted or _is_internal(code.co_filename):
        if not is_pure_module(code_owner.__module__ or "") or is_reported(original):
            original = report_call(original, f"the call of {code_owner.__qualname__}")
        return _guarded(checked(original))
    if _is_debugger(code_owner):
        return original  # it looks at the frame that calls it
    if not is_pure_module(code_owner.__module__ or "") or is_reported(original):
        original = report_call(original, f"the call of the library function {code_owner.__qualname__}")
    return _guarded(original)


def _is_to_convert(code: types.CodeType) -> bool:
    """Whether code is the user's, which is converted where it is called."""
    left = is_converted(code) or id(code) in PURE or id(code) in _unconverted
    return not (left or _is_internal(code.co_filename) or is_installed_file(code.co_filename))


def _converted(function: types.FunctionType, original: Any) -> Any:
    """What is called in place of a function of the user's; ``original``, as it is, if there is no source."""
    try:
        converted = convert(function)
    except NoSourceError as error:
        entering(function)
        side_effect(f"the call of {function.__qualname__}, whose source is not available,")
        assert context.trace is not None
        context.trace.root.unconverted[function.__qualname__] = str(error)
        return original
    except UnsupportedSyntaxError as error:
        assert context.trace is not None
        raise context.trace.refuse(error) from None
    entering(function, converted)
    return converted


def _class(kind: type[Any]) -> Any:
    if kind in _PURE_BUILTINS or kind in OVERRIDES.functions:
        return _builtin(kind)
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
    _follow_making(kind)
    pure = is_pure_class(kind) or issubclass(kind, Enum)
    if any(map(_is_written, constructors)) and not pure:
        if _only_initializes(kind, *constructors):
            return functools.partial(_construct, kind)
        follow(kind, *constructors)
        return _guarded(report_call(kind, f"the construction of a {kind.__qualname__}"))
    if is_reported(kind):
        return _guarded(report_call(kind, ""))
    makes_defaults = isinstance(context.trace, Region) and dataclasses.is_dataclass(kind)
    return functools.partial(_with_defaults, kind, _guarded(kind)) if makes_defaults else _guarded(kind)


def _follow_making(kind: type[Any]) -> None:
    """Tells of what functions read that run as they are when an object is made: fields' factories, a metaclass's."""
    for field in dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ():
        factory = field.default_factory
        if isinstance(factory, types.FunctionType) and context.trace is not None:
            context.trace.root.reads.record(fixed(factory, f"the factory of {kind.__name__}.{field.name}"), factory)
            run_as_is(factory)
    call = found_on(type(kind), "__call__")
    if isinstance(call, types.FunctionType) and is_users(type(kind), call):
        read_method(type(kind), "__call__", call)
        follow(types.MethodType(call, kind))


def _with_defaults(kind: type[Any], make: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """A new object of a dataclass, and what its fields' factories make, which the open region may change too."""
    new = make(*args, **kwargs)
    _own_defaults(new, (*args, *kwargs.values()))
    return new


def _own_defaults(new: Any, given: tuple[Any, ...]) -> None:
    for field in dataclasses.fields(new):
        value = getattr(new, field.name, None)
        if field.default_factory is not dataclasses.MISSING and not any(value is one for one in given):
            made(value)


def _only_initializes(kind: type[Any], init: Any, new: Any, post_init: Any) -> bool:
    """Whether making an object is no more than calling the user's ``__init__`` or ``__post_init__`` on a new one."""
    if type(kind) not in (type, ABCMeta) or new is not object.__new__:
        return False
    return _is_written(init) if post_init is None else not _is_written(init) and hasattr(kind, "__dict__")


def _construct(kind: type[Any], /, *args: Any, **kwargs: Any) -> Any:
    """A new object, which the code of the open region may change, since nobody else knows of it."""
    made: Any = kind.__new__(kind, *args, **kwargs) if issubclass(kind, BaseException) else object.__new__(kind)
    if isinstance(context.trace, Region):
        context.trace.own(made)
    init, post_init = found_on(kind, "__init__"), found_on(kind, "__post_init__")
    if post_init is None or _is_written(init):
        in_python(call(init), made, *args, **kwargs)
        return made
    # What dataclasses generate asks the object for the method, and finds what is put there first.
    given, converted = (*args, *kwargs.values()), call(types.MethodType(post_init, made))

    def after_init(*args: Any) -> None:
        _own_defaults(made, given)
        converted(*args)

    vars(made)["__post_init__"] = after_init
    try:
        in_python(init, made, *args, **kwargs)
    finally:
        del vars(made)["__post_init__"]
    return made


def _is_written(method: Any) -> bool:
    """Whether a constructor is Python code, and not generated (a dataclass's, a namedtuple's)."""
    function = method.__func__ if isinstance(method, staticmethod) else method
    return isinstance(function, types.FunctionType) and function.__code__.co_filename != "<string>"


def _builtin(function: Any) -> Any:
    if function is len:
        return _len
    if (replaced := _replaced(function)) is not None:
        return replaced
    if function in (getattr, hasattr):
        return _getattr if function is getattr else _hasattr
    if function in (vars, dir):
        return functools.partial(_listing, function)
    if function in _PURE_BUILTINS:
        return _guarded(function)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, types.ModuleType) or owner is None:
        module = getattr(function, "__module__", None) or getattr(owner, "__name__", "")
        if not is_pure_module(module) or _changes_array(function) or is_reported(function):
            function = report_call(function, f"the call of {function.__qualname__}")
        return _reading(function, _guarded(function))
    kind = _kind(owner)
    if isinstance(owner, BaseException) and function.__name__ == "__init__":
        return function  # called by the user's own, on a new exception
    pure = isinstance(owner, (*_IMMUTABLE, ArrayMethods)) or function.__name__ in _PURE_METHODS.get(kind, ())
    pure = pure or _is_graphc(kind) or (is_pure_module(kind.__module__) and not _changes_array(function))
    native = _method(function, owner, kind, pure=pure)
    return _list_method(native, cast("list[Any]", owner), function.__name__) if isinstance(owner, list) else native


def _method(function: Any, owner: Any, kind: type[Any], *, pure: bool) -> Callable[..., Any]:
    """A method of a builtin type, with a note of what it changes."""
    if kind is list and function.__name__ == "sort":
        return functools.partial(OVERRIDES.functions[list.sort], function, owner)
    if not pure and isinstance(owner, list | dict) and function.__name__ in _CONTENT_METHODS:
        return _changing_contents(function, cast("list[Any]", owner))
    if not pure:
        what = f"the call of {public_name(function)}"
        function = report_call(function, what)
        note_change(owner, what)
        return changing(_guarded(function), owner)
    return _guarded(function)


def _replaced(function: Any) -> Callable[..., Any] | None:
    """What stands for a builtin function, or a method of a string, that may be given values without a text yet."""
    owner = getattr(function, "__self__", None)
    if type(owner) is not str:
        replaced = OVERRIDES.functions.get(function)
        return None if replaced is None else functools.partial(replaced, _guarded(function))
    replaced = OVERRIDES.functions.get(getattr(str, function.__name__))
    return None if replaced is None else functools.partial(replaced, _guarded(function), owner)


def _list_method(native: Callable[..., Any], owner: list[Any], name: str) -> Callable[..., Any]:
    """A method of a list, which has another one while its length is known at run time only.

    Which it is, is decided when it is called: its arguments may have changed the list by then.
    """
    chosen = OVERRIDES.list_methods.get(name) if type(owner) is list else None

    def method(*args: Any, **kwargs: Any) -> Any:
        found = growing(owner)
        if found is None:
            return native(*args, **kwargs) if chosen is None else chosen(native, owner, *args, **kwargs)
        replaced = OVERRIDES.growing_list_methods.get(name)
        return found.fail() if replaced is None else replaced(owner, found, *args, **kwargs)

    return method


def _len(value: Any) -> Any:
    """``len``; of a list whose length is known at run time only, a number that depends on tensors."""
    check_read(value)
    found = growing(value)
    if found is None:
        return OVERRIDES.functions[len](_guarded(len), value)
    return met(number(found.length, int), frozenset((int,)), Span(0, found.capacity))


def _changing_contents(function: Any, owner: list[Any] | dict[Any, Any]) -> Any:
    """A method that changes what a list or dict holds, and nothing else."""
    guarded = _guarded(function)

    def noted(*args: Any, **kwargs: Any) -> Any:
        what = f"the call of {type(owner).__name__}.{function.__name__}"
        if context.trace is not None:
            context.trace.writing(ContentsCell(owner, what))
        return guarded(*args, **kwargs)

    return noted


def _changes_array(function: Any) -> bool:
    """Whether a function or method of NumPy's changes an array in place."""
    return getattr(function, "__name__", "") in _IMPURE_NUMPY


def _getattr(owner: Any, name: str, *default: Any) -> Any:
    """``getattr`` with a look at properties."""
    try:
        return load_attr(owner, name)
    except AttributeError:
        if default:
            return default[0]
        raise


def _listing(function: Any, owner: Any) -> Any:
    """``vars`` or ``dir`` of an object."""
    read_attribute(owner, "__dict__", None)
    return in_python(function, owner)


def _hasattr(owner: Any, name: str) -> bool:
    """``hasattr``, which is ``getattr`` without the value."""
    if is_symbolic(owner):
        return has_attribute(owner, name)
    try:
        load_attr(owner, name)
    except AttributeError:
        return False
    return True


def _guarded(function: Any) -> Any:
    """The function, with a check of what it is given: a loop index that it would look at, an object it would change."""
    calling = not isinstance(function, type | types.BuiltinFunctionType) or function not in _CALLING_BUILTINS
    trace = context.trace
    if trace is None or _takes_tensors(function) or _hashable_function(function) in _ASKING_FRAMES:
        return function
    # A builtin is looked up before its arguments are evaluated: these may be the first lists of unknown length.
    iterates = _hashable_function(function) in ITERATING
    watches = not iterates and _hashable_function(function) not in _PURE_BUILTINS and may_change(function)
    if calling and trace.parent is None and not trace.root.has_growing and not iterates and not watches:
        return functools.partial(in_python, function)

    def checked(*args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            if isinstance(value, LoopIndex):
                value.give_up(f"the call of {getattr(function, '__name__', function)}")
            if watches or iterates or isinstance(trace, Region):
                check_iterator(value)
            check_unread(value)
            refuse_growing(value)
        if not calling:
            args = tuple([_called_back(value) for value in args])
            if function in _MAPPING and args and isinstance(args[0], type):
                args = (call(args[0]), *args[1:])
            kwargs = {name: _called_back(value) for name, value in kwargs.items()}
        if len(args) == 1 and not kwargs and _hashable_function(function) in _SPECIAL_METHODS:
            found, result = call_special(args[0], *_SPECIAL_METHODS[function])
            if found:
                return made_here(result)
        check_arguments(function, args, kwargs)
        result = call_watched(function, args, kwargs) if watches else in_python(function, *args, **kwargs)
        return made(result) if _is_new(function, result) else made_here(result)

    return checked


def _is_new(function: Any, result: Any) -> bool:
    """Whether a result is an object that the call made."""
    if isinstance(function, type):
        fresh = (object.__new__, list.__new__, dict.__new__)
        return _kind(result) is function and found_on(function, "__new__") in fresh
    return function is sorted or getattr(function, "__name__", "") == "copy"


def _hashable_function(function: Any) -> Any:
    return function if isinstance(function, type | types.BuiltinFunctionType) else None


def _called_back(value: Any) -> Any:
    """An argument that the builtin calls, as a call of it would be converted."""
    callback = isinstance(value, _CALLBACKS)
    return call(value) if callback or _kind(value) in OVERRIDES.objects else value


def _takes_tensors(function: Any) -> bool:
    """Graphc's own functions take a loop index as the tensor that it is."""
    module = getattr(function, "__module__", None) or ""
    return module.split(".")[0] == "graphc" or isinstance(getattr(function, "__self__", None), Tensor)


def is_pure_class(kind: type[Any]) -> bool:
    """Whether a class does nothing but compute, as those of pure modules do."""
    return kind in _PURE_CLASSES or is_pure_module(kind.__module__)


_is_internal = lru_cache(maxsize=None)(is_internal_file)


def _call_jax(native: Any, function: Any, /, *args: Any) -> Any:
    """``gx.call_jax``, whose function runs as it is when JAX traces it."""
    follow(function)
    return native(function, *args)


FUNCTIONS: Functions = {call_jax: _call_jax}
"""What stands for functions of graphc's."""
