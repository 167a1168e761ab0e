"""Compositions: tensors made, joined, cut and described."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from graphc.base import at, nest, user_location
from graphc.base.errors import InvalidArgumentError
from graphc.core import SymbolicTensor, as_dtype, context, converted, is_symbolic
from graphc.ops import functions as gx

__all__ = [
    "constant",
    "ensure_shape",
    "eye",
    "number_of",
    "pad",
    "shape",
    "split",
    "steps",
    "transpose",
]


def constant(value: Any, dtype: Any, shape: Any) -> Any:
    """A tensor of a value; one number is repeated to a shape."""
    tensor = gx.asarray(value, dtype=_of_complex(value) if dtype is None else dtype)
    if shape is None:
        return tensor
    sizes = tuple(shape)
    return gx.broadcast_to(tensor, sizes) if tensor.ndim == 0 else gx.reshape(tensor, sizes)


def _of_complex(value: Any) -> Any:
    """The dtype of Python's complex numbers, which have 64-bit parts although floats have 32 bits; None for others."""
    numbers = nest.flatten(value)[0] if isinstance(value, list | tuple | complex) else []
    plain = all(isinstance(number, int | float | complex) for number in numbers)
    return "complex128" if plain and any(isinstance(number, complex) for number in numbers) else None


def shape(x: Any, out_type: Any) -> Any:
    """The shape as a tensor; in a compiled function, which knows it, as a NumPy array, whose items are numbers."""
    if isinstance(x, SymbolicTensor) and x.type.is_open:
        return number_of(gx.shape_tensor(x), out_type)
    return number_of(gx.shape(x), out_type)


def number_of(value: Any, out_type: Any) -> Any:
    """What is known of a tensor as a tensor; in a compiled function as NumPy's number or array."""
    if isinstance(value, SymbolicTensor):  # of a graph that is built by hand: only a run knows it
        return value if out_type is None else gx.astype(value, out_type)
    found = np.asarray(value, as_dtype("int32" if out_type is None else out_type))
    if context.trace is None:
        return gx.asarray(found)
    return found if found.ndim else found[()]


def steps(start: Any, limit: Any, delta: Any, dtype: Any) -> Any:
    """The numbers from start to limit, left out, in steps; one number alone is the limit.

    Where the limits are tensors of a compiled function there is no tensor of so many elements, and this is what a
    loop runs over.
    """
    start, limit = (0, start) if limit is None else (start, limit)
    bounds = [start, limit, delta]
    if any(is_symbolic(bound) for bound in bounds):
        if context.trace is not None and context.trace.root.is_graph:
            return gx.arange(*bounds, dtype=dtype)
        return converted(range)(*bounds)
    given = [bound.numpy() if hasattr(bound, "numpy") else bound for bound in bounds]
    kinds = [bound.dtype for bound in given if hasattr(bound, "dtype")]
    if dtype is None and kinds:
        dtype = np.result_type(*kinds)
    if dtype is None:
        dtype = "float32" if any(isinstance(bound, float) for bound in given) else "int32"
    return gx.arange(*[bound.item() if hasattr(bound, "item") else bound for bound in given], dtype=dtype)


def eye(num_rows: int, num_columns: int | None, batch_shape: Any, dtype: Any) -> Any:
    """Ones on the diagonal of a matrix, or of a batch of matrices."""
    matrix = gx.eye(num_rows, num_columns, dtype=dtype)
    return matrix if batch_shape is None else gx.broadcast_to(matrix, (*batch_shape, *matrix.shape))


def pad(tensor: Any, paddings: Any, mode: str, constant_values: Any) -> Any:
    """Enlarged by so many elements before and after each axis: constants, or the tensor mirrored."""
    kind = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}.get(mode.upper())
    if kind is None:
        error = InvalidArgumentError(f"tf.pad: mode is {mode!r}, expected 'CONSTANT', 'REFLECT' or 'SYMMETRIC'")
        raise at(error, user_location())
    return gx.pad(tensor, paddings, kind, constant_values)


def transpose(a: Any, perm: Any, conjugate: bool) -> Any:
    """The axes in another order; reversed for None."""
    return gx.permute_dims(gx.conj(a) if conjugate else a, perm)


def split(value: Any, num_or_size_splits: Any, axis: int) -> list[Any]:
    """Cut along axis into so many equal parts, or into parts of these sizes, of which one may be -1."""
    value = gx.asarray(value)
    given = num_or_size_splits.tolist() if hasattr(num_or_size_splits, "tolist") else num_or_size_splits
    if isinstance(given, int):
        return list(gx.split(value, given, axis))
    total = value.shape[axis]
    sizes = [total - sum(size for size in given if size >= 0) if size < 0 else size for size in given]
    if sum(sizes) != total:
        error = InvalidArgumentError(f"tf.split: parts of sizes {list(given)} do not make the {total} of axis {axis}")
        raise at(error, user_location())
    return list(gx.split(value, [*itertools.accumulate(sizes[:-1])], axis)) if sizes[1:] else [value]


def ensure_shape(x: Any, shape: Any) -> Any:
    """The tensor, whose shape is checked; None stands for any size."""
    x = gx.asarray(x)
    if shape is not None:
        wanted = tuple(shape)
        fits = len(wanted) == x.ndim and all(one in (None, have) for one, have in zip(wanted, x.shape, strict=False))
        if not fits:
            error = InvalidArgumentError(f"tf.ensure_shape: the shape is {x.shape}, expected {wanted}")
            raise at(error, user_location())
    return x
