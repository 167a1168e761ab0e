"""The vjp op: the vector-Jacobian product of any op, itself an op.

``vjp(primals..., cotangents...)`` has the attributes of the differentiated op. It is a pure function of the primal
inputs, so graphs stay pure; if a program contains both an op and its vjp, the lowering evaluates them together, so that
the forward pass is computed once. Since vjp is an op, its own vjp gives higher orders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, cast

import jax
import jax.numpy as jnp

from graphc.compiler.base import nest
from graphc.compiler.core import dtype_rules
from graphc.compiler.ir import OPS, Attrs, Graph, OpDef, TensorType, define_op, ints_in, probe
from graphc.compiler.ops.collectives import COLLECTIVES
from graphc.compiler.ops.derivatives.modes import reverse_mode
from graphc.compiler.ops.host import replaying
from graphc.compiler.ops.table import infer_by_evaluation
from graphc.compiler.ops.type_rules import TYPE_RULES

Pullback = Callable[[Sequence[Any]], tuple[Any, ...]]


def linearize(
    function: Callable[..., Any], primals: Sequence[Any], wrt: Sequence[int], cotangents: Sequence[bool]
) -> tuple[tuple[Any, ...], Pullback]:
    """Evaluates a function and returns its pullback."""
    outputs, pullback = _vjp_of(function, primals, wrt, cotangents)
    return outputs, lambda seeds: pullback(tuple(seeds))


def linearize_op(
    op: OpDef, attrs: Attrs, primals: Sequence[Any], wrt: Sequence[int], cotangents: Sequence[bool]
) -> tuple[tuple[Any, ...], Pullback]:
    """Linearizes an op without bodies and effects, under a JAX trace; see :func:`linearize`."""
    # ``jax.vjp`` traces the op, its linearization and its transposition, which took two thirds of the lowering time of
    # a deep network. Equal layers need it once: both are kept as ``jax.jit`` functions, which JAX inlines with the
    # source location of each node.
    forward, backward = _linearized(op, attrs, tuple(wrt), tuple(cotangents), dtype_rules())
    outputs, pullback = forward(*primals)
    return outputs, lambda seeds: backward(pullback, tuple(seeds))


@lru_cache(maxsize=4096)
def _linearized(
    op: OpDef, attrs: Attrs, wrt: tuple[int, ...], cotangents: tuple[bool, ...], rules: Any
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    del rules  # the traced program depends on them, too
    function = partial(op.impl, **attrs) if attrs else op.impl

    def forward(*primals: Any) -> tuple[tuple[Any, ...], Any]:
        return _vjp_of(function, primals, wrt, cotangents)

    def backward(pullback: Any, seeds: tuple[Any, ...]) -> tuple[Any, ...]:
        return pullback(seeds)

    return jax.jit(forward, inline=True), jax.jit(backward, inline=True)


def _vjp_of(
    function: Callable[..., Any], primals: Sequence[Any], wrt: Sequence[int], cotangents: Sequence[bool]
) -> tuple[tuple[Any, ...], Any]:
    """Returns all outputs, and JAX's pullback, which is a pytree."""
    selected, chosen = _selected(function, primals, wrt, cotangents)
    with reverse_mode():
        _, pullback, outputs = cast("Any", jax.vjp)(selected, *chosen, has_aux=True)
    return outputs, pullback


def linearize_twice(
    function: Callable[..., Any], primals: Sequence[Any], wrt: Sequence[int], cotangents: Sequence[bool],
    wrt_again: Sequence[int], *, with_outputs: bool,
) -> tuple[tuple[Any, ...], Any, Any]:  # fmt: skip
    """Evaluates a function, whose pullback is to be differentiated."""
    # Returns all outputs; JAX's pullback, a pytree, whose arrays depend on the primals; and the function that takes a
    # pair, the cotangents of the outputs, or an empty tuple, and those of the pullback, to one gradient for each of
    # ``wrt_again``.

    def forward(*chosen: Any) -> tuple[tuple[Any, Any], tuple[Any, ...]]:
        values = list(primals)
        for position, value in zip(wrt_again, chosen, strict=True):
            values[position] = value
        outputs, pullback = _vjp_of(function, values, wrt, cotangents)
        taken = tuple(output for output, wanted in zip(outputs, cotangents, strict=True) if wanted and with_outputs)
        return (taken, pullback), outputs

    if not wrt_again:
        outputs, pullback = _vjp_of(function, primals, wrt, cotangents)
        return outputs, pullback, None
    with reverse_mode():
        linearized = cast("Any", jax.vjp)(forward, *[jnp.asarray(primals[index]) for index in wrt_again], has_aux=True)
    (_, pullback), back, outputs = linearized
    return outputs, pullback, back


