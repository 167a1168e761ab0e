"""Parameter servers on Ray: bytes pushed and pulled, against Ray's own put and get of as many."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from benchmarks.harness import Contender, Duel, Row, batch
from graphc.cluster.parameters import Body, Push
from graphc.cluster.parameters.service import SERVICE, ServerOptions
from graphc.cluster.parameters.staleness import Policy
from graphc.cluster.parameters.tasks import TrainingTasks

__all__ = ["ROWS"]

_SERVERS = 2
_BYTES = 10 * 2**20


def _moved(quick: bool) -> Duel:
    """A gradient is pushed and values are pulled, 10 MB each way; small, and inside this process, where it is quick."""
    count = 1000 if quick else _BYTES // 4 // _SERVERS
    tasks = TrainingTasks(None, (_SERVERS, 1), "threads" if quick else "ray")
    peers = [tasks.peer("ps", place) for place in range(_SERVERS)]
    options = ServerOptions(Policy(), None, None, "none", 100)
    for peer in peers:
        peer.call(SERVICE, "start", "benchmark", [np.zeros(count, np.float32)], None, options)
    change, whole = np.zeros(count, np.float32), np.zeros(_SERVERS * count, np.float32)
    numbers = itertools.count()

    def push_and_pull() -> Any:
        push = Push("client", next(numbers), "client", 1, 0, added={0: Body(change)})
        pushed = [peer.start(SERVICE, "push", "benchmark", push) for peer in peers]
        pulled = [peer.start(SERVICE, "pull", "benchmark", [0]) for peer in peers]
        for pending in pushed:
            pending.result()
        return [pending.result()[1][0] for pending in pulled]

    def put_and_get() -> Any:
        if quick:
            return whole.copy()
        import ray

        there: Any = [ray.get(ray.put(whole)) for _ in range(2)]
        return there[1]

    return Duel(
        Contender("push and pull", batch(push_and_pull, (), 1)),
        Contender("Ray's put and get", batch(put_and_get, (), 1)),
        lambda: [(np.concatenate(push_and_pull()), put_and_get())],
    )


ROWS = (Row("parameters-moved", "10 MB pushed to and pulled from 2 parameter servers on Ray", 2.0, _moved, rounds=50),)
