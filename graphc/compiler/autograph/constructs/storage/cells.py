"""Attributes and the contents of lists and dicts as cells that branches and loops merge and carry."""

from __future__ import annotations

import sys
import types
from collections import OrderedDict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from types import CellType, FrameType
from typing import Any, cast

from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.frontend.convert import is_converted
from graphc.compiler.autograph.values.kinds import found_on
from graphc.compiler.autograph.values.protocol import Unbound, is_bound
from graphc.compiler.base import Location, nest, with_article
from graphc.compiler.base.errors import GraphcError, UndefinedNameError
from graphc.compiler.tracing import MISSING, Cell, Reads, Region, Trace, attribute, context, fixed, global_name


def object_text(owner: Any) -> str:
    """Returns the words for an object whose attribute a message is about."""
    if isinstance(owner, type | types.ModuleType):
        return f"the {'class' if isinstance(owner, type) else 'module'} {owner.__name__}"
    return f"{with_article(type(owner).__name__)} object"


class AttributeCell(Cell):
    """An attribute that is stored as it is."""

    __slots__ = ("name",)

    def __init__(self, owner: Any, name: str, what: str = "") -> None:
        attribute = f"attribute {name!r} of {object_text(owner)}"
        super().__init__(owner, f"the {attribute}", what or f"the assignment to {attribute}")
        self.name = name

    @classmethod
    def key_of(cls, owner: Any, name: str) -> tuple[Any, ...]:
        """Returns the key of the cell that an object's attribute is."""
        return (AttributeCell, id(owner), name)  # not cls: a ManagedAttributeCell is the same place

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for two cells that are the same."""
        return self.key_of(self.owner, self.name)

    def get(self) -> Any:
        """Returns what the attribute holds on this very object."""
        attributes = getattr(self.owner, "__dict__", None)
        if attributes is not None and self.name in attributes:
            return attributes[self.name]
        slot = found_on(cast("type[Any]", type(self.owner)), self.name)
        if not isinstance(slot, types.MemberDescriptorType):
            return MISSING
        try:
            return slot.__get__(self.owner)
        except AttributeError:
            return MISSING

    def read_as(self, reads: Reads) -> tuple[Any, ...] | None:
        """Returns the key of the source by which the attribute is read, of an object that is the same in all calls."""
        source = reads.source(self.owner)
        # Classes and modules are the same in all calls.
        if source is None and isinstance(self.owner, type | types.ModuleType):
            source = fixed(self.owner, "")
        return None if source is None or source.of_call else attribute(source, self.name).key

    def default(self) -> Any:
        """Returns what Python finds in the class where the attribute is not set on the object."""
        for base in cast("type[Any]", type(self.owner)).__mro__:
            if self.name in base.__dict__:
                class_value: object = base.__dict__[self.name]
                # A descriptor gives something else for each object.
                return MISSING if hasattr(type(class_value), "__get__") else class_value
        return MISSING

    def set(self, value: Any) -> None:
        """Makes the attribute hold a value, or takes it away."""
        if value is not MISSING:
            # Frozen dataclasses refuse setattr, also what undoes a store.
            in_python(object.__setattr__, self.owner, self.name, value)
        elif self.get() is not MISSING:
            object.__delattr__(self.owner, self.name)


class ObjectCell(Cell):
    """What an object holds, as a whole."""

    __slots__ = ()

    def read_as(self, reads: Reads) -> tuple[Any, ...] | None:
        """Returns the key of the source by which the object is read, where it is the same in all calls."""
        source = reads.source(self.owner)
        return None if source is None or source.of_call else source.key


class ContentsCell(ObjectCell):
    """The contents of a list or a dict, as a whole."""

    __slots__ = ()

    def __init__(self, owner: list[Any] | dict[Any, Any], what: str) -> None:
        super().__init__(owner, f"{with_article(type(owner).__name__)} that is changed", what)

    @classmethod
    def key_of(cls, owner: Any) -> tuple[Any, ...]:
        """Returns the key of the cell that the contents of an object are."""
        return (cls, id(owner))

    def get(self) -> Any:
        """Returns a copy of the contents, as a plain list or dict."""
        owner: Any = self.owner
        return list(owner) if isinstance(owner, list) else dict(owner)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]

    def set(self, value: Any) -> None:
        """Puts the contents back."""
        kind = container_kind(self.owner)
        if kind is list:
            # Of list itself: a subclass may check or log its own stores.
            list.__setitem__(cast("list[Any]", self.owner), slice(None), value)
        else:
            kind.clear(self.owner)
            kind.update(self.owner, value)


class ManagedAttributeCell(AttributeCell):
    """An attribute of a class, or one that is stored by code that nobody converts."""

    __slots__ = ()

    def get(self) -> Any:
        """Returns what the attribute holds, on the class itself or as code says."""
        if isinstance(self.owner, type):
            return self.owner.__dict__.get(self.name, MISSING)
        try:
            return getattr(self.owner, self.name)
        except Exception:  # whatever such code raises
            return MISSING

    def set(self, value: Any) -> None:
        """Stores a value as Python does, or takes the attribute away."""
        if value is not MISSING:
            setattr(self.owner, self.name, value)
        elif self.get() is not MISSING:
            delattr(self.owner, self.name)


def container_kind(owner: Any) -> type[Any]:
    """Returns the class of Python's own whose methods change what a list or dict holds."""
    if isinstance(owner, list):
        return list
    return OrderedDict if isinstance(owner, OrderedDict) else dict


