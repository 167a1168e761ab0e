"""Dependencies of a jaxpr's results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

__all__ = ["needed_inputs"]

_CALLS = ("jit", "pjit")


def needed_inputs(jaxpr: Any, wanted: Sequence[int], *, differentiably: bool = False) -> set[int]:
    """Returns the identities of the jaxpr's variables and literals that some of its results depend on.

    Args:
      differentiably: whether to leave out dependencies through integers and booleans, such as a comparison.
    """
    needed = {id(jaxpr.outvars[position]) for position in wanted}
    for equation in reversed(jaxpr.eqns):
        results = [
            position
            for position, variable in enumerate(equation.outvars)
            if id(variable) in needed and not (differentiably and not _is_inexact(variable))
        ]
        if not results:
            continue
        read = equation.invars
        if equation.primitive.name in _CALLS:  # a part of a rule that is compiled separately
            inner = equation.params["jaxpr"].jaxpr
            inside = needed_inputs(inner, results, differentiably=differentiably)
            read = [outer for outer, variable in zip(read, inner.invars, strict=True) if id(variable) in inside]
        needed.update(map(id, read))
    return needed


def _is_inexact(variable: Any) -> bool:
    return jnp.issubdtype(variable.aval.dtype, jnp.inexact)
