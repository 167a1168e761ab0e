"""Programs of a function of elements: for blocks of rows, for several batches at once, for one row, for a fold."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from typing import Any

import jax as _jax
import numpy as np

from graphc.compiler.core import trace_scope
from graphc.training.data.elements import Block, Row
from graphc.training.data.tracing import ElementTrace

__all__ = ["Programs"]

jax: Any = _jax  # its functions are only partly annotated


class Programs:
    """The compiled programs of a chain of pure functions, each applied to the results of the one before.

    Args:
      traces: the functions; only the first may take strings.
    """

    def __init__(self, *traces: ElementTrace) -> None:
        self.traces = traces
        self._forget()

    def _forget(self) -> None:
        """Drops the compiled programs; the next calls compile again."""
        self._of_block: Any = jax.jit(jax.vmap(self.compute))
        self._sizes: list[int] = []
        self._split_programs: dict[int, Any] = {}
        self._folding: Any = None
        self._of_row: Any = None

    def compute(self, *arrays: Any) -> tuple[Any, ...]:
        """Computes the numbers of a row with JAX."""
        for trace in self.traces:
            arrays = trace.compute(*arrays)
        return arrays

    @property
    def takes_strings(self) -> bool:
        """True if it takes strings, and may therefore raise."""
        return self.traces[0].has_strings

    def refresh(self) -> None:
        """Updates the programs to the current values of what the functions read from outside."""
        with trace_scope(None), contextlib.suppress(Exception):  # an error here is raised again by the call
            changed = [
                trace.has_changed() for trace in self.traces
            ]  # all of them, since each records its current values
            if any(changed):
                self._forget()

    def block(self, block: Block, size: int = 0) -> Block:
        """Returns the results for the rows of a block, computed as one program.

        Args:
          block: the rows.
          size: the usual number of rows in a block; smaller blocks are padded, since compiling takes longer.
        """
        inputs, strings = self.traces[0].inputs(block)
        found = self._numbers(inputs, len(block[0]), size) if inputs else ()
        return self.traces[-1].whole(found, strings)

    def _numbers(self, inputs: Sequence[Any], count: int, size: int) -> Sequence[Any]:
        if count not in self._sizes:
            fits = [known for known in self._sizes if known > count]
            if fits or size > count:
                return self._padded(inputs, count, min(fits, default=size))
            self._sizes.append(count)
        with trace_scope(None):
            return self._of_block(*inputs)

    def _padded(self, inputs: Sequence[Any], count: int, size: int) -> Sequence[Any]:
        if size not in self._sizes:
            self._sizes.append(size)
        padded = [np.concatenate([column := np.asarray(c), np.repeat(column[-1:], size - count, 0)]) for c in inputs]
        with trace_scope(None):
            return [np.asarray(column)[:count] for column in self._of_block(*padded)]

    def split(self, block: Block, size: int) -> list[Row]:
        """Returns the results for the rows of a block, ``size`` rows together, computed as one program.

        Starting a program takes 10 us, and each of its results less than 1 us.

        Args:
          block: the rows.
          size: the number of rows to join into one result; 0 to return each separately.
        """
        if size not in self._split_programs:

            def compute(*columns: Any) -> list[Block]:
                found = jax.vmap(self.compute)(*columns)
                return [tuple(part) for part in _parts(found, size, len(columns[0]))]

            self._split_programs[size] = jax.jit(compute)
        inputs, strings = self.traces[0].inputs(block)
        count = len(block[0])
        numbers: Sequence[Any] = [()] * (count // (size or 1))
        if inputs:
            with trace_scope(None):
                numbers = self._split_programs[size](*inputs)
        texts = _parts(strings, size, count) if strings else [()] * len(numbers)
        return [self.traces[-1].whole(*pair) for pair in zip(numbers, texts, strict=True)]

    def folded(self, state: Row, block: Block) -> Row:
        """Folds a state over the rows of a block, and returns the last state."""
        if self._folding is None:

            def step(state: Row, row: Row) -> tuple[Row, None]:
                return self.compute(*state, *row), None

            def fold(state: Row, block: Block) -> Row:
                return jax.lax.scan(step, state, block)[0]

            self._folding = jax.jit(fold)
        with trace_scope(None):
            return self._folding(state, block)

    def row(self, row: Row) -> Row:
        """Returns the result for one row."""
        if self.takes_strings:
            found: Any = self.block(tuple([_alone(leaf) for leaf in row]))
            return tuple([column[0] for column in map(np.asarray, found)])
        # JAX would treat the method itself as the same function even after its reads have changed.
        self._of_row = self._of_row or jax.jit(functools.partial(self.compute))
        with trace_scope(None):
            found = self._of_row(*row)
        return tuple([leaf if leaf.shape else np.asarray(leaf)[()] for leaf in found])


def _parts(columns: Sequence[Any], size: int, count: int) -> list[list[Any]]:
    """Splits columns into groups of ``size`` rows, or into single rows."""
    if not size:
        return [[column[place] for column in columns] for place in range(count)]
    return [[column[start : start + size] for column in columns] for start in range(0, count, size)]


def _alone(leaf: Any) -> Any:
    """Returns a leaf as a column of one row."""
    column = np.empty((1, *np.shape(leaf)), object if isinstance(leaf, bytes) else leaf.dtype)
    column[0] = leaf
    return column
