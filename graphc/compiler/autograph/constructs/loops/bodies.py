"""Traces tests and bodies, for all loops that become nodes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from graphc.compiler.autograph.constructs.branches.branch import predicate
from graphc.compiler.autograph.constructs.branches.checks import require_limit
from graphc.compiler.autograph.constructs.exceptions.failure import may_have_failed, still_running
from graphc.compiler.autograph.constructs.exceptions.try_scope import attempt
from graphc.compiler.autograph.constructs.loops.state import LoopState, LoopVariables
from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import FailedPreconditionError
from graphc.compiler.core import SymbolicTensor, apply, operand, trace_scope
from graphc.compiler.ir import OPS
from graphc.compiler.ops import STATUS
from graphc.compiler.tracing import Region, Trace

__all__ = [
    "Countdown",
    "Extended",
    "arguments",
    "check_bound",
    "condition_before",
    "condition_in",
    "expecting",
    "forget_loops",
    "going_on",
    "iterate",
    "restoring",
    "with_one_more",
]


_Result = TypeVar("_Result")


def arguments(region: Region, state: LoopState) -> list[SymbolicTensor]:
    """Returns the inputs of a region for what its loop carries."""
    return [region.argument(type, f"carry_{position}") for position, type in enumerate(state.types())]


def going_on(region: Trace, value: Any) -> SymbolicTensor:
    """Returns the condition of a loop node: what the test says, as long as the call has not failed."""
    return _as_long_as_it_runs(region, condition_in(region, value))


def condition_in(region: Trace, value: Any) -> SymbolicTensor:
    """Returns what the test of a loop says, as a condition."""
    return predicate(region, region.lift(operand(value)))


def condition_before(body: Region, test: Region, condition: SymbolicTensor) -> SymbolicTensor:
    """Returns the condition of a loop node whose body has been traced by now, as :func:`going_on`."""
    # Only the body's trace shows that it may fail, and that comes after the test's.
    if may_have_failed(body):
        with trace_scope(body.parent):
            STATUS.value()
    with trace_scope(test):
        return _as_long_as_it_runs(test, condition)


def _as_long_as_it_runs(region: Trace, condition: SymbolicTensor) -> SymbolicTensor:
    running = still_running(region)
    return condition if running is None else region.lift(apply(OPS["logical_and"], (running, condition)))


_unexpected: WeakKeyDictionary[Trace, set[CodeType | None]] = WeakKeyDictionary()
"""For each trace of a function the loops that cannot be traced with all their numbers carried from the start."""


def expecting(trace: Trace, code: CodeType | None, run: Callable[[bool], _Result]) -> _Result:
    """Traces a loop with its numbers carried from the start, and without if that fails.

    A number that an iteration assigns, but leaves as it is, may be of use as a Python number only.

    Args:
      trace: around the loop.
      code: of its body.
      run: traces it, given whether numbers are carried from the start.
    """
    unexpected = _unexpected.setdefault(trace.root, set())
    if code not in unexpected:
        before = trace.checkpoint()
        try:
            return run(True)
        except Exception:
            # What is the user's fault fails in the next run again.
            unexpected.add(code)
            trace.rollback(before)
    return run(False)


def iterate(region: Region, state: LoopState, body: Callable[[], None], carried: Sequence[Any]) -> None:
    """Traces an iteration of a loop that may run zero times; one that always fails leaves everything as it was."""
    _, failure = attempt(body)
    if failure is not None:
        failure.happens()
        region.forget_writes()
        state.bind(carried)


@contextmanager
def restoring(state: LoopState) -> Generator[None]:
    """Inside, a loop is traced; if that does not end well, its names hold again what they held before.

    Nobody else keeps those values meanwhile: whether a tensor's items may be assigned depends on who refers to it.
    """
    try:
        yield
    except BaseException:  # RegionAborted and OptionsFound too
        state.restore()
        raise


def forget_loops(trace: Trace, count: int) -> None:
    """Forgets what was reported of the loops inside but for the first ``count``, since the body is traced again."""
    del trace.root.loops[count:]


@dataclass(frozen=True)
class Extended(LoopVariables):
    """Names of a loop that are made of others.

    Attributes:
      inner: those, which are the user's.
    """

    inner: LoopVariables

    def own(self, region: Region) -> None:
        """As that of the user's names."""
        self.inner.own(region)

    def tensors_stored(self) -> list[SymbolicTensor]:
        """As that of the user's names."""
        return self.inner.tensors_stored()


def with_one_more(
    variables: LoopVariables, name: str, get: Callable[[], Any], set_value: Callable[[Any], None]
) -> LoopVariables:
    """Returns the names of a loop, and one that is not the user's."""

    def set_all(values: tuple[Any, ...]) -> None:
        variables.set(values[:-1])
        set_value(values[-1])

    return Extended(lambda: (*variables.get(), get()), set_all, (*variables.names, name), variables)


class Countdown:
    """Lets a loop run so many iterations; the call fails if it goes on.

    Args:
      variables: the names of the loop.
      most: how many iterations; None for any number.

    Attributes:
      variables: these, with the number of iterations if that is bounded.
    """

    def __init__(self, variables: LoopVariables, most: int | None) -> None:
        self._most = most
        self._done: Any = 0
        self.variables = variables
        if most is not None:
            self.variables = with_one_more(variables, "the number of iterations", lambda: self._done, self._set)

    def _set(self, value: Any) -> None:
        self._done = value

    def begin_iteration(self) -> None:
        """Is called where an iteration begins."""
        if self._most is not None:
            check_bound(self._done, self._most)
            self._done = self._done + 1


def check_bound(done: Any, most: int) -> None:
    """Makes the call fail if ``done`` iterations are as many as there may be."""
    message = f"a loop has not ended after max_iterations={most} iterations; allow more, if it ends at all"
    # Taken now: the error is made when the program runs, where no frame of the user's is left.
    location = user_location()
    require_limit(done < most, lambda: at(FailedPreconditionError(message), location))
