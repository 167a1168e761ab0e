"""Late values: Python values that are known at run time only, because they hold tensors without values.

A late value is a structure whose leaves are tensors of the trace, indices of rolled loops, and plain Python values;
texts made of tensors, exceptions and variables are structures too (:class:`Deferred`). So branches merge them and loops
carry them as they do tuples. At run time the tensors have values, and the value is made of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.values.course import PerIterationNumber
from graphc.compiler.autograph.values.index import is_symbolic
from graphc.compiler.autograph.values.number import any_joined, kind_of
from graphc.compiler.autograph.values.protocol import ListContents, Symbolic, as_tensor, is_bound
from graphc.compiler.base import has_mark, nest
from graphc.compiler.core import SymbolicTensor, Tensor, Variable
from graphc.compiler.tracing import context

RAISED = "__graphc_raised__"
"""The attribute by which an exception that a statement of the user's raised is known: where."""


class Opaque:
    """A part of a structure that is what it is, whatever its kind."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Deferred(Symbolic, ABC):
    """A value as a structure; a subclass is a dataclass, whose fields are the parts."""

    @abstractmethod
    def make(self) -> Any:
        """Returns the value, when the parts are made."""

    def changed(self, change: Callable[[Any], Any]) -> Any:
        """Returns it with other parts."""
        parts = {field.name: change(getattr(self, field.name)) for field in fields(cast("Any", self))}
        return cast("Any", type(self))(**parts)  # some say that they are of another class


@dataclass(frozen=True, eq=False)
class DeferredVariable(Deferred):
    """A variable with the value that it had at one point of the program."""

    variable: Any
    value: Any

    def make(self) -> Variable:
        """Returns a variable that looks like it, and is none of the program's."""
        shown = object.__new__(Variable)
        shown.raw = self.value.raw
        shown._type = self.variable.type  # pyright: ignore[reportPrivateUsage]
        shown.name, shown.trainable = self.variable.name, self.variable.trainable
        return shown


@dataclass(frozen=True, eq=False)
class DeferredError(Deferred):
    """An exception."""

    kind: Any
    made_of: Any  # the arguments of the builtin class that it is derived from
    args: Any
    attributes: Any  # its __dict__
    slots: Any
    cause: Any
    suppress: Any

    @classmethod
    def of(cls, error: BaseException) -> DeferredError:
        """Returns the exception taken apart."""
        attributes = {name: value for name, value in error.__dict__.items() if name != RAISED}
        # Not args: those of OSError(2, 'x', 'file') leave the file out.
        made_of = cast("Any", _builtin(type(error))).__reduce__(error)[1]
        parts = (made_of, error.args, attributes, _slots(error), None if _causes_itself(error) else error.__cause__)
        return cls(Opaque(type(error)), *map(snapshot, parts), suppress=Opaque(error.__suppress_context__))

    def make(self) -> BaseException:
        """Returns a new exception of the same class, arguments and attributes."""
        builtin = cast("Any", _builtin(self.kind))
        try:
            # Not kind(*args), which would run an __init__ of the user's a second time.
            error = builtin.__new__(self.kind, *self.made_of)
            builtin.__init__(error, *self.made_of)  # makes attributes of them, such as errno; the user's has run
        except TypeError:  # the user may have assigned args that the class does not take
            error = BaseException.__new__(self.kind)
        error.args = self.args
        error.__dict__.update(self.attributes)
        for name, value in self.slots.items():
            object.__setattr__(error, name, value)  # a frozen dataclass refuses any other assignment
        error.__cause__, error.__suppress_context__ = self.cause, self.suppress
        return error


def _builtin(kind: type[BaseException]) -> type[BaseException]:
    """Returns the builtin class that a class of exceptions is derived from first."""
    return next(base for base in kind.__mro__ if base.__module__ == "builtins" and issubclass(base, BaseException))


def _slots(error: BaseException) -> dict[str, Any]:
    names = [name for base in type(error).__mro__ for name in base.__dict__.get("__slots__", ())]
    return {name: getattr(error, name) for name in names if hasattr(error, name)}


def _causes_itself(error: BaseException) -> bool:
    """Returns True if an exception is among its own causes (``raise error from error``)."""
    seen: list[BaseException] = []
    cause = error.__cause__
    # By identity: an exception's == may be the user's.
    while cause is not None and not any(cause is one for one in seen):
        seen.append(cause)
        cause = cause.__cause__
    return any(error is one for one in seen)


def is_deferred(value: Any) -> bool:
    """Returns True if a value holds tensors without values, so that it is known at run time only."""
    if isinstance(value, BaseException):
        cause = None if _causes_itself(value) else value.__cause__
        return any(map(is_deferred, (value.args, value.__dict__, _slots(value), cause)))
    parts = nest.children(value)
    if parts is not None:
        return any(map(is_deferred, parts[1]))
    if isinstance(value, Variable):
        return context.trace is not None
    return is_symbolic(value)


