# ruff: noqa: UP031, UP032  these ways to make texts are what this is about
"""Python asks the class for the first of several special methods, whatever that is written in."""

from __future__ import annotations

import enum
import math
import operator
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import UnimplementedError
from tests.compiler.autograph.differential import check, f


class Level(enum.IntEnum):
    LOW = 1


class Mode(enum.StrEnum):
    TRAIN = "train"


class Failed(Exception):
    def __repr__(self) -> str:
        return "<failed>"


class Named(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return "<named>"


class Count(int):
    def __len__(self) -> int:
        return 0

    def __index__(self) -> int:
        return 7

    def __format__(self, spec: str) -> str:
        return f"count{spec}"


class Near(list[float]):
    def __contains__(self, item: object) -> bool:
        return any(abs(each - item) < 0.6 for each in self)


class Listed(tuple[float, ...]):
    def __iter__(self) -> Iterator[float]:
        return iter((9.0,))


class NoIterator:
    def __iter__(self) -> Any:
        return [1]

    def __str__(self) -> Any:
        return 5


RATE = np.float32(0.1)


@pytest.mark.parametrize(
    "use",
    [
        lambda: (str(Mode.TRAIN), f"{Mode.TRAIN}", format(Level.LOW), [str(Level.LOW)]),
        lambda: "%s %d" % (Mode.TRAIN, Level.LOW),
        lambda: (str(Failed("why")), f"{Failed('why')}", str([Failed()]), str(Named("a")), repr(Named("a"))),
        lambda: ("{:d} {!r}".format(Level.LOW, Level.LOW), "%(a)d %(a)s" % {"a": Level.LOW}, "%.2f" % Level.LOW),
        lambda: (f"{RATE}", format(RATE), str(RATE), f"{RATE:.3f}"),
        lambda: (f"{Count(2)} {Count(3):x}", "{:{}}".format(Count(1), 5)),
        lambda: (bool(Count(5)), 1 if Count(5) else 2, int(Count(3)), float(Count(3)), math.sqrt(Count(4))),
        lambda: (1.5 in Near([1.0]), 9.0 in Listed((1.0,)), 1.0 in Listed((1.0,)), operator.contains(Near([1.0]), 3.0)),
        lambda: "{0.name} {1[a]} {1}".format(Mode.TRAIN, {"a": 1}),
        lambda: (ascii(Named("é")), "{!a:>9}".format("é"), "%a" % Named("é")),
    ],
)  # fmt: skip
def test_python_asks_the_first_method_whatever_it_is_written_in(use: Callable[[], Any]) -> None:
    check(lambda x: (x, use()), f(1.0))


@pytest.mark.parametrize(
    "use",
    [lambda: list(NoIterator()), lambda: iter(NoIterator()), lambda: str(NoIterator()), lambda: f"{NoIterator()}"],
)
def test_what_a_method_must_give(use: Callable[[], Any]) -> None:
    def program(x: Any) -> Any:
        try:
            return x, use()
        except TypeError as error:
            return x, str(error)

    check(program, f(1.0))


class ItemAttributes(dict[str, Any]):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


@pytest.mark.parametrize("value", [1.0, -1.0])
def test_attributes_that_are_items_by_methods_written_in_c(value: float) -> None:
    def program(x: Any) -> Any:
        a: Any = ItemAttributes(z=x)
        a.w, a.v = x + 1, 1
        del a.v
        for _ in range(3):
            if a.w > 0:
                a.w = a.w * 2.0
        return a.w, a["w"], a.z, sorted(a)

    check(program, f(value))


def test_a_tensor_inside_an_object_that_python_shows_is_refused() -> None:
    def program(x: Any) -> Any:
        return str(ItemAttributes(z=x))

    with pytest.raises(UnimplementedError, match="the text of an ItemAttributes shows a tensor inside it"):
        gx.function(program)(f(1.0))


class Secret:
    def __getattribute__(self, name: str) -> Any:
        return {"z": 2.0}[name]


SECRET = Secret()


def test_an_object_that_does_not_tell_its_class_is_refused() -> None:
    with pytest.raises(UnimplementedError, match=r"Secret.__getattribute__ raises KeyError for '__class__'"):
        gx.function(lambda x: x * SECRET.z)(f(1.0))


def test_an_import_of_an_object_that_is_no_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "no_module", types.SimpleNamespace(rate=2.0))

    def program(x: Any) -> Any:
        import no_module

        return x * no_module.rate

    check(program, f(1.0))
