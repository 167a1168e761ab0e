"""The servers of a training, and the program's copies of the Variables and the optimizer's state that they keep."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from graphc.cluster.parameters.layout import ShardLayout
from graphc.cluster.parameters.rules import RuleText, rule_text
from graphc.cluster.parameters.service import SERVICE, ServerOptions
from graphc.cluster.parameters.tasks import TrainingTasks
from graphc.compiler.base import deadline, pause
from graphc.compiler.base.errors import (
    AlreadyExistsError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
)
from graphc.compiler.core import Variable
from graphc.training.optim import Optimizer


class StateSlice(NamedTuple):
    """A slice of a leaf of a server's state that belongs to one of the optimizer's Variables."""

    name: str
    leaf: int
    offset: int | None = None  # the slice's start in the leaf; None for the whole leaf
    start: int = 0
    size: int = 0


def slots_of(optimizer: Optimizer, layout: ShardLayout, server: int, rule: RuleText) -> list[StateSlice]:
    """Returns where a server has the state of an optimizer; the state of tables stays on the servers."""
    index = {variable.name: position for position, variable in enumerate(optimizer.targets)}
    buffers = [layout.servers[server][position] for position in rule.buffers]
    slots: list[StateSlice] = []
    if rule.by_element:
        names = optimizer.state_names([jax.ShapeDtypeStruct((buffer.size,), buffer.dtype) for buffer in buffers])
        for leaf, (name, owner) in enumerate(zip(names, rule.owners, strict=True)):
            pieces = () if owner is None else buffers[owner].pieces
            kind = name.rpartition("/")[0]
            slots += [StateSlice(name, leaf)] if owner is None else []
            slots += [
                StateSlice(f"{kind}/{index[piece.name]}", leaf, piece.offset, piece.row * piece.width, piece.size)
                for piece in pieces
                if piece.name in index
            ]
        return slots
    order = [piece.name for buffer in buffers for piece in buffer.pieces if piece.name in index]
    types = [jax.ShapeDtypeStruct(layout.shapes[name], layout.variables[name].dtype) for name in order]
    for leaf, name in enumerate(optimizer.state_names(types)):
        kind, _, position = name.rpartition("/")
        slots.append(
            StateSlice(f"{kind}/{index[order[int(position)]]}" if kind and position.isdecimal() else name, leaf)
        )
    return slots


def collected(
    old: Mapping[str, Any], slots: Sequence[Sequence[StateSlice]], states: Sequence[Sequence[Any]]
) -> dict[str, Any]:
    """Returns the state of an optimizer by name, from the leaves of each server's state."""
    new = {name: np.array(array) for name, array in old.items()}
    for some, leaves in zip(slots, states, strict=True):
        for slot in some:
            leaf, array = np.asarray(leaves[slot.leaf]), new[slot.name]
            if slot.offset is None:
                new[slot.name] = leaf.reshape(array.shape)
            else:
                array.reshape(-1)[slot.start : slot.start + slot.size] = leaf[slot.offset : slot.offset + slot.size]
    return new


LOST = (UnavailableError, DeadlineExceededError, NotFoundError, FailedPreconditionError)
"""Errors that mean that a task is gone, or has lost the training."""

_RETRY_SECONDS = 0.2


