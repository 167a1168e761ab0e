"""The traces of a function, and the short ways of its calls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from graphc.base import config, interruption, only_interrupted, other_detours
from graphc.core import context, occupied
from graphc.function.arguments import Arguments, Binder
from graphc.function.binding import Signals, signals
from graphc.function.concrete import ConcreteEntries
from graphc.function.entry import chooser, entry, kinds_of, only_entry
from graphc.function.traced import TracedFunction

__all__ = ["TraceCache"]

_PATIENCE = 16
"""After so many calls that took an entry which is not the first, one is put in front. To do so each time would cost
more, where several are used in turn, than to ask some guards in vain."""

_FEW = 3
"""Up to so many entries are tried in turn; of more, calls remember which one served arguments of these types."""

Entry: TypeAlias = Callable[..., Any]


class TraceCache:
    """The traces of a function, those used last first, and the entries of its calls: the short ways (see ``entry``).

    Args:
      binder: of the function.
      limit: how many traces are kept; ``gx.config.max_traces`` when None.
      install: takes the entry that a call is to take first, None for none, and what is to be asked before it.

    Attributes:
      traces: those that are kept, the one used last first.
      asked: what is asked before an entry is taken.
      pinned: the layers of device scopes, and the entries of calls inside such scopes.
      bounded: the entries of calls under a deadline or a token.
      is_unseen: whether no trace works on Variables, which tapes watch.
      lock: held where traces or entries change.
    """

    def __init__(self, binder: Binder, limit: int | None, install: Callable[[Entry | None, Signals], None]) -> None:
        self.traces: list[TracedFunction] = []
        self.asked = signals()
        self.pinned: list[tuple[Any, list[Entry]]] = []
        self.bounded: list[Entry] = []
        self.is_unseen = True
        self.lock = threading.RLock()
        self._binder = binder
        self._limit = limit
        self._install = install
        self._only: Entry | None = None  # the entry of a function that has one trace
        self._choose: Entry | None = None  # tries the entries of one that has several
        self._used_again: set[Entry] = set()

    def find(self, arguments: Arguments) -> TracedFunction | None:
        """Returns the trace that may be used for a call; it becomes the one that was used last."""
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
        """Adds a trace, as the one used last; drops the oldest where there are too many."""
        with self.lock:
            if len(self.traces) == 1:
                self.traces[0].entries.clear()  # it is not alone any more
            self.traces.insert(0, traced)
            self._drop_oldest()
            self._order()

    def clear(self) -> None:
        """Drops all traces and entries."""
        with self.lock:
            self.traces.clear()
            self._order()

    def add_entry(self, traced: TracedFunction, arguments: Arguments) -> None:
        """Writes the short way for calls like one, unless there is one or can be none."""
        if other_detours and not only_interrupted(other_detours):
            return  # the short way is not taken now
        kinds = kinds_of(arguments, traced)
        _, is_examined, pins = traced.settings
        bounded = interruption() is not None
        if kinds is None or is_examined or (bounded and (pins or not traced.waits_shortly)):
            return
        entries = traced.bounded if bounded else traced.entries
        with self.lock:
            asked = self._ask()
            if kinds in entries or traced not in self.traces or (asked.looks and traced.note_spread(arguments)):
                return
            alone = len(self.traces) == 1
            if pins or bounded:
                made = only_entry(traced, arguments, self._binder, asked, alone=False, bounded=bounded)
            elif alone and not entries:
                made = self._only = only_entry(traced, arguments, self._binder, asked)
            else:
                if self._only is not None:
                    entries.clear()  # which is not the only one any more
                made = entry(traced, arguments, asked, alone=alone)
            entries[kinds] = made
            self._order()

    def add_concrete(
        self, known: ConcreteEntries, args: tuple[Any, ...], kwargs: dict[str, Any], fixed: Mapping[str, Any]
    ) -> None:
        """Writes the short way of a concrete function for calls like one, unless it is there, or there can be none.

        Args:
          known: those that there are, the newest last.
          args: of the call.
          kwargs: those by name.
          fixed: the arguments that are no tensors, which must be these.
        """
        if other_detours or (occupied and not context.eager):
            return
        arguments = self._binder.bind(args, kwargs)
        with self.lock:
            asked, traced = self._ask(), self.find(arguments)
            kinds = None if traced is None else kinds_of(arguments, traced)
            entries = known.setdefault(asked, {})
            if traced is None or kinds is None or (traced, kinds) in entries:
                return
            if asked.looks and traced.note_spread(arguments):
                return
            while len(entries) >= config.max_traces:
                del entries[next(iter(entries))]
            entries[traced, kinds] = only_entry(traced, arguments, self._binder, asked, alone=False, fixed=fixed)

    def _ask(self) -> Signals:
        """Returns what entries are to ask now; drops those that ask something else."""
        asked = signals()
        if asked is not self.asked:
            for traced in self.traces:
                traced.entries.clear()
                traced.bounded.clear()
            self._order()
            self._choose = None
            self.asked = asked
            self._order()
        return asked

    def _order(self) -> None:
        """Puts the entries in the order of their traces, and installs what a call takes first."""
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
                self._choose = chooser(self._binder, self.asked, self._used_again, self._promote, _PATIENCE)
            names = self._choose.__globals__
            names.update(ag__first=entries[0], ag__others=entries[1:], ag__many=len(entries) > _FEW)
            if not set(names["ag__known"].values()) <= set(entries):
                names["ag__known"].clear()
            first = self._choose
        self._install(first, self.asked)

    def _promote(self, entry: Entry) -> None:
        """Makes an entry the first to be tried."""
        with self.lock:
            traced = next((traced for traced in self.traces if entry in traced.entries.values()), None)
            if traced is not None:
                self._to_front(traced)

    def _to_front(self, traced: TracedFunction) -> None:
        self.traces.remove(traced)
        self.traces.insert(0, traced)
        self._order()

    def _drop_oldest(self) -> None:
        """Keeps as many traces as may be kept; those that were used again since they were put in order go last."""
        limit = self._limit or config.max_traces
        while len(self.traces) > limit:
            unused = [traced for traced in self.traces[1:] if self._used_again.isdisjoint(traced.entries.values())]
            self.traces.remove((unused or self.traces)[-1])
