"""What may catch an exception or run after one (``except``, ``finally``, ``with``) around code that tensors may fail.

Where a branch ends in an exception the function goes on as if it had not been raised (see :mod:`failure`). No handler
is compiled for it: a ``try`` statement that would catch it is refused, and so is a ``finally`` block that puts anything
into the program or into objects, since it would see what the names hold at the end of the body.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from graphc.compiler.autograph.constructs.exceptions.failure import (
    Ended,
    RegionFailure,
    failures,
    is_limit,
    is_raised_by_code,
    may_have_failed,
)
from graphc.compiler.autograph.constructs.exceptions.origins import end_by
from graphc.compiler.autograph.values.deferred import RAISED
from graphc.compiler.autograph.values.join import same_values
from graphc.compiler.base import Location, user_location
from graphc.compiler.base.errors import GraphcError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, apply
from graphc.compiler.ir import OPS
from graphc.compiler.ops import STATUS
from graphc.compiler.tracing import AliasSet, Trace, context

T = TypeVar("T")


def attempt(run: Callable[[], T]) -> tuple[T | None, RegionFailure | None]:
    """Traces a branch or body; returns its result or, if it always fails, how: the caller then calls ``happens``."""
    trace = context.trace
    assert trace is not None
    try:
        return run(), None
    except Ended:
        return None, RegionFailure(failures(trace), None)
    except BaseException as error:
        if is_raised_by_code(error):
            locations: list[Location] = error.__dict__.pop(RAISED)
            check_handlers(error, locations)
            recorded = failures(trace)
            return None, RegionFailure(recorded, recorded.add(error, locations))
        end_by(error)
        if isinstance(error, GraphcError):  # in Python only where the branch is taken: no handler may meet it
            trace.root.refusals.append(error)
        raise


class TryScope:
    """Inside the scope, exceptions may be caught by what is around it."""

    def __init__(self, kinds: Callable[[], Any] | None, what: str = "a try statement", *, final: bool = False) -> None:
        self.trace = context.trace
        self.kinds = kinds  # returns the classes that it catches; None if unknown
        self.what = what
        self.final = final  # ends with a ``finally`` block, which catches nothing
        self.location = user_location() if self.trace is not None else None
        # The refusal of the first exception, known at run time only, that the ``finally`` block would follow.
        self.passing: UnimplementedError | None = None

    def __enter__(self) -> None:
        if self.trace is not None:
            _open.scopes.append(self)

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if self.trace is None:
            return
        _open.scopes.pop()
        if error is not None and not isinstance(error, Ended):
            end_by(error)

    def catches(self, error: BaseException | None) -> bool:
        """Returns True if it may catch an exception; None stands for one that is not known."""
        return not self.final and (self.kinds is None or error is None or isinstance(error, self.kinds()))


class _Open(threading.local):  # each thread traces on its own
    def __init__(self) -> None:
        self.scopes: list[TryScope] = []


_open = _Open()


def num_handlers() -> int:
    """Returns how many scopes are open that may catch exceptions, or end with a ``finally`` block."""
    return len(_open.scopes)


def check_handlers(error: BaseException | None, locations: Sequence[Location] = ()) -> None:
    """Refuses handlers that would catch an exception of the run; ``error`` is None where only the run knows which."""
    trace = context.trace
    assert trace is not None
    if is_limit(error):
        return
    for scope in reversed(_open.scopes):
        if scope.trace is None or scope.trace.root is not trace.root:
            continue
        if scope.catches(error):
            raise trace.refuse(_refusal(scope, "be caught by", error, locations))
        # What gx.pyfunc raises only the run knows: the block runs without its knowing.
        if scope.final and error is not None and scope.passing is None:
            scope.passing = _refusal(scope, "pass through", error, locations)


def _refusal(
    scope: TryScope, what: str, error: BaseException | None, locations: Sequence[Location]
) -> UnimplementedError:
    line = f" at {locations[-1].short}" if locations else ""
    raised = "an exception of gx.pyfunc" if error is None else f"the {type(error).__name__} that is raised{line}"
    where = scope.location.short if scope.location else "another line"
    remedy = "Compute with if or gx.where what the handler would"
    if scope.final:
        remedy = "Do before or after the statement what the block does"
    return UnimplementedError(
        f"{raised} would {what} {scope.what} at {where}; whether it is raised depends on tensors, which cannot be "
        f"compiled here. {remedy}, or catch the exception around the call of the compiled function"
    )


def before_try(what: str = "a finally block") -> tuple[TryScope, SymbolicTensor | None] | None:
    """Opens the scope of a ``try`` with ``finally``; returns it and the status, None if the call cannot have failed."""
    trace = context.trace
    if trace is None:
        return None
    scope = TryScope(None, what, final=True)
    scope.__enter__()
    return scope, STATUS.value() if may_have_failed(trace) else None


class leaving:  # noqa: N801  generated code opens it as a scope
    """Inside the scope code runs whether the function around it has returned or not."""

    __slots__ = ("_stand_ins",)

    def __init__(self) -> None:
        self._stand_ins: AliasSet | None = None

    def __enter__(self) -> None:
        if context.trace is not None:
            self._stand_ins = context.trace.root.aliases
            self._stand_ins.num_leaving += 1

    def __exit__(self, *exception: object) -> None:
        if self._stand_ins is not None:
            self._stand_ins.num_leaving -= 1


class in_finally:  # noqa: N801  generated code opens it as a scope
    """Inside the scope a ``finally`` block runs: an exception that is on its way through it does not hinder it."""

    __slots__ = ("_before", "_leaving", "_mark", "_num_nodes", "_pending", "_scope", "_start")

    def __init__(self, before: tuple[TryScope, SymbolicTensor | None] | None) -> None:
        self._scope, self._before = before or (None, None)
        self._pending: SymbolicTensor | None = None
        self._leaving = leaving()

    def __enter__(self) -> None:
        self._leaving.__enter__()
        trace = context.trace
        if trace is None:
            return
        _open.scopes.pop()  # what the block raises goes to handlers around
        if may_have_failed(trace):
            self._pending = STATUS.value()
            # Host calls of a failed call are skipped, but a print in the block has to run.
            STATUS.assign(STATUS.initial if self._before is None else self._before)
            self._start = STATUS.value().raw
        self._mark, self._num_nodes = trace.journal.mark(), len(trace.builder.nodes)

    def __exit__(self, *exception: object) -> None:
        self._leaving.__exit__(*exception)
        trace = context.trace
        if trace is None or exception[0] is not None:
            return
        passing = None if self._scope is None else self._scope.passing
        if passing is not None and not self._is_quiet(trace, self._mark):
            raise trace.refuse(passing)
        if self._pending is not None:
            after = STATUS.value()
            if after.raw is self._start:  # then there is nothing to choose at run time
                STATUS.assign(self._pending)
                return
            # As in Python, what the block raises replaces what is on its way.
            STATUS.assign(apply(OPS["where"], (apply(OPS["equal"], (after, STATUS.initial)), self._pending, after)))

    def _is_quiet(self, trace: Trace, mark: Any) -> bool:
        """Returns True if the block left nothing in the program and in objects: it may run as if nothing was raised."""
        after = trace.journal.mark()
        same = after.held.keys() == mark.held.keys()
        same = same and all(same_values(after.held[key], value) for key, value in mark.held.items())
        return same and len(trace.builder.nodes) == self._num_nodes
