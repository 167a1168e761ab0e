"""ReaderState: the state that a reader keeps between runs: its file, the position in it, and counts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from graphc.compiler.base import holding
from graphc.compiler.base.errors import GraphcError
from graphc.graphs.queues.formats import FORMATS, Format, Work

__all__ = ["ReaderState"]

Take = Callable[[], bytes]
"""A function that waits for the name of the next file and returns it."""


class ReaderState:
    """A reader: it takes names of files from a queue, and returns the records of one file after the other.

    Threads share it; while one waits for a name, the others wait for that thread.

    Args:
      name: the reader's name, for messages.
      spec: its format and the format's settings, from :func:`graphc.queues.formats.spec_of`.

    Attributes:
      spec: its format and the format's settings.
      produced: the number of records returned.
      completed: the number of files read to the end.
    """

    def __init__(self, name: str, spec: tuple[Any, ...]) -> None:
        self._name = name
        self.spec = spec
        self._format: Format = FORMATS[spec[0]](*spec[1:])
        self._lock = threading.RLock()
        self._work: Work | None = None
        self.produced = 0
        self.completed = 0

    def read(self, take: Take) -> tuple[bytes, bytes]:
        """Returns the next key and record.

        Args:
          take: a function that returns the name of the next file, called when one is needed.

        Raises:
          OutOfRangeError: there are no more names; raised by ``take``.
          NotFoundError: the file does not exist; the next call continues with the file after it.
          DataLossError: the file is damaged; so is the next call's.
        """
        with holding(self._lock, self._what):
            while True:
                work = self._work or self._start(take)
                record = work.read()
                if record is None or work.is_single:
                    self._finish()
                if record is not None:
                    self.produced += 1
                    return record

    def read_up_to(self, take: Take, count: int) -> list[tuple[bytes, bytes]]:
        """Returns up to ``count`` keys and records, fewer at the end of a file; none only if ``count`` is 0."""
        with holding(self._lock, self._what):
            found = list[tuple[bytes, bytes]]()
            while not found and count:
                work = self._work or self._start(take)
                while len(found) < count:
                    try:
                        record = work.read()
                    except GraphcError:
                        if not found:
                            raise
                        break  # the next call raises it again
                    if record is not None:
                        found.append(record)
                    if record is None or work.is_single:
                        self._finish()
                        break
            self.produced += len(found)
            return found

    def _start(self, take: Take) -> Work:
        self._work = self._format.open(take())
        return self._work

    def _finish(self) -> None:
        self.close()
        self.completed += 1

    def _what(self) -> str:
        return f"reader {self._name!r}, which another thread reads from"

    def close(self) -> None:
        """Closes the current file, and leaves it."""
        work, self._work = self._work, None
        if work is not None:
            work.close()

    def __del__(self) -> None:
        if getattr(self, "_work", None) is not None:
            self.close()

    def reset(self) -> None:
        """Resets it: the next call starts with the next file."""
        with holding(self._lock, self._what):
            self.close()
            self.produced = self.completed = 0
