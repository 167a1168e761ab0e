"""Finds what unconverted code reads, by the names in its code object, since nothing reports its reads.

An attribute may be read of every object that the code gets to, if the code names it. What it calls is followed.
"""

from __future__ import annotations

import builtins
import decimal
import sys
import types
from collections.abc import Iterable
from functools import partial
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.constructs.purity.library_reads import check_unseen, is_iterator
from graphc.compiler.autograph.constructs.purity.opaque import is_opaque, public_name
from graphc.compiler.autograph.constructs.purity.reading import (
    is_library,
    names_of,
    read_attribute,
    read_method,
    read_names,
)
from graphc.compiler.autograph.constructs.purity.special_methods import FORMATTED
from graphc.compiler.autograph.constructs.purity.watch import watch_names
from graphc.compiler.autograph.values.protocol import Symbolic
from graphc.compiler.autograph.values.python_object import found_on, is_users, users_method
from graphc.compiler.base import is_library_file
from graphc.compiler.core import METHOD_FOLLOWERS, SymbolicTensor, Tensor, Variable
from graphc.compiler.tracing import content_of, contents_of, context, fixed, has_parts, item

__all__ = ["asked", "follow", "handed", "operated", "run_as_is"]

_NUMBERS_AND_TEXTS = (int, float, complex, str, bytes)
_PLAIN = (*_NUMBERS_AND_TEXTS, type(None), Tensor, SymbolicTensor, Variable, Symbolic, types.BuiltinFunctionType)
_WHOLE = frozenset(("__dict__", "asdict", "astuple", "copy", "deepcopy", "fields", "replace", "vars"))
"""Names of what reads all attributes of an object."""
_BY_TEXT = frozenset(("delattr", "getattr", "hasattr", "setattr", "vars"))
"""Builtins that read an attribute whose name is known when they run, or all."""
_TEXTS = frozenset(("__format__", "__repr__", "__str__"))
_MAKING = ("__init__", "__new__", "__post_init__")
"""The methods that run where an object is made."""


def _is_plain(value: Any) -> bool:
    """Returns True if a value has neither attributes nor code of the user's, as a number of a class of theirs has."""
    users = isinstance(value, _NUMBERS_AND_TEXTS) and not is_library(cast("type[Any]", type(value)))
    return isinstance(value, _PLAIN) and not users


def handed(values: Iterable[Any], *, called: bool = True) -> None:
    """Tells of what is handed to code that is not the user's: it may read all of it.

    Args:
      called: whether it may call what it is given too, as it is; graphc's own converts what it calls.
    """
    trace = context.trace
    if trace is None:
        return
    owners: list[Any] = []
    for value in values:
        if not _is_plain(value):
            owners += trace.root.reads.whole(value)
    if owners and called:
        _Walk().run(owners)


def run_as_is(function: Any) -> None:
    """Tells of what a function of the user's reads that is to run without being converted, and what it assigns."""
    if context.trace is not None:
        watch_names(function)
        follow(function, *(value for value, _ in context.trace.root.reads.objects()))


def follow(*values: Any, special: bool = False) -> None:
    """Tells of what functions among these values read, of the other ones too, where they run as they are.

    Args:
      special: whether special methods of the values are called, as of an object that is called.
    """
    if context.trace is not None:
        _Walk().run(values, special=special)


def asked(value: Any, names: Iterable[str]) -> None:
    """Tells of what special methods read that Python itself calls, of a value and of what it contains."""
    if context.trace is None or _is_plain(value):
        return
    kind, names = cast("type[Any]", type(value)), tuple(names)
    for name in names:
        users_method(value, name)  # which tells of it, and that the class has none which may come later
    if _is_numpy(kind) and not _TEXTS.isdisjoint(names):  # str(array) depends on np.set_printoptions
        context.trace.root.reads.setting(np.get_printoptions, "numpy.get_printoptions")
    # The methods of object itself read no attribute of the value.
    known = (found_on(kind, name) for name in names if found_on(kind, name) is not found_on(object, name))
    for method in known:
        if not isinstance(method, types.FunctionType):
            _asked_of_library(value)
            if isinstance(value, BaseException):
                asked(value.args, FORMATTED)  # as its text does
        elif is_users(kind, method):
            read_method(kind, method.__name__, method)
            follow(types.MethodType(method, value))
        elif not is_library(kind) or has_parts(value):
            handed((value,))  # what a dataclass generates, or a base class of a library's
    for _, part in contents_of(value):
        asked(part, names)


