"""Reads: what a trace took from outside itself, and the conditions under which its program may run again.

While a function is traced, the operators of converted code report what they read: arguments, globals, variables of
enclosing functions, attributes, and contents. A :class:`ReadGuard` for each says how a later call finds the value again
and what it must be. ``graphc.compiler.function`` compiles the guards of a trace into code that every call runs.

Objects are identified by where they were found first. An object that came with the arguments may be another one at the
next call, if its class and all that was read of it are the same; an object found elsewhere must be the same object.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import BuiltinFunctionType, CellType, FunctionType
from typing import Any, cast

import numpy as np

from graphc.compiler.base import is_library_module, nest
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor
from graphc.compiler.tracing.guard_kinds import (
    ReadGuard,
    has_parts,
    identity,
    is_array,
    items,
    keyed,
    library_data,
    recorder,
)
from graphc.compiler.tracing.mode import context
from graphc.compiler.tracing.sources import (
    Source,
    argument,
    attribute,
    attributes_of,
    cell,
    closure_cell,
    content_of,
    contents_of,
    fixed,
    global_name,
    item,
    length,
    membership,
    outer_cell,
    result_of,
)

ALIAS = "the same object as "
"""Begins the text for a value that was found before."""

# If more items than this are read, a list or dict is compared as a whole, in one go.
_MOST_ITEMS = 16

# To ask for a setting takes as long as so many other guards.
_SETTING = 40


@dataclass
class Reads:
    """All that one trace read outside itself."""

    guards: dict[Any, ReadGuard] = field(default_factory=dict[Any, ReadGuard])  # by source key, several for a source
    inputs: list[Source] = field(default_factory=list[Source])  # the arrays among the arguments, as nest.flatten
    _cells: dict[int, Source] = field(default_factory=dict[int, Source])
    _found: dict[int, tuple[Any, Source]] = field(default_factory=dict[int, tuple[Any, Source]])
    _originals: dict[int, tuple[Any, Any]] = field(default_factory=dict[int, tuple[Any, Any]])
    _asked: dict[int, list[Any]] = field(default_factory=dict[int, list[Any]])

    def source(self, value: Any) -> Source | None:
        """Returns where an object was found first; None if the trace made it or nobody reported it."""
        entry = self._found.get(id(value))
        return None if entry is None else entry[1]

    def objects(self) -> list[tuple[Any, Source]]:
        """Returns the objects that were found, each with its source."""
        return list(self._found.values())

    def argument(self, name: str, value: Any) -> None:
        """Records an argument: its structure, its tensors, which become inputs, and its Python values."""
        self._structure(argument(name), value)

    def array_or_tensor(self, source: Source, *, is_array: bool) -> None:
        """Records that it counts whether an argument is a NumPy array, which ``gx.asarray`` copies."""
        guard = ReadGuard(source, f"isinstance({{v}}, {{0}}) is {is_array}", (np.ndarray,))
        self.guards.setdefault(("is array", *source.key), guard)

    def stands_for(self, replacement: Any, original: Any) -> None:
        """Records that a container replaces one of the arguments' containers, with the trace's tensors in it."""
        self._originals[id(replacement)] = (replacement, original)

    def original(self, value: Any) -> Any:
        """Returns the argument's container that a value replaces, or the value itself."""
        return self._originals.get(id(value), (value, value))[1]

    def held(self, source: Source, value: Any) -> None:
        """Tells that a name of a library's was read, which must stand for the same object again."""
        self.guards.setdefault(source.key, identity(source, value))

    def setting(self, ask: Callable[[], Any], text: str) -> None:
        """Tells that Python's own code, or a library's, has looked at a setting, which is asked for by a function."""
        source = result_of(fixed(ask, text), "()")
        answer = repr(ask())
        self.guards.setdefault(source.key, ReadGuard(source, "repr({v}) == {0}", (answer,), answer, size=_SETTING))

    def function(self, function: Any) -> None:
        """Records the traced function, which is the same in all calls."""
        self.record(fixed(function, "the function"), function)

    def record_wrapper(self, owner: Any, function: Any, text: str) -> None:
        """Records that an object from outside, such as a compiled function, wraps a function that it never replaces."""
        if self.source(owner) is not None:
            self.record(fixed(function, text), function)

    def observed(self, tensor: Tensor, array: Any) -> None:
        """Records that Python code observed the values of a tensor from outside."""
        source = self.source(tensor) or fixed(tensor, "a tensor from outside")
        guard = ReadGuard(source, "{v}.raw is {0}", (array,), f"the values of {source.text}")
        self.guards.setdefault((*source.key, "values"), guard)

    def record(self, source: Source, value: Any) -> None:
        """Records a value read from outside the trace; for a list or dict, all of its contents may count."""
        if type(value).__getattribute__ is not object.__getattribute__:
            _check_class(value)
        self.complete(value)
        if source.key in self.guards or isinstance(value, SymbolicTensor):
            return
        kind = cast("type[Any]", type(value))
        if kind.__module__.startswith("graphc.compiler.autograph"):
            return  # it represents a value of the trace
        earlier = self._found.get(id(value))
        if earlier is not None and earlier[1].key != source.key:
            self.add(_same_as(source, earlier[1]))
            return
        recorder(value)(self, source, value, kind)

    def container(self, source: Source, value: Any) -> None:
        """Records a value read from outside that will only be indexed."""
        # Only the items of a list or dict reported by :meth:`item` count, until the program uses it in another way.
        if type(value) not in (dict, list):
            self.record(source, value)
        elif source.key in self.guards:
            return
        elif (earlier := self.source(value)) is not None and earlier.key != source.key:
            self.add(_same_as(source, earlier))
        else:
            self.register(source, value)
            self.add(ReadGuard(source, "type({v}) is {0}", (cast("type[Any]", type(value)),)))
            self._asked[id(value)] = []

    def counts_by_item(self, value: Any) -> bool:
        """Returns True for a list or dict from outside that has only been indexed so far."""
        return id(value) in self._asked

    def item(self, owner: Any, key: str | int, value: Any, *, by_item: bool = False) -> None:
        """Records a read of an item of a list or dict that counts by item; with ``by_item``, the item does so, too."""
        (self.container if by_item else self.record)(item(self._found[id(owner)][1], key), value)
        if (asked := self._asked.get(id(owner))) is not None:
            asked.append(key)
            if len(asked) > _MOST_ITEMS:
                self.complete(owner)

    def has(self, owner: Any, key: str | int, present: bool) -> None:
        """Records that a list or dict that counts by item was found to have a key, or not to have it."""
        source = self._found[id(owner)][1]
        if isinstance(owner, dict):
            self.record(membership(source, key), present)
        else:
            self.record(length(source), len(cast("list[Any]", owner)))

    def complete(self, value: Any) -> None:
        """Makes all contents of a list or dict count, if it counted by item so far."""
        asked = self._asked.pop(id(value), None)
        if asked is None:
            return
        source = self._found[id(value)][1]
        recorder(value)(self, source, value, cast("type[Any]", type(value)))
        if self.guards[source.key].size > 1:  # the guard compares all items at once
            for key in asked:
                self.guards.pop(item(source, key).key, None)

    def closure(self, function: FunctionType, names: Mapping[str, int], file: str, asked: Container[str] = ()) -> None:
        """Records that a called function reads variables of its enclosing functions, by name with the line."""
        # A function made by the trace has its own cells and those of its makers. ``asked`` are the names that it only
        # indexes.
        source = self.source(function)
        for position, name in enumerate(function.__code__.co_freevars):
            holder = (function.__closure__ or ())[position]
            if source is not None:
                self._cell(
                    source, position, holder, name, f"{file}:{names.get(name, function.__code__.co_firstlineno)}"
                )
            if name in names and id(holder) in self._cells and (content := content_of(holder)) is not holder:
                (self.container if name in asked else self.record)(self._cells[id(holder)], content)

    def _cell(self, function: Source, position: int, holder: CellType, name: str, line: str) -> None:
        """Records a variable of a function; at the next call another function with the same code may take its place."""
        always_same = function.base is None and function.key[0] == "fixed"
        own = cell(holder, name, line) if always_same else outer_cell(function, position, name)
        earlier = self._cells.setdefault(id(holder), own)
        if earlier.key != own.key and own.base is not None:
            cell_source = closure_cell(function, position)
            if earlier.base is None:
                guard = ReadGuard(cell_source, "{v} is {0}", (holder,))
            else:
                guard = ReadGuard(cell_source, "{v} is {s0}", (), others=(closure_cell(earlier.base, earlier.key[-1]),))
            self.guards.setdefault(cell_source.key, guard)

    def variable(self, holder: CellType) -> Source | None:
        """Returns the source of a closure cell's content; None if nobody reported it."""
        return self._cells.get(id(holder))

    def identify(self, value: Any) -> None:
        """Makes an object's identity count: it is compared by identity, hashed, or kept by a callee of the program."""
        source = self.source(value)
        if source is not None and source.of_call:
            self.guards.setdefault((*source.key, "is"), identity(source, value))

    def compared(self, left: Any, right: Any) -> None:
        """Records the result of an ``is`` comparison of two objects."""
        one, other = self.source(left), self.source(right)
        if one is None or other is None or not (one.of_call or other.of_call):
            return  # an object made by the trace is never one from outside
        test = "{v} is {s0}" if left is right else "{v} is not {s0}"
        self.guards.setdefault(("is", one.key, other.key), ReadGuard(one, test, (), others=(other,)))

    def missing(self, owner: Source, name: str) -> None:
        """Records that an object was found to lack an attribute."""
        guard = ReadGuard(owner, "lacks({v}, {0})", (name,))
        self.guards.setdefault(("lacks", *owner.key, name), guard)

    def names_of_class(self, kind: type[Any], created: Container[type[Any]]) -> None:
        """Records that a class, and each base of the program's, has as many names as now: none may come or go."""
        # The class lacks a name that it may get later, such as a special method.
        for base in kind.__mro__:
            source = attribute(fixed(base, base.__name__), "__dict__")
            if not is_library_module(base.__module__) and base not in created:
                # Before Python 3.14 a class gets this one when it is first asked for it, as `isinstance` may do.
                test, late = "len({v}) - ({0} in {v}) == {1}", "__annotations__"
                guard = ReadGuard(source, test, (late, len(vars(base)) - (late in vars(base))))
                self.guards.setdefault((*source.key, "len"), guard)

    def undefined(self, namespace: dict[str, Any], name: str) -> None:
        """Records that a module did not define a name, which is a builtin or undefined."""
        source, builtin_names = fixed(namespace, "a module's names"), builtins.__dict__
        test, expected = f"{name!r} not in {{v}} and {name!r} not in {{0}}", (builtin_names,)
        if name in builtin_names:
            value = builtin_names[name]
            test, expected = f"{name!r} not in {{v}} and {{0}}.get({name!r}) is {{1}}", (builtin_names, value)
            if not isinstance(value, type | BuiltinFunctionType):  # except for a program's own
                self.record(global_name(builtin_names, name, "a builtin"), value)
        self.guards.setdefault(("global", id(namespace), name), ReadGuard(source, test, expected))

    def whole(self, value: Any) -> list[Any]:
        """Records that all contents of an object may be read by code that reports nothing; returns them."""
        todo, seen = [value], dict[int, Any]()
        while todo:
            owner: Any = todo.pop()
            if id(owner) in seen:
                continue
            seen[id(owner)] = owner
            self.complete(owner)
            source = self.source(owner)
            if source is not None and has_parts(owner):
                for name in getattr(cast("type[Any]", type(owner)), "__graphc_called__", ()):
                    if name in owner.__dict__:
                        self.record(attribute(source, name), owner.__dict__[name])
                    else:
                        guard = ReadGuard(source, f"{name!r} not in {{v}}.__dict__")
                        self.guards.setdefault(("lacks", *source.key, name), guard)
                for name, part in _read_of(owner):
                    self.record(attribute(source, name), part)
                    todo.append(part)
                if hasattr(owner, "__dict__") and not _is_graphc(owner):
                    guard = ReadGuard(source, f"len({{v}}.__dict__) == {len(owner.__dict__)}")
                    self.guards.setdefault((*source.key, ".", "__dict__"), guard)
            elif source is not None:
                users = isinstance(owner, BaseException) and not is_library_module(type(owner).__module__)
                parts = [*attributes_of(owner), ("args", owner.args)] if users else library_data(owner)
                for name, part in parts:
                    self.record(attribute(source, name), part)
                    if callable(part):
                        todo.append(part)
            todo += [part for _, part in contents_of(owner)]
        return list(seen.values())

    def renew(self, value: Any) -> None:
        """Records the current contents of an object again, as :meth:`whole` does: its first use may have added some."""
        source = self.source(value)
        if source is not None:
            below = (*source.key, ".")
            outer = {key: guard for key, guard in self.guards.items() if key[: len(below)] == below and _is_outer(key)}
            self.forget([below])
            self.whole(value)
            self.guards.update({key: guard for key, guard in outer.items() if key not in self.guards})

    def unchanged(self, owner: Any, before: Any) -> None:
        """Records what the trace left as it was in a container that it changed, given its contents before."""
        from graphc.compiler.tracing.closures import (
            record_unchanged,  # deferred, since few functions change what is outside
        )

        record_unchanged(self, owner, before)

    def forget(self, keys: Sequence[tuple[Any, ...]]) -> None:
        """Drops the guards of cells that the trace itself changed, and of all below them."""
        for key in keys:
            for guard_key in [guard_key for guard_key in self.guards if guard_key[: len(key)] == key]:
                del self.guards[guard_key]

    def release(self) -> None:
        """Releases the objects that were found, at the end of tracing, since the trace may live on."""
        for table in (self._cells, self._found, self._originals, self._asked):
            table.clear()

    def described(self) -> list[tuple[str, str]]:
        """Each value's source as text, with the value's description, for retrace reasons."""
        return [(guard.source.text, guard.was) for guard in self.guards.values() if guard.was]

    def add(self, guard: ReadGuard) -> None:
        """Adds a guard."""
        self.guards[guard.source.key] = guard

    def register(self, source: Source, value: Any) -> None:
        """Records where an object was found first."""
        self._found[id(value)] = (value, source)

    # Arguments: containers are structure, arrays are inputs.

    def _structure(self, source: Source, value: Any) -> None:
        if is_array(value):
            self.inputs.append(source)
            return
        parts = None if value is None else nest.children(value)
        if parts is None:
            self.record(source, value)
            return
        kind = cast("type[Any]", type(value))
        if (first := self.source(value)) is not None:
            self.guards.setdefault(("is", source.key, first.key), _same_as(source, first))
        elif not isinstance(value, tuple):
            self.register(source, value)
        if isinstance(value, dict):
            keyed(self, source, cast("dict[Any, Any]", value), kind, self._structure)
        elif isinstance(value, list | tuple):
            items(self, source, cast("list[Any]", value), kind, self._structure)
            if issubclass(kind, tuple) and kind.__dictoffset__:  # a subclass, rebuilt with its attributes
                namespace, attributes = attribute(source, "__dict__"), dict(vars(value))
                self.guards.setdefault(namespace.key, ReadGuard(namespace, "[*{v}] == {0}", ([*attributes],)))
                for name, part in attributes.items():
                    self.record(attribute(source, name), part)
        else:
            # An object with attributes other than its fields is no longer structure.
            attributes = f" and len({{v}}.__dict__) == {len(value.__dict__)}" if hasattr(value, "__dict__") else ""
            self.add(ReadGuard(source, f"type({{v}}) is {{0}}{attributes}", (kind,)))
            for name, part in zip(*parts, strict=True):
                self._structure(attribute(source, name), part)


