"""Which inputs of an op with bodies the gradients of which outputs reach, as far as its bodies tell.

Eager code sees each op, so that a tape gives None for what nothing depends on. What it sees of a loop, a branch or a
compiled function is one op. This looks inside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from graphc.ir import Attrs, Graph, Node, OpDef, Value
from graphc.lowering import lower
from graphc.ops import CALL, COND, READ_VARIABLE, REPLICAS, SCAN, SWITCH, VMAP, WHILE

__all__ = ["reach"]

Places = frozenset[int]
_NOWHERE: Places = frozenset()


def reach(op: OpDef, attrs: Attrs, regions: Sequence[Graph]) -> Sequence[Places] | None:
    """Returns the positions of the inputs that each output depends on through derivatives.

    Args:
      op: the op.
      attrs: its attributes.
      regions: its bodies.

    Returns:
      One set for each output, with an input too many where only a run could tell; None where nothing is known.
    """
    find = _RULES.get(op.name)
    if find is None:
        return None
    caches = regions[0].caches
    key = ("reach", op, attrs, *regions[1:])
    if key not in caches:
        caches[key] = find(attrs, regions)
    return caches[key]


def _of_graph(graph: Graph, variables: Sequence[str] = ()) -> list[Places]:
    """Returns the positions that each output depends on; variables come before the inputs.

    What is read of a Variable that was assigned counts for it: a tape refuses that.
    """
    held = {name: frozenset((place,)) for place, name in enumerate(variables)}
    known: dict[Value, Places] = {
        value: frozenset((place,)) for place, value in enumerate(graph.inputs, len(variables)) if value.type.is_inexact
    }
    for node in graph.nodes:
        if node.op is READ_VARIABLE:
            known[node.outputs[0]] = held[node.attrs["variable"]]
        elif node.op.differentiable:
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
    # The body takes the number of the iteration first.
    return _repeated([_shifted(places, -1) for places in _of_graph(regions[0])], attrs)


def _repeated(body: Sequence[Places], attrs: Attrs) -> list[Places]:
    """The outputs of a loop from those of its body: what an iteration takes of the carried values is what one gave."""
    num_carry = attrs["num_carry"]
    carried = [frozenset((place,)) for place in range(num_carry)]  # as after no iteration
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