def _is_numpy(kind: type[Any]) -> bool:
    return issubclass(kind, (np.ndarray, np.generic))


def operated(value: Any) -> None:
    """Tells of an operand of Python's own operators: an object of a library's may read all that it holds."""
    if not _is_plain(value) and is_library(cast("type[Any]", type(value))):
        if isinstance(value, decimal.Decimal) and context.trace is not None:  # rounds by the context
            context.trace.root.reads.setting(decimal.getcontext, "decimal.getcontext")
        handed((value,))
        check_unseen(value)


def _asked_of_library(value: Any) -> None:
    """Tells of what a special method reads that is written in C, or of a library's."""
    assert context.trace is not None
    if has_parts(value):
        handed((value,))
    elif isinstance(value, BaseException):
        read_attribute(value, "args", value.args)
    else:
        check_unseen(value, as_iterator=True)


class _Walk:
    """The objects that some code gets to, and the names in the code."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._owners: dict[int, Any] = {}

    def run(self, values: Iterable[Any], *, special: bool = True) -> None:
        """Follows what is read of values, and of all that is found by that."""
        for value in values:
            self._reach(value, special=special)
        asked = set[tuple[int, str]]()
        # To a fixpoint: what is read may be a function, whose code names further attributes.
        while todo := {(owner, name) for owner in self._owners for name in self._names} - asked:
            asked |= todo
            for owner, name in sorted(todo):
                self._read(self._owners[owner], name)

    def _reach(self, value: Any, *, special: bool = True) -> None:
        if _is_plain(value) or id(value) in self._owners:
            return
        self._owners[id(value)] = value
        if context.trace is not None:
            context.trace.root.reads.complete(value)
        if isinstance(value, types.FunctionType):
            self._enter(value)
        elif isinstance(value, types.MethodType):
            self._reach(value.__func__)
            self._reach(value.__self__)
        elif isinstance(value, partial):
            parts = cast("partial[Any]", value)
            for part in (parts.func, *parts.args, *parts.keywords.values()):
                self._reach(part)
        elif isinstance(value, property | staticmethod | classmethod):
            self._reach(value.fget if isinstance(value, property) else cast("Any", value).__func__)
        elif not isinstance(value, type) and (wrapped := getattr(value, "__dict__", {}).get("__wrapped__")):
            read_attribute(value, "__wrapped__", wrapped)  # as of functools.lru_cache
            self._reach(wrapped)
        elif callable(value) and not isinstance(value, type) and is_library(cast("type[Any]", type(value))):
            for name, part in list(getattr(value, "__dict__", {}).items()):  # as of numpy.vectorize
                if isinstance(part, types.FunctionType) or (callable(part) and has_parts(part)):
                    read_attribute(value, name, part)
                    self._reach(part)
        self._reach_special(value, special)
        for _, part in contents_of(value):
            self._reach(part)

    def _reach_special(self, value: Any, special: bool) -> None:
        """Goes into the methods of the user's that Python calls where code calls, indexes, adds or makes an object."""
        if isinstance(value, type):
            for name in () if is_library(value) else _MAKING:
                self._read(value, name)
            return
        kind = cast("type[Any]", type(value))
        if special and context.trace is not None:  # which may get another method
            context.trace.root.reads.names_of_class(kind, context.trace.root.made_classes)
        for base in kind.__mro__ if special else ():
            for name, method in vars(base).items():
                called = name.startswith("__") and name not in _MAKING
                if called and isinstance(method, types.FunctionType) and is_users(kind, method):
                    self._read(value, name)

    def _enter(self, function: types.FunctionType) -> None:
        cells = [content_of(cell) for cell in function.__closure__ or ()]
        if is_library_file(function.__code__.co_filename):
            for value in (*cells, *vars(function).values()):  # what a decorator has wrapped
                if isinstance(value, types.FunctionType | types.MappingProxyType):
                    self._reach(value)
                elif has_parts(value) and context.trace is not None:  # the decorator, such as a ContextDecorator
                    name = f"the {type(value).__name__} around {function.__name__}"
                    context.trace.root.reads.record(fixed(value, name), value)
                    self._reach(value)
            return
        names = names_of(function.__code__, inner=True)
        read_names(function, names)
        self._names |= names.attributes | (_WHOLE if not _BY_TEXT.isdisjoint(names.outside) else set())
        namespace = function.__globals__
        for value in (*cells, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._reach(value)
        for name in names.outside:
            found = namespace.get(name)
            self._reach(found)
            if is_iterator(found) and context.trace is not None:
                context.trace.read_once(f"the use of an iterator ({type(found).__name__}) from outside")
        for path in [*names.paths, *((name,) for name in names.outside)]:
            _tell(_at(namespace, path))
        for name in names.imports:
            if name in sys.modules and context.trace is not None:
                for attribute in names.attributes:
                    _tell(vars(sys.modules[name]).get(attribute))
                context.trace.root.reads.record(item(fixed(sys.modules, "sys.modules"), name), sys.modules[name])
                self._reach(sys.modules[name])

    def _read(self, owner: Any, name: str) -> None:
        """Tells of an attribute, if there is one of that name, without a call of what computes it."""
        kind = cast("type[Any]", type(owner))
        if isinstance(owner, type | types.ModuleType):
            if is_library(owner):
                return
            if name in _WHOLE and isinstance(owner, type):
                for one in [one for one in vars(owner) if not one.startswith("__") and one not in _WHOLE]:
                    self._read(owner, one)
            value = found_on(owner, name) if isinstance(owner, type) else vars(owner).get(name)
            held = any(name in vars(base) for base in owner.__mro__) if isinstance(owner, type) else name in vars(owner)
        elif not has_parts(owner):
            method = found_on(kind, name)  # of a member of an Enum, whose attributes stay
            if isinstance(method, types.FunctionType) and is_users(kind, method):
                read_method(kind, name, method)
                self._reach(method)
            return
        elif name in _WHOLE and context.trace is not None:
            context.trace.root.reads.whole(owner)
            return
        else:
            value, held = found_on(kind, name), any(name in vars(base) for base in kind.__mro__)
            if isinstance(value, types.MemberDescriptorType) or name in getattr(owner, "__dict__", ()):
                value = getattr(owner, name, None)
                held = hasattr(owner, name)
            elif isinstance(value, types.FunctionType):
                read_method(kind, name, value)
                self._reach(value)
                return
        if held:
            read_attribute(owner, name, value)
            self._reach(value)


def _at(namespace: dict[str, Any], path: tuple[str, ...]) -> Any:
    """Returns what code finds by a global and attributes; None where code of the user's would tell."""
    found = namespace.get(path[0], vars(builtins).get(path[0]))
    for name in path[1:]:
        if isinstance(found, types.ModuleType) or name in getattr(found, "__dict__", ()):
            found = vars(found).get(name)
        else:  # a property would be asked
            inside = found_on(found if isinstance(found, type) else cast("type[Any]", type(found)), name)
            found = getattr(found, name, None) if inside is not None and not isinstance(inside, property) else None
    return found


def _tell(found: Any) -> None:
    """Tells of a library's function that code names, such as ``time.time``: the code is taken to call it."""
    inside = getattr(found, "__func__", found)
    if not callable(found) or isinstance(found, type) or context.trace is None:
        return
    if isinstance(inside, types.FunctionType):
        is_ours = is_library_file(inside.__code__.co_filename)
    else:
        is_ours = is_library(cast("type[Any]", type(found)))
    if is_ours and is_opaque(found):
        context.trace.read_once(f"the call of {public_name(found)}")


METHOD_FOLLOWERS.append(asked)
