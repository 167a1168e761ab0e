"""A compiled program and the variables it works on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from itertools import islice, repeat, starmap
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax.sharding import SingleDeviceSharding

from graphc.base import collection_paused, config, deadline, holding, interruption, interrupts_held, watched
from graphc.base.errors import FailedPreconditionError
from graphc.core import (
    Variable,
    are_soon_computed,
    array_of,
    context,
    dtype_rules,
    find_device,
    held,
    in_turn,
    kept_layouts,
    meeting_place,
    replaced,
    type_of,
    variable_lock,
    wait_for,
)
from graphc.ir import Attrs, Graph, Rewriter
from graphc.ir.passes import IfConvert, run_passes
from graphc.lowering.apart import ProgramApart, described, on_device
from graphc.lowering.backpressure import in_flight
from graphc.lowering.compile_times import CompileTimes
from graphc.lowering.gathering import splits
from graphc.lowering.lower import LoweredGraph, compiler_options, lower
from graphc.lowering.replicas import replica_layout
from graphc.lowering.together import meet_others, together
from graphc.ops import HOST_CALLS, host_lock, is_in_host_call, take_turns

__all__ = ["UNSHARED", "Check", "Executable", "Program", "TypesDiffer", "copied", "restore", "run_on_variables"]


Check: TypeAlias = Callable[[Sequence[Any]], None]


class TypesDiffer(Exception):
    """A program is called with arrays of other types than it was traced for, or where numbers get other dtypes."""


class Program(NamedTuple):
    """What XLA compiles of an executable: its graph, what else it depends on, and the ``jax.jit`` function."""

    graph: Graph
    variables: tuple[str, ...]
    devices: tuple[str, ...]
    is_checked: bool
    kind: type[Executable]
    jitted: Any
    times: CompileTimes


class Executable:
    """A graph, compiled by XLA for the types of its inputs.

    The variables that the graph writes are donated, so that XLA updates them in place. A buffer that something else
    still refers to (a tensor read from the variable, a NumPy view) is copied first and the copy donated.

    Args:
      graph: what to compile.
      check: of a program that can fail: raises if its outputs say that it has. It runs before anything else looks at
        the outputs; variables stay as they are until then, so none is donated.
      devices: the devices that it is pinned to; none for where its inputs are.

    Attributes:
      graph: the graph; what is differentiated is this one.
      optimized: the graph with light branches converted, which is what XLA compiles.
      timeout: within how many seconds a run must be done; None for no bound.
      times: how long it took to lower and to compile, the first time.
      variables: the names of the variables, those that are written first.
      num_written: how many are written.
      place: the names of the devices where it runs wherever its arguments are; empty where these decide.
      jitted: the ``jax.jit`` function: values of ``variables``, then inputs; outputs, then values of ``written``.
        Called with other types than the graph's it raises :class:`TypesDiffer`: since JAX's C++ cache looks at the
        types anyway, and at whether there are 64-bit ones, the caller can go without looking at them first.
    """

    def __init__(self, graph: Graph, check: Check | None = None, devices: Sequence[str] = ()) -> None:
        self.graph = graph
        self.optimized = run_passes(graph, (IfConvert(),))
        self.check = check
        self.devices = tuple(devices)
        self._layout = replica_layout(graph)
        self.place = "" if self._layout is None else ", ".join(self._layout.devices)
        self.timeout: float | None = None
        self.times = CompileTimes(graph.name)
        self._has_run = False
        self._by_layout: dict[tuple[Any, ...], Any] = {}
        host_calls = [node for node in graph.walk() if node.op in HOST_CALLS]
        self._calls_host = bool(host_calls)
        self.lowered: LoweredGraph = lower(self.optimized)
        self.variables = self.lowered.variables
        if self.variables:
            take_turns(node.attrs["function"] for node in host_calls)
        self.num_written = len(self.lowered.written)
        donated = range(0 if check is not None else self.num_written)
        self.jitted: Any = jax.jit(
            _guarded(self.lowered, graph, self.times),
            donate_argnums=tuple(donated),
            compiler_options=compiler_options(graph) or None,
            **_on_one(self.devices),
        )

    def __call__(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> Sequence[Any]:
        """Runs the program, and updates the variables that it writes.

        Args:
          arrays: one for each input of the graph.
          variables: one for each name in :attr:`variables`.

        Returns:
          One array for each output of the graph.
        """
        context.launched()
        if self._calls_host and is_in_host_call():  # maybe by this very program, which JAX refuses in its first call
            return self.bounded(arrays, variables)
        place, given = self._meeting(arrays, variables)
        if place is None:
            return self._run(self.jitted, arrays, variables)
        meet_others(self, place, arrays, variables)
        with together(place, given, variables) as arrays:
            program = self._spread(variables)
            return self._run(lambda *given: in_turn(self.graph.name, lambda: program(*given), place), arrays, variables)

    def _meeting(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> tuple[Any, Sequence[Any]]:
        """Where the program runs if it takes several devices, and its inputs."""
        if self._layout is None:
            return meeting_place((*arrays, *map(array_of, variables))), arrays
        return self._layout.home, self._layout.placed(arrays)

    def _run(
        self, program: Callable[..., Sequence[Any]], arrays: Sequence[Any], variables: Sequence[Variable]
    ) -> Sequence[Any]:
        if self._calls_host:
            return self.run(lambda values: _held(program, values, arrays), variables)
        if self.check is not None:
            return self.run(lambda values: program(*values, *arrays), variables)
        if not variables:
            return program(*arrays)
        if self._has_run:
            return run_on_variables(program, variables, self.num_written, arrays)
        with interrupts_held(lambda: any_is_away(variables[: self.num_written])):
            results = run_on_variables(program, variables, self.num_written, arrays)
        self._has_run = True
        return results

    def _spread(self, variables: Sequence[Variable]) -> Any:
        """The ``jax.jit`` function for Variables on several devices: what it writes stays laid out as it is."""
        key = layouts = tuple([array_of(variable).sharding for variable in variables])
        found = self._by_layout.get(key)
        if found is None:
            split = splits(self.variables, layouts)
            lowered = lower(self.optimized, split) if split else self.lowered
            where: dict[str, Any] = {}
            outputs: Sequence[Any] = [None] * len(self.graph.outputs)
            if self._layout is not None:
                layouts = tuple(map(self._layout.said, layouts))
                where["in_shardings"], outputs = (*layouts, *self._layout.inputs), self._layout.outputs
            found = self._by_layout[key] = jax.jit(
                _guarded(lowered, self.graph, self.times),
                donate_argnums=tuple(range(0 if self.check is not None else self.num_written)),
                compiler_options=compiler_options(self.graph, gathers=bool(split)) or None,
                out_shardings=(*outputs, *layouts[: self.num_written]),
                **where,
            )
        return found

    def attended(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> Sequence[Any]:
        """As a call, where more is asked for than to dispatch the program (see :data:`graphc.base.detours`).

        Under a deadline or a token the call waits for its results: if they do not come, no variable is changed. The
        time to compile the program counts for a deadline, but not for :attr:`timeout`.

        Raises:
          DeadlineExceededError: the results were not there in time.
          CancelledError: a token in force was cancelled before they were there.
        """
        counts_progress = self._calls_host and config.watchdog_seconds is not None
        in_turn = self._calls_host and host_lock.is_lent
        if self.timeout is not None or interruption() is not None or counts_progress or in_turn:
            return self.bounded(arrays, variables)
        limit = config.max_in_flight
        unwatched = config.watchdog_seconds is None
        with nullcontext() if unwatched else watched(lambda: self._described(arrays)):
            if limit is None or self._layout is not None:  # such programs take turns anyway
                return self(arrays, variables)
            in_flight.make_room(limit)
            results = self(arrays, variables)
        written = variables[: self.num_written]
        in_flight.add(self.graph.name, results or [variable.raw for variable in written])
        return results

    def bounded(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> Sequence[Any]:
        """As a call that waits for its results and that may be given up; see :meth:`attended`."""
        place, given = self._meeting(on_device(arrays), variables)
        meet_others(self, place, arrays, variables)
        with together(place, given, variables) as arrays:
            return self._run_bounded(arrays, variables)

    def _run_bounded(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> Sequence[Any]:
        values = [variable.raw for variable in variables]
        if self._layout is not None:
            values = [jax.device_put(value, self._layout.said(value.sharding)) for value in values]
        compiled = self._apart.prepare([*values, *arrays])
        context.launched()

        def program(values: Sequence[Any]) -> Sequence[Any]:
            return self._apart.run(compiled, [*values, *arrays], lambda: self._described(arrays))

        with deadline(self.timeout):
            return self.run(program, variables)

    @property
    def is_short(self) -> bool:
        """Whether :meth:`in_time` serves."""
        return "_apart" in self.__dict__ and self._apart.short is not None

    def in_time(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> Sequence[Any] | None:
        """As :meth:`bounded`, of a program that is short.

        Returns:
          The outputs; None where another thread uses the variables, or the program is not as short any more.
        """
        bound = interruption()
        if bound is not None:
            bound.check(self._described)
        program = self._apart.short
        if program is None:
            return None
        if not variables:
            return self._awaited(program(*arrays), arrays)
        if not variable_lock.acquire(blocking=False):
            return None
        try:
            values = list(map(held, variables))
            if any(value is None for value in values):
                return None
            results = self._awaited(program(*values, *arrays), arrays)
            count = len(results) - self.num_written
            _set_values(variables, results[count:])
        finally:
            variable_lock.release()
        return results[:count]

    def _awaited(self, results: Sequence[Any], arrays: Sequence[Any]) -> Sequence[Any]:
        """Returns the results, once they are there; within :attr:`timeout`, if there is one."""
        if not are_soon_computed(results):
            with deadline(self.timeout):
                wait_for(results, lambda: self._described(arrays))
        return results

    @cached_property
    def _apart(self) -> ProgramApart:
        layout = self._layout
        return ProgramApart(
            _guarded(self.lowered, self.graph, self.times),
            calls_host=self._calls_host,
            compiler_options=compiler_options(self.graph) or None,
            out_shardings=None if layout is None else [*layout.outputs, *[layout.home] * self.num_written],
        )

    def _described(self, arrays: Sequence[Any] = ()) -> str:
        """The program in words: what and where."""
        return described(self.graph.name, arrays)

    def run(
        self,
        program: Callable[[Sequence[Any]], Sequence[Any]],
        variables: Sequence[Variable],
        check: Check | None = None,
    ) -> Sequence[Any]:
        """Runs a program that donates nothing, and updates the variables that it writes.

        Args:
          program: takes the values of ``variables``; returns outputs, then the values of those written.
          variables: one for each name in :attr:`variables`.
          check: what raises if the outputs say that the program has failed; :attr:`check` if None.

        Returns:
          The outputs.

        Raises:
          FailedPreconditionError: what the program called on the host has assigned one of the variables.
          Exception: what :attr:`check` raises; no variable is changed.
        """
        # What a program calls on the host may touch other variables, from another thread: it must not wait for this.
        turn = host_lock if self._calls_host else variable_lock
        bound = interruption()
        if bound is not None:
            bound.check(self._described)
            turn = holding(turn, lambda: f"the variables of {self._described()}, which another thread uses")
        with turn if variables else nullcontext():
            before = [variable.raw for variable in variables]
            results = program(before)
            if bound is not None:
                wait_for([array for array in results if isinstance(array, jax.Array)], self._described)
            count = len(results) - self.num_written
            check = check or self.check
            if check is not None:
                check(results[:count])
            new = kept_layouts(results[count:], before[: self.num_written])
            with variable_lock if variables else nullcontext():
                _check_unchanged(self.graph.name, variables, before)
                _set_values(variables, new)
        return results[:count]

    @property
    def program(self) -> Program:
        """What XLA compiles, for :meth:`take_over`; it keeps no Variable alive."""
        is_checked, kind = self.check is not None, type(self)
        return Program(self.graph, self.variables, self.devices, is_checked, kind, self.jitted, self.times)

    def take_over(self, other: Program) -> bool:
        """Runs another program from now on, if it is the same as this one but for the names of variables.

        Returns:
          Whether it is.
        """
        mine = self.program
        if mine[2:5] != other[2:5] or mine.kind is not Executable or len(mine.variables) != len(other.variables):
            return False
        if _renamed(self.graph, dict(zip(self.variables, other.variables, strict=True))) != other.graph:
            return False
        self.jitted, self.times = other.jitted, other.times
        return True

    def lower(self, arrays: Sequence[Any], variables: Sequence[Variable]) -> Any:
        """JAX's lowered program (``jax.stages.Lowered``) for arguments like these."""
        place, arrays = self._meeting(arrays, variables)
        with together(place, arrays, variables) as arrays, collection_paused():
            program = self.jitted if place is None else self._spread(variables)
            return program.lower(*[variable.raw for variable in variables], *arrays)


