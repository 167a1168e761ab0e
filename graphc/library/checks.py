"""What must hold of tensors: checked at once, or by compiled functions when they run (``gx.checks``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph import require
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import ArrayLike, ArrayMethods, SymbolicTensor, Tensor, as_dtype
from graphc.compiler.ops import (
    DTypeName,
    asarray,
    equal,
    float32,
    greater,
    greater_equal,
    isfinite,
    less,
    less_equal,
    not_equal,
)
from graphc.compiler.ops import abs as size_of
from graphc.compiler.ops import all as all_of
from graphc.compiler.ops import shape as shape_of
from graphc.compiler.tracing import is_array

__all__ = [
    "assert_all_finite", "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer", "assert_less",
    "assert_less_equal", "assert_near", "assert_negative", "assert_non_negative", "assert_non_positive",
    "assert_none_equal", "assert_positive", "assert_proper_iterable", "assert_rank", "assert_rank_at_least",
    "assert_rank_in", "assert_same_float_dtype", "assert_scalar", "assert_shapes", "assert_true", "assert_type",
    "is_numeric_tensor",
]  # fmt: skip

# Checks of shapes, which are known while a function is traced: so they are looked at then.


def _error(function: str, text: str, message: str | None) -> InvalidArgumentError:
    return InvalidArgumentError(f"{function}: {text}" + (f"; {message}" if message else "")).here()


def _check_rank(function: str, x: Any, ranks: Sequence[int], message: str | None, *, at_least: bool = False) -> None:
    shape = tuple(shape_of(x))
    if len(shape) < ranks[0] if at_least else len(shape) not in ranks:
        expected = f"{'at least ' if at_least else ''}{' or '.join(map(str, ranks))}"
        raise _error(function, f"x of shape {shape} has rank {len(shape)}, expected {expected}", message)


def assert_rank(x: ArrayLike, rank: int, message: str | None = None) -> None:
    """Raises an error unless a tensor has so many axes.

    Args:
      x: a tensor.
      rank: the number of axes.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: it has another number.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_rank([1.0, 2.0], 1)
    """
    _check_rank("assert_rank", x, [int(rank)], message)


def assert_rank_at_least(x: ArrayLike, rank: int, message: str | None = None) -> None:
    """Raises an error if a tensor has fewer axes; see :func:`assert_rank`."""
    _check_rank("assert_rank_at_least", x, [int(rank)], message, at_least=True)


def assert_rank_in(x: ArrayLike, ranks: Iterable[int], message: str | None = None) -> None:
    """Raises an error unless a tensor has one of these numbers of axes; see :func:`assert_rank`."""
    _check_rank("assert_rank_in", x, [int(rank) for rank in ranks], message)


def assert_scalar(x: ArrayLike, message: str | None = None) -> ArrayLike:
    """Returns a tensor, and raises an error if it has axes; see :func:`assert_rank`."""
    _check_rank("assert_scalar", x, [0], message)
    return x


Shapes = Mapping[Any, Any] | Sequence[tuple[Any, Any]]


def assert_shapes(shapes: Shapes, message: str | None = None) -> None:
    """Raises an error unless tensors have the shapes that are given, in which names stand for sizes.

    Args:
      shapes: pairs of a tensor and its shape. A size is an int, None or ``"."`` for any, or a name, which is the same
        size wherever it stands. ``...`` or ``"*"`` as the first or the last size stands for any number of axes. A text
        has one letter for each axis.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: a tensor has another number of axes, or another size.

    Example:
      >>> import graphc as gx
      >>> x, w = gx.ones((2, 3)), gx.ones((3, 4))
      >>> gx.checks.assert_shapes([(x, ("batch", "in")), (w, ("in", 4))])
    """
    pairs = list(shapes.items()) if isinstance(shapes, Mapping) else list(shapes)
    bindings: dict[Any, tuple[int, str]] = {}
    for index, (tensor, symbols) in enumerate(pairs):
        tensor = tensor.deref() if hasattr(tensor, "deref") else tensor
        if not isinstance(symbols, str) and not isinstance(symbols, Sequence):
            raise _error("assert_shapes", f"a shape is a list of sizes or names, got {symbols!r:.60}", message)
        _check_shape(
            f"tensor {index}", tuple(shape_of(tensor)), list(cast("Sequence[Any]", symbols)), bindings, message
        )


def _check_shape(
    what: str, shape: tuple[int, ...], symbols: list[Any], bindings: dict[Any, tuple[int, str]], message: str | None
) -> None:
    wanted, sizes = symbols, list(shape)
    if symbols and symbols[0] in (..., "*"):
        wanted, sizes = symbols[1:], sizes[max(len(sizes) - len(symbols) + 1, 0) :]
    elif symbols and symbols[-1] in (..., "*"):
        wanted, sizes = symbols[:-1], sizes[: len(symbols) - 1]
    if len(wanted) != len(sizes):
        expected = f"{'at least ' if wanted is not symbols else ''}{len(wanted)}"
        raise _error("assert_shapes", f"{what} of shape {shape} has rank {len(shape)}, expected {expected}", message)
    for axis, (symbol, size) in enumerate(zip(wanted, sizes, strict=True)):
        if symbol in (None, "."):
            continue
        fixed = int(symbol) if isinstance(symbol, int) or (isinstance(symbol, str) and symbol.isdigit()) else None
        required, where = bindings.setdefault(symbol, (size, f"{what}, axis {axis}")) if fixed is None else (fixed, "")
        if size != required:
            reason = f" as {symbol!r} of {where}" if where else ""
            raise _error(
                "assert_shapes", f"axis {axis} of {what} of shape {shape} must have size {required}{reason}", message
            )


# Checks of dtypes, which are known while a function is traced: so they are looked at then.


def _types_error(function: str, text: str, message: str | None) -> InvalidTypeError:
    return InvalidTypeError(f"{function}: {text}" + (f"; {message}" if message else "")).here()


def assert_type(x: ArrayLike, dtype: Any, message: str | None = None) -> None:
    """Raises an error unless a tensor has a dtype.

    Args:
      x: a tensor.
      dtype: the dtype.
      message: extra text for the error message.

    Raises:
      InvalidTypeError: it has another.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_type([1.0], gx.float32)
    """
    actual = asarray(x).dtype
    if actual != as_dtype(dtype):
        raise _types_error("assert_type", f"the dtype is {actual}, expected {as_dtype(dtype)}", message)


def assert_integer(x: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless a tensor holds integers; see :func:`assert_type`."""
    actual = asarray(x).dtype
    if actual.kind not in "iu":
        raise _types_error("assert_integer", f"the dtype is {actual}, expected integers", message)


