"""Cases of :mod:`tests.function.staleness`: the process and the world, and what is printed and read again."""

from __future__ import annotations

import abc
import configparser
import contextlib
import ctypes
import datetime
import decimal
import functools
import io
import logging
import os
import queue
import random
import sys
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from tests.function.staleness import Made, for_kind

WORLD, PRINTING = "the process and the world", "printed text"
_NAME = "GRAPHC_STALENESS_TEST"


@runtime_checkable
class _HasFactor(Protocol):
    factor: float


def _environment(read: Callable[[], str]) -> Made:
    os.environ[_NAME] = "ab"
    return lambda x: x * len(read()), lambda: os.environ.update({_NAME: "abc"})


for _kind, _read in {
    "`os.environ[name]`": lambda: os.environ[_NAME],
    "`os.environ.get(name)`": lambda: os.environ.get(_NAME, ""),
    "`os.getenv(name)`": lambda: os.getenv(_NAME, ""),
    "`name in os.environ`, a loop over it": lambda: "ab" if _NAME in os.environ else "a",
}.items():
    for_kind(WORLD, _kind, "warned")(functools.partial(_environment, _read))


def _world(read: Callable[[], Any]) -> Made:
    return lambda x: x + read(), lambda: None


for _kind, _read in {
    "`time.time()`, `perf_counter()`": time.time,
    "`datetime.datetime.now()`": lambda: datetime.datetime.now().microsecond,
    "`datetime.date.today()`": lambda: datetime.date.today().day,
    "`random.random()`": random.random,
    "`numpy.random.rand()`": lambda: float(np.random.rand()),
    "`numpy.random.default_rng()`": lambda: float(np.random.default_rng().normal()),
    "`os.getcwd()`, `os.listdir()`, `os.path.exists()`": lambda: len(os.getcwd()),
    "`sys.getrecursionlimit()`": sys.getrecursionlimit,
    "`decimal.getcontext()`": lambda: decimal.getcontext().prec,
    "the contents of a file, by `Path.read_text()`": lambda: len(Path(os.devnull).read_text()),
    "the level of a logger, by `getEffectiveLevel()`": lambda: logging.getLogger("graphc.tests").getEffectiveLevel(),
    "`numpy.geterr()`": lambda: len(np.geterr()["divide"]),
}.items():
    for_kind(WORLD, _kind, "warned")(functools.partial(_world, _read))


def _settings() -> configparser.ConfigParser:
    settings = configparser.ConfigParser()
    settings.read_string("[part]\nfactor = 2.0")
    return settings


_HELD: dict[str, tuple[Any, Callable[[Any], float], Callable[[Any], Any]]] = {
    "`Event.is_set()`, `Lock.locked()`": (threading.Event, lambda held: held.is_set() + 1.0, lambda held: held.set()),
    "`Queue.qsize()`, `empty()`, `full()`": (queue.Queue, lambda held: held.qsize() + 1.0, lambda held: held.put(1)),
    "an option of a `configparser.ConfigParser`, by its methods": (
        _settings, lambda settings: settings.getfloat("part", "factor"),
        lambda settings: settings.set("part", "factor", "3.0"),
    ),
    "such an option, by `[...]`": (
        _settings, lambda settings: float(settings["part"]["factor"]),
        lambda settings: settings.set("part", "factor", "3.0"),
    ),
    "`multiprocessing.Value`, numbers of `ctypes`": (
        lambda: ctypes.c_double(2.0), lambda number: number.value, lambda number: setattr(number, "value", 3.0),
    ),
    "`getvalue()` of a buffer from outside": (
        lambda: io.StringIO("ab"), lambda buffer: float(len(buffer.getvalue())), lambda buffer: buffer.write("abc"),
    ),
}  # fmt: skip


def _held(make: Callable[[], Any], read: Callable[[Any], float], change: Callable[[Any], Any]) -> Made:
    value = make()
    return lambda x: x * read(value), lambda: change(value)


for _kind, _parts in _HELD.items():
    for_kind(WORLD, _kind, "warned")(functools.partial(_held, *_parts))


@for_kind(WORLD, "the contents of a file, by `open`", "warned")
def _() -> Made:
    def program(x: Any) -> Any:
        with open(os.devnull) as file:
            return x + len(file.read())

    return program, lambda: None


