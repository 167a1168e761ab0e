"""The types of the results of ops that make, arrange and reduce tensors, without asking JAX.

Each rule takes the types of the operands and the attributes. It returns None where JAX must be asked: for weak types,
for mixed dtypes, and where the arguments do not fit, so that the error is JAX's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from graphc.compiler.ir import TensorType

__all__ = ["SHAPE_RULES"]

Rule = Callable[..., TensorType | None]

_BOOL, _INT, _FLOAT = np.dtype(bool), np.dtype(np.int32), np.dtype(np.float32)


def _strong(shape: tuple[int, ...], dtype: Any) -> TensorType | None:
    """Returns a type; None for a dtype that JAX does not keep as it is."""
    found = np.dtype(dtype)
    return TensorType(shape, found) if found.kind in "biuf" and found.itemsize <= 4 else None


def _listed(value: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)


def _is_axis(axis: Any, rank: int) -> bool:
    return type(axis) is int and -rank <= axis < rank


def _sizes(shape: Any) -> tuple[int, ...] | None:
    sizes = _listed(shape)
    return sizes if all(type(size) is int and size >= 0 for size in sizes) else None


def _made(*, shape: Any, dtype: Any = _FLOAT) -> TensorType | None:
    sizes = _sizes(shape)
    return None if sizes is None else _strong(sizes, _FLOAT if dtype is None else dtype)


def _filled(value: TensorType, *, shape: Any, dtype: Any = None) -> TensorType | None:
    if value.shape or value.dtype not in (_BOOL, _INT, _FLOAT):
        return None
    return _made(shape=shape, dtype=value.dtype if dtype is None else dtype)


def _made_like(x: TensorType, *, dtype: Any = None) -> TensorType | None:
    return _strong(x.shape, x.dtype if dtype is None else dtype)


def _counted(*, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> TensorType | None:
    numbers = (0, start, step) if stop is None else (start, stop, step)
    if any(type(number) is not int or abs(number) >= 2**31 for number in numbers) or step == 0:
        return None
    return TensorType((len(range(*numbers)),), _INT) if dtype in (None, _INT) else None


def _view(function: Callable[..., Any]) -> Rule:
    """Returns the rule of an op that arranges elements as a function of NumPy's does, which does it without memory."""

    def rule(x: TensorType, **attrs: Any) -> TensorType | None:
        if x.weak:
            return None
        try:
            return TensorType(function(np.broadcast_to(np.empty((), _BOOL), x.shape), **attrs).shape, x.dtype)
        except Exception:
            return None

    return rule


def _broadcast(x: Any, shape: Any) -> Any:
    return np.broadcast_to(x, shape)


def _rolled(x: TensorType, *, shift: Any, axis: Any = None) -> TensorType | None:
    shifts, axes = _listed(shift), _listed(axis)
    known = axis is None or all(_is_axis(place, len(x.shape)) for place in axes)
    return x if known and not x.weak and len(shifts) == len(axes) else None


def _joined(*types: TensorType, axis: int | None = 0) -> TensorType | None:
    first = types[0] if types else None
    if first is None or first.weak or not _is_axis(axis, len(first.shape)):
        return None
    place = cast("int", axis) % len(first.shape)
    others = {(*type.shape[:place], -1, *type.shape[place + 1 :]) for type in types if len(type.shape) > place}
    if len(others) > 1 or any((type.dtype, type.weak) != (first.dtype, False) for type in types):
        return None
    if any(len(type.shape) != len(first.shape) for type in types):
        return None
    size = sum(type.shape[place] for type in types)
    return TensorType((*first.shape[:place], size, *first.shape[place + 1 :]), first.dtype)


def _stacked(*types: TensorType, axis: int = 0) -> TensorType | None:
    if not types or types[0].weak or any(type != types[0] for type in types[1:]):
        return None
    shape = types[0].shape
    if not _is_axis(axis, len(shape) + 1):
        return None
    place = axis % (len(shape) + 1)
    return TensorType((*shape[:place], len(types), *shape[place:]), types[0].dtype)


def _reduced(dtypes: tuple[Any, ...], result: Any = None, *, of_none: bool = False) -> Rule:
    """Returns the rule of a reduction of tensors of these dtypes.

    Args:
      dtypes: what it is known for.
      result: the dtype of the result; None for the tensor's.
      of_none: whether it is known for tensors without elements.
    """

    def rule(x: TensorType, *, axis: Any = None, keepdims: bool = False) -> TensorType | None:
        rank = len(x.shape)
        axes = range(rank) if axis is None else _listed(axis)
        if x.weak or x.dtype not in dtypes or not (of_none or math.prod(x.shape)):
            return None
        if not all(_is_axis(place, rank) for place in axes):
            return None
        gone = {place % rank for place in axes}
        if len(gone) != len(axes):
            return None
        sizes = [1 if place in gone else size for place, size in enumerate(x.shape) if keepdims or place not in gone]
        return TensorType(tuple(sizes), result or x.dtype)

    return rule


def _position(x: TensorType, *, axis: int | None = None, keepdims: bool = False) -> TensorType | None:
    return None if isinstance(axis, tuple) else _reduced((_INT, _FLOAT), _INT)(x, axis=axis, keepdims=keepdims)


def _product(first: TensorType, second: TensorType) -> TensorType | None:
    a, b = first.shape, second.shape
    if not (a and b) or {first, second} != {TensorType(a, _FLOAT), TensorType(b, _FLOAT)}:
        return None
    if a[-1] != b[-2 if len(b) > 1 else -1]:
        return None
    try:
        batch = np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        return None
    return TensorType((*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else ())), _FLOAT)


SHAPE_RULES: dict[str, Rule] = {
    **dict.fromkeys(("zeros", "ones"), _made),
    **dict.fromkeys(("zeros_like", "ones_like"), _made_like),
    "full": _filled,
    "arange": _counted,
    "permute_dims": _view(np.transpose),
    "moveaxis": _view(np.moveaxis),
    "swapaxes": _view(np.swapaxes),
    "expand_dims": _view(np.expand_dims),
    "flip": _view(np.flip),
    "broadcast_to": _view(_broadcast),
    "roll": _rolled,
    "concat": _joined,
    "stack": _stacked,
    "sum": _reduced((_INT, _FLOAT), of_none=True),
    "mean": _reduced((_FLOAT,)),
    **dict.fromkeys(("max", "min"), _reduced((_INT, _FLOAT))),
    **dict.fromkeys(("any", "all"), _reduced((_BOOL,), of_none=True)),
    **dict.fromkeys(("argmax", "argmin"), _position),
    "matmul": _product,
}
"""By op, what gives the type of its result for those of its operands; None where JAX must be asked."""
