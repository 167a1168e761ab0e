"""Signatures of the op table: Python syntax, in which a parameter without annotation is a tensor."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from graphc.compiler.base.errors import InternalError
from graphc.compiler.core import ArrayLike, Tensor
from graphc.compiler.ir import DeviceSpec

__all__ = [
    "REQUIRED", "Axes", "Axis", "DType", "Device", "DimensionNumbers", "EigResult", "EighResult", "Flags", "Ints",
    "Norm", "PadWidth", "Padding", "PaddingConfig", "PairedAxes", "Precision", "QRResult", "Rounding", "RowSignature",
    "SVDResult", "ScatterMode", "Shape", "Size", "SlogdetResult", "Tensors", "UniqueAllResult", "UniqueCountsResult",
    "UniqueInverseResult", "describe",
]  # fmt: skip

# The annotations in row signatures: their types for stub files and their descriptions for docstrings.

Tensors: TypeAlias = Sequence[ArrayLike] | ArrayLike
Axes: TypeAlias = int | Sequence[int]
Axis: TypeAlias = int | Sequence[int] | None
PairedAxes: TypeAlias = int | Sequence[Axes]
PadWidth: TypeAlias = int | Sequence[int] | Sequence[Sequence[int]]
Shape: TypeAlias = int | Sequence[int]
DType: TypeAlias = Any
Device: TypeAlias = DeviceSpec | str | None
Norm: TypeAlias = float | str | None
Padding: TypeAlias = str | Sequence[Sequence[int]]
Size: TypeAlias = int | None
Ints: TypeAlias = Sequence[int]
Flags: TypeAlias = bool | Sequence[bool]
PaddingConfig: TypeAlias = Sequence[tuple[int, int, int]]
DimensionNumbers: TypeAlias = Any
Precision: TypeAlias = Any
Rounding: TypeAlias = Any
ScatterMode: TypeAlias = Any

_WORDS = {
    None: "a tensor or array-like.",
    "None": "a tensor or array-like, or None.",
    "Tensors": "a sequence of tensors, or a tensor, whose slices along axis 0 are used.",
    "Axes": "one or several; negative values count from the end. Static.",
    "Axis": "one or several; negative values count from the end; None for all. Static.",
    "PairedAxes": "a number of axes, or a list of axes for each tensor. Static.",
    "PadWidth": "an int for all, or a pair (before, after) for each axis. Static.",
    "Shape": "an int or a tuple of ints. Static.",
    "Shape | None": "an int, a tuple of ints, or None. Static.",
    "Size": "the number of results to keep, required in graphs; None in eager code keeps all. Static.",
    "Device": "the device of the result, such as 'gpu:0'; None for the default.",
    "Padding": "'SAME' to keep sizes up to the strides, 'VALID' for no padding, or pairs (before, after). Static.",
    "DType": "a dtype or its name; None for the natural one.",
    "Norm": "a number, 'fro', 'nuc', or None for the Euclidean norm. Static.",
    "Ints": "ints. Static.",
    "Ints | None": "ints, or None. Static.",
    "Flags": "True or False, or one for each. Static.",
    "PaddingConfig": "for each axis the padding before, after and between the elements. Static.",
    "DimensionNumbers": "the roles of the axes, in jax.lax's form. Static.",
    "Precision": "'default', 'high', 'highest' or a jax.lax.Precision, one or a pair; None for JAX's. Static.",
    "Rounding": "a jax.lax.RoundingMethod or its name. Static.",
    "ScatterMode": "'clip', 'fill', 'drop', 'promise_in_bounds', or a jax.lax.GatherScatterMode. Static.",
    "bool": "True or False. Static.",
    "float": "a number. Static.",
    "float | None": "a number, or None. Static.",
    "int": "an int. Static.",
    "int | None": "an int, or None. Static.",
    "str": "a string. Static.",
    "str | None": "a string, or None. Static.",
    "bool | None": "True, False or None. Static.",
}


def describe(annotation: str | None, *, several: bool = False) -> str:
    """Returns the description of a parameter for docstrings."""
    return "tensors or array-likes." if several else _WORDS[annotation]


REQUIRED: Any = object()
"""Default of an attribute without a default."""


@dataclass(frozen=True)
class RowSignature:
    """A parsed row signature."""

    text: str
    parameters: tuple[str, ...]  # the parameters, each with its type and default
    # The tensor parameters; ``*`` precedes one that is a sequence or takes any number of arguments.
    tensors: tuple[str, ...]
    sequences: tuple[str, ...]  # the tensor parameters that are sequences, without the ``*``
    optional: tuple[str, ...]  # the tensor parameters with default None
    on_device: bool  # whether it has a parameter ``device`` for the result's device
    defaults: dict[str, Any]  # the default of each attribute, or ``REQUIRED``
    annotations: dict[str, str]  # the annotation of each attribute
    words: dict[str, str]  # the description of each parameter, for docstrings

    @property
    def typed(self) -> str:
        """The signature with a type for every parameter."""
        return ", ".join(self.parameters)

    @staticmethod
    @cache
    def parse(text: str) -> RowSignature:
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
        return RowSignature(
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
    positional = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    return [
        *zip(positional, [*missing, *arguments.defaults], strict=True),
        *([(arguments.vararg, None)] if arguments.vararg else []),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]


# Named tuples of functions with several results, named as in the array API standard.


class EigResult(NamedTuple):
    """The eigenvalues, and the eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EighResult(NamedTuple):
    """The eigenvalues in ascending order, and the eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """An orthogonal and an upper triangular matrix."""

    Q: Tensor
    R: Tensor


class SVDResult(NamedTuple):
    """Left singular vectors as columns, singular values, right singular vectors as rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class SlogdetResult(NamedTuple):
    """The sign of a determinant and the logarithm of its magnitude."""

    sign: Tensor
    logabsdet: Tensor


class UniqueAllResult(NamedTuple):
    """The distinct values, their first indices, the index of each element among them, and their counts."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCountsResult(NamedTuple):
    """The distinct values and their counts."""

    values: Tensor
    counts: Tensor


class UniqueInverseResult(NamedTuple):
    """The distinct values, and the index of each element among them."""

    values: Tensor
    inverse_indices: Tensor
