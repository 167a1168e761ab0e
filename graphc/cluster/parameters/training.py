"""ParameterServer: training with Variables on servers, and gradients computed by workers."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from graphc.cluster.parameters.coordinator import TrainingCoordinator
from graphc.cluster.parameters.durable_shard import Durability
from graphc.cluster.parameters.service import ServerOptions
from graphc.cluster.parameters.shard import FATES
from graphc.cluster.parameters.staleness import Policy, checked
from graphc.cluster.parameters.tasks import PerWorker, Scheduled, TrainingTasks
from graphc.compiler.base import checked_seconds
from graphc.compiler.base.errors import InvalidTypeError, UnavailableError, UnimplementedError
from graphc.compiler.base.files import PathLike, as_path
from graphc.compiler.core import variable_placement
from graphc.compiler.runtime.costs import PrintedReport, format_bytes, format_seconds, plain_table
from graphc.graphs.refusals import refusal, user_error

if TYPE_CHECKING:
    from rich.console import RenderableType

# The report on a training with parameter servers, as an object, as JSON and as tables.

_SLOW = 1.5


@dataclass(frozen=True)
class ServerReport:
    """The report on one server.

    Attributes:
      server: the server's task.
      version: the number of updates applied.
      bytes: the size of its values, without the optimizer's state.
      sent: the bytes that workers have pulled.
      received: the bytes that workers have pushed.
      repeats: the number of pushes that came again and were not applied again.
      staleness: the number of updates applied with each staleness.
      ledger: the counts of pushes and rows by worker and fate, such as ``{"worker": {"applied": 3, "applied_rows":
        96}}``.
    """

    server: str
    version: int
    bytes: int
    sent: int
    received: int
    repeats: int
    staleness: Mapping[int, int]
    ledger: Mapping[str, Mapping[str, int]]

    def count(self, fate: str) -> int:
        """Counts the pushes that were ``"applied"``, ``"dropped"``, ``"late"`` or ``"lost"``, or are ``"waiting"``."""
        return sum(row.get(fate, 0) for row in self.ledger.values())


@dataclass(frozen=True)
class WorkerReport:
    """The report on one worker.

    Attributes:
      worker: the worker's task.
      alive: whether it is assigned steps.
      steps: the number of steps it has done.
      seconds: the time of a step, as a moving average.
      slow: whether that time is more than one and a half times the median of the workers.
      failures: the number of times it was lost.
    """

    worker: str
    alive: bool
    steps: int
    seconds: float
    slow: bool
    failures: int


@dataclass(frozen=True)
class ParameterReport(PrintedReport):
    """The report on a training with parameter servers; see :meth:`ParameterServer.report`.

    Attributes:
      servers: the report on each server.
      workers: the report on each worker.
    """

    servers: tuple[ServerReport, ...]
    workers: tuple[WorkerReport, ...]

    @property
    def slow(self) -> list[str]:
        """The workers that are slow."""
        return [worker.worker for worker in self.workers if worker.slow]

    def to_dict(self) -> dict[str, Any]:
        """Returns everything in plain numbers, strings, lists and dicts."""
        return asdict(self)

    def to_json(self) -> str:
        """Returns :meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2)

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        histograms = [
            f"staleness at {server.server}: " + ", ".join(f"{key}: {count}" for key, count in server.staleness.items())
            for server in self.servers
            if server.staleness
        ]
        slow = [f"slow: {', '.join(self.slow)}"] if self.slow else []
        return Group(self._servers(), self._workers(), *map(Text, [*histograms, *slow]))

    def _servers(self) -> RenderableType:
        rows = [
            [
                server.server, str(server.version), format_bytes(server.bytes), format_bytes(server.sent),
                format_bytes(server.received), *[str(server.count(fate)) for fate in FATES[1:]], str(server.repeats),
            ]
            for server in self.servers
        ]  # fmt: skip
        return plain_table(["server", "version", "keeps", "pulled", "pushed", *FATES[1:], "repeats"], rows)

    def _workers(self) -> RenderableType:
        rows: list[list[str]] = []
        for worker in self.workers:
            fates = [
                max(server.ledger.get(worker.worker, {}).get(fate, 0) for server in self.servers) for fate in FATES
            ]
            state = "slow" if worker.slow else "" if worker.alive else "gone"
            seconds = format_seconds(worker.seconds) if worker.steps else "-"
            rows.append([worker.worker, str(worker.steps), seconds, *map(str, fates[1:]), str(worker.failures), state])
        return plain_table(["worker", "steps", "a step", *FATES[1:], "lost it", "state"], rows)

    def __repr__(self) -> str:
        return f"<ParameterReport of {len(self.servers)} servers and {len(self.workers)} workers>"


