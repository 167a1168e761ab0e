"""Calls: the user's functions are converted as they are called, libraries are not, and side effects are watched."""

from __future__ import annotations

import builtins
import contextlib
import copy
import dataclasses
import functools
import inspect
import types
from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast

from graphc.compiler.autograph.constructs.calls.attributes import GETTERS, get_by, load_attr, own_attr
from graphc.compiler.autograph.constructs.calls.builtin_calls import CONTENT_METHODS, builtin_call, class_call
from graphc.compiler.autograph.constructs.calls.guarded import (
    CACHED,
    DISPATCHING,
    MAPPING,
    PURE_BUILTINS,
    call_cached,
    call_dispatched,
    class_of,
    guarded,
    is_debugger,
    is_graphc_class,
    telling,
)
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.overrides import OVERRIDES, PURE, Functions
from graphc.compiler.autograph.constructs.purity.opaque import (
    UNCONVERTED,
    is_pure_module,
    report_call,
    tell_of_debugger,
)
from graphc.compiler.autograph.constructs.purity.reading import (
    ALIASES,
    entering,
    is_library,
    read_attribute,
    read_method,
    read_namespace,
)
from graphc.compiler.autograph.constructs.purity.unconverted import CLASS_TESTS, checked, follow, run_as_is
from graphc.compiler.autograph.constructs.purity.watch import (
    asks_for_key,
    check_recursion,
    check_stores,
    counts_as_a_whole,
    counts_by_item,
    holds_item,
    known_item,
    made,
)
from graphc.compiler.autograph.frontend.convert import convert, is_converted
from graphc.compiler.autograph.frontend.source import NoSourceError
from graphc.compiler.autograph.values.choice import Question, ask, choice_in, decide, for_each, use
from graphc.compiler.autograph.values.protocol import alternatives
from graphc.compiler.base import is_graphc_file, is_installed_file, is_internal_file, is_library_file, remember
from graphc.compiler.base.errors import UnimplementedError, UnsupportedSyntaxError
from graphc.compiler.ops import call_jax
from graphc.compiler.tracing import Region, context

# Functions of which ``contextlib.contextmanager`` made context managers: their generators are converted.


def _nothing() -> Any:
    yield


_CODE = contextlib.contextmanager(_nothing).__code__
"""The code of every function that :func:`contextlib.contextmanager` returns."""


def converted_maker(function: types.FunctionType) -> Callable[..., Any] | None:
    """Returns what to call for a ``@contextmanager`` function of the user's; None for others and unconvertible ones."""
    # contextlib keeps the generator function in __wrapped__, as functools.wraps does.
    generator = function.__dict__.get("__wrapped__") if function.__code__ is _CODE else None
    if not isinstance(generator, types.FunctionType) or is_library_file(generator.__code__.co_filename):
        return None
    try:
        converted = convert(generator, suspended=True)
    except (NoSourceError, UnsupportedSyntaxError):
        return None
    read_attribute(function, "__wrapped__", generator)
    entering(generator)
    return functools.partial(_make, contextlib.contextmanager(converted))


