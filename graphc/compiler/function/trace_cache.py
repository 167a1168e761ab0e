"""The traces of a function, with the entries of its calls."""

from __future__ import annotations

import operator
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from graphc.compiler.base import (
    Location,
    config,
    interruption,
    only_interrupted,
    other_slow_path_reasons,
    user_location,
    warn_at,
)
from graphc.compiler.base.errors import InvalidArgumentError, RetraceWarning
from graphc.compiler.core import REASONS, Recorder, context, occupied, open_tapes
from graphc.compiler.function.arguments import Arguments, Binder
from graphc.compiler.function.concrete import ConcreteEntries
from graphc.compiler.function.entry import chooser, entry, kinds_of, only_entry
from graphc.compiler.function.guards import MISS, Signals, current_signals, matcher
from graphc.compiler.function.options import Report
from graphc.compiler.function.traced import TracedFunction
from graphc.compiler.lowering import Program
from graphc.compiler.tracing import ALIAS, ReadGuard

_PATIENCE = 16
"""Number of calls served by entries other than the first before one is promoted to the front. If several entries
alternate, promoting at each call would cost more than failing some guards."""

_RARELY = 256
"""The same for entries that calls remember: promoting one of 50 takes 30 us, and only sorts the traces by use."""

_FEW = 3
"""Up to so many entries are tried in turn; of more, calls remember which one served arguments of these types."""

_is_idle: Callable[[Recorder], bool] = operator.attrgetter("is_idle")

Entry: TypeAlias = Callable[..., Any]


