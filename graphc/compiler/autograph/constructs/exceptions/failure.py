"""Failures: exceptions that a compiled call raises by the values of tensors.

Where control flow is Python's own, ``raise`` is too: the exception makes its way through the handlers and ``finally``
blocks of the code that is being traced. In a branch that tensors choose it does so up to the end of the branch. There
it becomes a number in the call's status, and the tensors that it holds become results of the program; what comes after
the branch is traced as if it had not been raised, with nothing in it that anybody could see once the status is set.
After the run the exception is made again of the values, and raised.
"""

from __future__ import annotations

import collections
import copy
import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType, MethodType
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from graphc.compiler.autograph.constructs.exceptions.origins import (
    calls_of,
    chain,
    end_by,
    forget,
    is_of_interface,
    is_of_program,
    places_of,
    user_calls,
)
from graphc.compiler.autograph.frontend.convert import is_part
from graphc.compiler.autograph.values.choice import holds_symbols
from graphc.compiler.autograph.values.deferred import RAISED, DeferredError, Frozen, Opaque, is_deferred, rebuilt
from graphc.compiler.autograph.values.growing_list import as_lists
from graphc.compiler.autograph.values.kinds import check_shown
from graphc.compiler.autograph.values.protocol import Symbolic
from graphc.compiler.base import Location, nest, with_article
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import SymbolicTensor, apply, trace_scope
from graphc.compiler.ir import OPS, Attrs
from graphc.compiler.lowering import raise_at
from graphc.compiler.ops import CALL_STATUS, ORDER, STATUS, HostFunction, host_error
from graphc.compiler.tracing import CallState, Region, Trace, context


class Ended(BaseException):
    """The code that follows is never reached, because what comes before always fails, whatever the tensors hold."""


@dataclass(eq=False)
class Site:
    """One way in which a call fails, or the body of a ``try`` statement."""

    number: int
    error: Frozen  # the exception, with what else describes the moment
    places: Sequence[Location]  # where the functions were called, and where it was raised
    # For each tensor of the exception, the tensor that it is where the function knows it, or what carries it.
    payload: list[SymbolicTensor | CallState] = field(default_factory=list[SymbolicTensor | CallState])
    happens_in: Trace | None = None
    place: slice = field(default_factory=lambda: slice(0))  # of the payload, among the tensors of all sites
    original: BaseException | None = None  # raised once, where it ends the trace of the function

    @property
    def is_live(self) -> bool:
        """True if it is part of the program, and not of a trial or an attempt that was given up."""
        trace = self.happens_in
        if trace is None or not any(self is note for note in trace.root.notes):
            return False
        while trace is not None and trace is not trace.root:
            if not trace.is_closed:
                return False
            trace = trace.parent
        return True

    def close(self) -> None:
        """Forgets the trace, which is over."""
        self.payload.clear()
        self.error.release()
        self.happens_in = None