def _make(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return made(function(*args, **kwargs))


def is_followed_generator(manager: Any) -> bool:
    """Returns True if a context manager is a converted generator that runs where it was made."""
    code = getattr(getattr(manager, "gen", None), "gi_code", None)
    if not isinstance(code, types.CodeType) or not is_converted(code):
        return False
    return not isinstance(context.trace, Region) or context.trace.journal.owns(manager)


def is_pure_generator(manager: Any) -> bool:
    """Returns True if a context manager is a generator of a module that only computes."""
    body = getattr(manager, "gen", None)
    if not isinstance(body, types.GeneratorType) or body.gi_frame is None:  # it has run to its end
        return False
    return is_pure_module(body.gi_frame.f_globals.get("__name__", ""))


_TEXTS: frozenset[Any] = frozenset((ascii, format, print, repr, str))
_KEEPING = CONTENT_METHODS | {"format", "format_map", "join"}
"""Methods that take one of several values as it is: they put it somewhere, or write it when the program runs."""
_PRINT = print


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
    """Returns what to call in place of ``function`` in converted code; refuses side effects where none is allowed."""
    trace = context.trace
    if trace is None:
        return function
    if alternatives(function) is not None:
        return functools.partial(_call_one, function)
    if function is breakpoint:
        tell_of_debugger()
        return function  # it stops in the frame that calls it
    if isinstance(function, ALIASES) and isinstance(function.__origin__, type) and not is_library(function.__origin__):
        return functools.partial(_make_generic, function)
    if isinstance(function, types.FunctionType) and function.__code__ is DISPATCHING:
        return functools.partial(call_dispatched, function)
    if isinstance(function, types.FunctionType):
        if function is builtins.print and is_library_file(function.__code__.co_filename):
            return call(_PRINT)  # a library has put its own in the place of Python's, as Ray does
        native = _user_or_library(function, function)
        # Functions of graphc's own may look at the frame that calls them, and take tensors and plain values.
        if _takes_choices(function, native):
            return native
        return telling(function, _with_choices(function, native))
    if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType):
        if (stands_for := OVERRIDES.get(function.__func__)) is not None:
            return functools.partial(stands_for, function, function.__self__)
        read_method(class_of(function.__self__), function.__func__.__name__, function.__func__)
        native = _user_or_library(function.__func__, function)
        return telling(function, _bound(native, function.__self__))
    if isinstance(function, functools.partial):
        return functools.partial(call(function.func), *function.args, **function.keywords)
    if isinstance(function, type):
        native = class_call(function)
        if function in PURE_BUILTINS:
            return _with_choices(function, native)
        hands_over = native is not function and is_library(function) and function is not functools.partial
        return telling(function, native) if hands_over and not is_graphc_class(function) else native
    if isinstance(function, GETTERS):
        return functools.partial(get_by, function, call_method)
    if function is object.__getattribute__:
        return own_attr
    if isinstance(function, types.MethodWrapperType) and function.__name__ == "__getattribute__":
        return functools.partial(own_attr, function.__self__)
    if isinstance(function, types.BuiltinFunctionType | types.MethodWrapperType | types.WrapperDescriptorType):
        return _with_choices(function, builtin_call(function))
    if isinstance(function, types.MethodDescriptorType):
        return functools.partial(_call_of_class, function)
    if is_graphc_class(class_of(getattr(function, "__func__", function))):
        return telling(function, function)
    if not callable(function):
        return functools.partial(in_python, function)  # which says so
    method = inspect.getattr_static(class_of(function), "__call__", None)  # where Python looks, not on the object
    if isinstance(method, types.FunctionType):
        read_method(class_of(function), "__call__", method)
        return telling(function, _bound(_user_or_library(method, function), function))
    if isinstance(getattr(function, "__func__", function), CACHED):
        return functools.partial(call_cached, function, _call_as_it_is)
    return _call_as_it_is(function)


def _call_as_it_is(function: Any) -> Any:
    """Returns what to call in place of an object of a library's, which is not converted."""
    return telling(function, guarded(checked(report_call(function, f"the call of {function!r:.60}"))))


