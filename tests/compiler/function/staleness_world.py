"""Cases of :mod:`tests.compiler.function.staleness`: the process and the world, and what is printed and read again."""

from __future__ import annotations

import abc
import argparse
import configparser
import contextlib
import ctypes
import datetime
import decimal
import functools
import gc
import importlib
import inspect
import io
import logging
import mmap
import os
import queue
import random
import sys
import threading
import time
import types
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
import pytest

import graphc as gx
from tests.compiler.function.staleness import Made, for_kind

WORLD, PRINTING = "the process and the world", "printed text"
_NAME = "NAME_OF_A_STALENESS_TEST"  # none that starts with JAX_ or GRAPHC_: those are read by imports


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
    "`os.path.expandvars()`, `Path.resolve()`": lambda: (
        len(os.path.expandvars("$HOME")) + len(str(Path("a").resolve()))
    ),
    "`random.getstate()`, `numpy.random.get_state()`": lambda: random.getstate()[0] + np.random.get_state()[2],
    "`gc.isenabled()`, `signal.getsignal()`, `linecache`": gc.isenabled,
    "`inspect.signature()`, `typing.get_type_hints()`": lambda: len(inspect.signature(_world).parameters),
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
    "what a library's object holds in C, by methods, items, length: `mmap`, `sqlite3`, a proxy": (
        lambda: mmap.mmap(-1, 8), lambda memory: memory[0] + 1.0, lambda memory: memory.write(b"a"),
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


class _Fields(ctypes.Structure):
    _fields_ = [("factor", ctypes.c_double)]


class _Checked(type):
    answer = True

    def __instancecheck__(cls, instance: Any) -> bool:
        return _Checked.answer


class _Any(metaclass=_Checked):
    pass


_KEPT: list[Any] = []


def _kept() -> Any:
    _KEPT[:] = [type("Kind", (), {})()]
    return _KEPT[0]


def _named() -> Any:
    def named() -> None:
        "ab"

    return named


def _imported(factor: float) -> Any:
    made: Any = types.ModuleType("graphc_staleness")
    made.factor = factor
    sys.modules[made.__name__] = made
    return made


_FOLLOWED: dict[str, tuple[Callable[[], Any], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "numbers, structures and arrays of `ctypes`, `multiprocessing.Value`": (
        lambda: (ctypes.c_double(2.0), _Fields(2.0), (ctypes.c_int * 2)(2, 3)),
        lambda held: held[0].value + held[1].factor + held[2][0] + sum(held[2]),
        lambda held: (setattr(held[0], "value", 3.0), setattr(held[1], "factor", 5.0), held[2].__setitem__(0, 7)),
    ),
    "`args`, `__cause__` and the text of an exception": (
        lambda: ValueError("ab"), lambda error: len(error.args[0]) + len(str(error)) + (error.__cause__ is None),
        lambda error: setattr(error, "args", ("abcd",)),
    ),
    "`__name__`, `__qualname__`, `__doc__` and `__dict__` of a function": (
        _named, lambda named: len(named.__name__) + len(named.__qualname__) + len(named.__doc__) + len(vars(named)),
        lambda named: setattr(named, "__name__", "another"),
    ),
    "a setting, read of `gx.config` or `jax.config`": (
        lambda: setattr(gx.config, "warn_retraces", 3), lambda _: gx.config.warn_retraces,
        lambda _: setattr(gx.config, "warn_retraces", 4),
    ),
    "`name in sys.modules`, `sys.modules[name]`, `importlib.import_module(name)`": (
        lambda: _imported(2.0), lambda held: importlib.import_module(held.__name__).factor + ("a" in sys.modules),
        lambda held: _imported(3.0),
    ),
    "what a slot or property of a library's object holds: `maxlen`, `gi_frame`, `Thread.name`": (
        lambda: threading.Thread(name="ab"), lambda thread: len(thread.name),
        lambda thread: setattr(thread, "name", "c"),
    ),
    "the object of a bound method written in C, such as `table.get`": (
        lambda: {"factor": 2.0}.get, lambda get: get("factor"), lambda get: get.__self__.update(factor=3.0),
    ),
    "`callable(o)`, `isinstance` by a metaclass's `__instancecheck__`, `__bases__`": (
        lambda: setattr(_Checked, "answer", True), lambda _: 2.0 if isinstance(1, _Any) else 3.0,
        lambda _: setattr(_Checked, "answer", False),
    ),
    "the fields of a `SimpleNamespace`, by `==` and `repr`": (
        lambda: types.SimpleNamespace(a=1), lambda space: len(repr(space)) + (space == types.SimpleNamespace(a=1)),
        lambda space: setattr(space, "a", 1000),
    ),
    "whether a `threading.local` has an attribute": (
        threading.local, lambda local: getattr(local, "factor", 2.0), lambda local: setattr(local, "factor", 3.0),
    ),
    "a value of a `WeakValueDictionary` that dies": (
        lambda: weakref.WeakValueDictionary({"a": _kept()}), lambda held: 1.0 + len(held), lambda _: _KEPT.clear(),
    ),
    "`vars(module)`, `module.__dict__`": (
        lambda: _imported(2.0), lambda module: vars(module)["factor"], lambda module: setattr(module, "factor", 3.0),
    ),
}  # fmt: skip

for _kind, _parts in _FOLLOWED.items():
    for_kind(WORLD, _kind, "followed")(functools.partial(_held, *_parts))


@for_kind(WORLD, "the contents of a file, by `open`", "warned")
def _() -> Made:
    def program(x: Any) -> Any:
        with open(os.devnull) as file:
            return x + len(file.read())

    return program, lambda: None


@for_kind(WORLD, "the context of `decimal` arithmetic", "followed")
def _() -> Made:
    def program(x: Any) -> Any:
        return x * float(decimal.Decimal(1) / 3)

    return program, lambda: setattr(decimal.getcontext(), "prec", 3)


@for_kind(WORLD, "whether the object of a weak reference still exists", "followed")
def _() -> Made:
    kept = [type("Kind", (), {})()]
    reference = weakref.ref(kept[0])
    return lambda x: x * (3.0 if reference() is None else 2.0), kept.clear


@for_kind(WORLD, "an attribute that the program adds to a library's module", "followed")
def _() -> Made:
    library: Any = np
    library.graphc_factor = 2.0
    return lambda x: x * library.graphc_factor, lambda: setattr(library, "graphc_factor", 3.0)


@for_kind(WORLD, "a module that the program replaces in `sys.modules`", "followed")
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


@for_kind(WORLD, "`__annotations__` of a function", "followed")
def _() -> Made:
    def named(x: int) -> None: ...

    return lambda x: x * len(named.__annotations__), lambda: named.__annotations__.clear()


@for_kind(WORLD, "`sys.argv`, like other objects of libraries' modules", "followed")
def _() -> Made:
    given = [*sys.argv]

    def change() -> None:
        sys.argv[:] = given

    sys.argv.append("x")
    return lambda x: x * len(sys.argv), change


@for_kind(WORLD, "`Class.__subclasses__()`", "warned")
def _() -> Made:
    base, kept = type("Base", (), {}), list[type]()
    return lambda x: x * (1.0 + len(base.__subclasses__())), lambda: kept.append(type("Kind", (base,), {}))


@for_kind(WORLD, "whether an object satisfies a `runtime_checkable` protocol", "followed")
def _() -> Made:
    value = type("Kind", (), {})()
    return lambda x: x * (3.0 if isinstance(value, _HasFactor) else 2.0), lambda: setattr(value, "factor", 2.0)


@for_kind(WORLD, "`flags` of a NumPy array", "followed")
def _() -> Made:
    value = np.ones(2)
    return lambda x: x * (2.0 if value.flags.writeable else 3.0), lambda: value.setflags(write=False)


@for_kind(WORLD, "a class that is registered with an `abc.ABC`", "followed")
def _() -> Made:
    class Kind(abc.ABC):  # noqa: B024
        pass

    value = type("Other", (), {})()
    return lambda x: x * (3.0 if isinstance(value, Kind) else 2.0), lambda: Kind.register(type(value))


@for_kind(WORLD, "an attribute that the program adds to a library's class", "followed")
def _() -> Made:
    library: Any = argparse.Namespace
    library.graphc_factor = 2.0
    return lambda x: x * library.graphc_factor, lambda: setattr(library, "graphc_factor", 3.0)


@for_kind(WORLD, "settings that NumPy's printing uses (`set_printoptions`)", "followed")
def _() -> Made:
    value = np.array([1 / 3])
    return lambda x: x * len(repr(value)), lambda: np.set_printoptions(precision=2)


@for_kind(WORLD, "settings that NumPy's arithmetic uses (`seterr`)", "documented")
def _() -> Made:
    one, before = np.ones(1), np.geterr()

    def program(x: Any) -> Any:
        try:
            return x * (2.0 if np.isinf(one / 0.0)[0] else 1.0)
        except FloatingPointError:
            return x * 3.0

    def change() -> None:
        np.seterr(all="raise")
        with pytest.raises(FloatingPointError):
            one / 0.0
        np.seterr(**before)

    np.seterr(divide="ignore")
    return program, change


@for_kind(WORLD, "the C state of a library's object (`numpy.frompyfunc`), private maps of an `Enum`", "documented")
def _() -> Made:
    held = [2.0]
    made = np.frompyfunc(lambda a: a * held[0], 1, 1)
    return lambda x: x * float(made(1.0)), lambda: held.__setitem__(0, 3.0)


# --- printed text


@for_kind(PRINTING, "`print(..., file=buffer)` of known values, into a buffer that the function makes", "followed")
def _() -> Made:
    def program(x: Any) -> Any:
        buffer = io.StringIO()
        print("abc", file=buffer)
        return x * len(buffer.getvalue())

    return program, lambda: None


@for_kind(PRINTING, "`redirect_stdout` in the function", "refused")
def _() -> Made:
    def program(x: Any) -> Any:
        with contextlib.redirect_stdout(io.StringIO()) as buffer:
            print("abc")
        return x * len(buffer.getvalue())

    return program, lambda: None


@for_kind(PRINTING, "`print(tensor, file=buffer)`", "refused")
def _() -> Made:
    def program(x: Any) -> Any:
        buffer = io.StringIO()
        print(x, file=buffer)
        return x * len(buffer.getvalue())

    return program, lambda: None


@for_kind(PRINTING, "`print(..., file=buffer)` of known values, into a buffer from outside", "warned")
def _() -> Made:
    buffer = io.StringIO()

    def program(x: Any) -> Any:
        print("abc", file=buffer)
        return x * len(buffer.getvalue())

    return program, lambda: None
