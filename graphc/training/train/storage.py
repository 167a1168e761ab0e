"""The files of a checkpoint, written so that an existing checkpoint is complete.

A folder of checkpoints::

    step-100/
      9f31c2aa-0-of-2.safetensors   one file for each process that writes
      9f31c2aa-1-of-2.safetensors
      9f31c2aa-0-of-2.lock          while process 0 is saving; the system unlocks it when the process ends
      manifest-7-9f31c2aa.json      the seventh that was saved: which arrays there are, and where

A checkpoint exists once its manifest does, which is written last, by renaming a file. No file is written twice: each
save has its own token, so saving a step again also replaces the old checkpoint at once. Each save removes the files of
saves whose processes have ended, and leaves those of another program that saves to the same folder.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
import threading
import time
import weakref
import zlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphc.compiler.base import Location, user_location, wait_until
from graphc.compiler.base.errors import (
    DeadlineExceededError,
    FailedPreconditionError,
    GraphcError,
    ResourceExhaustedError,
)
from graphc.compiler.base.files import file_errors
from graphc.library.formats import Mark, checksum, header_of, is_in_progress, sync, write_arrays

FORMAT = "graphc checkpoint 1"
STATE = "state:"
"""Prefix of the names of arrays that belong to the state of an object, not to a Variable."""

_MANIFEST = re.compile(r"manifest-(\d+)-([0-9a-f]+)\.json")
FILES = re.compile(r"([0-9a-f]+)-\d+-of-\d+\.(safetensors|unfinished|failed|lock)|\.tmp[A-Za-z0-9]{6}")
"""The names of files but manifests; the last ones are what a killed graphc 0.2 left."""

_POLL_SECONDS = 0.02


def state_name(process: int, name: str) -> str:
    """Returns the name of an array in the state of an object of a process."""
    return f"{STATE}{process}:{name}"


@dataclass(frozen=True)
class ArrayBlock:
    """A rectangular part of an array.

    Attributes:
      name: the name of the whole array.
      shape: the shape of the whole array.
      start: the start of the part, on each axis.
      stop: the end of the part, on each axis.
      array: its elements, on the host.
      is_copy: whether process 0 writes the same part, so that this process only adds its checksum.
    """

    name: str
    shape: tuple[int, ...]
    start: tuple[int, ...]
    stop: tuple[int, ...]
    array: np.ndarray[Any, Any]
    is_copy: bool = False

    @classmethod
    def whole(cls, name: str, array: np.ndarray[Any, Any]) -> ArrayBlock:
        """Makes the part that covers a whole array."""
        return cls(name, array.shape, (0,) * array.ndim, array.shape, array)

    @property
    def key(self) -> str:
        """The part's name in its file: the array's name if it is whole."""
        if self.start == (0,) * len(self.shape) and self.stop == self.shape:
            return self.name
        spans = (f"{start}:{stop}" for start, stop in zip(self.start, self.stop, strict=True))
        return f"{self.name}[{', '.join(spans)}]"


@dataclass(frozen=True)
class ProcessPart:
    """The part of a checkpoint that one process writes.

    Attributes:
      pieces: the parts of arrays.
      states: the states of objects that are not arrays, in JSON form.
    """

    pieces: Sequence[ArrayBlock]
    states: Mapping[str, Any]

    @property
    def num_bytes(self) -> int:
        """The size of the pieces in bytes."""
        return sum(piece.array.nbytes for piece in self.pieces if not piece.is_copy)


@dataclass(frozen=True, order=True)
class SavedCheckpoint:
    """An existing checkpoint."""

    number: int  # among those saved in the folder; the highest is the latest
    step: int
    manifest: Path
    token: str  # the prefix of the names of its files


def entries(folder: Path) -> list[SavedCheckpoint]:
    """Returns the checkpoints of a folder, latest last."""
    steps, before = _steps(folder), None
    checkpoints: list[SavedCheckpoint] = []
    while steps != before:  # another program may add a step and remove the one before it meanwhile
        checkpoints = [entry for step in steps for entry in _manifests(folder, step)]
        steps, before = _steps(folder), steps
    newest = {entry.step: entry for entry in sorted(checkpoints)}  # of two of one step the older one is about to go
    return sorted(newest.values())


def _steps(folder: Path) -> list[int]:
    names = [name[5:] for name in _names(folder) if name.startswith("step-")]
    return sorted(int(name) for name in names if name.isdecimal())


def _manifests(folder: Path, step: int) -> list[SavedCheckpoint]:
    directory = folder / f"step-{step}"
    matches = [(name, match) for name in _names(directory) if (match := _MANIFEST.fullmatch(name)) is not None]
    return [SavedCheckpoint(int(match[1]), step, directory / name, match[2]) for name, match in matches]


def _names(folder: Path) -> list[str]:
    """Returns the names in a folder, which another program may have removed."""
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


class CheckpointWriter:
    """Writes one checkpoint, to which each process contributes a part.

    Args:
      folder: the folder of the checkpoints.
      step: the step.
      token: the name of this save, the same for all processes and for no other save.
      process: the number of this process, from 0.
      count: the number of processes that write.
      keep: the number of latest checkpoints to keep; None for all.
      timeout: seconds to wait for the other processes.
    """

    def __init__(
        self, folder: Path, step: int, token: str, process: int, count: int, keep: int | None, timeout: float
    ) -> None:
        self.folder, self.step, self.token = folder, step, token
        self._process, self._count, self._keep, self._timeout = process, count, keep, timeout
        self.place = folder / f"step-{step}"

    def write(self, part: ProcessPart) -> None:
        """Writes a part, and in process 0 the manifest after all parts; returns when the checkpoint is complete.

        Raises:
          ResourceExhaustedError: the disk is full.
          FailedPreconditionError: another process could not write its part.
          DeadlineExceededError: another process did not write its part in time.
        """
        mark: Mark | None = None
        try:
            with self._disk_errors(part):
                mark = Mark(self._file(self._process, "lock"))
                if self._process == 0:
                    self._remove_leftovers()
                self._write_arrays(part)
                if self._process == 0:
                    self._wait(lambda: all(self._file(other).exists() for other in range(self._count)))
                    self._write_manifest()
                    self._remove_old()
                else:
                    self._wait(lambda: any(self.place.glob(f"manifest-*-{self.token}.json")))
            mark.release()
        except BaseException as error:
            if mark is not None:
                mark.release()
            self._undo(error)
            raise

    def _file(self, process: int, kind: str = "safetensors") -> Path:
        return self.place / f"{self.token}-{process}-of-{self._count}.{kind}"

    @contextmanager
    def _disk_errors(self, part: ProcessPart) -> Generator[None]:
        """Reports free and required space for a full disk, and the system's message for other errors."""
        try:
            with file_errors(self.place):
                yield
        except ResourceExhaustedError as error:
            if getattr(error.__cause__, "errno", None) not in (errno.ENOSPC, errno.EDQUOT):
                raise
            free = shutil.disk_usage(self.folder).free if self.folder.exists() else 0
            raise ResourceExhaustedError(
                f"the checkpoint of step {self.step} was not written: {self.folder} has {free:,} bytes left, and "
                f"{part.num_bytes:,} are needed; earlier checkpoints are intact; free some space, or lower keep="
            ) from error

    def _write_arrays(self, part: ProcessPart) -> None:
        owned = [piece for piece in part.pieces if not piece.is_copy]
        about = {
            "pieces": [
                {
                    "name": piece.name, "key": piece.key, "dtype": piece.array.dtype.name, "shape": piece.shape,
                    "start": piece.start, "stop": piece.stop, "crc32": checksum(piece.array),
                }
                for piece in owned
            ],
            "copies": {piece.name: checksum(piece.array) for piece in part.pieces if piece.is_copy},
            "states": part.states,
        }  # fmt: skip
        unfinished = self._file(self._process, "unfinished")
        notes = {"format": FORMAT, "graphc": json.dumps(about)}
        write_arrays(unfinished, {piece.key: piece.array for piece in owned}, notes)
        unfinished.replace(self._file(self._process))
        sync(self.place)

    def _wait(self, is_done: Any) -> None:
        """Waits for files of other processes."""
        end = time.monotonic() + self._timeout
        while not is_done():
            for failed in self.place.glob(f"{self.token}-*.failed"):
                other = failed.name.split("-")[1]
                raise FailedPreconditionError(
                    f"the checkpoint of step {self.step} was not written, since process {other} failed: "
                    f"{failed.read_text('utf-8')}"
                )
            if time.monotonic() > end:
                missing = [str(other) for other in range(self._count) if not self._file(other).exists()]
                raise DeadlineExceededError(
                    f"the checkpoint of step {self.step} was not written: after {self._timeout:g} seconds process "
                    f"{', '.join(missing) or 0} has not written its part to {self.place}; all processes must call "
                    "save() for the same steps, and see the same folder"
                )
            time.sleep(_POLL_SECONDS)

    def _write_manifest(self) -> None:
        arrays: dict[str, Any] = {}
        files, states, copies = dict[str, int](), list[Any](), list[Mapping[str, int]]()
        for process in range(self._count):
            path = self._file(process)
            about = json.loads(header_of(path)[0]["__metadata__"]["graphc"])
            files[path.name] = path.stat().st_size
            states.append(about["states"])
            copies.append(about["copies"])
            for piece in about["pieces"]:
                whole = {"dtype": piece.pop("dtype"), "shape": piece.pop("shape")}
                array = arrays.setdefault(piece.pop("name"), {**whole, "pieces": []})
                array["pieces"].append({"file": path.name, **piece})
        _check_copies(arrays, copies)
        content = {"format": FORMAT, "step": self.step, "files": files, "arrays": arrays, "states": states}
        number = 1 + max((entry.number for entry in entries(self.folder)), default=0)
        text = json.dumps(content)
        unfinished = self._file(0, "unfinished")
        unfinished.write_text(f'{{"crc32": {zlib.crc32(text.encode())}, "manifest": {text}}}\n', encoding="utf-8")
        sync(unfinished)
        unfinished.replace(self.place / f"manifest-{number}-{self.token}.json")
        for folder in (self.place, self.folder):
            sync(folder)

    def _remove_old(self) -> None:
        """Removes checkpoints beyond those to keep, manifests first, so that existing checkpoints stay complete."""
        checkpoints = entries(self.folder)
        retained = {entry.manifest for entry in checkpoints[-self._keep if self._keep else 0 :]}
        for step in _steps(self.folder):
            for entry in _manifests(self.folder, step):
                if entry.manifest not in retained:
                    entry.manifest.unlink(missing_ok=True)
        self._remove_leftovers()

    def _remove_leftovers(self) -> None:
        """Removes files of saves whose processes have ended, and of checkpoints that are no longer kept."""
        for step in _steps(self.folder):
            folder = self.folder / f"step-{step}"
            tokens = {name: match[1] for name in _names(folder) if (match := FILES.fullmatch(name)) is not None}
            locks = [name for name in tokens if name.endswith(".lock")]
            used = {self.token} | {tokens[name] for name in locks if is_in_progress(folder / name)}
            # Read after that, by when what has ended has written its manifest.
            used |= {entry.token for entry in _manifests(self.folder, step)}
            for name, token in tokens.items():
                if token not in used:
                    (folder / name).unlink(missing_ok=True)
            if folder != self.place:
                with suppress(OSError):  # it holds a checkpoint
                    folder.rmdir()

    def _undo(self, error: BaseException) -> None:
        """Removes the files that this process wrote in vain, and tells the others."""
        with suppress(OSError):
            for kind in ("unfinished", "safetensors"):
                if not any(self.place.glob(f"manifest-*-{self.token}.json")):
                    self._file(self._process, kind).unlink(missing_ok=True)
            if self._count == 1:
                self.place.rmdir()
            elif not any(self.place.glob(f"{self.token}-*.failed")):  # else it fails since another process did
                note = self._file(self._process, "unfinished")
                note.write_text(str(error), encoding="utf-8")
                note.replace(self._file(self._process, "failed"))  # the others read it whole


