"""Cases of :mod:`tests.function.staleness`: what a class gets later, of which the function makes the objects."""

from __future__ import annotations

import abc
import dataclasses
import functools
import warnings
import weakref
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import graphc as gx
from tests.function.staleness import Made, for_kind

ATTRIBUTES, OBJECTS, WORLD = "attributes", "which object an argument is", "the process and the world"


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


@for_kind(WORLD, "`warnings.warn`, which is to warn at each call", "warned")
def _() -> Made:
    def program(x: Any) -> Any:
        warnings.warn("a warning of the program", UserWarning, stacklevel=1)
        return x

    return program, lambda: None
