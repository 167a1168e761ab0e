"""Values that are known before a program runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from graphc.base import nest
from graphc.ir import Attrs, OpDef

__all__ = ["evaluate"]


def evaluate(op: OpDef, arrays: Sequence[Any], attrs: Attrs) -> Sequence[Any]:
    """Computes an op on known values, for the shapes that depend on them."""
    with jax.ensure_compile_time_eval():
        return [np.asarray(value) for value in nest.as_tuple(op.impl(*arrays, **attrs))]
