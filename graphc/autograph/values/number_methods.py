"""Methods and attributes that Python's numbers have, of numbers that depend on tensors: ``n.bit_length()``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from graphc.autograph.values.number import SymbolicNumber, number
from graphc.core import FUNCTIONS

__all__ = ["define_methods"]


def _method(compute: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Returns a method without arguments."""
    return lambda owner: partial(compute, owner)


def _is_integer(value: Any) -> Any:
    if value.kind is not float:
        return True
    whole = FUNCTIONS["logical_and"](FUNCTIONS["floor"](value) == value, FUNCTIONS["isfinite"](value))
    return SymbolicNumber(whole, bool)


def _real(value: Any) -> Any:
    if value.kind is complex:
        return number(FUNCTIONS["real"](value), float)
    return value if value.kind is not bool else number(value, int)  # True.real is 1


def _imag(value: Any) -> Any:
    if value.kind is complex:
        return number(FUNCTIONS["imag"](value), float)
    return 0.0 if value.kind is float else 0  # (1).imag is an int, (1.0).imag a float


def _itself(value: Any) -> Any:
    return value


def _conjugate(value: Any) -> Any:
    return number(FUNCTIONS["conj"](value), complex) if value.kind is complex else value


def define_methods() -> None:
    """Gives numbers that depend on tensors the attributes of Python's numbers."""
    for name, get in (("real", _real), ("imag", _imag)):
        setattr(SymbolicNumber, name, property(get))
    SymbolicNumber.methods.update(
        {
            "conjugate": _method(_conjugate),
            "denominator": lambda owner: 1,  # of an int: a float has none
            "is_integer": _method(_is_integer),
            "numerator": _itself,
        }
    )