def snapshot(value: Any) -> Any:
    """A late value as a structure that later changes of its parts do not change; :func:`value_of` is the opposite."""
    if isinstance(value, Deferred):
        return value
    if not is_deferred(value):
        return value if type(value) is str else Opaque(value.fork() if isinstance(value, Tensor) else value)
    if isinstance(value, Variable):
        return DeferredVariable(Opaque(value), value.value().snapshot())
    if is_symbolic(value):
        return value.snapshot()
    return DeferredError.of(value) if isinstance(value, BaseException) else rebuilt(value, snapshot)


def value_of(value: Any) -> Any:
    """Returns the value that a structure stands for."""
    if isinstance(value, Opaque):
        return value.value
    if isinstance(value, Deferred):
        return value.changed(value_of).make()
    return value if nest.children(value) is None else rebuilt(value, value_of)


def rebuilt(container: Any, change: Callable[[Any], Any]) -> Any:
    """Returns the container with its items changed."""
    parts = nest.children(container)
    assert parts is not None
    return nest.rebuilt(container, [change(item) for item in parts[1]])


def holds_deferred(structure: nest.Structure) -> bool:
    """Returns True if values of a structure are put together of views, so that :func:`value_of` is to make them."""
    is_view = structure.kind is not None and issubclass(structure.kind, Deferred)
    return is_view or any(map(holds_deferred, structure.children))


def symbolic_parts(value: Any) -> Iterator[Symbolic]:
    """Yields the numbers and other Python values that depend on tensors, which a value is or holds."""
    if isinstance(value, Symbolic) and is_bound(value) and not isinstance(value, ListContents):
        yield value
    elif (parts := nest.children(value)) is not None:
        for part in parts[1]:
            yield from symbolic_parts(part)


class Frozen:
    """A late value as it is now, without its tensors."""

    def __init__(self, value: Any) -> None:
        structure = snapshot(value)
        for leaf in nest.flatten(structure)[0]:
            # str() shows 1 or 1.0, so a number that may be an int or a float has no one text.
            if has_mark(leaf, "__graphc_number__"):
                leaf.check_kind("a text, an exception or a call of gx.pyfunc")
        leaves, self._structure = nest.flatten(structure)
        self.tensors: list[SymbolicTensor] = []
        slots: dict[int, int] = {}
        self._leaves: list[Any] = [self._kept(leaf, slots) for leaf in leaves]

    def _kept(self, leaf: Any, slots: dict[int, int]) -> Any:
        if not is_symbolic(leaf):
            return leaf
        if isinstance(leaf, PerIterationNumber) and leaf.kind is float:
            leaf.give_up("a value for Python code that runs with the program")  # which holds it in fewer bits
        tensor = cast("SymbolicTensor", as_tensor(leaf))
        slot = slots.setdefault(id(tensor.raw), len(self.tensors))  # one value of the graph may have many tensors
        if slot == len(self.tensors):
            self.tensors.append(tensor)
        # Not the leaf itself, which would keep the trace alive.
        return _Place(slot) if kind_of(leaf) is None else _Number(slot, any_joined((leaf,)))

    @property
    def held(self) -> list[Any]:
        """The Python objects in it."""
        return [leaf.value for leaf in self._leaves if isinstance(leaf, Opaque)]

    def release(self) -> None:
        """Forgets the tensors, so that they do not outlive their trace."""
        self.tensors = []

    def evaluate(self, arrays: Sequence[Any]) -> Any:
        """Returns the value."""
        return value_of(nest.unflatten(self._structure, [_thawed(leaf, arrays) for leaf in self._leaves]))


@dataclass(frozen=True, slots=True)
class _Place:
    place: int


@dataclass(frozen=True, slots=True)
class _Number(_Place):
    """The place of what to Python is a number: a loop's index, or what ``int(t)`` and the like give."""

    # Whether a float is the one of fewest digits that its tensor may stand for: Python's own shows no rounding to 32
    # bits; ``float(t)`` does.
    shortest: bool = False


def _thawed(leaf: Any, arrays: Sequence[Any]) -> Any:
    if not isinstance(leaf, _Place):
        return leaf
    array = arrays[leaf.place]
    if not isinstance(leaf, _Number):
        return Tensor(array)
    return number_of(Tensor(array)) if leaf.shortest else Tensor(array).item()


def number_of(tensor: Tensor) -> Any:
    """Returns the number that a tensor holds, a float as the one of fewest digits that the tensor may stand for."""
    number: Any = tensor.item()
    if type(number) is float and tensor.dtype == np.float32:
        return float(str(np.float32(number)))  # 0.1 shows as 0.1, not as 0.10000000149011612
    return number