class TraceCache:
    """The traces of a function, most recently used first, and the entries of its calls (see ``entry``)."""

    def __init__(self, binder: Binder, limit: int | None, install: Callable[[Entry | None, Signals], None]) -> None:
        self.traces: list[TracedFunction] = []  # the cached traces, most recently used first
        self.signals = current_signals()
        # The layers of device scopes, with the entries of calls inside such scopes.
        self.pinned: list[tuple[Any, list[Entry]]] = []
        self.bounded: list[Entry] = []  # the entries of calls under a deadline or a token
        self.is_unseen = True  # whether no trace uses Variables, which tapes watch
        self.lock = threading.RLock()  # held while traces or entries change
        self._binder = binder
        self._limit = limit  # the maximum number of traces; None for ``gx.config.max_traces``
        # Takes the entry that calls try first, None for no entry, and the signals to check before it.
        self._install = install
        self._only: Entry | None = None  # the entry of a function with one trace
        self._choose: Entry | None = None  # tries the entries of a function with several traces
        self._used_again: set[Entry] = set()

    def find(self, arguments: Arguments) -> TracedFunction | None:
        """Returns the trace that fits a call, marked as most recently used; None if there is none."""
        for index, traced in enumerate(self.traces):
            if not traced.fits(arguments):
                continue
            if index:
                with self.lock:
                    if traced in self.traces:
                        self._to_front(traced)
            return traced
        return None

    def add(self, traced: TracedFunction) -> None:
        """Adds a trace as the most recently used; drops the oldest beyond the limit."""
        with self.lock:
            if len(self.traces) == 1:
                self.traces[0].entries.clear()  # no longer the only trace
            self.traces.insert(0, traced)
            self._drop_oldest()
            self._order()

    def clear(self) -> None:
        """Drops all traces and entries."""
        with self.lock:
            self.traces.clear()
            self._order()

    def add_entry(self, traced: TracedFunction, arguments: Arguments) -> None:
        """Generates the entry for calls like this one, unless it exists or is impossible."""
        if other_slow_path_reasons and not only_interrupted(other_slow_path_reasons):
            return  # the fast path is disabled now
        kinds = kinds_of(arguments, traced)
        _, is_examined, pins = traced.settings
        bounded = interruption() is not None
        if kinds is None or is_examined or (bounded and (pins or not traced.waits_shortly)):
            return
        entries = traced.bounded if bounded else traced.entries
        with self.lock:
            signals = self._ask()
            if kinds in entries or traced not in self.traces or (signals.looks and traced.note_spread(arguments)):
                return
            alone = len(self.traces) == 1
            if pins or bounded:
                generated = only_entry(traced, arguments, self._binder, signals, alone=False, bounded=bounded)
            elif alone and not entries:
                generated = self._only = only_entry(traced, arguments, self._binder, signals, passes=self._passes)
            else:
                if self._only is not None:
                    entries.clear()  # no longer the only one
                generated = entry(traced, arguments, self._binder, signals, alone=alone)
            entries[kinds] = generated
            self._order()

    def add_concrete(
        self, known: ConcreteEntries, args: tuple[Any, ...], kwargs: dict[str, Any], fixed: Mapping[str, Any]
    ) -> None:
        """Generates the entry of a concrete function for calls like this one, unless it exists or is impossible."""
        if other_slow_path_reasons or (occupied and not context.eager):
            return
        arguments = self._binder.bind(args, kwargs)
        with self.lock:
            signals, traced = self._ask(), self.find(arguments)
            kinds = None if traced is None else kinds_of(arguments, traced)
            entries = known.setdefault(signals, {})
            if traced is None or kinds is None or (traced, kinds) in entries:
                return
            if signals.looks and traced.note_spread(arguments):
                return
            while len(entries) >= config.max_traces:
                del entries[next(iter(entries))]
            entries[traced, kinds] = only_entry(traced, arguments, self._binder, signals, alone=False, fixed=fixed)

    def _ask(self) -> Signals:
        """Returns the signals for new entries; drops entries with other signals."""
        signals = current_signals()
        if signals is not self.signals:
            for traced in self.traces:
                traced.entries.clear()
                traced.bounded.clear()
            self._order()
            self._choose = None
            self.signals = signals
            self._order()
        return signals

    def _order(self) -> None:
        """Sorts the entries like their traces, and installs the first one."""
        self._used_again.clear()
        pairs = [(traced.settings[-1].layers, entry) for traced in self.traces for entry in traced.entries.values()]
        entries = [entry for layers, entry in pairs if not layers]
        self.pinned = [
            (scopes, [entry for layers, entry in pairs if layers == scopes]) for scopes, _ in pairs if scopes
        ]
        self.bounded = [entry for traced in self.traces for entry in traced.bounded.values()]
        self.is_unseen = not any(traced.executable.variables for traced in self.traces)
        if entries != [self._only]:
            self._only = None
        first = self._only
        if first is None and entries:
            if self._choose is None:
                self._choose = chooser(
                    self._binder, self.signals, self._used_again, self._promote, (_PATIENCE, _RARELY), self._passes
                )
            names = self._choose.__globals__
            names.update(ag__first=entries[0], ag__others=entries[1:], ag__many=len(entries) > _FEW)
            if not set(names["ag__known"].values()) <= set(entries):
                names["ag__known"].clear()
            first = self._choose
        self._install(first, self.signals)

    def _passes(self) -> bool:
        """Returns True if this thread is busy only since tapes are open that follow nothing, and see no Variable."""
        tapes = context.taped
        if not tapes or len(open_tapes) > 1 or not self.is_unseen or not REASONS.isdisjoint(self.signals.busy):
            return False
        return all(map(_is_idle, tapes))

    def _promote(self, entry: Entry) -> None:
        with self.lock:
            traced = next((traced for traced in self.traces if entry in traced.entries.values()), None)
            if traced is not None:
                self._to_front(traced)

    def _to_front(self, traced: TracedFunction) -> None:
        self.traces.remove(traced)
        self.traces.insert(0, traced)
        self._order()

    def _drop_oldest(self) -> None:
        """Drops the oldest traces beyond the limit, counting uses since the last sort."""
        limit = self._limit or config.max_traces
        while len(self.traces) > limit:
            unused = [traced for traced in self.traces[1:] if self._used_again.isdisjoint(traced.entries.values())]
            self.traces.remove((unused or self.traces)[-1])


# First calls: calls that create Variables, and the programs that later traces inherit from them.

_KEPT = 2


@dataclass(frozen=True)
class _InVain:
    """A call that made Variables without keeping any of them in the arguments."""

    described: list[tuple[str, str]]
    guards: Sequence[ReadGuard]  # the objects that names outside them stood for

    def holds(self) -> bool:
        """Returns True if the names stand for the same objects, which have their Variables now."""
        return matcher(self.guards, (), [], ((), ()))() is not MISS


