"""The state of a thread: its trace, open tapes and device scope.

There is one object per thread. ``eager`` sums it up for the fast path of eager calls: it is True exactly when no trace,
device scope or counter is active, no thread has a tape open and placements are not logged, so that an eager op checks
one flag instead of five. ``busy`` sums up all threads and is cheaper to check: while it is empty, every thread is eager
(20 ns; reading a thread's attribute takes 80).
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from graphc.compiler.base import ABOVE, SETTINGS, Setting, config, flag
from graphc.compiler.core.protocols import Recorder, ReplicaContext, Tracing, UpdateTaker
from graphc.compiler.devices import NO_PINS, Pins
from graphc.compiler.ir import DeviceSpec

TraceT = TypeVar("TraceT", bound=Tracing)


@dataclass
class LaunchCounter:
    """A count of the programs handed to devices."""

    count: int = 0


class Assignments:
    """The variables that were made or assigned during a call, with the values to restore."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[Any, Any]] = {}
        self._made: set[int] = set()
        # The objects that received variables, with their attributes before.
        self.built: list[tuple[Any, dict[str, Any]]] = []

    def note(self, variable: Any) -> None:
        """Records the value of ``variable`` before its first assignment."""
        self._before.setdefault(id(variable), (variable, variable.raw))

    def note_made(self, variable: Any) -> None:
        """Records a variable that was just made."""
        self.note(variable)
        self._made.add(id(variable))

    def note_built(self, owner: Any) -> None:
        """Records the attributes of an object that is about to receive variables."""
        self.built.append((owner, owner.__dict__.copy()))

    @property
    def is_empty(self) -> bool:
        """True if nothing was recorded."""
        return not (self._before or self.built)

    def assigned(self) -> list[Any]:
        """Returns the variables and tensors that existed before and were assigned."""
        return [variable for key, (variable, _) in self._before.items() if key not in self._made]

    def made(self) -> list[Any]:
        """Returns the variables that were made, in order."""
        return [variable for key, (variable, _) in self._before.items() if key in self._made]

    def add(self, later: Assignments) -> None:
        """Merges a later record into this one."""
        self._before = {**later._before, **self._before}
        self._made |= later._made
        self.built += later.built

    def undo(self) -> None:
        """Restores the value of each variable."""
        for variable, raw in self._before.values():
            variable.raw = raw

    def undo_built(self) -> None:
        """Removes the variables from the objects that received them."""
        for owner, attributes in reversed(self.built):
            owner.__dict__.clear()
            owner.__dict__.update(attributes)


busy: set[int] = set()
"""The threads that are not eager, and the reasons (see :data:`REASONS`) why none is."""

occupied: set[int] = set()
"""The same without the reason that arrays are on several devices, for code that checks for these itself."""

LOGGED, EXAMINED, OBSERVED, SPREAD = 0, -1, -2, -3
REASONS = frozenset((LOGGED, EXAMINED, OBSERVED, SPREAD))
"""Reasons that apply to all threads, distinct from thread ids: placements are logged; op results are examined; op times
are observed; arrays are on several simulated devices."""


open_tapes: dict[int, tuple[Recorder, ...]] = {}
"""The tapes that are open in the eager code of each thread. While there are any, no thread takes the fast path: the
tapes may follow the tensors of its ops."""


