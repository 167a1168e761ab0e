"""Handlers of exceptions that tensors decide on: ``except``, ``finally``, and what else may catch one.

Where a branch ends in an exception the function goes on as if it had not been raised (see :mod:`failures`). A ``try``
statement around the branch therefore notes, where the exception leaves the branch, what names, objects and variables
hold then; see :mod:`graphc.compiler.autograph.frontend.lower_try` for what becomes of it at the end of the ``try``
statement.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, TypeVar

import numpy as np

from graphc.compiler.autograph.constructs.exceptions.caught import Caught, up_to
from graphc.compiler.autograph.constructs.exceptions.failure import (
    Ended,
    Failure,
    Site,
    failures,
    is_limit,
    is_raised_by_code,
    may_have_failed,
)
from graphc.compiler.autograph.constructs.exceptions.origins import end_by
from graphc.compiler.autograph.values.deferred import RAISED
from graphc.compiler.autograph.values.unbound import Unbound, unbound_return
from graphc.compiler.base import Location, user_location
from graphc.compiler.base.errors import GraphcError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, apply
from graphc.compiler.ir import OPS
from graphc.compiler.ops import STATUS
from graphc.compiler.tracing import AliasSet, Checkpoint, GradientMask, Trace, context

__all__ = [
    "TryScope",
    "attempt",
    "before_try",
    "check_handlers",
    "failed",
    "failed_still",
    "in_finally",
    "is_handled",
    "leaving",
    "num_handlers",
]

T = TypeVar("T")
Thunk = Callable[[], Any]


def attempt(run: Callable[[], T]) -> tuple[T | None, Failure | None]:
    """Runs what is traced into a branch or a loop's body.

    Returns:
      Its result; or, if it always fails, how. The caller then says so by :meth:`Failure.happens`.
    """
    trace = context.trace
    assert trace is not None
    try:
        return run(), None
    except Ended:
        return None, Failure(failures(trace), None)
    except BaseException as error:
        if is_raised_by_code(error):
            return None, _failure(error)
        end_by(error)
        if isinstance(error, GraphcError):  # in Python only where the branch is taken: no handler may meet it
            trace.root.refusals.append(error)
        raise


def _failure(error: BaseException) -> Failure:
    """Returns the failure of the call, or of the ``try`` body, by an exception that leaves the open trace."""
    trace = context.trace
    assert trace is not None
    places: list[Location] = error.__dict__.pop(RAISED)
    catching = check_handlers(error, places)
    found = failures(trace)
    if catching is None:
        return Failure(found, found.add(error, places))
    site = catching.catch(error, places)
    assert catching.trace is not None
    for around in up_to(trace, catching.trace):
        if around is not trace:  # what comes after the branch is traced as if there were no exception
            around.gradient_mask = GradientMask(around.lift, _still_counts)
    return Failure(found, site)


def _still_counts() -> Any:
    return apply(OPS["equal"], (STATUS.value(), STATUS.initial))


def _not_caught(scopes: Sequence[TryScope]) -> Any:
    status = STATUS.value()
    numbers = [found.site.number for scope in scopes for found in scope.sites]
    found = [apply(OPS["not_equal"], (status, np.int32(number))) for number in numbers]
    return reduce(lambda one, other: apply(OPS["logical_and"], (one, other)), found)


class TryScope:
    """Inside the scope, exceptions may be caught by what is around it.

    Args:
      kinds: gives the classes that it catches; None where that is not known.
      what: what it is, for messages.
      names: of a ``try`` statement, the names that its body and its handlers bind; None for what is none.
      final: whether it ends with a ``finally`` block, after which the exceptions are raised again. Those of which only
        the run knows run the block without its knowing.

    Attributes:
      sites: the exceptions that are caught.
      start: where the body begins.
      ends: whether the body always ends in an exception.
      status: what says at the end of the body which one was raised, if any.
    """

    def __init__(
        self,
        kinds: Thunk | None,
        what: str = "a try statement",
        names: Sequence[str] | None = None,
        final: bool = False,
    ) -> None:
        self.trace = context.trace
        self._final = final
        self.kinds = kinds
        self.what = what
        self.names = names
        self.sites: list[Caught] = []
        self.ends = False
        self.status: SymbolicTensor | None = None
        self.location: Location | None = user_location() if self.trace is not None else None
        self.start: Checkpoint | None = None
        # The converted function's: an exception that leaves a branch below finds its names there.
        self._frame = None if self.trace is None else sys._getframe(1)  # pyright: ignore[reportPrivateUsage]

    def __enter__(self) -> None:
        if self.trace is not None:
            self.start = self.trace.checkpoint()
            _open.scopes.append(self)

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if self.trace is None:
            return False
        _open.scopes.pop()
        # A try statement around may have caught something before this one: that still masks.
        others = [scope for scope in _open.scopes if isinstance(scope, TryScope) and scope.catches_in(self.trace)]
        self.trace.gradient_mask = GradientMask(self.trace.lift, partial(_not_caught, others)) if others else None
        if error is None:
            return False
        if not isinstance(error, Ended):
            end_by(error)
            if self.sites and isinstance(error, GraphcError):  # another may come first, by what tensors hold
                self.trace.root.refusals.append(error)
        if not self.sites or not (isinstance(error, Ended) or is_raised_by_code(error)):
            return False
        # By what came before it is not certain that this exception is raised: it is one more that may have been.
        if not isinstance(error, Ended):
            catches = self.catches(error)
            failure = Failure(failures(self.trace), self.catch(error, error.__dict__.pop(RAISED))) if catches else None
            (failure or _failure(error)).happens()
        self.ends = True
        return True

    def catches_in(self, trace: Trace) -> bool:
        """Returns True if it catches an exception that may have been raised before this point of a trace."""
        return bool(self.sites) and self.trace is not None and trace.is_inside(self.trace)

    def catches(self, error: BaseException | None) -> bool:
        """Returns True if it may catch an exception; None stands for one that is not known."""
        if is_limit(error) or (self._final and error is None):
            return False
        return self.kinds is None or error is None or isinstance(error, self.kinds())

    def values(self) -> list[Any]:
        """Returns what the names hold now."""
        held = {} if self._frame is None else self._frame.f_locals
        found = [held.get(name, _unbound(name)) for name in self.names or ()]
        if type(held) is dict:
            held.clear()  # a copy, which Python keeps: whoever counts references must not find it
        return found

    def catch(self, error: BaseException, places: Sequence[Location]) -> Site:
        """Notes an exception that is caught, at the place in the program where it leaves the open trace."""
        assert self.trace is not None
        assert self.start is not None
        found = Caught(self.trace, self.start, self.values(), error, places)
        self.sites.append(found)
        return found.site


class _Finally:
    """Stands among the open scopes for a ``try`` statement whose ``finally`` block is still to come.

    Args:
      trace: the trace that is open.
      what: what it stands for, for messages.
    """

    def __init__(self, trace: Trace, what: str) -> None:
        self.trace = trace
        self.what = what


class _Open(threading.local):  # each thread traces on its own
    def __init__(self) -> None:
        self.scopes: list[TryScope | _Finally] = []


_open = _Open()


def num_handlers() -> int:
    """Returns how many scopes are open that may catch exceptions, or end with a ``finally`` block."""
    return len(_open.scopes)


def is_handled(since: int) -> bool:
    """Returns True if one that may catch exceptions was opened since there were so many."""
    return any(isinstance(scope, TryScope) for scope in _open.scopes[since:])


def check_handlers(error: BaseException | None, places: Sequence[Location] = ()) -> TryScope | None:
    """Returns the ``try`` statement that catches an exception which tensors decide on; None if nothing does.

    Args:
      error: the exception; None where it is known at run time only.
      places: where it is raised.

    Raises:
      UnimplementedError: it is caught by something else, or a ``finally`` block comes in between.
    """
    trace = context.trace
    assert trace is not None
    if is_limit(error):
        return None
    between = ""
    for scope in reversed(_open.scopes):
        if scope.trace is None or scope.trace.root is not trace.root:
            continue
        if isinstance(scope, _Finally):  # the block would have to run on the way to the handler
            between = scope.what
        elif scope.catches(error):
            if error is not None and scope.names is not None and not between:
                return scope
            raise trace.refuse(_refusal(scope, error, places, between))
    return None


def _refusal(
    scope: TryScope, error: BaseException | None, places: Sequence[Location], between: str
) -> UnimplementedError:
    line = f" at {places[-1].short}" if places else ""
    raised = "an exception of gx.pyfunc" if error is None else f"the {type(error).__name__} that is raised{line}"
    where = scope.location.short if scope.location else "another line"
    why = f"and {between} comes in between, which" if between else "whether it is raised depends on tensors, which"
    return UnimplementedError(
        f"{raised} would be caught by {scope.what} at {where}; {why} cannot be compiled here. Compute with if or "
        "gx.where what the handler would, or catch the exception around the call of the compiled function"
    )


def _unbound(name: str) -> Unbound:
    reason = "it is not bound where the exception is raised that is caught"
    return unbound_return() if name == "ag__return" else Unbound(name, reason)


def failed(scope: TryScope) -> Any:
    """Returns whether an exception was raised in a ``try`` statement's body that its handlers catch."""
    # A loop's body may be traced more than once: what its trials caught is not in the program.
    scope.sites = [found for found in scope.sites if found.site.is_live]
    if not scope.sites:
        return False
    scope.status = STATUS.value()
    raised = _one_was_raised(scope)
    return True if scope.ends else raised