def _check_copies(arrays: Mapping[str, Any], copies: Iterable[Mapping[str, int]]) -> None:
    """Raises an error if a Variable that each process has for itself differs between processes."""
    for process, checksums in enumerate(copies):
        for name, value in checksums.items():
            if name not in arrays or arrays[name]["pieces"][0]["crc32"] != value:
                raise FailedPreconditionError(
                    f"{name} differs between processes 0 and {process}, but a checkpoint keeps one value: make all "
                    "processes compute the same, or pass state that differs as an object with state() and restore()"
                )


# A thread that writes while the program continues, and its errors.


class Writing:
    """A background writer: it writes one thing at a time."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._what = ""
        self._is_busy = False
        self._errors: list[BaseException] = []
        # Also when the program ends: by then, all non-daemon threads have ended.
        weakref.finalize(self, _report, self._errors)

    @property
    def is_busy(self) -> bool:
        """True if something is being written."""
        return self._is_busy

    def start(self, write: Callable[[], None], what: str) -> None:
        """Starts a write on a thread; the program does not end before it is done.

        Args:
          write: the function that writes.
          what: the name of what it writes, for messages.
        """
        self._what, self._is_busy = what, True
        threading.Thread(target=self._run, args=(write, user_location()), name="graphc checkpoint").start()

    def _run(self, write: Callable[[], None], location: Location | None) -> None:
        try:
            write()
        except BaseException as error:
            self._errors.append(error.at(location) if isinstance(error, GraphcError) else error)
        with self._condition:
            self._is_busy = False
            self._condition.notify_all()

    def wait(self) -> None:
        """Waits for the thread; raises its error, once.

        Raises:
          DeadlineExceededError: the deadline in force has passed; writing continues.
        """
        with self._condition:
            wait_until(self._condition, lambda: not self._is_busy, lambda: self._what)
        if self._errors:
            raise self._errors.pop()


def _report(errors: list[BaseException]) -> None:
    """Prints errors that no caller has waited for."""
    for error in errors:
        print(f"graphc: a checkpoint was not written: {error}", file=sys.stderr)
