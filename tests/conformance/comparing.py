"""Whether anybody could tell two results apart."""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any

import jax
import numpy as np

import graphc as gx

__all__ = ["difference", "snapshot"]


def snapshot(value: Any, seen: tuple[int, ...] = ()) -> Any:
    """The value as it is now: tensors and Variables by their values, objects by their attributes."""
    if isinstance(value, gx.Tensor):
        return np.array(value.numpy())
    if isinstance(value, gx.Variable):
        return ("Variable", np.array(value.value().numpy()))
    if id(value) in seen:
        return ("seen before", seen.index(id(value)))
    seen = (*seen, id(value))
    if isinstance(value, list | tuple):
        return [type(value).__name__, *(snapshot(item, seen) for item in value)]
    if isinstance(value, dict):
        return {key: snapshot(item, seen) for key, item in value.items()}
    if hasattr(value, "__dict__") and not isinstance(value, type | FunctionType):
        return (type(value).__name__, snapshot(vars(value), seen))
    return value


def difference(eager: Any, compiled: Any, tolerance: float = 1e-5, python_numbers: bool = True) -> str | None:
    """Where two results differ in structure, type, shape or value; None where they are the same.

    Args:
      eager: what plain Python gives.
      compiled: what compiled code gives.
      tolerance: relative and absolute, of floating values.
      python_numbers: whether a Python number, which may depend on tensors, may come back as a tensor: of the dtype that
        the number becomes when a tensor is made of it, or of one that holds it, where another path through the program
        gives it that.
    """
    if isinstance(eager, gx.Variable) and isinstance(compiled, gx.Variable):
        eager, compiled = eager.value(), compiled.value()
    if _is_array(eager) or _is_array(compiled):
        return _array_difference(eager, compiled, tolerance, python_numbers)
    if type(eager) is not type(compiled):
        return f"{compiled!r} ({type(compiled).__name__}) where eager code gives {eager!r} ({type(eager).__name__})"
    if isinstance(eager, list | tuple | dict):
        if len(eager) != len(compiled):
            return f"{compiled!r} where eager code gives {eager!r}"
        if isinstance(eager, dict) and list(eager) != list(compiled):
            return f"the keys are {list(compiled)}, in eager code {list(eager)}"
        for key in eager if isinstance(eager, dict) else range(len(eager)):
            problem = difference(eager[key], compiled[key], tolerance, python_numbers)
            if problem is not None:
                return f"[{key!r}]{'' if problem.startswith('[') else ': '}{problem}"
        return None
    if hasattr(eager, "__dict__") and not isinstance(eager, type | FunctionType):
        problem = difference(vars(eager), vars(compiled), tolerance, python_numbers)
        return problem and f"attributes {problem}"
    if isinstance(eager, float):
        nan = math.isnan(eager) and math.isnan(compiled)
        same = nan or math.isclose(eager, compiled, rel_tol=tolerance, abs_tol=tolerance)
        return None if same else f"{compiled!r} where eager code gives {eager!r}"
    return None if eager == compiled else f"{compiled!r} where eager code gives {eager!r}"


def _array_difference(eager: Any, compiled: Any, tolerance: float, python_numbers: bool) -> str | None:
    if not (_is_array(eager) and _is_array(compiled)):
        number = isinstance(eager, bool | int | float | complex) and _is_array(compiled)
        if not (python_numbers and number):
            return f"{compiled!r} where eager code gives {eager!r}"
    elif type(eager) is not type(compiled):
        return f"a {type(compiled).__name__} where eager code gives a {type(eager).__name__}"
    one, two = (value.numpy() if isinstance(value, gx.Tensor) else np.asarray(value) for value in (eager, compiled))
    if not _is_array(eager):
        one = np.asarray(gx.asarray(eager))
        if two.dtype.kind in ("iufV" if one.dtype.kind in "bi" else "fV"):
            with np.errstate(over="ignore", invalid="ignore"):
                held = one.astype(two.dtype)
            one = held if np.array_equal(held.astype(float), one.astype(float), equal_nan=True) else one
    if (one.dtype, one.shape) != (two.dtype, two.shape):
        return f"{two.dtype}{list(two.shape)} where eager code gives {one.dtype}{list(one.shape)}"
    if one.dtype.kind in "biuUSO":
        same = np.array_equal(one, two)
    else:
        wide = complex if one.dtype.kind == "c" else float
        same = np.allclose(two.astype(wide), one.astype(wide), tolerance, tolerance, equal_nan=True)
    return None if same else f"{two!r} where eager code gives {one!r}"


def _is_array(value: Any) -> bool:
    return isinstance(value, gx.Tensor | np.ndarray | np.generic | jax.Array)
