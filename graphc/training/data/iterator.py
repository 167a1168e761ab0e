"""Iterators over datasets: elements as tensors, and their position as data."""

from __future__ import annotations

import dataclasses
import threading
import weakref
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Self, cast

from graphc.compiler.base import holding
from graphc.compiler.base.errors import InvalidArgumentError, OutOfRangeError
from graphc.compiler.base.nest import LEAF
from graphc.compiler.core import shorten
from graphc.compiler.tracing import refuse_in_trace
from graphc.training.data.elements import Row, flatten, to_tensors, unflatten
from graphc.training.data.nodes.threads import ReadAhead
from graphc.training.data.plan import Epoch, NodeReader, PlanNode, outline, replaced, walk
from graphc.training.data.sources import State

if TYPE_CHECKING:
    from graphc.training.data.planned_dataset import Planned


class Optional:
    """A value that may be missing; see :meth:`DatasetIterator.get_next_as_optional`."""

    def __init__(self, *value: Any) -> None:
        self._value = value

    def has_value(self) -> bool:
        """Returns True if there is a value."""
        return bool(self._value)

    def get_value(self) -> Any:
        """Returns the value.

        Raises:
          InvalidArgumentError: there is none.
        """
        if not self._value:
            raise InvalidArgumentError("get_value(): the iterator had no more elements").here()
        return self._value[0]


class DatasetIterator(Iterator[Any]):
    """Iterates over the elements of a dataset; made by ``iter(dataset)``.

    Its position is data: another process that makes an iterator of the same dataset and restores the position continues
    with exactly the elements that would have come next.

    Example:
      >>> import graphc as gx
      >>> dataset = gx.data.Dataset.range(10).shuffle(10, seed=1).batch(2)
      >>> first = iter(dataset)
      >>> _ = next(first)
      >>> position = first.state()
      >>> second = iter(dataset)
      >>> second.restore(position)
      >>> bool(gx.all(next(first) == next(second)))
      True
    """

    __graphc_opaque__ = True

    def __init__(self, dataset: Planned, *, as_numpy: bool = False) -> None:
        refuse_in_trace(_IN_TRACE)
        self._dataset = dataset
        self._as_numpy = as_numpy
        self._plan = dataset.plan
        self._run = next_run(self._plan)
        self._build: Callable[[Any], Any] | None = None
        self._lock = threading.RLock()  # several threads may share an iterator
        self._start()

    def _start(self) -> None:
        self._optimized = self._dataset.optimized_as(self._plan)
        self._rows: NodeReader | None = self._optimized.open(Epoch(self._run))
        self._closing = weakref.finalize(self, self._rows.close)

    @property
    def element_spec(self) -> Any:
        """The types of the elements."""
        return self._plan.spec

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        refuse_in_trace(_IN_TRACE)
        try:
            with holding(self._lock, _next_element):
                rows = self._rows
                if rows is None:
                    raise StopIteration
                try:
                    row = next(rows)
                except StopIteration:
                    self.close()
                    raise
        except Exception as error:
            shorten(error)
            raise
        build = self._build or self._builder()
        return build(row)

    def _builder(self) -> Callable[[Row], Any]:
        structure = flatten(self._optimized.spec)[1]
        convert: Any = _to_numpy if self._as_numpy else to_tensors
        if structure == LEAF:
            self._build = lambda row: convert(row)[0]
        elif structure.kind is tuple and all(child == LEAF for child in structure.children):
            self._build = lambda row: tuple(convert(row))
        else:
            self._build = lambda row: unflatten(structure, convert(row))
        return self._build

    @property
    def is_ready(self) -> bool:
        """True if the next element, or the end, is available without a wait, because a thread has read it ahead."""
        rows = self._rows
        return isinstance(rows, ReadAhead) and rows.has_some

    def get_next(self) -> Any:
        """Returns the next element.

        Raises:
          OutOfRangeError: there are no more elements.
        """
        for element in self:
            return element
        raise OutOfRangeError("get_next(): the dataset has no more elements").here()

    def get_next_as_optional(self) -> Optional:
        """Returns the next element, or an Optional without a value at the end."""
        for element in self:
            return Optional(element)
        return Optional()

    def state(self) -> State:
        """Returns the position: a small structure of JSON values and NumPy arrays."""
        with holding(self._lock, _next_element):
            rows = None if self._rows is None else self._rows.state()
        return {"plan": outline(self._plan), "run": self._run, "seeds": _seeds(self._plan), "rows": rows}

    def restore(self, state: State) -> None:
        """Moves to a position of an iterator of the same dataset, forward or backward.

        Args:
          state: a state from :meth:`state`.

        Raises:
          InvalidArgumentError: the position belongs to another pipeline, judging by the transformations and their
            arguments, or is not a position.
        """
        _check_position(state, outline(self._plan))
        self.close()
        self._plan = _reseeded(self._plan, iter(state["seeds"]))
        self._run = state["run"]
        if state["rows"] is not None:
            self._start()
            assert self._rows is not None
            self._rows.restore(state["rows"])

    def close(self) -> None:
        """Ends the iteration with its threads, processes and open files; a second call does nothing."""
        self._closing()
        self._rows = None


def _next_element() -> str:
    return "the next element of a dataset, while another thread takes one"


_IN_TRACE = (
    "an iterator over a dataset is used while a function is traced, which would take elements once, not at each call; "
    "write `for element in dataset:`, with dataset.enumerate() or gx.data.Dataset.zip for Python's enumerate and zip, "
    "or call the step with next(iterator) outside"
)


def _to_numpy(row: Row) -> list[Any]:
    return [leaf.as_numpy_iterator() if hasattr(leaf, "as_numpy_iterator") else _array(leaf) for leaf in row]


def _array(leaf: Any) -> Any:
    return leaf if isinstance(leaf, bytes) else leaf.__array__()[()]


def next_run(plan: PlanNode) -> int:
    """Returns how often the random parts of the plan were iterated before, and counts this iteration."""
    counters: list[Any] = [getattr(node, "runs", None) for node in walk(plan)]
    return max([next(runs) for runs in counters if runs is not None], default=0)


def _check_position(state: Any, here: list[str]) -> None:
    """Raises an error for a state that is not a position of a plan with this outline."""
    if not isinstance(state, dict) or not {"plan", "run", "seeds", "rows"} <= cast("dict[str, Any]", state).keys():
        problem = f"restore: expected a state() of an iterator, got {state!r:.60}"
        raise InvalidArgumentError(problem).here()
    there = list(cast("dict[str, Any]", state)["plan"])
    if there == here:
        return
    pairs = zip_longest(there, here, fillvalue="nothing")
    index, (other, own) = next((number, pair) for number, pair in enumerate(pairs) if pair[0] != pair[1])
    remedy = "make the same dataset as when state() was called, or start from the beginning"
    problem = f"transformation {index} is {other} in the position and {own} here; {remedy}"
    raise InvalidArgumentError(f"restore: the position belongs to another pipeline: {problem}").here()


def _seeds(plan: PlanNode) -> list[int]:
    values = [getattr(node, "seed", None) for node in walk(plan)]
    return [seed for seed in values if seed is not None]


def _reseeded(plan: PlanNode, seeds: Iterator[int]) -> PlanNode:
    plan = replaced(plan, lambda node: _reseeded(node, seeds))
    own = getattr(plan, "seed", None)
    if own is None:
        return plan
    changed: Any = plan
    seed = next(seeds)
    return plan if seed == own else dataclasses.replace(changed, seed=seed)
