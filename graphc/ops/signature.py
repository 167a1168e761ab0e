"""Signatures of the op table: Python's own syntax, in which a parameter without annotation is a tensor."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from typing import Any

from graphc.base.errors import InternalError
from graphc.ops.annotations import describe

__all__ = ["REQUIRED", "Signature"]

REQUIRED: Any = object()
"""The default of an attribute that has none."""


@dataclass(frozen=True)
class Signature:
    """What a row's signature says.

    Attributes:
      text: the signature itself.
      typed: the signature with a type for every parameter.
      tensors: the tensor parameters; ``*`` before one that is a sequence or takes any number of arguments.
      defaults: the default of each attribute, or ``REQUIRED``.
      words: what to say of each parameter in a docstring.
    """

    text: str
    typed: str
    tensors: tuple[str, ...]
    defaults: dict[str, Any]
    words: dict[str, str]

    @staticmethod
    @cache
    def parse(text: str) -> Signature:
        """Reads a signature such as ``x, axis: Axis = None``."""
        definition = ast.parse(f"def f({text}): ...").body[0]
        if not isinstance(definition, ast.FunctionDef):
            raise InternalError(f"{text!r} is no signature")
        arguments = definition.args
        typed: list[str] = []
        tensors: list[str] = []
        defaults: dict[str, Any] = {}
        words: dict[str, str] = {}
        for argument, default in _parameters(arguments):
            annotation = None if argument.annotation is None else ast.unparse(argument.annotation)
            several = argument is arguments.vararg
            star = "*" if several else ""
            typed.append(f"{star}{argument.arg}: {annotation or 'ArrayLike'}{_default(default)}")
            words[argument.arg] = describe(annotation, several=several)
            if annotation is None or annotation == "Tensors":
                tensors.append(f"*{argument.arg}" if several or annotation else argument.arg)
            else:
                defaults[argument.arg] = REQUIRED if default is None else ast.literal_eval(default)
        return Signature(text, ", ".join(typed), tuple(tensors), defaults, words)


def _default(default: ast.expr | None) -> str:
    return "" if default is None else f" = {ast.unparse(default)}".replace("'", '"')


def _parameters(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """The parameters in order, each with its default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    return [
        *zip(positional, [*missing, *arguments.defaults], strict=True),
        *([(arguments.vararg, None)] if arguments.vararg else []),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