class Failures:
    """The failures of one traced function; after each run it is asked for the first that happened."""

    what = "it raises exceptions by the values of tensors, or runs Python code, such as print, at every call"

    def __init__(self, name: str) -> None:
        self._name = name
        self._sites: dict[int, Site] = {}
        self._count = 0
        self.hosts: list[HostFunction] = []  # which live as long as the program that calls them
        self.held: list[Any] = []  # the objects that they get or are made of

    def add(self, error: BaseException, locations: Sequence[Location]) -> Site:
        """Returns a new way in which the call fails."""
        for led in chain(error):
            check_shown(led, "the text of an exception", as_text=True)
            led.__traceback__ = led.__context__ = None  # their frames would keep alive what the function made
        frozen = Frozen(_anew(DeferredError.of(error)))
        _check_carried(error, frozen.held)
        return self._new(frozen, locations)

    def add_report(self, error: Frozen, locations: Sequence[Location], report: CallState) -> Site:
        """Returns a new way in which the call fails, of which a state of the call that many ways share tells more."""
        site = self._new(error, locations)
        site.payload.append(report)
        return site

    def _new(self, error: Frozen, locations: Sequence[Location]) -> Site:
        self._count += 1  # from 1 on: 0 says that nothing failed, and those of host calls are negative
        site = self._sites[self._count] = Site(self._count, error, locations)
        return site

    @property
    def is_final(self) -> bool:
        """True if the trace ended in an exception of Python's own, so that another attempt may fare better."""
        return any(site.original is not None for site in self._sites.values())

    @property
    def raises(self) -> Mapping[int, tuple[str, Location | None]]:
        """The exceptions by their numbers: of which class, and the line that raises it."""
        return {
            number: (site.error.held[0].__name__, site.places[-1] if site.places else None)
            for number, site in self._sites.items()
        }

    @property
    def host_calls(self) -> Sequence[tuple[str, Location | None]]:
        """The Python functions that the program calls, and the lines that do."""
        return [(host.name.rpartition("_")[0], host.places[-1] if host.places else None) for host in self.hosts]

    @property
    def exceptions(self) -> Mapping[int, tuple[BaseException | None, type[BaseException], Sequence[Location]]]:
        """The exceptions by their numbers: one of the kind, None where tensors are in it; its class; and where."""
        by_number: dict[int, tuple[BaseException | None, type[BaseException], Sequence[Location]]] = {}
        for number, site in self._sites.items():
            is_late = site.place.stop > site.place.start  # made of tensors, which have values after a run only
            by_number[number] = None if is_late else site.error.evaluate(()), site.error.held[0], site.places
        return by_number

    def refers_to(self, objects: Sequence[Any]) -> bool:
        """Returns True if an exception, or what is called on the host, holds one of these very objects."""
        ids = {id(value) for value in objects}
        values = [value for site in self._sites.values() for value in site.error.held]
        return any(id(part) in ids for value in (*values, *self.held) for part in _parts_of(value))

    def tensors(self, trace: Trace) -> Sequence[SymbolicTensor]:
        """Returns the status, what keeps host calls in the program, and the tensors of all exceptions."""
        self._sites = {number: site for number, site in self._sites.items() if site.is_live}
        raises = dict.fromkeys(
            f"{name} ({location.short})" if location else name for name, location in self.raises.values()
        )
        outputs = trace.apply(CALL_STATUS, (trace.read(STATUS),), Attrs(raises=tuple(raises)))
        # Nobody else may use what host calls give: without it they are dead code.
        outputs += [trace.read(ORDER)] if self.hosts else []
        shared: dict[CallState, slice] = {}
        for site in self._sites.values():
            start = len(outputs)
            state = site.payload[0] if site.payload else None
            if isinstance(state, CallState) and state in shared:
                site.place = shared[state]  # all checked ops have one report: it leaves the program once
                site.close()
                continue
            if isinstance(state, CallState):
                shared[state] = slice(start, start + len(site.payload))
            outputs += [trace.read(part) if isinstance(part, CallState) else part for part in site.payload]
            site.place = slice(start, len(outputs))
            site.close()
        trace.notes.clear()  # what was caught is over; it would keep the objects alive that the function made
        return outputs

    def run(self, arrays: Sequence[Any], arguments: Any) -> None:
        """Raises the exception if the call has failed."""
        del arguments
        status = int(np.asarray(arrays[0]))
        if not status:
            return
        if status < 0:
            # The host keeps the very exception, of which the program knows the number only.
            error, locations = host_error(status)
        else:
            site = self._sites[status]
            if site.original is not None:
                raise_at(site.places, site.original)
            error, locations = site.error.evaluate(arrays[site.place]), site.places
            for raised in chain(error):
                raised.args = as_lists(raised.args)
                raised.__dict__.update(as_lists(raised.__dict__))
        error.add_note(f"raised by the compiled function {self._name!r}")
        raise_at(locations, error)


def _anew(value: Any) -> Any:
    """Returns an exception that is taken apart with what the function makes as it is now; each call makes it anew."""
    if isinstance(value, Symbolic):
        return value.changed(_anew)
    if not isinstance(value, Opaque):
        return value if nest.children(value) is None else rebuilt(value, _anew)
    held, parts = value.value, nest.children(value.value)
    is_made = context.trace is not None and context.trace.root.reads.source(held) is None
    if parts is None:
        return Opaque(copy.copy(held)) if is_made and isinstance(held, _COPIED) else value
    items = [_anew(Opaque(part)) for part in parts[1]]
    same = all(isinstance(item, Opaque) and item.value is part for item, part in zip(items, parts[1], strict=True))
    return value if same and not (is_made and nest.is_mutable(held)) else nest.rebuilt(held, items)


