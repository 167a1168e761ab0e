"""``gx.print`` and ``gx.log_message``: what a program says while it runs."""

from __future__ import annotations

import builtins
import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphc.compiler.autograph.constructs.expressions.text import formatted, joined, text_of
from graphc.compiler.autograph.constructs.host.host_calls import call_host, print_late
from graphc.compiler.autograph.values.kinds import check_shown
from graphc.compiler.base import Location, config, nest, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import STRING, ArrayMethods, StringTensor, Variable, host_array, host_type
from graphc.compiler.ir import Attrs, OpDef
from graphc.compiler.tracing import context, current_trace


def print(*values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False) -> None:
    """Python's ``print``, at run time also where code is not converted (TensorFlow's ``print``).

    In a compiled function Python's own ``print`` is this already. A function that is not converted, since it is a
    library's or ``autograph=False`` is set, prints when it is traced, and by this each time the program comes to it, in
    the order of the program with all that prints and ``gx.pyfunc``.

    Args:
      *values: anything; tensors are shown as eager ones are, by their values alone.
      sep: what is put between them.
      end: what is put after them.
      file: what is written to; the standard output of the moment when None.
      flush: whether it is flushed.

    Example:
      >>> import graphc as gx
      >>> @gx.function(autograph=False)
      ... def f(x):
      ...     gx.print("x is", x)
      ...     return x + 1
      >>> y = f(gx.asarray(1.0))
      x is 1.0
    """
    if config.tensor_text != "numpy":
        values = tuple(map(_values_alone, values))
    if context.trace is None:
        builtins.print(*values, sep=sep, end=end, file=file, flush=flush)
    else:
        print_late(None, *values, sep=sep, end=end, file=file, flush=flush)


def _values_alone(value: Any) -> Any:
    """Returns what is shown of a tensor, also in lists and the like: its values, without shape and dtype."""
    if isinstance(value, ArrayMethods | StringTensor):
        return formatted(value.value() if isinstance(value, Variable) else value, "", "")
    parts = nest.children(value)
    if parts is None or not any(isinstance(leaf, ArrayMethods | StringTensor) for leaf in nest.flatten(value)[0]):
        return value
    shown = [
        _values_alone(part) if nest.children(part) or isinstance(part, ArrayMethods | StringTensor) else repr(part)
        for part in parts[1]
    ]
    named = not isinstance(value, list | tuple)
    items = [joined(f"{key!r}: ", part) if named else part for key, part in zip(parts[0], shown, strict=True)]
    opening, closing = "()" if isinstance(value, tuple) else "{}" if named else "[]"
    apart = [piece for item in items for piece in (", ", item)][1:]
    return joined(opening, *apart, closing)


def log_message(level: int | str, message: Any, *values: Any, logger: str = "graphc") -> None:
    """Logs a message through Python's ``logging``, each time the program comes to this point.

    (``gx.log`` is the logarithm.) Compiled functions log in the order of the program with prints and ``gx.pyfunc``;
    nothing is formatted if the logger does not take the level. The record has the user's file, line and function.

    Args:
      level: a number, such as ``logging.INFO``, or the name of a level, such as ``"info"``.
      message: a text, which may be an f-string of tensors, with logging's own ``%`` places for the values.
      *values: what is put into the places: tensors and Python values.
      logger: the name of the logger.

    Raises:
      InvalidArgumentError: there is no such level.
      InvalidTypeError: the level or the name of the logger is of another type.

    Example:
      >>> import logging
      >>> import graphc as gx
      >>> @gx.function
      ... def step(x):
      ...     gx.log_message("info", "loss %.2f", x * x, logger="training")
      ...     return x
      >>> logging.getLogger("training").setLevel("ERROR")
      >>> y = step(gx.asarray(2.0))
    """
    number, location = _level(level), user_location()
    if not isinstance(logger, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidTypeError(f"gx.log_message: logger must be a name, got {logger!r:.60}").at(location)
    if context.trace is None:
        _log((number, logger, location), message, values)
        return
    for leaf in nest.flatten(values)[0]:
        check_shown(leaf, "a call of gx.log_message", as_text=False)
    # Logging fills its places itself, if the logger takes the level.
    text = message if type(message) is str else text_of("str", message)

    def run(parts: tuple[Any, tuple[Any, ...]]) -> tuple[()]:
        _log((number, logger, location), *parts)
        return ()

    call_host(run, "log", (text, nest.map_structure(_same, values)))  # containers as they are now


def _same(value: Any) -> Any:
    return value


def _log(where: tuple[int, str, Location | None], message: Any, values: tuple[Any, ...]) -> None:
    """Hands a record to the logger, as its own methods do, with the user's line."""
    level, name, location = where
    logger = logging.getLogger(name)
    if not logger.isEnabledFor(level):  # asked at each run, as levels change
        return
    file, line, function = ("?", 0, "?") if location is None else (location.file, location.line, location.function)
    # logger.log would look for the caller on the stack, which at run time is graphc.
    logger.handle(logger.makeRecord(name, level, file, line, message, values, None, function))


def _level(level: int | str) -> int:
    levels = logging.getLevelNamesMapping()
    if isinstance(level, str):
        if level.upper() in levels:
            return levels[level.upper()]
        # NOTSET is no level to log at; the others are aliases.
        names = ", ".join(name for name in levels if name not in ("NOTSET", "WARN", "FATAL"))
        raise InvalidArgumentError(f"gx.log_message: there is no level {level!r}; there are {names}").here()
    if isinstance(level, bool) or not isinstance(level, int):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidTypeError(f"gx.log_message: a level is an int or the name of one, got {level!r:.60}").here()
    return level


# Ops of the host (queues, readers) in compiled functions: each is a host call in the order of the program.


def call_late(op: OpDef, inputs: Sequence[Any], attrs: Attrs) -> list[Any]:
    """Calls an op of the host at run time; refuses results that no compiled program holds: strings, open shapes."""
    types = op.infer([host_type(value) for value in inputs], attrs, ())
    open_type = next((type for type in types if type.dtype == STRING or type.is_open), None)
    if open_type is not None:
        error = UnimplementedError(
            f"{op.name} gives {open_type}, and a compiled function holds numbers of known shapes only; call it outside "
            "and pass the result in, or run it in a gx.Session"
        )
        raise current_trace().refuse(error)

    def run(operands: Any) -> Sequence[np.ndarray[Any, Any]]:
        results = op.impl(*map(host_array, operands), **attrs)
        if results is None:
            return ()
        arrays = nest.as_tuple(results)
        return [np.asarray(array, type.dtype) for array, type in zip(arrays, types, strict=True)]

    return list(call_host(run, op.name, tuple(inputs), types))
