"""Compiled programs that run on several devices, or on devices and the host."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NoReturn

import jax
import jax.numpy as jnp

from graphc.compiler.base import config, deadline, overseen, user_location
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import Variable, array_of, is_pinned, layout_text
from graphc.compiler.devices import device_name, devices, find_device, on_one, placed, shard_on
from graphc.compiler.ir import OPS, Attrs, Graph, Node, OpDef, Rewriter, Value, map_regions
from graphc.compiler.lowering import (
    Check,
    Executable,
    LaunchPolicy,
    Program,
    Transaction,
    XlaFunction,
    current_policy,
    current_run_timeout,
    described,
    lower,
)
from graphc.compiler.ops import ASSIGN_VARIABLE, CALL, REPLICAS, UNORDERED_HOST_CALL, calls_host
from graphc.compiler.runtime.driven import drive, make_driven, plan_region
from graphc.compiler.runtime.executor import Execution
from graphc.compiler.runtime.partition import partition
from graphc.compiler.runtime.placer import Placement, place, place_all
from graphc.compiler.runtime.plan import Plan
from graphc.compiler.runtime.steps import HostCallFailed, Segment, as_type
from graphc.compiler.runtime.timeline import observer

# Kernels of eager ops with bodies: calls of compiled functions under tapes, and bodies pinned to devices.

Function = Callable[..., Any]


def pinned(graph: Graph, placement: Placement) -> Graph:
    """Returns a graph with every node pinned to its device, which can be differentiated as a whole."""
    # As in a single program, no gradient flows from a read of a variable to the assigned value.
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        device = placement.devices.get(node, "")
        regions = map_regions(node, lambda region: pinned(region, placement))
        inputs = rewriter.inputs(node)
        if node.op is ASSIGN_VARIABLE:
            (value,) = inputs
            barrier = Node(
                OPS["stop_gradient"], inputs, Attrs(), [value.type], device=device, name=f"{node.name}_value"
            )
            rewriter.add(barrier)
            inputs = barrier.outputs
        rewriter.replace(
            node, node.op, inputs, node.attrs, regions=regions, control_inputs=rewriter.controls(node), device=device
        )
    return rewriter.finish()


def region_kernel(op: OpDef, attrs: Attrs, regions: Sequence[Graph], function: Function) -> Function:
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


def compile_graph(
    graph: Graph, check: Check | None, variables: Mapping[str, Variable], default: str
) -> Executable | PlacedProgram:
    """Compiles a graph, to a single XLA program if all of it can run on one device."""
    # ``default`` is the device of ops that no other rule places, if an op is pinned or Variables are on several
    # devices; other graphs run where their arguments are.
    default = default or device_name(devices()[0])
    arrays = {name: array_of(variable) for name, variable in variables.items()}
    homes = {name: _home(array, default) for name, array in arrays.items()}
    copied = any(len(array.devices()) > 1 for array in arrays.values())
    apart = any(node.op is UNORDERED_HOST_CALL for node in graph.nodes)
    scattered = len(set(homes.values())) > 1
    pinned = choosy = None
    for node in graph.walk():
        if node.op is REPLICAS:
            return Executable(graph, check)
        if node.device:
            pinned = node
            break
        if node.op.platforms:
            choosy = node
    split = next((name for name, array in arrays.items() if not array.is_fully_replicated), None)
    if split is not None:
        _check_whole(graph, variables[split], pinned, apart=apart)
        return Executable(graph, check)
    if not (pinned or choosy or apart or scattered or config.log_device_placement):
        return Executable(graph, check)
    placement = place(graph, homes, default)
    free = pinned is None and not scattered and placement.used == (default,)
    where = () if free else placement.used
    if apart or len(placement.used) > 1 or (where and copied):
        return PlacedProgram(graph, check, placement, homes, where)
    return Executable(graph, check, where)


def _check_whole(graph: Graph, split: Variable, pinned: Node | None, *, apart: bool) -> None:
    """Raises if ops run on single devices while a Variable is split so that no device holds all of it."""
    if pinned is not None or apart:
        what = "calls Python in no order" if pinned is None else f"pins ops to {pinned.device}"
        raise UnimplementedError(
            f"the compiled function {graph.name!r} {what}, but no device has the whole of Variable {split.name!r}, "
            f"{layout_text(split.sharding)}; move that out of the function"
        ).at(user_location() if pinned is None else pinned.location)


def _home(array: jax.Array, default: str) -> str:
    """Returns the device on which a Variable is read: the default device if it holds the value, else one that does."""
    names = sorted(map(device_name, array.devices()))
    return default if default in names else names[0]


def _back(new: Any, old: jax.Array) -> Any:
    """Returns a Variable's new value on all devices that hold the old one; after a failed call it is not an array."""
    return placed(new, old.sharding) if len(old.devices()) > 1 and isinstance(new, jax.Array) else new