def _held(program: Callable[..., Sequence[Any]], values: Sequence[Any], arrays: Sequence[Any]) -> Sequence[Any]:
    with interrupts_held():  # between the Python functions that it calls runs code of JAX's, which makes it another
        return program(*values, *arrays)


def _renamed(graph: Graph, names: Mapping[str, str]) -> Graph:
    """The graph with other names of variables, which only nodes outside branches and loops have."""
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        name = node.attrs.get("variable")
        if name is None or names[name] == name:
            rewriter.keep(node)
        else:
            attrs = Attrs({**node.attrs, "variable": names[name]})
            rewriter.replace(node, node.op, rewriter.inputs(node), attrs, control_inputs=rewriter.controls(node))
    return rewriter.finish()


def _check_unchanged(name: str, variables: Sequence[Variable], before: Sequence[Any]) -> None:
    for variable, value in zip(variables, before, strict=True):
        if variable.raw is not value:
            raise FailedPreconditionError(
                f"Variable {variable.name!r} was assigned by Python code while the compiled function {name!r} ran on "
                "the value that it had before; assign it in the function itself"
            )


def any_is_away(variables: Sequence[Variable]) -> bool:
    """Whether a variable has no value: its old one was donated, and the new one has not been put in place.

    Ctrl-C must wait then, as when JAX calls a program for the first time: Python code of its own comes between the two,
    where an exception would lose the new value.
    """
    return any(held(variable) is None for variable in variables)


