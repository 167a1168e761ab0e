"""Eager ops whose bodies are pinned: gradients and maps of compiled functions that run on several devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer

from graphc.core import device_name, devices, find_device, register_pinned_kernels, to_device
from graphc.ir import OPS, Attrs, Graph, Node, OpDef, Rewriter, map_regions
from graphc.ops import ASSIGN_VARIABLE
from graphc.runtime.driven import make_driven, plan_region
from graphc.runtime.executor import Execution
from graphc.runtime.placer import Placement, place_all
from graphc.runtime.steps import HostCallFailed

__all__ = ["pinned"]

Function = Callable[..., Any]


def pinned(graph: Graph, placement: Placement) -> Graph:
    """A graph of which every node says where it runs, and which can be differentiated as a whole.

    As in one program, no gradient flows from what is read of a variable to what was assigned to it.
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


def _kernel(op: OpDef, attrs: Attrs, regions: Sequence[Graph], compiled: Function) -> Function:
    """The function of an op whose bodies are pinned: as it is compiled, but on their device, or run step by step."""
    placement = place_all(regions, {}, device_name(devices()[0]))
    if len(placement.used) == 1:
        return _on(find_device(placement.used[0]), compiled)
    plans = tuple(plan_region(region, placement) for region in regions)
    step = make_driven(op, attrs, tuple(regions), plans, op.name)

    def run(*arrays: Any) -> Any:
        try:
            return [jnp.asarray(value) for value in step.run(arrays, Execution(regions[0].name))]
        except HostCallFailed as failure:  # whoever called looks at the status alone
            return [jnp.int32(failure.status)] * len(plans[0].outputs)

    return run


def _on(device: Any, compiled: Function) -> Function:
    def run(*arrays: Any) -> Any:
        fixed = [isinstance(array, jax.Array) and not isinstance(array, Tracer) for array in arrays]
        moved = [to_device(array, device) if held else array for array, held in zip(arrays, fixed, strict=True)]
        with jax.default_device(device):
            return compiled(*moved)

    return run


register_pinned_kernels(_kernel)
