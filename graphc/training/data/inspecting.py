"""Inspection of a dataset: its elements, the way it runs and why, and where its time goes."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from graphc.compiler.base import nest
from graphc.training.data.elements import Block, Row, described, flatten, size_of, to_tensors, unflatten
from graphc.training.data.functions import UserFunction
from graphc.training.data.plan import Epoch, NodeReader, PlanNode, replaced
from graphc.training.data.planned_dataset import Options, Planned, count_of, refuse, types_of
from graphc.training.data.sources import State


@dataclass
class NodeStatistics:
    """The measurements of one node."""

    name: str
    inputs: list[NodeStatistics]
    seconds: float = 0.0  # including its inputs
    elements: int = 0  # the number of rows that it produced

    @property
    def own_seconds(self) -> float:
        """Returns the time without its inputs, or without waiting for a thread that reads them."""
        return max(0.0, self.seconds - sum(record.seconds for record in self.inputs))


class _TimedRows(NodeReader):
    def __init__(self, rows: NodeReader, record: NodeStatistics) -> None:
        super().__init__(rows)
        self._record = record

    def __next__(self) -> Row:
        start = time.perf_counter()
        try:
            row = next(self.input)
            self._record.elements += 1
            return row
        finally:
            self._record.seconds += time.perf_counter() - start

    def block(self, count: int) -> Block | None:
        start = time.perf_counter()
        rows = self.input.block(count)
        self._record.seconds += time.perf_counter() - start
        self._record.elements += 0 if rows is None else size_of(rows)
        return rows

    def state(self) -> State:
        return self.input.state()

    def restore(self, state: State) -> None:
        self.input.restore(state)


@dataclass(frozen=True, eq=False)
class TimedElements(PlanNode):
    """The same elements, with their time measured."""

    word = "timed"
    keeps_blocks = True
    source: PlanNode
    record: NodeStatistics = field(repr=False)

    def open(self, epoch: Epoch) -> NodeReader:
        """Opens the input, and measures it."""
        return _TimedRows(self.input.open(epoch), self.record)


def timed(node: PlanNode) -> TimedElements:
    """Returns a plan that measures the time of each of its nodes."""
    inner: list[NodeStatistics] = []

    def measured(child: PlanNode) -> PlanNode:
        plan = timed(child)
        inner.append(plan.record)
        return plan

    name = str(node)
    node = replaced(node, measured)
    return TimedElements(node, NodeStatistics(name, inner))


_HOW = {
    "blocks": "compiled: one program for a block of rows",
    "rows": "compiled for each shape of an element",
    "stateful": "compiled, and called for each element",
    "python": "Python calls it for each element",
}


class MultilineText(str):
    """A string that a notebook or the prompt shows line by line."""

    __slots__ = ()
    __repr__ = str.__str__


class Looking(Planned):
    """Methods of a dataset that set its options and show how it runs."""

    def options(self) -> Options:
        """Returns the dataset's options."""
        return self.given_options

    def with_options(self, options: Options, name: str | None = None) -> Self:
        """Returns the same dataset with other options.

        Args:
          options: the options.
        """
        if not isinstance(options, Options):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise refuse("with_options", f"expected gx.data.Options, got {options!r:.60}")
        return type(self)(self.plan, options)

    def explain(self) -> MultilineText:
        """Describes how the dataset runs: the optimized plan, the functions that Python must call, and why.

        Example:
          >>> import graphc as gx
          >>> print(gx.data.Dataset.range(8).map(lambda x: x + 1).shuffle(4, seed=0).batch(2).explain())
          range(0, 8)                              int32[]
          shuffle(buffer_size=4, seed=0, reshuffle_each_iteration=True) int32[]
          map(function=<lambda>)                   int32[]
            <lambda>: compiled: one program for a block of rows
          batch(batch_size=2, drop_remainder=False) int32[?]
        """
        return MultilineText("\n".join(_explained(self.optimized, "")))

    def peek(self, count: int = 1) -> MultilineText:
        """Describes an element's shapes and types, and shows the first elements.

        Args:
          count: the number of elements to show.

        Example:
          >>> import graphc as gx
          >>> gx.data.Dataset.from_tensor_slices({"x": [[1.0, 2.0]], "name": ["a"]}).peek()
          {'x': float32[2], 'name': string[]}
          element 0: {'x': [1. 2.], 'name': b'a'}
        """
        lines = [described(self.element_spec)]
        iterator = self.as_numpy_iterator()
        for number, element in enumerate(itertools.islice(iterator, count_of("peek", "count", count))):
            leaves, structure = flatten(element)
            shown = [MultilineText(leaf if not hasattr(leaf, "shape") else str(leaf)) for leaf in leaves]
            lines.append(f"element {number}: {unflatten(structure, shown)}")
        getattr(iterator, "close", lambda: None)()
        return MultilineText("\n".join(lines))

    def profile(self, steps: int = 100, step: Callable[[Any], Any] | None = None) -> MultilineText:
        """Runs some steps, and reports the time of each transformation, and which side waited.

        Args:
          steps: the number of elements to take.
          step: a function to call with each element, such as a training step; None for none.
        """
        plan = timed(self.optimized)
        rows = plan.open(Epoch())
        structure = flatten(plan.spec)[1]
        waited = stepped = 0.0
        done = 0
        try:
            for _ in range(count_of("profile", "steps", steps, 1)):
                start = time.perf_counter()
                row = next(rows, None)
                if row is None:
                    break
                element = unflatten(structure, to_tensors(row))
                waiting = time.perf_counter()
                if step is not None:
                    _wait(step(element))
                waited, stepped, done = waited + waiting - start, stepped + time.perf_counter() - waiting, done + 1
        finally:
            rows.close()
        return MultilineText("\n".join(profile_lines(plan.record, done, waited, stepped if step else None)))


