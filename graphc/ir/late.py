"""Ops whose static attributes are tensors: ``reshape(x, shape)`` where a run of the graph knows the shape.

Such a node is applied once the tensors' values are known, when the graph is specialised for a run. Until then its
output types are known as far as those values are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from graphc.ir.opdef import OPS, OpDef
from graphc.ir.open_inference import ints_in, probe
from graphc.ir.types import OPEN, Attrs, TensorType

if TYPE_CHECKING:
    from graphc.ir.graph import Graph

__all__ = [
    "LATE",
    "LATE_CONSTANT",
    "LATE_MARK",
    "applied",
    "applied_attrs",
    "applied_name",
    "late_attrs",
    "late_inputs",
    "late_op",
    "static_ints",
]

LATE_MARK = "late"
"""Stands in an attribute where the value of the next of the last inputs goes."""


def late_op(op: OpDef) -> OpDef:
    """Returns the op that applies another one late."""
    return LATE if op.differentiable else LATE_CONSTANT


def applied_name(op: OpDef, attrs: Mapping[str, Any]) -> str:
    """Returns the name of an op, or of the one that it applies late: what the user called."""
    return attrs["op"] if op in (LATE, LATE_CONSTANT) else op.name


def late_attrs(op: OpDef, attrs: Mapping[str, Any], late: Sequence[str], known: Sequence[Any]) -> Attrs:
    """Returns the attributes of a late node.

    Args:
      op: what it applies.
      attrs: the attributes of that, with ``LATE_MARK`` for each value that an input gives.
      late: which of them have marks.
      known: of each of these inputs, its elements in order, None for one that is not known; None where it is not known
        how many there are.
    """
    return Attrs(op=op.name, attrs=tuple(sorted(attrs.items())), late=tuple(sorted(late)), known=tuple(known))


def late_inputs(attrs: Attrs) -> int:
    """Returns how many of the last inputs of a late node give attributes."""
    return len(attrs["known"])


def applied(attrs: Attrs, values: Sequence[Any]) -> tuple[OpDef, Attrs]:
    """Returns the op that a late node applies, and its attributes.

    Args:
      attrs: of the late node.
      values: the inputs that give attributes, as ints and nested tuples of ints.
    """
    rest = iter(values)
    items = {name: _filled(value, rest) if name in attrs["late"] else value for name, value in attrs["attrs"]}
    return OPS[attrs["op"]], Attrs(items)


def applied_attrs(attrs: Mapping[str, Any], types: Sequence[Any]) -> tuple[OpDef, Attrs]:
    """Returns the op that a late node applies, and its attributes, with types in them where inputs give values.

    Args:
      attrs: of the late node.
      types: of its inputs.
    """
    return applied(Attrs(attrs), [str(type) for type in types[len(types) - len(attrs["known"]) :]])


def static_ints(array: Any) -> Any:
    """Returns an array of integers as an attribute."""
    return _nested_tuple(np.asarray(array).tolist())


def _nested_tuple(value: Any) -> Any:
    return tuple(map(_nested_tuple, cast("list[Any]", value))) if isinstance(value, list) else value


def _filled(value: Any, rest: Iterator[Any]) -> Any:
    if isinstance(value, tuple):
        return tuple([_filled(item, rest) for item in cast("tuple[Any, ...]", value)])
    return next(rest) if value == LATE_MARK else value


def _evaluate(*values: Any, **attrs: Any) -> Any:
    given = Attrs(attrs)
    count = late_inputs(given)
    tensors, numbers = values[: len(values) - count], values[len(values) - count :]
    op, real = applied(given, [static_ints(number) for number in numbers])
    return op.impl(*tensors, **real)


def _infer(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    """Asks the op's inference with numbers put in for what is not known, as for open sizes."""
    del regions
    count = late_inputs(attrs)
    tensors, numbers = tuple(types[: len(types) - count]), types[len(types) - count :]
    for type in numbers:
        if type.dtype.kind not in "iu":
            raise TypeError(f"{type} gives no static attribute, which needs integers")
    unknown = tuple([_unknown(type, known) for type, known in zip(numbers, attrs["known"], strict=True)])

    def infer(given: tuple[TensorType, ...]) -> Sequence[TensorType]:
        values = [
            _put(type, known, guess.shape)
            for type, known, guess in zip(numbers, attrs["known"], given[len(tensors) :], strict=True)
        ]
        op, real = applied(attrs, values)
        return op.infer(given[: len(tensors)], real, ())

    return probe(infer, (*tensors, *unknown), [*ints_in(attrs["attrs"]), *ints_in(attrs["known"])]).types


def _unknown(type: TensorType, known: Any) -> TensorType:
    """Returns a type with an open size for each number that is not known."""
    if known is None:
        return TensorType((), type.dtype, ranked=False)
    return TensorType((OPEN,) * list(known).count(None), type.dtype)


def _put(type: TensorType, known: Any, guess: Sequence[int]) -> Any:
    """Returns the value of an input, with guesses for what is not known of it."""
    if known is None:
        return tuple(guess)
    rest = iter(guess)
    filled = [next(rest) if item is None else item for item in known]
    return static_ints(np.array(filled, object).reshape(type.shape))


def _row(name: str, *, differentiable: bool, impl: Callable[..., Any] = _evaluate) -> OpDef:
    return OPS.add(
        name,
        OpDef(
            name,
            impl=impl,
            infer=_infer,
            params=("*values",),
            differentiable=differentiable,
            takes_open=True,
            doc="An op some of whose static attributes are values of its last inputs.",
        ),
    )


LATE = _row("late", differentiable=True)
LATE_CONSTANT = _row("late.constant", differentiable=False)
