"""The end of an entry: the code that runs the program and wraps its results."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import starmap
from sys import getrefcount
from typing import Any

import numpy as np
from jax.sharding import SingleDeviceSharding

from graphc.compiler.core import Tensor, shorten_all, variable_lock
from graphc.compiler.function import front_end
from graphc.compiler.function.arguments import Arguments
from graphc.compiler.function.guards import GuardWriter
from graphc.compiler.function.results import OperandReference, is_written, written_result
from graphc.compiler.function.traced import TracedFunction
from graphc.compiler.lowering import UNSHARED, Executable, LaunchPolicy, TypesDiffer, copied, restore, run_on_variables
from graphc.compiler.tracing import RegionAborted

# Up to this many Variables the update is inlined, which saves a small program up to two microseconds.
_FEW = 4


def shorten(error: BaseException) -> None:
    """Removes graphc's frames from the traceback of an error, leaving one frame for each of the user's functions."""
    # In converted code, a branch, a loop body and an operand are functions of their own, called by graphc's operators.
    # Only the innermost frame remains, at the running line, as if Python had run the function.
    shorten_all(error, front_end.is_part_of, (RegionAborted,))


def _listed(names: list[str]) -> str:
    return "".join(f"{name}, " for name in names)


class ProgramRun:
    """Generates the run of a program that only computes, updates Variables and assigns items of arguments."""

    def __init__(self, traced: TracedFunction, writer: GuardWriter, operands: list[str], *, bounded: bool) -> None:
        self._traced, self._writer, self._found = traced, writer, operands
        self._timed = bounded or traced.executable.timeout is not None
        self._captured = [self._value(spot) for spot in traced.captured_places]
        self._variables = [self._value(spot) for spot in traced.variable_places]
        self._written = traced.executable.num_written
        self._changed = [] if traced.write_back is None else traced.write_back.places
        # Also for Variables whose update is not inlined: the program returns their values last.
        self._outputs = len(traced.graph.outputs)

    def _value(self, spot: Any) -> str:
        return self._found[spot.index] if isinstance(spot, OperandReference) else self._writer.constant(spot)

    def lines(self, arrays: list[str], tensors: list[str], whole: list[str] | None) -> list[str]:
        """Returns the lines of the run."""
        # tensors: the names of the tensors among them; empty where an array is not a tensor.
        # whole: the names of those arrays that may be on several devices, if the entry must check it; or None.
        traced, writer, miss = self._traced, self._writer, self._writer.miss
        assert isinstance(traced.executable, Executable)  # a single program
        writer.namespace.update(
            program=traced.executable.jitted, pack=traced.pack, run_on_variables=run_on_variables, lock=variable_lock,
            Tensor=Tensor, new=object.__new__, Differ=(TypesDiffer, ValueError), starmap=starmap, refs=getrefcount,
            copied=copied, restore=restore, Single=SingleDeviceSharding,
        )  # fmt: skip
        inputs = [*arrays, *(f"{name}.raw" for name in self._captured)]
        if whole is not None:
            looked_at = [*whole, *inputs[len(arrays) :], *(f"{variable}._array" for variable in self._variables)]
            if looked_at:
                writer.require(" and ".join(f"type({name}.sharding) is Single" for name in looked_at))
        # The slow path handles arrays that JAX does not move to one device, and other dtype rules.
        lines = [*self._distinct(tensors), *self._held(looks=whole is not None)]
        lines += ["try:", *(f"    {line}" for line in self._run(inputs)), "except Differ:", f"    {miss}"]
        if traced.can_fail:
            writer.namespace.update(asarray=np.asarray, failed=_failed(traced))
            lines.append(f"if asarray(results[{traced.num_results}]): failed(results)")
        first = self._outputs - len(self._changed)
        lines += [f"{tensors[at]}.raw = results[{first + index}]" for index, at in enumerate(self._changed)]
        return [*lines, *self._packed(tensors)]

    def _distinct(self, tensors: list[str]) -> list[str]:
        """Requires that assigned tensors have no other name, which the program would not see changed."""
        others = [*self._captured, *map(self._writer.constant, self._traced.observed)] if self._changed else []
        names = [name for name in (*tensors, *others) if name]
        pairs = [f"{tensors[at]} is {name}" for at in self._changed for name in names if name != tensors[at]]
        return [f"if {' or '.join(pairs)}: {self._writer.miss}"] if pairs else []

    @property
    def _is_read_only(self) -> bool:
        return bool(self._variables) and not self._written and not self._timed

    def _names(self) -> list[str]:
        return [f"held{index}" for index in range(len(self._variables))]

    def _held(self, *, looks: bool) -> list[str]:
        """Reads the values of the read-only Variables, all at one time."""
        if not self._is_read_only:
            return []
        pairs = zip(self._names(), self._variables, strict=True)
        away = [f"{name} is None" for name in self._names()]  # a program is replacing it; the slow path waits
        if looks:  # again: another thread's program may have moved them to several devices
            away += [f"type({name}.sharding) is not Single" for name in self._names()]
        return [
            "with lock:",
            *(f"    {name} = {variable}._array" for name, variable in pairs),
            f"if {' or '.join(away)}:",
            f"    {self._writer.miss}",
        ]

    def _run(self, inputs: list[str]) -> list[str]:
        variables = self._variables
        if self._timed:
            executable = self._traced.executable
            policy = LaunchPolicy(interruptible=True, timeout=executable.timeout)
            self._writer.namespace.update(launch=executable.launch, policy=policy)
            return [f"results = launch(({_listed(inputs)}), ({_listed(variables)}), policy)"]
        if not self._written:
            return [f"results = program({_listed([*self._names(), *inputs])})"]
        if len(variables) <= _FEW:
            return self._updating(inputs)
        return [f"results = run_on_variables(program, ({_listed(variables)}), {self._written}, ({_listed(inputs)}))"]

    def _updating(self, inputs: list[str]) -> list[str]:
        """Returns :func:`graphc.compiler.lowering.run_on_variables` inlined; see there for the reasons."""
        variables, written, miss = self._variables, self._written, self._writer.miss
        before, own = self._names(), [f"own{index}" for index in range(written)]
        lines = [f"{name} = {variable}._array" for name, variable in zip(before, variables, strict=True)]
        lines += [f"if {' or '.join(f'{name} is None' for name in before)}:", f"    {miss}"]
        body = [f"{' = '.join(f'{variable}._array' for variable in variables[:written])} = None"]
        for name, value in zip(own, before, strict=False):
            # The count saves a copy only: what others refer to is copied before it is donated.
            body.append(f"{name} = {value} if refs({value}) <= {UNSHARED} else copied({value})")
        body.append(f"(results,) = starmap(program, (({_listed([*own, *before[written:], *inputs])}),))")
        first = self._outputs
        body += [f"{variable}._array = results[{first + index}]" for index, variable in enumerate(variables[:written])]
        failed = f"restore(({_listed(variables[:written])}), ({_listed(before[:written])}), results)"
        lines += ["try:", *(f"    {line}" for line in body), "except BaseException:", f"    {failed}", "    raise"]
        return ["results = None", "with lock:", *(f"    {line}" for line in lines)]

    def _packed(self, tensors: list[str]) -> list[str]:
        """Returns the lines that turn the results into the user's result."""
        traced, count = self._traced, self._traced.num_results
        if not is_written(traced.structure):
            more = self._written or self._changed or traced.can_fail
            return [f"return pack(map(Tensor, {f'results[:{count}]' if more else 'results'}))"]
        origins = {index: tensors[at] if isinstance(at, int) else self._value(at) for index, at in traced.own.items()}
        own = {index: name for index, name in origins.items() if name}  # tensors that the caller already has
        packed = written_result(traced.structure, traced.leaves, own, self._value)
        lines: list[str] = []
        for index in range(count):  # skips __init__
            if re.search(rf"\bt{index}\b", packed):
                lines += [f"t{index} = new(Tensor)", f"t{index}.raw = results[{index}]"]
        return [*lines, f"return {packed}"]


def _failed(traced: TracedFunction) -> Callable[[Sequence[Any]], None]:
    """Returns what raises the exception of a call, given what its program returned."""

    def failed(results: Sequence[Any]) -> None:
        try:
            traced.look(results)
        except Exception as error:
            shorten(error)
            raise

    return failed


def run_trace(traced: TracedFunction, writer: GuardWriter, arrays: list[str], operands: list[str]) -> list[str]:
    """Returns the lines that call the trace, which also does the work after the run."""

    def run(values: dict[str, Any], arrays: list[Any], operands: tuple[Any, ...]) -> Any:
        try:
            return traced(Arguments(values, arrays, traced.types, values, operands))
        except Exception as error:
            shorten(error)
            raise

    writer.namespace["run"] = run
    values = ", ".join(f"{name!r}: {own}" for name, own in writer.parameters.items())
    return [f"return run({{{values}}}, [{_listed(arrays)}], ({_listed(operands)}))"]