def _is_of_name(guard: ReadGuard) -> bool:
    """Returns True for the guard of which object a name outside stands for, or an attribute of its object."""
    base = guard.source.base
    near = base is None or base.base is None  # all guards of a large network would take longer than its trace
    return near and not guard.source.of_call and guard.test.startswith("{v} is {0}")


class FirstCalls:
    """The first calls of a function, which created Variables."""

    def __init__(self) -> None:
        self.in_vain: deque[_InVain] = deque(maxlen=config.max_traces)
        """Calls that made Variables without keeping any of them in the arguments."""
        self.programs: deque[tuple[Any, Program | None]] = deque(maxlen=_KEPT)
        """Settings and programs of first calls that made Variables, for the traces of the next calls."""
        self._peeled: dict[Location | None, str] = {}
        """The loops whose first iteration created Variables, by line, with what their reports said."""

    def may_create(self, arguments: Arguments) -> bool:
        """Returns True if a call may make Variables."""
        described = arguments.described() if self.in_vain else []
        return not any(call.described == described and call.holds() for call in self.in_vain)

    def note_creation(self, before: list[tuple[str, str]], after: Arguments, guards: Iterable[ReadGuard] = ()) -> None:
        """Notes that a call made Variables: another call with the same arguments must not make any."""
        # If the call changed its arguments (``self.w``), they are no longer the same, so that each new instance has a
        # first call of its own; so has what replaces a global model or optimizer.
        if after.described() == before:
            self.in_vain.append(_InVain(before, [*filter(_is_of_name, guards)]))

    def keep_program(self, traced: TracedFunction) -> None:
        """Keeps the program of a first call for the next call's trace, and what it tells of loops."""
        self.programs.append((traced.settings, traced.executable.program))
        self._peeled.update({loop.location: loop.reason for loop in traced.notes.loops if loop.creates})

    def tell_of_loops(self, traced: TracedFunction) -> None:
        """Adds to a later trace's reports how the loops ran that created Variables in a first call."""
        loops = traced.notes.loops
        for index, loop in enumerate(loops):
            if loop.location in self._peeled and loop.kind in ("rolled", "while"):
                reason = f"{loop.reason}; in the first call {self._peeled[loop.location]}"
                loops[index] = replace(loop, reason=reason)

    def share_program(self, traced: TracedFunction, traces: Sequence[TracedFunction], *, first: bool) -> None:
        """Avoids a compilation if a first call and the next one, even of another instance, run the same program."""
        programs = [(traced.settings, traced.executable.program) for traced in traces] if first else []
        for index, (settings, program) in enumerate([*self.programs, *programs]):
            if settings == traced.settings and traced.executable.adopt_program(program):
                if not first:
                    del self.programs[index]
                return


# Retrace reports: why a function was traced again.

_REPORTS_KEPT = 1_000
_SETTINGS = ("enable_x64", "default_dtype_bits", "check_numerics")


@dataclass(frozen=True)
class TraceReport:
    """The reason for a trace of a function.

    Attributes:
      reason: the argument that changed, with its old and its new value.
      seconds: the tracing time; compilation follows at the first run.
    """

    number: int
    reason: str
    location: Location | None
    seconds: float

    def __str__(self) -> str:
        where = f" at {self.location.short}" if self.location else ""
        return f"trace {self.number}{where}: {self.reason} ({self.seconds * 1e3:.1f} ms)"


