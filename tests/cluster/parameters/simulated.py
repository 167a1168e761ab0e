"""A training with parameter servers on a simulated clock; everything but computation and network is real."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphc.cluster.parameters.durable_shard import Keeper
from graphc.cluster.parameters.schedule import AssignedStep, Exchange, Lost, ServerCall, StepSchedule, Unanswered, step
from graphc.cluster.parameters.shard import Push
from tests.cluster.simulation import Clock, Network


class SimulatedTraining:
    """Workers, servers and a schedule, on a simulated clock and network.

    ``seconds`` says how long a worker takes for a step; ``push`` makes the pushes of a step from the pulled versions.
    ``updates`` are the times at which the slowest server reached each version.
    """

    def __init__(
        self, schedule: StepSchedule, servers: Sequence[Callable[[], Keeper]], seconds: Callable[[str, int], float],
        push: Callable[[int, str, Sequence[int]], Sequence[Push]], network: Network | None = None, *,
        timeout: float = 1.0,
    ) -> None:  # fmt: skip
        self.schedule = schedule
        self.network = network or Network(Clock())
        self.clock = self.network.clock
        self.servers: list[Keeper | None] = [make() for make in servers]
        self.updates: list[float] = []
        self._make, self._seconds, self._push, self._timeout = servers, seconds, push, timeout
        self._exchanges: dict[str, Exchange] = {}

    def run(self) -> None:
        """Runs until all steps are done and the last round has ended."""
        self._begin()
        self.clock.run()
        if self.schedule.round is not None:
            self.schedule.flushed([server.flush() for server in self.servers if server is not None])
            self._note()

    def crash(self, server: int, *, back: float) -> None:
        """Kills a server, and restarts it some seconds later."""
        self.servers[server] = None

        def start() -> None:
            self.servers[server] = found = self._make[server]()
            self.schedule.restarted(server, found.shard.version, lost=not found.keeps_all)
            self._begin()

        self.clock.after(back, start)

    def kill(self, worker: str, *, back: float, zombie: bool = False) -> None:
        """Treats a worker as dead, and revives it some seconds later.

        Args:
          worker: the worker's name.
          back: the time at which it comes back.
          zombie: whether it continues with its work all the same.
        """
        if not zombie and worker in self._exchanges:
            self._exchanges.pop(worker).close()
        self.schedule.failed(worker)

        def revive() -> None:
            self.schedule.revive(worker)
            self._begin()

        self.clock.after(back, revive)
        self._begin()

    def _begin(self) -> None:
        for worker in self.schedule.workers:
            work = self.schedule.next(worker, self.clock.now)
            if work is not None:
                self._start(worker, work)

    def _start(self, worker: str, work: AssignedStep) -> None:
        def compute(pulled: Sequence[Any]) -> tuple[None, Sequence[Push]]:
            return None, self._push(work.number, worker, [version for version, _ in pulled])

        self._exchanges[worker] = exchange = step([()] * len(self.servers), compute)
        self._go_on(worker, work, exchange, None)

    def _go_on(self, worker: str, work: AssignedStep, exchange: Exchange, replies: Any) -> None:
        """Passes replies to a worker, and sends its next requests."""
        mine = self._exchanges.get(worker) is exchange and self.schedule.workers[worker].work is work
        try:
            requests = exchange.send(replies)
        except StopIteration as ended:
            if mine and ended.value is not None:
                self.schedule.done(worker, ended.value[1], self.clock.now)
                self._note()
                self._begin()
            return
        except Unanswered:
            if mine:
                self.schedule.failed(worker, alive=True)
                self.clock.after(self._timeout, self._begin)
            return
        first = requests[0].method == "push" and not isinstance(replies[0], Lost)
        send = lambda: self._send(worker, work, exchange, requests)  # noqa: E731
        self.clock.after(self._seconds(worker, work.number) if first else 0.0, send)

    def _send(self, worker: str, work: AssignedStep, exchange: Exchange, requests: Sequence[ServerCall]) -> None:
        if getattr(exchange, "gi_frame", None) is None:  # the worker was killed in the meantime
            return
        replies: dict[int, Any] = {}

        def take(place: int, reply: Any) -> None:
            replies[place] = Lost(reply) if isinstance(reply, Exception) else reply
            if len(replies) == len(requests):
                self._go_on(worker, work, exchange, [replies[place] for place in range(len(requests))])

        for place, request in enumerate(requests):
            self.network.call(
                lambda request=request: self._handle(request), lambda reply, place=place: take(place, reply),
                self._timeout,
            )  # fmt: skip

    def _handle(self, request: ServerCall) -> Any:
        server = self.servers[request.server]
        if server is None:
            raise ConnectionError(f"server {request.server} is dead")
        if request.method == "pull":
            return server.shard.version, server.shard.pull(*request.arguments)
        return server.push(*request.arguments)

    def _note(self) -> None:
        self.updates += [self.clock.now] * (self.schedule.version - len(self.updates))
