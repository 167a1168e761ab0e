"""PerReplica: a result that differs between replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from operator import add
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding

from graphc.compiler.base import at, nest, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, Tensor, operand, whole_on
from graphc.compiler.tracing import is_array
from graphc.training.distribute.processes import meet
from graphc.training.metrics import Metric

__all__ = ["PerReplica", "evaluate", "map_results"]


def _refuse(per_replica: PerReplica, *others: Any) -> Any:
    """Refuses an operator of PerReplica: only the user can say which replica's value it means."""
    del per_replica, others
    raise at(_not_one_tensor(), user_location())


def _not_one_tensor() -> InvalidTypeError:
    return InvalidTypeError(
        "a PerReplica holds one tensor for each replica and cannot be computed with; make one tensor of it with "
        "DataParallel.gather(x), DataParallel.reduce('mean', x) or x.stack(), or take one of x.values"
    )


@dataclass(frozen=True, eq=False, repr=False)
class PerReplica:
    """A result that differs between replicas; an iterable of one tensor for each.

    Attributes:
      stacked: the tensors as one, laid over the replicas along a leading axis.
      rows: the number of rows in the batch if copies of its last row pad it (``uneven="mask"``); else None.
    """

    __graphc_composite__ = True
    __array_ufunc__ = None  # NumPy leaves operators to this class
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __abs__ = __float__ = __int__ = __bool__ = _refuse

    stacked: Tensor
    rows: int | None = None

    @property
    def values(self) -> tuple[Tensor, ...]:
        """One tensor for each replica of this process; outside of compiled functions each on its device."""
        if isinstance(self.stacked, SymbolicTensor):
            return tuple(self.stacked[place] for place in range(self.stacked.shape[0]))
        array: jax.Array = self.stacked.raw
        found: dict[int, Tensor] = {}
        for shard in array.addressable_shards:
            start, stop, _ = shard.index[0].indices(len(self))
            for place in range(start, stop):
                if place not in found:
                    found[place] = Tensor(shard.data[place - start])
        return tuple(found[place] for place in sorted(found))

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.values)

    def __len__(self) -> int:
        return self.stacked.shape[0]

    def stack(self) -> Tensor:
        """Stacks the values into one tensor, on every device like a Variable, with a leading axis for the replicas.

        If several processes run the program, all must call this and :meth:`numpy`.
        """
        sharding: Any = None if isinstance(self.stacked, SymbolicTensor) else self.stacked.raw.sharding
        if not isinstance(sharding, NamedSharding):
            return self.stacked
        if not sharding.is_fully_addressable:
            meet("the gathering of a PerReplica")
        return Tensor(jax.device_put(self.stacked.raw, whole_on(sharding.mesh)))

    def joined(self) -> Tensor:
        """Joins the values along their first axis into one tensor; stacks numbers."""
        shape = self.stacked.shape
        if len(shape) < 2:
            return self.stacked
        joined = FUNCTIONS["reshape"](self.stacked, (shape[0] * shape[1], *shape[2:]))
        filled = self.rows is not None and shape[1] == -(-self.rows // shape[0])
        return joined[: self.rows] if filled else joined

    def numpy(self) -> np.ndarray[Any, Any]:
        """Returns the values as one NumPy array with a leading axis for the replicas; waits for them."""
        return self.stacked.numpy() if self._is_here else self.stack().numpy()

    @property
    def _is_here(self) -> bool:
        return isinstance(self.stacked, SymbolicTensor) or self.stacked.raw.is_fully_addressable

    def __repr__(self) -> str:
        if not self._is_here:
            return f"PerReplica(of {len(self)}, here {[value.tolist() for value in self.values]})"
        return f"PerReplica({self.stacked if isinstance(self.stacked, SymbolicTensor) else self.numpy()})"


def map_results(function: Callable[[Any], Any], value: Any) -> Any:
    """Maps a function over the leaves of a nested structure, where a PerReplica counts as a leaf."""
    parts = None if isinstance(value, PerReplica) else nest.children(value)
    if parts is None:
        return function(value)
    return nest.rebuilt(value, [map_results(function, part) for part in parts[1]])


@operand.register(PerReplica)
def _operand(value: PerReplica) -> Any:
    del value
    raise _not_one_tensor()


# Means over all rows of a data set, independent of its batches.


def evaluate(
    run: Callable[..., Any], f: Callable[..., Any], dataset: Iterable[Any], metrics: Mapping[str, Metric]
) -> Any:
    """Returns means and metrics over all rows; see :meth:`DataParallel.evaluate`.

    Args:
      run: a function that runs a function on a batch, over devices.
    """
    for metric in metrics.values():
        metric.reset()
    totals: Any = None
    count = 0
    for batch in dataset:
        arguments = tuple(batch) if type(batch) in (tuple, list) else (batch,)
        rows = next((leaf.shape[0] for leaf in nest.flatten(arguments)[0] if is_array(leaf) and len(leaf.shape)), 0)
        sums = map_results(partial(_sum, rows), run(f, *arguments))
        totals = sums if totals is None else nest.map_structure(add, totals, sums)
        count += rows
    if not count:
        raise at(InvalidArgumentError("evaluate: the data set has no batches with rows"), user_location())
    means: Any = map_results(partial(_mean, count), totals)
    results = {name: metric.result().numpy() for name, metric in metrics.items()}
    if not results:
        return means
    return {**(means if isinstance(means, dict) else {} if means is None else {"mean": means}), **results}


def _mean(count: int, total: Any) -> Any:
    return total / count


def _sum(rows: int, leaf: Any) -> Any:
    """Returns the sum of a function's results over the rows of a batch."""
    if isinstance(leaf, PerReplica):
        array = leaf.numpy()
        values = array.reshape(-1, *array.shape[2:])[: leaf.rows] if array.ndim > 1 else array[0]
    else:
        values = leaf.numpy() if isinstance(leaf, Tensor) else np.asarray(leaf)
    if values.dtype == object or not values.ndim or values.shape[0] != rows:
        error = InvalidTypeError(
            f"evaluate: the function must return a value for each of the {rows} rows, got {leaf!r:.80}; return the "
            "values before their mean, or update a metric"
        )
        raise at(error, user_location())
    return values.sum(axis=0, dtype=np.float64)
