"""Where graphc gives something else than NumPy, each with its reason and a call that shows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import jax
import ml_dtypes
import numpy as np
from numpy.lib import NumpyVersion

from tests.compiler.ops.drawing import Drawn
from tests.compiler.ops.examples import f32, i32

__all__ = ["DEVIATIONS", "Deviation", "excused"]


@dataclass(frozen=True)
class Deviation:
    """A difference on purpose.

    Attributes:
      reason: why it is so.
      differs: a pattern of what is said of the difference.
      when: which calls differ.
      witnesses: for each row that differs a call that does.
    """

    reason: str
    differs: str
    when: Callable[[Drawn], bool]
    witnesses: Mapping[str, Drawn]


def excused(name: str, case: Drawn, difference: str) -> bool:
    """Whether a difference is one of those on purpose."""
    return any(
        name in deviation.witnesses and re.match(deviation.differs, difference) and deviation.when(case)
        for deviation in DEVIATIONS
    )


def _before(library: ModuleType, version: str, *names: str) -> tuple[str, ...]:
    """Rows that differ with versions of a library before one."""
    return names if NumpyVersion(library.__version__) < f"{version}.0" else ()


def _since(library: ModuleType, version: str, *names: str) -> tuple[str, ...]:
    """Rows that differ with versions of a library from one on."""
    return () if _before(library, version, *names) else names


def _call(*args: Any, **kwargs: Any) -> Drawn:
    return Drawn(args, kwargs, ())


def _all(kinds: str) -> Callable[[Drawn], bool]:
    return lambda case: all(array.dtype.kind in kinds for array in case.arrays)


def _any(kinds: str) -> Callable[[Drawn], bool]:
    return lambda case: any(array.dtype.kind in kinds for array in case.arrays)


def _always(case: Drawn) -> bool:
    return True


def _zero_divisor(case: Drawn) -> bool:
    return _all("biu")(case) and not case.arrays[1].all()


def _not_finite(case: Drawn) -> bool:
    return not all(np.isfinite(array).all() for array in case.arrays)


def _flat(case: Drawn) -> bool:
    return case.arrays[0].ndim < 2


def _bfloat16(case: Drawn) -> bool:
    return any(array.dtype == _BFLOAT16 for array in case.arrays)


def _scalar(case: Drawn) -> bool:
    return case.arrays[0].ndim == 0


_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_BOOL = np.asarray([True, False, True])
_COMPLEX = np.asarray([1 + 2j, 3 - 1j], np.complex64)
_EMPTY = np.zeros(0, np.float32)
_REFUSED = r"gx: (Invalid|OutOfRange)"

DEVIATIONS = (
    Deviation(
        "dividing ints by zero gives what XLA gives, -1 or the dividend; NumPy gives 0 and warns",
        r"u?int|gx",
        _zero_divisor,
        dict.fromkeys(("floor_divide", "divmod"), _call(i32(5), i32(0))),
    ),
    Deviation(
        "the quotient of ints is a float, as in JAX; NumPy's reciprocal of ints is 0 for all but 1 and -1",
        "dtype float",
        _all("biu"),
        {"reciprocal": _call(i32(2, 4))},
    ),
    Deviation(
        "convolutions, of which these are, are computed in floats by XLA",
        "dtype float",
        _all("biu"),
        {
            **dict.fromkeys(("convolve", "correlate", "polymul"), _call(i32(1, 2), i32(3, 4))),
            "polyder": _call(i32(1, 2, 3)),
            "polyint": _call(i32(1, 2, 3), m=0),
        },
    ),
    Deviation(
        "whether roots are real is a matter of values, on which no dtype may depend",
        "dtype complex",
        _always,
        {
            "roots": _call(f32(1, -3, 2)),
            "poly": _call(np.zeros(0, np.complex64)),
            # NumPy 2.5 does as graphc here.
            **dict.fromkeys(_before(np, "2.5", "linalg.eig", "linalg.eigvals"), _call(np.eye(2, dtype=np.float32))),
        },
    ),
    Deviation(
        "values that a compiled function does not know raise nothing",
        r"gx: \((Tensor|Array)",
        _always,
        {"pow": _call(i32(2), i32(-1)), "average": _call(f32(1, 2), weights=f32(0, 0))},
    ),
    Deviation(
        "what is between infinities of complex numbers is NaN",
        "complex",
        lambda case: _any("c")(case) and _not_finite(case),
        {"sign": _call(np.asarray([complex(np.inf, 0)], np.complex64))},
    ),
    Deviation(
        "JAX 0.11 gives the limit at infinity, 0; NumPy has the sine of infinity there, NaN",
        "b?float|complex",
        _not_finite,
        dict.fromkeys(_since(jax, "0.11", "sinc"), _call(f32(np.inf))),
    ),
    Deviation(
        "a complex power of zero is NaN, as by the logarithm of zero",
        "complex",
        lambda case: _any("c")(case) and not case.arrays[0].all(),
        {"float_power": _call(np.zeros(1, np.complex64), np.asarray([1 + 1j], np.complex64))},
    ),
    Deviation(
        "JAX has no order of complex numbers here",
        _REFUSED,
        _any("c"),
        dict.fromkeys(("argmax", "argmin", "nanargmax", "nanargmin"), _call(_COMPLEX)),
    ),
    Deviation("JAX rounds no truth values", _REFUSED, _any("b"), {"round": _call(_BOOL)}),
    Deviation("JAX has no powers of truth values", _REFUSED, _any("b"), {"vander": _call(_BOOL)}),
    Deviation(
        "JAX has no vector norm of truth values", _REFUSED, _any("b"), {"linalg.vector_norm": _call(_BOOL, ord=0)}
    ),
    Deviation(
        "quantiles are floats, also those that are elements, as in JAX",
        "dtype float|gx: .(Tensor|Array)",  # NumPy subtracts no truth values
        _any("biu"),
        {
            name: _call(i32(1, 2, 3), np.asarray(50.0 if "percent" in name else 0.5, np.float32), method="lower")
            for name in ("quantile", "percentile", "nanquantile", "nanpercentile")
        },
    ),
    Deviation(
        "a matrix is asked for, where NumPy takes a vector for each of its rows",
        _REFUSED,
        _flat,
        dict.fromkeys(("tril", "triu"), _call(f32(1, 2))),
    ),
    Deviation(
        "the array API standard has no running sums of a 0-d array",
        _REFUSED,
        lambda case: case.arrays[0].ndim == 0,
        dict.fromkeys(("cumulative_sum", "cumulative_prod"), _call(np.asarray(1.0, np.float32))),
    ),
    Deviation(
        "nothing has no middle",
        _REFUSED,
        lambda case: case.arrays[0].size == 0,
        {
            **dict.fromkeys(_before(jax, "0.11", "nanmedian"), _call(_EMPTY)),  # JAX 0.11 gives NaN, as NumPy
            "median": _call(np.zeros(0, np.int8)),
        },
    ),
    Deviation(
        "half way between two elements 'nearest' takes the lower one, as in JAX",
        "float|bfloat",
        lambda case: case.kwargs.get("method") == "nearest",
        {
            name: _call(f32(1, 2, 3, 4), np.asarray(50.0 if "percent" in name else 0.5, np.float32), method="nearest")
            for name in ("quantile", "percentile", "nanquantile", "nanpercentile")
        },
    ),
    Deviation(
        "what does not fit the dtype of the tensor that it is put into is refused",
        _REFUSED,
        lambda case: case.arrays[0].dtype != case.arrays[-1].dtype,
        {
            "fill_diagonal": _call(np.zeros((2, 2), np.int32), np.asarray(1 + 1j, np.complex64)),
            "put_along_axis": _call(
                np.zeros((1, 2), np.int32), np.zeros((1, 1), np.int32), np.asarray(1j, np.complex64), 1
            ),
        },
    ),
    Deviation(
        "JAX rounds no ints to tens",
        _REFUSED,
        lambda case: _all("iu")(case) and case.kwargs.get("decimals", 0) < 0,
        {"round": _call(i32(15), decimals=-1)},
    ),
    Deviation(
        "JAX neither adds nor multiplies truth values here",
        _REFUSED,
        _all("b"),
        {"polyadd": _call(_BOOL, _BOOL), "kron": _call(_BOOL, _BOOL)},
    ),
    Deviation(
        "with keepdims a 0-d array has no axis to keep, NumPy's or JAX's",
        "shape",
        lambda case: case.arrays[0].ndim == 0,
        dict.fromkeys(("median", "nanmedian"), _call(np.asarray(1.0, np.float32), keepdims=True)),
    ),
    Deviation("a 0-d array has no axis to sort", _REFUSED, _scalar, {"argsort": _call(np.asarray(1.0, np.float32))}),
    Deviation(
        "elements of the first argument keep its dtype",
        "dtype",
        lambda case: case.arrays[0].dtype != case.arrays[1].dtype,
        {"setdiff1d": Drawn((i32(1, 2), f32(2)), {}, (0, 1))},
    ),
    Deviation(
        "a grid is made of vectors, where NumPy takes numbers",
        _REFUSED,
        lambda case: any(array.ndim == 0 for array in case.arrays),
        {"meshgrid": _call(np.asarray(1.0, np.float32), f32(1, 2))},
    ),
    Deviation(
        "truth values are subtracted as numbers, which NumPy refuses",
        r"gx: \((Tensor|Array)",
        _any("b"),
        {"gradient": _call(_BOOL)},
    ),
    Deviation(
        "the mean of no elements as a whole number is refused, which is any number in NumPy",
        _REFUSED,
        lambda case: case.arrays[0].size == 0,
        {"nanmean": _call(np.zeros(0, np.int32), dtype="int32")},
    ),
    Deviation(
        "where all are NaN the position is -1, as a program cannot raise for what it finds",
        r"gx: \((Tensor|Array)",
        lambda case: bool(np.isnan(np.asarray(case.arrays[0], np.complex64)).any()),
        dict.fromkeys(("nanargmax", "nanargmin"), _call(f32(np.nan))),
    ),
    Deviation(
        "transforms of float16 are computed in float32, or refused by XLA; NumPy computes them in float16",
        r"float32|complex64|gx: Invalid",
        lambda case: any(array.dtype == np.float16 for array in case.arrays),
        {
            "fft.rfft2": _call(np.asarray([[0.1, 0.2, 0.7]], np.float16)),
            "fft.rfftn": _call(np.asarray([[0.1, 0.2, 0.7]], np.float16)),
            "fft.ihfft": _call(np.asarray([0.1, 0.2, 0.7], np.float16)),
            "fft.ifft": _call(np.asarray([3.0, -0.75, 2.5, 2.75, -3.0], np.float16)),
            "fft.rfft": _call(np.asarray([0.1, 0.2, 0.7], np.float16)),
            "fft.fftn": _call(np.linspace(-4, 4, 12).reshape(2, 3, 2).astype(np.float16), axes=(0, 1), norm="ortho"),
            "fft.hfft": _call(np.asarray([-1.5, 2.75, -1.0, -0.75, 0.0], np.float16)),
            "fft.irfft2": _call(np.asarray([[0.1, 0.2, 0.7]] * 3, np.float16)),
        },
    ),
    Deviation(
        "the edges of bins are float32, and a value that lies on one may be counted on its other side",
        "int",
        _always,
        {"histogram": _call(np.asarray([0, -4, 1, -4, -4, 1], np.int32))},
    ),
    Deviation(
        "the numbers next to one of bfloat16 are of bfloat16, where NumPy is asked about float32",
        "bfloat16",
        _bfloat16,
        {"nextafter": _call(np.asarray([-np.inf], _BFLOAT16), np.asarray([2.0], _BFLOAT16))},
    ),
    Deviation(
        "a negative float becomes an unsigned int as the processor does it, or 0",
        "uint",
        lambda case: case.arrays[0].dtype.kind == "u" and case.arrays[1].dtype.kind == "f",
        {"full_like": _call(np.zeros(1, np.uint32), np.asarray([-3.5], np.float32))},
    ),
    Deviation(
        "powers of float16 are computed in the dtype that is asked for",
        "float32",
        lambda case: any(array.dtype == np.float16 for array in case.arrays),
        {
            "logspace": _call(
                np.asarray([-0.75], np.float16), np.asarray([-1.5], np.float16), num=1, base=2.0, dtype="float32"
            )
        },
    ),
    Deviation(
        "complex numbers are not made real without a word",
        _REFUSED,
        _any("c"),
        {"linspace": _call(np.asarray(1j, np.complex64), np.asarray(2.0, np.float32), dtype="float32")},
    ),
    Deviation(
        "a negative float becomes an unsigned int as the processor does it, or 0",
        "uint",
        _always,
        {"astype": _call(np.asarray(-1.0, _BFLOAT16), "uint8")},
    ),
    Deviation(
        "truth values are added as numbers",
        "float",
        _any("b"),
        {"trapezoid": _call(np.asarray([True, True, False]), x=f32(0.5, 2.5, 4.5))},
    ),
    Deviation(
        "of complex numbers that are NaN in part it is open which is the smallest",
        "complex",
        lambda case: _any("c")(case) and _not_finite(case),
        {"nanmin": _call(np.asarray([complex(np.nan, -3), complex(np.nan, 4)], np.complex64))},
    ),
    Deviation("NumPy has no sign of truth values", "gx: ", _any("b"), {"positive": _call(np.asarray([True, False]))}),
    Deviation(
        "NumPy takes the spacing of one bfloat16 for that of a float32",
        "bfloat16",
        lambda case: any(array.dtype == _BFLOAT16 and not array.shape for array in case.arrays),
        {"spacing": _call(np.asarray(2.5, _BFLOAT16))},
    ),
)
