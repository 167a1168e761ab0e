"""Future: the result of a call that runs beside the program."""

from __future__ import annotations

import concurrent.futures
from typing import TypeVar

from graphc.base import CancellationToken, Location, Signal, Work

__all__ = ["Future"]

T = TypeVar("T")


class Future(concurrent.futures.Future[T]):
    """The result of a call given to :func:`graphc.submit`; ``await`` it, or ask for :meth:`result`.

    It is a ``concurrent.futures.Future``, so that ``concurrent.futures.wait`` and ``as_completed`` take it.

    Attributes:
      name: of the function, for messages.
    """

    def __init__(self, name: str, token: CancellationToken, place: Location | None) -> None:
        super().__init__()
        self.name = name
        self._token = token
        self._place = place
        self._work: Work | None = None
        self._finished = Signal()
        self.add_done_callback(lambda _: self._finished.set())
