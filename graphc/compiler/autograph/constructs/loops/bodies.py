"""Traces tests and bodies, for all loops that become nodes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from graphc.compiler.autograph.constructs.branches.branch import predicate
from graphc.compiler.autograph.constructs.branches.logic import require, require_limit
from graphc.compiler.autograph.constructs.exceptions.failure import may_have_failed, still_running
from graphc.compiler.autograph.constructs.exceptions.try_scope import attempt
from graphc.compiler.autograph.constructs.loops.state import LoopState, LoopVariables
from graphc.compiler.autograph.values.growing_list import room
from graphc.compiler.autograph.values.protocol import Unbound, is_bound
from graphc.compiler.base import nest, user_location
from graphc.compiler.base.errors import FailedPreconditionError
from graphc.compiler.core import SymbolicTensor, apply, operand, trace_scope
from graphc.compiler.ir import OPS
from graphc.compiler.ops import STATUS
from graphc.compiler.tracing import CREATES, Region, Trace

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
    """Traces a loop with its numbers carried from the start, and without if that fails."""
    # A number that an iteration assigns, but leaves as it is, may be of use as a Python number only.
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
    """Inside, a loop is traced; if that does not end well, its names hold again what they held before."""
    # Nobody else keeps those values meanwhile: whether a tensor's items may be assigned depends on who refers to it.
    try:
        yield
    except BaseException:  # RegionAborted and OptionsFound too
        state.restore()
        raise


def forget_loops(trace: Trace, count: int) -> None:
    """Forgets what was reported of the loops inside but for the first ``count``, since the body is traced again."""
    del trace.root.loops[count:]


@dataclass(frozen=True)
class ExtendedTuple(LoopVariables):
    """Names of a loop that are made of others."""

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

    return ExtendedTuple(lambda: (*variables.get(), get()), set_all, (*variables.names, name), variables)


class TripCounter:
    """Lets a loop run so many iterations; the call fails if it goes on."""

    def __init__(self, variables: LoopVariables, most: int | None) -> None:
        self._most = most  # how many iterations; None for any number
        self._done: Any = 0
        self.variables = variables  # these, with the number of iterations if that is bounded
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
    require_limit(done < most, lambda: FailedPreconditionError(message).at(location))


# Names that a loop binds first, where it may run zero times: whether they are bound is known at run time only.


class MaybeUnbound(Unbound):
    """The value of a name that is bound only if a loop has run."""

    __slots__ = ("ran", "value")

    may_be_bound = True

    def __init__(self, name: str, value: Any, ran: Any) -> None:
        super().__init__(name, "it is bound only inside a loop that may run zero times")
        self.value = value
        self.ran = ran

    def use(self) -> Any:
        """Returns the value; if the loop has not run the call fails as Python does."""
        # In CPython's words, since converted code fails as plain Python does.
        message = f"cannot access local variable {self.name!r} where it is not associated with a value"
        require(self.ran, lambda: UnboundLocalError(message))
        return self.value


def split_maybe_unbound(variables: LoopVariables) -> LoopVariables:
    """Returns the names of a loop, and for each of which it is not sure that it is bound by now, whether it is."""
    unsure = [position for position, value in enumerate(variables.get()) if isinstance(value, MaybeUnbound)]
    if not unsure:
        return variables
    count = len(variables.names)

    def get() -> tuple[Any, ...]:
        values, bound = list(variables.get()), list[Any]()
        for position in unsure:
            value = values[position]
            bound.append(value.ran if isinstance(value, MaybeUnbound) else is_bound(value))
            values[position] = value.value if isinstance(value, MaybeUnbound) else value
        return (*values, *bound)

    def set_all(values: tuple[Any, ...]) -> None:
        names = list(values[:count])
        for position, bound in zip(unsure, values[count:], strict=True):
            names[position] = (
                names[position] if bound is True else MaybeUnbound(variables.names[position], names[position], bound)
            )
        variables.set(tuple(names))

    titles = [f"whether {variables.names[position]!r} is bound" for position in unsure]
    return ExtendedTuple(get, set_all, (*variables.names, *titles), variables)


_BOUND: Any = object()
"""Stands for what a name that is bound holds, which may be None."""


class BoundByLoop:
    """The names that are not bound before a loop that may run zero times."""

    def __init__(self, variables: LoopVariables) -> None:
        self.inner = variables = split_maybe_unbound(variables)
        self._before = [_BOUND if is_bound(value) or value.filler else value for value in variables.get()]
        self._fillers = [Unbound("" if before is _BOUND else before.name, filler=True) for before in self._before]
        self._ran: Any = False
        # These, and where some are not bound, one that says whether the loop has run. What is not bound is there
        # something for which zeros may stand, as long as the loop has not run.
        self.variables = variables
        if self:
            filled = ExtendedTuple(self._get, self._set, variables.names, variables)
            self.variables = with_one_more(filled, "whether the loop has run", lambda: self._ran, self._set_ran)

    def __bool__(self) -> bool:
        return any(before is not _BOUND for before in self._before)

    def _get(self) -> tuple[Any, ...]:
        columns = zip(self.inner.get(), self._before, self._fillers, strict=True)
        return tuple([filler if value is before else value for value, before, filler in columns])

    def _set(self, values: tuple[Any, ...]) -> None:
        columns = zip(values, self._before, self._fillers, strict=True)
        self.inner.set(tuple([before if value is filler else value for value, before, filler in columns]))

    def _set_ran(self, value: Any) -> None:
        self._ran = value

    def end_iteration(self, region: Region) -> None:
        """Is called when an iteration has been traced."""
        if not self:
            return
        values = list(self.inner.get())
        for position, (before, value) in enumerate(zip(self._before, values, strict=True)):
            if before is _BOUND or value is before:
                continue
            if any(map(region.journal.owns, nest.flatten(value)[0])):
                values[position] = Unbound(
                    before.name, "each iteration of a loop that may run zero times makes it anew"
                )
        self.inner.set(tuple(values))
        self._ran = region.constant(True)

    def leave(self) -> None:
        """Is called when the names hold what they hold after the loop."""
        values = list(self.inner.get())
        for position, (before, value) in enumerate(zip(self._before, values, strict=True)):
            if before is not _BOUND and is_bound(value):
                values[position] = MaybeUnbound(before.name, value, self._ran)
        self.inner.set(tuple(values))


# Iterations that run by themselves before a loop is rolled: they create Variables, or fill a window of a list.

BUILD_BEFORE = (
    "Create them before the call, by optimizer.build(model.trainable_variables) and by calling each layer once, so "
    "that the loop becomes one node"
)
"""The remedy where iterations after the first ones create Variables."""


class VariableCreations:
    """The Variables that the iterations of a loop create which run by themselves in a function's first call."""

    def __init__(self, trace: Trace) -> None:
        self._lifting = trace.root.lifting
        self._start = self._told = self._number()
        self.iterations = self.attempts = 0  # iterations that ran by themselves; attempts to roll the rest
        self.news = False  # True if the last iteration created a Variable

    @property
    def any(self) -> bool:
        """True if a Variable was created."""
        return self._number() > self._start

    def end_iteration(self) -> bool:
        """Counts an iteration; returns True if it created a Variable."""
        self.iterations += 1
        before, self._told = self._told, self._number()
        self.news = self._told > before
        return self.news

    def rolled(self) -> str:
        """Returns how the loop was compiled if no later iteration creates Variables."""
        how = f"{self.iterations:,} iterations run by themselves: they create"
        if self.iterations == 1:
            how = "iteration runs by itself: it creates"
        return f"its first {how} {self._text()}; the rest is one node"

    def unrolled(self, reason: str) -> str:
        """Returns why the loop is unrolled if a later iteration may create Variables, too."""
        if not self.any:
            return reason.replace(CREATES, "an iteration after the first creates a Variable", 1)
        first = "iteration creates" if self.iterations == 1 else f"{self.iterations:,} iterations create"
        return f"its first {first} {self._text()}, and later ones create Variables too"

    def _number(self) -> int:
        return 0 if self._lifting is None else len(self._lifting.created)

    def _text(self) -> str:
        return "" if self._lifting is None else self._lifting.created_text(self._start)


def creates(reason: str | None) -> bool:
    """Returns True if an attempt to roll a loop ended because its body creates a Variable."""
    return reason is not None and reason.startswith(CREATES)


class ListLengths:
    """The lengths of a loop's lists, while Python runs its first iterations: a window fills, then keeps its length."""

    MOST = 16
    """After so many iterations that all change a length, a list just grows."""

    def __init__(self, variables: LoopVariables) -> None:
        self._variables = variables
        self._lengths = self._of_names()
        self._iterations = 0
        self.are_steady = False  # True if an iteration left the lengths as they were, after others had changed them

    def end_iteration(self) -> bool:
        """Counts an iteration; returns True if the next one need not be run by itself."""
        self._iterations += 1
        before, self._lengths = self._lengths, self._of_names()
        self.are_steady = self._iterations > 1 and self._lengths == before
        return self._lengths == before or self._iterations == self.MOST

    def rolled(self) -> str:
        """Returns how the loop was compiled."""
        return f"its first {self._iterations} iterations run by themselves, until its lists keep their length"

    def _of_names(self) -> list[int]:
        lists = [cast("list[Any]", value) for value in self._variables.get() if type(value) is list]
        return [room(one) for one in lists]
