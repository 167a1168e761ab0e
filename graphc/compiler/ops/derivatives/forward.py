"""The jvp op: a graph and its tangents, in one forward pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax as _jax
import jax.numpy as jnp

from graphc.compiler.core import SymbolicTensor, Tensor, apply_all, region_function
from graphc.compiler.ir import Attrs, Graph, TensorType, define_op
from graphc.compiler.ops.derivatives.modes import forward_mode, has_custom_vjp, is_reverse, reverse_mode
from graphc.compiler.tracing import Region

jax: Any = _jax  # its functions are only partly annotated


def _jvp(
    *values: Any, num_primals: int, num_tangents: int, forward: bool = True, body: Callable[..., Any]
) -> tuple[Any, ...]:
    primals = [jnp.asarray(value) for value in values[:num_primals]]
    tangents = [
        jnp.asarray(tangent, primal.dtype)
        for tangent, primal in zip(values[num_primals : 2 * num_primals], primals, strict=True)
    ]
    rest = values[2 * num_primals :]

    def function(*inputs: Any) -> Any:
        results = tuple(body(*inputs, *rest))
        return results[:num_tangents], results[num_tangents:]

    # If cotangents are pulled back through this op later, its loops must be differentiable in reverse.
    push = _pushed if forward and not is_reverse() else _transposed
    results, moved, others = push(function, primals, tangents)
    # Strong types, as the graph declares for tangents, whatever their primals are.
    return (*results, *others, *(jax.lax.convert_element_type(tangent, tangent.dtype) for tangent in moved))


def _pushed(function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any, Any]:
    with forward_mode():
        return jax.jvp(function, tuple(primals), tuple(tangents), has_aux=True)


def _transposed(function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Returns the same from the pullback, for functions with a custom one: its transpose maps tangents to tangents."""
    # For functions with a custom pullback and no other derivative.
    with reverse_mode():
        results, pullback, others = jax.vjp(function, *primals, has_aux=True)
        _, transpose = jax.vjp(pullback, tuple([jnp.zeros_like(result) for result in results]))
        (moved,) = transpose(tuple(tangents))
    return results, moved, others


def _types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types
    results = [value.type for value in regions[0].outputs]
    moved = [replace(type, weak=False) for type in results[: attrs["num_tangents"]]]
    return (*results, *moved)


def _entries(
    types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]
) -> list[list[tuple[TensorType, int | None]]]:
    del regions
    count = attrs["num_primals"]  # followed by as many tangents
    return [[(type, index) for index, type in enumerate(types) if not count <= index < 2 * count]]


JVP = define_op(
    "jvp",
    impl=_jvp,
    infer=_types,
    params=("*values",),
    regions=("body",),
    entries=_entries,
    doc="The results of a graph, and their tangents.",
)


def emit_jvp(
    body: Region, arguments: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
    others: Sequence[SymbolicTensor], primals: Sequence[Tensor], tangents: Sequence[Tensor],
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:  # fmt: skip
    """Appends a jvp to the trace that encloses the region, which also writes the states that the region writes."""
    around, written = body.parent, body.written()
    invariant: list[Tensor] = [outer for outer, _ in body.captures.values()]
    shared = [inner for _, inner in body.captures.values()]
    for state in list(body.states.values()):
        invariant.append(state.variable.value())
        shared.append(state.entry)
    graph = body.close(
        [*arguments, *shared], [*outputs, *others, *(body.state(variable).current for variable in written)]
    )
    values = (*primals, *tangents, *invariant)
    attrs = Attrs(num_primals=len(primals), num_tangents=len(outputs))
    if not _goes_forward(graph):
        attrs = Attrs({**attrs, "forward": False})
    results = apply_all(JVP, values, attrs, (graph,))
    first, last = len(outputs), len(outputs) + len(others)
    for variable, value in zip(written, results[last:], strict=False):
        around.assign(variable, value)
    return results[:first], results[first:last], results[last + len(written) :]


def _goes_forward(graph: Graph) -> bool:
    """Returns True if JAX can push tangents through a graph, which custom pullbacks prevent."""
    types = [value.type for value in graph.inputs]
    structs = [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in types]
    try:
        with forward_mode():
            program = jax.make_jaxpr(region_function(graph))(*structs)
    except Exception:
        return False  # of what JAX cannot differentiate so; any other error is raised when the program is compiled
    return not has_custom_vjp(program.jaxpr, loops=True)
