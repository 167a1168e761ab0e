"""What is going on in this thread: a trace, open tapes, a device scope.

There is one object per thread. ``eager`` sums it up for the fast path of eager calls: it is True exactly when no
trace, tape, device scope or counter is active and placements are not logged, so an eager op asks one question and not
five. ``busy`` sums up all threads, and asks it cheaper: where it is empty, every thread is eager (20 ns, where an
attribute of a thread takes 80).
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from graphc.base import config
from graphc.core.protocols import Recorder, ReplicaContext, Tracing, UpdateTaker
from graphc.devices import NO_PINS, Pins
from graphc.ir import DeviceSpec

__all__ = [
    "EXAMINED",
    "LOGGED",
    "OBSERVED",
    "REASONS",
    "SPREAD",
    "Assignments",
    "LaunchCounter",
    "busy",
    "context",
    "count_launches",
    "creation_scope",
    "device_scope",
    "making_scope",
    "occupied",
    "place_ops",
    "replica_scope",
    "tape_scope",
    "trace_scope",
    "updates_scope",
]


TraceT = TypeVar("TraceT", bound=Tracing)


@dataclass
class LaunchCounter:
    """How many programs were handed to devices.

    Attributes:
      count: so far.
    """

    count: int = 0


class Assignments:
    """The variables that were made or assigned during a call, with the values to go back to.

    Attributes:
      built: the objects that were given variables to keep, with the attributes that they had before.
    """

    def __init__(self) -> None:
        self._before: dict[int, tuple[Any, Any]] = {}
        self._made: set[int] = set()
        self.built: list[tuple[Any, dict[str, Any]]] = []

    def note(self, variable: Any) -> None:
        """Keeps the value of ``variable`` if it is the first that is seen of it."""
        self._before.setdefault(id(variable), (variable, variable.raw))

    def note_made(self, variable: Any) -> None:
        """As :meth:`note`, of a variable that was made just now."""
        self.note(variable)
        self._made.add(id(variable))

    def note_built(self, owner: Any) -> None:
        """Keeps the attributes of an object that is about to be given variables."""
        self.built.append((owner, owner.__dict__.copy()))

    @property
    def is_empty(self) -> bool:
        """True if nothing was noted."""
        return not (self._before or self.built)

    def assigned(self) -> list[Any]:
        """Returns the variables, and tensors, that were there before and were assigned."""
        return [variable for key, (variable, _) in self._before.items() if key not in self._made]

    def add(self, later: Assignments) -> None:
        """Takes over what was noted after what is noted here."""
        self._before = {**later._before, **self._before}
        self._made |= later._made
        self.built += later.built

    def undo(self) -> None:
        """Gives each variable its value back."""
        for variable, raw in self._before.values():
            variable.raw = raw

    def undo_built(self) -> None:
        """Takes the variables from the objects that they were given to."""
        for owner, attributes in reversed(self.built):
            owner.__dict__.clear()
            owner.__dict__.update(attributes)


busy: set[int] = set()
"""The threads that are not eager, and why no thread is."""

occupied: set[int] = set()
"""The same without arrays on several devices, for who looks for these."""

LOGGED, EXAMINED, OBSERVED, SPREAD = 0, -1, -2, -3
REASONS = frozenset((LOGGED, EXAMINED, OBSERVED, SPREAD))
"""No numbers of threads: placements are logged; what ops compute is looked at; when they run is noted; arrays are on
several simulated devices."""


class Context(threading.local, Generic[TraceT]):
    """The state of one thread.

    Attributes:
      eager: no trace, tape, device scope or counter is active, no call is making Variables, and no setting asks every
        op to take the long way.
      taped: the open tapes, if it would be eager without them.
      pinned: a device scope is active, and it would be eager without that.
      placing: a device scope is active, or where ops run is logged or noted.
      trace: the trace that ops are appended to, or None in eager mode.
      tapes: the open gradient tapes, outermost first.
      device: what the device scopes around say; false where there are none.
      replica: the data-parallel replica that is being traced, or None.
      updates: what takes the updates of optimizers in place of the Variables, or None.
      creating: set while a call is run eagerly because it creates Variables: what undoes its assignments.
      counter: what counts the programs handed to devices, or None.
      on_host: numbers that ops of the host give stay arrays of NumPy.
    """

    on_host: bool = False
    eager: bool = True
    taped: tuple[Recorder, ...] = ()
    pinned: bool = False
    placing: bool = False
    trace: TraceT | None = None
    tapes: tuple[Recorder, ...] = ()
    device: Pins = NO_PINS
    replica: ReplicaContext | None = None
    updates: UpdateTaker | None = None
    creating: Assignments | None = None
    counter: LaunchCounter | None = None

    def update(self) -> None:
        """Recomputes ``eager``, ``taped``, ``pinned`` and ``placing`` after a change.

        A thread in which nothing is going on has no ``eager`` and ``placing`` of its own, so that
        :func:`place_ops` reaches all.
        """
        own = self.__dict__
        if self.device:
            own["placing"] = True
        else:
            own.pop("placing", None)
        tapes, device = self.tapes, self.device
        idle = self.trace is None and self.counter is None and self.creating is None
        own["pinned"] = idle and not tapes and bool(device)
        idle = idle and not device
        own["taped"] = tapes if idle else ()
        thread = threading.get_ident()
        if idle and not tapes:
            own.pop("eager", None)
            busy.discard(thread)
            occupied.discard(thread)
        else:
            own["eager"] = False
            busy.add(thread)
            occupied.add(thread)

    def launched(self) -> None:
        """Tells the counter, if there is one, of a program that was handed to a device."""
        if self.counter is not None:
            self.counter.count += 1


context: Context[Tracing] = Context()


def set_slow(reason: int, enabled: bool) -> None:
    """Has every eager op of all threads take the long way for a reason, or for that one no more."""
    for reasons in (busy,) if reason == SPREAD else (busy, occupied):
        (reasons.add if enabled else reasons.discard)(reason)
    Context.eager = busy.isdisjoint(REASONS)
    context.update()


def place_ops(reason: int, enabled: bool) -> None:
    """Takes every eager op of all threads the way on which its device is known for a reason, or for that one no more.

    Args:
      reason: ``LOGGED`` or ``OBSERVED``.
      enabled: whether the reason holds.
    """
    set_slow(reason, enabled)
    Context.placing = not busy.isdisjoint((LOGGED, OBSERVED))


@contextmanager
def trace_scope(trace: Tracing | None) -> Generator[None]:
    """Ops go to ``trace`` inside the scope (None: they run eagerly). Tapes opened outside do not see them."""
    saved = context.trace, context.tapes, context.device
    context.trace, context.tapes, context.device = trace, (), context.device if trace is not None else NO_PINS
    context.update()
    try:
        yield
    finally:
        context.trace, context.tapes, context.device = saved
        context.update()


class on_host:  # noqa: N801  a class, since a generator takes three times as long for each element of a dataset
    """Runs ops eagerly, in no trace, and leaves numbers that ops of the host give, such as parsers, as NumPy arrays."""

    __slots__ = ("_outside", "_saved")

    def __enter__(self) -> None:
        self._saved, context.on_host = context.on_host, True
        self._outside = None if context.trace is None else trace_scope(None)
        if self._outside is not None:
            self._outside.__enter__()

    def __exit__(self, *error: Any) -> None:
        context.on_host = self._saved
        if self._outside is not None:
            self._outside.__exit__(*error)


@contextmanager
def count_launches() -> Generator[LaunchCounter]:
    """Counts the programs that this thread hands to devices inside the scope: eager ops, compiled functions, copies.

    Yields:
      The counter; its ``count`` may be read at any time.
    """
    saved = context.counter
    context.counter = counter = LaunchCounter()
    context.update()
    try:
        yield counter
    finally:
        context.counter = saved
        context.update()


@contextmanager
def creation_scope(*, keep: bool) -> Generator[None]:
    """A call is run eagerly inside the scope because it creates Variables; if it fails, no Variable is changed.

    Args:
      keep: whether Variables keep what is assigned to them; if not, only that they were made remains of the call.
    """
    saved = context.creating
    context.creating = assignments = Assignments()
    context.update()
    succeeded = False
    try:
        yield
        succeeded = True
    finally:
        context.creating = saved
        context.update()
        if not (keep and succeeded):
            assignments.undo()


@contextmanager
def making_scope(assignments: Assignments, recorder: Recorder) -> Generator[None]:
    """Ops run eagerly inside the scope, where a function is traced, on the devices that are pinned there.

    Args:
      assignments: takes the variables that are made and assigned.
      recorder: is told of what is read, as the only tape.
    """
    pins, saved = context.device, context.creating
    with trace_scope(None):  # which puts back what is set here
        context.tapes, context.device, context.creating = (recorder,), pins, assignments
        context.update()
        try:
            yield
        finally:
            context.creating = saved


@contextmanager
def tape_scope(tapes: tuple[Recorder, ...]) -> Generator[None]:
    """Exactly these tapes are open inside the scope."""
    saved = context.tapes
    context.tapes = tapes
    context.update()
    try:
        yield
    finally:
        context.tapes = saved
        context.update()


@contextmanager
def device_scope(device: str | Pins) -> Generator[None]:
    """Only this pin holds inside the scope, whatever was said around it.

    Args:
      device: the canonical name of a device, or what scopes say; false for no pin.
    """
    saved = context.device
    if isinstance(device, str):
        device = Pins((DeviceSpec.parse(device),), device) if device else NO_PINS
    context.device = device
    context.update()
    try:
        yield
    finally:
        context.device = saved
        context.update()


@contextmanager
def updates_scope(taker: UpdateTaker) -> Generator[None]:
    """Optimizers give their updates to ``taker`` inside the scope."""
    saved = context.updates
    context.updates = taker
    try:
        yield
    finally:
        context.updates = saved


@contextmanager
def replica_scope(replica: ReplicaContext | None) -> Generator[None]:
    """What is traced inside the scope is one replica of a data-parallel step."""
    saved = context.replica
    context.replica = replica
    try:
        yield
    finally:
        context.replica = saved


config.register_placement_log(lambda enabled: place_ops(LOGGED, enabled))
