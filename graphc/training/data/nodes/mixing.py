"""Nodes that merge datasets: flat_map, interleave, and choosing from several."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.function import TensorSpec
from graphc.training.data.elements import Block, DatasetSpec, Row, flatten
from graphc.training.data.functions import UserFunction, inside_of_a_function
from graphc.training.data.late import LateSeed
from graphc.training.data.nodes.counting import common_spec
from graphc.training.data.nodes.maps import NamedRows
from graphc.training.data.nodes.threads import ReadAhead
from graphc.training.data.plan import Ahead, Epoch, NodeReader, PlanNode
from graphc.training.data.sources import INFINITE, Cardinality, State


@dataclass
class _Slot:
    """A dataset of the cycle that is being read."""

    number: int
    before: State
    rows: NodeReader


class _Interleaved(NamedRows):
    counters = ("number", "place", "taken", "ended")

    def __init__(self, node: Interleave, epoch: Epoch) -> None:
        super().__init__(node.function, node.input.open(epoch))
        self._node, self._epoch = node, epoch
        self._slots: list[_Slot | None] = [None] * node.cycle_length
        self.place = self.taken = 0
        self.ended = False

    def __next__(self) -> Row:
        while not self.ended or any(self._slots):
            slot = self._slots[self.place]
            if slot is None:
                if not self.ended:
                    self._slots[self.place] = self._opened(self.input)
                    self.ended = self._slots[self.place] is None
                else:
                    self._advance()
                continue
            for row in slot.rows:
                self.taken += 1
                if self.taken == self._node.block_length:
                    self._advance()
                return row
            slot.rows.close()
            self._slots[self.place] = None
            self._advance()
        raise StopIteration

    def block(self, count: int) -> Block | None:
        """Returns whole rounds over the datasets at once, as far as all of them have rows read ahead."""
        ahead, size = self._ahead(), self._node.block_length
        each, rounds = max(1, len(ahead)) * size, 0
        if ahead and not self.taken and is_even(self._node.spec):
            rounds = min(count // each, *[rows.filled() // size for rows in ahead])
        if not rounds:
            return super().block(min(count, each))
        parts = [rows.block(rounds * size) for rows in ahead]
        columns: Any = zip(*[part for part in parts if part is not None], strict=True)
        return tuple([np.stack([_in_rounds(one, rounds) for one in column], axis=1).reshape(-1, *column[0].shape[1:])
                      for column in columns])  # fmt: skip

    @property
    def is_ready(self) -> bool:
        """True if all datasets that are being read have rows read ahead."""
        return bool(self._ahead())

    def _ahead(self) -> list[Ahead]:
        """Returns the rows of the datasets in order, if all of them are read ahead; else none."""
        slots = [*self._slots[self.place :], *self._slots[: self.place]]
        live = [slot for slot in slots if slot is not None]
        ahead = [slot.rows for slot in live if isinstance(slot.rows, Ahead)]
        return ahead if len(ahead) == len(live) and (self.ended or len(live) == len(slots)) else []

    def _advance(self) -> None:
        self.place, self.taken = (self.place + 1) % len(self._slots), 0

    def _opened(self, rows: NodeReader) -> _Slot | None:
        """Opens the dataset for the next element of the input."""
        before = rows.state()
        row = next(rows, None)
        if row is None:
            return None
        self.number += 1
        return _Slot(self.number - 1, before, self._inner(row, self.number - 1))

    def _inner(self, row: Row, number: int) -> NodeReader:
        from graphc.training.data.planned_dataset import improved  # deferred, since it imports the nodes

        try:
            with inside_of_a_function():
                plan = plan_in(self.function.value(row), self.function)
        except Exception as error:
            self.note(error)
            raise
        plan = improved(plan)
        rows = plan.open(self._epoch.inner(number))
        if self._node.ahead_of_each is not None:
            return ReadAhead(rows, self._node.ahead_of_each)
        return Ahead(rows, plan.ahead, full=True) if plan.columnar else rows

    def state(self) -> State:
        slots = [
            None if slot is None else {"number": slot.number, "before": slot.before, "rows": slot.rows.state()}
            for slot in self._slots
        ]
        return {**super().state(), "slots": slots}

    def restore(self, state: State) -> None:
        for index, slot in enumerate(state["slots"]):
            if slot is not None:
                again = self._node.input.open(self._epoch)
                again.restore(slot["before"])
                rows = self._inner(next(again), slot["number"])
                rows.restore(slot["rows"])
                again.close()
                self._slots[index] = _Slot(slot["number"], slot["before"], rows)
        super().restore(state)

    def close(self) -> None:
        super().close()
        for slot in self._slots:
            if slot is not None:
                slot.rows.close()


def _in_rounds(column: Any, rounds: int) -> Any:
    return np.asarray(column).reshape(rounds, -1, *column.shape[1:])


def is_even(spec: Any) -> bool:
    """Returns True if all elements have the same shapes."""
    return all(isinstance(leaf, TensorSpec) and leaf.shape is not None and None not in leaf.shape
               for leaf in flatten(spec)[0])  # fmt: skip


def plan_in(leaf: Any, function: UserFunction) -> PlanNode:
    """Returns the plan of a dataset that a user's function returned."""
    plan = getattr(leaf, "plan", None)
    if not isinstance(plan, PlanNode):
        raise InvalidTypeError(f"{function.use}: {function.name} must return a dataset, but returned {leaf!r:.60}").at(
            function.location
        )
    return plan


