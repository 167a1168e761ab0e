"""A cluster of tasks in this process, and a note of the parts that they run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import graphc as gx
from graphc.cluster.carriers import ThreadPeer, find
from graphc.cluster.master import GraphService
from graphc.cluster.task import Task

_CLUSTER = {
    "ps": ["127.0.0.1:2501", "127.0.0.1:2502"],
    "worker": ["127.0.0.1:2511", "127.0.0.1:2512", "127.0.0.1:2513"],
}


class Cluster:
    """Five tasks.

    Attributes:
      servers: by name, such as ``ps0``.
    """

    def __init__(self) -> None:
        self.servers = {f"{job}{index}": gx.Server(_CLUSTER, job, index, "threads")
                        for job, tasks in _CLUSTER.items() for index in range(len(tasks))}  # fmt: skip

    def target(self, name: str) -> str:
        return self.servers[name].target

    def task(self, name: str) -> Task:
        peer = find(self.target(name))
        assert isinstance(peer, ThreadPeer)
        return peer.task

    def restart(self, name: str) -> None:
        """Ends a task and starts another one in its place."""
        definition = self.servers[name].server_def
        self.servers[name].stop()
        self.servers[name] = gx.Server(definition)

    def stop(self) -> None:
        for server in self.servers.values():
            server.stop()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A cluster of its own for each test."""
    found = Cluster()
    yield found
    found.stop()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The parts that were run: the name of the task, and how many values went there."""
    found: list[tuple[str, int]] = []
    run = GraphService.run

    def noted(self: GraphService, key: str, session: str, arrays: Sequence[Any], *rest: Any) -> Any:
        found.append((self._task.name, len(arrays)))  # pyright: ignore[reportPrivateUsage]
        return run(self, key, session, arrays, *rest)

    monkeypatch.setattr(GraphService, "run", noted)
    return found