class Context(threading.local, Generic[TraceT]):
    """The state of one thread."""

    on_host: bool = False  # numeric results of host ops stay NumPy arrays
    engaged: bool = False  # a trace, tape, device scope or counter is active, or a call is making Variables
    usual: bool = True  # no setting sends every op of all threads down the slow path
    exact: bool = False  # only ``tapes`` record, not those of other threads
    taped: tuple[Recorder, ...] = ()  # the open tapes, if the thread would be eager without them
    pinned: bool = False  # a device scope is active and the thread would be eager without it
    placing: bool = False  # a device scope is active, or placements are logged or observed
    trace: TraceT | None = None  # ops are appended to it; None in eager mode
    tapes: tuple[Recorder, ...] = ()  # outermost first
    device: Pins = NO_PINS  # the combined enclosing device scopes; false if there are none
    replica: ReplicaContext | None = None  # the data-parallel replica that is being traced
    updates: UpdateTaker | None = None  # receives the updates of optimizers; None to update the Variables
    creating: Assignments | None = None  # undoes assignments, while a call runs eagerly because it creates Variables
    counter: LaunchCounter | None = None  # of the programs handed to devices; None to count nothing

    @property
    def eager(self) -> bool:
        """True if nothing engages this thread, no setting excludes the fast path, and no thread has a tape open."""
        return not open_tapes and self.usual and not self.engaged

    def update(self) -> None:
        """Recomputes ``engaged``, ``taped``, ``pinned`` and ``placing`` after a change of state."""
        # An idle thread has no ``placing`` of its own, so that :func:`place_ops` reaches all threads.
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
            own["engaged"] = False
            busy.discard(thread)
            occupied.discard(thread)
        else:
            own["engaged"] = True
            busy.add(thread)
            occupied.add(thread)
        recorded = tapes if self.trace is None and self.creating is None else ()
        if recorded:
            open_tapes[thread] = recorded
        else:
            open_tapes.pop(thread, None)

    def open(self, tape: Recorder) -> None:
        """Opens a tape and updates the state, in half the time of :meth:`update` if nothing else is active."""
        own = self.__dict__
        get = own.get
        tapes = own["tapes"] = (*get("tapes", ()), tape)
        if get("device") or not (get("trace") is get("counter") is get("creating") is None):
            self.update()
            return
        own["taped"], own["engaged"] = tapes, True
        thread = threading.get_ident()
        busy.add(thread)
        occupied.add(thread)
        open_tapes[thread] = tapes

    def close(self, tape: Recorder) -> None:
        """Closes a tape, if it is open, and updates the state, as :meth:`open` does."""
        own = self.__dict__
        get = own.get
        tapes = get("tapes", ())
        tapes = tapes[:-1] if tapes and tapes[-1] is tape else tuple(other for other in tapes if other is not tape)
        own["tapes"] = tapes
        if tapes or get("device") or not (get("trace") is get("counter") is get("creating") is None):
            self.update()
            return
        own["taped"], own["engaged"] = (), False
        thread = threading.get_ident()
        busy.discard(thread)
        occupied.discard(thread)
        open_tapes.pop(thread, None)

    def launched(self) -> None:
        """Increments the counter, if there is one, for a program that was handed to a device."""
        if self.counter is not None:
            self.counter.count += 1


context: Context[Tracing] = Context()


def set_slow(reason: int, enabled: bool) -> None:
    """Sends the eager ops of all threads down the slow path for a reason, or withdraws the reason."""
    for reasons in (busy,) if reason == SPREAD else (busy, occupied):
        (reasons.add if enabled else reasons.discard)(reason)
    Context.usual = busy.isdisjoint(REASONS)
    context.update()


def place_ops(reason: int, enabled: bool) -> None:
    """Makes the eager ops of all threads determine their device for a reason (LOGGED, OBSERVED), or withdraws it."""
    set_slow(reason, enabled)
    Context.placing = not busy.isdisjoint((LOGGED, OBSERVED))


class _Examining(threading.local):
    paused: bool = False


_examining = _Examining()


def is_examining() -> bool:
    """Returns True if this thread's ops are examined now."""
    return EXAMINED in busy and not _examining.paused


@contextmanager
def unexamined() -> Generator[None]:
    """Disables examining inside the scope."""
    before, _examining.paused = _examining.paused, True
    try:
        yield
    finally:
        _examining.paused = before