def is_slow(seconds: float, all_seconds: list[float]) -> bool:
    """Returns True if a time is far above the others."""
    median = sorted(all_seconds)[(len(all_seconds) - 1) // 2] if all_seconds else 0.0
    return len(all_seconds) > 1 and seconds > _SLOW * median


class ParameterServer:
    """Trains with Variables that servers keep, while workers pull them, compute gradients, and push the gradients.

    Use it if workers differ in speed, or come and go; if all are alike, :class:`DataParallel` is faster. Each push
    counts exactly once, even if messages are repeated or tasks die.

    A step is a function that computes gradients and calls ``apply_gradients`` once. The servers run the optimizer's
    update and keep its state. Values that a step assigns to Variables of the scope are sent as changes, which servers
    sum: ``count.assign_add(1)`` counts exactly. For floats set by ``assign``, a synchronous update adds the mean
    change. The names are those of TensorFlow's ``ParameterServerStrategy`` and ``ClusterCoordinator``.

    Args:
      servers: the number of tasks that keep Variables.
      workers: the number of tasks that compute gradients.
      updates: ``"async"``: each gradient is applied as it arrives; ``"sync"``: the mean of ``workers - spares``
        gradients that were computed from the same values.
      spares: the number of spare workers: a synchronous update does not wait for the slowest (Chen et al. 2016).
      staleness: the policy for stale gradients of asynchronous updates, from ``gx.distribute.staleness``.
      split_bytes: the size in bytes above which Variables are split by rows over servers; None for no limit.
      cluster: a cluster with the jobs ``ps`` and ``worker``, whose tasks run already, in place of ``servers`` and
        ``workers``.
      protocol: the carrier of the tasks that are started: ``"threads"`` of this process, or ``"ray"``.
      folder: the folder for state that outlives the servers; all of them must be able to access it.
      durability: the state that a restarted server begins with. ``"checkpoint"``: the last checkpoint, with a ledger of
        what was lost since; ``"sync"``: everything, since a push is answered when it is on the disk. ``"none"`` ends
        the training. The default is ``"checkpoint"`` where there is a folder.
      checkpoint_every: the number of updates between a server's checkpoints.
      timeout: seconds within which a worker must finish a step, including compilation, and a server must answer. A
        step that takes more than one and a half times that goes to another worker; after three of them it has failed.

    Attributes:
      workers: the names of the tasks that compute.
      servers: the names of the tasks that keep Variables.

    Raises:
      InvalidArgumentError, InvalidTypeError: an argument is invalid.
      NotFoundError: a task of the cluster does not run.

    Example:
      >>> import graphc as gx
      >>> with gx.distribute.ParameterServer(servers=2, workers=2) as server:
      ...     with server.scope():
      ...         w, count = gx.Variable(4.0), gx.Variable(0, trainable=False)
      ...     optimizer = gx.optim.SGD(0.25)
      ...     def step(x):
      ...         with gx.GradientTape() as tape:
      ...             loss = w * x
      ...         optimizer.apply_gradients([(tape.gradient(loss, w), w)])
      ...         count.assign_add(1)
      ...         return loss
      ...     losses = [server.schedule(step, args=(1.0,)) for _ in range(4)]
      ...     server.join()
      >>> w.item(), count.item(), max(loss.result().item() for loss in losses)
      (3.0, 4, 4.0)
    """

    def __init__(
        self, *, servers: int = 1, workers: int = 2, updates: Literal["async", "sync"] = "async", spares: int = 0,
        staleness: Policy | None = None, split_bytes: int | None = None, cluster: Any = None,
        protocol: str = "threads", folder: PathLike | None = None, durability: Durability | None = None,
        checkpoint_every: int = 100, timeout: float = 60.0,
    ) -> None:  # fmt: skip
        for name, value, least in (
            ("servers", servers, 1), ("workers", workers, 1), ("spares", spares, 0),
            ("split_bytes", 1 if split_bytes is None else split_bytes, 1), ("checkpoint_every", checkpoint_every, 1),
        ):  # fmt: skip
            _check_count(name, value, least)
        if updates not in ("async", "sync"):
            raise refusal("ParameterServer", f"updates must be 'async' or 'sync', got {updates!r:.60}")
        if updates == "sync" and staleness is not None:
            raise refusal(
                "ParameterServer",
                "synchronous updates have no stale gradients; omit staleness=, or use updates='async'",
            )
        if updates == "async" and spares:
            raise refusal(
                "ParameterServer", "asynchronous updates wait for no worker; omit spares=, or use updates='sync'"
            )
        durability = durability or ("none" if folder is None else "checkpoint")
        if durability not in get_args(Durability) or (durability == "none") != (folder is None):
            raise refusal(
                "ParameterServer",
                f"durability={durability!r} with folder={folder!r:.60}: use durability='checkpoint' or 'sync' with a "
                "folder, or neither of both",
            )
        seconds = checked_seconds(timeout, "ParameterServer: timeout") or 60.0
        policy = checked("ParameterServer: staleness", staleness)
        tasks = TrainingTasks(cluster, (servers, workers), protocol)
        self.workers, self.servers = tasks.names("worker"), tasks.names("ps")
        if spares >= len(self.workers):
            tasks.stop()
            raise refusal(
                "ParameterServer",
                f"spares={spares} of {len(self.workers)} workers leaves none to wait for; use fewer spares",
            )
        round = len(self.workers) - spares if updates == "sync" else None
        directory = None if folder is None else str(as_path(folder).absolute())
        options = ServerOptions(policy, round, directory, durability, checkpoint_every)
        self._coordinator = TrainingCoordinator(tasks, options, split_bytes, seconds)
        self._joined = 0

    @contextmanager
    def scope(self) -> Generator[Self]:
        """Makes servers keep the Variables that are made inside; build models and call them once here."""
        saved = variable_placement.made
        variable_placement.made = self._coordinator.made
        try:
            yield self
        finally:
            variable_placement.made = saved

    def embedding(self, *args: Any, **kwargs: Any) -> Any:
        """Refuses tables of which only rows are pulled, and says what to write instead."""
        del args, kwargs
        raise user_error(
            "ParameterServer.embedding: make gx.layers.Embedding(rows, width) and call it once in server.scope(); "
            "split_bytes= spreads its rows over the servers",
            UnimplementedError,
        )

    def schedule(
        self, step: Callable[..., Any], args: Iterable[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Scheduled:
        """Schedules a step on the next free worker; returns at once.

        If its worker dies, another worker computes the step; its gradients count once.

        Args:
          step: a function; compiled or not, it is compiled. It may update Variables by one optimizer, or by nothing,
            as a step that evaluates.
          args: its arguments; a batch of the worker replaces a :meth:`dataset`.
          kwargs: its keyword arguments.

        Returns:
          A handle that returns the result when the step is done.

        Raises:
          InvalidTypeError: ``step`` is not callable.
          Exception: the error of an earlier step, raised once.
        """
        if not callable(step):
            raise user_error(f"ParameterServer.schedule: expected a function, got {step!r:.60}", InvalidTypeError)
        result = Scheduled(str(getattr(step, "__name__", "step")))
        self._coordinator.submit(result, step, tuple(args), dict(kwargs or {}))
        return result

    def run(self, step: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Schedules a step, and waits for its result.

        A synchronous update waits for the other gradients of its round: schedule enough steps, and join.
        """
        result = self.schedule(step, args, kwargs)
        with self._coordinator.reporting():
            return result.result()

    def dataset(self, make: Callable[[int, int], Iterable[Any]]) -> PerWorker:
        """Makes data with a separate part for each worker, which each worker repeats.

        Args:
          make: a function from the index of a worker and the number of workers to its data.

        Returns:
          An argument for :meth:`schedule`.

        Example:
          >>> import graphc as gx
          >>> with gx.distribute.ParameterServer(workers=1) as server:
          ...     rows = server.dataset(lambda index, count: [gx.asarray([1.0]), gx.asarray([2.0])])
          ...     [server.run(lambda x: x * 10.0, rows).tolist() for _ in range(3)]
          [[10.0], [20.0], [10.0]]
        """
        if not callable(make):
            raise user_error(
                f"ParameterServer.dataset: expected a function of a worker's index and the number of workers, such as "
                f"lambda index, count: dataset.shard(count, index), got {make!r:.60}",
                InvalidTypeError,
            )
        return PerWorker(make, len(self.workers))

    def join(self) -> None:
        """Waits until all scheduled steps are done, and updates the local Variables from the servers.

        The gradients of an incomplete synchronous round also count. Leaving the ``with`` block joins; if an exception
        leaves it, steps that no worker has begun are cancelled. If a server is gone for good, and the program has
        caught its error, leaving does not raise it again; the local Variables keep their values.

        Raises:
          DeadlineExceededError: the deadline in force has passed; the steps go on.
          UnavailableError: a server is gone that cannot be started again, or all workers are.
          Exception: the error of a step, raised once; steps that no worker had begun are cancelled.
        """
        with self._coordinator.reporting():
            self._join()

    def _join(self) -> None:
        self._joined = self._coordinator.schedule.submitted
        self._coordinator.join()
        if self._coordinator.servers.layout is not None:
            self._coordinator.local.pull()

    def done(self) -> bool:
        """Returns True if all scheduled steps are done."""
        return self._coordinator.schedule.idle

    def pull(self) -> None:
        """Updates the local Variables, and the optimizer's state, with the servers' current values.

        Local assignments since the last time are first written to the servers. Gradients of an incomplete synchronous
        round are not included; :meth:`join` ends the round.
        """
        with self._coordinator.reporting():
            self._coordinator.local.pull()

    def report(self) -> ParameterReport:
        """Reports bytes on the wire, staleness, the fates of each worker's pushes, and slow workers.

        Raises:
          FailedPreconditionError: no step was scheduled yet.
        """
        coordinator = self._coordinator
        servers = tuple(ServerReport(**fields) for fields in coordinator.servers.all("report"))
        records = coordinator.schedule.workers
        times = [worker.seconds for worker in records.values() if worker.steps > 1]
        workers = [
            WorkerReport(
                name, worker.alive, worker.steps, worker.seconds, worker.steps > 1 and is_slow(worker.seconds, times),
                coordinator.failures[name],
            )
            for name, worker in records.items()
        ]  # fmt: skip
        return ParameterReport(servers, tuple(workers))

    def close(self) -> None:
        """Ends the training, and the tasks that it started; steps that no worker has begun are cancelled."""
        self._coordinator.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        try:
            if kind is None and self._coordinator.schedule.submitted > self._joined:
                self._join()
        except UnavailableError as error:
            if not self._coordinator.is_reported(error):
                raise
        finally:
            self.close()

    def __repr__(self) -> str:
        return f"<ParameterServer with {len(self.servers)} servers and {len(self.workers)} workers>"


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise refusal("ParameterServer", f"{name} must be an int from {least}, got {value!r:.60}")