def assert_same_float_dtype(tensors: Iterable[ArrayLike] | None = None, dtype: Any = None) -> DTypeName:
    """Returns the dtype that all tensors have, and raises an error if they differ or it is not floating.

    Args:
      tensors: tensors; None for none.
      dtype: the dtype that they must have; that of the first when None, and float32 if there are none.

    Raises:
      InvalidTypeError: the dtypes differ, or it is not floating.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_same_float_dtype([[1.0], gx.ones(2)])
      graphc.float32
    """
    wanted = None if dtype is None else DTypeName(as_dtype(dtype))
    for tensor in tensors or ():
        actual = DTypeName(asarray(tensor).dtype)
        wanted = actual if wanted is None else wanted
        if actual != wanted:
            text = f"a tensor has the dtype {actual.name}, expected {wanted.name}"
            raise _types_error("assert_same_float_dtype", text, None)
    if wanted is not None and not wanted.is_floating:
        raise _types_error("assert_same_float_dtype", f"the dtype is {wanted.name}, expected a floating one", None)
    return float32 if wanted is None else wanted


def assert_proper_iterable(values: Any) -> None:
    """Raises an error unless a value is something to iterate over that is no tensor, array or text.

    Raises:
      InvalidTypeError: it is none.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_proper_iterable([gx.ones(2)])
    """
    improper = isinstance(values, str | bytes | ArrayMethods | np.ndarray) or is_array(values)
    candidate = cast("Any", values)
    if improper or not hasattr(candidate, "__iter__"):
        text = f"expected a list or the like of values, got {type(candidate).__name__} {candidate!r:.60}"
        raise _types_error("assert_proper_iterable", text, None)


def is_numeric_tensor(x: Any) -> bool:
    """Returns whether a value is a tensor or an array of numbers.

    Example:
      >>> import graphc as gx
      >>> gx.checks.is_numeric_tensor(gx.ones(2)), gx.checks.is_numeric_tensor([1.0])
      (True, False)
    """
    return hasattr(x, "dtype") and getattr(x.dtype, "kind", "") in tuple("iufcV")


# Checks of values: in a compiled function they are looked at when it runs, and the call fails.


