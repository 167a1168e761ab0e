"""What one replica of a data-parallel step sees of the others, and what differs between them outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding

from graphc.base import at, nest, user_location
from graphc.base.errors import FailedPreconditionError, InvalidTypeError
from graphc.core import Tensor, apply, apply_all, context, operand
from graphc.distribute.processes import meet
from graphc.ops import ALL_MEAN, ALL_SUM, FOLD_IN_REPLICA, REPLICA_INDEX, asarray

__all__ = ["PerReplica", "Rehearsal", "Replica", "all_mean", "all_sum", "replica_index"]


class Replica:
    """The context of the replica that is being traced."""

    def __init__(self, num_replicas: int) -> None:
        self.num_replicas = num_replicas

    def mean(self, tensors: Sequence[Any]) -> list[Tensor]:
        """The mean of each tensor over the replicas, all in one collective."""
        return apply_all(ALL_MEAN, tensors)

    def total(self, tensors: Sequence[Any]) -> list[Tensor]:
        """The sum of each tensor over the replicas, all in one collective."""
        return apply_all(ALL_SUM, tensors)

    def index(self) -> Tensor:
        """Which replica this is."""
        return apply(REPLICA_INDEX, ())

    def fold_key(self, key: Tensor) -> Tensor:
        """Key data that differs between replicas; with one replica, the numbers of a plain function."""
        return key if self.num_replicas == 1 else apply(FOLD_IN_REPLICA, (key,))


class Rehearsal(Replica):
    """The context of a step that runs eagerly, on the first replica's part, only to make its Variables."""

    def mean(self, tensors: Sequence[Any]) -> list[Tensor]:
        """The tensors themselves: nobody looks at the numbers of a rehearsal."""
        return [asarray(tensor) for tensor in tensors]

    total = mean

    def index(self) -> Tensor:
        """The first replica."""
        return asarray(0)

    def fold_key(self, key: Tensor) -> Tensor:
        """The key itself."""
        return key


def _replica(name: str) -> Replica:
    replica = context.replica
    if not isinstance(replica, Replica):
        error = FailedPreconditionError(
            f"{name} is called outside a data-parallel step; call it in a function that DataParallel runs"
        )
        raise at(error, user_location())
    return replica


def all_mean(value: Any) -> Any:
    """The mean over the replicas of tensors in a nested structure, in one collective; inside a data-parallel step.

    Raises:
      FailedPreconditionError: called outside one.
    """
    leaves, structure = nest.flatten(value)
    return nest.unflatten(structure, _replica("all_mean").mean(leaves))


def all_sum(value: Any) -> Any:
    """The sum over the replicas of tensors in a nested structure, in one collective; inside a data-parallel step.

    Raises:
      FailedPreconditionError: called outside one.
    """
    leaves, structure = nest.flatten(value)
    return nest.unflatten(structure, _replica("all_sum").total(leaves))


def replica_index() -> Tensor:
    """Which replica this is: an int32 scalar, from 0; inside a data-parallel step.

    Raises:
      FailedPreconditionError: called outside one.
    """
    return _replica("replica_index").index()


def _refuse(per_replica: PerReplica, *others: Any) -> Any:
    """What stands for the operators of PerReplica: which of the replicas' values is meant is the user's to say."""
    del per_replica, others
    raise at(_not_one_tensor(), user_location())


def _not_one_tensor() -> InvalidTypeError:
    return InvalidTypeError(
        "a PerReplica holds one tensor for each replica and cannot be computed with; make one tensor of it with "
        "DataParallel.reduce('mean', x) or x.stack(), or take one of x.values"
    )


class PerReplica:
    """A result that differs between replicas.

    Attributes:
      values: one tensor for each replica, each on its device.
    """

    __array_ufunc__ = None  # NumPy leaves operators to this class
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __abs__ = __float__ = __int__ = __bool__ = _refuse

    def __init__(self, stacked: jax.Array, replicated: NamedSharding) -> None:
        self._stacked = stacked
        self._replicated = replicated

    @property
    def values(self) -> tuple[Tensor, ...]:
        """One tensor for each replica of this process."""
        shards = sorted(self._stacked.addressable_shards, key=lambda shard: shard.index[0].start or 0)
        return tuple(Tensor(shard.data[0]) for shard in shards)

    def stack(self) -> Tensor:
        """The values as one tensor, on every device as variables are, with a leading axis for the replicas.

        Where several processes run the program, all must call this, and :meth:`numpy`.
        """
        if not self._stacked.is_fully_addressable:
            meet("the gathering of a PerReplica")
        return Tensor(jax.device_put(self._stacked, self._replicated))

    def numpy(self) -> np.ndarray[Any, Any]:
        """The values as one NumPy array, with a leading axis for the replicas; waits for them."""
        return np.asarray(self._stacked) if self._stacked.is_fully_addressable else self.stack().numpy()

    def __repr__(self) -> str:
        if self._stacked.is_fully_addressable:
            return f"PerReplica({self.numpy()})"
        return f"PerReplica(of {self._stacked.shape[0]}, here {[value.tolist() for value in self.values]})"


@operand.register(PerReplica)
def _operand(value: PerReplica) -> Any:
    del value
    raise _not_one_tensor()
