"""Kernels of eager ops with bodies: calls of compiled functions under tapes, and bodies pinned to devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from graphc.compiler.base import deadline, overseen
from graphc.compiler.core import is_pinned, register_region_kernels
from graphc.compiler.devices import device_name, devices, find_device, on_one
from graphc.compiler.ir import OPS, Attrs, Graph, Node, OpDef, Rewriter, map_regions
from graphc.compiler.lowering import XlaFunction, current_run_timeout
from graphc.compiler.ops import ASSIGN_VARIABLE, CALL, calls_host
from graphc.compiler.runtime.driven import make_driven, plan_region
from graphc.compiler.runtime.executor import Execution
from graphc.compiler.runtime.placer import Placement, place_all
from graphc.compiler.runtime.steps import HostCallFailed

__all__ = ["pinned"]

Function = Callable[..., Any]


def pinned(graph: Graph, placement: Placement) -> Graph:
    """Returns a graph with every node pinned to its device, which can be differentiated as a whole.

    As in a single program, no gradient flows from a read of a variable to the assigned value.
    """
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        device = placement.devices.get(node, "")
        regions = map_regions(node, lambda region: pinned(region, placement))
        inputs = rewriter.inputs(node)
        if node.op is ASSIGN_VARIABLE:
            (value,) = inputs
            held = Node(OPS["stop_gradient"], inputs, Attrs(), [value.type], device=device, name=f"{node.name}_value")
            rewriter.add(held)
            inputs = held.outputs
        rewriter.replace(
            node, node.op, inputs, node.attrs, regions=regions, control_inputs=rewriter.controls(node), device=device
        )
    return rewriter.finish()


def _kernel(op: OpDef, attrs: Attrs, regions: Sequence[Graph], function: Function) -> Function:
    """Returns the function of an op with bodies: compiled, on its pinned device, or run step by step."""
    if op is CALL:
        program = XlaFunction(function, regions[0].name, calls_host=calls_host(regions[0]))
        compiled: Function = lambda *arrays: program.launch(arrays)  # noqa: E731
    else:
        compiled = jax.jit(function)
    if not is_pinned(regions):
        return compiled
    placement = place_all(regions, {}, device_name(devices()[0]))
    if len(placement.used) == 1:
        return on_one(find_device(placement.used[0]), compiled)
    plans = tuple(plan_region(region, placement) for region in regions)
    step = make_driven(op, attrs, tuple(regions), plans, op.name)

    def run(*arrays: Any) -> Any:
        execution = Execution(regions[0].name)
        try:
            with deadline(current_run_timeout()), overseen(execution.waited_for):
                return [jnp.asarray(value) for value in execution.interruptible(lambda: step.run(arrays, execution))]
        except HostCallFailed as failure:  # the caller checks only the status
            return [jnp.int32(failure.status)] * len(plans[0].outputs)

    return run


register_region_kernels(_kernel)