@for_kind(WORLD, "the context that arithmetic of `decimal` looks at", "documented")
def _() -> Made:
    def program(x: Any) -> Any:
        return x * float(decimal.Decimal(1) / 3)

    return program, lambda: setattr(decimal.getcontext(), "prec", 3)


@for_kind(WORLD, "whether the object of a weak reference is still there", "documented")
def _() -> Made:
    import weakref

    kept = [type("Kind", (), {})()]
    reference = weakref.ref(kept[0])
    return lambda x: x * (3.0 if reference() is None else 2.0), kept.clear


@for_kind(WORLD, "an attribute that the program puts into a library's module", "documented")
def _() -> Made:
    library: Any = np
    library.graphc_factor = 2.0
    return lambda x: x * library.graphc_factor, lambda: setattr(library, "graphc_factor", 3.0)


@for_kind(WORLD, "a module that the program replaces in `sys.modules`", "documented")
def _() -> Made:
    def module(factor: float) -> None:
        made: Any = types.ModuleType("graphc_staleness")
        made.factor = factor
        sys.modules[made.__name__] = made

    def program(x: Any) -> Any:
        import graphc_staleness  # pyright: ignore[reportMissingImports]

        return x * cast("Any", graphc_staleness).factor

    module(2.0)
    return program, lambda: module(3.0)


@for_kind(WORLD, "`__annotations__` of a function", "documented")
def _() -> Made:
    def named(x: int) -> None: ...

    return lambda x: x * len(named.__annotations__), lambda: named.__annotations__.clear()


@for_kind(WORLD, "`sys.argv`, as other objects of libraries' modules", "documented")
def _() -> Made:
    given = [*sys.argv]

    def change() -> None:
        sys.argv[:] = given

    sys.argv.append("x")
    return lambda x: x * len(sys.argv), change


@for_kind(WORLD, "`Class.__subclasses__()`", "documented")
def _() -> Made:
    base, kept = type("Base", (), {}), list[type]()
    return lambda x: x * (1.0 + len(base.__subclasses__())), lambda: kept.append(type("Kind", (base,), {}))


@for_kind(WORLD, "whether an object has what a `runtime_checkable` protocol asks for", "documented")
def _() -> Made:
    value = type("Kind", (), {})()
    return lambda x: x * (3.0 if isinstance(value, _HasFactor) else 2.0), lambda: setattr(value, "factor", 2.0)


@for_kind(WORLD, "`flags` of a NumPy array", "documented")
def _() -> Made:
    value = np.ones(2)
    return lambda x: x * (2.0 if value.flags.writeable else 3.0), lambda: value.setflags(write=False)


@for_kind(WORLD, "a class that is registered with an `abc.ABC`", "documented")
def _() -> Made:
    class Kind(abc.ABC):  # noqa: B024
        pass

    value = type("Other", (), {})()
    return lambda x: x * (3.0 if isinstance(value, Kind) else 2.0), lambda: Kind.register(type(value))


# --- printed text


@for_kind(PRINTING, "`print(..., file=buffer)` of what is known, into a buffer that the function makes", "followed")
def _() -> Made:
    def program(x: Any) -> Any:
        buffer = io.StringIO()
        print("abc", file=buffer)
        return x * len(buffer.getvalue())

    return program, lambda: None


@for_kind(PRINTING, "`redirect_stdout` into a buffer that the function makes", "followed")
def _() -> Made:
    def program(x: Any) -> Any:
        with contextlib.redirect_stdout(io.StringIO()) as buffer:
            print("abc")
        return x * len(buffer.getvalue())

    return program, lambda: None


@for_kind(PRINTING, "`print(tensor, file=buffer)` into a buffer that the function makes", "refused")
def _() -> Made:
    def program(x: Any) -> Any:
        buffer = io.StringIO()
        print(x, file=buffer)
        return x * len(buffer.getvalue())

    return program, lambda: None


@for_kind(PRINTING, "a buffer from outside, read after `print(..., file=buffer)`", "refused")
def _() -> Made:
    buffer = io.StringIO()

    def program(x: Any) -> Any:
        print("abc", file=buffer)
        return x * len(buffer.getvalue())

    return program, lambda: None
