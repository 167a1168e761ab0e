"""The annotations in row signatures: their types for stub files and their descriptions for docstrings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from graphc.compiler.core import ArrayLike
from graphc.compiler.ir import DeviceSpec

__all__ = [
    "Axes",
    "Axis",
    "DType",
    "Device",
    "DimensionNumbers",
    "Flags",
    "Ints",
    "Norm",
    "PadWidth",
    "Padding",
    "PaddingConfig",
    "PairedAxes",
    "Precision",
    "Rounding",
    "ScatterMode",
    "Shape",
    "Size",
    "Tensors",
    "describe",
]

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
    """Returns the description of a parameter for docstrings.

    Args:
      annotation: its annotation as written in the signature; None for a tensor.
      several: whether the parameter takes any number of arguments.

    Example:
      >>> describe("bool")
      'True or False. Static.'
    """
    return "tensors or array-likes." if several else _WORDS[annotation]
