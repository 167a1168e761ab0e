"""Executable: a compiled program and the variables that it uses."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import SingleDeviceSharding

from graphc.compiler.base import (
    SPREAD_ARRAYS,
    check_interrupted,
    collection_paused,
    deadline,
    interrupts_held,
    slow_path_reasons,
)
from graphc.compiler.core import (
    Variable,
    are_soon_computed,
    array_of,
    context,
    dtype_rules,
    held,
    serialize_launch,
    sync_processes,
    target_sharding,
    type_of,
    variable_lock,
    wait_for,
)
from graphc.compiler.devices import find_device
from graphc.compiler.ir import Attrs, Graph, Rewriter, passes
from graphc.compiler.lowering.launch import DISPATCH, LaunchPolicy, XlaFunction, current_policy, described, on_device
from graphc.compiler.lowering.lower import LoweredGraph, compiler_options, lower
from graphc.compiler.lowering.replicas import replica_layout, splits, together
from graphc.compiler.lowering.transaction import Check, Transaction, any_is_away, run_on_variables, set_values
from graphc.compiler.ops import CALL_STATUS, is_in_host_call

# The times that JAX takes to lower and to compile a program.
#
# It does both in the first call and caches the result, so repeating the call would take no time. JAX reports the time
# of each step to listeners, in the calling thread and with the program's name.


class CompileTimes:
    """The lowering and compile times of a program's first call, in seconds; None before."""

    __slots__ = ("_name", "_started", "compile", "lower")

    def __init__(self, name: str) -> None:
        self._name = f"jit({name})"
        self._started = 0.0
        self.lower: float | None = None  # from a graph to XLA's input
        self.compile: float | None = None  # XLA's own work

    def start(self) -> None:
        """Marks the start of JAX's tracing of the program, in this thread."""
        if self.compile is None:
            self._started, _latest.program = time.perf_counter(), self

    def note(self, event: str, seconds: float, name: str) -> None:
        """Records a finished step; ignores those of other programs."""
        if name != self._name:
            return
        if event == _LOWERED:
            self.lower = time.perf_counter() - self._started
        elif event == _COMPILED and self.lower is not None:
            self.compile, _latest.program = seconds, None


class _Latest(threading.local):
    """The program that this thread traced last and has not compiled yet."""

    program: CompileTimes | None = None


_latest = _Latest()
_LOWERED = "/jax/core/compile/jaxpr_to_mlir_module_duration"
_COMPILED = "/jax/core/compile/backend_compile_duration"


def _note(event: str, duration_secs: float, **kwargs: str | int) -> None:
    if _latest.program is not None:
        _latest.program.note(event, duration_secs, str(kwargs.get("fun_name")))


jax.monitoring.register_event_duration_secs_listener(_note)


class TypesDiffer(Exception):
    """Signals that arrays have other types than the program was traced for, or that the dtype rules have changed."""


class Program(NamedTuple):
    """The parts of an executable that XLA compiles: its graph, its other dependencies, and the ``jax.jit`` function."""

    graph: Graph
    variables: tuple[str, ...]
    devices: tuple[str, ...]
    is_checked: bool
    jitted: Any
    times: CompileTimes