def run_plan(
    graph: Graph, placement: Placement, variables: Sequence[str], written: Sequence[str]
) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Returns a placed graph as a function of Variables and inputs that changes no Variables, for measurements."""
    plan = partition(graph, placement, partial(drive, placement), variables, written)
    return lambda arrays: Execution(graph.name).run(plan, arrays)


class PlacedProgram:
    """A graph whose nodes run on several devices, or separately from host calls between them."""

    # Variables stay on their devices. Their new values are assigned once every step has been dispatched and no host
    # call has failed; none is donated, so a failed call leaves all of them unchanged.

    place, program, is_short = "", None, False  # each step has its own device and program

    def __init__(
        self, graph: Graph, check: Check | None, placement: Placement, variables: Mapping[str, str],
        devices: Sequence[str],
    ) -> None:  # fmt: skip
        self.graph, self.placement, self.devices = graph, placement, tuple(devices)
        self.timeout: float | None = None  # of a run in seconds; None for no limit
        lowered = lower(graph)
        self.variables, self.num_written = lowered.variables, len(lowered.written)
        self.transaction = Transaction.of(graph, lowered, check)
        self._is_prepared = False
        self._default = find_device(placement.default)
        self._homes = [variables[name] for name in self.variables]
        self._places = [find_device(home) for home in self._homes]
        self.plan = partition(graph, placement, partial(drive, placement), self.variables, lowered.written, self._homes)

    def launch(
        self, arrays: Sequence[Any], variables: Sequence[Variable], policy: LaunchPolicy | None = None
    ) -> Sequence[Any]:
        """Runs the steps and updates the Variables that they write; see :meth:`Executable.launch`."""
        if policy is None:
            policy = current_policy(self.timeout, calls_host=bool(self.transaction.host_calls))
        if not policy.interruptible:
            return policy.dispatch(
                self.graph.name,
                lambda: described(self.graph.name, arrays),
                lambda: self._run(arrays, variables),
                lambda: [variable.raw for variable in variables[: self.num_written]],
            )
        if policy.timeout is not None and not self._is_prepared:
            _prepare(self.plan)
            self._is_prepared = True
        with deadline(policy.timeout):
            return self._run(arrays, variables)

    def _run(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> Sequence[Any]:
        for variable, device, home in zip(variables, self._places, self._homes, strict=True):
            if device not in array_of(variable).devices():
                raise UnimplementedError(
                    f"the compiled function {self.graph.name!r} was placed with Variable {variable.name!r} on {home}, "
                    f"but it is on {variable.device} now; keep it there, or call clear_cache()"
                ).here()

        def program(values: Sequence[Any]) -> Sequence[Any]:
            state = [shard_on(value, home_device) for value, home_device in zip(values, self._places, strict=True)]
            results = self._execute([*state, *arrays])
            count = len(results) - self.num_written
            return [*results[:count], *map(_back, results[count:], values)]

        return self.transaction.run(program, variables)

    @cached_property
    def pinned(self) -> Graph:
        """The graph with its placement as pins, for tapes that record the call."""
        return pinned(self.graph, self.placement)

    def _execute(self, arrays: Sequence[Any]) -> Sequence[Any]:
        execution = Execution(self.graph.name, observer())
        try:
            with overseen(execution.waited_for):
                results = execution.interruptible(lambda: execution.run(self.plan, arrays))
        except HostCallFailed as failure:
            # The program raises the exception at its end; only the status counts here.
            return [failure.status] * len(self.plan.outputs)
        outputs = self.graph.outputs
        return [*map(self._on_device, results, outputs), *results[len(outputs) :]]

    def _on_device(self, result: Any, output: Value) -> Any:
        """Returns an output as an array: Python functions return NumPy arrays, and loops may return their inputs."""
        return result if isinstance(result, jax.Array) else jax.device_put(as_type(result, output.type), self._default)

    def adopt_program(self, other: Program | None) -> bool:
        """Returns False: the program of a function that runs in steps is never shared."""
        del other
        return False

    def lower(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> NoReturn:
        """Raises, since there is no single program to show."""
        del arrays, variables
        raise UnimplementedError(
            f"{self.graph.name}: it runs on {', '.join(self.placement.used)} as {len(self.plan.steps)} steps; there "
            "is no single program to lower; gx.explain shows the steps"
        ).here()


def _prepare(plan: Plan) -> None:
    """Compiles the segments of a plan, including those in loops and branches."""
    for step in plan.steps:
        if isinstance(step, Segment):
            step.prepare()
        for inner in step.inner:
            _prepare(inner)
