"""The service of a parameter server's task: it has a keeper for each training."""

from __future__ import annotations

import json
import math
import os
import secrets
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import jax.numpy as jnp
import numpy as np

from graphc.cluster.parameters.durable_shard import Durability, Keeper
from graphc.cluster.parameters.rules import Applied, RuleText
from graphc.cluster.parameters.shard import Push, PushEntry, Shard
from graphc.cluster.parameters.staleness import Policy
from graphc.cluster.task import Task, hosts
from graphc.compiler.base.errors import FailedPreconditionError
from graphc.compiler.base.files import file_errors
from graphc.training.train.files import (
    ArrayBlock,
    CheckpointWriter,
    MappedCheckpoint,
    ProcessPart,
    Writing,
    decoded,
    encoded,
    entries,
)

# The files of a parameter server: checkpoints in the usual format, and a log of later changes.
#
# A log record is its length, its checksum, the length of a header, the header (JSON: everything but arrays, and the
# types of the arrays), and the bytes of the arrays. A crash may truncate the last record; all records before it are
# complete.

_KEPT = 2


class Disk:
    """The folder that one parameter server writes to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writing = Writing()
        self._log: Any = None
        self._number = 0

    def load(self) -> tuple[Mapping[str, Any], Iterator[Mapping[str, Any]]] | None:
        """Returns the last checkpoint and the records since; None if there is none."""
        checkpoints = entries(self._folder)
        if not checkpoints:
            return None
        saved = MappedCheckpoint(checkpoints[-1].manifest)
        state = decoded(saved.states[0]["server"], saved.verified)
        self._number = max([state["log"], *(number for number, _ in self._logs())])
        logs = [path for number, path in self._logs() if number >= state["log"]]
        return state["state"], (record for path in logs for record in _records(path))

    def append(self, record: Mapping[str, Any], *, sync: bool) -> None:
        """Writes a record; returns when it is on disk if ``sync``, else when it will outlive the process."""
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
        """Begins a new log, and writes a checkpoint on a thread; a second checkpoint waits for the first."""
        self._writing.wait()
        first = self._log is None
        number = self._begin_log()
        arrays: dict[str, np.ndarray[Any, Any]] = {}
        content = {"server": encoded("server", {"log": number, "state": _on_host(state)}, arrays)}
        part = ProcessPart([ArrayBlock.whole(name, array) for name, array in arrays.items()], content)
        writer = CheckpointWriter(self._folder, version, secrets.token_hex(4), 0, 1, _KEPT, 600.0)
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

    def _write(self, writer: CheckpointWriter, part: ProcessPart, number: int) -> None:
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
            offset = 4 + int.from_bytes(payload[:4], "little")
            header = json.loads(payload[4:offset])
            arrays: dict[str, Any] = {}
            for name, (kind, shape) in header["arrays"].items():
                dtype, size = np.dtype(kind), math.prod(shape)
                arrays[name] = np.frombuffer(payload, dtype, size, offset).reshape(shape)
                offset += size * dtype.itemsize
            yield decoded(header["record"], arrays.__getitem__)


def _on_host(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _on_host(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        items = [_on_host(item) for item in cast("Sequence[Any]", value)]
        return tuple(items) if isinstance(value, tuple) else items
    return np.asarray(value) if hasattr(value, "__array__") and not np.isscalar(value) else value


SERVICE = "parameters"


@dataclass(frozen=True)
class ServerOptions:
    """The options of a server."""

    policy: Policy
    round: int | None  # the number of gradients in an update; None where each is applied as it arrives
    folder: str | None
    durability: Durability
    every: int


class _Kept:
    """The keeper of a training, with its lock and its counts."""

    def __init__(self, values: Sequence[Any], rule: RuleText | None, options: ServerOptions) -> None:
        self.lock = threading.Lock()
        self.options = options
        applied = None if rule is None else Applied(rule)
        arrays = [jnp.asarray(array) for array in values]
        state = [] if applied is None else applied.start(arrays)
        shard = Shard(arrays, applied, state, policy=options.policy, round=options.round)
        store = None if options.folder is None else Disk(Path(options.folder))
        self.keeper = Keeper(shard, store, options.durability, options.every)
        self.sent = self.received = 0


class ServerService:
    """Keeps a part of the Variables of trainings, each under its name."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._kept: dict[str, _Kept] = {}
        self._lock = threading.Lock()

    def start(
        self, name: str, values: Sequence[Any], rule: RuleText | None, options: ServerOptions
    ) -> tuple[int, bool]:
        """Begins to keep values, or resumes from the files of an earlier server.

        A training that is already kept here, as after a call that came too late, continues unchanged.

        Returns:
          The version, and whether it resumes.
        """
        with self._lock:  # two keepers must not write into one folder
            entry = self._kept.get(name)
            if entry is None:
                self._kept[name] = entry = _Kept(values, rule, options)
                return entry.keeper.shard.version, entry.keeper.recovered
        if rule is not None:
            self.learn(name, rule)
        with entry.lock:
            return entry.keeper.shard.version, True

    def learn(self, name: str, rule: RuleText) -> int:
        """Sets an optimizer's update, if there was none; returns the version."""
        entry, applied = self._of(name), Applied(rule)
        with entry.lock:
            if entry.keeper.shard.rule is None:
                entry.keeper.learn(applied, applied.start(entry.keeper.shard.values))
            return entry.keeper.shard.version

    def pull(self, name: str, buffers: Sequence[int]) -> tuple[int, dict[int, Any]]:
        """Returns the version and the values; see :meth:`graphc.cluster.parameters.Shard.pull`."""
        entry = self._of(name)
        with entry.lock:
            version, values = entry.keeper.shard.version, entry.keeper.shard.pull(buffers)
        pulled = {buffer: np.asarray(array) for buffer, array in values.items()}
        with entry.lock:
            entry.sent += _size_of(pulled.values())
        return version, pulled

    def values(self, name: str) -> tuple[int, list[Any]]:
        """Returns the version and the current values."""
        entry = self._of(name)
        with entry.lock:
            return entry.keeper.shard.version, [np.asarray(array) for array in entry.keeper.shard.values]

    def state(self, name: str) -> list[Any]:
        """Returns the current state of the rule."""
        entry = self._of(name)
        with entry.lock:
            return [np.asarray(array) for array in entry.keeper.shard.state]

    def put(self, name: str, put: Mapping[str, Sequence[Any]]) -> None:
        """Overwrites numbers; see :meth:`graphc.cluster.parameters.durable_shard.Keeper.put`."""
        entry = self._of(name)
        with entry.lock:
            entry.keeper.put(put)

    def push(self, name: str, push: Push) -> PushEntry:
        """Accepts a push; see :meth:`graphc.cluster.parameters.durable_shard.Keeper.push`."""
        entry = self._of(name)
        with entry.lock:
            entry.received += _size_of([body.values for some in push.kinds.values() for body in some.values()])
            return entry.keeper.push(push)

    def flush(self, name: str) -> int:
        """Ends a round with the gradients at hand; returns the version."""
        entry = self._of(name)
        with entry.lock:
            return entry.keeper.flush()

    def report(self, name: str) -> dict[str, Any]:
        """Returns the data of the report."""
        entry = self._of(name)
        with entry.lock:
            shard = entry.keeper.shard
            return {
                "server": self._task.name, "version": shard.version, "sent": entry.sent, "received": entry.received,
                "bytes": _size_of(shard.values), "staleness": shard.ledger.staleness,
                "repeats": shard.ledger.repeats, "ledger": shard.ledger.table(),
            }  # fmt: skip

    def end(self, name: str) -> None:
        """Ends a training: writes its state if there is a folder, and drops it."""
        self._close(name, save=True)

    def _close(self, name: str, *, save: bool) -> None:
        with self._lock:
            entry = self._kept.pop(name, None)
            if entry is not None:
                with entry.lock:
                    entry.keeper.close(save=save)

    def _of(self, name: str) -> _Kept:
        entry = self._kept.get(name)
        if entry is None:
            raise FailedPreconditionError(f"{self._task.where} keeps nothing of the training {name}: it was restarted")
        return entry

    def _stop(self) -> None:
        for name in [*self._kept]:
            self._close(name, save=False)


def _size_of(arrays: Iterable[Any]) -> int:
    return sum(array.nbytes for array in arrays)


hosts(SERVICE)(ServerService)


def service(task: Task) -> Any:
    """Returns the service of a task; a task in another process finds it by the name of this function."""
    return task.service(SERVICE)
