"""Targets on the command line: ``FILE.py:FUNCTION`` as a function, and arguments to call it with."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, cast

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError, NotFoundError
from graphc.compiler.function import BoundFunction, Function, function

TARGET_HELP = "a function: FILE.py:FUNCTION or MODULE:FUNCTION"
ARGS_HELP = (
    "the arguments, as a Python expression in which the names of the file, gx and np may be used, such as "
    "'gx.ones((3, 3)), 5'; left out, they are what example_args() of the file returns, or its ARGS"
)


@dataclass(frozen=True)
class Target:
    """A function and the arguments to call it with."""

    module: ModuleType
    function: Callable[..., Any]
    args: tuple[Any, ...]

    def other(self, name: str) -> Callable[..., Any]:
        """Another function of the same module."""
        return _find(self.module, name)


def add_target(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that say which function is meant, and with what it is called."""
    parser.add_argument("target", help=TARGET_HELP)
    parser.add_argument("--args", metavar="EXPRESSION", help=ARGS_HELP)


def compiled_function(target: Target) -> Any:
    """Returns the function, compiled if it is not yet."""
    is_compiled = isinstance(target.function, Function | BoundFunction)
    return cast("Any", target.function) if is_compiled else function(target.function)


def load_target(text: str, expression: str | None = None, *, required: bool = True) -> Target:
    """Finds a function and its arguments.

    Args:
      text: ``FILE.py:FUNCTION`` or ``MODULE:FUNCTION``; the function may be a method, ``model.step``.
      expression: the arguments, in Python; when None they are what the module's ``example_args()`` returns, or its
        ``ARGS``, or none if the function needs none. What is no tuple is the only argument.
      required: False allows that there are no arguments although the function needs some.

    Raises:
      InvalidArgumentError: the text has another form, or there are no arguments.
      NotFoundError: there is no such file, module or function.
    """
    source, separator, name = text.rpartition(":")
    if not (separator and source and name):
        raise InvalidArgumentError(
            f"{text!r}: expected FILE.py:FUNCTION or MODULE:FUNCTION, as in examples/loop.py:step"
        )
    module = _load_file(source) if source.endswith(".py") else _load_module(source)
    function = _find(module, name)
    return Target(module, function, _arguments(module, name, function, expression, required))


def _load_file(path: str) -> ModuleType:
    if not os.path.isfile(path):
        raise NotFoundError(f"there is no file {path}")
    stem = os.path.splitext(os.path.basename(path))[0]
    # Not its own name: a file called random.py must not become everyone's module random.
    spec = importlib.util.spec_from_file_location(f"graphc_target_{stem}", os.path.abspath(path))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    # As when Python runs a file: it may import what lies beside it.
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec.loader.exec_module(module)
    return module


def _load_module(name: str) -> ModuleType:
    sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise
        raise NotFoundError(f"there is no module {name}; write the path of a file with its .py") from None


def _find(module: ModuleType, name: str) -> Callable[..., Any]:
    member: Any = module
    for part in name.split("."):
        if not hasattr(member, part):
            available = ", ".join(sorted(key for key, value in vars(module).items() if _is_own(module, key, value)))
            raise NotFoundError(f"{module.__file__} has no {name}; it has {available or 'no functions'}")
        member = getattr(member, part)
    if not callable(member):
        raise InvalidArgumentError(f"{name} of {module.__file__} is no function, it is {member!r:.60}")
    return member


def _is_own(module: ModuleType, name: str, value: Any) -> bool:
    return callable(value) and not name.startswith("_") and getattr(value, "__module__", None) == module.__name__


def _arguments(
    module: ModuleType, name: str, function: Callable[..., Any], expression: str | None, required: bool
) -> tuple[Any, ...]:
    if expression is not None:
        arguments = _evaluate(expression, module)
    elif hasattr(module, "example_args"):
        arguments = module.example_args()
    elif hasattr(module, "ARGS"):
        arguments = module.ARGS
    else:
        arguments = ()
        needed = _required(function)
        if needed and required:
            raise InvalidArgumentError(
                f"{name} takes {', '.join(needed)}: let {module.__file__} define example_args(), which returns them "
                "as a tuple, or ARGS, or give --args 'gx.ones((3, 3)), 5'"
            )
    return cast("tuple[Any, ...]", arguments) if type(arguments) is tuple else (arguments,)


def _evaluate(expression: str, module: ModuleType) -> Any:
    # The person who types the expression is the one who runs it.
    names = {"gx": importlib.import_module("graphc"), "np": np, **vars(module)}
    try:
        return eval(expression, names)
    except Exception as error:
        raise InvalidArgumentError(f"--args {expression!r}: {type(error).__name__}: {error}") from error


def _required(function: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    starred = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    return [item.name for item in parameters if item.default is item.empty and item.kind not in starred]
