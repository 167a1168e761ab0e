"""Compositions: control flow and calls of Python, with TensorFlow's arguments."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

from graphc.autograph import cond, print, pyfunc, require, scan, switch, while_loop
from graphc.base import at, config, nest, user_location
from graphc.base.errors import InvalidArgumentError, UnimplementedError
from graphc.compat.tensorflow2.own.sequences import is_sequence
from graphc.core import SymbolicTensor, converted, device_name, devices
from graphc.ops import functions as gx

__all__ = [
    "case",
    "fold",
    "list_devices",
    "map_fn",
    "python_function",
    "scan_states",
    "show",
    "show_devices",
    "switch_case",
    "while_vars",
]

Function = Callable[..., Any]


def case(pred_fn_pairs: Any, default: Function | None) -> Any:
    """The first function whose condition holds; the default, if none does."""
    pairs: list[Any] = list(_items(pred_fn_pairs))
    if default is None:
        some = functools.reduce(gx.logical_or, [pred for pred, _ in pairs])
        error = InvalidArgumentError("tf.case: no condition holds, and there is no default")
        require(_truth(some), lambda: at(error, user_location()))
        default = cast("Function", pairs.pop()[1])

    def choose(pred: Any, function: Function, rest: Function) -> Function:
        return lambda: cond(pred, function, rest)

    for pred, function in reversed(pairs):
        default = choose(pred, function, default)
    return converted(default)()


def _items(pairs: Any) -> Any:
    """The items of a dict, or what is in a list."""
    return pairs.items() if hasattr(pairs, "items") else pairs


def _truth(condition: Any) -> Any:
    return condition if isinstance(condition, SymbolicTensor) else bool(condition)


def switch_case(branch_index: Any, branch_fns: Any, default: Function | None) -> Any:
    """One of several functions by its number; the default, or the last one, for a number that none has."""
    given = enumerate(_items(branch_fns))
    pairs = [pair if is_sequence(pair) else (place, pair) for place, pair in given]
    numbers = [int(number) for number, _ in pairs]
    functions = [function for _, function in sorted(pairs, key=lambda pair: pair[0])]
    if sorted(numbers) != list(range(len(functions))):
        error = InvalidArgumentError(f"tf.switch_case: the branches' numbers must be 0, 1, ..., got {sorted(numbers)}")
        raise at(error, user_location())
    if default is not None:
        functions.append(default)
    last = len(functions) - 1
    if not isinstance(branch_index, SymbolicTensor):
        number = int(branch_index)
        return switch(number if 0 <= number <= last else last, functions)
    index = branch_index
    return switch(gx.where(gx.logical_or(index < 0, index > last), last, index), functions)


def while_vars(condition: Function, body: Function, loop_vars: Any, maximum_iterations: Any) -> Any:
    """Repeats ``loop_vars = body(*loop_vars)`` while ``condition(*loop_vars)``, at most so many times."""
    test, step = converted(condition), converted(body)
    several = is_sequence(loop_vars)
    first: Any = nest.map_structure(gx.asarray, tuple(loop_vars) if several else (loop_vars,))

    def run(state: Any) -> Any:
        found = step(*state)
        return tuple(found) if is_sequence(found) else (found,)

    if maximum_iterations is None:
        last = while_loop(lambda state: test(*state), run, first)
    else:
        limit = gx.asarray(maximum_iterations, dtype="int32")

        def goes_on(state: Any) -> Any:
            return gx.logical_and(state[0] < limit, test(*state[1]))

        start = (gx.asarray(0, dtype="int32"), first)
        last = while_loop(goes_on, lambda state: (state[0] + 1, run(state[1])), start)[1]
    if not several:
        return last[0]
    kind: Any = loop_vars.__class__
    return kind(*last) if hasattr(kind, "_fields") else kind(last)


def map_fn(fn: Function, elems: Any) -> Any:
    """The results of a function of each row, stacked."""
    step = converted(fn)
    return scan(lambda state, row: (state, step(row)), gx.asarray(0, dtype="int32"), elems)[1]


def scan_states(fn: Function, elems: Any, initializer: Any, reverse: bool = False) -> Any:
    """All states of ``state = fn(state, row)``, stacked; without a first state it is the first row."""
    step = converted(fn)

    def keep(state: Any, row: Any) -> Any:
        found = step(state, row)
        return found, found

    if initializer is not None:
        return scan(keep, nest.map_structure(gx.asarray, initializer), elems, reverse=reverse)[1]
    first = _at(elems, -1 if reverse else 0)
    rest = _at(elems, slice(None, -1) if reverse else slice(1, None))
    states = scan(keep, first, rest, reverse=reverse)[1]

    def joined(one: Any, others: Any) -> Any:
        parts = [gx.expand_dims(one, 0), others]
        return gx.concat(parts[::-1] if reverse else parts, 0)

    return nest.map_structure(joined, first, states)


def fold(fn: Function, elems: Any, initializer: Any, reverse: bool = False) -> Any:
    """The last state of ``state = fn(state, row)``; without a first state it is the first row."""
    return _at(scan_states(fn, elems, initializer, reverse), 0 if reverse else -1)


def _at(structure: Any, index: Any) -> Any:
    """The rows of every tensor of a structure that an index names."""

    def item(x: Any) -> Any:
        return gx.asarray(x)[index]

    return nest.map_structure(item, structure)


def python_function(func: Function, inp: Sequence[Any], result_types: Any, as_arrays: bool) -> Any:
    """Calls a Python function when the program runs; it gets tensors, or NumPy arrays."""

    def call(*values: Any) -> Any:
        return (
            func(*[value.numpy() if hasattr(value, "numpy") else value for value in values])
            if as_arrays
            else func(*values)
        )

    return pyfunc(call, result_types, *[gx.asarray(value) for value in inp])


def show(inputs: Sequence[Any], output_stream: Any = None, end: str = "\n", sep: str = " ", **rest: Any) -> None:
    """Prints when the program runs, to sys.stderr if not told otherwise."""
    unknown = [name for name in rest if name not in ("summarize", "name")]
    if unknown:
        raise TypeError(f"tf.print() got an unexpected keyword argument {unknown[0]!r}")
    print(*inputs, file=sys.stderr if output_stream is None else output_stream, end=end, sep=sep)


class ListedDevice(NamedTuple):
    """What TensorFlow tells of a device.

    Attributes:
      name: such as ``/device:GPU:0``, which ``tf.device`` takes.
      device_type: ``CPU``, ``GPU``, ``TPU``.
    """

    name: str
    device_type: str


def list_devices(device_type: str | None, physical: bool = False) -> list[ListedDevice]:
    """The devices, or those of a type such as ``GPU``."""
    names = [device_name(device) for device in devices(device_type)]
    return [
        ListedDevice(name.replace("/device", "/physical_device") if physical else name, name.split(":")[1])
        for name in names
    ]


def show_devices(listed: Any, device_type: str | None) -> None:
    """Uses these GPUs only, or only these devices if no type is given."""
    entries: list[ListedDevice] = [listed] if isinstance(listed, ListedDevice) else list(listed)
    if device_type not in (None, "GPU"):
        error = UnimplementedError(
            f"tf.config.set_visible_devices: GPUs can be hidden, {device_type}s cannot; GRAPHC_CPU_DEVICES says how "
            "many CPUs there are"
        )
        raise at(error, user_location())
    config.visible_devices = [int(entry.name.split(":")[2]) for entry in entries if entry.device_type == "GPU"]
