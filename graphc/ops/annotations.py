"""What the annotations in the rows' signatures mean: types for the stub files, words for the docstrings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from graphc.core import ArrayLike
from graphc.ir import DeviceSpec

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
    None: "a tensor, or what becomes one.",
    "None": "a tensor, or what becomes one; None for none.",
    "Tensors": "a sequence of tensors, or a tensor for its slices along axis 0.",
    "Axes": "one or several; negative ones are counted from the end. Static.",
    "Axis": "one or several; negative ones are counted from the end; None for all. Static.",
    "PairedAxes": "a number of axes, or a list of axes for each tensor. Static.",
    "PadWidth": "an int for all, or a pair (before, after) for each axis. Static.",
    "Shape": "an int or several. Static.",
    "Shape | None": "an int or several, or None. Static.",
    "Size": "how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.",
    "Device": "where the result is to be, such as 'gpu:0'; None for where all else is.",
    "Padding": "'SAME' to keep sizes but for the strides, 'VALID' for no padding, or pairs (before, after). Static.",
    "DType": "a dtype or the name of one; None for the natural one.",
    "Norm": "a number, 'fro', 'nuc', or None for Euclid's. Static.",
    "Ints": "ints. Static.",
    "Ints | None": "ints, or None. Static.",
    "Flags": "True or False, for all or for each. Static.",
    "PaddingConfig": "for each axis how many before, after and between the elements. Static.",
    "DimensionNumbers": "which axes are what, in the form that jax.lax has for it. Static.",
    "Precision": "'default', 'high' or 'highest', or a Precision of jax.lax, one or a pair; None for JAX's. Static.",
    "Rounding": "a RoundingMethod of jax.lax, or its name. Static.",
    "ScatterMode": "'clip', 'fill', 'drop', 'promise_in_bounds', or a GatherScatterMode of jax.lax. Static.",
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
    """Returns what to say of a parameter in a docstring.

    Args:
      annotation: its annotation as written in the signature; None for a tensor.
      several: whether it takes any number of arguments.

    Example:
      >>> describe("bool")
      'True or False. Static.'
    """
    return "tensors, or what becomes tensors." if several else _WORDS[annotation]
