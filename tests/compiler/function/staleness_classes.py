"""Cases of :mod:`.staleness`: what a class gets later, of which the function makes the objects."""

from __future__ import annotations

import abc
import dataclasses
import enum
import functools
import operator
import warnings
import weakref
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

import graphc as gx
from tests.compiler.function.staleness import Made, for_kind

ATTRIBUTES, OBJECTS, WORLD = "attributes", "which object an argument is", "the process and the world"
ARRAYS, FUNCTIONS = "arrays and tensors", "functions and methods"


class _Abstract(abc.ABC):  # noqa: B024
    pass


@runtime_checkable
class _HasRate(Protocol):
    rate: float


def _class(read: Callable[[Any], Any], name: str, value: Any, *, fields: bool = False) -> Made:
    class Plain:
        pass

    @dataclasses.dataclass
    class Fields:
        factor: float = 2.0

    kind: Any = Fields if fields else Plain

    def change() -> None:
        if name == "register":
            _Abstract.register(kind)
        else:
            setattr(kind, name, value)

    return lambda x: x * float(read(kind)), change


_LATER: dict[str, tuple[Callable[[Any], Any], str, Any]] = {
    "an attribute, by `getattr(o, name, default)`, `hasattr`, `dir`": (
        lambda kind: getattr(kind(), "factor", 2.0) + hasattr(kind(), "factor") + len(dir(kind())), "factor", 3.0,
    ),
    "an attribute, by `isinstance` of a `runtime_checkable` protocol": (
        lambda kind: isinstance(kind(), _HasRate) + 1.0, "rate", 3.0,
    ),
    "`__bool__`, `__len__`": (lambda kind: 2.0 if kind() else 3.0, "__len__", lambda _: 0),
    "`__eq__`": (lambda kind: 2.0 if kind() == kind() else 3.0, "__eq__", lambda _, other: True),
    "`__str__`, `__repr__`": (lambda kind: len(str(kind())), "__repr__", lambda _: "ab"),
    "`__call__`, by `callable`": (lambda kind: callable(kind()) + 1.0, "__call__", lambda _: 2.0),
    "`__getattr__`": (lambda kind: getattr(kind(), "factor", 2.0), "__getattr__", lambda _, name: 3.0),
    "an abstract base class, by `register`": (lambda kind: isinstance(kind(), _Abstract) + 1.0, "register", None),
}  # fmt: skip
for _kind, _parts in _LATER.items():
    for_kind(ATTRIBUTES, f"what a class gets whose objects the function makes: {_kind}", "followed")(
        functools.partial(_class, *_parts)
    )
for_kind(ATTRIBUTES, "`__eq__` of a dataclass, replaced", "followed")(
    functools.partial(
        _class, lambda kind: 2.0 if kind() == kind() else 3.0, "__eq__", lambda _, other: False, fields=True
    )
)


class _Key:
    pass


def _weak(read: Callable[[Any, Any], Any]) -> Made:
    held: list[Any] = [_Key(), _Key()]
    rates: weakref.WeakKeyDictionary[Any, float] = weakref.WeakKeyDictionary({held[0]: 2.0, held[1]: 3.0})
    scaled = gx.function(lambda x, key: x * read(rates, key))
    return lambda x: scaled(x, held[0]), held.reverse


_WEAK: dict[str, Callable[[Any, Any], Any]] = {
    "`table[o]`, `table.get(o)` of a `WeakKeyDictionary`": lambda rates, key: rates[key] + rates.get(key),
    "`o in weak_set`": lambda rates, key: 2.0 if key in weakref.WeakSet([*rates][:1]) else 3.0,
}
for _kind, _read in _WEAK.items():
    for_kind(OBJECTS, _kind, "followed", direct=True)(functools.partial(_weak, _read))


@dataclasses.dataclass(frozen=True)
class _Named:
    name: str
    factor: float = dataclasses.field(default=2.0, compare=False)


_KEYED: dict[str, Callable[[Any], Any]] = {
    "a field that `==` leaves out, of an element of a set": lambda named: {named},
    "a field that `==` leaves out, of a key of a dict": lambda named: {named: 1},
}


def _keyed(make: Callable[[Any], Any]) -> Made:
    held = [make(_Named("a"))]

    def program(x: Any) -> Any:
        for named in held[0]:
            x = x * named.factor
        return x

    return program, lambda: held.__setitem__(0, make(_Named("a", 3.0)))


