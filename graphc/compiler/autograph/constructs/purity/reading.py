"""Records what converted code reads outside its trace, so that later calls check it.

Attributes are told one by one, as they are read. What code that is not converted is given (a library, a layer) may be
read as a whole.
"""

from __future__ import annotations

import dataclasses
import dis
import enum
import importlib.util
import inspect
import sys
import types
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar, cast

from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.overrides import Functions
from graphc.compiler.autograph.constructs.purity.opaque import read_computed, read_of_module
from graphc.compiler.autograph.constructs.storage.cells import AttributeCell
from graphc.compiler.autograph.frontend.convert import is_part, names_asked
from graphc.compiler.autograph.values.kinds import found_on
from graphc.compiler.base import is_kept, is_library_file, is_library_module, remember, with_article
from graphc.compiler.core import SymbolicTensor, Tensor
from graphc.compiler.tracing import (
    MISSING,
    Trace,
    attribute,
    content_of,
    context,
    fixed,
    global_name,
    has_parts,
    item,
    lacks_attribute,
    length,
    looked_up,
    membership,
)

_UNSEEN = frozenset((int, float, bool, str, bytes, complex, type(None), Tensor, SymbolicTensor))
"""Kinds that hold nothing that could be read of them."""


class _Named(NamedTuple):
    field: int


_FIELD = type(_Named.field)  # Python gives it no public name
"""The type of the descriptors of a named tuple's fields."""
_CALLED = (types.FunctionType, types.MethodType, partial)
ALIASES: Any = (type(Generic[TypeVar("_")]), types.GenericAlias)
"""The types of parametrized generic classes, which have the attributes of their class."""


@dataclass(frozen=True)
class NamesRead:
    """The names that code reads of its module and of enclosing functions, each with its first line; and attributes."""

    outside: dict[str, int]
    free: dict[str, int]
    attributes: set[str]
    paths: dict[tuple[str, ...], None]  # global names with the attributes asked for right after them: np.linalg.norm
    imports: set[str]


_known: dict[bool, dict[int, NamesRead]] = {False: {}, True: {}}
_OUTSIDE = frozenset(("LOAD_GLOBAL", "LOAD_NAME"))
_FREE = frozenset(("LOAD_DEREF", "LOAD_CLASSDEREF"))
_ATTRIBUTES = frozenset(("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"))
_COMPREHENSIONS = frozenset(("<dictcomp>", "<genexpr>", "<listcomp>", "<setcomp>"))


def entering(function: types.FunctionType, converted: types.FunctionType | None = None) -> None:
    """Tells of the globals, and of the variables of functions around, that a function reads which is called now."""
    # converted: what is called in its place; None where it is called itself.
    if context.trace is None:
        return
    if is_library_file(function.__code__.co_filename):
        # What a decorator of a library's has wrapped, as contextlib's do, is the same in all calls.
        reads = context.trace.root.reads
        for value in (content_of(cell) for cell in function.__closure__ or ()):
            if isinstance(value, _CALLED) and reads.source(value) is None:
                reads.record_wrapper(function, value, f"what {function.__qualname__} wraps")
    else:
        read_names(function, names_of(function.__code__), names_asked((converted or function).__code__))


def read_names(function: types.FunctionType, names: NamesRead, asked: frozenset[str] = frozenset()) -> None:
    """Tells of globals, and of variables of functions around, that a function reads."""
    # asked: those of the names that it only asks for items.
    assert context.trace is not None
    root, code, namespace = context.trace.root, function.__code__, function.__globals__
    reads, file = root.reads, code.co_filename.rpartition("/")[2]
    if (key := (id(names), id(namespace), bool(asked))) not in root.entered:
        root.entered.add(key)
        for name, line in names.outside.items():
            if name not in namespace:  # a builtin, which a global of that name would hide
                reads.undefined(namespace, name)
                continue
            value = namespace[name]
            if not (issubclass(type(value), types.ModuleType) and is_library(value)):  # before it is asked for a class
                record = reads.container if name in asked else reads.record
                record(global_name(namespace, name, f"{file}:{line}"), value)
        for path in names.paths:
            _read_path(namespace, path)
    if code.co_freevars:
        reads.closure(function, names.free, file, asked)


def _read_path(namespace: dict[str, Any], path: tuple[str, ...]) -> None:
    """Tells of what code finds in libraries' modules, of which a program may put something else in its place."""
    assert context.trace is not None
    owner: Any = namespace.get(path[0])
    for name in path[1:]:
        if not isinstance(owner, types.ModuleType) or not is_library(owner):
            return
        value = vars(owner).get(name, MISSING)
        if value is MISSING and _is_graphc(owner):  # which imports it when it is used
            with suppress(ImportError):  # of a package that is not installed
                value = getattr(owner, name, MISSING)
        if value is MISSING:
            return
        if not isinstance(value, types.ModuleType) and is_kept(name, value):
            context.trace.root.reads.held(attribute(fixed(owner, owner.__name__), name), value)
        owner = value


