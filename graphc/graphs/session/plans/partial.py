"""Partial runs: each operation runs once, in the first part that needs it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.ir import CONSTANT, Node, Value
from graphc.graphs.session.fetching import Fetches, feed_targets, feed_value
from graphc.graphs.session.plans.pruning import needed_nodes

if TYPE_CHECKING:
    from graphc.graphs.session.session import Session

__all__ = ["PartialRun"]


class PartialRun:
    """A run that :meth:`Session.partial_run_setup` began.

    Args:
      session: the Session.
      fetches: the fetches of all parts.
      feeds: the feeds of all parts.
    """

    def __init__(self, session: Session, fetches: Any, feeds: Sequence[Any]) -> None:
        self._session = session
        graph = session.graph
        wanted = Fetches.of(graph, fetches)
        self._open_feeds = {value for key in feeds for value in feed_targets(graph, key)}
        self._open_fetches: set[Value | Node] = {*wanted.values, *wanted.nodes}
        self._nodes = self._needed(self._open_fetches, self._open_feeds)
        self._done: set[Node] = set()
        self._known: dict[Value, Any] = {}

    @property
    def is_done(self) -> bool:
        """True if all named fetches have been fetched."""
        return not self._open_fetches

    def part(self, fetches: Any, feed_dict: Mapping[Any, Any]) -> Any:
        """Runs a part; see :meth:`Session.partial_run`."""
        wanted = Fetches.of(self._session.graph, fetches)
        targets: list[Value | Node] = [*wanted.values, *wanted.nodes]
        self._check(targets, self._open_fetches, "fetch")
        graph = self._session.graph
        given = [(value, array) for key, array in feed_dict.items() for value in feed_targets(graph, key)]
        self._check([value for value, _ in given], self._open_feeds, "feed")
        known = {**self._known, **{value: feed_value(value, array) for value, array in given}}
        nodes = [node for node in self._needed(targets, known) if node not in self._done]
        rest = [node for node in self._nodes if node not in self._done and node not in set(nodes)]
        left = [value for node in rest for value in node.inputs if value.node in set(nodes)]
        between = [value for value in dict.fromkeys(left) if value.node and value.node.op is not CONSTANT]
        fed = [value for value in known if any(value in node.inputs for node in nodes) or value in wanted.values]
        outputs = [
            *wanted.values,
            *(value for value in between if value.node is not None and value.node.op is not CONSTANT),
        ]
        results = self._session.execute(self._session.plan(nodes, fed, outputs), [known[value] for value in fed])
        self._known = {**known, **dict(zip(outputs, results, strict=True))}
        self._done.update(nodes)
        self._open_feeds -= {value for value, _ in given}
        self._open_fetches -= set(targets)
        return wanted.result(results[: len(wanted.values)])

    def _needed(self, targets: Iterable[Value | Node], fed: Any) -> list[Node]:
        trace = self._session.graph.trace
        return needed_nodes(trace.builder.nodes, targets, fed, trace.carried)

    def _check(self, given: Sequence[Value | Node], known: Any, what: str) -> None:
        for item in given:
            if item not in known:
                name = item.name if isinstance(item, Node) else f"{item.node.name}:{item.index}" if item.node else ""
                error = InvalidArgumentError(
                    f"the {what} {name!r} was not named in partial_run_setup, or was given in an earlier part"
                )
                raise at(error, user_location())