for _kind, _contain in _KEYED.items():
    for_kind(OBJECTS, _kind, "followed")(functools.partial(_keyed, _contain))


_SIZES: list[int] = []


class _Array:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.full((), _SIZES[0], np.float32)


class _Size:
    def __index__(self) -> int:
        return _SIZES[0]


class _Sized:
    def __class_getitem__(cls, factor: float) -> float:
        return _SIZES[0] * factor

    def __init_subclass__(cls) -> None:
        cls.size = _SIZES[0]


class _Place:
    def __set_name__(self, owner: Any, name: str) -> None:
        self.size = _SIZES[0]


class _Choice(enum.Enum):
    TWO = 2
    THREE = 3

    @classmethod
    def _missing_(cls, value: Any) -> Any:
        return cls(_SIZES[0])


def _with_hooks(x: Any) -> Any:
    class Made(_Sized):
        place = _Place()

    return x * Made.size * Made.place.size


_HOOKS: dict[str, Callable[[Any], Any]] = {
    "what `__array__` of an object reads, where it becomes a tensor": lambda x: gx.add(
        x * _Array(), gx.asarray(_Array())
    ),
    "what `__index__` of an object reads, as a size, an axis or an index": lambda x: (
        x * gx.sum(gx.ones(_Size())) * gx.arange(9.0)[_Size() :][0]
    ),
    "what `__class_getitem__` reads": lambda x: x * _Sized[2.0],
    "what `__init_subclass__` and `__set_name__` read": _with_hooks,
    "what `_missing_` of an `Enum` reads": lambda x: x * _Choice(None).value,
}


def _hooked(program: Callable[[Any], Any]) -> Made:
    _SIZES[:] = [2]
    return program, lambda: _SIZES.__setitem__(0, 3)


for _kind, _program in _HOOKS.items():
    for_kind(FUNCTIONS, _kind, "followed")(functools.partial(_hooked, _program))


class _Odd(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


@for_kind(ATTRIBUTES, "a number whose class has an `__eq__` of its own", "followed")
def _() -> Made:
    held = [_Odd(2)]
    return lambda x: x * int(held[0]), lambda: held.__setitem__(0, _Odd(3))


@for_kind(ARRAYS, "`strides` of a NumPy array", "followed")
def _() -> Made:
    held = [np.ones((2, 3))]
    return lambda x: x * held[0].strides[0], lambda: held.__setitem__(0, np.asfortranarray(held[0]))


@for_kind(WORLD, "`warnings.warn`, which is to warn at each call", "warned")
def _() -> Made:
    def program(x: Any) -> Any:
        warnings.warn("a warning of the program", UserWarning, stacklevel=1)
        return x

    return program, lambda: None


exec("class _Unseen:\n    def __get__(self, o, kind):\n        return o.rate * 2\n")


class _Rated:
    rate = 2.0


def _replaced(made: Callable[[], Any], before: Any, change: Callable[[Any], None]) -> Made:
    kind = type("Rated", (made, _Rated), {"read": before, "__module__": __name__})
    held: Any = kind()
    held.rate = 2.0

    def program(x: Any) -> Any:
        read = held.read
        return x * float(read if isinstance(read, float | int) else len(read()))

    return program, lambda: change(held)


_BY_RATE = property(operator.attrgetter("rate"))
_REPLACED: dict[str, tuple[Any, Any, Callable[[Any], None]]] = {
    "a property without Python code (`attrgetter`), replaced": (
        dict, _BY_RATE, lambda o: setattr(type(o), "read", 3.0),
    ),
    "what a property without Python code reads": (str, _BY_RATE, lambda o: setattr(o, "rate", 3.0)),
    "what a descriptor without source reads": (ValueError, globals()["_Unseen"](), lambda o: setattr(o, "rate", 3.0)),
    "a method of a builtin class as an attribute of another, replaced": (
        str, str.upper, lambda o: setattr(type(o), "read", lambda self: "abc"),
    ),
}  # fmt: skip
for _kind, _parts in _REPLACED.items():
    for_kind(ATTRIBUTES, _kind, "followed", told="source" in _kind)(functools.partial(_replaced, *_parts))


@for_kind(ATTRIBUTES, "a special method written in C (`__str__ = str.upper`), replaced", "followed")
def _() -> Made:
    class Mode(str):
        __slots__ = ()
        __str__ = str.upper

    mode = Mode("ab")
    return lambda x: x * (2.0 if str(mode) == "AB" else 3.0), lambda: setattr(Mode, "__str__", str.title)
