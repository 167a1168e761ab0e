"""Late ops: ops whose static attributes are tensors, such as ``reshape(x, shape)`` with a shape known only at run time.

Such a node is applied once the tensors' values are known, when the graph is specialized for a run. Until then its
output types are known only as far as these values are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from graphc.compiler.ir.opdef import OPS, OpDef
from graphc.compiler.ir.open_inference import ints_in, probe
from graphc.compiler.ir.types import OPEN, Attrs, TensorType

if TYPE_CHECKING:
    from graphc.compiler.ir.graph import Graph

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
"""Placeholder, in an attribute, for the value of the next of the node's last inputs."""


def late_op(op: OpDef) -> OpDef:
    """Returns the op that applies another op late."""
    return LATE if op.differentiable else LATE_CONSTANT


def applied_name(op: OpDef, attrs: Mapping[str, Any]) -> str:
    """Returns the name of the op that the user called: a late op's inner op, or the op itself."""
    return attrs["op"] if op in (LATE, LATE_CONSTANT) else op.name


def late_attrs(op: OpDef, attrs: Mapping[str, Any], late: Sequence[str], known: Sequence[Any]) -> Attrs:
    """Returns the attributes of a late node.

    Args:
      op: the op that it applies.
      attrs: the attributes of this op, with ``LATE_MARK`` for each value that an input provides.
      late: the names of the attributes with marks.
      known: for each of these inputs its elements in order, with None for an unknown one; None if their number is
        unknown.
    """
    return Attrs(op=op.name, attrs=tuple(sorted(attrs.items())), late=tuple(sorted(late)), known=tuple(known))


def late_inputs(attrs: Attrs) -> int:
    """Returns the number of last inputs that provide attributes."""
    return len(attrs["known"])


def applied(attrs: Attrs, values: Sequence[Any]) -> tuple[OpDef, Attrs]:
    """Returns the op that a late node applies, with its attributes.

    Args:
      values: the inputs that provide attributes, as ints and nested tuples of ints.
    """
    rest = iter(values)
    items = {name: _filled(value, rest) if name in attrs["late"] else value for name, value in attrs["attrs"]}
    return OPS[attrs["op"]], Attrs(items)


def applied_attrs(attrs: Mapping[str, Any], types: Sequence[Any]) -> tuple[OpDef, Attrs]:
    """Returns the op that a late node applies, with types in place of the attributes that inputs provide.

    Args:
      attrs: the late node's attributes.
      types: the types of its inputs.
    """
    return applied(Attrs(attrs), [str(type) for type in types[len(types) - len(attrs["known"]) :]])


def static_ints(array: Any) -> Any:
    """Returns an array of integers as an attribute value."""
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
    """Infers the output types by trying numbers for the unknown values, as for open sizes."""
    del regions
    count = late_inputs(attrs)
    tensors, numbers = tuple(types[: len(types) - count]), types[len(types) - count :]
    for type in numbers:
        if type.dtype.kind not in "iu":
            raise TypeError(f"{type} cannot be a static attribute, which needs integers")
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
    """Returns a type with an open size for each unknown number."""
    if known is None:
        return TensorType((), type.dtype, ranked=False)
    return TensorType((OPEN,) * list(known).count(None), type.dtype)


def _put(type: TensorType, known: Any, guess: Sequence[int]) -> Any:
    """Returns the value of an input, with guesses for the unknown parts."""
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
