"""The records of a tape: each holds a step's inputs, its outputs and the function that pulls cotangents back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import jax

from graphc.compiler.base import Location, user_location, warn_at
from graphc.compiler.base.errors import GradientWarning
from graphc.compiler.core import (
    FAILED,
    NO_ATTRS,
    SymbolicTensor,
    Tensor,
    apply_all,
    call_kernel,
    dtype_rules,
    is_examining,
    kernel,
    pulling_back,
)
from graphc.compiler.gradients.forward_pass import ForwardPass
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
    vjp_attrs,
)
from graphc.compiler.tracing import context, type_of_any

# Reachability of gradients: the inputs that each output of an op depends on.
#
# Eager tapes see each op and return None for independent sources. A loop, a branch or a compiled function is a single
# op to them, so its body is analysed. The gradient of a linear op does not depend on the op's input, and that
# of a product depends on the other factor alone; JAX's program for the gradient tells.

Places = frozenset[int]
_NOWHERE: Places = frozenset()


def reach(op: OpDef, attrs: Attrs, regions: Sequence[Graph]) -> Sequence[Places] | None:
    """Returns the positions of the inputs that each output depends on differentiably."""
    # One set for each output, which may include too many inputs; None if nothing is known.
    find = _RULES.get(op.name)
    if find is None:
        return None
    caches = regions[0].caches
    key = ("reach", op, attrs, *regions[1:])
    if key not in caches:
        caches[key] = find(attrs, regions)
    return caches[key]


def reach_of_gradients(attrs: Attrs, types: Sequence[TensorType]) -> Sequence[Places] | None:
    """Returns the positions of the inputs that each output of a ``vjp`` without bodies depends on differentiably."""
    # One set for each gradient, which may include too many inputs; None if nothing is known.
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
    needed = [needed_inputs(jaxpr, (index,), differentiably=True) for index in range(len(jaxpr.outvars))]
    return [frozenset([index for index, variable in enumerate(jaxpr.invars) if id(variable) in ids]) for ids in needed]


def _of_graph(graph: Graph, variables: Sequence[str] = ()) -> list[Places]:
    """Returns the positions that each output depends on; variables come before the inputs."""
    # A read of a Variable after its assignment counts as dependent on it: a tape refuses that.
    read = {name: frozenset((index,)) for index, name in enumerate(variables)}
    dependencies: dict[Value, Places] = {
        value: frozenset((index,)) for index, value in enumerate(graph.inputs, len(variables)) if value.type.is_inexact
    }
    for node in graph.nodes:
        if node.op is READ_VARIABLE:
            dependencies[node.outputs[0]] = read[node.attrs["variable"]]
        elif node.op.differentiable or node.op in HOST_CALLS:  # which refuse gradients
            dependencies.update(_of_node(node, dependencies))
    return [dependencies.get(value, _NOWHERE) for value in graph.outputs]


def _of_node(node: Node, reach_of: Mapping[Value, Places]) -> Mapping[Value, Places]:
    inputs = [reach_of.get(value, _NOWHERE) for value in node.inputs]
    inner = reach(node.op, node.attrs, node.regions) if node.regions else None
    dependencies: dict[Value, Places] = {}
    for index, output in enumerate(node.outputs):
        if output.type.is_inexact:
            dependencies[output] = _union(inputs if inner is None else [inputs[used] for used in inner[index]])
    return dependencies


def _union(sets: Sequence[Places]) -> Places:
    return _NOWHERE.union(*sets)


def _call(attrs: Attrs, regions: Sequence[Graph]) -> list[Places]:
    del attrs
    lowered = lower(regions[0])
    written = [frozenset((index,)) for index in range(len(lowered.written))]
    return [*_of_graph(regions[0], lowered.variables), *written]


def _branches(attrs: Attrs, regions: Sequence[Graph]) -> list[Places]:
    del attrs
    of_each = [_of_graph(region) for region in regions]
    return [_shifted(_union(alternatives), 1) for alternatives in zip(*of_each, strict=True)]


def _mapped(attrs: Attrs, regions: Sequence[Graph]) -> list[Places]:
    del attrs
    return _of_graph(regions[0])


def _while(attrs: Attrs, regions: Sequence[Graph]) -> list[Places]:
    return _repeated(_of_graph(regions[1]), attrs)


def _scan(attrs: Attrs, regions: Sequence[Graph]) -> list[Places]:
    # The first input of the body is the iteration number.
    return _repeated([_shifted(sources, -1) for sources in _of_graph(regions[0])], attrs)


def _repeated(body: Sequence[Places], attrs: Attrs) -> list[Places]:
    """Returns the dependencies of a loop's outputs from those of its body, whose outputs feed the next iteration."""
    num_carry = attrs["num_carry"]
    carried = [frozenset((index,)) for index in range(num_carry)]  # as after no iterations
    while True:
        after = [_union([carried[p] if p < num_carry else frozenset((p,)) for p in sources]) for sources in body]
        grown = [old | new for old, new in zip(carried, after[:num_carry], strict=True)]
        if grown == carried:
            return [*carried, *after[num_carry:]]
        carried = grown


