"""Layout of a batch's rows on devices: as many groups of devices as divide the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jax.sharding import Mesh

from graphc.compiler.core import groups_of
from graphc.compiler.devices import Device
from graphc.compiler.ops import COPY_AXIS, REPLICA_AXIS


def batch_mesh(devices: Sequence[Device], rows: int) -> Mesh:
    """Makes the mesh that holds a batch of any number of rows without padding."""
    # The devices form r groups of equal size, where r is the largest number of groups that divides the rows. Each group
    # holds its own ``rows / r`` rows, and the devices of a group hold the same rows, so a sum over the groups counts
    # each row once. The axes of the mesh are ``REPLICA_AXIS`` (the groups) and ``COPY_AXIS`` (the devices of a group).
    return split_mesh(Mesh(np.array(devices), (REPLICA_AXIS,)), REPLICA_AXIS, rows)


def split_mesh(mesh: Mesh, axis: str, rows: int) -> Mesh:
    """Makes the mesh of :func:`batch_mesh` from one with several axes, of which ``axis`` becomes groups and copies."""
    index, size = mesh.axis_names.index(axis), mesh.shape[axis]
    groups = groups_of(size, rows)
    shape = (*mesh.devices.shape[:index], groups, size // groups, *mesh.devices.shape[index + 1 :])
    names = (*mesh.axis_names[: index + 1], COPY_AXIS, *mesh.axis_names[index + 1 :])
    return Mesh(mesh.devices.reshape(shape), names)
