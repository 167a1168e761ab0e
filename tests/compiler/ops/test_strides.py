"""Places that lie a step apart: as in NumPy, and compiled without a gather or a scatter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base import errors

INDICES: dict[str, Any] = {
    "even": np.s_[::2],
    "odd": np.s_[1::2],
    "of three": np.s_[2::3],
    "columns": np.s_[:, 1::2],
    "last axis": np.s_[..., ::4],
    "both": np.s_[::2, ::2],
    "too few": np.s_[3::2],
    "not all": np.s_[:-2:2],
    "backwards": np.s_[::-2],
    "uneven": np.s_[::5],
    "far": np.s_[:, ::12],
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
@pytest.mark.parametrize("how", ["set", "add"])
def test_reads_and_writes_are_numpys(index: Any, how: str) -> None:
    x = np.arange(72, dtype=np.float32).reshape(6, 12)
    wanted = x.copy()
    values = -x[index]
    np.testing.assert_array_equal(gx.asarray(x)[index].numpy(), x[index])
    wanted[index] = values if how == "set" else wanted[index] + values
    reference = gx.asarray(x).at[index]
    np.testing.assert_array_equal(getattr(reference, how)(values).numpy(), wanted)


def test_values_of_another_shape_are_refused_with_both_shapes() -> None:
    with pytest.raises(errors.InvalidArgumentError, match=r"\(4,\).*\(3,\)"):
        gx.zeros(6).at[::2].set(gx.ones(4))


def test_a_write_of_every_other_place_compiles_without_a_scatter() -> None:
    @gx.function
    def interleave(x: gx.Tensor) -> gx.Tensor:
        out = gx.zeros_like(x)
        out[0::2], out[1::2] = x[:4], x[4:]
        return out

    x = gx.arange(8.0)
    np.testing.assert_array_equal(interleave(x).numpy(), [0, 4, 1, 5, 2, 6, 3, 7])
    text = interleave.lower(x).as_text()
    assert "scatter" not in text
    assert "gather" not in text
