"""Arrays over the devices of several processes, made from each process's part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.compiler.core import Tensor, operand
from graphc.compiler.ops import REPLICA_AXIS
from graphc.training.distribute.layout import batch_mesh
from graphc.training.distribute.processes.job import current_job

__all__ = ["check_joined", "from_local_rows"]


def check_joined() -> None:
    """Raises an error in one of several processes that do not know each other.

    Raises:
      FailedPreconditionError: ``jax.distributed`` is on, but ``gx.distribute.initialize`` was not called.
    """
    if current_job() is None and jax.distributed.is_initialized():
        error = FailedPreconditionError(
            "jax.distributed is initialized, but graphc's processes do not know of each other, so each would train by "
            "itself; call gx.distribute.initialize() in place of jax.distributed.initialize(), and start the program "
            "with graphc launch, or under SLURM, Open MPI or Kubernetes"
        )
        raise at(error, user_location())


def from_local_rows(devices: Sequence[Any], axis: int, rows: Any) -> Tensor:
    """Makes one tensor from the rows of each process; see :meth:`DataParallel.from_local`."""
    raw: Any = operand(rows)
    host = np.asarray(getattr(raw, "raw", raw))
    if not 0 <= axis < host.ndim:
        error = InvalidArgumentError(f"from_local: there is no axis {axis} in an array of shape {host.shape}")
        raise at(error, user_location())
    processes = len({device.process_index for device in devices})
    mesh: Mesh = batch_mesh(devices, host.shape[axis] * processes)
    if mesh.shape[REPLICA_AXIS] % processes:  # a group of devices that have the same rows would lie on two processes
        error = InvalidArgumentError(
            f"from_local: {host.shape[axis]} rows of each of {processes} processes cannot be laid over "
            f"{len(devices)} devices; give a multiple of {len(devices) // processes} rows in each"
        )
        raise at(error, user_location())
    sharding = NamedSharding(mesh, P(*[None] * axis, REPLICA_AXIS))
    host = host.astype(jax.dtypes.canonicalize_dtype(host.dtype), copy=False)
    return Tensor(jax.make_array_from_process_local_data(sharding, host))
