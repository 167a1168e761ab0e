"""The service of a worker's task: it pulls Variables, runs a step, and pushes gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax as _jax
import numpy as np

from graphc.cluster.carriers import Peer, find
from graphc.cluster.parameters.schedule import Exchange, Lost, ServerCall, Unanswered, step
from graphc.cluster.parameters.service import SERVICE
from graphc.cluster.parameters.shard import Body, Push
from graphc.cluster.parameters.steps import StepText
from graphc.cluster.task import Task, hosts
from graphc.compiler.base import deadline
from graphc.compiler.base.errors import (
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
)

jax: Any = _jax  # its functions are only partly annotated

WORKER = "parameters_worker"
STEPS_KEPT = 64
"""Maximum number of compiled steps that a training keeps; the oldest are dropped."""

TRAININGS_KEPT = 16
"""Maximum number of trainings that a worker keeps; the oldest are dropped, and join again if they still run."""


@dataclass(frozen=True)
class Assignment:
    """The description of a training that a worker receives."""

    name: str
    servers: tuple[str, ...]
    timeout: float


class WorkerService:
    """Runs the steps of trainings, each under its name."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._joined: dict[str, _Joined] = {}
        accelerators = [device for device in jax.local_devices() if device.platform != "cpu"]
        index = int(task.name.rpartition(":")[2])
        self._device = accelerators[index % len(accelerators)] if accelerators else None

    def join(self, assignment: Assignment) -> None:
        """Joins a training; drops earlier state of it, and the oldest training if there are too many."""
        self._joined.pop(assignment.name, None)
        self._joined[assignment.name] = _Joined(self._task, assignment)
        for name in [*self._joined][:-TRAININGS_KEPT]:
            self._joined.pop(name, None)

    def learn(self, name: str, key: str, text: StepText) -> None:
        """Stores a step of a training for later runs."""
        self._of(name).learn(key, text)

    def run(
        self, name: str, key: str, source: str, number: int, rows: int, others: Sequence[Any], read: Sequence[Any],
        arrays: Sequence[Any],
    ) -> dict[str, Any]:  # fmt: skip
        """Runs a step.

        Returns:
          ``results`` and ``entries``: the fate of its push at each server; or ``lost``, the servers that do not answer,
          with the ``error``.
        """
        joined = self._of(name)
        with jax.default_device(self._device):
            return joined.run(key, source, number, rows, others, read, arrays)

    def _of(self, name: str) -> _Joined:
        joined = self._joined.get(name)
        if joined is None:
            raise NotFoundError(f"{self._task.where} does not know the training {name}: it was restarted")
        return joined


class _Joined:
    def __init__(self, task: Task, assignment: Assignment) -> None:
        self._task, self._assignment = task, assignment
        self._steps: dict[str, StepText] = {}
        self._peers: dict[int, Peer] = {}

    def learn(self, key: str, text: StepText) -> None:
        self._steps[key] = text
        while len(self._steps) > STEPS_KEPT:
            del self._steps[next(iter(self._steps))]

    def run(
        self, key: str, source: str, number: int, rows: int, others: Sequence[Any], read: Sequence[Any],
        arrays: Sequence[Any],
    ) -> dict[str, Any]:  # fmt: skip
        text = self._steps.get(key)
        if text is None:
            raise NotFoundError(f"{self._task.where} does not know the step: it was restarted")
        number_of = np.int32(number)

        def compute(pulled: Sequence[Any]) -> tuple[Any, Sequence[Push]]:
            buffers = [[pulled[server][1][index] for index in indices] for server, indices in enumerate(text.pulled)]
            inputs = buffers, others, read, number_of, arrays
            results, gradients, *assigned = jax.block_until_ready(text.program.compiled(*inputs))
            changes = [*zip(*assigned, strict=True)]
            pushes: list[Push] = []
            for server, (version, _) in enumerate(pulled if text.pushes else []):
                dense = zip(text.gradients[server], gradients[server], strict=True)
                bodies = {index: Body(np.asarray(flat), cover) for (index, cover), flat in dense}
                added, averaged = (
                    {index: Body(_checked(flat), cover) for (index, cover), flat in zip(*pair, strict=True)}
                    for pair in zip((text.added[server], text.averaged[server]), changes[server], strict=True)
                )
                pushes.append(Push(source, number, self._task.name, rows, version, bodies, added, averaged))
            return results, pushes

        try:
            results, entries = self._drive(step(text.pulled, compute))
        except Unanswered as error:
            return {"lost": error.servers, "error": str(error)}
        return {"results": [np.asarray(leaf) for leaf in results], "entries": entries}

    def _drive(self, exchange: Exchange) -> Any:
        replies: Any = None
        while True:
            try:
                requests = exchange.send(replies)
            except StopIteration as ended:
                return ended.value
            with deadline(self._assignment.timeout):
                *others, last = requests
                started = [self._start(request) for request in others]
                reply = self._reply(partial(self._ask, last))  # in this thread, while the others are in progress
                replies = [*[self._reply(call) for call in started], reply]

    def _ask(self, request: ServerCall) -> Any:
        return self._peer(request.server).call(*self._call(request))

    def _start(self, request: ServerCall) -> Any:
        try:
            return self._peer(request.server).start(*self._call(request)).result
        except (UnavailableError, DeadlineExceededError, NotFoundError) as error:
            failed = error

            def fail() -> Any:
                raise failed

            return fail

    def _call(self, request: ServerCall) -> tuple[Any, ...]:
        return SERVICE, request.method, self._assignment.name, *request.arguments

    def _peer(self, server: int) -> Peer:
        if server not in self._peers:
            self._peers[server] = find(self._assignment.servers[server])
        return self._peers[server]

    def _reply(self, call: Any) -> Any:
        try:
            return call()
        except (UnavailableError, DeadlineExceededError, NotFoundError, FailedPreconditionError) as error:
            self._peers.clear()
            return Lost(error)


def _checked(flat: Any) -> Any:
    change = np.asarray(flat)
    if jax.dtypes.issubdtype(change.dtype, np.inexact) and not np.isfinite(change).all():
        raise InvalidArgumentError(
            "ParameterServer: a step assigns a Variable from or to a value that is not finite, and changes are sent as "
            "differences; assign it in the program, outside of the step"
        )
    return change


hosts(WORKER)(WorkerService)


def service(task: Task) -> Any:
    """Returns the service of a task; a task in another process finds it by the name of this function."""
    return task.service(WORKER)
