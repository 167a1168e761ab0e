"""A simulated clock and network, on which protocols run instantly and reproducibly."""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Clock", "Network"]


class Clock:
    """A clock that jumps from one event to the next.

    Attributes:
      now: the time in seconds.

    Example:
      >>> clock = Clock()
      >>> clock.after(2.0, lambda: print("two seconds later:", clock.now))
      >>> clock.run()
      two seconds later: 2.0
    """

    def __init__(self) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()

    def after(self, seconds: float, event: Callable[[], None]) -> None:
        """Schedules an event after a delay; simultaneous events run in the order in which they were scheduled."""
        heapq.heappush(self._events, (self.now + seconds, next(self._numbers), event))

    def run(self, *, most: int = 1_000_000) -> None:
        """Runs all events, until none is left.

        Args:
          most: the number of events after which the simulation counts as endless.

        Raises:
          RuntimeError: the simulation is endless.
        """
        for _ in range(most):
            if not self._events:
                return
            self.now, _, event = heapq.heappop(self._events)
            event()
        raise RuntimeError(f"a simulation has not ended after {most:,} events")


@dataclass
class Network:
    """Delivers messages late, out of order, twice, or not at all.

    Args:
      clock: the time.
      chance: its source of random numbers.
      latency: seconds that a message takes on average; each takes between none and twice that.
      loss: the share of messages that get lost.
      repeats: the share of messages that come twice.
      until: the time from which it is reliable.
    """

    clock: Clock
    chance: random.Random = field(default_factory=random.Random)
    latency: float = 0.0
    loss: float = 0.0
    repeats: float = 0.0
    until: float = float("inf")

    def send(self, deliver: Callable[[], None]) -> None:
        """Sends a message.

        Args:
          deliver: a function called where the message arrives.
        """
        wild = self.clock.now < self.until
        if wild and self.chance.random() < self.loss:
            return
        for _ in range(2 if wild and self.chance.random() < self.repeats else 1):
            self.clock.after(self.chance.uniform(0.0, 2.0 * self.latency), deliver)

    def call(self, handle: Callable[[], Any], answer: Callable[[Any], None], timeout: float) -> None:
        """Calls a remote function.

        Args:
          handle: the remote function, called once for each arrival of the request; may raise ConnectionError.
          answer: a function called once, with the answer, a ConnectionError, or a TimeoutError if none came.
          timeout: seconds within which the answer must come.
        """
        answered: list[Any] = []

        def take(reply: Any) -> None:
            if not answered:
                answered.append(reply)
                answer(reply)

        def arrive() -> None:
            try:
                reply: Any = handle()
            except ConnectionError as error:
                reply = error
            self.send(lambda: take(reply))

        self.send(arrive)
        self.clock.after(timeout, lambda: take(TimeoutError(f"no answer within {timeout:g} s")))
