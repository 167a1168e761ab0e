"""Rows of the namespace ``fft``: discrete Fourier transforms."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from graphc.compiler.base import hint_missing
from graphc.compiler.ops.table import define, row

_ONE = "x, n: int | None = None, axis: int = -1, norm: str | None = None"
_TWO = "x, s: Shape | None = None, axes: Axes = (-2, -1), norm: str | None = None"
_MANY = "x, s: Shape | None = None, axes: Axis = None, norm: str | None = None"
_FREQUENCIES = "n: int, d: float = 1.0, dtype: DType = None, device: Device = None"


def _fftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Any:
    return jnp.fft.fftfreq(n, d, dtype=dtype)


def _rfftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Any:
    return jnp.fft.rfftfreq(n, d, dtype=dtype)


_ROWS = (
    row("fft.fft", jnp.fft.fft, _ONE, "The Fourier transform along axis, cut or filled with zeros to n samples."),
    row("fft.ifft", jnp.fft.ifft, _ONE, "The inverse Fourier transform along axis."),
    row("fft.fft2", jnp.fft.fft2, _TWO, "The Fourier transform over two axes."),
    row("fft.ifft2", jnp.fft.ifft2, _TWO, "The inverse Fourier transform over two axes."),
    row("fft.fftn", jnp.fft.fftn, _MANY, "The Fourier transform over several axes."),
    row("fft.ifftn", jnp.fft.ifftn, _MANY, "The inverse Fourier transform over several axes."),
    row("fft.rfft", jnp.fft.rfft, _ONE, "The Fourier transform of real numbers: the half that is not implied."),
    row("fft.irfft", jnp.fft.irfft, _ONE, "The inverse of rfft: n real numbers, 2 * (size - 1) for None."),
    row("fft.rfft2", jnp.fft.rfft2, _TWO, "The Fourier transform of real numbers over two axes."),
    row("fft.irfft2", jnp.fft.irfft2, _TWO, "The inverse of rfft2."),
    row("fft.rfftn", jnp.fft.rfftn, _MANY, "The Fourier transform of real numbers over several axes."),
    row("fft.irfftn", jnp.fft.irfftn, _MANY, "The inverse of rfftn."),
    row("fft.hfft", jnp.fft.hfft, _ONE, "The Fourier transform of a signal that is Hermitian in time: real numbers."),
    row("fft.ihfft", jnp.fft.ihfft, _ONE, "The inverse of hfft."),
    row("fft.fftfreq", _fftfreq, _FREQUENCIES, "The frequencies of fft's n results, for samples at distances d."),
    row("fft.rfftfreq", _rfftfreq, _FREQUENCIES, "The frequencies of rfft's results, for n samples at distances d."),
    row("fft.fftshift", jnp.fft.fftshift, "x, axes: Axis = None", "Frequency zero moved to the middle."),
    row("fft.ifftshift", jnp.fft.ifftshift, "x, axes: Axis = None", "Frequency zero moved back to the start."),
)

define(globals(), _ROWS)

hint_missing(globals(), "gx.fft")
