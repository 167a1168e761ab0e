"""The base of the passes that replace loops by other nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from graphc.compiler.base import Registry, UniqueNames
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.interpreter import Rewriter, map_inside, map_regions
from graphc.compiler.ir.opdef import OpDef
from graphc.compiler.ir.passes.base import OpsPass
from graphc.compiler.ir.passes.copying import inputs_like
from graphc.compiler.ir.passes.loop_nodes import ENTERED, Loop, controlled, differentiated, underlying
from graphc.compiler.ir.types import Attrs

__all__ = ["LateLoopPass", "LoopPass", "Plan", "Replacement"]


class Plan(Protocol):
    """What stands for a loop."""

    def emit(self, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value | None]]:
        """Returns nodes that replace the loop, and a value for each of its outputs, or None for an unused one."""
        ...


@dataclass(frozen=True)
class Replacement:
    """The base of plans: a loop, with what a pass found in it."""

    loop: Loop
    ops: Registry[OpDef]


@dataclass(frozen=True)
class LoopPass(OpsPass):
    """A pass that replaces loops, those inside others first.

    A loop that has control edges or is differentiated stays a single node: a ``call`` whose body is the replacement.
    Its ``vjp`` counts as a loop too, and becomes that of the ``call``: it changes as the loop does, so that the
    lowering can evaluate both together.

    A subclass implements :meth:`plan`, or :meth:`plans` where the plan depends on other nodes of the graph.

    Attributes:
      ops: the registry with the op ``call`` and those that are inserted.
    """

    replaces_whole: ClassVar[bool] = True
    """True if loops that stay a single node are replaced, too."""

    def __call__(self, graph: Graph) -> Graph:
        """Replaces the loops."""
        if not any(node.regions for node in graph.nodes):
            return graph
        graph = self.inside(graph)
        loops = {node: loop for node in graph.nodes if (loop := Loop.of(node, self.ops)) is not None}
        whole = {*controlled(graph), *differentiated(graph).intersection(loops)}
        return self.replaced(graph, loops, whole) if loops else graph

    def inside(self, graph: Graph) -> Graph:
        """Returns the graph with the loops in its regions replaced."""
        return map_inside(graph, self)

    def replaced(self, graph: Graph, loops: Mapping[Node, Loop], whole: set[Node]) -> Graph:
        """Returns the graph with its own loops replaced; the arguments are those of :meth:`plans`."""
        plans = self.plans(graph, loops, whole)
        return _replaced(graph, plans, whole, self.ops) if plans else graph

    def plans(self, graph: Graph, loops: Mapping[Node, Loop], whole: set[Node]) -> Mapping[Node, Plan]:
        """Returns the replacements of a graph's own loops, of which those in ``whole`` stay a single node."""
        chosen = loops if self.replaces_whole else {node: loop for node, loop in loops.items() if node not in whole}
        found = {node: self.plan(loop) for node, loop in chosen.items()}
        return {node: plan for node, plan in found.items() if plan is not None}

    def plan(self, loop: Loop) -> Plan | None:
        """Returns the replacement of a loop; None if it stays."""
        raise NotImplementedError


@dataclass(frozen=True)
class LateLoopPass(LoopPass):
    """A pass that replaces loops after gradients were taken; differentiated loops stay, with all that is in them.

    What leaves a loop has a gradient of its own, which is NaN if its derivative is infinite, even if nothing uses it.
    """

    replaces_whole: ClassVar[bool] = False

    def inside(self, graph: Graph) -> Graph:
        """Returns the graph with the loops in its regions replaced, but for regions that are differentiated."""
        fixed = differentiated(graph)
        rewriter = Rewriter(graph)
        for node in graph.nodes:
            entered = node.op.name in ENTERED and node not in fixed
            rewriter.keep(node, regions=map_regions(node, self) if entered else None)
        return rewriter.finish()


def _replaced(graph: Graph, plans: Mapping[Node, Plan], whole: set[Node], ops: Registry[OpDef]) -> Graph:
    """Returns the graph with loops replaced."""
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        if node not in plans:
            rewriter.keep(node)
        elif node in whole:
            called, is_loop = _called(node, plans[node], ops), node.op.name != "vjp"
            op, attrs = (ops["call"], Attrs()) if is_loop else (node.op, _of_call(node.attrs))
            controls = rewriter.controls(node)
            rewriter.replace(node, op, rewriter.inputs(node), attrs, regions=[called], control_inputs=controls)
        else:
            nodes, outputs = plans[node].emit(rewriter.inputs(node), rewriter.names)
            for new in nodes:
                rewriter.add(new)
            rewriter.substitute(node.outputs, outputs)
    return rewriter.finish()


def _called(node: Node, plan: Plan, ops: Registry[OpDef]) -> Graph:
    """Returns a loop's replacement as a separate graph."""
    count, names = underlying(node, ops)[2], UniqueNames()
    names(node.name)
    inputs = inputs_like(node.inputs[:count])
    nodes, outputs = plan.emit(inputs, names)
    return Graph(inputs, nodes, [value for value in outputs if value is not None], node.regions[-1].name)


def _of_call(attrs: Attrs) -> Attrs:
    """Returns the attributes of a ``call``'s ``vjp`` from those of a loop's ``vjp``."""
    if attrs["op"] != "vjp":
        return Attrs(attrs, op="call", attrs=())
    return Attrs(attrs, attrs=tuple(sorted(_of_call(Attrs(dict(attrs["attrs"]))).items())))
