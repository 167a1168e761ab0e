"""Rows whose position is their count: to restore it, they are read again from the start."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from typing import Any

from graphc.training.data.elements import Row
from graphc.training.data.plan import Rows
from graphc.training.data.sources import State

__all__ = ["LookingBack", "Replayed"]


class Replayed(Rows):
    """Rows whose state is too large to save, such as all elements seen so far: restoring reads them again."""

    def __init__(self, *inputs: Rows) -> None:
        super().__init__(*inputs)
        self.given = 0

    @abstractmethod
    def read(self) -> Row:
        """Returns the next row."""

    def __next__(self) -> Row:
        row = self.read()
        self.given += 1
        return row

    def state(self) -> State:
        return {"given": self.given}

    def restore(self, state: State) -> None:
        for _ in range(state["given"]):
            next(self)


class LookingBack(Rows):
    """Rows that hold some of the last rows of their input: their position is the one before the first of these."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        self.held: deque[Any] = deque()
        self._marks: deque[State] = deque()

    def hold(self) -> bool:
        """Reads one more row; returns False at the end."""
        mark = self.input.state()
        row = next(self.input, None)
        if row is None:
            return False
        self.held.append(row)
        self._marks.append(mark)
        return True

    def let_go(self) -> None:
        """Forgets the first row."""
        self.held.popleft()
        self._marks.popleft()

    def state(self) -> State:
        if not self._marks:
            return super().state()
        return {**super().state(), "inputs": [self._marks[0]]}