def read_namespace(owner: Any, name: Any) -> bool:
    """Tells of an item of ``globals()``, a global by its name, and returns True; of another object nothing."""
    # Python puts __builtins__ into the globals of each module, by which they are known here.
    if type(owner) is dict and type(name) is str and "__builtins__" in owner and context.trace is not None:
        namespace = cast("dict[str, Any]", owner)
        if name in namespace:
            context.trace.root.reads.record(global_name(namespace, name, "by globals()"), namespace[name])
        else:
            context.trace.root.reads.undefined(namespace, name)
        return True
    return False


def evaluated(text: Any) -> Any:
    """Returns what ``eval`` and ``exec`` are given; of text the globals are told of that it names."""
    trace, namespace = context.trace, sys._getframe(1).f_globals  # pyright: ignore[reportPrivateUsage]
    if trace is not None and isinstance(text, str | types.CodeType):
        try:
            code = compile(text, "<eval>", "exec") if isinstance(text, str) else text  # "exec" takes expressions too
        except SyntaxError:
            return text
        for name in names_of(code, inner=True).outside:
            read_namespace(namespace, name)
    return text


def names_of(code: types.CodeType, *, inner: bool = False) -> NamesRead:
    """Returns the names in code and in what runs with it; with ``inner``, in all functions that it defines."""
    return _known[inner].get(id(code)) or remember(_known[inner], code, _names_of(code, inner))


def _names_of(code: types.CodeType, inner: bool) -> NamesRead:
    # Texts too, of which getattr(x, "rate") makes an attribute.
    names = NamesRead({}, {}, {text for text in code.co_consts if type(text) is str and text.isidentifier()}, {}, set())
    line, path = code.co_firstlineno, ()
    for instruction in dis.get_instructions(code):
        path = _path_of(instruction, path)
        if len(path) > 1:
            names.paths[path] = None
        line = (instruction.positions.lineno if instruction.positions else None) or line
        if instruction.opname in _OUTSIDE and not instruction.argval.startswith("ag__"):
            names.outside.setdefault(instruction.argval, line)
        elif instruction.opname in _FREE and instruction.argval in code.co_freevars:
            names.free.setdefault(instruction.argval, line)
        elif instruction.opname in _ATTRIBUTES:
            names.attributes.add(instruction.argval)
        elif instruction.opname == "IMPORT_NAME":
            names.imports.add(instruction.argval)
        elif instruction.opname == "IMPORT_FROM":
            names.attributes.add(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType) and (inner or _runs_at_once(constant)):
            within = names_of(constant, inner=inner)
            names.outside.update({name: line for name, line in within.outside.items() if name not in names.outside})
            free = {name: line for name, line in within.free.items() if name in code.co_freevars}
            names.free.update({name: line for name, line in free.items() if name not in names.free})
            names.attributes.update(within.attributes)
            names.paths.update(within.paths)
            names.imports.update(within.imports)
    return names


