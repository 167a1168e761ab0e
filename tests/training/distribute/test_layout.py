"""How the rows of a batch lie on devices."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.core import groups_of
from graphc.training.distribute import DataParallel, Sharding
from graphc.training.distribute.layout import batch_mesh


@pytest.mark.parametrize(
    ("rows", "shape"), [(0, (8, 1)), (1, (1, 8)), (4, (4, 2)), (6, (2, 4)), (8, (8, 1)), (29, (1, 8)), (40, (8, 1))]
)
def test_each_group_of_devices_holds_its_own_rows(rows: int, shape: tuple[int, int]) -> None:
    mesh = batch_mesh(jax.devices(), rows)
    assert tuple(mesh.shape.values()) == shape
    assert list(mesh.devices.flat) == jax.devices()


def test_groups_are_such_as_one_mesh_can_say() -> None:
    assert [groups_of(8, rows) for rows in (0, 1, 4, 12, 20, 16)] == [8, 1, 4, 4, 4, 8]
    assert [groups_of(6, rows) for rows in (6, 4, 3)] == [6, 2, 1]
    assert [groups_of(count, 9) for count in (1, 3, 9, 27)] == [1, 3, 9, 9]


@pytest.mark.parametrize("rules", [(), {"w": "data"}], ids=["whole", "split"])
def test_uneven_batches_meet_variables_in_any_order(rules: Any) -> None:
    """JAX reads the layouts that XLA chooses by the mesh of the first input, and fails where it cannot say them."""
    parallel = DataParallel(sharding=Sharding({"data": 8}, rules))
    x = np.arange(96, dtype=np.float32).reshape(12, 8)
    with parallel.scope():
        w = gx.Variable(np.full(8, 2.0, np.float32), name="w")

    @gx.function
    def update(x: Any) -> Any:
        w.assign(w * 1.0)
        return w * x

    batch = parallel.shard(x)
    for found in (w * batch, batch * w, gx.function(lambda x: w * x)(batch), update(batch), update(batch)):
        np.testing.assert_array_equal(found, 2 * x)
    step, given = parallel.function(lambda x: w * x), gx.asarray(x)
    assert w.sharding.mesh.shape == ({"data": 8} if rules else {"data.0": 2, "data.1": 2, "data.2": 2})
    if not rules:
        with gx.GradientTape() as tape:
            tape.watch(given)
            total = gx.sum(step(given).joined() ** 2)
        np.testing.assert_array_equal(tape.gradient(total, given), 8 * x)
    np.testing.assert_array_equal(w * step(given).joined() + batch, 5 * x)