_COPIED: tuple[type[Any], ...] = (bytearray, collections.deque, np.ndarray, set)


def _check_carried(error: BaseException, objects: Sequence[Any]) -> None:
    """Refuses that an exception carries objects with tensors of the trace, which are made once and have no values."""
    trace = context.trace
    assert trace is not None
    for carried in (part for value in objects for part in _parts_of(value) if nest.children(part) is None):
        name = next((name for name, value in getattr(carried, "__dict__", {}).items() if holds_symbols(value)), None)
        if name is not None:
            kind = type(carried).__name__
            raise trace.refuse(
                UnimplementedError(
                    f"the {type(error).__name__} carries {with_article(kind)} whose attribute {name!r} is a tensor "
                    "without a value while the function is traced; give the exception the tensors themselves, or make "
                    f"the {kind} a dataclass of them"
                )
            )


def failures(trace: Trace) -> Failures:
    """Returns how the calls of the function that is being traced fail; from now on they can."""
    root = trace.root
    if not isinstance(root.check, Failures):
        root.check = Failures(root.builder.name)
    return root.check


def note_raise(error: BaseException) -> None:
    """Notes that code of the user's raises an exception."""
    error.__dict__[RAISED] = user_calls()


def as_limit(error: Exception) -> Exception:
    """An error that Python would not raise, so that no handler may catch it: compiled code has come to its limits."""
    error.__dict__[_LIMIT] = True
    return error


def is_limit(error: BaseException | None) -> bool:
    """Returns True if an error is such a one."""
    return error is not None and _LIMIT in error.__dict__


_LIMIT = "__graphc_limit__"


def is_raised_by_code(error: BaseException) -> bool:
    """Tells if the user's code raises an exception that leaves a branch: a statement, or what it asks of Python."""
    # Python's own answer (pop from an empty list, a text that is no number, a missing module) counts: eager code gets
    # it only where it runs the branch.
    if hasattr(error, RAISED):
        return True
    if not is_of_program(error):
        return False
    end_by(error)
    around, inside = user_calls(), calls_of(error)
    if around and inside and is_part(inside[0][0]):
        around.pop()  # `inside` begins with the same function, at the line in its branch
    error.__dict__[RAISED] = [*around, *(location for _, location in inside)]
    return True


def ends_function(error: BaseException) -> bool:
    """Tells if the program can say that the function ends in an exception, which is on its way out of the trace."""
    # If nothing that anybody could see comes before the exception, and nothing in it depends on tensors, tracing raises
    # it, as the Python function does.
    trace = context.trace
    assert trace is not None
    if isinstance(error, Ended):
        return True
    if not is_of_interface(error):
        end_by(error)
    locations = error.__dict__.pop(RAISED, None)
    late = locations is not None and is_deferred(error)  # its text is known after the run only, however certain it is
    # Ctrl-C and SystemExit end the trace; no later call may repeat them.
    refused = not isinstance(error, Exception) or any(error is refusal for refusal in trace.refusals)
    if not late and (refused or not isinstance(trace.check, Failures)):
        forget(error)
        return False
    recorded = failures(trace)
    site = recorded.add(error, locations or places_of(error))
    if not late:
        site.original = error
    RegionFailure(recorded, site).happens()
    return True