class RetraceLog:
    """The traces of a function with their reasons; warns when there are too many."""

    def __init__(self, name: str, on_retrace: Report) -> None:
        self.reports: deque[TraceReport] = deque(maxlen=_REPORTS_KEPT)
        self._name = name
        self._on_retrace = on_retrace  # the reaction to the third retrace: ``"warn"``, ``"error"`` or ``"ignore"``
        self._described: list[list[tuple[str, str]]] = []
        self._creating: list[list[tuple[str, str]]] = []
        self._num_expected = 0
        self._ran_in_python = False

    @property
    def num_traces(self) -> int:
        """The number of times the function was traced."""
        return self.reports[-1].number if self.reports else 0

    def clear(self) -> None:
        """Forgets the reports, so that the next trace is compared with none."""
        self._described.clear()
        self._creating.clear()

    def note_in_python(self, created: Sequence[str], seconds: float) -> None:
        """Records a first call that ran as plain Python, since the Variables that it created cannot be lifted."""
        others = f" and {len(created) - 1:,} more" if len(created) > 1 else ""
        reason = f"this call ran as plain Python; it creates the Variable {created[0]!r}{others}"
        self.reports.append(TraceReport(self.num_traces + 1, reason, user_location(), seconds))
        self._num_expected += 1
        self._ran_in_python = True

    def note(self, traced: TracedFunction, open_arguments: Collection[str], *, created: str = "") -> None:
        """Records a new trace."""
        described = [*traced.described(), *_settings()]
        reason = retrace_reason(described, self._described)
        expected = self._is_expected(described, open_arguments)
        number = self.num_traces + 1
        if created:
            reason = "the first call with other objects" if described in self._creating else reason
            reason += f"; it creates {created}"
            self._creating.append(described)
        elif described in self._creating or (self._ran_in_python and not self._described):
            reason = "the first call created Variables, which exist now"
        elif expected:
            reason += "; input_signature leaves this open"
        self._described.append(described)
        expected = expected or bool(created)
        self._num_expected += expected
        report = TraceReport(number, reason, user_location(), traced.seconds)
        self.reports.append(report)
        del self._described[: -config.max_traces]
        del self._creating[: -config.max_traces]
        counted = number - 1 - self._num_expected
        if expected or self._on_retrace == "ignore" or not is_due(counted, always=self._on_retrace == "error"):
            return
        message = (
            f"{self._name} was traced again, for the {ordinal(number)} time: {reason}; each trace is compiled anew. "
            "Pass numbers that change as tensors, keep shapes fixed, or give input_signature or on_retrace='ignore'"
        )
        if self._on_retrace == "error":
            raise InvalidArgumentError(message).at(report.location)
        warn_at(RetraceWarning(message), report.location)

    def _is_expected(self, described: list[tuple[str, str]], open_arguments: Collection[str]) -> bool:
        """Returns True if a trace differs from an earlier one only in shapes that ``input_signature`` leaves open."""

        def rest(described: list[tuple[str, str]]) -> list[tuple[str, str]]:
            return [item for item in described if item[0] not in open_arguments]

        return bool(open_arguments) and rest(described) in map(rest, self._described)


def _settings() -> list[tuple[str, str]]:
    """Returns the settings that a trace depends on, by name, for retrace reasons."""
    return [(f"gx.config.{name}", str(getattr(config, name))) for name in _SETTINGS]


def is_due(retraces: int, *, always: bool) -> bool:
    """Returns True if a warning is due after this many retraces."""
    # always: whether to warn at each of them, from the first one that counts; otherwise when their number has doubled.
    times, rest = divmod(retraces, config.warn_retraces)
    return times > 0 and (always or (rest == 0 and times.bit_count() == 1))


def ordinal(number: int) -> str:
    """Returns an ordinal number in words."""
    suffix = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def retrace_reason(new: list[tuple[str, str]], earlier: list[list[tuple[str, str]]]) -> str:
    """Returns what is new in a call, compared with the most similar earlier one."""
    if not earlier:
        return "the first call"

    def differences(old: list[tuple[str, str]]) -> list[str]:
        before, after = dict(old), dict(new)
        changed = [path for path in {**after, **before} if before.get(path) != after.get(path)]
        if not changed and [*before] != [*after]:
            first, second = next(pair for pair in zip(before, after, strict=True) if pair[0] != pair[1])
            return [f"{second} comes before {first}"]
        aliases = [path for path in changed if ALIAS in before.get(path, "") + after.get(path, "")]
        below = tuple(alias + sign for alias in aliases for sign in ".[")  # told where the object was found first
        paths = [path for path in changed if not path.startswith(below)]
        paths.sort(key=lambda path: (path not in after, path not in before))
        return [_difference(path, before.get(path, ""), after.get(path, "")) for path in paths]

    best = min((differences(old) for old in reversed(earlier)), key=len)
    if best:
        return "; ".join(best)
    return (
        "an object among the arguments, its attributes, the device scope, or the values of a tensor from outside "
        "changed"
    )


def _difference(path: str, before: str, after: str) -> str:
    if before and after:
        return f"{path} was {before}, is {after}"
    if ALIAS in before:
        return f"{path} was {before}, is another one"
    return f"{path} is {after}" if ALIAS in after else f"{path} is {'gone' if before else 'new'}"