def run_on_variables(
    program: Callable[..., Sequence[Any]], variables: Sequence[Variable], num_written: int, arrays: Sequence[Any]
) -> Sequence[Any]:
    """Runs a program, and updates the variables that it writes; threads take turns.

    Args:
      program: takes the values of ``variables``, then ``arrays``; returns outputs, then the values of those written.
      variables: those that are written first; if the program fails they stay as they are.
      num_written: how many are written.
      arrays: the other inputs.

    Returns:
      The outputs.
    """
    results: Any = None
    with variable_lock:
        values = list(map(held, variables))
        try:
            # From here on other threads wait for the new values: who has an old one is counted before it is donated.
            _set_values(variables, repeat(None, num_written))
            given = (*_unshared(values, num_written), *arrays)
            # Ctrl-C is raised between two instructions of Python's, and after a call. What an iterator gives that is
            # unpacked is bound first, so that the new values are not lost when the old ones were donated.
            (results,) = starmap(program, (given,))
            count = len(results) - num_written
            _set_values(variables, results[count:])
        except BaseException:
            restore(variables, values[:num_written], results)
            for variable, value in zip(variables, values, strict=True):
                if value is None:
                    raise replaced(variable) from None
            raise
    return results[:count]


def restore(variables: Sequence[Variable], values: Sequence[Any], results: Sequence[Any] | None) -> None:
    """Gives the variables that a program was to write their values, after an exception.

    Args:
      variables: those that it writes.
      values: what they held.
      results: what the program returned, the new values last; None if it did not return.
    """
    _set_values(variables, values if results is None else results[len(results) - len(values) :])