def _shifted(positions: Places, by: int) -> Places:
    return frozenset([index + by for index in positions if index + by >= 0])


_RULES: Mapping[str, Callable[[Attrs, Sequence[Graph]], list[Places]]] = {
    CALL.name: _call,
    COND.name: _branches,
    SWITCH.name: _branches,
    REPLICAS.name: _mapped,
    VMAP.name: _mapped,
    WHILE.name: _while,
    SCAN.name: _scan,
}


Gradients = Sequence[Tensor | None]
Pullback = Callable[[Sequence[int], Gradients], Gradients]


def key_of(snapshot: Tensor) -> int:
    """Returns the identity of a snapshot on a tape: the object's if eager, its graph value's if symbolic."""
    return id(snapshot.raw) if isinstance(snapshot, SymbolicTensor) else id(snapshot)


def key_of_any(value: Any) -> int:
    """Returns the key of a value as :func:`_key` does; for a value that is not a tensor, a key that no tensor has."""
    return key_of(value) if isinstance(value, Tensor) else -1


@dataclass(slots=True)  # not frozen, which would cost a microsecond per op
class TapeRecord:
    """A step on a tape, with the pullback from its outputs' cotangents to its inputs."""

    # The tensors are snapshots: the user may assign items of the originals.

    inputs: Sequence[Any]
    outputs: Sequence[Tensor]
    # Maps input positions and one cotangent or None for each output to gradients; None for the op's own.
    pullback: Pullback | None
    op: OpDef | None = None  # the applied op, if there is no other pullback
    attrs: Attrs = NO_ATTRS
    regions: Sequence[Graph] = ()
    forward: ForwardPass | None = None

    def reached(self, wrt: Sequence[int]) -> Sequence[Tensor]:
        """Returns the outputs that depend on the inputs at these positions, as far as the bodies show."""
        dependencies = self._reach()
        if dependencies is None:
            return self.outputs
        return [output for output, used in zip(self.outputs, dependencies, strict=True) if not used.isdisjoint(wrt)]

    def reaching(self, wrt: tuple[int, ...], cotangents: Sequence[object]) -> tuple[int, ...]:
        """Returns those positions whose inputs reach an output with a cotangent."""
        dependencies = self._reach()
        return wrt if dependencies is None else _that_reach(wrt, dependencies, cotangents)

    def depending(self, wrt: tuple[int, ...], cotangents: Gradients) -> tuple[int, ...]:
        """Returns those positions whose inputs the outputs with a cotangent depend on; the other gradients are zero."""
        # Only for a ``vjp`` is more known than that every output depends on every input.
        if self.op is not VJP or self.regions:
            return wrt
        dependencies = reach_of_gradients(self.attrs, [type_of_any(value) for value in self.inputs])
        return wrt if dependencies is None else _that_reach(wrt, dependencies, cotangents)

    def _reach(self) -> Sequence[frozenset[int]] | None:
        return None if self.op is None else reach(self.op, self.attrs, self.regions)

    def pull(self, wrt: tuple[int, ...], cotangents: Gradients) -> Gradients:
        """Returns the gradients of the inputs at these positions."""
        if self.op is None:
            assert self.pullback is not None
            return self.pullback(wrt, cotangents)
        if self.forward is not None:
            gradients = self.forward.pull(self.inputs, wrt, cotangents)
            if gradients is not None:
                return gradients
        upstream = [cotangent for cotangent in cotangents if cotangent is not None]
        mask = tuple([cotangent is not None for cotangent in cotangents])
        if context.eager and not self.regions and not self.op.platforms:
            compiled = _compiled(self.op, self.attrs, wrt, mask)
            arrays = call_kernel(compiled, (*self.inputs, *upstream), Tensor)
            if arrays is not FAILED:
                return list(map(Tensor, arrays))
        vjp = vjp_attrs(self.op, self.attrs, wrt, mask)
        if not is_examining():
            return apply_all(VJP, (*self.inputs, *upstream), vjp, self.regions)
        with pulling_back(self.outputs):
            return apply_all(VJP, (*self.inputs, *upstream), vjp, self.regions)


