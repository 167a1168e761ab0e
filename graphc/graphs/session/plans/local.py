"""Plans of runs on the devices of this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from graphc.compiler.base import at, config
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, NotFoundError
from graphc.compiler.devices import canonical_device, device_name, devices
from graphc.compiler.ir import DeviceSpec, Node, Value
from graphc.compiler.ir import Graph as GraphIR
from graphc.compiler.runtime import Placement, Plan, place
from graphc.graphs.session.graphs.graph import Graph
from graphc.graphs.session.plans.planning import Request, make_plan
from graphc.graphs.session.state import SessionState

__all__ = ["local_plan", "placing"]


def local_plan(
    graph: Graph, nodes: Sequence[Node], fed: Sequence[Value], fetched: Sequence[Value], state: SessionState,
    note_compiled: Callable[..., None],
) -> tuple[Plan, Placement]:  # fmt: skip
    """Makes the plan of a run.

    Args:
      graph: the graph.
      nodes: the nodes to run, in the order of the graph.
      fed: the values that are given.
      fetched: the values that are wanted.
      state: the state that holds the values of Variables.
      note_compiled: a function called for each program that a run compiles.

    Returns:
      The plan, and the device of each node.

    Raises:
      InvalidArgumentError: a node is pinned to a missing device, or a loop or branch to several devices.
    """
    default = device_name(devices()[0])
    try:
        placement = place(GraphIR((), nodes, ()), {}, default)
    except NotFoundError as error:
        raise _unplaced(nodes, error) from None
    if placement.spanning:
        node = next(node for node in nodes if node in placement.spanning)
        error = InvalidArgumentError(
            f"{node.name!r} has a loop or branch that is pinned to several devices, which a Session does not run; "
            "pin the whole of it, or use gx.function"
        )
        raise at(error, node.location)
    return make_plan(Request(graph, nodes, fed, fetched, placement.devices, default), state, note_compiled), placement


def placing(*, soft: bool, log: bool) -> AbstractContextManager[None]:
    """Returns a scope that places nodes by a Session's options."""
    settings: dict[str, Any] = {}
    if soft:
        settings["soft_placement"] = True
    if log:
        settings["log_device_placement"] = True
    return config.scope(**settings) if settings else nullcontext()


def _unplaced(nodes: Sequence[Node], error: NotFoundError) -> GraphcError:
    """Makes the error for a node that is pinned to a missing device."""
    for node in nodes:
        try:
            if node.device:
                canonical_device(node.device, node.location)
        except NotFoundError as missing:
            reason = missing.message.partition("\n")[0].partition(". With")[0]
            elsewhere = DeviceSpec.parse(node.device).job not in (None, "localhost")
            remedy = (
                "; open the Session at a task of the cluster: gx.Session(server.target)"
                if elsewhere
                else ". With gx.ConfigProto(allow_soft_placement=True) the CPU is used instead"
            )
            refused = InvalidArgumentError(
                f"Cannot assign a device to node {node.attrs.get('variable', node.name)!r}: Could not satisfy explicit "
                f"device specification {node.device!r}: {reason}{remedy}"
            )
            return at(refused, node.location)
    return error