def _check(function: str, text: str, condition: Any, message: str | None) -> None:
    # Written as any exception's, so that a compiled function can raise it when it runs.
    error = InvalidArgumentError(f"{function}: {text}" + (f"; {message}" if message else "")).here()
    holds = all_of(condition)
    require(holds if isinstance(holds, SymbolicTensor) else bool(holds), lambda: error)


def assert_true(condition: ArrayLike, data: Any = None, message: str | None = None) -> None:
    """Raises an error unless a condition holds for every element (TensorFlow's ``Assert``).

    Args:
      condition: booleans.
      data: known values to show in the message.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: it does not hold.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_true(gx.asarray([1, 2]) > 0)
    """
    _check(
        "assert_true", "the condition does not hold" + ("" if data is None else f"; data: {data}"), condition, message
    )


def assert_equal(x: ArrayLike, y: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless x and y are equal, element by element.

    Args:
      x: a tensor.
      y: a tensor; both are broadcast.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: x and y differ.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_equal([1, 2], [1, 2])
    """
    _check("assert_equal", "x and y differ", equal(x, y), message)


def assert_none_equal(x: ArrayLike, y: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless x and y differ, element by element; see :func:`assert_equal`."""
    _check("assert_none_equal", "x and y are equal somewhere", not_equal(x, y), message)


def assert_greater(x: ArrayLike, y: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless x is greater than y, element by element; see :func:`assert_equal`."""
    _check("assert_greater", "x is not greater than y everywhere", greater(x, y), message)


def assert_greater_equal(x: ArrayLike, y: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless x is at least y, element by element; see :func:`assert_equal`."""
    _check("assert_greater_equal", "x is less than y somewhere", greater_equal(x, y), message)


def assert_less(x: ArrayLike, y: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless x is less than y, element by element; see :func:`assert_equal`."""
    _check("assert_less", "x is not less than y everywhere", less(x, y), message)


def assert_less_equal(x: ArrayLike, y: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless x is at most y, element by element; see :func:`assert_equal`."""
    _check("assert_less_equal", "x is greater than y somewhere", less_equal(x, y), message)


def assert_positive(x: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless all elements are above 0.

    Args:
      x: a tensor.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: x is not above 0 everywhere.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_positive([1, 2])
    """
    _check("assert_positive", "x is not above 0 everywhere", greater(x, 0), message)


def assert_non_positive(x: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless no element is above 0; see :func:`assert_positive`."""
    _check("assert_non_positive", "x is above 0 somewhere", less_equal(x, 0), message)


def assert_negative(x: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless all elements are below 0; see :func:`assert_positive`."""
    _check("assert_negative", "x is not below 0 everywhere", less(x, 0), message)


def assert_non_negative(x: ArrayLike, message: str | None = None) -> None:
    """Raises an error unless no element is below 0; see :func:`assert_positive`."""
    _check("assert_non_negative", "x is below 0 somewhere", greater_equal(x, 0), message)


def assert_near(x: ArrayLike, y: ArrayLike, rtol: Any = None, atol: Any = None, message: str | None = None) -> None:
    """Raises an error unless ``|x - y| <= atol + rtol * |y|``, element by element.

    Args:
      x: a tensor.
      y: a tensor; both are broadcast.
      rtol: the tolerance, relative to ``y``; ten times the dtype's precision when None.
      atol: the absolute tolerance; the same when None.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: they are farther from each other.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_near([1.0], [1.0000001])
    """
    first, second = asarray(x), asarray(y)
    precision = 10 * float(np.finfo(first.dtype).eps) if first.dtype.kind == "f" else 0.0
    rtol, atol = (precision if rtol is None else rtol), (precision if atol is None else atol)
    near = size_of(first - second) <= atol + rtol * size_of(second)
    _check("assert_near", "x and y are not near each other", near, message)


def assert_all_finite(x: ArrayLike, message: str | None = None) -> Tensor:
    """Returns a tensor, and raises an error if an element is infinite or NaN.

    Args:
      x: a tensor.
      message: extra text for the error message.

    Raises:
      InvalidArgumentError: an element is.

    Example:
      >>> import graphc as gx
      >>> gx.checks.assert_all_finite([1.0, 2.0]).tolist()
      [1.0, 2.0]
    """
    tensor = asarray(x)
    _check("assert_all_finite", "x is infinite or NaN somewhere", isfinite(tensor), message)
    return tensor