def pushforward(
    function: Callable[..., Any], primals: Sequence[Any], wrt: Sequence[int], wanted: Sequence[bool]
) -> tuple[tuple[Any, ...], Any]:
    """Evaluates a function and returns its derivative, for :func:`pull_back`."""
    # Returns all outputs, and the pushforward from a tangent for each of ``wrt`` to one for each wanted output. It is a
    # pytree, which a compiled function may return.
    selected, chosen = _selected(function, primals, wrt, wanted)
    with reverse_mode():
        _, push, outputs = cast("Any", jax.linearize)(selected, *chosen, has_aux=True)
    return outputs, push


def pull_back(
    push: Any, types: Sequence[TensorType], mask: Sequence[bool], indices: Sequence[int], cotangents: Sequence[Any]
) -> tuple[Any, ...]:
    """Returns the gradients that a pushforward yields for the cotangents of some of its outputs."""
    # An output without a cotangent is left out, where a zero cotangent would not be: zero times an infinite derivative
    # is NaN.

    def outputs(*tangents: Any) -> tuple[Any, ...]:
        return tuple([output for output, wanted in zip(push(*tangents), mask, strict=True) if wanted])

    structs = [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in types]
    gradients: Sequence[Any] = cast("Any", jax.linear_transpose)(outputs, *structs)(tuple(cotangents))
    return tuple([gradients[index] for index in indices])


def _selected(
    function: Callable[..., Any], primals: Sequence[Any], wrt: Sequence[int], wanted: Sequence[bool]
) -> tuple[Callable[..., Any], list[Any]]:
    """Returns a function of the chosen primals to the wanted and then all outputs, and the chosen primals."""

    def selected(*chosen: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        values = list(primals)
        for position, value in zip(wrt, chosen, strict=True):
            values[position] = value
        outputs = nest.as_tuple(function(*values))
        return tuple(output for output, taken in zip(outputs, wanted, strict=True) if taken), outputs

    return selected, [jnp.asarray(primals[position]) for position in wrt]


def _vjp(*values: Any, op: str, attrs: Any, wrt: Any, cotangents: Any, bodies: Sequence[Any] = ()) -> tuple[Any, ...]:
    forward = OPS[op]
    function = partial(forward.impl, **dict(attrs), **forward.region_keywords(bodies))
    count = len(values) - sum(cotangents)
    with replaying():  # the forward pass has already had its side effects
        _, pullback = linearize(function, values[:count], wrt, cotangents)
        return pullback(values[count:])


_infer_without_regions = infer_by_evaluation(_vjp)

_PLAIN = frozenset((*TYPE_RULES, "get_item", "update_item"))
"""The ops that JAX surely differentiates; to ask takes 3 ms for each combination of op, attributes and types."""


def _infer(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    """Returns the primals' types for the gradients; JAX is asked for those of weak ones, and of ops of libraries."""
    positions: tuple[int, ...] = attrs["wrt"]
    primals = [types[position] for position in positions]
    # JAX evaluates collectives only inside the program of all replicas, and does not support open sizes.
    cotangents = types[len(types) - sum(attrs["cotangents"]) :]
    inferable = any(type.is_open for type in types) and not any(type.weak for type in primals)
    inferable |= attrs["op"] in _PLAIN and not any(type.weak for type in (*primals, *cotangents))
    if regions or inferable or attrs["op"] in COLLECTIVES:
        return tuple(replace(type, weak=False) for type in primals)

    def infer(types: Sequence[TensorType]) -> tuple[TensorType, ...]:
        return _infer_without_regions(types, attrs, regions)

    return probe(infer, tuple(types), ints_in(attrs)).types if any(type.is_open for type in types) else infer(types)


def _entries(
    types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]
) -> Sequence[Sequence[tuple[TensorType, int | None]]]:
    """Returns the entries of the differentiated op's bodies."""
    op, inner = OPS[attrs["op"]], Attrs(dict(attrs["attrs"]))
    if op.entries is None:
        return [[(value.type, None) for value in region.inputs] for region in regions]
    return op.entries(types[: len(types) - sum(attrs["cotangents"])], inner, regions)


VJP = define_op(
    "vjp",
    impl=_vjp,
    infer=_infer,
    params=("*values",),
    regions=("*bodies",),
    entries=_entries,
    takes_open=True,
    doc="The vector-Jacobian product of an op at its primal inputs.",
)


def vjp_attrs(op: OpDef, attrs: Attrs, wrt: Sequence[int], cotangents: Sequence[bool]) -> Attrs:
    """Returns the attributes of the vjp of ``op``; see :func:`linearize` for ``wrt`` and ``cotangents``."""
    return _vjp_attrs(op.name, attrs, tuple(wrt), tuple(cotangents))


@lru_cache(maxsize=4096)
def _vjp_attrs(op: str, attrs: Attrs, wrt: tuple[int, ...], cotangents: tuple[bool, ...]) -> Attrs:
    return Attrs(op=op, attrs=tuple(sorted(attrs.items())), wrt=wrt, cotangents=cotangents)
