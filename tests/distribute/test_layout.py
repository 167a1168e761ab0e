"""How the rows of a batch lie on devices."""

from __future__ import annotations

import jax
import pytest

from graphc.distribute.layout import batch_mesh


@pytest.mark.parametrize(
    ("rows", "shape"), [(0, (8, 1)), (1, (1, 8)), (4, (4, 2)), (6, (2, 4)), (8, (8, 1)), (29, (1, 8)), (40, (8, 1))]
)
def test_each_group_of_devices_holds_its_own_rows(rows: int, shape: tuple[int, int]) -> None:
    mesh = batch_mesh(jax.devices(), rows)
    assert tuple(mesh.shape.values()) == shape
    assert list(mesh.devices.flat) == jax.devices()