def is_plain_attribute(owner: Any, name: str) -> bool:
    """Returns True if a store into an attribute changes that attribute of the object and does nothing else."""
    setter = found_on(cast("type[Any]", type(owner)), "__setattr__")
    # Exceptions have a wrapper of their own for the same C function.
    return not is_managed_attribute(owner, name) and setter in (object.__setattr__, BaseException.__setattr__)


def is_managed_attribute(owner: Any, name: str) -> bool:
    """Returns True if a property or another descriptor decides what a store into an attribute does."""
    descriptor = cast("type[Any]", type(found_on(cast("type[Any]", type(owner)), name)))
    return descriptor is not types.MemberDescriptorType and found_on(descriptor, "__set__") is not None


def describe_path(error: GraphcError, cells: Sequence[Cell]) -> GraphcError:
    """Returns an error that calls a changed list or dict by the variable that holds it, if it is the only cell."""
    if len(cells) == 1 and isinstance(cells[0], ContentsCell):
        name = _variable_of(cells[0].owner)
        if name is not None:
            kind = cast("type[Any]", type(cells[0].owner)).__name__
            error.args = (str(error.args[0]).replace(cells[0].title, f"the {kind} {name!r}"), *error.args[1:])
    return error


def _variable_of(value: Any) -> str | None:
    """Returns the variable of the code that is being traced that holds an object."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if is_converted(frame.f_code):
            for name, held_there in frame.f_locals.items():
                if held_there is value and not name.startswith("ag__"):  # ag__: generated, nothing that the user wrote
                    return name
        frame = frame.f_back
    return None


def final_value(region: Region, value: Any, same: AbstractSet[int], copies: dict[int, Any]) -> Any:
    """Returns a value as it was at the end of a branch, undone since; ``copies`` receives originals by copies' ids."""
    parts = None if id(value) in same or not region.journal.writes else nest.children(value)
    if parts is None:
        return value
    keys, items = parts
    contents = region.journal.writes.get(ContentsCell.key_of(value))
    if contents is not None:
        keys, items = nest.children(contents.after) or parts
    else:
        attributes = [region.journal.writes.get(AttributeCell.key_of(value, key)) for key in keys]
        pairs = zip(items, attributes, strict=True)
        items = [item if written is None else written.after for item, written in pairs]
    ended = [final_value(region, item, same, copies) for item in items]
    if contents is None and all(new is old for new, old in zip(ended, parts[1], strict=True)):
        return value
    copy = nest.rebuilt(value, ended, keys)
    copies[id(copy)] = value
    return copy


_NOT_SET = "it is not set"


def held(cell: Cell, value: Any) -> Any:
    """Returns what a cell holds, as a name would hold it."""
    if value is MISSING and isinstance(cell, AttributeCell):
        value = cell.default()
    return Unbound(cell.title, _NOT_SET) if value is MISSING else value


def write(cell: Cell, value: Any, *, certain: bool = False) -> None:
    """Stores a value, with a note in the journal of the trace that is open.

    Args:
      certain: whether this repeats, behind a branch, a write in it: who else sees it was asked there.
    """
    trace = context.trace
    if trace is not None:
        if not is_bound(value):
            if value.reason != _NOT_SET:
                error = UndefinedNameError(f"{cell.title} is set on some paths only: {value.reason}; set it before")
                raise trace.refuse(error)
            value = MISSING
        # held() gave the class's default: a store would put it on the object.
        elif isinstance(cell, AttributeCell) and cell.get() is MISSING and value is cell.default():
            return
        if certain:
            trace.journal.note(cell)
        else:
            trace.writing(cell)
    cell.set(value)


# Names of other scopes as places: globals, and variables of the functions around.


class GlobalCell(Cell):
    """A global name of a module."""

    __slots__ = ("name",)

    def __init__(self, owner: dict[str, Any], name: str) -> None:
        super().__init__(owner, f"the global {name!r}", f"the assignment to the global {name!r}")
        self.name = name

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for two places that are the same."""
        return (*super().key, self.name)

    def read_as(self, reads: Reads) -> tuple[Any, ...]:
        """Returns the key of the source by which the name is read."""
        return global_name(self.owner, self.name, "").key

    def get(self) -> Any:
        """Returns what the name stands for."""
        return self.owner.get(self.name, MISSING)

    def set(self, value: Any) -> None:
        """Binds the name, or unbinds it."""
        if value is MISSING:
            self.owner.pop(self.name, None)
        else:
            self.owner[self.name] = value


class ClosureCell(Cell):
    """A variable of a function that functions inside it share."""

    __slots__ = ()

    def __init__(self, owner: CellType, name: str) -> None:
        super().__init__(owner, f"{name!r} of another function", f"the assignment to {name!r} of another function")

    def read_as(self, reads: Reads) -> tuple[Any, ...] | None:
        """Returns the key of the source by which the variable is read, of a function that is the same in all calls."""
        source = reads.variable(self.owner)
        return None if source is None or source.of_call else source.key

    def get(self) -> Any:
        """Returns what the variable holds."""
        try:
            return self.owner.cell_contents
        except ValueError:  # unbound; Python has no other way to ask
            return MISSING

    def set(self, value: Any) -> None:
        """Binds the variable, or unbinds it."""
        if value is not MISSING:
            self.owner.cell_contents = value
        elif self.get() is not MISSING:
            del self.owner.cell_contents


def note_name(trace: Trace, cell: GlobalCell | ClosureCell, location: Location) -> None:
    """Notes in a journal what a name stands for, before a function runs that may assign it at ``location``."""
    if cell.key not in trace.journal.writes:  # the first note holds what the name stood for before
        trace.journal.note(cell)
        trace.journal.writes[cell.key].location = location
