"""Error messages for arguments that JAX refuses, in graphc's words and with the parameters' names.

They are computed only when a call has failed, so that other calls cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from numbers import Number
from typing import Any, TypeAlias, cast

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.ops.signature import RowSignature

Shape: TypeAlias = tuple[int, ...]
Need: TypeAlias = Callable[[Mapping[str, Shape], Mapping[str, Any]], str | None]
"""A requirement of an op beyond types: from the tensors' shapes and the attributes, by name, to a sentence about the
violation; None if there is none."""

# -1 means the remaining size.
_WITH_A_REST = frozenset({"reshape"})


def matrices(*names: str) -> Need:
    """Returns the check that arguments are matrices, or batches of matrices."""

    def need(shapes: Mapping[str, Shape], attrs: Mapping[str, Any]) -> str | None:
        for name in names:
            if len(shapes[name]) < 2:
                return f"{name} has the shape {shapes[name]}, expected a matrix or a batch of matrices"
        return None

    return need


def square(*names: str) -> Need:
    """Returns the check that arguments are square matrices, or batches of them."""

    def need(shapes: Mapping[str, Shape], attrs: Mapping[str, Any]) -> str | None:
        for name in names:
            shape = shapes[name]
            if len(shape) < 2 or shape[-1] != shape[-2]:
                return f"{name} has the shape {shape}, expected a square matrix or a batch of them"
        return None

    return need


def solvable(matrix: str, right: str) -> Need:
    """Returns the check for a square matrix and right sides with as many rows: a vector, or matrices."""

    def need(shapes: Mapping[str, Shape], attrs: Mapping[str, Any]) -> str | None:
        size, shape = shapes[matrix][-1], shapes[right]
        rows = shape[-1] if len(shape) == 1 else shape[-2] if shape else None
        if rows != size:
            return f"{right} has the shape {shape}, expected a vector of {size} elements or a matrix of {size} rows"
        return None

    return all_of(square(matrix), need)


def products(left: str, right: str) -> Need:
    """Returns the check for the factors of a matrix product."""

    def need(shapes: Mapping[str, Shape], attrs: Mapping[str, Any]) -> str | None:
        one, other = shapes[left], shapes[right]
        for name, shape in ((left, one), (right, other)):
            if not shape:
                return f"{name} has the shape (), expected a vector or a matrix"
        rows = other[-1] if len(other) == 1 else other[-2]
        if one[-1] != rows:
            what = "elements" if len(other) == 1 else "rows"
            return f"{left} has {one[-1]} columns and {right} has {rows} {what}, expected equal numbers"
        if len(one) > 1 and len(other) > 1 and not _fit(one[:-2], other[:-2]):
            return f"the batch axes {one[:-2]} and {other[:-2]} cannot be broadcast together"
        return None

    return need


def broadcasts(name: str, to: str = "shape") -> Need:
    """Returns the check that a tensor can be broadcast to a shape."""

    def need(shapes: Mapping[str, Shape], attrs: Mapping[str, Any]) -> str | None:
        shape, wanted = shapes[name], _sizes(attrs[to])
        if len(shape) > len(wanted) or not _fit(shape, wanted, into=True):
            return f"{name} has the shape {shape}, which cannot be broadcast to {wanted}"
        return None

    return need


def counts(*names: str) -> Need:
    """Returns the check that these attributes, if given, are nonnegative."""

    def need(shapes: Mapping[str, Shape], attrs: Mapping[str, Any]) -> str | None:
        for name in names:
            count = attrs.get(name)
            if isinstance(count, int) and count < 0:
                return f"{name} is {count}, expected a nonnegative int"
        return None

    return need


def all_of(*needs: Need) -> Need:
    """Returns the check of several requirements, which reports the first violation."""

    def need(shapes: Mapping[str, Shape], attrs: Mapping[str, Any]) -> str | None:
        return next((problem for one in needs if (problem := one(shapes, attrs)) is not None), None)

    return need


def explainer(
    name: str, signature: RowSignature, need: Need | None
) -> Callable[[Sequence[Any], Mapping[str, Any]], InvalidArgumentError | None]:
    """Returns the function that explains an op's invalid arguments; it returns None to keep JAX's message."""

    def explain(values: Sequence[Any], attrs: Mapping[str, Any]) -> InvalidArgumentError | None:
        for attribute, annotation in signature.annotations.items():
            if attribute in attrs and (rule := _RULES.get(annotation.removesuffix(" | None"))) is not None:
                if attrs[attribute] is None and annotation.endswith(" | None"):
                    continue
                error = rule(attribute, attrs[attribute], name in _WITH_A_REST)
                if error is not None:
                    return error
        if need is None or len(values) != len(signature.tensors):
            return None
        shapes = {name: np.shape(value) if not hasattr(value, "shape") else value.shape
                  for name, value in zip(signature.tensors, values, strict=True)}  # fmt: skip
        problem = need(shapes, {**signature.defaults, **attrs})
        return None if problem is None else InvalidArgumentError(problem)

    return explain


def _wrong_int(name: str, value: Any, rest: bool) -> InvalidArgumentError | None:
    del rest
    return None if isinstance(value, int) else InvalidTypeError(f"{name} is {value!r:.60}, expected an int")


def _wrong_shape(name: str, value: Any, rest: bool) -> InvalidArgumentError | None:
    sizes = _sizes(value)
    if not all(isinstance(size, int) for size in sizes):
        return InvalidTypeError(f"{name} is {value!r:.60}, expected an int or a tuple of ints")
    if any(size < 0 for size in sizes) and not rest:
        return InvalidArgumentError(f"{name} is {value!r:.60}, expected nonnegative ints")
    return None


def _no_number(name: str, value: Any, rest: bool) -> InvalidArgumentError | None:
    del rest
    return None if isinstance(value, Number) else InvalidTypeError(f"{name} is {value!r:.60}, expected a number")


_RULES: Mapping[str, Callable[[str, Any, bool], InvalidArgumentError | None]] = {
    "float": _no_number,
    "int": _wrong_int,
    "Shape": _wrong_shape,
}


def _sizes(shape: Any) -> tuple[Any, ...]:
    """Returns a shape as a tuple; an int is a shape with one axis."""
    return cast("tuple[Any, ...]", shape) if isinstance(shape, tuple) else (shape,)


def _fit(one: Shape, other: Shape, *, into: bool = False) -> bool:
    """Returns True if two shapes broadcast, or with ``into`` the first one to the second."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return all(size == wanted or size == 1 or (wanted == 1 and not into) for size, wanted in pairs)


def of_ordered(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the place of an extremum; of complex numbers JAX tells only when it lowers it that it has none."""

    @wraps(function)
    def found(x: Any, *args: Any, **options: Any) -> Any:
        if np.issubdtype(x.dtype, np.complexfloating):
            raise TypeError("complex numbers have no order; take that of gx.abs(x) or gx.real(x)")
        return function(x, *args, **options)

    return found
