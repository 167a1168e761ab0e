"""Checkpoint: the state of a training, saved while it continues, and restored on any number of devices."""

from __future__ import annotations

import operator
import os
import secrets
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, Self, cast

import jax
import numpy as np

from graphc.compiler.base.errors import (
    DataLossError,
    FailedPreconditionError,
    FileMissingError,
    GraphcError,
    InvalidArgumentError,
)
from graphc.compiler.base.files import PathLike, as_path
from graphc.compiler.core import Variable, array_of, variable_lock
from graphc.compiler.ops import random
from graphc.training.distribute import current_job
from graphc.training.train.parts import Resumable, encoded, parts_of
from graphc.training.train.restoring import MappedCheckpoint, RestoredVariable, faults, part_of, refuse_trace
from graphc.training.train.storage import (
    ArrayBlock,
    CheckpointWriter,
    ProcessPart,
    SavedCheckpoint,
    Writing,
    entries,
    state_name,
)

# Copies of arrays on the host, made at once, so that training may continue and change the arrays.


class Snapshots:
    """Makes copies, one set at a time, in memory that the next set reuses."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._memory: dict[str, np.ndarray[Any, Any]] = {}

    def take(self, arrays: Mapping[str, jax.Array]) -> list[ArrayBlock]:
        """Copies the parts of arrays that this process writes: of equal shards, the first."""
        # Process 0 writes an array of which each process has its own.
        shards = [
            (name, array, shard)
            for name, array in arrays.items()
            for shard in array.addressable_shards
            if shard.replica_id == 0
        ]
        for _, _, shard in shards:
            shard.data.copy_to_host_async()
        pieces: list[ArrayBlock] = []
        copies: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []
        for name, array, shard in shards:
            is_copy = self._process > 0 and array.is_fully_addressable
            content = np.asarray(shard.data)
            spans = [span.indices(size) for span, size in zip(shard.index, array.shape, strict=True)]
            start, stop = tuple(span[0] for span in spans), tuple(span[1] for span in spans)
            piece = ArrayBlock(name, array.shape, start, stop, content, is_copy)
            if shard.device.platform == "cpu":  # no copy, but the memory of the array itself
                piece = ArrayBlock(name, array.shape, start, stop, self._room(piece.key, content), is_copy)
                copies.append((piece.array, content))
            pieces.append(piece)
        # Two threads copy 1 GB in 80 ms, one thread in 150; copying to new memory would take 280.
        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            list(pool.map(_copy, copies))
        return pieces

    def _room(self, key: str, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        room = self._memory.get(key)
        if room is None or room.shape != like.shape or room.dtype != like.dtype:
            room = self._memory[key] = np.empty(like.shape, like.dtype)
        return room


def _copy(pair: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]) -> None:
    np.copyto(*pair)


_GLOBAL = "global_generator"
_READ_AGAIN = 5
"""Maximum number of attempts to read a checkpoint in a folder of which another program removes old ones."""


class Processes(Protocol):
    """The processes that save together; each makes the same calls in the same order.

    Attributes:
      index: the number of this one, from 0.
      count: the number of processes.
    """

    index: int
    count: int

    def agree(self, what: str, vote: int) -> int:
        """Waits until all processes are here, and returns the smallest of their votes.

        Args:
          what: the next action.
          vote: a number below 2**31.
        """
        ...


class _Job:
    """The processes that ``gx.distribute.initialize`` has found, or this one alone."""

    def __init__(self) -> None:
        self._job = current_job()
        self.index, self.count = (0, 1) if self._job is None else (self._job.rank, self._job.count)
        if self._job is None and jax.process_count() > 1:
            raise _error(
                FailedPreconditionError,
                f"Checkpoint: this process is one of {jax.process_count()} of jax.distributed, which cannot agree on "
                "what they save; call gx.distribute.initialize() in place of jax.distributed.initialize()",
            )

    def agree(self, what: str, vote: int) -> int:
        return vote if self._job is None else self._job.enter(what, vote=vote)


class Checkpoint:
    """Saves Variables and other state of a training in a folder, and restores them.

    :meth:`save` copies the state and returns; a thread writes it while training continues. Arrays are stored as
    safetensors, in one file per process, everything else as JSON. A checkpoint exists once all of it is on disk: a
    crash cannot leave a partial one, and the previous one stays intact. It can be restored on any devices and
    processes: each device gets the part that it needs.

    The state of ``gx.random`` is always included, so a resumed training draws the same numbers.

    Args:
      folder: the folder of the checkpoints; it is created.
      keep: the number of latest checkpoints to keep; None for all.
      processes: the processes that save together; those of ``gx.distribute.initialize()`` when None.
      timeout: seconds that a process waits for the others' files.
      **parts: the objects to save, by name: Variables, layers, optimizers, random generators, objects with
        ``variables`` or with ``state()`` and ``restore(state)`` (such as a dataset's iterator), and lists, tuples and
        dicts of these.
        Each save collects the Variables again, so later ones are saved, too.

    Attributes:
      folder: the folder of the checkpoints.
      parts: the saved objects, by name.

    Raises:
      InvalidTypeError: a part is something else.
      InvalidArgumentError: there are no parts, or ``keep`` is below 1.

    Example:
      >>> import graphc as gx, tempfile
      >>> model, optimizer = gx.layers.Dense(1, in_features=2), gx.optim.Adam(1e-2)
      >>> optimizer.build(model.trainable_variables)
      >>> with gx.train.Checkpoint(tempfile.mkdtemp(), model=model, optimizer=optimizer) as checkpoint:
      ...     checkpoint.save(100)
      >>> model.kernel.assign(gx.zeros((2, 1)))
      Variable(...)
      >>> checkpoint.restore(), bool(gx.all(model.kernel == 0.0))
      (100, False)
    """

    def __init__(
        self,
        folder: PathLike,
        *,
        keep: int | None = 5,
        processes: Processes | None = None,
        timeout: float = 600.0,
        **parts: Any,
    ) -> None:
        self.folder = as_path(folder)
        if keep is not None and (isinstance(keep, bool) or not isinstance(keep, int) or keep < 1):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise _error(InvalidArgumentError, f"Checkpoint: keep must be an int from 1, or None for all, got {keep!r}")
        if not parts or _GLOBAL in parts:
            why = f"{_GLOBAL} is a part of every checkpoint" if parts else "there is nothing to save"
            raise _error(
                InvalidArgumentError, f"Checkpoint: {why}; give parts such as model=model, optimizer=optimizer"
            )
        self.parts = parts
        self._keep = keep
        self._timeout = timeout
        self._processes: Processes = _Job() if processes is None else processes
        self._snapshots = Snapshots(self._processes.index)
        self._writing = Writing()
        self._collected()  # raises an error here for objects that cannot be saved

    @property
    def latest(self) -> int | None:
        """The step of the latest checkpoint in the folder; None if there is none."""
        checkpoints = entries(self.folder)
        return checkpoints[-1].step if checkpoints else None

    @property
    def steps(self) -> list[int]:
        """The steps of the checkpoints in the folder, the latest last."""
        return [entry.step for entry in entries(self.folder)]

    def save(self, step: int | None = None, *, wait: bool = False) -> None:
        """Copies the current state and starts to write it; waits for an earlier save that is still being written.

        Args:
          step: the number of the checkpoint; one of that number is replaced. The value of the part ``step`` when None,
            or the number after the latest.
          wait: whether to wait until it is written.

        Raises:
          GraphcError: the previous save failed; this one is not begun.
          InvalidArgumentError: ``step`` is not an int of at least 0.
          UnimplementedError: called in a compiled function.
        """
        refuse_trace("Checkpoint.save")
        self.wait()
        step = self._step(step)
        vote = secrets.randbits(31)
        token = f"{self._processes.agree(f'the checkpoint of step {step}', vote):08x}"
        part = self._part()
        writer = CheckpointWriter(
            self.folder, step, token, self._processes.index, self._processes.count, self._keep, self._timeout
        )
        self._writing.start(lambda: writer.write(part), f"the checkpoint of step {step} in {self.folder}")
        if wait:
            self.wait()

    def wait(self) -> None:
        """Waits until the pending save is on disk.

        Raises:
          ResourceExhaustedError: the disk is full.
          GraphcError: another failure of a save.
          DeadlineExceededError: the deadline in force has passed; writing continues.
        """
        self._writing.wait()

    def restore(self, which: int | PathLike | None = None, *, only: str | Collection[str] | None = None) -> int:
        """Restores Variables and other parts from a checkpoint.

        Compares everything and verifies every checksum before it changes anything.

        Args:
          which: a step, the folder of a step, or another folder of checkpoints, of which the latest is taken; the
            latest of this folder when None.
          only: the parts to restore; all, and the state of ``gx.random``, when None.

        Returns:
          The step.

        Raises:
          FileMissingError: the checkpoint does not exist.
          InvalidArgumentError: the checkpoint has other Variables than the parts, or of other shapes or dtypes; the
            message lists them.
          DataLossError: a file is damaged; the message names it.
          UnimplementedError: called in a compiled function.
        """
        refuse_trace("Checkpoint.restore")
        self.wait()
        names = self._names(only)
        for _ in range(_READ_AGAIN):
            entry = self._entry(which)
            try:
                return self._restored(entry, names)
            except (DataLossError, FileMissingError):
                if entry.manifest.exists():
                    raise
        raise _error(DataLossError, f"Checkpoint.restore: {self.folder} is changed again and again while it is read")

    def _restored(self, entry: SavedCheckpoint, names: set[str]) -> int:
        saved = MappedCheckpoint(entry.manifest)
        variables, states = self._collected()
        variables = {name: variable for name, variable in variables.items() if part_of(name) in names}
        states = {name: state for name, state in states.items() if part_of(name) in names}
        if text := faults(saved.kinds, variables, states, names):
            text = f"the checkpoint of step {saved.step} does not fit: {text}"
            raise _error(InvalidArgumentError, f"Checkpoint.restore: {text}")
        process = self._process_of(saved, states)
        targets = [RestoredVariable(variable, saved, name) for name, variable in variables.items()]
        for target in targets:
            target.verify()
        loaded = {name: saved.state(process, name) for name in states}
        for target in targets:
            target.assign()
        for name, state in loaded.items():
            states[name].restore(state)
        return saved.step

    def _collected(self) -> tuple[dict[str, Variable], dict[str, Resumable]]:
        variables: dict[str, Variable] = {}
        states: dict[str, Resumable] = {}
        for name, part in {**self.parts, _GLOBAL: random.get_global_generator()}.items():
            some, others = parts_of(name, part)
            variables |= some
            states |= others
        return variables, states

    def _step(self, step: Any) -> int:
        if step is None:
            counter = self.parts.get("step")
            step = (self.latest or 0) + 1 if counter is None else counter
        if isinstance(step, Variable) or hasattr(step, "item"):
            step = step.item()
        if isinstance(step, bool) or not isinstance(step, int) or step < 0:
            raise _error(InvalidArgumentError, f"Checkpoint.save: step must be an int from 0, got {step!r:.60}")
        return step

    def _part(self) -> ProcessPart:
        """Returns the current state, on the host."""
        variables, states = self._collected()
        arrays: dict[str, np.ndarray[Any, Any]] = {}
        data = {name: encoded(name, state.state(), arrays) for name, state in states.items()}
        with variable_lock:  # all at one moment; arrays in use are counted, so none is donated before it is copied
            values = {name: array_of(variable) for name, variable in variables.items()}
        pieces = self._snapshots.take(values)
        index = self._processes.index
        return ProcessPart(
            [*pieces, *(ArrayBlock.whole(state_name(index, name), array) for name, array in arrays.items())], data
        )

    def _names(self, only: str | Collection[str] | None) -> set[str]:
        parts = {*self.parts, _GLOBAL}
        names = parts if only is None else {only} if isinstance(only, str) else set(only)
        if unknown := names - parts:
            raise _error(
                InvalidArgumentError,
                f"Checkpoint.restore: there is no part {', '.join(map(repr, sorted(unknown)))}; the parts are "
                f"{', '.join(sorted(parts))}",
            )
        return names

    def _entry(self, which: int | PathLike | None) -> SavedCheckpoint:
        folder, step = self.folder, which
        if hasattr(which, "__index__"):
            step = operator.index(cast("int", which))
        elif which is not None:
            folder, step = as_path(cast("PathLike", which)), None
            if folder.name.startswith("step-") and folder.name[5:].isdecimal():
                folder, step = folder.parent, int(folder.name[5:])
        checkpoints = entries(folder)
        for entry in reversed(checkpoints):
            if step is None or entry.step == step:
                return entry
        there = (
            f"it has those of the steps {', '.join(str(entry.step) for entry in checkpoints)}"
            if checkpoints
            else "it has none"
        )
        wanted = "no checkpoint" if step is None else f"no checkpoint of step {step}"
        raise _error(FileMissingError, f"Checkpoint.restore: {folder} has {wanted}; {there}")

    def _process_of(self, saved: MappedCheckpoint, states: Mapping[str, Any]) -> int:
        """Returns the process whose states this one takes over."""
        index, count = self._processes.index, self._processes.count
        if len(saved.states) == count:
            return index
        first, *others = (saved.facts_of(process, states) for process in range(len(saved.states)))
        if any(other != first for other in others):
            raise _error(
                FailedPreconditionError,
                f"Checkpoint.restore: {', '.join(states)} had a state of its own in each of {len(saved.states)} "
                f"processes, and there are {count} now; restore the other parts with only=, and begin the data anew",
            )
        return 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.wait()

    def __repr__(self) -> str:
        return f"<Checkpoint {str(self.folder)!r} of {', '.join(self.parts)}, steps {self.steps}>"


def _error(kind: type[Any], message: str) -> GraphcError:
    return kind(message).here()
