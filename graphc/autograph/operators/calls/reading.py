"""What converted code reads outside its trace, told to the trace's reads so that later calls look at it again.

Attributes are told one by one, as they are read. What code that is not converted is given (a library, a layer) may be
read as a whole.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from graphc.autograph.operators.stores.places import AttributePlace
from graphc.base import is_library_module, remember
from graphc.core import SymbolicTensor, Tensor, Trace, attribute, context, fixed, global_name

__all__ = ["entering", "handed", "read_attribute", "read_method"]

_UNSEEN = frozenset((int, float, bool, str, bytes, complex, type(None), Tensor, SymbolicTensor))
"""Kinds that hold nothing that could be read of them."""


@dataclass(frozen=True)
class _Names:
    """What code reads by itself of its module and of the functions around; each with its first line."""

    outside: dict[str, int]
    free: dict[str, int]


_known: dict[int, _Names] = {}
_OUTSIDE = frozenset(("LOAD_GLOBAL", "LOAD_NAME"))
_FREE = frozenset(("LOAD_DEREF", "LOAD_CLASSDEREF"))
_COMPREHENSIONS = frozenset(("<dictcomp>", "<genexpr>", "<listcomp>", "<setcomp>"))


def entering(function: types.FunctionType) -> None:
    """Tells of the globals, and of the variables of functions around, that a function reads which is called now."""
    trace = context.trace
    if trace is None:
        return
    root, code = trace.root, function.__code__
    reads, file = root.reads, code.co_filename.rpartition("/")[2]
    names = _known.get(id(code)) or remember(_known, code, _names_of(code))
    if id(code) not in root.entered:
        root.entered.add(id(code))
        namespace = function.__globals__
        for name, line in names.outside.items():
            if name in namespace:
                value = namespace[name]
                if not (isinstance(value, types.ModuleType) and is_library(value)):
                    reads.record(global_name(namespace, name, f"{file}:{line}"), value)
    if code.co_freevars:
        reads.closure(function, names.free, file)


def _names_of(code: types.CodeType) -> _Names:
    names = _Names({}, {})
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        line = (instruction.positions.lineno if instruction.positions else None) or line
        if instruction.opname in _OUTSIDE and not instruction.argval.startswith("ag__"):
            names.outside.setdefault(instruction.argval, line)
        elif instruction.opname in _FREE and instruction.argval in code.co_freevars:
            names.free.setdefault(instruction.argval, line)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType) and constant.co_name in _COMPREHENSIONS:
            inner = _names_of(constant)
            names.outside.update({name: line for name, line in inner.outside.items() if name not in names.outside})
            free = {name: line for name, line in inner.free.items() if name in code.co_freevars}
            names.free.update({name: line for name, line in free.items() if name not in names.free})
    return names


def is_library(owner: types.ModuleType | type) -> bool:
    """Whether a module or a class is Python's, graphc's or an installed package's, whose names stay as they are."""
    return is_library_module(owner.__name__ if isinstance(owner, types.ModuleType) else owner.__module__)


def read_attribute(owner: Any, name: str, value: Any) -> None:
    """Tells of an attribute that was read; of what a property computed its getter has told."""
    trace = context.trace
    if trace is None or type(value) is SymbolicTensor:
        return
    reads = trace.root.reads
    source = reads.source(owner)
    if source is None:
        if isinstance(owner, type | types.ModuleType) and not is_library(owner):
            reads.record(attribute(fixed(owner, owner.__name__), name), value)
        return
    kind = cast("type[Any]", type(owner))
    if name in getattr(owner, "__dict__", ()) or isinstance(found := _on_class(kind, name), types.MemberDescriptorType):
        if not _is_written(trace, owner, name):
            reads.record(attribute(source, name), value)
    elif isinstance(found, types.FunctionType):
        if not is_library(kind) or kind.__module__.startswith("__"):
            reads.record(attribute(attribute(source, name), "__func__"), found)
    elif found is None or hasattr(cast("type[Any]", type(found)), "__get__"):
        if found is not None and is_library(kind):
            reads.whole(owner)  # a property that is not converted
    else:
        reads.record(attribute(source, name), value)


def read_method(kind: type[Any], name: str, method: types.FunctionType) -> None:
    """Tells of a special method that is about to be called."""
    if context.trace is not None and not is_library(kind):
        context.trace.root.reads.record(attribute(fixed(kind, kind.__name__), name), method)


def handed(values: Sequence[Any]) -> None:
    """Tells of what is handed to code that is not converted."""
    trace = context.trace
    if trace is None:
        return
    for value in values:
        if type(value) not in _UNSEEN:
            trace.root.reads.whole(value)


def _on_class(kind: type[Any], name: str) -> Any:
    return next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), None)


def _is_written(trace: Trace, owner: Any, name: str) -> bool:
    """Whether the trace has written an attribute, so that what it holds is not from outside."""
    key = AttributePlace.key_of(owner, name)
    scope: Trace | None = trace
    while scope is not None:
        if key in scope.writes:
            return True
        scope = scope.parent
    return False
