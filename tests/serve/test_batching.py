"""The state machine of batching, on a simulated clock: nothing is lost or answered twice, and nobody waits long."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from graphc.serve.batching import Batcher, QueryBatch, RequestRows

MAX_BATCH, MAX_DELAY = 8, 2.0


@dataclass
class World:
    """Replicas that take some time for a batch, and fail by a rule; requests that come at given times."""

    batcher: Batcher
    fails: Callable[[QueryBatch], bool]
    now: float = 0.0
    events: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    order: itertools.count[int] = field(default_factory=itertools.count)
    rows: dict[int, list[int]] = field(default_factory=dict)  # the rows of each request that were answered
    ended: list[tuple[int, str]] = field(default_factory=list)
    begun: dict[tuple[int, int], float] = field(default_factory=dict)  # when a piece was first given to a replica
    idle_since: dict[int, float] = field(default_factory=dict)

    def later(self, delay: float, what: Callable[[], None]) -> None:
        heapq.heappush(self.events, (self.now + delay, next(self.order), what))

    def run(self, seconds: Callable[[QueryBatch], float]) -> None:
        while True:
            for number in self.batcher.expire(self.now):
                self.ended.append((number, "expired"))
            while (batch := self.batcher.next(self.now)) is not None:
                for piece in batch.pieces:
                    self.begun.setdefault((piece.request, piece.start), self.now)
                self.later(seconds(batch), lambda batch=batch: self.end(batch))
            times = [time for time in (self.batcher.wakes(), self.batcher.expires()) if time is not None]
            if self.events:
                times.append(self.events[0][0])
            if not times or min(times) == float("inf"):
                return
            assert min(times) >= self.now, "the clock would stand still"
            self.now = min(times)
            while self.events and self.events[0][0] <= self.now:
                heapq.heappop(self.events)[2]()

    def end(self, batch: QueryBatch) -> None:
        if self.fails(batch):
            self.ended += [(number, "failed") for number in self.batcher.failed(batch)]
            return
        for piece in batch.pieces:
            self.rows.setdefault(piece.request, []).extend(range(piece.start, piece.stop))
        self.ended += [(number, "answered") for number in self.batcher.answered(batch)]


requests = st.lists(
    st.tuples(
        st.floats(0, 3),  # after the one before
        st.sampled_from("ab"),
        st.integers(1, 20),
        st.sampled_from([3.0, 50.0, float("inf")]),
        st.booleans(),  # whether it makes its batch fail
    ),
    max_size=25,
)


@given(
    requests,
    st.integers(1, 3),
    st.sets(st.integers(0, 2), max_size=2),
    st.lists(st.floats(0, 4), min_size=1, max_size=7),
    st.sets(st.integers(0, 24), max_size=4),
)
def test_each_request_ends_once_and_whole(
    asked: list[tuple[float, str, int, float, bool]],
    replicas: int,
    broken: set[int],
    seconds: list[float],
    dropped: set[int],
) -> None:
    batcher = Batcher(replicas, max_batch=MAX_BATCH, max_delay=MAX_DELAY, max_waiting=10_000)
    bad: set[int] = set()
    world = World(batcher, lambda batch: batch.replica in broken or any(piece.request in bad for piece in batch.pieces))
    sizes: dict[int, int] = {}
    keys: dict[int, str] = {}
    taken_back: set[int] = set()

    def submit(key: str, rows: int, deadline: float, is_bad: bool) -> None:
        number = batcher.submit(world.now, key, rows, world.now + deadline)
        sizes[number], keys[number] = rows, key
        if is_bad:
            bad.add(number)
        if number in dropped and batcher.drop(number):
            taken_back.add(number)

    time = 0.0
    for delay, *rest in asked:
        time += delay
        heapq.heappush(world.events, (time, next(world.order), lambda rest=rest: submit(*rest)))
    durations = itertools.cycle(seconds)
    original = batcher.next

    def checked(now: float) -> QueryBatch | None:
        batch = original(now)
        if batch is not None:
            assert batch.rows <= MAX_BATCH
            assert {keys[piece.request] for piece in batch.pieces} == {batch.key}
            assert batch.replica not in batcher.left_out
            assert len({other.replica for other in batcher.running}) == len(batcher.running)
        return batch

    batcher.next = checked
    world.run(lambda _: next(durations))
    assert batcher.is_idle
    assert batcher.waiting == 0
    ended = [number for number, _ in world.ended]
    assert sorted([*ended, *taken_back]) == list(range(len(asked))), "one was lost, or ended twice"
    for number, how in world.ended:
        if how == "answered":
            assert sorted(world.rows[number]) == list(range(sizes[number])), "a row was lost, or answered twice"
            assert number not in bad
        if how == "failed":
            assert number in bad or broken, "one failed for its neighbour"
    if not broken:
        assert not batcher.left_out


@given(requests, st.lists(st.floats(0, 4), min_size=1, max_size=7))
def test_no_row_waits_longer_than_the_delay_while_a_replica_is_free(
    asked: list[tuple[float, str, int, float, bool]], seconds: list[float]
) -> None:
    batcher = Batcher(100, max_batch=MAX_BATCH, max_delay=MAX_DELAY, max_waiting=10_000)  # one is always free
    world = World(batcher, lambda _: False)
    submitted: dict[int, float] = {}

    def submit(key: str, rows: int) -> None:
        submitted[batcher.submit(world.now, key, rows)] = world.now

    time = 0.0
    for delay, key, rows, *_ in asked:
        time += delay
        heapq.heappush(world.events, (time, next(world.order), lambda key=key, rows=rows: submit(key, rows)))
    durations = itertools.cycle(seconds)
    world.run(lambda _: next(durations))
    for (request, _), begun in world.begun.items():
        assert begun <= submitted[request] + MAX_DELAY
    assert len(world.ended) == len(asked)


def batcher(replicas: int = 2, **options: int) -> Batcher:
    return Batcher(replicas, **{"max_batch": 4, "max_delay": 2, "max_waiting": 100, **options})


def test_a_batch_is_due_when_nothing_runs_or_it_is_full_or_its_oldest_row_has_waited() -> None:
    found = batcher(3)
    alone = found.submit(0, "a", 1)
    running = found.next(0)
    assert running is not None
    assert running.pieces == (RequestRows(alone, 0, 1),), "nobody else asks"
    first, second = found.submit(0, "a", 1), found.submit(1, "a", 2)
    assert found.next(1.9) is None
    assert found.wakes() == 2
    batch = found.next(2)
    assert batch is not None
    assert batch.pieces == (RequestRows(first, 0, 1), RequestRows(second, 0, 2))
    found.submit(3, "a", 3)
    assert found.next(3) is None
    found.submit(3, "a", 2)  # does not fit in, and makes it full
    full = found.next(3)
    assert full is not None
    assert (full.rows, full.replica, found.waiting) == (3, 2, 2)
    assert found.next(9) is None, "all replicas are at work"
    for ended in (running, batch, full):
        found.answered(ended)
    assert found.next(3) is not None, "what waits is due when nothing runs"


def test_the_replica_that_was_idle_longest_is_next() -> None:
    found = batcher(3, max_delay=0)
    used: list[int] = []
    for time in range(6):
        found.submit(time, "a", 1)
        batch = found.next(time)
        assert batch is not None
        used.append(batch.replica)
        found.answered(batch)
    assert used == [0, 1, 2, 0, 1, 2]


def test_a_replica_is_left_out_when_others_answer_what_it_cannot() -> None:
    found = batcher(2, max_delay=0)
    failures = 0
    for time in range(10):
        found.submit(time, "a", 1)
        found.submit(time, "a", 1)
        while (batch := found.next(time)) is not None:
            if batch.replica == 0:
                assert found.failed(batch) == []
                failures += 1
            else:
                found.answered(batch)
    assert found.is_idle
    assert found.left_out == [0]
    assert failures == 2
    found.submit(10, "a", 1)  # the last one is not left out, whatever it does
    for _ in range(3):
        found.submit(10, "a", 1)
        batch = found.next(10)
        assert batch is not None
        assert batch.replica == 1
        found.failed(batch)
        while (again := found.next(10)) is not None:
            found.failed(again)
    assert found.left_out == [0]


def test_a_full_queue_has_no_room() -> None:
    found = batcher(1, max_waiting=5)
    assert found.has_room(5)
    found.submit(0, "a", 3)
    assert found.has_room(2)
    assert not found.has_room(3)
    number = found.submit(0, "a", 2)
    assert not found.has_room(1)
    assert found.drop(number)
    assert not found.drop(number)
    assert found.has_room(2)
