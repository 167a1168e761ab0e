"""Making a program from a function: time against JAX and Python, and time against the number of operations."""

from __future__ import annotations

import argparse
import colorsys
import gc
import inspect
import textwrap
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Row, Sample
from graphc.compiler.autograph import convert
from graphc.compiler.base.errors import UnsupportedSyntaxError

__all__ = ["ROWS"]

_OPS_PER_ITEM = 4


def _chain(library: ModuleType, num_ops: int) -> Callable[[Any], Any]:
    """A new function of ``num_ops`` operations in a row; a loop over a tuple is unrolled by graphc as by JAX."""
    items = (None,) * (num_ops // _OPS_PER_ITEM)

    def function(x: Any) -> Any:
        for _ in items:
            x = library.sin(x * 0.9 + 0.1) - x
        return x

    return function


def _graphc(num_ops: int, until: Literal["trace", "lower"]) -> Callable[[], Sample]:
    x = gx.ones((8,))

    def fresh() -> Sample:
        function = gx.function(_chain(gx, num_ops), unroll=True)
        gc.collect()
        return (lambda: function.trace(x)) if until == "trace" else (lambda: function.lower(x))

    return fresh


def _jax(num_ops: int) -> Callable[[], Sample]:
    x = jnp.ones((8,))

    def fresh() -> Sample:
        function = jax.jit(_chain(jnp, num_ops))
        gc.collect()
        return lambda: function.lower(x)

    return fresh


def _values(num_ops: int) -> tuple[Any, Any]:
    given = np.linspace(-1, 1, 8, dtype=np.float32)
    return gx.function(_chain(gx, num_ops), unroll=True)(gx.asarray(given)), jax.jit(_chain(jnp, num_ops))(given)


def _against_jax(quick: bool) -> Duel:
    num_ops = 40 if quick else 4000
    return Duel(
        Contender("graphc, trace and lower", _graphc(num_ops, "lower"), num_ops),
        Contender("jax.jit, trace and lower", _jax(num_ops), num_ops),
        lambda: [_values(num_ops)],
    )


def _linearity(until: Literal["trace", "lower"]) -> Callable[[bool], Duel]:
    def prepare(quick: bool) -> Duel:
        few, many = (40, 80) if quick else (4000, 50_000)
        return Duel(
            Contender(f"graphc, {many:,} ops", _graphc(many, until), many),
            Contender(f"graphc, {few:,} ops", _graphc(few, until), few),
            lambda: [_values(few)],
        )

    return prepare


def _functions(module: ModuleType) -> list[FunctionType]:
    """The functions and methods of a module, with code objects of their own, for which nothing was converted before."""
    holders = [module, *(kind for kind in vars(module).values() if inspect.isclass(kind))]
    found = [value for holder in holders for value in vars(holder).values() if isinstance(value, FunctionType)]
    return [_copy(value) for value in found if value.__code__.co_filename == module.__file__]


def _copy(function: FunctionType) -> FunctionType:
    code: CodeType = function.__code__.replace()
    return FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)


def _converted(function: FunctionType) -> FunctionType | None:
    try:
        return convert(function)
    except UnsupportedSyntaxError:  # a generator
        return None


def _conversion(quick: bool) -> Duel:
    modules = (colorsys,) if quick else (argparse, colorsys, textwrap)
    lines = [inspect.getsourcelines(function)[0] for module in modules for function in _functions(module)]
    hundreds = max(sum(map(len, lines)) // 100, 1)

    def fresh() -> Sample:
        functions = [function for module in modules for function in _functions(module)]
        gc.collect()
        return lambda: [_converted(function) for function in functions] and None

    def compiling() -> Sample:
        texts = [textwrap.dedent("".join(part)) for part in lines]
        return lambda: [compile(text, "text", "exec") for text in texts] and None

    def check() -> list[tuple[Any, Any]]:
        colour = (0.2, 0.4, 0.4)
        function = next(function for function in _functions(colorsys) if function.__name__ == "rgb_to_hsv")
        return [(np.asarray(convert(function)(*colour)), np.asarray(colorsys.rgb_to_hsv(*colour)))]

    return Duel(
        Contender("graphc, rewriting", lambda: fresh(), hundreds),
        Contender("Python, compiling", lambda: compiling(), hundreds),
        check,
    )


ROWS = (
    Row("trace-4000", "4,000 ops, traced and lowered, per op", 3.0, _against_jax, rounds=20),
    Row("convert", "100 lines of Python, rewritten", 25.0, _conversion, rounds=20),
    Row("trace-linear", "50,000 ops against 4,000, traced, per op", 1.25, _linearity("trace"), rounds=5),
    Row("lower-linear", "50,000 ops against 4,000, traced and lowered, per op", 1.25, _linearity("lower"), rounds=5),
)
