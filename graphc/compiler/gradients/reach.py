"""Reachability of gradients: the inputs that each output of an op depends on.

Eager tapes see each op and return None for independent sources. A loop, a branch or a compiled function is a single op
to them, so this module analyses its body. The gradient of a linear op does not depend on the op's input, and that of a
product depends on the other factor alone; this module finds that out from JAX's program for the gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import jax

from graphc.compiler.core import dtype_rules
from graphc.compiler.ir import Attrs, Graph, Node, OpDef, TensorType, Value
from graphc.compiler.lowering import lower, needed_inputs
from graphc.compiler.ops import (
    CALL,
    COLLECTIVES,
    COND,
    HOST_CALLS,
    READ_VARIABLE,
    REPLICAS,
    SCAN,
    SWITCH,
    VJP,
    VMAP,
    WHILE,
)

__all__ = ["reach", "reach_of_gradients"]

Places = frozenset[int]
_NOWHERE: Places = frozenset()


def reach(op: OpDef, attrs: Attrs, regions: Sequence[Graph]) -> Sequence[Places] | None:
    """Returns the positions of the inputs that each output depends on differentiably.

    Args:
      op: the op.
      attrs: the op's attributes.
      regions: the op's bodies.

    Returns:
      One set for each output, which may include too many inputs; None if nothing is known.
    """
    find = _RULES.get(op.name)
    if find is None:
        return None
    caches = regions[0].caches
    key = ("reach", op, attrs, *regions[1:])
    if key not in caches:
        caches[key] = find(attrs, regions)
    return caches[key]


def reach_of_gradients(attrs: Attrs, types: Sequence[TensorType]) -> Sequence[Places] | None:
    """Returns the positions of the inputs that each output of a ``vjp`` without bodies depends on differentiably.

    Args:
      attrs: the attributes of the ``vjp``.
      types: the types of its inputs, primals and cotangents.

    Returns:
      One set for each gradient, which may include too many inputs; None if nothing is known.
    """
    if any(type.is_open for type in types):
        return None
    return _of_gradients(attrs, tuple(types), dtype_rules())


@lru_cache(maxsize=4096)
def _of_gradients(attrs: Attrs, types: tuple[TensorType, ...], rules: Any) -> Sequence[Places] | None:
    del rules  # the traced program depends on them, too
    differentiated, inner = attrs["op"], attrs
    while differentiated == VJP.name:
        inner = Attrs(dict(inner["attrs"]))
        differentiated = inner["op"]
    if differentiated in COLLECTIVES:  # which JAX evaluates only inside the program of all replicas
        return None
    structs = [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in types]
    jaxpr: Any = jax.make_jaxpr(partial(VJP.impl, **attrs))(*structs).jaxpr
    needed = [needed_inputs(jaxpr, (place,), differentiably=True) for place in range(len(jaxpr.outvars))]
    return [frozenset([place for place, given in enumerate(jaxpr.invars) if id(given) in ids]) for ids in needed]


def _of_graph(graph: Graph, variables: Sequence[str] = ()) -> list[Places]:
    """Returns the positions that each output depends on; variables come before the inputs.

    A read of a Variable after its assignment counts as dependent on it: a tape refuses that.
    """
    held = {name: frozenset((place,)) for place, name in enumerate(variables)}
    known: dict[Value, Places] = {
        value: frozenset((place,)) for place, value in enumerate(graph.inputs, len(variables)) if value.type.is_inexact
    }
    for node in graph.nodes:
        if node.op is READ_VARIABLE:
            known[node.outputs[0]] = held[node.attrs["variable"]]
        elif node.op.differentiable or node.op in HOST_CALLS:  # which refuse gradients
            known.update(_of_node(node, known))
    return [known.get(value, _NOWHERE) for value in graph.outputs]


def _of_node(node: Node, known: Mapping[Value, Places]) -> Mapping[Value, Places]:
    inputs = [known.get(value, _NOWHERE) for value in node.inputs]
    inner = reach(node.op, node.attrs, node.regions) if node.regions else None
    found: dict[Value, Places] = {}
    for place, output in enumerate(node.outputs):
        if output.type.is_inexact:
            found[output] = _union(inputs if inner is None else [inputs[used] for used in inner[place]])
    return found


def _union(sets: Sequence[Places]) -> Places:
    return _NOWHERE.union(*sets)


def _call(attrs: Attrs, regions: Sequence[Graph]) -> list[Places]:
    del attrs
    lowered = lower(regions[0])
    written = [frozenset((place,)) for place in range(len(lowered.written))]
    return [*_of_graph(regions[0], lowered.variables), *written]


def _branches(attrs: Attrs, regions: Sequence[Graph]) -> list[Places]:
    del attrs
    of_each = [_of_graph(region) for region in regions]
    return [_shifted(_union(places), 1) for places in zip(*of_each, strict=True)]


def _mapped(attrs: Attrs, regions: Sequence[Graph]) -> list[Places]:
    del attrs
    return _of_graph(regions[0])


def _while(attrs: Attrs, regions: Sequence[Graph]) -> list[Places]:
    return _repeated(_of_graph(regions[1]), attrs)


def _scan(attrs: Attrs, regions: Sequence[Graph]) -> list[Places]:
    # The first input of the body is the iteration number.
    return _repeated([_shifted(places, -1) for places in _of_graph(regions[0])], attrs)


def _repeated(body: Sequence[Places], attrs: Attrs) -> list[Places]:
    """Returns the dependencies of a loop's outputs from those of its body, whose outputs feed the next iteration."""
    num_carry = attrs["num_carry"]
    carried = [frozenset((place,)) for place in range(num_carry)]  # as after no iterations
    while True:
        after = [_union([carried[p] if p < num_carry else frozenset((p,)) for p in places]) for places in body]
        grown = [old | new for old, new in zip(carried, after[:num_carry], strict=True)]
        if grown == carried:
            return [*carried, *after[num_carry:]]
        carried = grown


def _shifted(places: Places, by: int) -> Places:
    return frozenset([place + by for place in places if place + by >= 0])


_RULES: Mapping[str, Callable[[Attrs, Sequence[Graph]], list[Places]]] = {
    CALL.name: _call,
    COND.name: _branches,
    SWITCH.name: _branches,
    REPLICAS.name: _mapped,
    VMAP.name: _mapped,
    WHILE.name: _while,
    SCAN.name: _scan,
}