@dataclass(frozen=True)
class RegionFailure:
    """The failure of a branch or a body."""

    of: Failures  # all the ways in which the function fails
    site: Site | None  # None if the status says it already

    def is_known_around(self, region: Region) -> bool:
        """Returns True if a branch does nothing but raise the exception, which holds no tensor of its own."""
        if self.site is None or region.builder.nodes or region.states:
            return False
        return all(tensor.trace is not region for tensor in self.site.error.tensors)

    def happens(self, when: SymbolicTensor | None = None) -> None:
        """Makes the call fail in this way here, unless it has failed; ``when``: a boolean scalar, None for always."""
        trace = context.trace
        assert trace is not None
        if self.site is None:
            return
        site, number = self.site, self.site.number
        status, fails = self._begin(site, when)
        for position, tensor in enumerate(site.error.tensors):
            if trace.root.is_inside(tensor.trace):  # a tensor that is known outside needs no state to leave the branch
                site.payload.append(tensor)
            else:
                carrier = _carrier(f"graphc.failure.{number}.{position}", tensor, trace.root)
                # Keeps what it carries where an earlier exception fails the call.
                carrier.assign(apply(OPS["where"], (fails, tensor, carrier.value())))
                site.payload.append(carrier)
        STATUS.assign(apply(OPS["where"], (fails, np.int32(number), status)))

    def says(self, when: SymbolicTensor) -> SymbolicTensor:
        """As :meth:`happens`, of an exception without tensors of its own; whether it is this that fails the call."""
        assert self.site is not None
        status, fails = self._begin(self.site, when)
        STATUS.assign(apply(OPS["where"], (fails, np.int32(self.site.number), status)))
        return fails

    def _begin(self, site: Site, when: SymbolicTensor | None) -> tuple[Any, Any]:
        """Returns the status before, and whether the call fails here."""
        trace = context.trace
        assert trace is not None
        site.happens_in = trace
        trace.root.notes.append(site)
        status = STATUS.value()
        # The first exception counts: in Python the code of the others would not run.
        fails = apply(OPS["equal"], (status, STATUS.initial))
        return status, fails if when is None else apply(OPS["logical_and"], (fails, when))


def _carrier(name: str, tensor: SymbolicTensor, root: Trace) -> CallState:
    """Returns a state for a tensor of an exception; it holds zeros until the exception is raised."""
    zero = np.broadcast_to(np.zeros((), tensor.dtype), tensor.shape)  # a view of one zero, however large the tensor is
    state = CallState(name, zero, differentiable=True)
    with trace_scope(root):
        state.assign(apply(OPS["zeros"], (), Attrs(shape=tensor.shape, dtype=tensor.dtype)))
    return state


_unminded: WeakKeyDictionary[Trace, set[int]] = WeakKeyDictionary()
"""For each trace the places in it, also in regions within, that are right only if the call has not failed by then."""

_places = itertools.count()


def may_have_failed(trace: Trace) -> bool:
    """Returns True if the call may have failed by this point of a trace; False is noted for :func:`settles`."""
    if trace.touched(STATUS):
        return True
    number = next(_places)
    for one in trace.outward():
        _unminded.setdefault(one, set()).add(number)
    return False


def still_running(trace: Trace) -> SymbolicTensor | None:
    """Returns whether the call has not failed yet, at this point of the trace that is open; None if it cannot have."""
    return apply(OPS["equal"], (STATUS.value(), STATUS.initial)) if may_have_failed(trace) else None


class Settling(Protocol):
    """The values that a loop carries, as far as :func:`settles` asks for them."""

    def settle(self, region: Region) -> bool:
        """Returns True if what is carried fits; see :class:`LoopState`."""
        ...


def settles(state: Settling, region: Region) -> bool:
    """Tells if the trial of a loop's body was the last: what is carried fits, and the body minds earlier failures."""
    # Nothing in the body may count on a call that has not failed, where an earlier iteration may have failed it.
    fits, around, unminded = state.settle(region), region.parent, _unminded.get(region, set[int]())
    minds = not unminded or around.touched(STATUS) or not region.touched(STATUS)
    if fits and minds:
        return True
    for one in around.outward():  # it is traced again
        _unminded.get(one, set[int]()).difference_update(unminded)
    if not minds:
        with trace_scope(around):
            STATUS.value()  # from here on it is known, so that the next trial minds it from its start
    return False


def _parts_of(value: Any) -> Iterator[Any]:
    """Returns the parts of an object that structures and functions show: items, instance, closed-over values."""
    yield value
    parts = nest.children(value)
    if parts is not None:
        for part in parts[1]:
            yield from _parts_of(part)
    if isinstance(value, MethodType):
        yield value.__self__
    elif isinstance(value, partial):
        for part in (value.func, *value.args, *value.keywords.values()):
            yield from _parts_of(part)
    elif isinstance(value, FunctionType):
        for cell in value.__closure__ or ():
            with suppress(ValueError):  # a variable that is not bound yet
                yield cell.cell_contents
