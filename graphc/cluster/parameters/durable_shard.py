"""Keeper: a shard that applies each push exactly once, and keeps pushes beyond the death of its process on request.

It has neither threads nor clocks: its host makes one call after another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal, Protocol

import jax as _jax

from graphc.cluster.parameters.shard import Body, Push, PushEntry, Rule, Shard
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError

jnp: Any = _jax.numpy  # its functions are only partly annotated

Durability = Literal["none", "checkpoint", "sync"]
"""Source of the state of a restarted server: ``"none"``: no source, ``"checkpoint"``: its last checkpoint, with a
ledger of the updates lost since, ``"sync"``: every update that it has answered."""

_FLUSH = {"flush": True}


class ShardStorage(Protocol):
    """Storage for state that must outlive a server."""

    def load(self) -> tuple[Mapping[str, Any], Iterable[Mapping[str, Any]]] | None:
        """Returns the last checkpoint and the records since; None if there is no checkpoint."""
        ...

    def append(self, record: Mapping[str, Any], *, sync: bool) -> None:
        """Writes a record; returns when it is on disk if ``sync``, else when it will outlive the process."""
        ...

    @property
    def is_busy(self) -> bool:
        """True if a checkpoint is being written; the next one must wait."""
        ...

    def checkpoint(self, state: Mapping[str, Any], version: int) -> None:
        """Begins to write a checkpoint; records appended from now on come after it."""
        ...

    def close(self) -> None:
        """Waits until everything is written; then another server may continue from the files."""
        ...


class Keeper:
    """A shard with its store."""

    def __init__(
        self, shard: Shard, store: ShardStorage | None = None, durability: Durability = "none", every: int = 100
    ) -> None:
        self.shard = shard
        self._store, self._durability, self._every = store, durability, every
        self._records: list[Mapping[str, Any]] = []
        self._kept_state: Sequence[Any] = ()
        self.recovered = self._recover()  # whether it resumes from the files of an earlier server
        self._saved = -1
        self._checkpoint(due=True)

    @property
    def keeps_all(self) -> bool:
        """True if a successor would resume with everything that this one has answered."""
        return self._durability == "sync"

    def push(self, push: Push) -> PushEntry:
        """Accepts a push; a repeat changes nothing, and is answered with the fate of the first."""
        earlier = self.shard.ledger.find(push.source, push.number)
        if earlier is not None:
            return earlier
        if self._records:
            raise _no_rule()
        entry, push = self.shard.judge(push)
        data = _data(push) if self._durability == "sync" and entry.fate in ("applied", "waiting") else None
        self.shard.take(entry, push, lambda: self._append({"entry": asdict(entry), "push": data}))
        self._checkpoint()
        return self.shard.ledger.latest(push.source, push.number) or entry

    def put(self, put: Mapping[str, Sequence[Any]]) -> None:
        """Overwrites numbers: ``values`` and ``state`` are lists of the place, the start, and the numbers."""
        if self._records:
            raise _no_rule()
        if self._store is not None:
            self._store.append({"put": put}, sync=self._durability == "sync")
        self._put(put)

    def _put(self, put: Mapping[str, Sequence[Any]]) -> None:
        for kind, arrays in (("values", self.shard.values), ("state", self.shard.state)):
            for index, start, numbers in put[kind]:
                old = jnp.asarray(arrays[index])
                flat = old.reshape(-1).at[start : start + numbers.size].set(numbers.reshape(-1).astype(old.dtype))
                arrays[index] = flat.reshape(old.shape)

    def flush(self) -> int:
        """Ends a round with the gradients at hand; returns the version."""
        if self.shard.waiting:
            self.shard.flush(lambda: self._append(_FLUSH))
            self._checkpoint()
        return self.shard.version

    def learn(self, rule: Rule, state: Sequence[Any]) -> None:
        """Sets the rule and its initial state, if there was none.

        Records of an earlier server that only the rule can apply are applied now.
        """
        restored = [*self._kept_state] if len(self._kept_state) == len(state) else list(state)
        self.shard.rule, self.shard.state = rule, restored
        records, self._records = self._records, []
        self._replay(records)
        self._checkpoint(due=True)

    def close(self, *, save: bool = False) -> None:
        """Waits until everything is written, with ``save`` also a last checkpoint; nothing may be pushed afterwards."""
        if self._store is not None:
            self._checkpoint(due=save and self.shard.version != self._saved)
            self._store.close()

    def _append(self, record: Mapping[str, Any]) -> None:
        """Writes a record of a computed update, so that an update that fails does not get into the log."""
        if self._store is not None:
            self._store.append(record, sync=self._durability == "sync")

    def _checkpoint(self, *, due: bool = False) -> None:
        if self._store is None or self.shard.waiting or self._records:  # otherwise those would be lost
            return
        if due or (self.shard.version - self._saved >= self._every and not self._store.is_busy):
            self._saved = self.shard.version
            state = {"values": list(self.shard.values), "state": list(self.shard.state), "rest": self.shard.state_of()}
            self._store.checkpoint(state, self._saved)

    def _recover(self) -> bool:
        saved = None if self._store is None else self._store.load()
        if saved is None:
            return False
        state, records = saved
        kinds = [[(array.shape, array.dtype) for array in some] for some in (state["values"], self.shard.values)]
        if kinds[0] != kinds[1]:
            raise FailedPreconditionError(
                "the folder of a parameter server holds another training, whose Variables have other sizes or lie on "
                "other servers; give another folder, or remove it"
            )
        self.shard.restore(state["values"], state["state"], state["rest"])
        self._kept_state = state["state"]
        waiting = [*records]
        if self.shard.rule is None and any(map(_has_gradients, waiting)):
            self._records = waiting
        else:
            self._replay(waiting)
        return True

    def _replay(self, records: Iterable[Mapping[str, Any]]) -> None:
        for record in records:
            if "flush" in record:
                self.shard.flush()
                continue
            if "put" in record:
                self._put(record["put"])
                continue
            entry, data = PushEntry(**record["entry"]), record["push"]
            if data is not None:
                self.shard.take(entry, _push(entry, data))
            elif entry.fate in ("applied", "waiting"):
                self.shard.ledger.add(replace(entry, fate="lost"))
            else:
                self.shard.ledger.add(entry)


def _no_rule() -> InvalidArgumentError:
    return InvalidArgumentError(
        "ParameterServer: the folder holds updates of an optimizer, which are replayed once it is known; schedule a "
        "step that calls apply_gradients first"
    )


def _has_gradients(record: Mapping[str, Any]) -> bool:
    push: Any = record.get("push")
    return bool(push and push.get("gradients"))


def _data(push: Push) -> dict[str, Any]:
    return {"version": push.version, **{kind: list(map(_body, some.items())) for kind, some in push.kinds.items()}}


def _body(item: tuple[int, Body]) -> Sequence[Any]:
    buffer, body = item
    return [buffer, body.values, body.cover]


def _push(entry: PushEntry, data: Mapping[str, Any]) -> Push:
    bodies = {kind: {buffer: Body(*rest) for buffer, *rest in some} for kind, some in data.items() if kind != "version"}
    return Push(entry.source, entry.number, entry.worker, entry.rows, data["version"], **bodies)
