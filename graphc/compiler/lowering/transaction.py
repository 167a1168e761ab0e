"""Atomic updates of Variables by a program: all of them, or none if it fails."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice, repeat, starmap
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

from graphc.compiler.base import holding, interruption
from graphc.compiler.base.errors import FailedPreconditionError
from graphc.compiler.core import (
    RunningProgram,
    Variable,
    context,
    held,
    kept_layouts,
    replaced,
    variable_lock,
    wait_for,
)
from graphc.compiler.ir import Graph
from graphc.compiler.lowering.launch import described
from graphc.compiler.lowering.lower import LoweredGraph
from graphc.compiler.ops import HOST_CALLS, called_by, host_lock, take_turns

Check: TypeAlias = Callable[[Sequence[Any]], None]


@dataclass(frozen=True)
class Transaction:
    """Runs programs without donation, and assigns their results to Variables."""

    name: str
    written: Sequence[str]  # the Variables, which come first
    check: Check | None  # raises if the program has failed; runs before anything else reads the outputs
    host_calls: Sequence[str]  # the Python functions that the program calls

    @classmethod
    def of(cls, graph: Graph, lowered: LoweredGraph, check: Check | None) -> Transaction:
        """Returns the transaction for a graph."""
        host_calls = tuple([node.attrs["function"] for node in graph.walk() if node.op in HOST_CALLS])
        if lowered.variables:
            take_turns(host_calls)
        return cls(graph.name, tuple(lowered.written), check, host_calls)

    def run(self, program: Callable[[Sequence[Any]], Sequence[Any]], variables: Sequence[Variable]) -> Sequence[Any]:
        """Runs a program, and updates the Variables that it writes; if :attr:`check` raises, none changes."""
        # Host callbacks of a program may use other variables from another thread, which must not wait for this one.
        turn = host_lock if self.host_calls else variable_lock
        bound = interruption()
        if bound is not None:
            bound.check(self._described)
            turn = holding(turn, lambda: f"the variables of {self._described()}, which another thread uses")
        with turn if variables else nullcontext():
            before = [variable.raw for variable in variables]
            assigned = dict(zip(self.written, variables, strict=False))
            calling = self.host_calls and assigned
            with called_by(RunningProgram(self.name, assigned), self.host_calls) if calling else nullcontext():
                results = program(before)
                if bound is not None:
                    wait_for([array for array in results if isinstance(array, jax.Array)], self._described)
                count = len(results) - len(self.written)
                if self.check is not None:
                    self.check(results[:count])
            new = kept_layouts(results[count:], before[: len(self.written)])
            with variable_lock if variables else nullcontext():
                self._check_unchanged(variables, before)
                set_values(variables, new)
        return results[:count]

    def _described(self) -> str:
        return described(self.name)

    def _check_unchanged(self, variables: Sequence[Variable], before: Sequence[Any]) -> None:
        for variable, value in zip(variables, before, strict=True):
            if variable.raw is not value:
                raise FailedPreconditionError(
                    f"Variable {variable.name!r} was assigned by Python code while the compiled function "
                    f"{self.name!r} ran on its previous value; assign it inside the compiled function"
                )


def any_is_away(variables: Sequence[Variable]) -> bool:
    """Returns True if a variable has no value: its old one was donated, and the new one is not stored yet."""
    # Ctrl-C must be deferred then, and also in JAX's first call of a program: JAX runs Python code between the two,
    # where an exception would lose the new value.
    return any(held(variable) is None for variable in variables)


def run_on_variables(
    program: Callable[..., Sequence[Any]], variables: Sequence[Variable], num_written: int, arrays: Sequence[Any]
) -> Sequence[Any]:
    """Runs a program and updates the variables that it writes; one thread at a time."""
    # The program takes the values of ``variables``, written ones first, then ``arrays``; it returns outputs, then the
    # values of those written, which stay unchanged if it fails.
    results: Any = None
    with variable_lock:
        values = list(map(held, variables))
        try:
            # From here on other threads wait for the new values: references to an old one are counted before it is
            # donated.
            set_values(variables, repeat(None, num_written))
            operands = (*_unshared(values, num_written), *arrays)
            # Ctrl-C is raised between two instructions of Python's, and after a call. Unpacking binds the iterator's
            # items first, so that the new values are not lost once the old ones were donated.
            (results,) = starmap(program, (operands,))
            count = len(results) - num_written
            set_values(variables, results[count:])
        except BaseException:
            restore(variables, values[:num_written], results)
            for variable, value in zip(variables, values, strict=True):
                if value is None:
                    raise replaced(variable) from None
            raise
    return results[:count]


def restore(variables: Sequence[Variable], values: Sequence[Any], results: Sequence[Any] | None) -> None:
    """Sets variables, after an exception, to the new values if the program has returned, else to the old ones."""
    set_values(variables, values if results is None else results[len(results) - len(values) :])


def set_values(variables: Sequence[Variable], values: Iterable[Any]) -> None:
    """Assigns new values to the first variables: to all of them, even if Ctrl-C is pressed."""
    any(map(setattr, variables, _NAME, values))


def _unshared(values: list[Any], num_written: int) -> list[Any]:
    """Returns the values, with copies of those to be donated that other code refers to; the counts save copies only."""
    if max(map(sys.getrefcount, islice(values, num_written)), default=0) <= _UNSHARED:
        return values
    result = values.copy()
    for index, references in enumerate(list(map(sys.getrefcount, islice(values, num_written)))):
        if references > _UNSHARED + 1:  # the new list
            result[index] = copied(values[index])
    return result


def copied(array: Any) -> Any:
    """Returns a copy of an array that is to be donated but has other references."""
    copy = jnp.array(array, copy=True)
    context.launched()
    return copy


def _references() -> int:
    value = object()
    return sys.getrefcount(value)


UNSHARED = _references()
"""The reference count of a value that only one variable of a function refers to."""


_NAME = repeat("_array")
_UNSHARED = max(map(sys.getrefcount, islice([object()], 1)))
"""The reference count of a value that is only in one list."""
