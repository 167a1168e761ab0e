"""The service of a parameter server's task: it has a keeper for each training."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from graphc.cluster.parameters.disk import Disk
from graphc.cluster.parameters.durable_shard import Durability, Keeper
from graphc.cluster.parameters.ledger import Entry
from graphc.cluster.parameters.rules import Applied, RuleText
from graphc.cluster.parameters.shard import Push, Shard
from graphc.cluster.parameters.staleness import Policy
from graphc.cluster.task import Task, hosts
from graphc.compiler.base.errors import FailedPreconditionError

__all__ = ["SERVICE", "Options", "ServerService"]

SERVICE = "parameters"


@dataclass(frozen=True)
class Options:
    """The options of a server.

    Attributes:
      policy: the policy for stale gradients.
      round: the number of gradients in an update; None where each is applied as it arrives.
      folder: the folder that it writes to; None for none.
      durability: how much it writes.
      every: the number of updates between checkpoints.
    """

    policy: Policy
    round: int | None
    folder: str | None
    durability: Durability
    every: int


class _Kept:
    """The keeper of a training, with its lock and its counts."""

    def __init__(self, values: Sequence[Any], rule: RuleText | None, options: Options) -> None:
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

    def start(self, name: str, values: Sequence[Any], rule: RuleText | None, options: Options) -> tuple[int, bool]:
        """Begins to keep values, or resumes from the files of an earlier server.

        A training that is already kept here, as after a call that came too late, continues unchanged.

        Args:
          name: the name of the training.
          values: the buffers.
          rule: the optimizer's update; None if there is none.
          options: the server's options.

        Returns:
          The version, and whether it resumes.
        """
        with self._lock:  # two keepers must not write into one folder
            kept = self._kept.get(name)
            if kept is None:
                self._kept[name] = kept = _Kept(values, rule, options)
                return kept.keeper.shard.version, kept.keeper.recovered
        if rule is not None:
            self.learn(name, rule)
        with kept.lock:
            return kept.keeper.shard.version, True

    def learn(self, name: str, rule: RuleText) -> int:
        """Sets an optimizer's update, if there was none; returns the version."""
        kept, applied = self._of(name), Applied(rule)
        with kept.lock:
            if kept.keeper.shard.rule is None:
                kept.keeper.learn(applied, applied.start(kept.keeper.shard.values))
            return kept.keeper.shard.version

    def pull(self, name: str, buffers: Sequence[int]) -> tuple[int, dict[int, Any]]:
        """Returns the version and the values; see :meth:`graphc.cluster.parameters.Shard.pull`."""
        kept = self._of(name)
        with kept.lock:
            version, values = kept.keeper.shard.version, kept.keeper.shard.pull(buffers)
        found = {buffer: np.asarray(array) for buffer, array in values.items()}
        with kept.lock:
            kept.sent += _size_of(found.values())
        return version, found

    def values(self, name: str) -> tuple[int, list[Any]]:
        """Returns the version and the current values."""
        kept = self._of(name)
        with kept.lock:
            return kept.keeper.shard.version, [np.asarray(array) for array in kept.keeper.shard.values]

    def state(self, name: str) -> list[Any]:
        """Returns the current state of the rule."""
        kept = self._of(name)
        with kept.lock:
            return [np.asarray(array) for array in kept.keeper.shard.state]

    def put(self, name: str, put: Mapping[str, Sequence[Any]]) -> None:
        """Overwrites numbers; see :meth:`graphc.cluster.parameters.durable_shard.Keeper.put`."""
        kept = self._of(name)
        with kept.lock:
            kept.keeper.put(put)

    def push(self, name: str, push: Push) -> Entry:
        """Accepts a push; see :meth:`graphc.cluster.parameters.durable_shard.Keeper.push`."""
        kept = self._of(name)
        with kept.lock:
            kept.received += _size_of([body.values for some in push.kinds.values() for body in some.values()])
            return kept.keeper.push(push)

    def flush(self, name: str) -> int:
        """Ends a round with the gradients at hand; returns the version."""
        kept = self._of(name)
        with kept.lock:
            return kept.keeper.flush()

    def report(self, name: str) -> dict[str, Any]:
        """Returns the data of the report."""
        kept = self._of(name)
        with kept.lock:
            shard = kept.keeper.shard
            return {
                "server": self._task.name, "version": shard.version, "sent": kept.sent, "received": kept.received,
                "bytes": _size_of(shard.values), "staleness": shard.ledger.staleness,
                "repeats": shard.ledger.repeats, "ledger": shard.ledger.table(),
            }  # fmt: skip

    def end(self, name: str) -> None:
        """Ends a training: writes its state if there is a folder, and drops it."""
        self._close(name, save=True)

    def _close(self, name: str, *, save: bool) -> None:
        with self._lock:
            kept = self._kept.pop(name, None)
            if kept is not None:
                with kept.lock:
                    kept.keeper.close(save=save)

    def _of(self, name: str) -> _Kept:
        kept = self._kept.get(name)
        if kept is None:
            raise FailedPreconditionError(f"{self._task.where} keeps nothing of the training {name}: it was restarted")
        return kept

    def _stop(self) -> None:
        for name in [*self._kept]:
            self._close(name, save=False)


def _size_of(arrays: Iterable[Any]) -> int:
    return sum(array.nbytes for array in arrays)


hosts(SERVICE)(ServerService)


def service(task: Task) -> Any:
    """Returns the service of a task; a task in another process finds it by the name of this function."""
    return task.service(SERVICE)
