"""Embedding: a table on the servers; a step pulls and pushes only the rows that it looks up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphc.cluster.parameters.steps import Taker
from graphc.compiler.autograph import do_not_convert
from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import OutOfRangeError
from graphc.compiler.core import Tensor, Variable, context
from graphc.compiler.ops import asarray
from graphc.compiler.tracing import refuse_in_trace
from graphc.training.layers import Layer

__all__ = ["Embedding"]


class Embedding(Layer):
    """Maps each category to a trained vector; made by :meth:`ParameterServer.embedding`.

    Only the servers hold the table. A step looks up at most ``capacity`` different rows; it pulls them and pushes their
    gradients. The optimizer's state of other rows does not change.

    Args:
      rows: the number of categories.
      width: the size of the vectors.
      capacity: the maximum number of different rows that a step looks up.
      start: a function from a first row and a count to the table's initial rows.
      fetch: a function from row numbers to the current rows.
      name: a name to display.
    """

    def __init__(
        self, rows: int, width: int, capacity: int, start: Callable[[int, int], Any],
        fetch: Callable[[Embedding, Any], Any], name: str,
    ) -> None:  # fmt: skip
        super().__init__(name)
        self.rows, self.width, self.capacity = rows, width, capacity
        self.start, self._fetch = start, fetch
        self.window = Variable(np.zeros((capacity, width), np.float32), name=name)
        self.built = True

    @property
    def table(self) -> str:
        """The name of the table."""
        return f"{self.window.name}/table"

    @do_not_convert
    def call(self, ids: Any) -> Any:
        """Returns the vectors of some ids, with an additional axis of ``width``.

        Outside a step, it pulls the current rows.

        Raises:
          UnimplementedError: called in a compiled function that is not a step.
          OutOfRangeError: a row does not exist; inside a step, its result raises the error.
        """
        taker = context.updates
        if isinstance(taker, Taker):
            places = taker.look_up(self.window.name, self.capacity, asarray(ids))
            return self.window.value()[places]
        refuse_in_trace(
            f"embedding {self.name!r} is on the servers, but this compiled function is not a step; schedule it on the "
            "parameter server, or call the embedding eagerly"
        )
        try:
            return Tensor(self._fetch(self, np.asarray(asarray(ids))))
        except OutOfRangeError as error:
            raise at(error, user_location()) from error.__cause__
