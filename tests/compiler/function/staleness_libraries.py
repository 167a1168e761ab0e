"""Cases of :mod:`.staleness`: what objects of libraries hold, and what Python keeps of classes."""

from __future__ import annotations

import abc
import calendar
import collections
import colorsys
import contextlib
import dataclasses
import datetime
import enum
import logging
import os
import string
import time
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
from scipy import sparse
from scipy.interpolate import CubicSpline, interp1d

import graphc as gx
from tests.compiler.function.staleness import Made, for_kind

ATTRIBUTES, CONTAINERS, ARRAYS, WORLD = "attributes", "containers", "arrays and tensors", "the process and the world"
T = TypeVar("T")


def _held(make: Callable[[], Any], use: Callable[[Any], Any], change: Callable[[Any], Any]) -> Callable[[], Made]:
    """A program that uses an object from outside."""

    def made() -> Made:
        held = make()
        return lambda x: x * use(held), lambda: change(held)

    return made


def _polynomial() -> Any:
    return np.polynomial.Polynomial([2.0, 1.0])


def _multiplied() -> Any:
    """A polynomial of a kind that a trace has seen an operator of before."""
    polynomial = _polynomial()
    gx.function(lambda x: (polynomial * 2)(1.0) * x)(gx.asarray(1.0))
    return _polynomial()


def _spline() -> Any:
    return CubicSpline([0.0, 1.0, 2.0], [0.0, 2.0, 1.0])


for _area, _kind, _make, _use, _change in (
    (ATTRIBUTES, "`coef` of a `numpy.polynomial`, reassigned", _polynomial, lambda p: p(2.0),
     lambda p: setattr(p, "coef", np.array([5.0, 1.0]))),
    (ATTRIBUTES, "a coefficient of a `numpy.polynomial`", _polynomial, lambda p: p(2.0),
     lambda p: p.coef.__setitem__(0, 7.0)),
    (ATTRIBUTES, "the same, read by `p.deriv()`", _polynomial, lambda p: p.deriv()(1.0),
     lambda p: p.coef.__setitem__(1, 7.0)),
    (ATTRIBUTES, "the same, read by `p * 2`", _multiplied, lambda p: (p * 2)(1.0),
     lambda p: p.coef.__setitem__(1, 7.0)),
    (ATTRIBUTES, "a coefficient of a `numpy.poly1d`", lambda: np.poly1d([2.0, 1.0]), lambda p: p(2.0),
     lambda p: p.coeffs.__setitem__(0, 3.0)),
    (ATTRIBUTES, "a coefficient of a SciPy spline", _spline, lambda s: float(s(0.5)),
     lambda s: s.c.__setitem__(Ellipsis, s.c * 2)),
    (ATTRIBUTES, "a coefficient of a SciPy interpolation's spline",
     lambda: interp1d([0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 1.0, 3.0], kind="cubic"), lambda s: float(s(0.5)),
     lambda s: s._spline.c.__setitem__(Ellipsis, s._spline.c * 2)),
    (ATTRIBUTES, "the text of a `string.Template`", lambda: string.Template("$a"),
     lambda t: float(t.substitute(a=2, b=5)), lambda t: setattr(t, "template", "$b")),
    (ARRAYS, "an element of a NumPy array, read by `array.flat` from outside", lambda: np.array([[1.5, 2.5]]).flat,
     lambda flat: flat[0], lambda flat: flat.base.__setitem__((0, 0), 3.0)),
    (CONTAINERS, "the sign of a zero of NumPy in a set", lambda: {np.float32(0.0)},
     lambda held: 1.0 if any(np.signbit(each) for each in held) else 2.0,
     lambda held: (held.clear(), held.add(np.float32(-0.0)))),
):  # fmt: skip
    for_kind(_area, _kind, "followed")(_held(_make, _use, _change))


@for_kind(ATTRIBUTES, "the value of a `contextlib.nullcontext`", "followed")
def _() -> Made:
    manager = contextlib.nullcontext(2.0)

    def program(x: Any) -> Any:
        with manager as factor:
            return x * factor

    return program, lambda: setattr(manager, "enter_result", 3.0)


@for_kind(ATTRIBUTES, "a class attribute, read by `Class[int].name`", "followed")
def _() -> Made:
    class Kind(Generic[T]):
        factor = 2.0

    return lambda x: x * Kind[int].factor, lambda: setattr(Kind, "factor", 3.0)


@for_kind(ATTRIBUTES, "an attribute added later to a member of an enumeration", "followed")
def _() -> Made:
    class Mode(enum.Enum):
        ON = 2

    member: Any = Mode.ON
    return lambda x: x * (member.factor if hasattr(member, "factor") else 2.0), lambda: setattr(member, "factor", 3.0)


@for_kind(WORLD, "whether a number in the code is of a registered class", "followed")
def _() -> Made:
    class Kind(abc.ABC):  # noqa: B024
        pass

    return lambda x: x * (3.0 if isinstance(3, Kind) else 2.0), lambda: Kind.register(int)


