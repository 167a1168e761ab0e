"""``isinstance``, ``issubclass`` and ``callable`` of what comes from outside: classes change, too."""

from __future__ import annotations

import abc
import types
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

from graphc.compiler.autograph.constructs.purity.reading import is_library
from graphc.compiler.autograph.constructs.purity.unconverted import follow
from graphc.compiler.autograph.values.python_object import found_on
from graphc.compiler.core import SymbolicTensor, Tensor
from graphc.compiler.tracing import ReadGuard, attribute, context, fixed, has_parts

__all__ = ["CLASS_TESTS", "tested"]

_PLAIN = frozenset((int, float, complex, bool, str, bytes))

CLASS_TESTS: frozenset[Any] = frozenset((callable, isinstance, issubclass))


def tested(function: Any, native: Callable[..., Any]) -> Callable[..., Any]:
    """Returns what is called in place of one of these functions: it tells what its answer depends on."""
    return partial(_answer, function, native)


def _answer(function: Any, native: Callable[..., Any], /, *args: Any) -> Any:
    result = native(*args)
    if context.trace is None or type(result) is not bool or isinstance(args[0], Tensor | SymbolicTensor):
        return result
    if function is callable:
        _read_callable(args[0], result)
    elif len(args) == 2:
        for kind in _flat(args[1]):
            _read_relation(function, args[0], kind)
    return result


def _read_callable(value: Any, result: bool) -> None:
    assert context.trace is not None
    root = context.trace.root
    reads = root.reads
    if not has_parts(value):
        return
    if (source := reads.source(value)) is None:
        reads.names_of_class(cast("type[Any]", type(value)), root.made_classes)
    else:
        guard = ReadGuard(source, f"callable({{v}}) is {result}")
        reads.guards.setdefault((*source.key, "callable"), guard)


def _flat(kinds: Any) -> Iterator[type[Any]]:
    """Yields the classes of a tuple or a union."""
    if isinstance(kinds, tuple | types.UnionType):
        for kind in cast("tuple[Any, ...]", kinds if isinstance(kinds, tuple) else kinds.__args__):
            yield from _flat(kind)
    elif isinstance(kinds, type):
        yield kinds


def _read_relation(function: Any, value: Any, kind: type[Any]) -> None:
    """Tells on what it depends that an object or a class is of a class."""
    assert context.trace is not None
    root = context.trace.root
    reads, owner = root.reads, cast("type[Any]", value if function is issubclass else type(value))
    if is_library(owner) and is_library(kind):
        return
    name = "__instancecheck__" if function is isinstance else "__subclasscheck__"
    check = found_on(type(kind), name)
    # The ordinary test looks at the bases only; an ABC's asks for registered classes and __subclasshook__ too.
    if check is found_on(type, name):
        if not is_library(owner) and owner is not kind:
            reads.record(attribute(fixed(owner, owner.__name__), "__mro__"), owner.__mro__)
        return
    if isinstance(check, types.FunctionType) and not is_library(type(kind)):
        follow(types.MethodType(check, kind))
    source = fixed(owner, owner.__name__)
    if function is isinstance:
        if type(value) in _PLAIN:  # such as a number in the code
            test = f"isinstance({{0}}, {{v}}) is {function(value, kind)}"
            asked = fixed(kind, kind.__name__)
            reads.guards.setdefault((*asked.key, "isinstance", type(value)), ReadGuard(asked, test, (value,)))
            return
        if (found := reads.source(value)) is None:  # made in the function, where no guard reaches it
            reads.names_of_class(owner, root.made_classes)
            if type(kind) is not abc.ABCMeta:
                return
            function = issubclass
            value = owner
        else:
            source = found
    answer = function(value, kind)
    guard = ReadGuard(source, f"{function.__name__}({{v}}, {{0}}) is {answer}", (kind,))
    reads.guards.setdefault((*source.key, function.__name__, id(kind)), guard)