@contextmanager
def trace_scope(trace: Tracing | None) -> Generator[None]:
    """Sends ops to ``trace`` inside the scope (None: runs them eagerly). Tapes opened outside do not see them."""
    saved = context.trace, context.tapes, context.device
    context.trace, context.tapes, context.device = trace, (), context.device if trace is not None else NO_PINS
    context.update()
    try:
        yield
    finally:
        context.trace, context.tapes, context.device = saved
        context.update()


class on_host:  # noqa: N801  a class, since a generator takes three times as long for each element of a dataset
    """Runs ops eagerly, outside any trace, and leaves numeric results of host ops, such as parsers, as NumPy arrays."""

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
    """Counts the programs that this thread hands to devices in the scope: eager ops, compiled functions, copies."""
    saved = context.counter
    context.counter = counter = LaunchCounter()
    context.update()
    try:
        yield counter
    finally:
        context.counter = saved
        context.update()


@contextmanager
def creation_scope(*, keep: bool) -> Generator[Assignments]:
    """Opens a scope for a call that runs eagerly because it creates Variables; a failed call changes no Variable.

    Args:
      keep: whether Variables keep their assigned values; if not, only their creation remains of the call.
    """
    saved = context.creating
    context.creating = assignments = Assignments()
    context.update()
    succeeded = False
    try:
        yield assignments
        succeeded = True
    finally:
        context.creating = saved
        context.update()
        if not (keep and succeeded):
            assignments.undo()


@contextmanager
def outside_scope() -> Generator[None]:
    """Runs ops eagerly inside the scope while a function is traced, on the devices pinned there."""
    pins = context.device
    with trace_scope(None):  # it restores what is set here
        context.device = pins
        context.update()
        yield


@contextmanager
def making_scope(assignments: Assignments, recorder: Recorder) -> Generator[None]:
    """Runs ops eagerly while a function is traced, on the devices pinned there; only ``recorder`` records reads."""
    saved = context.creating
    with outside_scope():  # it restores what is set here
        context.tapes, context.creating = (recorder,), assignments
        context.update()
        try:
            yield
        finally:
            context.creating = saved


@contextmanager
def tape_scope(tapes: tuple[Recorder, ...]) -> Generator[None]:
    """Makes exactly these tapes the open ones inside the scope."""
    saved = context.tapes, context.exact
    context.tapes, context.exact = tapes, True
    context.update()
    try:
        yield
    finally:
        context.tapes, context.exact = saved
        context.update()


@contextmanager
def joining_scope(tapes: tuple[Recorder, ...]) -> Generator[None]:
    """Opens these tapes of other threads inside the scope, too."""
    saved = context.tapes
    context.tapes = (*saved, *tapes)
    context.update()
    try:
        yield
    finally:
        context.tapes = saved
        context.update()


@contextmanager
def device_scope(device: str | Pins) -> Generator[None]:
    """Makes a pin (a device's canonical name, or Pins; false for none) the only one inside the scope."""
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
    """Sends the updates of optimizers to ``taker`` inside the scope."""
    saved = context.updates
    context.updates = taker
    try:
        yield
    finally:
        context.updates = saved


@contextmanager
def replica_scope(replica: ReplicaContext | None) -> Generator[None]:
    """Makes what is traced inside the scope one replica of a data-parallel step."""
    saved = context.replica
    context.replica = replica
    try:
        yield
    finally:
        context.replica = saved


SETTINGS.add("log_device_placement", Setting(lambda: LOGGED in busy, partial(place_ops, LOGGED)))
SETTINGS.add("check_numerics", Setting(lambda: EXAMINED in busy, partial(set_slow, EXAMINED)))
config.log_device_placement = flag("GRAPHC_LOG_DEVICE_PLACEMENT")
config.check_numerics = flag("GRAPHC_CHECK_NUMERICS")


# Conversion of function arguments: how ``grad`` and the like call a user's function while tracing.


def converted(function: Any) -> Any:
    """Returns the function, or while tracing its converted form."""
    return function if context.trace is None else ABOVE["call"](function)
