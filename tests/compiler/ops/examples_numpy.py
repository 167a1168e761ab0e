"""Examples of the functions that NumPy has."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.compiler.ops.examples import (
    BOOLS,
    COMPLEX,
    CUBE,
    GAPS,
    INTS,
    MATRIX,
    OTHER,
    POSITIVE,
    RIGHT,
    SIGNED,
    SQUARE,
    STRANGE,
    Example,
    example,
    f32,
    i32,
)

__all__ = ["NUMPY_EXAMPLES"]

EQUATION = f32(1.0, -6.0, 11.0, -6.0)
TWICE = i32(3, 1, 3, 0, 1)


def _filled(x: Any, value: Any) -> Any:
    result = x.copy()
    np.fill_diagonal(result, value)
    return result


def _put(x: Any, indices: Any, values: Any, axis: int) -> Any:
    result = x.copy()
    np.put_along_axis(result, indices, values, axis)
    return result


def _padded(function: Any) -> Any:
    """What a graph gives for more places than there are: the results of eager code, and 0 or the fill value behind."""

    def expected(*args: Any, size: int, fill_value: Any = 0, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        parts = found if isinstance(found, tuple) else (found,)
        padded = [
            np.concatenate([part, np.full((size - len(part), *part.shape[1:]), fill_value, part.dtype)])
            for part in parts
        ]
        return tuple(padded) if isinstance(found, tuple) else padded[0]

    return expected


def _sets(name: str, fill_value: int) -> list[Example]:
    sets = getattr(np, name)
    return [example(TWICE, i32(1, 2)), example(TWICE, i32(1, 2), size=5, fill_value=fill_value, expected=_padded(sets))]


NUMPY_EXAMPLES: dict[str, list[Example]] = {
    # arranging
    "append": [example(MATRIX, RIGHT), example(MATRIX, MATRIX, axis=1)],
    "insert": [example(SIGNED, 1, 9.0), example(MATRIX, (0, 2), 1.0, axis=1)],
    "delete": [example(SIGNED, 1), example(MATRIX, (0, 2), axis=1)],
    "resize": [example(RIGHT, (2, 5))],
    "column_stack": [example([SIGNED, OTHER])],
    "dstack": [example([SIGNED, OTHER])],
    "array_split": [example(SIGNED, 2)],
    "hsplit": [example(MATRIX, 2)],
    "vsplit": [example(MATRIX, (1, 2))],
    "dsplit": [example(CUBE, 2)],
    "atleast_1d": [example(np.float32(2)), example(np.float32(2), SIGNED)],
    "atleast_2d": [example(SIGNED)],
    "atleast_3d": [example(MATRIX)],
    "fliplr": [example(MATRIX)],
    "flipud": [example(MATRIX)],
    "rollaxis": [example(CUBE, 2), example(CUBE, 0, 2)],
    "diagflat": [example(RIGHT, 1)],
    "fill_diagonal": [example(SQUARE, 7.0, expected=_filled)],
    # elementwise
    "divmod": [example(INTS, i32(2, -3, 5, -5, 7)), example(SIGNED, OTHER)],
    "float_power": [example(POSITIVE, OTHER)],
    "fabs": [example(SIGNED)],
    "nextafter": [example(SIGNED, OTHER)],
    "spacing": [example(POSITIVE)],
    "ldexp": [example(SIGNED, i32(1, 2, 0, -1, 3))],
    "frexp": [example(SIGNED)],
    "modf": [example(SIGNED)],
    "fix": [example(SIGNED, expected=np.trunc)],
    "logaddexp2": [example(SIGNED, OTHER)],
    "i0": [example(SIGNED)],
    "sinc": [example(SIGNED)],
    # filling
    "tri": [example(3), example(2, 4, 1, dtype="int32")],
    "logspace": [example(0.0, 2.0, 3), example(f32(0, 1), f32(2, 1.5), 3)],
    "geomspace": [example(1.0, 16.0, 5), example(f32(1, 2), f32(8, 3), 3)],
    # logic
    "array_equiv": [example(SIGNED, SIGNED)],
    "isneginf": [example(STRANGE)],
    "isposinf": [example(STRANGE)],
    "isreal": [example(COMPLEX)],
    "iscomplex": [example(COMPLEX)],
    "packbits": [example(BOOLS), example(np.asarray([BOOLS, ~BOOLS]), axis=1, bitorder="little")],
    "unpackbits": [example(np.asarray([7, 130], np.uint8), count=12)],
    # polynomials
    "poly": [example(f32(1, 2, 3))],
    "polyval": [example(EQUATION, SIGNED)],
    "polyadd": [example(EQUATION, f32(1, 2))],
    "polysub": [example(EQUATION, f32(1, 2))],
    "polymul": [example(EQUATION, f32(1, 2))],
    "polydiv": [example(f32(1, -5, 6, 2), f32(1, -2), expected=lambda x, y: (f32(1, -3, 0), f32(0, 0, 0, 2)))],
    "polyder": [example(EQUATION, 2)],
    "polyint": [example(EQUATION), example(EQUATION, 2, f32(1, 2))],
    "polyfit": [example(SIGNED[[0, 1, 3, 4]], OTHER[:4], 1)],
    "roots": [example(f32(1, -3, 2), expected=lambda p: np.asarray([2, 1], np.complex64))],
    "vander": [example(SIGNED), example(SIGNED, 3, increasing=True)],
    # positions
    "indices": [example((2, 3))],
    "diag_indices": [example(3)],
    "diag_indices_from": [example(SQUARE)],
    "tril_indices": [example(3, -1)],
    "triu_indices": [example(3, 0, 4)],
    "tril_indices_from": [example(MATRIX, 1)],
    "triu_indices_from": [example(MATRIX)],
    "ravel_multi_index": [example([i32(0, 1), i32(2, 3)], (3, 4))],
    "unravel_index": [example(i32(5, 7), (3, 4))],
    "ix_": [example(i32(0, 1), i32(2, 3, 1))],
    # products
    "matvec": [example(MATRIX, SIGNED[:4], expected=lambda x1, x2: x1 @ x2)],
    "vecmat": [example(SIGNED[:3], MATRIX, expected=lambda x1, x2: x1 @ x2)],
    # reduction
    "average": [example(MATRIX, axis=1), example(MATRIX, axis=0, weights=f32(1, 2, 3))],
    "cumulative_prod": [
        example(OTHER, expected=np.cumprod),
        example(OTHER, include_initial=True, expected=lambda x, include_initial: np.cumprod([1, *x], dtype=np.float32)),
    ],
    # searching
    "partition": [example(f32(3, 1, 2), 1, expected=lambda x, kth: np.sort(x))],
    "argpartition": [example(f32(3, 1, 2), 1, expected=lambda x, kth: np.argsort(x))],
    "lexsort": [example([SIGNED, i32(1, 0, 1, 0, 0)])],
    "sort_complex": [example(COMPLEX)],
    "choose": [example(i32(0, 1, 0, 1, 5), [SIGNED, OTHER], mode="clip")],
    "put_along_axis": [example(MATRIX, i32(0, 3, 1)[:, None], 9.0, 1, expected=_put)],
    # selecting
    "nonzero": [example(MATRIX), example(TWICE, size=6, expected=_padded(np.nonzero))],
    "argwhere": [example(MATRIX), example(MATRIX, size=13, expected=_padded(np.argwhere))],
    "flatnonzero": [example(MATRIX), example(TWICE, size=5, fill_value=-1, expected=_padded(np.flatnonzero))],
    "unique": [
        example(TWICE),
        example(TWICE, return_index=True, return_inverse=True, return_counts=True),
        example(TWICE, size=4, fill_value=7, expected=_padded(np.unique)),
    ],
    "unique_values": [
        example(TWICE),
        example(STRANGE[[0, 0, 1]], expected=lambda x: f32(np.inf, np.nan, np.nan)),
        example(TWICE, size=4, fill_value=7, expected=_padded(np.unique_values)),
    ],
    "unique_counts": [example(TWICE), example(TWICE, size=3, expected=_padded(lambda x: tuple(np.unique_counts(x))))],
    "unique_inverse": [example(TWICE), example(TWICE, size=3, expected=lambda x, size: np.unique_inverse(x))],
    "unique_all": [example(TWICE), example(TWICE, size=3, expected=lambda x, size: np.unique_all(x))],
    "union1d": _sets("union1d", 7),
    "intersect1d": _sets("intersect1d", 7),
    "setdiff1d": _sets("setdiff1d", 7),
    "setxor1d": _sets("setxor1d", 7),
    # signals
    "convolve": [example(SIGNED, OTHER[:3]), example(SIGNED, OTHER[:3], mode="same")],
    "correlate": [example(SIGNED, OTHER[:3])],
    "gradient": [example(POSITIVE), example(MATRIX, 2.0), example(POSITIVE, f32(0, 1, 3, 4, 6))],
    "ediff1d": [example(SIGNED), example(SIGNED, to_begin=1.0)],
    "trapezoid": [example(MATRIX), example(SIGNED, POSITIVE)],
    "unwrap": [example(f32(0, 3, 7, 13, 1))],
    "bartlett": [example(5)],
    "blackman": [example(5)],
    "hamming": [example(5)],
    "hanning": [example(5)],
    "kaiser": [example(5, 8.6)],
    # statistics
    "cov": [example(MATRIX * MATRIX), example(SIGNED, OTHER, aweights=POSITIVE)],
    "corrcoef": [example(SQUARE)],
    "nanprod": [example(GAPS, axis=0)],
    "nanstd": [example(GAPS, axis=1)],
    "nanvar": [example(GAPS, correction=1)],
    "nanmedian": [example(GAPS, axis=1)],
    "nanquantile": [example(GAPS, 0.3)],
    "nanpercentile": [example(GAPS, 30.0, axis=1)],
    "nancumsum": [example(GAPS)],
    "nancumprod": [example(GAPS, axis=1)],
    "nanargmax": [example(GAPS, axis=1)],
    "nanargmin": [example(GAPS)],
    # fft
    **{
        f"fft.{name}": [example(SIGNED), example(MATRIX, 3, 0, norm="ortho")]
        for name in ("fft", "ifft", "rfft", "hfft")
    },
    **{f"fft.{name}": [example(SIGNED)] for name in ("irfft", "ihfft")},
    **{f"fft.{name}": [example(MATRIX)] for name in ("fft2", "ifft2", "rfft2", "irfft2", "rfftn", "irfftn")},
    "fft.fftn": [example(CUBE), example(CUBE, axes=(0, 1))],
    "fft.ifftn": [example(MATRIX, (2, 2), (0, 1))],
    "fft.fftfreq": [example(5), example(4, d=0.5)],
    "fft.rfftfreq": [example(5)],
    "fft.fftshift": [example(SIGNED), example(MATRIX, axes=1)],
    "fft.ifftshift": [example(SIGNED)],
    # linalg
    "linalg.matrix_norm": [example(CUBE), example(MATRIX, ord=1)],
    "linalg.cond": [example(SQUARE)],
    "linalg.svdvals": [example(SQUARE)],
    "linalg.eig": [example(np.diag(POSITIVE[:3]), expected=lambda x: tuple(part + 0j for part in np.linalg.eig(x)))],
    "linalg.eigvals": [example(np.triu(SQUARE), expected=lambda x: np.diag(x) + 0j)],
    "linalg.lstsq": [example(RIGHT, f32(1, 2, 4), expected=lambda a, b: np.linalg.lstsq(a, b, rcond=None))],
    "linalg.multi_dot": [example([MATRIX, MATRIX.T, SQUARE])],
    "linalg.tensorinv": [example(SQUARE.reshape(3, 3, 1), 1)],
    "linalg.tensorsolve": [example(SQUARE, f32(1, 2, 3))],
    "linalg.cross": [example(SIGNED[:3], OTHER[:3])],
    "linalg.diagonal": [example(CUBE, offset=1)],
    "linalg.matmul": [example(MATRIX, MATRIX.T)],
    "linalg.matrix_transpose": [example(CUBE)],
    "linalg.outer": [example(SIGNED, OTHER)],
    "linalg.tensordot": [example(CUBE, CUBE, axes=((0, 2), (0, 2)))],
    "linalg.trace": [example(CUBE)],
    "linalg.vecdot": [example(CUBE, CUBE)],
}
