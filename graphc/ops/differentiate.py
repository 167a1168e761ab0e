"""The vjp op: the vector-Jacobian product of any op, itself an op.

``vjp(primals..., cotangents...)`` has the attributes of the op it differentiates. It is a pure function of the primal
inputs, so graphs stay pure; where a program holds both an op and its vjp, the lowering evaluates them together, so
that the forward pass is computed once. Since vjp is an op, its own vjp gives higher orders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, cast

import jax
import jax.numpy as jnp

from graphc.base import at, nest, user_location
from graphc.base.errors import UnimplementedError
from graphc.core import SCALARS, SymbolicTensor, kernel, type_of_any
from graphc.ir import OPS, Attrs, Graph, OpDef, TensorType
from graphc.ops.collectives import COLLECTIVES
from graphc.ops.table import infer_by_evaluation

__all__ = ["VJP", "check_reverse", "linearize", "vjp_attrs"]

Pullback = Callable[[Sequence[Any]], tuple[Any, ...]]


def linearize(
    function: Callable[..., Any], primals: Sequence[Any], wrt: Sequence[int], cotangents: Sequence[bool]
) -> tuple[tuple[Any, ...], Pullback]:
    """Evaluates a function and gives its pullback.

    Args:
      function: takes the primals, returns a value or a tuple.
      primals: where to evaluate.
      wrt: which primals to differentiate with respect to; of inexact dtype.
      cotangents: for each output, whether the pullback is given a cotangent for it.

    Returns:
      All outputs, and the pullback: cotangents to one gradient for each of ``wrt``.
    """

    def selected(*chosen: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        values = list(primals)
        for position, value in zip(wrt, chosen, strict=True):
            values[position] = value
        outputs = nest.as_tuple(function(*values))
        return tuple(output for output, given in zip(outputs, cotangents, strict=True) if given), outputs

    chosen = [jnp.asarray(primals[position]) for position in wrt]
    pullback: Any
    _, pullback, outputs = cast("Any", jax.vjp)(selected, *chosen, has_aux=True)
    return outputs, lambda given: pullback(tuple(given))


def _vjp(*values: Any, op: str, attrs: Any, wrt: Any, cotangents: Any, bodies: Sequence[Any] = ()) -> tuple[Any, ...]:
    forward = OPS[op]
    function = partial(forward.impl, **dict(attrs), **forward.region_keywords(bodies))
    count = len(values) - sum(cotangents)
    _, pullback = linearize(function, values[:count], wrt, cotangents)
    return pullback(values[count:])


def check_reverse(
    op: OpDef, inputs: Sequence[Any], attrs: Attrs, regions: Sequence[Graph], outputs: Sequence[Any]
) -> None:
    """Refuses the gradient of a loop whose trip count is not known: what each iteration needs could not be kept.

    Args:
      op: the op to differentiate.
      inputs: its primal inputs and the cotangents.
      attrs: of its vjp.
      regions: its bodies.
      outputs: what it gave.

    Raises:
      UnimplementedError: the gradient goes through a while loop; the message names its line.
    """
    inner = [node for region in regions for node in region.walk() if node.op.name == "while"]
    own = attrs["op"] == "while" or op.name == "while"
    if not inner and not own:
        return
    try:
        jax.eval_shape(kernel(VJP, attrs, regions), *map(_abstract, inputs))
    except ValueError:
        made = outputs[0].raw.node if isinstance(outputs[0], SymbolicTensor) else None
        floating = [node for node in inner if any(output.type.is_inexact for output in node.outputs)]
        nodes = [made] if own and made is not None else floating or inner
        error = UnimplementedError(
            "the gradient goes through a while loop (or a for loop with break, return or a tensor bound), and how "
            "often it runs is not known when the function is traced; loop over a Python range or a tensor, and end "
            "early with gx.where, or wrap the loop in gx.stop_gradient"
        )
        raise at(error, nodes[0].location if nodes else user_location()) from None


def _abstract(value: Any) -> Any:
    if type(value) in SCALARS:
        return value
    type_ = type_of_any(value)
    return jax.ShapeDtypeStruct(type_.shape, type_.dtype, weak_type=type_.weak)


_infer_without_regions = infer_by_evaluation(_vjp)


def _infer(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    """Gradients have the primals' types; without regions JAX says whether they are weak."""
    if regions or attrs["op"] in COLLECTIVES:  # which JAX can evaluate only inside the program of all replicas
        positions: tuple[int, ...] = attrs["wrt"]
        return tuple(TensorType(types[position].shape, types[position].dtype) for position in positions)
    return _infer_without_regions(types, attrs, regions)


VJP = OPS.add(
    "vjp",
    OpDef(
        "vjp",
        impl=_vjp,
        infer=_infer,
        params=("*values",),
        regions=("*bodies",),
        doc="The vector-Jacobian product of an op at its primal inputs.",
    ),
)


def vjp_attrs(op: OpDef, attrs: Attrs, wrt: Sequence[int], cotangents: Sequence[bool]) -> Attrs:
    """The attributes of the vjp of ``op``; see :func:`linearize` for ``wrt`` and ``cotangents``."""
    return _vjp_attrs(op.name, attrs, tuple(wrt), tuple(cotangents))


@lru_cache(maxsize=4096)
def _vjp_attrs(op: str, attrs: Attrs, wrt: tuple[int, ...], cotangents: tuple[bool, ...]) -> Attrs:
    return Attrs(op=op, attrs=tuple(sorted(attrs.items())), wrt=wrt, cotangents=cotangents)
