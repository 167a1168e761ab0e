"""FileWriterCache: one writer of event files for each folder."""

from __future__ import annotations

import threading
from typing import ClassVar

from graphc.graphs.session.event_files import FileWriter

__all__ = ["FileWriterCache"]


class FileWriterCache:
    """The writers of event files by folder, so that all users of a folder write to one file."""

    _lock: ClassVar[threading.Lock] = threading.Lock()
    _writers: ClassVar[dict[str, FileWriter]] = {}

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """Returns the writer of a folder; makes it at the first call.

        Args:
          logdir: the folder.
        """
        with FileWriterCache._lock:
            found = FileWriterCache._writers.get(logdir)
            if found is None:
                found = FileWriterCache._writers[logdir] = FileWriter(logdir)
            return found

    @staticmethod
    def clear() -> None:
        """Closes all writers, and drops them."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._writers.values():
                writer.close()
            FileWriterCache._writers.clear()
