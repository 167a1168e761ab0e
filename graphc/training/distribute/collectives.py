"""Named axes: a replica's view of the others, and its collectives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphc.compiler.base import nest
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.compiler.core import FUNCTIONS, Tensor, apply_all, context, operand
from graphc.compiler.ir import OPS, Attrs
from graphc.compiler.ops import asarray


class Replica:
    """The context of a replica that is being traced, or that runs eagerly to make its Variables."""

    def __init__(self, axis: str, size: int, *, averages: bool, rehearsed: bool = False, parts: int = 1) -> None:
        self.axis = axis
        self.num_replicas = size
        self._averages = averages
        self._rehearsed = rehearsed  # whether it runs alone, and its results are discarded
        self._parts = parts  # the micro-batches in which :func:`mean_gradients` goes through the rows
        self.parts_requested = False
        self.weights: Tensor | None = None  # of the rows, where some only fill up an uneven batch
        self.weighed = False

    def wanted_parts(self) -> int:
        """The number of micro-batches for gradients."""
        self.parts_requested = True
        return self._parts

    def collective(self, name: str, values: Sequence[Any], **attrs: Any) -> list[Tensor]:
        """Applies a collective to tensors, all at once."""
        tensors = [asarray(operand(value)) for value in values]
        if self._rehearsed and name == "ppermute":  # which JAX supports only in replicas
            return tensors
        if self._rehearsed:
            attrs["rehearsed"] = True
        return apply_all(OPS[name], tensors, Attrs(axis_name=self.axis, size=self.num_replicas, **attrs))

    def row_weights(self) -> Tensor | None:
        """Returns the weights of the rows, None if all count the same; the caller must use them."""
        self.weighed = True
        return self.weights

    def mean(self, tensors: Sequence[Any]) -> list[Any]:
        """Returns the mean of each gradient over the replicas, if optimizers should average."""
        return self.mean_of_rows(tensors) if self._averages and tensors else list(tensors)

    def mean_of_rows(self, tensors: Sequence[Any]) -> list[Tensor]:
        """Returns the mean over the replicas, weighted by their rows."""
        if self.weights is None:
            return self.collective("pmean", tensors)
        weight = FUNCTIONS["sum"](self.weights)
        share = weight / self.total([weight])[0]
        values = [asarray(operand(tensor)) for tensor in tensors]
        means = self.total([FUNCTIONS["where"](weight > 0, tensor * share, 0.0) for tensor in values])
        pairs = zip(means, [tensor.type for tensor in values], strict=True)
        return [FUNCTIONS["astype"](mean, type.dtype) if type.is_inexact else mean for mean, type in pairs]

    def total(self, tensors: Sequence[Any]) -> list[Tensor]:
        """Returns the sum of each tensor over the replicas, for sums over rows."""
        return self.collective("psum", tensors) if tensors else []

    def fold_key(self, key: Tensor) -> Tensor:
        """Returns key data that differs between replicas; for one replica, the same numbers as a plain function."""
        return key if self.num_replicas == 1 else self.collective("fold_in_axis", [key])[0]


def _replica(what: str, axis_name: str | None) -> Replica:
    replica = context.replica
    own = replica.axis if isinstance(replica, Replica) else None
    if isinstance(replica, Replica) and axis_name in (None, own):
        return replica
    if axis_name is None:
        error = FailedPreconditionError(
            f"{what} is called outside a data-parallel step; call it in a function that DataParallel runs"
        )
    else:
        there = "no axis has a name here" if own is None else f"the axis here is {own!r}"
        error = FailedPreconditionError(
            f"{what}: there is no axis {axis_name!r}, {there}; call it in a function that gx.pmap(..., "
            f"axis_name={axis_name!r}) maps"
        )
    raise error.here()


def _all(name: str, value: Any, axis_name: str | None, what: str = "", **attrs: Any) -> Any:
    """Applies a collective to the tensors in a nested structure."""
    leaves, structure = nest.flatten(value)
    replica = _replica(what or name, axis_name)
    return nest.unflatten(structure, replica.collective(name, leaves, **attrs) if leaves else [])


def psum(value: Any, axis_name: str) -> Any:
    """Sums tensors in a nested structure over the replicas, in one collective (``jax.lax.psum``).

    Its gradient is the sum of all replicas' gradients, as in ``jax.pmap``. See docs/how-to/distributed.md for when to
    sum gradients and when to average them.

    Args:
      value: a tensor or a nested structure of tensors.
      axis_name: the axis of the replicas, as :func:`pmap` was given it; ``"replica"`` in a data-parallel step.

    Raises:
      FailedPreconditionError: the axis does not exist here.

    Example:
      >>> import graphc as gx
      >>> gx.pmap(lambda x: gx.psum(x, "i"), axis_name="i")(gx.asarray([3.0])).tolist()
      [3.0]
    """
    return _all("psum", value, axis_name)


def pmean(value: Any, axis_name: str) -> Any:
    """Returns the mean over the replicas (``jax.lax.pmean``); see :func:`psum`."""
    return _all("pmean", value, axis_name)


def pmax(value: Any, axis_name: str) -> Any:
    """Returns the maximum over the replicas (``jax.lax.pmax``), which has no gradient; see :func:`psum`."""
    return _all("pmax", value, axis_name)


def pmin(value: Any, axis_name: str) -> Any:
    """Returns the minimum over the replicas (``jax.lax.pmin``), which has no gradient; see :func:`psum`."""
    return _all("pmin", value, axis_name)


def all_gather(value: Any, axis_name: str, *, axis: int = 0, tiled: bool = False) -> Any:
    """Returns the values of all replicas, on each of them (``jax.lax.all_gather``).

    Args:
      value: a tensor or a nested structure of tensors.
      axis_name: the axis of the replicas.
      axis: the axis of the replicas in the result.
      tiled: whether to join them along that axis, instead of stacking them along a new one.

    Raises:
      FailedPreconditionError: the axis does not exist here.
    """
    return _all("all_gather", value, axis_name, axis=axis, tiled=tiled)


def all_to_all(value: Any, axis_name: str, split_axis: int, concat_axis: int, *, tiled: bool = False) -> Any:
    """Exchanges parts of an axis between all replicas (``jax.lax.all_to_all``).

    Args:
      value: a tensor or a nested structure of tensors.
      axis_name: the axis of the replicas.
      split_axis: the axis of which each replica gets a part; of the size of the axis of the replicas, or with ``tiled``
        a multiple of it.
      concat_axis: the axis along which the replicas' parts are concatenated.
      tiled: whether ``split_axis`` stays and the parts are joined, instead of stacked.

    Raises:
      FailedPreconditionError: the axis does not exist here.
      InvalidArgumentError: the axis cannot be split so.
    """
    return _all("all_to_all", value, axis_name, split_axis=split_axis, concat_axis=concat_axis, tiled=tiled)


def ppermute(value: Any, axis_name: str, perm: Sequence[tuple[int, int]]) -> Any:
    """Returns another replica's value (``jax.lax.ppermute``); zeros where none sends.

    Args:
      value: a tensor or a nested structure of tensors.
      axis_name: the axis of the replicas.
      perm: pairs of replicas: the sender and the receiver.

    Raises:
      FailedPreconditionError: the axis does not exist here.
      InvalidArgumentError: a replica sends or gets twice, or does not exist.
    """
    size = _replica("ppermute", axis_name).num_replicas
    pairs = tuple((int(source), int(goal)) for source, goal in perm)
    sources, goals = [source for source, _ in pairs], [goal for _, goal in pairs]
    alone = len(set(sources)) == len(set(goals)) == len(pairs)
    if not alone or not all(0 <= index < size for index in (*sources, *goals)):
        raise InvalidArgumentError(
            f"ppermute: perm={perm!r} must pair replicas from 0 to {size - 1}, each at most once on either side"
        ).here()
    return _all("ppermute", value, axis_name, perm=pairs)


def axis_index(axis_name: str) -> Tensor:
    """Returns the index of the replica, an int32 scalar from 0 (``jax.lax.axis_index``).

    Raises:
      FailedPreconditionError: the axis does not exist here.
    """
    return _replica("axis_index", axis_name).collective("axis_index", [])[0]


def axis_size(axis_name: str) -> int:
    """Returns the number of replicas (``jax.lax.axis_size``).

    Raises:
      FailedPreconditionError: the axis does not exist here.
    """
    return _replica("axis_size", axis_name).num_replicas


def all_mean(value: Any) -> Any:
    """Returns the mean over the replicas, inside a data-parallel step: :func:`pmean` over its axis.

    With ``uneven="mask"``, each replica is weighted by its rows without padding.

    Raises:
      FailedPreconditionError: called outside one.
    """
    leaves, structure = nest.flatten(value)
    replica = _replica("all_mean", None)
    return nest.unflatten(structure, replica.mean_of_rows(leaves) if leaves else [])


def row_weights() -> Tensor | None:
    """Returns the weight of each row of this replica, inside a step of ``DataParallel(uneven="mask")``.

    Returns:
      A float32 tensor of ones, with a zero for each padding row; None if there is no padding.

    Raises:
      FailedPreconditionError: called outside a data-parallel step.
    """
    return _replica("row_weights", None).row_weights()


def all_sum(value: Any) -> Any:
    """Returns the sum over the replicas, inside a data-parallel step: :func:`psum` over its axis.

    Raises:
      FailedPreconditionError: called outside one.
    """
    return _all("psum", value, None, "all_sum")


def replica_index() -> Tensor:
    """Returns the index of the replica, an int32 scalar from 0, inside a data-parallel step.

    Raises:
      FailedPreconditionError: called outside one.
    """
    return _replica("replica_index", None).collective("axis_index", [])[0]
