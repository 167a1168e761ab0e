"""Control flow by function calls: ``cond``, ``switch``, ``while_loop``, ``fori_loop``, ``scan``.

They run the user's functions in eager mode as plain Python, and build nodes while a function is traced; Python
statements in converted code come to the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from graphc.compiler.autograph.operators import (
    call,
    for_stmt,
    if_exp,
    loop_options,
    trace_scan,
    trace_switch,
    while_stmt,
)
from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, Tensor, operand, shorten
from graphc.compiler.ops import sized
from graphc.compiler.tracing import context


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], *operands: Any) -> Any:
    """One of two functions, by a condition (``jax.lax.cond``, ``tf.cond``).

    Args:
      pred: a boolean scalar, tensor or Python value.
      true_fn: called with ``operands`` when ``pred`` is true.
      false_fn: called with ``operands`` otherwise; returns the same structure, shapes and dtypes.
      *operands: anything.

    Returns:
      What the chosen function returns.

    Raises:
      InvalidArgumentError: while tracing: the results differ in structure or shape.
      InvalidTypeError: while tracing: they differ in dtype.

    Example:
      >>> import graphc as gx
      >>> gx.cond(gx.asarray(True), lambda x: x + 1, lambda x: x - 1, gx.asarray(1)).item()
      2
    """
    try:
        return if_exp(pred, lambda: call(true_fn)(*operands), lambda: call(false_fn)(*operands))
    except Exception as error:
        shorten(error)
        raise


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """One of several functions, by an index that is clamped to their number (``jax.lax.switch``).

    Args:
      index: an integer scalar, tensor or Python int.
      branches: functions that return the same structure, shapes and dtypes.
      *operands: what the function is called with.

    Returns:
      What the chosen function returns.

    Raises:
      InvalidArgumentError: there are no branches, or their results differ in structure or shape.

    Example:
      >>> import graphc as gx
      >>> gx.switch(1, [lambda x: x, lambda x: x * 10], gx.asarray(2)).item()
      20
    """
    if not branches:
        raise InvalidArgumentError("switch: there are no branches").here()
    if isinstance(index, SymbolicTensor):
        return trace_switch(index, [lambda branch=branch: call(branch)(*operands) for branch in branches])
    position = min(max(int(index), 0), len(branches) - 1)
    return call(branches[position])(*operands)


class _Box:
    """A loop's state as the statement operators see it: one name."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def get(self) -> tuple[Any, ...]:
        return (self.value,)

    def set(self, values: tuple[Any, ...]) -> None:
        (self.value,) = values


_NAME = ("the loop's state",)


def while_loop(
    cond_fn: Callable[[Any], Any], body_fn: Callable[[Any], Any], init: Any, max_iterations: int | None = None
) -> Any:
    """Repeats ``state = body_fn(state)`` while ``cond_fn(state)`` (``jax.lax.while_loop``).

    Args:
      cond_fn: returns a boolean scalar.
      body_fn: returns the next state, of the same structure, shapes and dtypes.
      init: the first state: a tensor or a nested structure.
      max_iterations: how often the loop runs at most in compiled code; see :func:`graphc.loop_options`.

    Returns:
      The last state.

    Raises:
      InvalidArgumentError: while tracing: the state changes its structure or a shape.

    Example:
      >>> import graphc as gx
      >>> gx.while_loop(lambda x: x < 100, lambda x: x * 2, gx.asarray(3)).item()
      192
    """
    box = _Box(init)

    def body() -> None:
        loop_options(max_iterations=max_iterations)
        box.value = call(body_fn)(box.value)

    try:
        while_stmt(lambda: call(cond_fn)(box.value), body, box.get, box.set, _NAME)
    except Exception as error:
        shorten(error)
        raise
    return box.value


def fori_loop(lower: Any, upper: Any, body_fn: Callable[[Any, Any], Any], init: Any) -> Any:
    """Repeats ``state = body_fn(i, state)`` for ``i`` from ``lower`` to ``upper - 1`` (``jax.lax.fori_loop``).

    Args:
      lower: the first index, an int or an integer scalar.
      upper: one past the last index.
      body_fn: returns the next state, of the same structure, shapes and dtypes.
      init: the first state: a tensor or a nested structure.

    Returns:
      The last state.

    Example:
      >>> import graphc as gx
      >>> gx.fori_loop(0, 5, lambda i, total: total + i, gx.asarray(0)).item()
      10
    """
    box = _Box(init)

    def body(index: Any) -> None:
        box.value = call(body_fn)(index, box.value)

    bounds = [bound if isinstance(bound, SymbolicTensor) else int(bound) for bound in (lower, upper)]
    try:
        for_stmt(call(range)(*bounds), None, body, box.get, box.set, _NAME)
    except Exception as error:
        shorten(error)
        raise
    return box.value


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Carries a state over the rows of arrays and collects a result for each (``jax.lax.scan``).

    Args:
      f: takes the state and a row of each array in ``xs``; returns the next state and a result.
      init: the first state: a tensor or a nested structure.
      xs: arrays of one length, in a nested structure; None for none.
      length: the number of steps; needed when ``xs`` is None.
      reverse: whether to go from the last row to the first.

    Returns:
      The last state, and the results stacked along a new first axis.

    Raises:
      InvalidArgumentError: the lengths differ, or none is given.

    Example:
      >>> import graphc as gx
      >>> last, sums = gx.scan(lambda total, x: (total + x, total), 0.0, gx.asarray([1.0, 2.0, 3.0]))
      >>> last.item(), sums.tolist()
      (6.0, [0.0, 1.0, 3.0])
    """
    try:
        return sized(_scanned, (f, init, xs, length, reverse), {})
    except Exception as error:
        shorten(error)
        raise


def _scanned(f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, length: int | None, reverse: bool) -> Any:
    count = _scan_length(xs, length)
    if context.trace is not None and count:
        return trace_scan(call(f), init, xs, count, reverse=reverse)
    state = init
    collected: list[Any] = []
    order = range(count - 1, -1, -1) if reverse else range(count)
    for position in order:
        row = nest.map_structure(partial(_row, position), xs)
        state, result = call(f)(state, row)
        collected.append(result)
    if reverse:
        collected.reverse()
    stack = FUNCTIONS["stack"]
    results = (
        nest.map_structure(lambda *rows: stack([_as_tensor(row) for row in rows]), *collected) if collected else None
    )
    return state, results


def _row(position: int, x: Any) -> Tensor:
    return _as_tensor(x)[position]


def _as_tensor(value: Any) -> Tensor:
    raw = operand(value)
    return raw if isinstance(raw, Tensor) else FUNCTIONS["asarray"](raw)


def _scan_length(xs: Any, length: int | None) -> int:
    lengths = {_as_tensor(x).shape[:1] for x in nest.flatten(xs)[0]}
    if length is not None:
        lengths.add((length,))
    if len(lengths) != 1 or () in lengths:
        candidates = sorted(lengths)
        raise InvalidArgumentError(f"scan: xs and length must agree on one number of steps, got {candidates}").here()
    return next(iter(lengths))[0]
