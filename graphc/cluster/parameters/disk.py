"""The files of a parameter server: checkpoints in the usual format, and a log of later changes.

A log record is its length, its checksum, the length of a header, the header (JSON: everything but arrays, and the types
of the arrays), and the bytes of the arrays. A crash may truncate the last record; all records before it are complete.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from graphc.compiler.base.files import file_errors
from graphc.training.train.files import Part, Piece, Saved, Writer, Writing, decoded, encoded, entries

__all__ = ["Disk"]

_KEPT = 2


class Disk:
    """The folder that one parameter server writes to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writing = Writing()
        self._log: Any = None
        self._number = 0

    def load(self) -> tuple[Mapping[str, Any], Iterator[Mapping[str, Any]]] | None:
        """Returns the last checkpoint and the records since; None if there is none.

        Raises:
          DataLossError: the checkpoint is damaged.
        """
        found = entries(self._folder)
        if not found:
            return None
        saved = Saved(found[-1].manifest)
        state = decoded(saved.states[0]["server"], saved.verified)
        self._number = max([state["log"], *(number for number, _ in self._logs())])
        logs = [path for number, path in self._logs() if number >= state["log"]]
        return state["state"], (record for path in logs for record in _records(path))

    def append(self, record: Mapping[str, Any], *, sync: bool) -> None:
        """Writes a record; returns when it is on disk if ``sync``, else when it will outlive the process.

        Raises:
          ResourceExhaustedError: the disk is full.
        """
        arrays: dict[str, np.ndarray[Any, Any]] = {}
        content = encoded("push", _on_host(record), arrays)
        types = {name: [array.dtype.name, array.shape] for name, array in arrays.items()}
        header = json.dumps({"record": content, "arrays": types}).encode()
        payload = b"".join([_number(len(header)), header, *(array.tobytes() for array in arrays.values())])
        if self._log is None:  # a server that resumes in the middle of a round has not written a checkpoint
            self._begin_log()
        log: Any = self._log
        with file_errors(self._folder):
            log.write(_number(len(payload)) + _number(zlib.crc32(payload)) + payload)
            log.flush()
            if sync:
                os.fsync(log.fileno())

    @property
    def is_busy(self) -> bool:
        """True if a checkpoint is being written."""
        return self._writing.is_busy

    def checkpoint(self, state: Mapping[str, Any], version: int) -> None:
        """Begins a new log, and writes a checkpoint on a thread; a second checkpoint waits for the first.

        Raises:
          ResourceExhaustedError: the disk is full, now or when the one before was written.
        """
        self._writing.wait()
        first = self._log is None
        number = self._begin_log()
        arrays: dict[str, np.ndarray[Any, Any]] = {}
        held = {"server": encoded("server", {"log": number, "state": _on_host(state)}, arrays)}
        part = Part([Piece.whole(name, array) for name, array in arrays.items()], held)
        writer = Writer(self._folder, version, secrets.token_hex(4), 0, 1, _KEPT, 600.0)
        if first:  # a server that has answered a push must be able to resume
            self._write(writer, part, number)
        else:
            self._writing.start(lambda: self._write(writer, part, number), f"a checkpoint in {self._folder}")

    def close(self) -> None:
        """Waits until everything is written; nothing may be written afterwards."""
        self._writing.wait()
        if self._log is not None:
            self._log.close()

    def _begin_log(self) -> int:
        """Begins a log after the existing ones; returns its number."""
        self._number += 1
        with file_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            if self._log is not None:
                self._log.close()
            self._log = (self._folder / f"log-{self._number}").open("wb")
        return self._number

    def _write(self, writer: Writer, part: Part, number: int) -> None:
        writer.write(part)
        for old, path in self._logs():
            if old < number:
                path.unlink(missing_ok=True)

    def _logs(self) -> list[tuple[int, Path]]:
        return sorted((int(path.name[4:]), path) for path in self._folder.glob("log-*") if path.name[4:].isdecimal())


def _number(value: int) -> bytes:
    return value.to_bytes(4, "little")


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    with file_errors(path), path.open("rb") as file:
        while len(head := file.read(8)) == 8:
            payload = file.read(int.from_bytes(head[:4], "little"))
            if zlib.crc32(payload) != int.from_bytes(head[4:], "little"):
                return
            place = 4 + int.from_bytes(payload[:4], "little")
            header = json.loads(payload[4:place])
            arrays: dict[str, Any] = {}
            for name, (kind, shape) in header["arrays"].items():
                dtype, size = np.dtype(kind), math.prod(shape)
                arrays[name] = np.frombuffer(payload, dtype, size, place).reshape(shape)
                place += size * dtype.itemsize
            yield decoded(header["record"], arrays.__getitem__)


def _on_host(value: Any) -> Any:
    """Converts JAX arrays in a nested structure to NumPy arrays."""
    if isinstance(value, Mapping):
        return {str(key): _on_host(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        items = [_on_host(item) for item in cast("Sequence[Any]", value)]
        return tuple(items) if isinstance(value, tuple) else items
    return np.asarray(value) if hasattr(value, "__array__") and not np.isscalar(value) else value
