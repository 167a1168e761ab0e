"""Marks of saves in progress: lock files, which the system releases when a process ends, however it ends.

So the next save can tell the files of a save that was killed from those of one that another program is writing.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["Mark", "is_in_progress"]

_ABANDONED_SECONDS = 3600.0
"""Where the file system has no locks: the age of the mark of a save that has ended."""


class Mark:
    """Marks a save as in progress until it is released, or the process ends.

    Args:
      path: the lock file, of a name that no other save has; its folder is made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        while True:
            path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(
                FileNotFoundError
            ):  # another save has just removed the folder, or taken the file for a dead one's
                self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
                with suppress(OSError):
                    fcntl.flock(self._descriptor, fcntl.LOCK_EX)
                if os.path.samestat(os.fstat(self._descriptor), path.stat()):
                    return
                os.close(self._descriptor)

    def release(self) -> None:
        """Removes the mark; to be called once."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def is_in_progress(path: Path) -> bool:
    """Returns True if the save with a mark goes on, in this or in another process."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return time.time() - os.fstat(descriptor).st_mtime < _ABANDONED_SECONDS
    finally:
        os.close(descriptor)
    return False
