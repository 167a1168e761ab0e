"""Functions for JAX keep their branches, so that JAX's gradients go through the one that is taken alone."""

from __future__ import annotations

import jax
import numpy as np

import graphc as gx


def test_a_branch_that_is_not_taken_makes_no_nan_of_a_gradient() -> None:
    def program(x: gx.Tensor) -> gx.Tensor:
        if x > 0:
            y = gx.sqrt(x)
        else:
            y = x * 2.0
        return y

    pure = gx.to_jax(program, stateless=True)
    assert jax.grad(pure)(np.float32(0)) == 2.0
    assert gx.grad(gx.function(program))(gx.asarray(0.0)).item() == 2.0
    assert gx.function(gx.grad(program))(gx.asarray(0.0)).item() == 2.0


def test_branches_that_give_different_large_tensors_stay_apart() -> None:
    @gx.function
    def program(t: gx.Tensor, x: gx.Tensor, y: gx.Tensor) -> gx.Tensor:
        if t > 0:
            z = y
        else:
            x[7] = 3.0
            z = x
        return z

    found = program(gx.asarray(-1.0), gx.zeros(100), gx.ones(100)).numpy()
    assert (found[7], found.sum()) == (3.0, 3.0)
