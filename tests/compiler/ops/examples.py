"""One example of use for every row of the op table, with what it should give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["EXAMPLES", "Example"]


@dataclass(frozen=True)
class Example:
    """Arguments of a public function.

    Attributes:
      args: positional arguments; arrays and lists of arrays are tensors.
      kwargs: keyword arguments.
      expected: the NumPy function that gives the right answer for the same arguments; None: NumPy's of this name.
    """

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    expected: Callable[..., Any] | None = None


def example(*args: Any, expected: Callable[..., Any] | None = None, **kwargs: Any) -> Example:
    return Example(args, kwargs, expected)


def f32(*values: Any) -> Any:
    return np.asarray(values, np.float32)


def i32(*values: Any) -> Any:
    return np.asarray(values, np.int32)


SIGNED = f32(-2.5, -1.0, -0.0, 0.5, 3.0)
OTHER = f32(1.5, -2.0, 4.0, 0.25, 3.0)
POSITIVE = f32(0.25, 0.5, 1.0, 2.0, 7.0)
UNIT = f32(-0.9, -0.5, 0.0, 0.3, 0.8)
STRANGE = f32(np.nan, np.inf, -np.inf, 1.0, -0.0)
COMPLEX = np.asarray([1 + 2j, -1j, 3], np.complex64)
INTS = i32(-7, -1, 0, 5, 12)
DIVISORS = i32(2, -3, 5, -5, 7)
BITS = i32(0b1100, 0b1010, 7, 0, 255)
SHIFTS = i32(1, 0, 3, 2, 4)
BOOLS = np.asarray([True, False, True, False, True])
MATRIX = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
CUBE = np.sin(np.arange(24, dtype=np.float32)).reshape(2, 3, 4)
SQUARE = np.asarray([[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 5.0]], np.float32)
LOWER = np.tril(SQUARE)
RIGHT = np.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
GAPS = np.asarray([[1.0, np.nan, 3.0], [4.0, 5.0, np.nan]], np.float32)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _softmax(x: Any, axis: Any = -1) -> Any:
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def _softplus(x: Any) -> Any:
    return np.log1p(np.exp(x))


def _elu(x: Any, alpha: float = 1.0) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def _standardize(x: Any) -> Any:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def _attention(query: Any, key: Any, value: Any) -> Any:
    scores = np.einsum("bqhf,bkhf->bhqk", query, key) / np.sqrt(query.shape[-1])
    return np.einsum("bhqk,bkhf->bqhf", _softmax(scores), value)


def _dynamic_slice(x: Any, starts: Any, sizes: Any) -> Any:
    return x[tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))]


def _dynamic_update_slice(x: Any, update: Any, starts: Any) -> Any:
    result = x.copy()
    result[tuple(slice(start, start + size) for start, size in zip(starts, update.shape, strict=True))] = update
    return result


def _top_k(x: Any, k: int) -> Any:
    order = np.argsort(-x, axis=-1, kind="stable")[..., :k]
    return np.take_along_axis(x, order, -1), order


def _vector_norm(x: Any, axis: Any) -> Any:
    return np.linalg.norm(x, axis=axis)


def _same(x: Any) -> Any:
    return x


EXAMPLES: dict[str, list[Example]] = {
    # elementwise
    "add": [example(SIGNED, OTHER), example(MATRIX, 1.5), example(2, INTS)],
    "subtract": [example(SIGNED, OTHER), example(MATRIX, MATRIX[:, :1])],
    "multiply": [example(SIGNED, OTHER), example(COMPLEX, COMPLEX)],
    "divide": [example(SIGNED, OTHER), example(INTS, DIVISORS)],
    "floor_divide": [example(SIGNED, OTHER), example(INTS, DIVISORS)],
    "remainder": [example(SIGNED, OTHER), example(INTS, DIVISORS)],
    "fmod": [example(SIGNED, OTHER), example(INTS, DIVISORS)],
    "pow": [example(POSITIVE, OTHER), example(INTS, i32(2)), example(SIGNED, 2)],
    "negative": [example(SIGNED), example(INTS)],
    "positive": [example(SIGNED)],
    "abs": [example(SIGNED), example(COMPLEX)],
    "sign": [example(SIGNED), example(INTS)],
    "reciprocal": [example(POSITIVE)],
    "square": [example(SIGNED), example(COMPLEX)],
    "maximum": [example(SIGNED, OTHER), example(STRANGE, 0.0)],
    "minimum": [example(SIGNED, OTHER), example(STRANGE, 0.0)],
    "fmax": [example(STRANGE, 0.5), example(SIGNED, OTHER)],
    "fmin": [example(STRANGE, 0.5), example(SIGNED, OTHER)],
    "copysign": [example(POSITIVE, SIGNED)],
    "heaviside": [example(SIGNED, 0.5)],
    "identity": [example(SIGNED, expected=_same)],
    "stop_gradient": [example(SIGNED, expected=_same)],
    "floor": [example(SIGNED)],
    "ceil": [example(SIGNED)],
    "trunc": [example(SIGNED)],
    "round": [example(SIGNED), example(UNIT, decimals=1)],
    "rint": [example(SIGNED)],
    "sqrt": [example(POSITIVE), example(i32(4, 9))],
    "rsqrt": [example(POSITIVE, expected=lambda x: 1 / np.sqrt(x))],
    "cbrt": [example(SIGNED)],
    "hypot": [example(SIGNED, OTHER)],
    "exp": [example(SIGNED), example(COMPLEX)],
    "exp2": [example(SIGNED)],
    "expm1": [example(SIGNED)],
    "log": [example(POSITIVE)],
    "log2": [example(POSITIVE)],
    "log10": [example(POSITIVE)],
    "log1p": [example(POSITIVE)],
    "logaddexp": [example(SIGNED, OTHER)],
    "sin": [example(SIGNED)],
    "cos": [example(SIGNED)],
    "tan": [example(UNIT)],
    "asin": [example(UNIT)],
    "acos": [example(UNIT)],
    "atan": [example(SIGNED)],
    "atan2": [example(SIGNED, OTHER)],
    "sinh": [example(SIGNED)],
    "cosh": [example(SIGNED)],
    "tanh": [example(SIGNED)],
    "asinh": [example(SIGNED)],
    "acosh": [example(POSITIVE + 1)],
    "atanh": [example(UNIT)],
    "deg2rad": [example(SIGNED)],
    "rad2deg": [example(SIGNED)],
    "conj": [example(COMPLEX)],
    "real": [example(COMPLEX)],
    "imag": [example(COMPLEX)],
    "angle": [example(COMPLEX)],
    "nan_to_num": [example(STRANGE), example(STRANGE, nan=2.0, posinf=9.0, neginf=-9.0), example(SIGNED)],
    # logic
    "equal": [example(SIGNED, OTHER), example(INTS, 5)],
    "not_equal": [example(SIGNED, OTHER), example(BOOLS, True)],
    "less": [example(SIGNED, OTHER)],
    "less_equal": [example(SIGNED, OTHER)],
    "greater": [example(SIGNED, OTHER)],
    "greater_equal": [example(SIGNED, OTHER)],
    "isclose": [example(SIGNED, OTHER), example(STRANGE, STRANGE, equal_nan=True)],
    "allclose": [example(SIGNED, SIGNED), example(SIGNED, OTHER, atol=0.5)],
    "array_equal": [example(SIGNED, SIGNED), example(SIGNED, MATRIX)],
    "isnan": [example(STRANGE)],
    "isinf": [example(STRANGE)],
    "isfinite": [example(STRANGE)],
    "signbit": [example(STRANGE[1:])],
    "logical_and": [example(BOOLS, INTS)],
    "logical_or": [example(BOOLS, INTS)],
    "logical_xor": [example(BOOLS, SIGNED)],
    "logical_not": [example(INTS)],
    "bitwise_and": [example(BITS, INTS), example(BOOLS, ~BOOLS)],
    "bitwise_or": [example(BITS, INTS)],
    "bitwise_xor": [example(BITS, INTS)],
    "bitwise_invert": [example(BITS), example(BOOLS)],
    "bitwise_left_shift": [example(BITS, SHIFTS)],
    "bitwise_right_shift": [example(INTS, SHIFTS)],
    "bitwise_count": [example(INTS)],
    "gcd": [example(INTS, DIVISORS)],
    "lcm": [example(INTS, DIVISORS)],
    # reduction
    "sum": [example(MATRIX), example(CUBE, axis=(0, -1), keepdims=True), example(INTS, dtype="float32")],
    "prod": [example(OTHER), example(MATRIX, axis=0)],
    "mean": [example(MATRIX), example(INTS), example(CUBE, axis=1)],
    "max": [example(MATRIX), example(CUBE, axis=1, keepdims=True)],
    "min": [example(MATRIX), example(CUBE, axis=(0, 1))],
    "ptp": [example(MATRIX, axis=0)],
    "std": [example(CUBE, axis=1), example(SIGNED, correction=1)],
    "var": [example(CUBE, axis=1), example(SIGNED, correction=1)],
    "median": [example(MATRIX, axis=1)],
    "quantile": [example(MATRIX, f32(0.25, 0.5), axis=1)],
    "percentile": [example(MATRIX, 30.0)],
    "nansum": [example(GAPS, axis=0)],
    "nanmean": [example(GAPS, axis=0)],
    "nanmax": [example(GAPS)],
    "nanmin": [example(GAPS)],
    "all": [example(BOOLS), example(MATRIX, axis=0)],
    "any": [example(BOOLS), example(MATRIX, axis=1, keepdims=True)],
    "count_nonzero": [example(MATRIX, axis=1)],
    "argmax": [example(CUBE), example(CUBE, axis=1)],
    "argmin": [example(CUBE, axis=-1, keepdims=True)],
    "cumsum": [example(MATRIX), example(MATRIX, axis=1)],
    "cumprod": [example(MATRIX, axis=0)],
    "cumulative_sum": [example(SIGNED), example(MATRIX, axis=1, include_initial=True)],
    "diff": [example(SIGNED), example(MATRIX, n=2, axis=0)],
    "trace": [example(SQUARE), example(SQUARE, offset=1)],
    # shape
    "astype": [example(SIGNED, "int32"), example(INTS, bool), example(INTS, np.float16)],
    "reshape": [example(MATRIX, (2, -1)), example(MATRIX, 12), example(SIGNED, (5, 1))],
    "ravel": [example(MATRIX)],
    "permute_dims": [example(CUBE), example(CUBE, (1, 2, 0))],
    "matrix_transpose": [example(CUBE)],
    "moveaxis": [example(CUBE, 0, -1), example(CUBE, (0, 1), (1, 2))],
    "swapaxes": [example(CUBE, 0, 2)],
    "expand_dims": [example(MATRIX, 1), example(MATRIX, (0, -1))],
    "squeeze": [example(CUBE[:, :1]), example(CUBE[:1, :1], axis=1)],
    "broadcast_to": [example(SIGNED, (2, 5)), example(np.float32(3), 4)],
    "broadcast_arrays": [example(MATRIX, MATRIX[:, :1], np.float32(1))],
    "concat": [example([MATRIX, MATRIX]), example([MATRIX, CUBE[0]], axis=1), example([MATRIX, SIGNED], axis=None)],
    "stack": [example([SIGNED, OTHER]), example([SIGNED, OTHER], axis=-1)],
    "hstack": [example([SIGNED, OTHER])],
    "vstack": [example([SIGNED, OTHER])],
    "split": [example(MATRIX, 3), example(MATRIX, [1, 3], axis=1), example(MATRIX, 1)],
    "unstack": [example(MATRIX), example(MATRIX, axis=1), example(MATRIX[:1])],
    "dynamic_slice": [example(MATRIX, i32(1, 0), (2, 3), expected=_dynamic_slice)],
    "dynamic_update_slice": [example(MATRIX, RIGHT, i32(0, 1), expected=_dynamic_update_slice)],
    "tile": [example(MATRIX, (2, 1)), example(SIGNED, 3)],
    "repeat": [example(MATRIX, 2, axis=1), example(SIGNED, 3), example(MATRIX, (1, 0, 2), axis=0)],
    "flip": [example(MATRIX), example(MATRIX, axis=1)],
    "roll": [example(MATRIX, 1, axis=0), example(SIGNED, -2)],
    "rot90": [example(MATRIX), example(CUBE, 3, (1, 2))],
    "pad": [
        example(MATRIX, 1),
        example(MATRIX, ((1, 0), (0, 2)), constant_values=7.0),
        example(SIGNED, (2, 1), mode="edge"),
    ],
    "tril": [example(SQUARE), example(SQUARE, 1)],
    "triu": [example(SQUARE), example(SQUARE, k=-1)],
    "diag": [example(SQUARE), example(SIGNED, 1)],
    "diagonal": [example(SQUARE), example(CUBE, offset=1, axis1=1, axis2=2)],
    "meshgrid": [example(SIGNED, POSITIVE), example(SIGNED, indexing="ij")],
    # products
    "matmul": [example(MATRIX, MATRIX.T), example(CUBE, CUBE[0].T)],
    "dot": [example(SIGNED, OTHER), example(MATRIX, MATRIX.T)],
    "vdot": [example(COMPLEX, COMPLEX)],
    "vecdot": [example(CUBE, CUBE)],
    "inner": [example(MATRIX, MATRIX)],
    "outer": [example(SIGNED, OTHER)],
    "cross": [example(SIGNED[:3], OTHER[:3])],
    "kron": [example(RIGHT, SQUARE)],
    "tensordot": [example(CUBE, CUBE, axes=((0, 2), (0, 2))), example(MATRIX, MATRIX.T, 1)],
    "einsum": [example("bij,kj->bik", CUBE, MATRIX), example("ij->j", MATRIX)],
    # searching
    "where": [example(BOOLS, SIGNED, OTHER), example(BOOLS, SIGNED, 0.0)],
    "sort": [example(CUBE), example(SIGNED, descending=True, expected=lambda x, descending: np.sort(x)[::-1])],
    "argsort": [example(CUBE, axis=0)],
    "top_k": [example(CUBE, 2, expected=_top_k)],
    "searchsorted": [example(POSITIVE, OTHER), example(POSITIVE, POSITIVE, side="right")],
    "digitize": [example(SIGNED, POSITIVE)],
    "bincount": [example(i32(1, 2, 1), length=4, expected=lambda x, length: np.bincount(x, minlength=length))],
    "isin": [example(INTS, i32(0, 5)), example(INTS, i32(0, 5), invert=True)],
    "interp": [example(SIGNED, POSITIVE, OTHER)],
    "take": [example(MATRIX, i32(2, 0), axis=0), example(MATRIX, i32(11, -1))],
    "take_along_axis": [example(MATRIX, np.argsort(-MATRIX, axis=1), axis=1)],
    # filling
    "zeros": [example((2, 3)), example(4, dtype="int32")],
    "ones": [example((2, 3)), example(4, dtype=bool)],
    "full": [
        example((2, 2), 7.5),
        example(3, np.int32(2)),
        example(2, 1, dtype="float16"),
        example((2, 3), np.float32(2.5)),
    ],
    "zeros_like": [example(INTS), example(MATRIX, dtype="int32")],
    "ones_like": [example(INTS)],
    "full_like": [example(MATRIX, 3.0), example(INTS, 2)],
    "arange": [example(5), example(2, 11, 3), example(0, 1, 0.25), example(3, dtype="float32")],
    "linspace": [example(0.0, 1.0, 5), example(f32(0, 1), f32(2, 5), num=3, endpoint=False)],
    "eye": [example(3), example(2, 4, k=1, dtype="int32")],
    # nn
    "nn.relu": [example(SIGNED, expected=lambda x: np.maximum(x, 0))],
    "nn.relu6": [example(SIGNED * 4, expected=lambda x: np.clip(x, 0, 6))],
    "nn.leaky_relu": [
        example(SIGNED, negative_slope=0.1, expected=lambda x, negative_slope: np.where(x > 0, x, x * negative_slope))
    ],
    "nn.elu": [example(SIGNED, expected=_elu), example(SIGNED, alpha=0.5, expected=_elu)],
    "nn.celu": [example(SIGNED, expected=_elu)],
    "nn.selu": [example(SIGNED, expected=lambda x: 1.0507009873554805 * _elu(x, 1.6732632423543772))],
    "nn.gelu": [example(SIGNED, expected=_gelu)],
    "nn.silu": [example(SIGNED, expected=lambda x: x * _sigmoid(x))],
    "nn.mish": [example(SIGNED, expected=lambda x: x * np.tanh(_softplus(x)))],
    "nn.sigmoid": [example(SIGNED, expected=_sigmoid)],
    "nn.log_sigmoid": [example(SIGNED, expected=lambda x: np.log(_sigmoid(x)))],
    "nn.hard_sigmoid": [example(SIGNED, expected=lambda x: np.clip(x + 3, 0, 6) / 6)],
    "nn.hard_tanh": [example(SIGNED, expected=lambda x: np.clip(x, -1, 1))],
    "nn.softplus": [example(SIGNED, expected=_softplus)],
    "nn.soft_sign": [example(SIGNED, expected=lambda x: x / (1 + np.abs(x)))],
    "nn.tanh": [example(SIGNED, expected=np.tanh)],
    "nn.glu": [example(MATRIX, expected=lambda x: x[:, :2] * _sigmoid(x[:, 2:]))],
    "nn.softmax": [example(MATRIX, expected=_softmax), example(CUBE, axis=(0, 1), expected=_softmax)],
    "nn.log_softmax": [example(MATRIX, expected=lambda x: np.log(_softmax(x)))],
    "nn.logsumexp": [example(CUBE, axis=1, expected=lambda x, axis: np.log(np.exp(x).sum(axis=axis)))],
    "nn.standardize": [example(MATRIX, expected=_standardize)],
    "nn.one_hot": [
        example(
            i32(2, 0, 5), 3, expected=lambda x, n: np.eye(n, dtype=np.float32)[np.minimum(x, n - 1)] * (x < n)[:, None]
        ),
        example(i32(1, 0), 2, dtype="int32", expected=lambda x, n, dtype: np.eye(n, dtype=dtype)[x]),
    ],
    "nn.dot_product_attention": [
        example(*[CUBE.reshape(2, 3, 1, 4) * scale for scale in (1, 2, 3)], expected=_attention)
    ],
    # linalg
    "linalg.norm": [example(SIGNED), example(MATRIX, ord="fro"), example(MATRIX, ord=1, axis=0)],
    "linalg.vector_norm": [example(CUBE, axis=1, expected=_vector_norm)],
    "linalg.det": [example(SQUARE)],
    "linalg.slogdet": [example(SQUARE)],
    "linalg.inv": [example(SQUARE)],
    "linalg.pinv": [example(RIGHT)],
    "linalg.solve": [example(SQUARE, RIGHT)],
    "linalg.solve_triangular": [
        example(LOWER, RIGHT, expected=np.linalg.solve),
        example(LOWER, RIGHT, transpose=True, expected=lambda a, b, transpose: np.linalg.solve(a.T, b)),
    ],
    "linalg.cholesky": [example(SQUARE)],
    "linalg.qr": [example(RIGHT)],
    "linalg.svd": [example(np.diag(POSITIVE[:3]), full_matrices=False)],
    "linalg.eigh": [example(np.diag(POSITIVE[:3]))],
    "linalg.eigvalsh": [example(SQUARE)],
    "linalg.matrix_power": [example(SQUARE, 3)],
    "linalg.matrix_rank": [example(MATRIX)],
}
