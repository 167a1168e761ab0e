"""Signatures of the op table: Python syntax, in which a parameter without annotation is a tensor."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from typing import Any

from graphc.compiler.base.errors import InternalError
from graphc.compiler.ops.annotations import describe

__all__ = ["REQUIRED", "Signature"]

REQUIRED: Any = object()
"""Default of an attribute without a default."""


@dataclass(frozen=True)
class Signature:
    """A parsed row signature.

    Attributes:
      text: the signature.
      parameters: the parameters, each with its type and default.
      tensors: the tensor parameters; ``*`` precedes one that is a sequence or takes any number of arguments.
      sequences: the tensor parameters that are sequences, without the ``*``.
      optional: the tensor parameters with default None.
      on_device: whether it has a parameter ``device`` for the result's device.
      defaults: the default of each attribute, or ``REQUIRED``.
      annotations: the annotation of each attribute.
      words: the description of each parameter, for docstrings.
    """

    text: str
    parameters: tuple[str, ...]
    tensors: tuple[str, ...]
    sequences: tuple[str, ...]
    optional: tuple[str, ...]
    on_device: bool
    defaults: dict[str, Any]
    annotations: dict[str, str]
    words: dict[str, str]

    @property
    def typed(self) -> str:
        """The signature with a type for every parameter."""
        return ", ".join(self.parameters)

    @staticmethod
    @cache
    def parse(text: str) -> Signature:
        """Parses a signature such as ``x, axis: Axis = None``."""
        definition = ast.parse(f"def f({text}): ...").body[0]
        if not isinstance(definition, ast.FunctionDef):
            raise InternalError(f"{text!r} is not a signature")
        arguments = definition.args
        typed: list[str] = []
        tensors: list[str] = []
        sequences: list[str] = []
        optional: list[str] = []
        defaults: dict[str, Any] = {}
        annotations: dict[str, str] = {}
        words: dict[str, str] = {}
        for argument, default in _parameters(arguments):
            annotation = None if argument.annotation is None else ast.unparse(argument.annotation)
            several = argument is arguments.vararg
            star = "*" if several else ""
            may_be_none = annotation is None and default is not None and ast.literal_eval(default) is None
            kind = annotation or ("ArrayLike | None" if may_be_none else "ArrayLike")
            typed.append(f"{star}{argument.arg}: {kind}{_default(default)}")
            words[argument.arg] = describe("None" if may_be_none else annotation, several=several)
            if may_be_none:
                optional.append(argument.arg)
            elif annotation == "Device":
                continue
            elif annotation is None or annotation == "Tensors":
                tensors.append(f"*{argument.arg}" if several or annotation else argument.arg)
                sequences += [argument.arg] if annotation else []
            else:
                annotations[argument.arg] = annotation
                defaults[argument.arg] = REQUIRED if default is None else ast.literal_eval(default)
        return Signature(
            text,
            tuple(typed),
            tuple(tensors),
            tuple(sequences),
            tuple(optional),
            "device" in words,
            defaults,
            annotations,
            words,
        )


def _default(default: ast.expr | None) -> str:
    return "" if default is None else f" = {ast.unparse(default)}".replace("'", '"')


def _parameters(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """Returns the parameters in order, each with its default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    return [
        *zip(positional, [*missing, *arguments.defaults], strict=True),
        *([(arguments.vararg, None)] if arguments.vararg else []),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
