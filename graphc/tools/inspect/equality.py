"""Equality of results up to rounding, with tolerances by dtype."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.core import ArrayMethods, StringTensor

NOISE = 4
"""Number of units in the last place of the largest input that count as unavoidable rounding error."""

CLOSE = 10.0
"""So many times the allowed error may still be rounding: it is said, and the times are measured all the same."""


@dataclass(frozen=True)
class Tolerance:
    """The allowed difference between two floating-point numbers: ``atol + rtol * abs(reference)``.

    Attributes:
      rtol: the relative part; None for ``eps ** (2 / 3)`` of the coarser dtype: 2.4e-5 for float32, 3.7e-11 for
        float64.
      atol: the absolute part; None for ``rtol`` times the root mean square of the reference, so that an element that
        cancels to almost zero is judged by its neighbours, plus 4 units in the last place of ``scale`` times the
        square root of ``iterations``.
      scale: the largest magnitude among the inputs, whose rounding errors are unavoidable.
      iterations: how often rolled loops run their bodies, one after the other. Independent rounding errors grow with
        the square root of their number (Higham and Mary, A New Approach to Probabilistic Rounding Error Analysis).
      products: the relative rounding of factors of matrix products on this device; 0 if it keeps their dtype.
      noise: how much of the reference is known to be rounding: terms that cancel leave it. Part of ``atol`` by default.
    """

    rtol: float | None = None
    atol: float | None = None
    scale: float = 0.0
    products: float = 0.0
    iterations: int = 1
    noise: float = 0.0

    def of(self, reference: np.ndarray[Any, Any], eps: float) -> tuple[float, float]:
        """Returns ``rtol`` and ``atol`` for a reference whose dtype has this machine epsilon."""
        rtol = max(eps ** (2 / 3), self.products) if self.rtol is None else self.rtol
        if self.atol is not None:
            return rtol, self.atol
        finite = np.abs(reference[np.isfinite(reference)])
        mean_square = float(np.mean(np.square(finite))) if finite.size else 0.0
        rounding = NOISE * (eps * self.scale * math.sqrt(self.iterations) + self.noise)
        return rtol, rtol * math.sqrt(mean_square) + rounding


@dataclass(frozen=True)
class Difference:
    """The comparison of one output of a mode with eager code's.

    Attributes:
      type: the dtype and shape.
      error: the largest absolute error, among the wrong elements if there are any; None for values without numbers.
      relative: the error relative to the reference there; None if that is zero.
      allowed: the allowed error there.
      problem: a description of the difference; empty if the two agree.
    """

    path: str
    type: str
    error: float | None = None
    relative: float | None = None
    allowed: float | None = None
    index: tuple[int, ...] = ()
    problem: str = ""

    @property
    def equal(self) -> bool:
        """True if the two agree."""
        return not self.problem

    @property
    def excess(self) -> float:
        """How many times the allowed error the error is; infinite for values without numbers that differ."""
        if self.error is None or (self.problem and not self.allowed):
            return math.inf if self.problem else 0.0
        return self.error / self.allowed if self.allowed else 0.0

    @property
    def close(self) -> bool:
        """True if the two agree, or differ by no more than ten times what is allowed."""
        return self.equal or self.excess <= CLOSE


@dataclass(frozen=True)
class Agreement:
    """The comparison of all outputs of a mode with eager code's. ``differences``: one for each output."""

    differences: tuple[Difference, ...]

    @property
    def equal(self) -> bool:
        """True if all outputs agree."""
        return all(difference.equal for difference in self.differences)

    @property
    def close(self) -> bool:
        """True if all outputs agree, or differ by no more than ten times what is allowed."""
        return all(difference.close for difference in self.differences)

    @property
    def worst(self) -> Difference | None:
        """The wrong output, or else the one closest to the allowed error."""
        return max(self.differences, key=_severity, default=None)


def _severity(difference: Difference) -> tuple[bool, float]:
    if difference.error is None:
        return not difference.equal, 0.0
    return not difference.equal, difference.error / difference.allowed if difference.allowed else difference.error


def compare_results(reference: Any, value: Any, tolerance: Tolerance, root: str, *, strict: bool) -> Agreement:
    """Compares nested results; unless ``strict``, containers and dtypes do not count."""
    expected, actual = nest.flatten_with_paths(reference, root), nest.flatten_with_paths(value, root)
    structures = nest.flatten(reference)[1], nest.flatten(value)[1]
    if len(expected) != len(actual) or (strict and structures[0] != structures[1]):
        problem = f"the structure is {structures[1]}, that of eager code is {structures[0]}"
        return Agreement((Difference(root, "", problem=problem),))
    pairs = [(path, leaf, other) for (path, leaf), (_, other) in zip(expected, actual, strict=True)]
    return compare_leaves(pairs, tolerance, strict=strict)