def _wait(value: Any) -> None:
    for leaf in nest.flatten(value)[0]:
        getattr(leaf, "wait", lambda: None)()


def profile_lines(record: NodeStatistics, steps: int, waited: float, stepped: float | None) -> Iterator[str]:
    """Yields the lines of a profile. ``stepped``: seconds that the program worked with them; None if it did not."""
    each = 1e3 / max(steps, 1)
    yield f"{steps} steps, milliseconds a step"
    for entry in _records(record):
        yield f"  {entry.own_seconds * each:9.3f}  {entry.name} ({entry.elements} elements)"
    yield f"  {waited * each:9.3f}  waiting for the input"
    if stepped is not None:
        yield f"  {stepped * each:9.3f}  the step"
        slower = "the input" if waited > 0.1 * stepped else "the step"
        yield f"the bottleneck is {slower}"


def _records(record: NodeStatistics) -> Iterator[NodeStatistics]:
    for inner in record.inputs:
        yield from _records(inner)
    yield record


def _explained(node: PlanNode, indent: str) -> Iterator[str]:
    inputs = node.inputs
    for inner in inputs:
        yield from _explained(inner, indent + "  " if len(inputs) > 1 else indent)
    text = f"{indent}{node}"
    yield f"{text:<40} {types_of(node)}"
    for function in vars(node).values():
        if isinstance(function, UserFunction):
            reason = "" if function.reason is None else f", since {function.reason}"
            yield f"{indent}  {function.name}: {_HOW[function.mode]}{reason}"
            if function.mode != "blocks" and function.location is not None:
                yield f"{indent}    at {str(function.location).replace(chr(10), chr(10) + indent + '    ')}"


def progress(dataset: Iterable[Any], description: str = "") -> Iterator[Any]:
    """Yields the elements of a dataset, and shows their number; a progress bar if the length is known.

    Args:
      dataset: the dataset.
      description: the text before the bar.

    Example:
      >>> import graphc as gx
      >>> numbers = gx.data.Dataset.range(3)
      >>> [int(x) for x in gx.data.progress(numbers, "reading")]  # doctest: +SKIP
      reading ━━━━━━━━━━━━━━━━━━━━━━ 100% 0:00:00
      [0, 1, 2]
    """
    from rich.progress import track

    total = dataset.cardinality() if isinstance(dataset, Planned) else None
    return iter(track(dataset, description or "elements", total=None if total is None or total < 0 else total))