def _set_values(variables: Sequence[Variable], values: Iterable[Any]) -> None:
    """Gives the first variables new values: all of them, also when Ctrl-C comes."""
    any(map(setattr, variables, _NAME, values))


def _on_one(devices: Sequence[str]) -> dict[str, Any]:
    """What ``jax.jit`` is told of a program that is pinned to a device, so that it brings the arguments there."""
    if len(devices) != 1:
        return {}
    place = SingleDeviceSharding(find_device(devices[0], told=True))  # pyright: ignore[reportArgumentType]
    return {"in_shardings": place, "out_shardings": place}


def _guarded(lowered: LoweredGraph, graph: Graph, times: CompileTimes) -> Callable[..., Any]:
    types, rules = [value.type for value in graph.inputs], dtype_rules()

    def function(*arrays: Any) -> tuple[Any, ...]:
        if dtype_rules() != rules or [type_of(array) for array in arrays[len(lowered.variables) :]] != types:
            raise TypesDiffer
        times.start()
        with collection_paused():
            return lowered.function(*arrays)

    function.__name__ = function.__qualname__ = graph.name
    return function


def _unshared(values: list[Any], num_written: int) -> list[Any]:
    """Values, of which the first ``num_written`` are to be donated: copies of these where somebody else has them."""
    if max(map(sys.getrefcount, islice(values, num_written)), default=0) <= _UNSHARED:
        return values
    given = values.copy()
    for place, references in enumerate(list(map(sys.getrefcount, islice(values, num_written)))):
        if references > _UNSHARED + 1:  # the new list
            given[place] = copied(values[place])
    return given


def copied(array: Any) -> Any:
    """A copy of an array that is to be donated and that somebody else has."""
    copy = jnp.array(array, copy=True)
    context.launched()
    return copy


def _references() -> int:
    value = object()
    return sys.getrefcount(value)


UNSHARED = _references()
"""The reference count of a value that one variable of a function holds, and nobody else."""


_NAME = repeat("_array")
_UNSHARED = max(map(sys.getrefcount, islice([object()], 1)))
"""The reference count of a value that is in one list and nowhere else."""
