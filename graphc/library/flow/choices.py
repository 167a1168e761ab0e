"""Choices among several functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from graphc.compiler.autograph import cond, require, switch
from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import SymbolicTensor, converted
from graphc.compiler.ops import functions as gx

__all__ = ["case", "switch_case"]

Function = Callable[[], Any]
Pairs = Sequence[tuple[Any, Function]] | Mapping[Any, Function]


def case(pred_fn_pairs: Pairs, default: Function | None = None) -> Any:
    """Returns the result of the first function whose condition holds.

    Args:
      pred_fn_pairs: pairs of a condition and a function of no arguments.
      default: the function for where none holds.

    Raises:
      InvalidArgumentError: no condition holds, and there is no default.

    Example:
      >>> import graphc as gx
      >>> x = gx.asarray(3.0)
      >>> gx.flow.case([(x < 1, lambda: x), (x < 5, lambda: x * 10)], default=lambda: -x).item()
      30.0
    """
    pairs: list[Any] = list(_items(pred_fn_pairs))
    if default is None:
        some = functools.reduce(gx.logical_or, [pred for pred, _ in pairs])
        error = InvalidArgumentError("case: no condition holds, and there is no default")
        holds = some if isinstance(some, SymbolicTensor) else bool(some)
        require(holds, lambda: at(error, user_location()))
        default = cast("Function", pairs.pop()[1])

    def choose(pred: Any, function: Function, rest: Function) -> Function:
        return lambda: cond(pred, function, rest)

    for pred, function in reversed(pairs):
        default = choose(pred, function, default)
    return converted(default)()


def _items(pairs: Any) -> Iterable[Any]:
    """Returns the items of a dict, or what is in a list."""
    return pairs.items() if isinstance(pairs, Mapping) else pairs  # pyright: ignore[reportUnknownVariableType]


def switch_case(branch_index: Any, branch_fns: Any, default: Function | None = None) -> Any:
    """Returns the result of one of several functions, by its number.

    Args:
      branch_index: the number.
      branch_fns: functions of no arguments; or pairs of an index from 0 and a function, each index once.
      default: the function for a number that none has; the last one when None.

    Raises:
      InvalidArgumentError: the numbers are not 0, 1, ...

    Example:
      >>> import graphc as gx
      >>> gx.flow.switch_case(gx.asarray(1), [lambda: 10.0, lambda: 20.0])
      20.0
    """
    given = enumerate(_items(branch_fns))
    pairs = [cast("Any", pair) if isinstance(pair, list | tuple) else (place, pair) for place, pair in given]
    numbers = [int(number) for number, _ in pairs]
    functions = [function for _, function in sorted(pairs, key=lambda pair: pair[0])]
    if sorted(numbers) != list(range(len(functions))):
        error = InvalidArgumentError(f"switch_case: the branches' numbers must be 0, 1, ..., got {sorted(numbers)}")
        raise at(error, user_location())
    if default is not None:
        functions.append(default)
    last = len(functions) - 1
    if not isinstance(branch_index, SymbolicTensor):
        number = int(branch_index)
        return switch(number if 0 <= number <= last else last, functions)
    outside = gx.logical_or(branch_index < 0, branch_index > last)
    return switch(gx.where(outside, last, branch_index), functions)
