"""The int that a tensor's element is, which must lie within the 32 bits that compiled code has for Python's ints.

That holds where there are 64-bit types too: such an int is held in 64 bits then, so that it meets tensors as in plain
Python, but what is known of its bounds, and checked, is the same.
"""

from __future__ import annotations

from typing import cast

from graphc.compiler.autograph.values.control import control
from graphc.compiler.autograph.values.number import SymbolicNumber, is_whole, number
from graphc.compiler.autograph.values.spans import HIGHEST, LOWEST
from graphc.compiler.base.errors import GraphcError, OutOfRangeError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, apply
from graphc.compiler.ir import OPS, Attrs

__all__ = ["whole_number"]

_FITTING = ("argmax", "argmin", "argsort", "count_nonzero")
"""Ops that give places and counts: no tensor has so many elements that 32 bits do not hold them."""


def whole_number(value: SymbolicTensor) -> SymbolicNumber:
    """Returns what ``int(value)`` is; when the program runs, it raises for what is no int, or none that 32 bits hold.

    Args:
      value: a real tensor of one element, or a number.
    """
    if not _fits(value):
        _check(value)
    return number(value, int)


def _fits(value: SymbolicTensor) -> bool:
    if is_whole(value):
        return True
    kind, size = value.dtype.kind, value.dtype.itemsize
    node = value.raw.node
    return kind == "b" or (
        # uint32 needs a bit more than int32 has.
        kind in "iu" and (size + (kind == "u") <= 4 or (node is not None and node.op.name in _FITTING))
    )


def _check(value: SymbolicTensor) -> None:
    if value.shape:
        value = cast("SymbolicTensor", apply(OPS["reshape"], (value,), Attrs(shape=())))
    if value.dtype.kind == "u":
        control.require(apply(OPS["less_equal"], (value, HIGHEST)), _too_large)
        return
    if value.dtype.kind == "i":
        within = [apply(OPS["greater_equal"], (value, LOWEST)), apply(OPS["less_equal"], (value, HIGHEST))]
        control.require(FUNCTIONS["logical_and"](*within), _too_large)
        return

    def fail() -> None:
        control.require(value == value, lambda: ValueError("cannot convert float NaN to integer"))
        control.require(abs(value) != float("inf"), lambda: OverflowError("cannot convert float infinity to integer"))
        control.require(False, _too_large)

    # One test for all good numbers; only where it fails is it asked which error it is.
    fits = apply(OPS["less"], (abs(value), -float(LOWEST)))
    control.unless(fits, fail)


def _too_large() -> GraphcError:
    return OutOfRangeError("int() of a number beyond 32 bits, which compiled code does not hold; keep it a tensor")
