"""``graphc cluster``: the tasks of a cluster on Ray, started, shown and ended."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, cast

from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table

from graphc.cluster import ClusterSpec, Peer, Rays, Server, ray_in_use
from graphc.compiler.base import deadline
from graphc.compiler.base.errors import (
    DeadlineExceededError,
    FailedPreconditionError,
    FileMissingError,
    GraphcError,
    InvalidArgumentError,
    UnavailableError,
)

_PATIENCE = 2.0
"""Seconds after which a task that does not answer is called silent in the table of ``cluster up``."""
_FIRST_PATIENCE = 15.0
"""The same for ``cluster status``, which a busy machine takes seconds to connect to a task at all."""
_REFRESH_SECONDS = 1.0
_MOST_STARTING = 8


def read_cluster(path: Path) -> ClusterSpec:
    """Reads the description of a cluster: a JSON object from names of jobs to addresses.

    Args:
      path: the file, such as ``{"ps": ["127.0.0.1:2221"], "worker": ["127.0.0.1:2222", "127.0.0.1:2223"]}``.
    """
    try:
        spec = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileMissingError(f"{path}: there is no such file; it is to describe the cluster, by job") from None
    except ValueError as error:
        raise InvalidArgumentError(f"{path}: it is no JSON: {error}") from None
    jobs: Any = spec
    if isinstance(spec, dict):  # whose keys are strings in JSON, also the indices of tasks
        jobs = {job: _by_index(tasks) for job, tasks in cast("dict[str, Any]", spec).items()}
    try:
        return ClusterSpec(jobs)
    except GraphcError as error:
        problem = error.message.partition("\n")[0].removeprefix("gx.ClusterSpec: ")
        raise type(error)(f"{path}: {problem}") from None


def _by_index(tasks: Any) -> Any:
    if not isinstance(tasks, dict):
        return tasks
    addresses = cast("dict[str, Any]", tasks)
    return {int(index) if index.isdigit() else index: address for index, address in addresses.items()}


def read_resources(texts: Sequence[str], cluster: ClusterSpec) -> dict[str, dict[str, float]]:
    """Reads what Ray is to reserve for the tasks of jobs."""
    resources: dict[str, dict[str, float]] = {job: {} for job in cluster.jobs}
    for text in texts:
        job, _, amount = text.partition(":")
        name, _, number = amount.partition("=")
        try:
            resources[job][name] = float(number)
        except (KeyError, ValueError):
            raise InvalidArgumentError(
                f"--resources {text}: expected JOB:NAME=AMOUNT, such as worker:num_gpus=1, with one of the jobs "
                f"{', '.join(cluster.jobs)}"
            ) from None
    return resources


def serve_task(path: Path, job: str | None, task: int | None, console: Console) -> None:
    """Starts a task of a cluster on Ray, and waits until it ends."""
    server = Server(read_cluster(path), job, task, protocol="ray")
    try:
        console.print(f"{server.target} runs; Ctrl-C ends it")
        _tell_address(console)
        server.join()
    finally:
        server.stop()


def cluster_up(path: Path, resources: Sequence[str], console: Console) -> None:
    """Starts all tasks of a cluster on Ray, and shows their state until they have ended or Ctrl-C ends them."""
    cluster = read_cluster(path)
    amounts = read_resources(resources, cluster)
    carrier = Rays()
    tasks = [(job, index) for job in cluster.jobs for index in cluster.task_indices(job)]
    started: list[Peer] = []

    def start(task: tuple[str, int]) -> None:
        peer = carrier.start(cluster, *task, **amounts[task[0]])
        started.append(peer)
        peer.call("task", "describe")  # it knows its devices now, which takes seconds the first time

    try:
        start(tasks[0])  # alone, since it starts Ray
        with ThreadPoolExecutor(_MOST_STARTING) as pool:
            list(pool.map(start, tasks[1:]))
        _tell_address(console)
        console.print(f'gx.Session("grpc://{started[0].address}") reaches the cluster; Ctrl-C ends it')
        _show(cluster, carrier, started, console)
    except KeyboardInterrupt:
        console.print("the tasks end")
    finally:
        _end(started)


def cluster_status(path: Path, console: Console) -> bool:
    """Shows the state of a cluster's tasks."""
    cluster = read_cluster(path)
    if not ray_in_use():
        raise FailedPreconditionError(
            "set RAY_ADDRESS to the address of the Ray cluster; `graphc cluster up` has printed it"
        )
    states = _states(cluster, Rays(), _FIRST_PATIENCE)
    console.print(_table(cluster, states))
    return all(state == "running" for state, _ in states.values())


def _tell_address(console: Console) -> None:
    console.print(f"programs that use it need RAY_ADDRESS={Rays.listens_at()}", soft_wrap=True)
    console.print(
        "and the token: those of this user find it in ~/.ray/auth_token, others need RAY_AUTH_MODE=token and "
        "RAY_AUTH_TOKEN",
        soft_wrap=True,
    )


def _show(cluster: ClusterSpec, carrier: Rays, peers: Sequence[Peer], console: Console) -> None:
    with Live(_table(cluster, _states(cluster, carrier)), console=console, auto_refresh=False) as live:
        while not all(peer.lost for peer in peers):
            live.update(_table(cluster, _states(cluster, carrier)), refresh=True)
            time.sleep(_REFRESH_SECONDS)


def _states(cluster: ClusterSpec, carrier: Rays, patience: float = _PATIENCE) -> Mapping[str, tuple[str, str]]:
    """Returns the state of each task and its devices, by address; all are asked at once."""
    addresses = [str(cluster.task_address(job, index)) for job in cluster.jobs for index in cluster.task_indices(job)]
    with ThreadPoolExecutor(_MOST_STARTING) as pool:
        states = pool.map(partial(_state, carrier, patience), addresses)
        return dict(zip(addresses, states, strict=True))


def _state(carrier: Rays, patience: float, address: str) -> tuple[str, str]:
    try:
        with deadline(patience):
            peer = carrier.find(address)
            if peer is None:
                return "not running", ""
            return "running", ", ".join(peer.call("task", "describe")["devices"])
    except (UnavailableError, DeadlineExceededError):
        return "silent", ""


def _table(cluster: ClusterSpec, states: Mapping[str, tuple[str, str]]) -> Table:
    table = Table("task", "address", "state", "devices", box=box.SIMPLE_HEAD)
    for job in cluster.jobs:
        for index in cluster.task_indices(job):
            address = cluster.task_address(job, index)
            table.add_row(f"/job:{job}/task:{index}", address, *states[address])
    return table


def _end(peers: Sequence[Peer]) -> None:
    """Ends tasks, and Ray if it was started here."""
    import ray

    for peer in peers:
        try:
            peer.stop("graphc cluster up was ended")
        except GraphcError:  # it is silent, or has ended before
            continue
    ray.shutdown()