class Executable:
    """A graph, compiled by XLA for the types of its inputs.

    The variables that the graph writes are donated, so that XLA updates them in place. A buffer that something else
    still refers to (a tensor read from the variable, a NumPy view) is copied first and the copy donated.

    Args:
      check: raises if the outputs of a program that can fail say that it has; it runs before anything else reads the
        outputs. The program itself restores its variables if its status says that it has failed; if it calls Python,
        which may fail without a status, variables are not updated until the check has passed, and none is donated.
      devices: the devices that it is pinned to; none to run where its inputs are.

    Attributes:
      graph: the graph, which is also the one that is differentiated.
      optimized: the graph with light branches converted, which XLA compiles.
      timeout: the time limit of a run in seconds; None for no limit.
      times: the lowering and compile times of the first call.
      variables: the names of the variables, written ones first.
      status: the index of the output that says that a call has failed, on which the program restores its Variables;
        None if there is none.
      place: the names of the devices that it always runs on; empty if its arguments decide.
      jitted: the ``jax.jit`` function from values of ``variables`` and inputs to outputs and values of ``written``.
        Called with other types than the graph's, it raises :class:`TypesDiffer`: JAX's C++ cache checks the types and
        the x64 setting anyway, so the caller need not check them first.
    """

    def __init__(self, graph: Graph, check: Check | None = None, devices: Sequence[str] = ()) -> None:
        self.graph = graph
        self.optimized = passes.run_passes(graph, passes.LATE)
        self.check = check
        self.devices = tuple(devices)
        self._layout = layout = replica_layout(graph)
        self.place = "" if layout is None else ", ".join(layout.devices)
        self.timeout: float | None = None
        self.times = CompileTimes(graph.name)
        self._has_run = False
        self._by_layout: dict[tuple[Any, ...], Any] = {}
        self.lowered: LoweredGraph = lower(self.optimized)
        self.variables = self.lowered.variables
        self.transaction = Transaction.of(self.optimized, self.lowered, check)
        self.num_written = len(self.lowered.written)
        status = None if check is None or self.transaction.host_calls else _status_of(self.optimized)
        self.status = status
        self._donated = tuple(range(self.num_written if check is None or status is not None else 0))
        self._function = XlaFunction(
            _guarded(self.lowered, graph, self.times, status),
            graph.name,
            calls_host=bool(self.transaction.host_calls),
            compiler_options=compiler_options(graph) or None,
            results_at=None if layout is None else [*layout.outputs, *[layout.home] * self.num_written],
            donate_argnums=self._donated,
            **_on_one(self.devices),
        )
        self.jitted: Any = self._function.jitted

    def launch(
        self, arrays: Sequence[Any], variables: Sequence[Variable], policy: LaunchPolicy | None = None
    ) -> Sequence[Any]:
        """Runs the program, and updates the Variables that it writes."""
        if policy is None:
            policy = current_policy(self.timeout, calls_host=bool(self.transaction.host_calls))
        # A host call may launch this same program, which JAX refuses in its first call.
        if policy.interruptible or (self.transaction.host_calls and is_in_host_call()):
            return self._interruptible(arrays, variables, policy)
        if policy is DISPATCH:
            return self._dispatch(arrays, variables)
        if self._layout is not None:  # such programs run one at a time anyway
            policy = replace(policy, max_in_flight=None)
        return policy.dispatch(
            self.graph.name,
            lambda: described(self.graph.name, arrays),
            lambda: self._dispatch(arrays, variables),
            lambda: [variable.raw for variable in variables[: self.num_written]],
        )

    def _dispatch(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> Sequence[Any]:
        context.launched()
        meeting, operands = self._meeting(arrays, variables)
        if meeting is None:
            return self._run(self.jitted, arrays, variables)
        sync_processes(self, meeting, arrays, variables)
        with together(meeting, operands, variables) as arrays:
            program = self._spread(variables)
            return self._run(
                lambda *operands: serialize_launch(self.graph.name, lambda: program(*operands), meeting),
                arrays,
                variables,
            )

    def _interruptible(
        self, arrays: Sequence[Any], variables: Sequence[Variable], policy: LaunchPolicy
    ) -> Sequence[Any]:
        if self.is_short and (SPREAD_ARRAYS not in slow_path_reasons or self._meeting(arrays, variables)[0] is None):
            results = self._run_short(arrays, variables, policy)
            if results is not None:
                return results
        meeting, operands = self._meeting(on_device(arrays), variables)
        sync_processes(self, meeting, arrays, variables)
        with together(meeting, operands, variables) as arrays:
            values = [variable.raw for variable in variables]
            if self._layout is not None:
                values = [jax.device_put(value, self._layout.said(value.sharding)) for value in values]
            program = self._function.prepare([*values, *arrays])
            context.launched()
            with deadline(policy.timeout):
                return self.transaction.run(
                    lambda values: program([*values, *arrays], lambda: described(self.graph.name, arrays)), variables
                )

    @property
    def is_pure(self) -> bool:
        """True if a dispatch is a call of :attr:`jitted`, while no arrays are on several devices."""
        return not (self.variables or self.check or self.transaction.host_calls or self._layout)

    @property
    def is_short(self) -> bool:
        """True if the program is certainly short; an interruptible one then runs in the calling thread."""
        return self._function.short is not None and self.check is None and self._layout is None

    def _run_short(
        self, arrays: Sequence[Any], variables: Sequence[Variable], policy: LaunchPolicy
    ) -> Sequence[Any] | None:
        """Runs the program in this thread; returns None if another thread uses the Variables."""
        check_interrupted(self._described)
        program = self._function.short
        if program is None:
            return None
        if not variables:
            return self._awaited(program(*arrays), arrays, policy)
        if not variable_lock.acquire(blocking=False):
            return None
        try:
            values = list(map(held, variables))
            if any(value is None for value in values):
                return None
            results = self._awaited(program(*values, *arrays), arrays, policy)
            count = len(results) - self.num_written
            set_values(variables, results[count:])
        finally:
            variable_lock.release()
        return results[:count]

    def _described(self) -> str:
        return described(self.graph.name)

    def _awaited(self, results: Sequence[Any], arrays: Sequence[Any], policy: LaunchPolicy) -> Sequence[Any]:
        if not are_soon_computed(results):
            with deadline(policy.timeout):
                wait_for(results, lambda: described(self.graph.name, arrays))
        return results

    def _meeting(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> tuple[Any, Sequence[Any]]:
        """Returns the devices of a program on several devices, and its inputs."""
        if self._layout is None:
            return target_sharding((*arrays, *map(array_of, variables))), arrays
        return self._layout.home, self._layout.placed(arrays)

    def _run(
        self, program: Callable[..., Sequence[Any]], arrays: Sequence[Any], variables: Sequence[Variable]
    ) -> Sequence[Any]:
        if self.transaction.host_calls:
            return self.transaction.run(lambda values: _held(program, values, arrays), variables)
        if self.check is not None and not self._donated:
            return self.transaction.run(lambda values: program(*values, *arrays), variables)
        if not variables:
            return program(*arrays)
        if self._has_run:
            results = run_on_variables(program, variables, self.num_written, arrays)
        else:
            with interrupts_held(lambda: any_is_away(variables[: self.num_written])):
                results = run_on_variables(program, variables, self.num_written, arrays)
            self._has_run = True
        if self.check is not None:
            self.check(results)
        return results

    def _spread(self, variables: Sequence[Variable]) -> Any:
        """Returns the ``jax.jit`` function for Variables on several devices, which preserves their layouts."""
        key = layouts = tuple([array_of(variable).sharding for variable in variables])
        jitted = self._by_layout.get(key)
        if jitted is None:
            split = splits(self.variables, layouts)
            lowered = lower(self.optimized, split) if split else self.lowered
            where: dict[str, Any] = {}
            outputs: Sequence[Any] = [None] * len(self.graph.outputs)
            if self._layout is not None:
                layouts = tuple(map(self._layout.said, layouts))
                where["in_shardings"], outputs = (*layouts, *self._layout.inputs), self._layout.outputs
            jitted = self._by_layout[key] = jax.jit(
                _guarded(lowered, self.graph, self.times, self.status),
                donate_argnums=self._donated,
                compiler_options=compiler_options(self.graph, gathers=bool(split)) or None,
                out_shardings=(*outputs, *layouts[: self.num_written]),
                **where,
            )
        return jitted

    @property
    def program(self) -> Program:
        """The program that XLA compiles, for :meth:`adopt_program`; it keeps no Variable alive."""
        return Program(self.graph, self.variables, self.devices, self.check is not None, self.jitted, self.times)

    def adopt_program(self, other: Program | None) -> bool:
        """Runs another program from now on, and returns True, if it differs only in the names of Variables."""
        mine = self.program
        if other is None or mine[2:4] != other[2:4] or len(mine.variables) != len(other.variables):
            return False
        if _renamed(self.graph, dict(zip(self.variables, other.variables, strict=True))) != other.graph:
            return False
        self.jitted, self.times = other.jitted, other.times
        return True

    def lower(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> Any:
        """Returns JAX's lowered program (``jax.stages.Lowered``) for arguments like these."""
        meeting, arrays = self._meeting(arrays, variables)
        with together(meeting, arrays, variables) as arrays, collection_paused():
            program = self.jitted if meeting is None else self._spread(variables)
            return program.lower(*[variable.raw for variable in variables], *arrays)


def _held(program: Callable[..., Sequence[Any]], values: Sequence[Any], arrays: Sequence[Any]) -> Sequence[Any]:
    with interrupts_held():  # between host callbacks JAX runs code that would turn Ctrl-C into another error
        return program(*values, *arrays)


def _renamed(graph: Graph, names: Mapping[str, str]) -> Graph:
    """Returns the graph with other variable names, which only nodes outside branches and loops have."""
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        name = node.attrs.get("variable")
        if name is None or names[name] == name:
            rewriter.keep(node)
        else:
            attrs = Attrs({**node.attrs, "variable": names[name]})
            rewriter.replace(node, node.op, rewriter.inputs(node), attrs, control_inputs=rewriter.controls(node))
    return rewriter.finish()


def _on_one(devices: Sequence[str]) -> dict[str, Any]:
    """Returns the ``jax.jit`` options of a program pinned to a device, which move the arguments there."""
    if len(devices) != 1:
        return {}
    sharding = SingleDeviceSharding(find_device(devices[0], quiet=True))  # pyright: ignore[reportArgumentType]
    return {"in_shardings": sharding, "out_shardings": sharding}


def _status_of(graph: Graph) -> int | None:
    """Returns the index of the status output, which is 0 unless the call has failed; None if there is none."""
    nodes = [value.node for value in graph.outputs]
    return next((index for index, node in enumerate(nodes) if node is not None and node.op is CALL_STATUS), None)


def _guarded(
    lowered: LoweredGraph, graph: Graph, times: CompileTimes, status: int | None
) -> Callable[..., tuple[Any, ...]]:
    types, rules = [value.type for value in graph.inputs], dtype_rules()

    def function(*arrays: Any) -> tuple[Any, ...]:
        if dtype_rules() != rules or [type_of(array) for array in arrays[len(lowered.variables) :]] != types:
            raise TypesDiffer
        times.start()
        with collection_paused():
            results = lowered.function(*arrays)
        return results if status is None else kept_on_failure(results, status, arrays[: len(lowered.written)])

    function.__name__ = function.__qualname__ = graph.name
    return function


def kept_on_failure(results: tuple[Any, ...], status: int, before: Sequence[Any]) -> tuple[Any, ...]:
    """Returns a program's results, with the old values of Variables in place of the new ones if it has failed."""
    # XLA computes the select together with the update, in place: a training step takes the same time and memory with
    # and without it, and so does the assignment of one row of a table. A ``jax.lax.cond`` around the values would copy
    # them.
    count = len(results) - len(before)
    fine = results[status] == 0
    return (*results[:count], *[jnp.where(fine, new, old) for new, old in zip(results[count:], before, strict=True)])