def _call_one(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Calls one of several functions."""
    return use(function, lambda value: call(value)(*args, **kwargs))


def _make_generic(alias: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Returns what ``Class[int](...)`` makes: an object of the class, which knows the alias if it may."""
    instance = call(alias.__origin__)(*args, **kwargs)
    with contextlib.suppress(Exception):  # of __setattr__, as Python does
        instance.__orig_class__ = alias
    return instance


def _call_of_class(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Calls a method of a builtin class by the class: ``str.upper(text)`` for ``text.upper()``."""
    # Exactly: `list.append(own, x)` must not call the append of a subclass.
    if args and (alternatives(args[0]) is not None or class_of(args[0]) is function.__objclass__):
        return call_method(args[0], function.__name__)(*args[1:], **kwargs)
    return guarded(checked(function))(*args, **kwargs)


def _takes_choices(function: types.FunctionType, native: Any) -> bool:
    """Returns True if a function, or what is called in its place, is converted or graphc's own."""
    code = getattr(native, "__code__", None)
    return is_graphc_file(function.__code__.co_filename) or (code is not None and is_converted(code))


def _with_choices(function: Any, native: Any) -> Any:
    """Returns a function of Python's own, which is called with each of the values that an argument may be."""
    if function in _TEXTS or getattr(function, "__name__", "") in _KEEPING or is_debugger(function):
        return native

    def question_of(position: int | str) -> Question | None:
        if position == 0 and function in MAPPING:  # called with each item: see _called_back
            return None
        return decide if function in CLASS_TESTS and isinstance(position, int) else ask

    def for_one(*args: Any, **kwargs: Any) -> Any:
        # In the branch for one of the values, what the call changes is asked again: there it may be refused.
        return builtin_call(function)(*args, **kwargs)

    def called(*args: Any, **kwargs: Any) -> Any:
        if all(alternatives(value) is None for value in (*args, *kwargs.values())):
            return native(*args, **kwargs)
        return for_each(for_one, question_of)(*args, **kwargs)

    return called


def convert_call(function: Any) -> Any:
    """Returns the converted form of the function that a user decorated, wherever it is defined."""
    if isinstance(function, types.FunctionType) and function.__code__ is DISPATCHING:
        return call(function)
    if isinstance(function, types.FunctionType) and id(function.__code__) in _unconverted:
        run_as_is(function)
        return function
    if isinstance(function, types.FunctionType):
        check_stores(function)
        converted = convert(function)
        entering(function, converted)
        return converted
    return call(function)


def call_method(owner: Any, name: str) -> Any:
    """Returns what to call for ``owner.name(...)``."""
    if alternatives(owner) is not None:
        return functools.partial(_call_method_of_one, owner, name)
    if counts_by_item(owner):
        if name == "get" and isinstance(owner, dict):
            return functools.partial(_get_item, cast("dict[Any, Any]", owner))
        counts_as_a_whole(owner)
    # A module's globals, where Python itself puts __builtins__: one name is read, not all of them.
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


def _call_method_of_one(owner: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    return use(owner, lambda value: call_method(value, name)(*args, **kwargs))


def _bound(replaced: Any, owner: Any) -> Any:
    """Returns the function that stands for a bound method: a converted one is bound, others are bound already."""
    converted = isinstance(replaced, types.FunctionType) and is_converted(replaced)
    return types.MethodType(replaced, owner) if converted else replaced


def _user_or_library(code_owner: Any, original: Any) -> Any:
    """Returns a Python function: converted if it is the user's, as it is if it is graphc's or a pure library's."""
    if not isinstance(code_owner, types.FunctionType):
        return original
    code = code_owner.__code__
    check_stores(code_owner)
    check_recursion(code_owner)
    replaced = OVERRIDES.get(code_owner) if original is code_owner else None  # of a method `call` has asked
    if is_graphc_file(code.co_filename):
        if (wrapped := code_owner.__dict__.get("__wrapped__")) is not None and context.trace is not None:
            context.trace.root.reads.record_wrapper(code_owner, wrapped, code_owner.__name__)  # as gx.grad(f) does
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
        return guarded(checked(report_call(original, f"the call of {code_owner.__qualname__}")))
    if is_debugger(code_owner):
        return original  # it looks at the frame that calls it
    original = report_call(original, f"the call of the library function {code_owner.__qualname__}")
    return guarded(original) if code_owner in _CARRYING else _with_one(code_owner.__qualname__, guarded(original))


_CARRYING: frozenset[Any] = frozenset((copy.copy, copy.deepcopy, dataclasses.replace))
"""Library functions that hand on what they are given, without a look at it."""


def _with_one(name: str, native: Any) -> Any:
    """Returns a library's function, which refuses a value that a branch chose: it would look at all that it may be."""

    def called(*args: Any, **kwargs: Any) -> Any:
        if context.trace is not None and choice_in((args, kwargs)) is not None:
            error = UnimplementedError(
                f"the library function {name} is given a value that tensors chose among several; call it in the branch "
                "that chooses, or show the value in an f-string"
            )
            raise context.trace.refuse(error)
        return native(*args, **kwargs)

    return called


def _is_to_convert(code: types.CodeType) -> bool:
    """Returns True if code is the user's, which is converted where it is called."""
    left = is_converted(code) or id(code) in PURE or id(code) in _unconverted
    return not (left or _is_internal(code.co_filename) or is_installed_file(code.co_filename))


def _converted(function: types.FunctionType, original: Any) -> Any:
    """Returns what is called in place of a function of the user's; ``original``, as it is, if there is no source."""
    try:
        converted = convert(function)
    except NoSourceError as error:
        entering(function)
        assert context.trace is not None
        what = f"the call of {function.__qualname__}, whose source is not available,"
        context.trace.side_effect(what, certain=True, remedy=UNCONVERTED)
        context.trace.root.unconverted[function.__qualname__] = str(error)
        return original
    except UnsupportedSyntaxError as error:
        assert context.trace is not None
        raise context.trace.refuse(error) from None
    entering(function, converted)
    return converted


_is_internal = lru_cache(maxsize=None)(is_internal_file)


def _call_jax(native: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """``gx.call_jax``, whose function runs as it is when JAX traces it."""
    follow(function, special=True)
    return native(function, *args, **kwargs)


FUNCTIONS: Functions = {call_jax: _call_jax}
"""By functions of graphc's, the functions that stand for them."""
