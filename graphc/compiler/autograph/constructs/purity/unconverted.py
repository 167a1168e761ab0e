"""Finds what unconverted code reads, by the names in its code object, since nothing reports its reads.

An attribute may be read of every object that the code gets to, if the code names it. What it calls is followed.
"""

from __future__ import annotations

import abc
import builtins
import decimal
import importlib.util
import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from functools import partial, wraps
from typing import Any, cast

import jax
import numpy as np

from graphc.compiler.autograph.constructs.purity.opaque import check_unseen, is_iterator, is_opaque, public_name
from graphc.compiler.autograph.constructs.purity.reading import (
    is_library,
    names_of,
    read_attribute,
    read_method,
    read_names,
)
from graphc.compiler.autograph.constructs.purity.watch import FORMATTED, watch_names
from graphc.compiler.autograph.values.kinds import found_on, is_users, users_method
from graphc.compiler.autograph.values.protocol import Symbolic
from graphc.compiler.base import is_library_file, nest
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor, Variable, stay
from graphc.compiler.tracing import ReadGuard, attribute, content_of, contents_of, context, fixed, has_parts, item

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
    """Tells of what is handed to code that is not the user's: it may read all of it."""
    # called: whether it may call what it is given too, as it is; graphc's own converts what it calls.
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
    """Tells of what functions among these values read, of the other ones too, where they run as they are."""
    # special: whether special methods of the values are called, as of an object that is called.
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
    methods = (found_on(kind, name) for name in names if found_on(kind, name) is not found_on(object, name))
    for method in methods:
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
            named = namespace.get(name)
            self._reach(named)
            if is_iterator(named) and context.trace is not None:
                context.trace.read_once(f"the use of an iterator ({type(named).__name__}) from outside")
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
            present = (
                any(name in vars(base) for base in owner.__mro__) if isinstance(owner, type) else name in vars(owner)
            )
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
            value, present = found_on(kind, name), any(name in vars(base) for base in kind.__mro__)
            if isinstance(value, types.MemberDescriptorType) or name in getattr(owner, "__dict__", ()):
                value = getattr(owner, name, None)
                present = hasattr(owner, name)
            elif isinstance(value, types.FunctionType):
                read_method(kind, name, value)
                self._reach(value)
                return
        if present:
            read_attribute(owner, name, value)
            self._reach(value)


def _at(namespace: dict[str, Any], path: tuple[str, ...]) -> Any:
    """Returns what code finds by a global and attributes; None where code of the user's would tell."""
    current = namespace.get(path[0], vars(builtins).get(path[0]))
    for name in path[1:]:
        if isinstance(current, types.ModuleType) or name in getattr(current, "__dict__", ()):
            current = vars(current).get(name)
        else:  # a property would be asked
            inside = found_on(current if isinstance(current, type) else cast("type[Any]", type(current)), name)
            current = getattr(current, name, None) if inside is not None and not isinstance(inside, property) else None
    return current


def _tell(function: Any) -> None:
    """Tells of a library's function that code names, such as ``time.time``: the code is taken to call it."""
    inside = getattr(function, "__func__", function)
    if not callable(function) or isinstance(function, type) or context.trace is None:
        return
    if isinstance(inside, types.FunctionType):
        is_ours = is_library_file(inside.__code__.co_filename)
    else:
        is_ours = is_library(cast("type[Any]", type(function)))
    if is_ours and is_opaque(function):
        context.trace.read_once(f"the call of {public_name(function)}")


# ``isinstance``, ``issubclass`` and ``callable`` of what comes from outside: classes change, too.

_CLASS_TESTS_PLAIN = frozenset((int, float, complex, bool, str, bytes))

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
        if type(value) in _CLASS_TESTS_PLAIN:  # such as a number in the code
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


# Calls of JAX's functions on tensors that have no value yet, which JAX cannot take.

_NAMESPACES = {
    "jax.numpy": ("gx", "graphc.compiler.ops.functions"),
    "jax.numpy.fft": ("gx.fft", "graphc.compiler.ops.fft"),
    "jax.numpy.linalg": ("gx.linalg", "graphc.compiler.ops.linalg"),
    "jax.nn": ("gx.nn", "graphc.compiler.ops.nn"),
    "jax.lax": ("gx.lax", "graphc.compiler.ops.lax"),
    "jax.scipy.special": ("gx.special", "graphc.compiler.ops.special"),
}
"""JAX's modules of functions, with graphc's modules of the same functions."""

# These only take trees apart and put them together.
_STRUCTURAL = frozenset(
    id(value) for module in (jax.tree, jax.tree_util) for value in vars(module).values() if callable(value)
)
_FILES = tuple(
    os.path.dirname(spec.origin) + os.sep
    # Found, not imported: optax may not be installed.
    for spec in map(importlib.util.find_spec, ("jax", "jaxlib", "optax"))
    if spec is not None and spec.origin is not None
)


def checked(function: Any) -> Any:
    """Returns a function; one of JAX's refuses tensors of the trace with the name of the function to use instead."""
    if not _is_jax(function):
        return function

    @wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves = nest.flatten((args, kwargs))[0]
        symbolic = next((leaf for leaf in leaves if isinstance(leaf, SymbolicTensor)), None)
        if symbolic is not None and context.trace is not None:
            raise context.trace.refuse(_error(function, symbolic))
        return function(*args, **kwargs)

    return call


def _is_jax(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    if id(function) in _STRUCTURAL or isinstance(function, type):
        return False
    if code is None:  # a jitted function is an object of C++, without code
        return type(function).__module__.split(".")[0] in ("jax", "jaxlib")
    return code.co_filename.startswith(_FILES)


def _error(function: Callable[..., Any], tensor: SymbolicTensor) -> UnimplementedError:
    name = str(getattr(function, "__name__", function))
    module, home = _home(function, name)
    return UnimplementedError(
        f"{f'{module}.' * bool(module)}{name} was given a tensor ({tensor.type}, {tensor.made_at()}) that has no value "
        f"while the function is traced; {stay() if home is None else stay(f'{home}.{name}')}"
    )


def _home(function: Any, name: str) -> tuple[str, str | None]:
    """Returns the public module of a function of JAX's, and graphc's namespace with one of the same name."""
    for module, (home, namespace) in _NAMESPACES.items():
        if getattr(sys.modules.get(module), name, None) is function:
            return module, home if hasattr(importlib.import_module(namespace), name) else None
    module = str(getattr(function, "__module__", "") or "")
    return ("" if "._" in module else module), None  # jax._src is nothing that users write