def _same_as(source: Source, original: Source) -> ReadGuard:
    return ReadGuard(source, "{v} is {s0}", (), f"{ALIAS}{original.text}", (original,))


def _is_outer(key: tuple[Any, ...]) -> bool:
    """Returns True for the key of a function's closure variable, or of what was found by it."""
    return any(
        type(following) is int and type(part) is str and part in ("cell", "closure")
        for part, following in pairwise(key)
    )


def _check_class(value: Any) -> None:
    """Refuses an object that does not tell its class, which ``isinstance`` asks it for."""
    try:
        value.__class__  # noqa: B018  which may be a call of the user's
    except Exception as cause:
        kind = type(value).__name__
        error = UnimplementedError(
            f"{kind}.__getattribute__ raises {type(cause).__name__} for '__class__', which isinstance asks it for; "
            "return object.__getattribute__(self, name) for names that begin with two underscores"
        )
        raise (error if context.trace is None else context.trace.refuse(error)) from cause


def _read_of(owner: Any) -> Iterable[tuple[str, Any]]:
    """Yields the attributes of an object that its methods read; graphc's classes may name them."""
    names = vars(cast("type[Any]", type(owner))).get("__graphc_reads__")
    return attributes_of(owner) if names is None else [(name, getattr(owner, name)) for name in names]


def _is_graphc(owner: Any) -> bool:
    """Returns True if a class is graphc's or derives from one; such objects make some attributes on first use."""
    return any(base.__module__.startswith("graphc.") for base in cast("type[Any]", type(owner)).__mro__)
