"""Cases of :mod:`.staleness`: what code reads that is called as it is, and what it asks of the world."""

from __future__ import annotations

import contextlib
import datetime
import functools
import os
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import jax.numpy as jnp
import numpy as np

import graphc as gx
from tests.compiler.function.staleness import Made, for_kind

UNCONVERTED = "code that is not converted"


@for_kind(UNCONVERTED, "attributes of a `contextlib.ContextDecorator` around a function", "followed")
def _() -> Made:
    class Scaled(contextlib.ContextDecorator):
        def __init__(self) -> None:
            self.factor = 2.0

        def __enter__(self) -> None:
            factors.append(self.factor)

        def __exit__(self, *exception: object) -> None:
            factors.pop()

    factors, scaled = [1.0], Scaled()

    @scaled
    def inside(x: Any) -> Any:
        return x * factors[-1]

    return lambda x: inside(x), lambda: setattr(scaled, "factor", 3.0)


class _Layer:
    def __init__(self) -> None:
        self.weight = jnp.ones(2)

    def __call__(self, x: Any) -> Any:
        return x * self.weight


class _Model(_Layer):
    def __init__(self) -> None:
        self.first = _Layer()
        self.mask: Any = None

    def __call__(self, x: Any) -> Any:
        x = self.first(x)
        return x if self.mask is None else x * self.mask


@gx.do_not_convert
def _as_it_is(x: Any) -> Any:
    return _models[0](x)


_models = [_Model()]


@for_kind(UNCONVERTED, "an attribute of an object that a called object calls", "followed", told=True)
def _() -> Made:
    _models[0] = _Model()
    return lambda x: _as_it_is(x), lambda: setattr(_models[0].first, "weight", jnp.full(2, 3.0))


@for_kind(UNCONVERTED, "an attribute of a called object that was None", "followed", told=True)
def _() -> Made:
    _models[0] = _Model()
    return lambda x: _as_it_is(x), lambda: setattr(_models[0], "mask", jnp.full(2, 3.0))


_UNCONVERTED_STATE: Any = types.SimpleNamespace(name="rate", rate=2.0, draws=np.random.default_rng(0))
_ITEMS = iter(range(9))


@gx.do_not_convert
def _by_text(x: Any) -> Any:
    return x * getattr(_UNCONVERTED_STATE, _UNCONVERTED_STATE.name) * getattr(_UNCONVERTED_STATE, "more", 1.0)


@gx.do_not_convert
def _imports(x: Any) -> Any:
    import graphc_unconverted  # pyright: ignore[reportMissingImports]

    return x * cast("Any", graphc_unconverted).rate


def _module_with(rate: float) -> None:
    made: Any = types.ModuleType("graphc_unconverted")
    made.rate = rate
    sys.modules[made.__name__] = made


@for_kind(UNCONVERTED, "`getattr(object, name)`", "followed", told=True)
def _() -> Made:
    _UNCONVERTED_STATE.rate = 2.0
    return lambda x: _by_text(x), lambda: setattr(_UNCONVERTED_STATE, "rate", 3.0)


@for_kind(UNCONVERTED, "`getattr(object, name, default)` of an attribute that is set later", "followed", told=True)
def _() -> Made:
    vars(_UNCONVERTED_STATE).pop("more", None)
    return lambda x: _by_text(x), lambda: setattr(_UNCONVERTED_STATE, "more", 3.0)


@for_kind(UNCONVERTED, "an attribute of a module that it imports", "followed", told=True)
def _() -> Made:
    _module_with(2.0)
    return lambda x: _imports(x), lambda: setattr(sys.modules["graphc_unconverted"], "rate", 3.0)


@for_kind(UNCONVERTED, "a module that it imports, replaced in `sys.modules`", "followed", told=True)
def _() -> Made:
    _module_with(2.0)
    return lambda x: _imports(x), lambda: _module_with(3.0)


@for_kind(UNCONVERTED, "an attribute of an object that `numpy.vectorize` calls", "followed")
def _() -> Made:
    class Scaled:
        rate = 2.0

        def __call__(self, value: Any) -> Any:
            return value * self.rate

    each = np.vectorize(Scaled())
    return lambda x: x * each(np.ones(2)), lambda: setattr(Scaled, "rate", 3.0)


_ASKING: dict[str, Callable[[], Any]] = {
    "`time.monotonic()`": lambda: time.monotonic() * 0,
    "`os.environ.get(name)`": lambda: len(os.environ.get("GRAPHC_UNSET", "")),
    "`datetime.datetime.now()`": lambda: datetime.datetime.now().year * 0,
    "a method of a `numpy.random.Generator`": lambda: _UNCONVERTED_STATE.draws.random() * 0,
    "`next` of an iterator": lambda: next(_ITEMS) * 0,
    "`Path.exists()`": lambda: Path(os.devnull).exists() * 0,
}

for _kind, _ask in _ASKING.items():

    def _make(ask: Callable[[], Any] = _ask) -> Made:
        asked = gx.do_not_convert(ask)
        return lambda x: x + asked(), lambda: None

    for_kind(UNCONVERTED, _kind, "warned")(_make)


def _called_for_parts(apply: Callable[[Callable[..., Any], Any], Any]) -> Made:
    factors = [2.0]

    def scaled(part: Any, *_: Any) -> Any:
        return part * factors[0]

    return lambda x: apply(scaled, x), lambda: factors.__setitem__(0, 3.0)


_APPLIED: dict[str, Callable[[Any, Any], Any]] = {
    "what the functions of `gx.piecewise` read": lambda function, x: gx.piecewise(x, [x > 0], [function]),
    "what the function of `gx.apply_along_axis`, `numpy.apply_along_axis` reads": lambda function, x: (
        np.apply_along_axis(function, 0, gx.apply_along_axis(function, 0, gx.stack([x, x])))
    ),
    "what the function of `gx.apply_over_axes` reads": lambda function, x: gx.apply_over_axes(function, x, [0]),
    "what the function of `gx.fromfunction` reads": lambda function, x: x + gx.fromfunction(function, (2,)),
}
for _kind, _apply in _APPLIED.items():
    for_kind(UNCONVERTED, _kind, "followed")(functools.partial(_called_for_parts, _apply))


def _setting(read: Callable[[Any], float]) -> Made:
    factors = [2.0]

    class Setting:
        def __init__(self) -> None:
            self.weight = 1.0

        def __setattr__(self, name: str, value: Any) -> None:
            object.__setattr__(self, name, value * factors[0])

        def __delattr__(self, name: str) -> None:
            object.__setattr__(self, "left", factors[0])
            super().__delattr__(name)

    return lambda x: x * read(Setting()), lambda: factors.__setitem__(0, 3.0)


def _deleted(setting: Any) -> float:
    object.__setattr__(setting, "weight", 1.0)
    del setting.weight
    return setting.left


_WEIGHTS: dict[str, Callable[[Any], float]] = {
    "what `__setattr__` reads": lambda setting: setting.weight,
    "what `__delattr__` reads": _deleted,
}
for _kind, _weight in _WEIGHTS.items():
    for_kind(UNCONVERTED, _kind, "followed")(functools.partial(_setting, _weight))