class ServerGroup:
    """The servers of one training."""

    def __init__(self, tasks: TrainingTasks, name: str, options: ServerOptions, timeout: float) -> None:
        self._tasks, self._name, self._options, self._timeout = tasks, name, options, timeout
        self.names = tasks.names("ps")
        self.layout: ShardLayout | None = None
        self.starts = [0] * len(self.names)  # the number of times that each was started
        self._rules: list[RuleText | None] = [None] * len(self.names)
        self._optimizer: Any = None
        self._updated: set[str] = set()
        self._lost_servers: dict[int, UnavailableError] = {}
        self._lock = threading.RLock()

    def start(self, layout: ShardLayout) -> list[int]:
        """Starts all servers; returns their versions, which are not 0 if they resume from a folder."""
        self.layout = layout
        return [self._start(server) for server in range(len(self.names))]

    def learn(self, optimizer: Any, updated: set[str]) -> dict[int, int]:
        """Sends an optimizer to all servers; a second one is refused.

        Returns:
          The versions of the servers that have just learned it, by index.
        """
        if self._optimizer is not None:
            if self._optimizer is not optimizer or self._updated != updated:
                raise InvalidArgumentError(
                    "ParameterServer: steps must update the same Variables with the same optimizer as the first one; "
                    "use one optimizer for the same Variables in all steps"
                )
            return {}
        layout = self._known
        self._rules = [rule_text(optimizer, layout, server, updated) for server in range(len(self.names))]
        self._optimizer, self._updated = optimizer, updated
        return {server: self.call(server, "learn", rule) for server, rule in enumerate(self._rules) if rule is not None}

    def state(self) -> dict[str, Any]:
        """Returns the current state of the optimizer, by name."""
        if self._optimizer is None:
            return {}
        states = self.all("state")
        old = {name: variable.numpy() for name, variable in self._optimizer.named_variables().items()}
        return collected(old, [self._slots(server) for server in range(len(self.names))], states)

    def _slots(self, server: int) -> list[StateSlice]:
        rule = self._rules[server]
        return [] if rule is None else slots_of(self._optimizer, self._known, server, rule)

    def put(self, values: Mapping[str, Any], state: Mapping[str, Any]) -> None:
        """Overwrites Variables, and Variables of the optimizer's state, by name."""
        for server, buffers in enumerate(self._known.servers):
            put: dict[str, list[Any]] = {"values": [], "state": []}
            for index, buffer in enumerate(buffers):
                for piece in buffer.pieces:
                    if piece.name in values:
                        first = piece.row * piece.width
                        part = np.asarray(values[piece.name]).reshape(-1)[first : first + piece.size]
                        put["values"].append((index, piece.offset, part))
            for slot in self._slots(server) if state else ():
                if slot.name in state:
                    flat = np.asarray(state[slot.name]).reshape(-1)
                    part = flat if slot.offset is None else flat[slot.start : slot.start + slot.size]
                    put["state"].append((slot.leaf, slot.offset or 0, part))
            if any(put.values()):
                starts = self.starts[server]
                try:
                    self.call(server, "put", put)
                except LOST:
                    self.again(server, starts)
                    self.call(server, "put", put)

    @property
    def by_element(self) -> bool:
        """True if a step may omit the gradients of some Variables."""
        return all(rule is None or rule.by_element for rule in self._rules)

    def call(self, server: int, method: str, *arguments: Any) -> Any:
        """Calls one server, within the deadline."""
        with deadline(self._timeout):
            return self._tasks.peer("ps", server).call(SERVICE, method, self._name, *arguments)

    def all(self, method: str, *arguments: Any) -> list[Any]:
        """Calls all servers at once; restarts one that is gone, and calls it again."""
        starts = [*self.starts]
        with deadline(self._timeout):
            peers = [self._tasks.peer("ps", server) for server in range(len(self.names))]
            started = [peer.start(SERVICE, method, self._name, *arguments) for peer in peers]
            answers: list[Any] = []
            for pending in started:
                try:
                    answers.append(pending.result())
                except LOST:
                    answers.append(None)
        for server, answer in enumerate(answers):
            if answer is None:
                self.again(server, starts[server])
                answers[server] = self.call(server, method, *arguments)
        return answers

    def again(self, server: int, starts: int) -> int | None:
        """Restarts a server that does not answer, from its files.

        Returns:
          Its version; None if it does answer, or was already restarted.
        """
        with self._lock:
            if self.starts[server] != starts:
                return None
            try:
                self.call(server, "report")
                return None
            except LOST as error:
                if self._options.durability == "none":
                    if server not in self._lost_servers:
                        self._lost_servers[server] = UnavailableError(
                            f"the parameter server {self.names[server]} is gone with its Variables: "
                            f"{error.message}; give folder= to ParameterServer, so that it can be restarted"
                        )
                    raise self._lost_servers[server] from error
            end = time.monotonic() + self._timeout
            while True:
                try:
                    self._tasks.again("ps", server, self._timeout)
                    return self._start(server)
                except (*LOST, AlreadyExistsError) as error:  # its address becomes free shortly after its end
                    if time.monotonic() > end:
                        raise UnavailableError(
                            f"the parameter server {self.names[server]} was not back within "
                            f"{self._timeout:g} s: {error.message}"
                        ) from error
                    pause(_RETRY_SECONDS, f"the parameter server {self.names[server]} to be back")

    def values(self) -> dict[str, Any]:
        """Returns the current values of all Variables, by name."""
        layout = self._known
        answers: list[tuple[int, list[Any]]] = self.all("values")
        pulled = [dict(enumerate(values)) for _, values in answers]
        return layout.join(layout.variables, pulled)

    @property
    def _known(self) -> ShardLayout:
        if self.layout is None:
            raise FailedPreconditionError("ParameterServer: the servers hold no values yet; schedule a step first")
        return self.layout

    def _start(self, server: int) -> int:
        folder = self._options.folder
        options = replace(self._options, folder=None if folder is None else str(Path(folder) / f"server-{server}"))
        values: Sequence[Any] = self._known.start_of(server)
        version, _ = self.call(server, "start", values, self._rules[server], options)
        self.starts[server] += 1
        return version


class LocalCopies:
    """The program's copies of the Variables that servers keep, and of the optimizer's state."""

    def __init__(self, servers: ServerGroup, variables: Mapping[str, Variable]) -> None:
        self._servers, self._variables = servers, variables
        self._optimizer: Optimizer | None = None
        self._seen: dict[Any, Any] = {}
        self._lock = threading.RLock()

    def note(self) -> None:
        """Records that the servers have the current local values."""
        for key, variable in self._all().items():
            self._seen[key] = variable.raw

    def begin(self, optimizer: Optimizer, targets: Sequence[Variable], *, fresh: bool) -> None:
        """Records the optimizer; the servers take over its state if it has one and theirs is ``fresh``."""
        with self._lock:
            had = bool(optimizer.targets)
            optimizer.build(targets)
            self._optimizer = optimizer
            for name, variable in optimizer.named_variables().items():
                self._seen["state", name] = None if had and fresh else variable.raw
            self.write()

    def write(self) -> None:
        """Writes local assignments since the last sync to the servers."""
        with self._lock:
            if not self._seen:
                return
            copies = self._all()
            changed = [key for key, variable in copies.items() if variable.raw is not self._seen.get(key)]
            if changed:
                raws = {key: copies[key].raw for key in changed}
                parts = [{name: raw for (kind, name), raw in raws.items() if kind == of} for of in ("value", "state")]
                self._servers.put(*parts)
                self._seen |= raws

    def pull(self) -> None:
        """Updates the local Variables from the servers."""
        with self._lock:
            self.write()
            copies = self._all()
            values = {("value", name): value for name, value in self._servers.values().items()}
            values |= {("state", name): value for name, value in self._servers.state().items()}
            for key, value in values.items():
                copies[key].assign(value)
                self._seen[key] = copies[key].raw

    def _all(self) -> dict[tuple[str, str], Variable]:
        served = self._servers.layout.variables if self._servers.layout is not None else self._variables
        copies = {("value", name): variable for name, variable in self._variables.items() if name in served}
        if self._optimizer is not None:
            copies |= {("state", name): variable for name, variable in self._optimizer.named_variables().items()}
        return copies
