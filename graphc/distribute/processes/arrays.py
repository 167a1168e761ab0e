"""Arrays over the devices of several processes: how each process gives its part, and how one is read whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from graphc.base import at, user_location
from graphc.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.core import Tensor, laid_out, operand
from graphc.distribute.layout import batch_mesh
from graphc.distribute.processes.job import current_job
from graphc.ops import REPLICA_AXIS

__all__ = ["check_joined", "from_local_rows", "handed", "whole"]


def check_joined() -> None:
    """Refuses to go on in one of several processes that know nothing of each other.

    Raises:
      FailedPreconditionError: ``jax.distributed`` is on, and ``gx.distribute.initialize`` was not called.
    """
    if current_job() is None and jax.distributed.is_initialized():
        error = FailedPreconditionError(
            "jax.distributed is initialized, but graphc's processes do not know of each other, so each would train by "
            "itself; call gx.distribute.initialize() in place of jax.distributed.initialize(), and start the program "
            "with graphc launch, or under SLURM, Open MPI or Kubernetes"
        )
        raise at(error, user_location())


def handed(array: Any, sharding: NamedSharding) -> Any:
    """An input as a program on several devices takes it.

    Every process has the whole of it, or it lies on the devices of all already. A number keeps its weak type.
    """
    if not sharding.is_fully_addressable and getattr(array, "ndim", 0) == 0:
        if isinstance(array, bool | int | float | complex):
            return array
        if isinstance(array, jax.Array) and array.weak_type:
            return array.item()
    return laid_out(array, sharding)


def from_local_rows(devices: Sequence[Any], axis: int, rows: Any) -> Tensor:
    """Makes one tensor of the rows that each process has; see :meth:`DataParallel.from_local`."""
    raw: Any = operand(rows)
    host = np.asarray(getattr(raw, "raw", raw))
    if not 0 <= axis < host.ndim:
        error = InvalidArgumentError(f"from_local: there is no axis {axis} in an array of shape {host.shape}")
        raise at(error, user_location())
    processes = len({device.process_index for device in devices})
    mesh: Mesh = batch_mesh(devices, host.shape[axis] * processes)
    sharding = NamedSharding(mesh, P(*[None] * axis, REPLICA_AXIS))
    host = host.astype(jax.dtypes.canonicalize_dtype(host.dtype), copy=False)
    return Tensor(jax.make_array_from_process_local_data(sharding, host))


def whole(array: Any) -> np.ndarray[Any, Any]:
    """The values of an array; one that lies on several processes is gathered, which all of them must do."""
    if array.is_fully_addressable or array.is_fully_replicated:
        return np.asarray(array)
    return np.asarray(jax.device_put(array, NamedSharding(array.sharding.mesh, P())))
