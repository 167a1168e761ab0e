"""Answer: the future of a request to replicas, and the state of the request until it is answered."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphc.compiler.base import CancellationToken, Location
from graphc.compiler.runtime import Future
from graphc.serve.copies import Array, Program, Rows


class Answer(Future[Any]):
    """The result of a request to :class:`Replicas`; ``await`` it, or call ``result``."""

    def __init__(self, name: str, rows: int, index: Location | None) -> None:
        super().__init__(name, CancellationToken(), index)
        self.drop: Callable[[], bool] = lambda: False
        self._rows = rows

    def describe(self) -> str:
        """Describes the request in words, for messages."""
        origin = "" if self._place is None else f", submitted at {self._place.short}"
        return f"a request of {self._rows} {'row' if self._rows == 1 else 'rows'} to {self.name!r}{origin}"

    @property
    def place(self) -> Location | None:
        """The line that submitted the request."""
        return self._place

    def cancel(self) -> bool:
        """Cancels the request; returns True if it had no result yet."""
        if self.drop():
            concurrent.futures.Future.cancel(self)
            self.set_running_or_notify_cancel()  # notifies waiters
        return self.cancelled()


@dataclass(eq=False)
class Request:
    """A request that is not answered yet."""

    answer: Answer
    rows: Rows
    submitted: float
    parts: dict[int, tuple[Program, list[Array]]] = field(default_factory=dict[int, "tuple[Program, list[Array]]"])

    def result(self) -> Any:
        """Returns the results of all pieces, joined."""
        pieces = [self.parts[start] for start in sorted(self.parts)]
        program = pieces[0][0]
        columns = zip(*[arrays for _, arrays in pieces], strict=True)
        return program.result([column[0] if len(column) == 1 else np.concatenate(column) for column in columns])
