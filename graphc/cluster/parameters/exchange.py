"""The worker's side of the protocol with the servers, as a generator: it yields requests and receives the replies.

The driver sends the requests to the servers, by calls or in a simulated network.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from graphc.cluster.parameters.ledger import Entry
from graphc.cluster.parameters.shard import Push

__all__ = ["Exchange", "Lost", "Request", "Unanswered", "answered", "step"]

_TRIES = 2


@dataclass(frozen=True)
class Request:
    """A call of a server's method."""

    server: int
    method: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Lost:
    """The missing reply to a request."""

    error: Exception


class Unanswered(Exception):
    """Servers do not answer."""

    def __init__(self, servers: Sequence[int], error: Exception) -> None:
        super().__init__(str(error))
        self.servers, self.error = list(servers), error


Exchange: TypeAlias = Generator[list[Request], list[Any], Any]
"""Yields requests to make at once, and receives a reply or :class:`Lost` for each."""


def answered(requests: Sequence[Request], tries: int = _TRIES) -> Exchange:
    """Makes requests until all are answered; each may be repeated several times.

    Raises:
      Unanswered: some requests are still unanswered after the last try.
    """
    replies: dict[int, Any] = {}
    for _ in range(tries):
        left = [place for place in range(len(requests)) if place not in replies or isinstance(replies[place], Lost)]
        found = yield [requests[place] for place in left]
        replies.update(zip(left, found, strict=True))
        if not any(isinstance(reply, Lost) for reply in replies.values()):
            return [replies[place] for place in range(len(requests))]
    lost = {requests[place].server: reply.error for place, reply in replies.items() if isinstance(reply, Lost)}
    raise Unanswered(list(lost), next(iter(lost.values())))


def step(buffers: Sequence[Sequence[int]], compute: Callable[[Sequence[Any]], tuple[Any, Sequence[Push]]]) -> Exchange:
    """Pulls, computes, and pushes.

    Args:
      compute: a function from each server's version and values to results and, for each server, a push or None.

    Returns:
      The results, and the fate of each push.

    Raises:
      Unanswered: servers do not answer. Those that did answer have applied the push, or will not.
    """
    pulled = yield from answered([Request(server, "pull", (some,)) for server, some in enumerate(buffers)])
    results, pushes = compute(pulled)
    entries: list[Entry] = []
    if pushes:
        entries = yield from answered([Request(server, "push", (push,)) for server, push in enumerate(pushes)])
    return results, entries
