"""Functions of the module ``math`` on tensors of one element, and on numbers that depend on tensors."""

from __future__ import annotations

import math
from typing import Any

from graphc.compiler.base.errors import UnimplementedError
from tests.conformance.harness import f, i, program

MATH = "functions of the module `math`"
REFUSED = "functions of `math` without a compiled version"

_DISTINCT = [(f(0.5),), (f(2.25),), (f(-1.5),), (f(0.0),), (f(float("inf")),), (f(float("nan")),)]


def _each(*names: str) -> Any:
    """A program of one function, for each of these names."""

    def add(fn: Any) -> Any:
        for name in names:
            program(f"math/{name} of a tensor", inputs=_DISTINCT, construct=MATH)(fn(getattr(math, name)))
        return fn

    return add


@_each("sqrt", "log", "log2", "log10", "log1p", "exp", "expm1", "sin", "acos", "acosh", "atanh", "tanh", "gamma")
@_each("lgamma", "erf", "fabs", "cbrt", "isnan", "isinf", "isfinite", "floor", "ceil", "degrees")
def _of_one(function: Any) -> Any:
    def call(x: Any) -> Any:
        return function(x)

    return call


@program(
    "math/functions of two numbers",
    inputs=[(f(2.0), f(3.0)), (f(-2.0), f(3.0)), (f(5.0), f(-0.5))],
    construct=MATH,
    python_numbers=True,
)
def of_two(x: Any, y: Any) -> Any:
    root = math.pow(abs(x), y) + math.atan2(x, y) + math.fmod(x, y)
    return root, math.copysign(1.5, y), math.hypot(x, y, 1)


@program(
    "math/errors of two numbers",
    inputs=[(f(-2.0), f(0.5)), (f(0.0), f(-1.0)), (f(10.0), f(400.0)), (f(-8.0), f(2.0))],
    construct=MATH,
)
def power_errors(x: Any, y: Any) -> Any:
    return math.pow(x, y)


@program(
    "math/logarithms that are whole",
    inputs=[(f(8.0),), (f(1024.0),), (f(1000.0),), (f(0.25),), (f(5.0),), (f(-1.0),)],
    construct=MATH,
)
def whole_logarithms(x: Any) -> Any:
    return int(math.log2(x)), int(math.log10(x)), int(math.log(x, 2)), math.log(3.0, x)  # noqa: FURB163


@program("math/in a loop and a branch", inputs=[(f(3.0),), (f(-9.0),)], construct=MATH, python_numbers=True)
def in_a_loop(x: Any) -> Any:
    d, n = float(x), 0
    while math.sqrt(abs(d)) > 0.5:
        d = d * math.exp(-d / 10) if d > 0 else d / 2
        n += 1
    return n, d, math.isnan(d), math.floor(d), math.trunc(d)


@program("math/of the index of a loop", inputs=[(f(3.0),), (f(0.0),)], construct=MATH)
def of_an_index(x: Any) -> Any:
    total = x * 0
    for k in range(12):
        total = total + math.sqrt(k) * x + math.floor(k / 2)
    for k in range(int(x)):
        total = total + math.cos(k)
    return total


@program("math/isclose", inputs=[(f(1.0), f(1.0001)), (f(1.0), f(2.0))], construct=MATH)
def close(x: Any, y: Any) -> Any:
    return math.isclose(x, y, rel_tol=1e-3), math.isclose(x, y, rel_tol=0, abs_tol=0.5)


@program(
    "math/isclose of more digits than there are",
    inputs=[(f(1.0),)],
    construct=REFUSED,
    refused=(UnimplementedError, r"rel_tol=1e-09 .* 32 bits, .*; pass rel_tol=1e-06 or more"),
)
def too_close(x: Any) -> Any:
    return math.isclose(x, 1.0)


@program(
    "math/frexp",
    inputs=[(f(3.0),)],
    construct=REFUSED,
    refused=(UnimplementedError, r"math\.frexp of what depends on tensors.*; write e = math\.floor\(math\.log2"),
)
def no_frexp(x: Any) -> Any:
    return math.frexp(x)


def _refused(name: str, remedy: str, *given: int) -> None:
    @program(
        f"math/{name}",
        inputs=[tuple(map(i, given))],
        construct=REFUSED,
        refused=(UnimplementedError, rf"math\.{name} of what depends on tensors.*; {remedy}"),
    )
    def call(*numbers: Any) -> Any:
        return getattr(math, name)(*numbers)


_refused("comb", r"use gx\.special\.comb", 5, 2)
_refused("perm", r"write a loop over range", 5, 2)
_refused("isqrt", r"write int\(math\.sqrt", 5)
_refused("lcm", r"write abs\(a \* b\) // gcd", 4, 6)
_refused("gcd", r"write a loop", 4, 6)
_refused("factorial", r"use math\.gamma", 4)
_refused("modf", r"use gx\.modf", 4)


@program("math/what frexp's refusal says", inputs=[(f(3.0),), (f(-8.0),)], construct=MATH)
def frexp_by_hand(x: Any) -> Any:
    e = math.floor(math.log2(abs(x))) + 1
    return x / 2.0**e, e, x * 2.0 ** int(x), x - 2 * round(x / 2)
