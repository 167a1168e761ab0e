"""Comparisons of numbers that depend on tensors with others, which the dtype of the tensor may not hold.

``i < 7.000000000000001`` holds for 7, but not if both are rounded to 32 bits. So the other number is replaced
by the nearest one of the dtype for which the comparison says the same.
"""

from __future__ import annotations

import math
import sys
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.values.number import SymbolicNumber, is_whole, number
from graphc.compiler.autograph.values.spans import HIGHEST, LOWEST
from graphc.compiler.base.errors import GraphcError, OutOfRangeError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, Tensor, apply, kind_of_dtype
from graphc.compiler.ir import OPS, Attrs

_BELOW = ("less", "greater_equal")
"""Comparisons that ask if a number lies below another; they say the same of the next number of the dtype."""


def compare_exactly(op: str, tensor: Tensor, number: float) -> Any:
    """Compares a number to an int or float as Python does; returns a boolean scalar, or a bool where none is needed."""
    if tensor.dtype.kind == "i":
        return _compare_int(op, tensor, number)
    if tensor.dtype.kind == "f" and (isinstance(number, int) or math.isfinite(number)):
        return _compare_float(op, tensor, number)
    return apply(OPS[op], (tensor, number))


def _compare_int(op: str, tensor: Tensor, number: float) -> Any:
    if math.isnan(number):
        return op == "not_equal"
    # JAX refuses an int that the dtype does not hold; Python compares it.
    limits = np.iinfo(tensor.dtype)
    if number > limits.max:
        return op in ("less", "less_equal", "not_equal")
    if number < limits.min:
        return op in ("greater", "greater_equal", "not_equal")
    whole = math.ceil(number) if op in _BELOW else math.floor(number)  # i < 2.5 is i < 3, i <= 2.5 is i <= 2
    if whole != number and op in ("equal", "not_equal"):
        return op == "not_equal"
    return apply(OPS[op], (tensor, whole))


def _compare_float(op: str, tensor: Tensor, number: float) -> Any:
    kind = tensor.dtype.type
    with np.errstate(over="ignore"):  # infinity stands for what passes the largest number
        # An int may pass even what Python's floats hold.
        small = abs(number) <= sys.float_info.max
        nearest: Any = kind(number if small else math.inf if number > 0 else -math.inf)
        if float(nearest) != number and op in ("equal", "not_equal"):
            return op == "not_equal"
        # The rounded number is on the wrong side: a tensor that is equal to it may still lie below the number.
        if op in _BELOW and float(nearest) < number:
            nearest = np.nextafter(nearest, kind(np.inf))
        elif op not in _BELOW and float(nearest) > number:
            nearest = np.nextafter(nearest, kind(-np.inf))
    tiny = float(np.finfo(kind).tiny)  # XLA takes smaller numbers for zero
    return apply(OPS[op], (tensor, math.copysign(tiny, nearest) if 0 < abs(nearest) < tiny else float(nearest)))


def compare_mixed(op: str, whole: Tensor, real: Tensor) -> Any:
    """Returns whether an int compares to a float, as Python says, which rounds neither; both depend on tensors."""
    if op == "not_equal":  # so that it holds for NaN
        return apply(OPS["logical_not"], (compare_mixed("equal", whole, real),))
    limit = -float(np.iinfo(whole.dtype).min)  # a power of two, which a float holds; the largest int it would round
    rounded = apply(OPS["ceil" if op in _BELOW else "floor"], (real,))
    above, below = apply(OPS["greater_equal"], (rounded, -limit)), apply(OPS["less"], (rounded, limit))
    fits = apply(OPS["logical_and"], (above, below))
    # The cast of a float that the int's dtype does not hold has no defined result.
    near = apply(OPS["astype"], (apply(OPS["where"], (fits, rounded, 0.0)),), Attrs(dtype=whole.dtype))
    result = apply(OPS["logical_and"], (fits, apply(OPS[op], (whole, near))))
    if op == "equal":
        return apply(OPS["logical_and"], (result, apply(OPS["equal"], (rounded, real))))
    # A float beyond all ints is above each of them or below; NaN is neither.
    beyond = ("greater_equal", limit) if op in ("less", "less_equal") else ("less", -limit)
    return apply(OPS["logical_or"], (result, apply(OPS[beyond[0]], (rounded, beyond[1]))))


# The int that a tensor's element is, which must lie within the 32 bits that compiled code has for Python's ints.
#
# That holds where there are 64-bit types too: such an int is held in 64 bits then, so that it meets tensors as in plain
# Python, but what is known of its bounds, and checked, is the same.

_FITTING = ("argmax", "argmin", "argsort", "count_nonzero")
"""Ops that give places and counts: no tensor has so many elements that 32 bits do not hold them."""


def whole_number(value: SymbolicTensor) -> SymbolicNumber:
    """Returns ``int(value)`` of a real element or number; the run raises for what is no int, or none of 32 bits."""
    if not _fits(value):
        _check(value)
    return number(value, int)


def _fits(value: SymbolicTensor) -> bool:
    if is_whole(value):
        return True
    kind, size = kind_of_dtype(value.dtype), value.dtype.itemsize
    node = value.raw.node
    return kind == "b" or (
        # uint32 needs a bit more than int32 has.
        kind in "iu" and (size + (kind == "u") <= 4 or (node is not None and node.op.name in _FITTING))
    )


def _check(value: SymbolicTensor) -> None:
    from graphc.compiler.autograph.constructs.branches.logic import require, unless

    if value.shape:
        value = cast("SymbolicTensor", apply(OPS["reshape"], (value,), Attrs(shape=())))
    if value.dtype.kind == "u":
        require(apply(OPS["less_equal"], (value, HIGHEST)), _too_large)
        return
    if value.dtype.kind == "i":
        within = [apply(OPS["greater_equal"], (value, LOWEST)), apply(OPS["less_equal"], (value, HIGHEST))]
        require(FUNCTIONS["logical_and"](*within), _too_large)
        return

    if value.dtype.itemsize == 1:  # some of them have no infinity that 2**31 could become
        value = cast("SymbolicTensor", FUNCTIONS["astype"](value, "float32"))

    def fail() -> None:
        require(value == value, lambda: ValueError("cannot convert float NaN to integer"))
        require(abs(value) != float("inf"), lambda: OverflowError("cannot convert float infinity to integer"))
        require(False, _too_large)

    # One test for all good numbers; only where it fails is it asked which error it is.
    fits = apply(OPS["less"], (abs(value), -float(LOWEST)))
    unless(fits, fail)


def _too_large() -> GraphcError:
    return OutOfRangeError("int() of a number beyond 32 bits, which compiled code does not hold; keep it a tensor")