def failed_still(scope: TryScope) -> Any:
    """As :func:`failed`, after a ``finally`` block, which may have raised another exception."""
    if not scope.sites:
        return False
    assert scope.status is not None
    unchanged = STATUS.value().raw is scope.status.raw  # the same node: the block raises nothing
    raised = _one_was_raised(scope)
    return True if scope.ends and unchanged else raised


def _one_was_raised(scope: TryScope) -> Any:
    status = STATUS.value()
    for found in scope.sites:
        found.condition = apply(OPS["equal"], (status, found.site.number))
    return reduce(lambda one, other: apply(OPS["logical_or"], (one, other)), [found.condition for found in scope.sites])


def before_try(what: str = "a finally block") -> SymbolicTensor | None:
    """The status where a ``try`` statement with a ``finally`` begins; None if the call cannot have failed by then."""
    trace = context.trace
    if trace is None:
        return None
    _open.scopes.append(_Finally(trace, what))
    return STATUS.value() if may_have_failed(trace) else None


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
    """Inside the scope a ``finally`` block runs: an exception that is on its way through it does not hinder it.

    Args:
      before: what :func:`before_try` gave.
    """

    __slots__ = ("_before", "_leaving", "_pending", "_start")

    def __init__(self, before: SymbolicTensor | None) -> None:
        self._before = before
        self._pending: SymbolicTensor | None = None
        self._leaving = leaving()

    def __enter__(self) -> None:
        self._leaving.__enter__()
        trace = context.trace
        if trace is None:
            return
        _open.scopes.pop()  # what the block raises goes to handlers around with nothing in between
        if may_have_failed(trace):
            self._pending = STATUS.value()
            # Host calls of a failed call are skipped, but a print in the block has to run.
            STATUS.assign(STATUS.initial if self._before is None else self._before)
            self._start = STATUS.value().raw

    def __exit__(self, *exception: object) -> None:
        self._leaving.__exit__(*exception)
        if self._pending is not None and exception[0] is None:
            after = STATUS.value()
            if after.raw is self._start:  # then there is nothing to choose at run time
                STATUS.assign(self._pending)
                return
            # As in Python, what the block raises replaces what is on its way.
            STATUS.assign(apply(OPS["where"], (apply(OPS["equal"], (after, STATUS.initial)), self._pending, after)))