def _that_reach(
    wrt: tuple[int, ...], dependencies: Sequence[Set[int]], cotangents: Sequence[object]
) -> tuple[int, ...]:
    used = [sources for sources, cotangent in zip(dependencies, cotangents, strict=True) if cotangent is not None]
    return tuple([index for index in wrt if any(index in sources for sources in used)])


def _compiled(op: OpDef, attrs: Attrs, wrt: tuple[int, ...], mask: tuple[bool, ...]) -> Callable[..., Any]:
    """Returns the compiled pullback of an op, from primals and cotangents to gradients."""
    key = (attrs, wrt, mask)
    pullback = op.pullbacks.get(key)
    if pullback is None:
        if len(op.pullbacks) >= _PULLBACKS_KEPT:
            op.pullbacks.clear()
        pullback = op.pullbacks[key] = kernel(VJP, vjp_attrs(op, attrs, wrt, mask))
    return pullback


_PULLBACKS_KEPT = 64


# What other threads computed from Variables that a tape watches, while it was open.


class Elsewhere:
    """The tensors that depend on watched Variables by reads of other threads, which a tape does not follow."""

    def __init__(self) -> None:
        # These tensors' current values by identity, each with the Variable's name and the line of the read.
        self.computed: dict[int, tuple[Tensor, tuple[str, Location | None]]] = {}
        self._read: dict[str, tuple[str, Location | None]] = {}
        self._told: set[str] = set()

    def clear(self) -> None:
        """Forgets all tensors."""
        self.computed.clear()

    def source(self, tensor: Tensor) -> tuple[str, Location | None] | None:
        """Returns the Variable that a tensor depends on, with the line that read it; None if it depends on none."""
        entry = self.computed.get(id(tensor.snapshot())) if self.computed else None
        return None if entry is None else entry[1]

    def read(self, name: str, results: Sequence[Any]) -> None:
        """Adds what a thread computed from a Variable that it reads here."""
        source = self._read.get(name)
        if source is None:
            source = self._read[name] = name, user_location()
        self.add(source, results)

    def add(self, source: tuple[str, Location | None], results: Sequence[Any]) -> None:
        """Adds what a thread computed from a Variable that it read, or from a tensor that depends on it."""
        for result in results:
            if isinstance(result, Tensor) and result.type.is_inexact:
                snapshot = result.snapshot()
                self.computed[id(snapshot)] = snapshot, source

    def check(self, snapshot: Tensor) -> None:
        """Warns if the tape gets such a tensor, once for each Variable."""
        entry = self.computed.get(id(snapshot))
        if entry is None or entry[1][0] in self._told:
            return
        name, location = entry[1]
        self._told.add(name)
        where = "" if location is None else f" ({str(location).splitlines()[0]})"
        warning = GradientWarning(
            f"no gradient flows to the Variable {name!r} through a value that another thread computed{where}: a "
            "GradientTape records the Variables that its own thread reads. Read it there and pass the tensor to the "
            "other thread (w = variable.value()), or apply gx.stop_gradient to the value if no gradient is wanted"
        )
        warn_at(warning, user_location())
