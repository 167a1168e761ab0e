"""Checks of shapes, which are known while a function is traced: so they are looked at then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike
from graphc.compiler.ops import shape as shape_of

__all__ = ["assert_rank", "assert_rank_at_least", "assert_rank_in", "assert_scalar", "assert_shapes"]


def _error(function: str, text: str, message: str | None) -> InvalidArgumentError:
    return at(InvalidArgumentError(f"{function}: {text}" + (f"; {message}" if message else "")), user_location())


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
    known: dict[Any, tuple[int, str]] = {}
    for place, (tensor, symbols) in enumerate(pairs):
        tensor = tensor.deref() if hasattr(tensor, "deref") else tensor
        if not isinstance(symbols, str) and not isinstance(symbols, Sequence):
            raise _error("assert_shapes", f"a shape is a list of sizes or names, got {symbols!r:.60}", message)
        _check_shape(f"tensor {place}", tuple(shape_of(tensor)), list(cast("Sequence[Any]", symbols)), known, message)


def _check_shape(
    what: str, shape: tuple[int, ...], symbols: list[Any], known: dict[Any, tuple[int, str]], message: str | None
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
        found, where = known.setdefault(symbol, (size, f"{what}, axis {axis}")) if fixed is None else (fixed, "")
        if size != found:
            reason = f" as {symbol!r} of {where}" if where else ""
            raise _error(
                "assert_shapes", f"axis {axis} of {what} of shape {shape} must have size {found}{reason}", message
            )
