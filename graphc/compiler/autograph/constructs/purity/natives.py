"""Operations that Python performs itself: unpacking, formatting, hashing and indexing.

These constructs stay as they are, and so do the special methods that they call: nobody converts or watches those. One
of the user's is therefore reported as a side effect where the code does not run once for each time that it is meant to.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any, cast

from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.purity.opaque import (
    check_read,
    defining_class,
    is_pure_module,
    module_of,
    public_name,
)
from graphc.compiler.autograph.constructs.purity.unconverted import asked, handed
from graphc.compiler.autograph.constructs.purity.watch import (
    BY_NUMBER,
    FORMATTED,
    HASHED,
    INDEXED,
    ITERATED,
    MAPPING,
    SIZED,
    asking,
    called_of,
    check_iterator,
    operator_method,
)
from graphc.compiler.autograph.constructs.storage.native_state import is_noted, note_consumed, run_watched
from graphc.compiler.autograph.values.kinds import found_on
from graphc.compiler.autograph.values.protocol import look_into, settled
from graphc.compiler.base import is_installed_file, with_article
from graphc.compiler.tracing import Region, context

ITERATING: dict[Any, bool] = {
    **dict.fromkeys((all, any, dict, enumerate, filter, frozenset, iter, map, max, min, set, sum, zip), False),
    **dict.fromkeys((list, sorted, tuple), True),
}
"""The functions that take items one by one; True for those that ask for their number first."""

# Called by way of graphc, these would find a frame of graphc's where they look for the user's.
_LOOKS_AT_FRAMES = frozenset(("inspect", "logging", "sys", "traceback", "typing", "warnings"))
_FRAME_BUILTINS = frozenset(("__import__", "breakpoint", "dir", "eval", "exec", "globals", "locals", "super", "vars"))


def check_methods(value: Any, names: Iterable[str]) -> None:
    """Reports that Python is about to call a method of the user's."""
    # value: the object; a tuple stands for what is in it.
    asked(value, names)
    region = context.trace
    if not isinstance(region, Region):
        return
    if type(value) is tuple:
        for part in cast("tuple[Any, ...]", value):
            check_methods(part, names)
        return
    for name in names:
        method = operator_method(value, name)
        if method is not None and not is_pure_module(method.__module__ or ""):
            region.side_effect(f"the call of {method.__qualname__}")


def check_items(value: Any, sized: bool = False) -> None:
    """Reports that Python is about to iterate over an object of the user's by methods of the user's."""
    if context.trace is None or type(value) is tuple:
        return
    check_read(value)
    kind = cast("type[Any]", type(value))
    iterate = found_on(kind, "__iter__")
    if not isinstance(value, list | dict):
        asked(value, (*ITERATED, *BY_NUMBER))
    if not isinstance(context.trace, Region):
        note_consumed(value, f"the iteration over {with_article(kind.__name__)}")
        return
    check_methods(value, (*ITERATED, *SIZED) if sized else ITERATED)
    # Without __iter__, and in that of an abstract base class, the items are asked for one by one.
    if iterate is None or (isinstance(iterate, types.FunctionType) and is_installed_file(iterate.__code__.co_filename)):
        check_methods(value, BY_NUMBER)


def check_index(index: Any) -> None:
    """Reports that a builtin container or an array is about to call a method of its index."""
    if context.trace is not None:
        for part in cast("tuple[Any, ...]", index) if type(index) is tuple else (index,):
            check_methods((part.start, part.stop, part.step) if type(part) is slice else part, (*INDEXED, *HASHED))


def check_arguments(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Reports that a builtin is about to call methods of its arguments."""
    if not isinstance(function, type | types.BuiltinFunctionType):
        return
    if function is type and len(args) == 3:  # type(name, bases, namespace)
        defining_class(str(args[0]))
    owner: object = getattr(function, "__self__", None)
    is_method = not isinstance(function, type) and not isinstance(owner, types.ModuleType | None)
    sized = None if is_method else ITERATING.get(function)
    for value in (owner, *args, *kwargs.values()) if is_method else (*args, *kwargs.values()):
        if names := called_of(function, value):
            asked(value, names)
    if function.__name__ in ("format", "format_map"):
        handed((*args, *kwargs.values()))  # the text may name attributes
    for value in (*args, *kwargs.values()) if is_method else args:
        if asking(function) and (names := called_of(function, value)):
            check_methods(tuple(cast("list[Any]", value)) if type(value) is list else value, names)
        if sized is not None:
            check_items(value, sized)


def may_change(function: Any) -> bool:
    """Returns True if a function may change what it is given, and is not known to look at the frame that calls it."""
    module = module_of(function).partition(".")[0]
    if module == "builtins":
        return getattr(function, "__name__", "") not in _FRAME_BUILTINS
    # What enum changes is a cache of its own: of the members that | and & make.
    return module != "enum" and module not in _LOOKS_AT_FRAMES


def call_watched(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls a function that is not converted, with a look at what it changes of what it is given."""
    owner: Any = getattr(function, "__self__", function)
    # The journal knows what a container held before its first change; what it holds here may be what the code put in.
    # What a list's own method changes in a branch or loop is carried.
    carried = isinstance(context.trace, Region) and isinstance(owner, list)
    harmless = isinstance(function, types.BuiltinFunctionType) and (carried or is_noted(owner))
    operands: list[Any] = [*([] if harmless else [cast("Any", owner)]), *args, *kwargs.values()]
    return run_watched(lambda: in_python(function, *args, **kwargs), operands, f"the call of {public_name(function)}")


def items(value: Any) -> Any:
    """Returns the value, which is unpacked or iterated over where the call stands."""
    value = settled(value)
    _about_to_iterate(value)
    return value


def _about_to_iterate(value: Any, *, sized: bool = False) -> None:
    """Checks a value that Python is about to iterate over by itself."""
    look_into(value)
    check_iterator(value, depth=3)  # past this frame
    check_items(value, sized=sized)


def spread(value: Any) -> Any:
    """Returns the value, whose items become elements or arguments where the call stands."""
    _about_to_iterate(value, sized=True)
    return value


def mapping(value: Any) -> Any:
    """Returns the value, whose items become those of a dictionary, or arguments, where the call stands."""
    check_methods(value, MAPPING)
    return value


def rows(value: Any) -> Any:
    """Returns the value, which is iterated over where the call stands, and each of its items unpacked."""
    _about_to_iterate(value)
    return map(items, value) if isinstance(context.trace, Region) else value


def check_printed(value: Any) -> None:
    """Reports that ``text % value`` is about to call methods of the user's."""
    # %d asks for __index__ and __int__, %f for __float__, %(key)s for __getitem__, and bytes' %b for __bytes__.
    names = (*FORMATTED, *INDEXED, "__int__", "__float__", "__bytes__", "__getitem__")
    check_methods(tuple(cast("dict[Any, Any]", value).values()) if type(value) is dict else value, names)


def hashed(value: Any) -> Any:
    """Returns the value, which becomes a key of a dictionary or an element of a set where the call stands."""
    check_methods(value, HASHED)
    return value
