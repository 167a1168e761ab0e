"""``gx.lax``: what ``jax.lax`` has, by its names and with its arguments, for tensors."""

# ruff: noqa: F403  __all__ is static in the stub file beside each module of rows

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import jax
from jax.lax import (
    ConvDimensionNumbers,
    GatherDimensionNumbers,
    GatherScatterMode,
    Precision,
    RoundingMethod,
    ScatterDimensionNumbers,
)

import graphc.compiler.autograph as autograph
import graphc.compiler.ops.lax as rows
from graphc.compiler.ops.lax import *

__all__: list[str] = [
    "ConvDimensionNumbers", "GatherDimensionNumbers", "GatherScatterMode", "Precision", "RoundingMethod",
    "ScatterDimensionNumbers", "cond", "conv_dimension_numbers", "fori_loop", "map", "scan", "switch", "while_loop",
]  # fmt: skip
__all__ += rows.__all__

conv_dimension_numbers: Any = cast("Any", jax.lax).conv_dimension_numbers


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """One of two functions, by a condition; :func:`graphc.cond` with the argument names of ``jax.lax``.

    Args:
      pred: a boolean scalar, tensor or Python value.
      true_fun: called with ``operands`` when ``pred`` is true.
      false_fun: called with ``operands`` otherwise.
      *operands: anything.

    Example:
      >>> import graphc as gx
      >>> gx.lax.cond(gx.asarray(True), lambda x: x + 1, lambda x: x - 1, gx.asarray(1)).item()
      2
    """
    return autograph.cond(pred, true_fun, false_fun, *operands)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """One of several functions, by an index that is clamped to their number; :func:`graphc.switch`.

    Args:
      index: an integer scalar, tensor or Python int.
      branches: functions that return the same structure, shapes and dtypes.
      *operands: what the function is called with.

    Example:
      >>> import graphc as gx
      >>> gx.lax.switch(1, [lambda x: x, lambda x: x * 10], gx.asarray(2)).item()
      20
    """
    return autograph.switch(index, branches, *operands)


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any) -> Any:
    """Repeats ``state = body_fun(state)`` while ``cond_fun(state)``; :func:`graphc.while_loop`.

    Args:
      cond_fun: returns a boolean scalar.
      body_fun: returns the next state, of the same structure, shapes and dtypes.
      init_val: the first state: a tensor or a nested structure.

    Example:
      >>> import graphc as gx
      >>> gx.lax.while_loop(lambda x: x < 100, lambda x: x * 2, gx.asarray(3)).item()
      192
    """
    return autograph.while_loop(cond_fun, body_fun, init_val)


def fori_loop(
    lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any, *, unroll: int | bool | None = None
) -> Any:
    """Repeats ``state = body_fun(i, state)`` for ``i`` from ``lower`` to ``upper - 1``; :func:`graphc.fori_loop`.

    Args:
      lower: the first index, an int or an integer scalar.
      upper: one past the last index.
      body_fun: returns the next state, of the same structure, shapes and dtypes.
      init_val: the first state: a tensor or a nested structure.
      unroll: taken for the sake of programs that give it; the compiler chooses.

    Example:
      >>> import graphc as gx
      >>> gx.lax.fori_loop(0, 5, lambda i, total: total + i, gx.asarray(0)).item()
      10
    """
    del unroll
    return autograph.fori_loop(lower, upper, body_fun, init_val)


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]:
    """Carries a state over the rows of arrays and collects a result for each; :func:`graphc.scan`.

    Args:
      f: takes the state and a row of each array in ``xs``; returns the next state and a result.
      init: the first state: a tensor or a nested structure.
      xs: arrays of one length, in a nested structure; None for none.
      length: the number of steps; needed when ``xs`` is None.
      reverse: whether to go from the last row to the first.
      unroll: taken for the sake of programs that give it; the compiler chooses.

    Example:
      >>> import graphc as gx
      >>> last, sums = gx.lax.scan(lambda total, x: (total + x, total), 0.0, gx.asarray([1.0, 2.0, 3.0]))
      >>> last.item(), sums.tolist()
      (6.0, [0.0, 1.0, 3.0])
    """
    del unroll
    return autograph.scan(f, init, xs, length, reverse)


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """Calls a function on each row of arrays, one after the other, and stacks its results.

    Args:
      f: takes a row of each array in ``xs``.
      xs: arrays of one length, in a nested structure.
      batch_size: taken for the sake of programs that give it; it changes no result.

    Example:
      >>> import graphc as gx
      >>> gx.lax.map(lambda x: x * x, gx.asarray([1.0, 2.0, 3.0])).tolist()
      [1.0, 4.0, 9.0]
    """
    del batch_size

    def step(none: Any, x: Any) -> tuple[Any, Any]:
        return none, autograph.call(f)(x)

    return autograph.scan(step, None, xs)[1]


if not TYPE_CHECKING:  # for type checkers a name that is missing is missing

    def __getattr__(name):  # noqa: ANN001, ANN202
        if name.startswith("_") or not callable(getattr(jax.lax, name, None)):
            raise AttributeError(f"module 'graphc.lax' has no attribute {name!r}")
        raise AttributeError(f"graphc.lax has no {name!r}; use JAX's: gx.call_jax(jax.lax.{name}, ...)")
