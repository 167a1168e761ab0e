"""What the annotations in the rows' signatures mean: types for the stub files, words for the docstrings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from graphc.core import ArrayLike

__all__ = ["Axes", "Axis", "DType", "Norm", "PadWidth", "PairedAxes", "Shape", "Tensors", "describe"]

Tensors: TypeAlias = Sequence[ArrayLike] | ArrayLike
Axes: TypeAlias = int | Sequence[int]
Axis: TypeAlias = int | Sequence[int] | None
PairedAxes: TypeAlias = int | Sequence[Axes]
PadWidth: TypeAlias = int | Sequence[int] | Sequence[Sequence[int]]
Shape: TypeAlias = int | Sequence[int]
DType: TypeAlias = Any
Norm: TypeAlias = float | str | None

_WORDS = {
    None: "a tensor, or what becomes one.",
    "Tensors": "a sequence of tensors, or a tensor for its slices along axis 0.",
    "Axes": "one or several; negative ones are counted from the end. Static.",
    "Axis": "one or several; negative ones are counted from the end; None for all. Static.",
    "PairedAxes": "a number of axes, or a list of axes for each tensor. Static.",
    "PadWidth": "an int for all, or a pair (before, after) for each axis. Static.",
    "Shape": "an int or several. Static.",
    "DType": "a dtype or the name of one; None for the natural one.",
    "Norm": "a number, 'fro', 'nuc', or None for Euclid's. Static.",
    "bool": "True or False. Static.",
    "float": "a number. Static.",
    "float | None": "a number, or None. Static.",
    "int": "an int. Static.",
    "int | None": "an int, or None. Static.",
    "str": "a string. Static.",
}


def describe(annotation: str | None, *, several: bool = False) -> str:
    """What to say of a parameter in a docstring.

    Args:
      annotation: its annotation as written in the signature; None for a tensor.
      several: whether it takes any number of arguments.

    Example:
      >>> describe("bool")
      'True or False. Static.'
    """
    return "tensors, or what becomes tensors." if several else _WORDS[annotation]
