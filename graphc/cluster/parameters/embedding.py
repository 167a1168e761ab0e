"""Embedding: a table at the servers, of which a step pulls and pushes the rows that it looks up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphc.autograph import do_not_convert
from graphc.base import at, user_location
from graphc.base.errors import OutOfRangeError
from graphc.cluster.parameters.steps import Taker
from graphc.core import Tensor, Variable, context
from graphc.layers import Layer
from graphc.ops import asarray
from graphc.tracing import refuse_in_trace

__all__ = ["Embedding"]


class Embedding(Layer):
    """Gives each number of a category a vector that is trained; made by :meth:`ParameterServer.embedding`.

    The table is at the servers alone. A step looks up at most ``capacity`` different rows, which it pulls, and pushes
    the gradients of; the optimizer's state of the other rows stays as it is.

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
        """Returns the vectors of some numbers: an axis of ``width`` more.

        Outside a step it pulls the rows as they are now.

        Raises:
          UnimplementedError: called in a compiled function that is no step.
          OutOfRangeError: there is no such row; in a step, its result raises it.
        """
        taker = context.updates
        if isinstance(taker, Taker):
            places = taker.look_up(self.window.name, self.capacity, asarray(ids))
            return self.window.value()[places]
        refuse_in_trace(
            f"embedding {self.name!r} is at the servers, and this compiled function is no step; schedule it on the "
            "parameter server, or call the embedding eagerly"
        )
        try:
            return Tensor(self._fetch(self, np.asarray(asarray(ids))))
        except OutOfRangeError as error:
            raise at(error, user_location()) from error.__cause__
