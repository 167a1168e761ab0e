"""``lax.sort``, which sorts one tensor, or several by the first ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from jax import lax

from graphc.compiler.core import FUNCTIONS, ArrayLike, Tensor, apply_all
from graphc.compiler.core import operand as as_operand
from graphc.compiler.ir import OPS, Attrs
from graphc.compiler.ops.public import static_value
from graphc.compiler.ops.table import define_ops, row

__all__ = ["sort"]


def _sort(*operands: Any, **attrs: Any) -> Any:
    return lax.sort(operands, **attrs)


define_ops(
    (
        row("lax.sort", _sort, "*operands, dimension: int = -1, is_stable: bool = True, num_keys: int = 1",
            "Tensors sorted by the first ones."),
    )
)  # fmt: skip


def sort(
    operand: ArrayLike | Sequence[ArrayLike], dimension: int = -1, is_stable: bool = True, num_keys: int = 1
) -> Tensor | tuple[Tensor, ...]:
    """Sorts along a dimension; several tensors are sorted by the first ones.

    Args:
      operand: a tensor, or a list or tuple of tensors of one shape.
      dimension: the axis to sort along. Static.
      is_stable: whether equal elements keep their order. Static.
      num_keys: the number of leading tensors to sort by. Static.

    Raises:
      InvalidArgumentError: shapes or attributes do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.lax.sort(gx.asarray([3, 1, 2])).tolist()
      [1, 2, 3]
      >>> keys, values = gx.lax.sort((gx.asarray([3, 1, 2]), gx.asarray([0.5, 1.5, 2.5])))
      >>> values.tolist()
      [1.5, 2.5, 0.5]
    """
    several = isinstance(operand, list | tuple)
    options = {"dimension": dimension, "is_stable": is_stable, "num_keys": num_keys}
    op = OPS["lax.sort"]
    attrs = Attrs({name: static_value(op, name, value) for name, value in options.items()})
    tensors = list(cast("Sequence[Any]", operand)) if several else [operand]
    outputs: Any = apply_all(op, [*map(as_operand, tensors)], attrs)
    return tuple(outputs) if several else outputs[0]


FUNCTIONS.add("lax.sort", sort)