def _path_of(instruction: dis.Instruction, before: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the global name and the attributes that an instruction has reached, given what the one before had."""
    if instruction.opname in _OUTSIDE and not instruction.argval.startswith("ag__"):
        return (instruction.argval,)
    return (*before, instruction.argval) if before and instruction.opname in _ATTRIBUTES else ()


def _runs_at_once(code: types.CodeType) -> bool:
    """Returns True if code inside a function runs with it: a comprehension, a converted part, the body of a class."""
    is_class = not code.co_flags & inspect.CO_OPTIMIZED  # functions keep locals in slots, class bodies in a dict
    return is_class or code.co_name in _COMPREHENSIONS or is_part(code)


def is_library(owner: types.ModuleType | type) -> bool:
    """Tells if a module or a class is Python's, graphc's or an installed package's, whose names stay as they are."""
    return is_library_module(owner.__name__ if isinstance(owner, types.ModuleType) else owner.__module__)


def _is_graphc(module: types.ModuleType) -> bool:
    return module.__name__.partition(".")[0] == "graphc"


def read_attribute(owner: Any, name: str, value: Any, *, by_item: bool = False) -> None:
    """Tells of an attribute that was read; of what a property computed its getter has told."""
    # by_item: whether that is about to be asked for items, and for nothing else.
    trace = context.trace
    if trace is None or isinstance(value, SymbolicTensor):
        return
    reads = trace.root.reads
    record = reads.container if by_item else reads.record
    source, kind = reads.source(owner), cast("type[Any]", type(owner))
    if kind in weakref.ProxyTypes and source is not None:
        trace.read_once(f"the use of {with_article(kind.__name__)}")
    if name == "__dict__":
        _read_all(owner)
        return
    if isinstance(owner, type | types.ModuleType):
        path = attribute(fixed(owner, owner.__name__), name)
        if isinstance(value, types.DynamicClassAttribute) and isinstance(owner, type):  # not an attribute of the class
            path = looked_up(partial(found_on, owner), name, f"{owner.__name__}.{name}", (id(owner), name))
        if not is_library(owner):
            record(path, value)
        elif isinstance(owner, types.ModuleType):
            read_of_module(owner, name, value)
        elif type(owner) is type and vars(owner).get(name) is value and not hasattr(owner, "__graphc_opaque__"):
            reads.held(path, value)  # which the program may have put into a library's class
        return
    if isinstance(owner, ALIASES) and not name.startswith("__"):  # Kind[int].name
        read_attribute(owner.__origin__, name, value, by_item=by_item)
        return
    if isinstance(owner, enum.Enum):  # of which there is one
        source = fixed(owner, str(owner))
        if name in ("name", "value"):
            reads.record(attribute(source, f"_{name}_"), value)
            return
    if kind is super:
        kind = found_after(owner, name)
    if kind is dataclasses.Field and source is None:  # which its class keeps
        source = fixed(owner, f"the field {owner.name}")
    descriptor = found_on(kind, name)
    # The class of a named tuple may get something else in place of the field.
    if isinstance(descriptor, _FIELD):
        reads.held(attribute(fixed(kind, kind.__name__), name), descriptor)
    if name in getattr(owner, "__dict__", ()) or isinstance(descriptor, types.MemberDescriptorType):
        if source is not None and not _is_written(trace, owner, name):
            record(attribute(source, name), value)
    elif is_library(kind) and not kind.__module__.startswith("__"):
        if descriptor is not None and source is not None and not isinstance(descriptor, types.FunctionType):
            reads.whole(owner)  # a property that is not converted
            read_computed(owner, name, value)
    else:
        path = attribute(fixed(kind, kind.__name__) if source is None else source, name)
        if isinstance(descriptor, types.FunctionType):
            reads.record(path if source is None else attribute(path, "__func__"), descriptor)
        elif isinstance(descriptor, staticmethod | classmethod):
            reads.record(attribute(fixed(kind, kind.__name__), name), getattr(kind, name))
            read_unset(owner, name)
        elif getattr(cast("type[Any]", type(descriptor)), "__graphc_opaque__", False):  # a compiled method
            reads.record(attribute(fixed(kind, kind.__name__), name), descriptor)
        elif isinstance(descriptor, property):  # of a library's base, which is not converted
            if source is not None:
                reads.whole(owner)
        elif (descriptor is not None or (value is None and _is_defined(kind, name))) and not hasattr(
            cast("type[Any]", type(descriptor)), "__get__"
        ):
            record(path, value)
        else:
            if descriptor is not None:
                read_descriptor(kind, name, descriptor)
            if source is not None:
                read_computed(owner, name, value)


def _is_defined(kind: type[Any], name: str) -> bool:
    """Returns True if a class or a base has an attribute, which may be None."""
    return any(name in vars(base) for base in kind.__mro__)


def _read_all(owner: Any) -> None:
    """Tells of all attributes of an object or of a class."""
    assert context.trace is not None
    reads = context.trace.root.reads
    if isinstance(owner, types.ModuleType):
        if not _is_graphc(owner):
            reads.container(attribute(fixed(owner, owner.__name__), "__dict__"), vars(owner))
    elif not isinstance(owner, type):
        reads.whole(owner)
        reads.names_of_class(cast("type[Any]", type(owner)), context.trace.root.made_classes)
        source = reads.source(owner)
        if source is not None and not has_parts(owner) and hasattr(owner, "__dict__"):
            reads.record(attribute(source, "__dict__"), vars(owner))
    elif not is_library(owner):
        path = attribute(fixed(owner, owner.__name__), "__dict__")
        reads.record(length(path), len(vars(owner)))
        for name in [name for name in vars(owner) if not name.startswith("__")]:
            reads.record(item(path, name), vars(owner)[name])


def found_after(owner: Any, name: str) -> type[Any]:
    """Returns the class in which ``super()`` finds an attribute; ``object`` if there is none."""
    # Of the object's class: with several bases, the class after this one need not be a base of it.
    order = owner.__self_class__.__mro__
    return next((base for base in order[order.index(owner.__thisclass__) + 1 :] if name in vars(base)), object)


def read_descriptor(kind: type[Any], name: str, descriptor: Any, called: str = "fget") -> None:
    """Tells of a property, or of another descriptor of the user's, which is about to be asked."""
    if context.trace is None or is_library(kind):
        return
    reads = context.trace.root.reads
    if isinstance(descriptor, property):
        path = attribute(fixed(kind, kind.__name__), name)
        reads.record(path, descriptor)
        reads.record(attribute(path, called), getattr(descriptor, called))
    else:  # the class would ask it
        reads.record(looked_up(partial(found_on, kind), name, f"{kind.__name__}.{name}", (id(kind), name)), descriptor)


def read_missing(owner: Any, name: str) -> None:
    """Tells that an object, which was asked for an attribute, has none of that name."""
    trace = context.trace
    if trace is None or type(owner) in _UNSEEN:
        return
    kind = cast("type[Any]", type(owner))
    descriptor = found_on(kind, name)  # a property is not asked again
    if not (descriptor is None or isinstance(descriptor, types.MemberDescriptorType)) or not lacks_attribute(
        owner, name
    ):
        return
    source = trace.root.reads.source(owner)
    if source is None and isinstance(owner, type | types.ModuleType):
        source = fixed(owner, owner.__name__)
    if source is None and isinstance(owner, enum.Enum):
        source = fixed(owner, str(owner))
    if source is None:  # made in the function: its class may get the attribute
        trace.root.reads.names_of_class(kind, trace.root.made_classes)
    if source is not None and not _is_written(trace, owner, name):
        trace.root.reads.missing(source, name)
        if found_on(kind, "__getattr__") is None:  # one that the class gets later would answer
            read_descriptor(kind, "__getattr__", None)


def read_unset(owner: Any, name: str) -> None:
    """Tells that an object has no attribute of its own that would stand before a descriptor of its class."""
    trace = context.trace
    source = None if trace is None else trace.root.reads.source(owner)
    if trace is not None and source is not None and hasattr(owner, "__dict__") and not _is_written(trace, owner, name):
        trace.root.reads.record(membership(attribute(source, "__dict__"), name), False)


def read_inherited(kind: type[Any], name: str) -> None:
    """Tells that a class of the user's has a method of Python's own, which theirs may replace later."""
    trace = context.trace
    if trace is not None and not is_library(kind) and kind not in trace.root.made_classes:
        trace.root.reads.held(attribute(fixed(kind, kind.__name__), name), getattr(kind, name))


def read_method(kind: type[Any], name: str, method: types.FunctionType) -> None:
    """Tells of a method that is about to be called, unless it was told of."""
    if context.trace is not None and not is_library(kind) and found_on(kind, name) is method:
        reads = context.trace.root.reads
        if reads.source(method) is None:
            reads.record(attribute(fixed(kind, kind.__name__), name), method)


def _is_written(trace: Trace, owner: Any, name: str) -> bool:
    """Returns True if the trace has written an attribute, so that what it holds is not from outside."""
    key = AttributeCell.key_of(owner, name)
    scope: Trace | None = trace
    while scope is not None:
        if key in scope.journal.writes:
            return True
        scope = scope.parent
    return False


# Import statements in functions: another module may have taken the name before the next call.


def importing(module: str, level: int) -> None:
    """Tells that a function is about to import a module, which may not be there."""
    first = module.partition(".")[0]
    if context.trace is None or level or first in sys.modules:
        return
    try:
        # The first name only: for a.b find_spec would import a.
        is_there = importlib.util.find_spec(first) is not None
    except (ImportError, ValueError):
        is_there = False
    # `try: import x` takes its `except ImportError` now, and not once x is there.
    if not is_there:
        _record(first, None)


def imported(module: str, level: int, names: tuple[str, ...]) -> None:
    """Tells of a module of the user's that a function has just imported."""
    if context.trace is None:
        return
    if level:
        package = sys._getframe(1).f_globals.get("__package__")  # pyright: ignore[reportPrivateUsage]
        module = importlib.util.resolve_name("." * level + module, package)
    target: Any = sys.modules.get(module)
    if target is None or (
        isinstance(target, types.ModuleType) and is_library(target)
    ):  # a program may put any object there
        return
    _record(module, target)
    for name in names:
        if hasattr(target, name):
            read_attribute(target, name, getattr(target, name))


def _record(name: str, target: Any) -> None:
    assert context.trace is not None
    modules = sys.modules
    source = looked_up(modules.get, name, f"sys.modules[{name!r}]", ("module", name))
    context.trace.root.reads.record(source, target)


def _import_module(native: Callable[..., Any], name: str, package: str | None = None) -> Any:
    """``importlib.import_module``."""
    module = in_python(native, name, package)
    imported(module.__name__, 0, ())
    return module


OVERRIDES: Functions = {importlib.import_module: _import_module}
