"""A node that skips elements with errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from graphc.compiler.base import logs
from graphc.training.data.elements import Row
from graphc.training.data.plan import Epoch, Node, Rows
from graphc.training.data.sources import Cardinality

__all__ = ["IgnoreErrors"]


class _Ignored(Rows):
    counters = ("dropped",)

    def __init__(self, rows: Rows, log: bool) -> None:
        super().__init__(rows)
        self._log, self.dropped = log, 0

    def __next__(self) -> Row:
        while True:
            try:
                return next(self.input)
            except StopIteration:
                if self._log and self.dropped:
                    logs.logger().warning("ignore_errors dropped %d elements of a dataset", self.dropped)
                raise
            except Exception as error:
                self.dropped += 1
                if self._log:
                    notes = "; ".join(note.partition("\n")[0] for note in getattr(error, "__notes__", ()))
                    what = f"{type(error).__name__}: {error}" + (f" ({notes})" if notes else "")
                    logs.logger().warning("ignore_errors dropped element %d: %s", self.dropped, what)


@dataclass(frozen=True, eq=False)
class IgnoreErrors(Node):
    """The elements that can be computed."""

    word = "ignore_errors"
    source: Node
    log: bool

    @cached_property
    def cardinality(self) -> Cardinality:
        return 0 if self.input.cardinality == 0 else None

    def open(self, epoch: Epoch) -> Rows:
        return _Ignored(self.input.open(epoch), self.log)