@for_kind(WORLD, "the time zone used by `datetime.fromtimestamp`, `astimezone`", "warned")
def _() -> Made:
    before = os.environ.get("TZ")

    def zone(name: str | None) -> None:
        os.environ.pop("TZ", None)
        if name is not None:
            os.environ["TZ"] = name
        time.tzset()

    zone("UTC")

    def change() -> None:
        zone("UTC-5")
        assert datetime.datetime.fromtimestamp(0).hour == 5
        zone(before)

    return lambda x: x * (1 + datetime.datetime.fromtimestamp(0).hour), change


@for_kind(WORLD, "private settings of a library, such as `calendar.setfirstweekday()`", "warned")
def _() -> Made:
    calendar.setfirstweekday(0)

    def change() -> None:
        calendar.setfirstweekday(6)
        assert calendar.monthcalendar(2024, 2)[0].index(1) == 4
        calendar.setfirstweekday(0)

    return lambda x: x * calendar.monthcalendar(2024, 2)[0].index(1), change


@for_kind(WORLD, "a logger from `logging.getLogger`, read through its methods", "warned")
def _() -> Made:
    name = "graphc.tests.staleness"
    logging.getLogger(name).setLevel(logging.INFO)

    def program(x: Any) -> Any:
        return x * (2.0 if logging.getLogger(name).isEnabledFor(logging.INFO) else 3.0)

    return program, lambda: logging.getLogger(name).setLevel(logging.ERROR)


@for_kind(ATTRIBUTES, "a field of a named tuple's class that is replaced (`Point.x = property(...)`)", "followed")
def _() -> Made:
    kind: Any = collections.namedtuple("kind", "x")
    point = kind(2.0)
    return lambda x: x * point.x, lambda: setattr(kind, "x", property(lambda self: 3.0))


@for_kind(ATTRIBUTES, "`default` and `metadata` of a dataclass's fields", "followed")
def _() -> Made:
    more = {"factor": 2.0}

    @dataclasses.dataclass
    class Settings:
        rate: float = dataclasses.field(default=1.0, metadata=more)

    return lambda x: x * dataclasses.fields(Settings)[0].metadata["factor"], lambda: more.update(factor=3.0)


@for_kind(ATTRIBUTES, "state that `__init__` reads, of a class called as `Class[int]()`", "followed")
def _() -> Made:
    class Kind(Generic[T]):
        factor = 2.0

        def __init__(self) -> None:
            self.own = Kind.factor

    return lambda x: x * Kind[int]().own, lambda: setattr(Kind, "factor", 3.0)


@for_kind(ARRAYS, "the memory behind `__array_interface__`, the names of a dtype", "documented")
def _() -> Made:
    array = np.ones(2, np.float32)

    class Lender:
        __array_interface__ = array.__array_interface__

    lender: Any = Lender()
    return lambda x: x * float(np.asarray(lender)[0]), lambda: array.__setitem__(0, 7)


@for_kind(WORLD, "`compiled.python_function = ...`", "refused", direct=True)
def _() -> Made:
    compiled: Any = gx.function(lambda x: x * 2.0)
    return compiled, lambda: setattr(compiled, "python_function", lambda x: x * 3.0)


@for_kind(WORLD, "what a library's object holds in C, by operators: a sparse matrix, a data frame", "warned")
def _() -> Made:
    matrix = sparse.csr_matrix(np.eye(2))
    return lambda x: x * float((matrix @ np.ones(2))[0]), lambda: matrix.data.__setitem__(0, 7.0)


@for_kind(WORLD, "`alive` of a `weakref.finalize`, like other properties of callable objects of libraries", "followed")
def _() -> Made:
    held = type("Kind", (), {})()
    end = weakref.finalize(held, print)
    return lambda x: x * (2.0 if end.alive and held else 3.0), end.detach


@for_kind(WORLD, "a library's function that the program patches", "followed")
def _() -> Made:
    colorsys.rgb_to_yiq = _RGB_TO_YIQ

    def change() -> None:
        colorsys.rgb_to_yiq = lambda r, g, b: (9.0, 9.0, 9.0)

    return lambda x: x * colorsys.rgb_to_yiq(1.0, 1.0, 1.0)[0], change


_RGB_TO_YIQ = colorsys.rgb_to_yiq


@for_kind(WORLD, "`vars` of a library's module", "followed")
def _() -> Made:
    vars(colorsys)["ONE_THIRD"] = 1 / 3
    return lambda x: x * vars(colorsys)["ONE_THIRD"], lambda: vars(colorsys).update(ONE_THIRD=0.3)


@for_kind(ATTRIBUTES, "the object that `__new__` of its class makes at the first call and keeps", "followed")
def _() -> Made:
    class Single:
        known: Any = None

        def __new__(cls) -> Any:
            if cls.known is None:
                cls.known = object.__new__(cls)
                cls.known.factor = 2.0
            return cls.known

    return lambda x: x * Single().factor, lambda: setattr(Single(), "factor", 3.0)
