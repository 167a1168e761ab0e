"""The traces of a function, with the entries of its calls."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from graphc.compiler.base import config, interruption, only_interrupted, other_slow_path_reasons
from graphc.compiler.core import REASONS, Recorder, context, occupied, open_tapes
from graphc.compiler.function.arguments import Arguments, Binder
from graphc.compiler.function.binding import Signals, current_signals
from graphc.compiler.function.concrete import ConcreteEntries
from graphc.compiler.function.entry import chooser, entry, kinds_of, only_entry
from graphc.compiler.function.traced import TracedFunction

__all__ = ["TraceCache"]

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
    """The traces of a function, most recently used first, and the entries of its calls (see ``entry``).

    Args:
      binder: the function's binder.
      limit: the maximum number of traces; None for ``gx.config.max_traces``.
      install: takes the entry that calls try first, None for no entry, and the signals to check before it.

    Attributes:
      traces: the cached traces, most recently used first.
      signals: the signals to check before an entry.
      pinned: the layers of device scopes, with the entries of calls inside such scopes.
      bounded: the entries of calls under a deadline or a token.
      is_unseen: whether no trace uses Variables, which tapes watch.
      lock: held while traces or entries change.
    """

    def __init__(self, binder: Binder, limit: int | None, install: Callable[[Entry | None, Signals], None]) -> None:
        self.traces: list[TracedFunction] = []
        self.signals = current_signals()
        self.pinned: list[tuple[Any, list[Entry]]] = []
        self.bounded: list[Entry] = []
        self.is_unseen = True
        self.lock = threading.RLock()
        self._binder = binder
        self._limit = limit
        self._install = install
        self._only: Entry | None = None  # the entry of a function with one trace
        self._choose: Entry | None = None  # tries the entries of a function with several traces
        self._used_again: set[Entry] = set()

    def find(self, arguments: Arguments) -> TracedFunction | None:
        """Returns the trace that fits a call, marked as most recently used; None if there is none."""
        for place, traced in enumerate(self.traces):
            if not traced.fits(arguments):
                continue
            if place:
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
                made = only_entry(traced, arguments, self._binder, signals, alone=False, bounded=bounded)
            elif alone and not entries:
                made = self._only = only_entry(traced, arguments, self._binder, signals, passes=self._passes)
            else:
                if self._only is not None:
                    entries.clear()  # no longer the only one
                made = entry(traced, arguments, self._binder, signals, alone=alone)
            entries[kinds] = made
            self._order()

    def add_concrete(
        self, known: ConcreteEntries, args: tuple[Any, ...], kwargs: dict[str, Any], fixed: Mapping[str, Any]
    ) -> None:
        """Generates the entry of a concrete function for calls like this one, unless it exists or is impossible.

        Args:
          known: the existing entries, the newest last.
          args: the call's positional arguments.
          kwargs: the call's keyword arguments.
          fixed: the required values of the arguments that are not tensors.
        """
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
        known = [(traced.settings[-1].layers, entry) for traced in self.traces for entry in traced.entries.values()]
        entries = [entry for layers, entry in known if not layers]
        self.pinned = [
            (scopes, [entry for layers, entry in known if layers == scopes]) for scopes, _ in known if scopes
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
        """Moves an entry to the front."""
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