@dataclass(frozen=True, eq=False)
class Interleave(PlanNode):
    """The elements of the datasets that a function returns, interleaved."""

    word = "interleave"
    changes_count = True
    slow = True
    source: PlanNode
    function: UserFunction
    cycle_length: int  # the number of datasets to read in turn; 1 for one after the other
    block_length: int
    ahead_of_each: int | None = None  # the elements of each that a thread reads ahead; None for no threads

    @cached_property
    def spec(self) -> Any:
        result = self.function.spec
        if isinstance(result, DatasetSpec):
            return result.element_spec
        raise InvalidTypeError(
            f"{self.function.use}: {self.function.name} must return a dataset, but returns {result}"
        ).at(self.function.location)

    def open(self, epoch: Epoch) -> NodeReader:
        return _Interleaved(self, epoch)

    def __str__(self) -> str:
        if self.cycle_length == 1:
            return f"flat_map(function={self.function})"
        cycle = f"cycle_length={self.cycle_length}, block_length={self.block_length}"
        return f"interleave(function={self.function}, {cycle})"


class _Chosen(NodeReader):
    def __init__(self, node: Choose, choice: NodeReader, parts: list[NodeReader]) -> None:
        super().__init__(choice, *parts)
        self._node, self._ended = node, [False] * len(parts)

    def __next__(self) -> Row:
        while not all(self._ended):
            (choice,) = next(self.inputs[0])
            index = int(choice)
            if not 0 <= index < len(self._ended):
                raise InvalidArgumentError(
                    f"{self._node.word}: dataset {index} was chosen, but there are {len(self._ended)}"
                )
            row = None if self._ended[index] else next(self.inputs[index + 1], None)
            if row is not None:
                return row
            self._ended[index] = True
            if self._node.stop_on_empty_dataset:
                break
        raise StopIteration

    def state(self) -> State:
        return {**super().state(), "ended": list(self._ended)}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._ended = list(state["ended"])


@dataclass(frozen=True, eq=False)
class Choose(PlanNode):
    """Elements from one of several datasets, whose index another dataset returns."""

    word = "choose_from_datasets"
    choice: PlanNode
    parts: tuple[PlanNode, ...]
    stop_on_empty_dataset: bool

    @cached_property
    def spec(self) -> Any:
        return common_spec([part.spec for part in self.parts], self.word)

    @cached_property
    def cardinality(self) -> Cardinality:
        return INFINITE if all(part.cardinality == INFINITE for part in (*self.parts, self.choice)) else None

    def open(self, epoch: Epoch) -> NodeReader:
        return _Chosen(self, self.choice.open(epoch), [part.open(epoch) for part in self.parts])


class _RandomChoices(NodeReader):
    counters = ("given",)

    def __init__(self, node: RandomChoices, random: np.random.Generator) -> None:
        super().__init__()
        self._bounds, self._random, self.given = list(itertools.accumulate(node.weights)), random, 0

    def __next__(self) -> Row:
        self.given += 1
        drawn = self._random.random() * self._bounds[-1]
        return (np.int64(bisect_right(self._bounds, drawn)),)

    def restore(self, state: State) -> None:
        super().restore(state)
        self._random.random(self.given)


@dataclass(frozen=True, eq=False)
class RandomChoices(PlanNode):
    """Endless random indices, drawn by weight."""

    word = "random_choices"
    weights: tuple[float, ...]
    seed: int | LateSeed
    rerandomize: bool = False
    runs: Iterator[int] | None = field(default=None, repr=False)

    @cached_property
    def spec(self) -> Any:
        return TensorSpec((), "int64")

    @cached_property
    def cardinality(self) -> Cardinality:
        return INFINITE

    def open(self, epoch: Epoch) -> NodeReader:
        return _RandomChoices(self, (epoch if self.rerandomize else Epoch()).random(self.seed))