def compare_leaves(pairs: Sequence[tuple[str, Any, Any]], tolerance: Tolerance, *, strict: bool) -> Agreement:
    """Compares triples of path, reference and value; see :func:`compare_results`."""
    return Agreement(tuple(_compare(path, leaf, other, tolerance, strict) for path, leaf, other in pairs))


def _compare(path: str, reference: Any, value: Any, tolerance: Tolerance, strict: bool) -> Difference:
    if not (_is_numeric(reference) and _is_numeric(value)):
        if isinstance(reference, StringTensor) and isinstance(value, StringTensor):
            same = reference.contents == value.contents
        else:
            same = reference is value or bool(reference == value)
        problem = "" if same else f"{value!r:.60} given, eager code gives {reference!r:.60}"
        return Difference(path, type(reference).__name__, problem=problem)
    arrays = _as_numpy(reference), _as_numpy(value)
    types = [f"{array.dtype.name}[{','.join(map(str, array.shape))}]" for array in arrays]
    # A Python number has no dtype: it takes the other's.
    plain = any(isinstance(leaf, bool | int | float | complex) for leaf in (reference, value))
    if arrays[0].shape != arrays[1].shape or (strict and not plain and arrays[0].dtype != arrays[1].dtype):
        return Difference(path, types[0], problem=f"it is {types[1]}, that of eager code is {types[0]}")
    return _compare_arrays(Difference(path, types[0]), *arrays, tolerance)


def _compare_arrays(
    blank: Difference, reference: np.ndarray[Any, Any], value: np.ndarray[Any, Any], tolerance: Tolerance
) -> Difference:
    if not reference.size:
        return blank
    eps = max(map(_epsilon, (reference, value)))
    wide = np.result_type(np.float64, *(array.dtype for array in (reference, value) if array.dtype.kind == "c"))
    with np.errstate(invalid="ignore", over="ignore"):
        expected, actual = np.atleast_1d(reference.astype(wide)), np.atleast_1d(value.astype(wide))
        # NaN and infinities agree only with their like, and integers only if equal.
        same = np.atleast_1d(reference == value) | (np.isnan(expected) & np.isnan(actual))
        errors = np.where(same, 0.0, np.nan_to_num(np.abs(actual - expected), nan=np.inf, posinf=np.inf))
        rtol, atol = tolerance.of(expected, eps) if eps else (0.0, 0.0)
        allowed = np.where(np.isfinite(expected), atol + rtol * np.abs(expected), 0.0)
    wrong = ~same & (errors > allowed) if eps else ~same
    worst = np.unravel_index(int(np.argmax(np.where(wrong, errors, -1.0) if wrong.any() else errors)), errors.shape)
    index = tuple(int(i) for i in worst) if reference.ndim else ()
    size = float(np.abs(expected[worst]))
    return Difference(
        blank.path,
        blank.type,
        error=float(errors[worst]),
        relative=float(errors[worst]) / size if size else None,
        allowed=float(allowed[worst]),
        index=index,
        problem=_wrong_element(reference, value, index, int(wrong.sum())) if wrong.any() else "",
    )


def _wrong_element(
    reference: np.ndarray[Any, Any], value: np.ndarray[Any, Any], index: tuple[int, ...], count: int
) -> str:
    where = f" at {list(index)}" if index else ""
    others = f", and {count - 1} more elements differ" if count > 1 else ""
    return f"{value[index]}{where}, eager code gives {reference[index]}{others}"


def _is_numeric(value: Any) -> bool:
    return isinstance(value, ArrayMethods | jax.Array | np.ndarray | np.generic | bool | int | float | complex)


def _as_numpy(value: Any) -> np.ndarray[Any, Any]:
    return value.numpy() if isinstance(value, ArrayMethods) else np.asarray(value)


def _epsilon(array: np.ndarray[Any, Any]) -> float:
    """Returns the machine epsilon of a floating or complex dtype; 0 for others, which are compared exactly."""
    info: Any = jnp.finfo
    return float(info(array.dtype).eps) if jnp.issubdtype(array.dtype, jnp.inexact) else 0.0
