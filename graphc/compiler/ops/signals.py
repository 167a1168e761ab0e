"""Rows: sequences of samples: convolution, windows, differences and integrals."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from graphc.compiler.ops.refusals import counts
from graphc.compiler.ops.table import define, row

_WINDOW = "M: int"


def _gradient(x: Any, *spacing: Any, axis: Any = None) -> Any:
    return jnp.gradient(x, *spacing, axis=axis)


def _kaiser(M: int, beta: float) -> jax.Array:
    return jnp.kaiser(M, beta)


def _ediff1d(x: Any, *, to_end: Any = None, to_begin: Any = None) -> jax.Array:
    return jnp.ediff1d(x, to_end, to_begin)


_ROWS = (
    row(
        "convolve",
        jnp.convolve,
        "x1, x2, mode: str = 'full'",
        "The convolution of 1-d tensors; mode is 'full', 'same' or 'valid'.",
    ),
    row(
        "correlate",
        jnp.correlate,
        "x1, x2, mode: str = 'valid'",
        "The correlation of 1-d tensors; mode is 'full', 'same' or 'valid'.",
    ),
    row(
        "gradient",
        _gradient,
        "x, *spacing, axis: Axis = None",
        "The numerical gradient along each axis, by central differences; spacing is a distance or coordinates.",
        returns="Tensor | tuple[Tensor, ...]",
    ),
    row(
        "ediff1d",
        _ediff1d,
        "x, to_end=None, to_begin=None",
        "Differences of consecutive elements of the flattened tensor.",
    ),
    row(
        "trapezoid",
        jnp.trapezoid,
        "y, x=None, dx: float = 1.0, axis: int = -1",
        "The integral along axis by the trapezoidal rule, with coordinates x or spacing dx.",
    ),
    row(
        "unwrap",
        jnp.unwrap,
        "p, discont: float | None = None, axis: int = -1, period: float = 6.283185307179586",
        "Angles unwrapped along axis, by adding multiples of the period.",
    ),
    row("bartlett", jnp.bartlett, _WINDOW, "The Bartlett window of M samples, a triangle.", need=counts("M")),
    row("blackman", jnp.blackman, _WINDOW, "The Blackman window of M samples.", need=counts("M")),
    row("hamming", jnp.hamming, _WINDOW, "The Hamming window of M samples.", need=counts("M")),
    row("hanning", jnp.hanning, _WINDOW, "The Hann window of M samples, a raised cosine.", need=counts("M")),
    row(
        "kaiser",
        _kaiser,
        "M: int, beta: float",
        "The Kaiser window of M samples; a larger beta makes it narrower.",
        need=counts("M"),
    ),
)

define(globals(), _ROWS)
