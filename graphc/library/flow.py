"""Control flow and calls of Python with TensorFlow's arguments, over graphc's own (``gx.flow``)."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from graphc.compiler.autograph import cond, pyfunc, require, switch
from graphc.compiler.autograph import print as print_late
from graphc.compiler.autograph import scan as scan_rows
from graphc.compiler.autograph import while_loop as while_state
from graphc.compiler.base import has_mark, nest
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import SymbolicTensor, converted
from graphc.compiler.ops import functions as gx

__all__ = [
    "case", "foldl", "foldr", "map_fn", "numpy_function", "print_values", "py_function", "scan", "switch_case",
    "while_loop",
]  # fmt: skip

# Calls of Python functions when a program runs, and prints.


def py_function(func: Callable[..., Any], inp: Sequence[Any], result_types: Any) -> Any:
    """Calls a Python function with tensors, each time the program comes to it.

    Args:
      func: the function.
      inp: its arguments.
      result_types: the types of its results, as for ``gx.pyfunc``.

    Example:
      >>> import graphc as gx
      >>> gx.flow.py_function(lambda x: x + 1.0, [2.0], "float32").item()
      3.0
    """
    return pyfunc(func, result_types, *[gx.asarray(value) for value in inp])


def numpy_function(func: Callable[..., Any], inp: Sequence[Any], result_types: Any) -> Any:
    """Calls a Python function with NumPy's arrays, each time the program comes to it; see :func:`py_function`.

    Example:
      >>> import numpy as np
      >>> import graphc as gx
      >>> gx.flow.numpy_function(np.sqrt, [4.0], "float32").item()
      2.0
    """

    def call(*values: Any) -> Any:
        return func(*[value.numpy() if hasattr(value, "numpy") else value for value in values])

    return py_function(call, inp, result_types)


def print_values(
    inputs: Sequence[Any], output_stream: Any = None, end: str = "\n", sep: str = " ", summarize: Any = None,
    name: Any = None,
) -> None:  # fmt: skip
    """Prints when the program runs; see ``gx.print``.

    Args:
      inputs: what is printed.
      output_stream: where; the standard error when None.
      end: what is put after them.
      sep: what is put between them.
      summarize: taken as TensorFlow's programs give it.
      name: likewise.
    """
    del summarize, name
    print_late(*inputs, file=sys.stderr if output_stream is None else output_stream, end=end, sep=sep)


# Choices among several functions.

Branch = Callable[[], Any]
Pairs = Sequence[tuple[Any, Branch]] | Mapping[Any, Branch]


def case(pred_fn_pairs: Pairs, default: Branch | None = None) -> Any:
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
        require(holds, lambda: error.here())
        default = cast("Branch", pairs.pop()[1])

    def choose(pred: Any, function: Branch, rest: Branch) -> Branch:
        return lambda: cond(pred, function, rest)

    for pred, function in reversed(pairs):
        default = choose(pred, function, default)
    return converted(default)()


def _items(pairs: Any) -> Iterable[Any]:
    """Returns the items of a dict, or what is in a list."""
    return pairs.items() if isinstance(pairs, Mapping) else pairs  # pyright: ignore[reportUnknownVariableType]


def switch_case(branch_index: Any, branch_fns: Any, default: Branch | None = None) -> Any:
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
    branches = enumerate(_items(branch_fns))
    pairs = [cast("Any", pair) if isinstance(pair, list | tuple) else (index, pair) for index, pair in branches]
    numbers = [int(number) for number, _ in pairs]
    functions = [function for _, function in sorted(pairs, key=lambda pair: pair[0])]
    if sorted(numbers) != list(range(len(functions))):
        raise InvalidArgumentError(
            f"switch_case: the branches' numbers must be 0, 1, ..., got {sorted(numbers)}"
        ).here()
    if default is not None:
        functions.append(default)
    last = len(functions) - 1
    if not isinstance(branch_index, SymbolicTensor):
        number = int(branch_index)
        return switch(number if 0 <= number <= last else last, functions)
    outside = gx.logical_or(branch_index < 0, branch_index > last)
    return switch(gx.where(outside, last, branch_index), functions)


# Loops over the rows of tensors, and while a condition holds.

Function = Callable[..., Any]


def while_loop(cond: Function, body: Function, loop_vars: Any, maximum_iterations: Any = None) -> Any:
    """Repeats ``loop_vars = body(*loop_vars)`` while ``cond(*loop_vars)`` holds.

    Args:
      cond: the condition.
      body: returns new variables, as many as it takes.
      loop_vars: the first variables, in a list or a tuple, or one alone; structures of tensors.
      maximum_iterations: how often the loop runs at most; None for no bound.

    Returns:
      The last variables, as ``loop_vars`` are given.

    Example:
      >>> import graphc as gx
      >>> i, x = gx.flow.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), (0, 1.0))
      >>> i.item(), x.item()
      (3, 8.0)
    """
    test, step = converted(cond), converted(body)
    several = isinstance(loop_vars, list | tuple)
    first: Any = _tensors(tuple(cast("Any", loop_vars)) if several else (loop_vars,))

    def run(state: Any) -> Any:
        result = step(*state)
        return tuple(cast("Any", result)) if isinstance(result, list | tuple) else (result,)

    if maximum_iterations is None:
        last = while_state(lambda state: test(*state), run, first)
    else:
        limit = gx.asarray(maximum_iterations, dtype="int32")

        def goes_on(state: Any) -> Any:
            return gx.logical_and(state[0] < limit, test(*state[1]))

        start = (gx.asarray(0, dtype="int32"), first)
        last = while_state(goes_on, lambda state: (state[0] + 1, run(state[1])), start)[1]
    if not several:
        return last[0]
    kind: Any = cast("Any", loop_vars).__class__
    return kind(*last) if hasattr(kind, "_fields") else kind(last)


def _tensors(value: Any) -> Any:
    """Returns a structure with tensors for its leaves; composite values stay."""
    parts = None if has_mark(value, "__graphc_composite__") else nest.children(value)
    if has_mark(value, "__graphc_composite__"):
        return value
    return gx.asarray(value) if parts is None else nest.rebuilt(value, [_tensors(part) for part in parts[1]])


def map_fn(fn: Function, elems: Any) -> Any:
    """Returns what a function gives for each row, stacked.

    Args:
      fn: takes a row of each tensor of the structure.
      elems: a structure of tensors of one first size.

    Example:
      >>> import graphc as gx
      >>> x, y = gx.asarray([1.0, 2.0]), gx.asarray([3.0, 4.0])
      >>> gx.flow.map_fn(lambda pair: pair[0] * pair[1], (x, y)).tolist()
      [3.0, 8.0]
    """
    step = converted(fn)
    return scan_rows(lambda state, row: (state, step(row)), gx.asarray(0, dtype="int32"), elems)[1]


def scan(fn: Function, elems: Any, initializer: Any = None, reverse: bool = False) -> Any:
    """Returns all states of ``state = fn(state, row)``, stacked.

    Args:
      fn: takes the state and a row.
      elems: a structure of tensors of one first size.
      initializer: the first state; the first row when None.
      reverse: whether the last row comes first.

    Example:
      >>> import graphc as gx
      >>> gx.flow.scan(lambda total, x: total + x, gx.asarray([1.0, 2.0, 3.0])).tolist()
      [1.0, 3.0, 6.0]
    """
    step = converted(fn)

    def keep(state: Any, row: Any) -> Any:
        new_state = step(state, row)
        return new_state, new_state

    if initializer is not None:
        return scan_rows(keep, nest.map_structure(gx.asarray, initializer), elems, reverse=reverse)[1]
    first = _at(elems, -1 if reverse else 0)
    rest = _at(elems, slice(None, -1) if reverse else slice(1, None))
    states = scan_rows(keep, first, rest, reverse=reverse)[1]

    def joined(one: Any, others: Any) -> Any:
        parts = [gx.expand_dims(one, 0), others]
        return gx.concat(parts[::-1] if reverse else parts, 0)

    return nest.map_structure(joined, first, states)


def foldl(fn: Function, elems: Any, initializer: Any = None) -> Any:
    """Returns the last state of ``state = fn(state, row)``; see :func:`scan`.

    Example:
      >>> import graphc as gx
      >>> gx.flow.foldl(lambda total, x: total - x, gx.asarray([1.0, 2.0, 3.0])).item()
      -4.0
    """
    return _at(scan(fn, elems, initializer), -1)


def foldr(fn: Function, elems: Any, initializer: Any = None) -> Any:
    """Returns the last state of ``state = fn(state, row)`` from the last row on; see :func:`scan`.

    Example:
      >>> import graphc as gx
      >>> gx.flow.foldr(lambda total, x: total - x, gx.asarray([1.0, 2.0, 3.0])).item()
      0.0
    """
    return _at(scan(fn, elems, initializer, reverse=True), 0)


def _at(structure: Any, index: Any) -> Any:
    """Returns the rows of every tensor of a structure that an index names."""

    def item(x: Any) -> Any:
        return gx.asarray(x)[index]

    return nest.map_structure(item, structure)
