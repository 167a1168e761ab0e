"""Values that a first call makes and keeps are made anew, as in Python, after a reset or with another owner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphc as gx

_WEIGHT: Any = None
_CACHE: dict[Any, float] = {}


class _Scale:
    def __init__(self, scale: float = 2.0) -> None:
        self.scale, self.weight = scale, None
        self.kept: dict[str, float] = {}


_OWNER = _Scale()


def _attribute(x: Any) -> Any:
    if _OWNER.weight is None:
        _OWNER.weight = _OWNER.scale * 2.0
    return x * _OWNER.weight


def _item(x: Any) -> Any:
    if "weight" not in _OWNER.kept:
        _OWNER.kept["weight"] = _OWNER.scale
    return x * _OWNER.kept["weight"]


def _global(x: Any) -> Any:
    global _WEIGHT
    if _WEIGHT is None:
        _WEIGHT = _OWNER.scale * 3.0
    return x * _WEIGHT


def _cache(x: Any) -> Any:
    if x.shape not in _CACHE:
        _CACHE[x.shape] = _OWNER.scale
    return x * _CACHE[x.shape]


def _reset() -> None:
    global _WEIGHT
    _WEIGHT, _OWNER.weight = None, None
    _OWNER.kept.clear()
    _CACHE.clear()


@pytest.mark.parametrize("program", [_attribute, _item, _global, _cache])
def test_what_the_first_call_keeps_is_made_anew(program: Callable[[Any], Any]) -> None:
    def results(call: Callable[[Any], Any]) -> list[float]:
        global _OWNER
        _OWNER = _Scale()
        _reset()
        found: list[float] = []
        for change in ("", "scale", "reset", "scale reset", "owner", "owner reset", ""):
            if "scale" in change:
                _OWNER.scale += 1.0
            if "owner" in change:
                _OWNER = _Scale(_OWNER.scale + 10.0)
            if "reset" in change:
                _reset()
            found.append(float(call(gx.asarray(1.0))))
        return found

    assert results(gx.function(program, side_effects="ignore", on_retrace="ignore")) == results(program)
