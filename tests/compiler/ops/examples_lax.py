"""Examples of the functions of ``jax.lax``, which gives the right answer for each."""

from __future__ import annotations

import numpy as np
from jax import lax

from tests.compiler.ops.examples import (
    BITS,
    BOOLS,
    COMPLEX,
    CUBE,
    MATRIX,
    OTHER,
    POSITIVE,
    SHIFTS,
    SIGNED,
    UNIT,
    Example,
    example,
    f32,
    i32,
)

__all__ = ["LAX_EXAMPLES"]

_ROWS = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
_INTO_ROWS = lax.ScatterDimensionNumbers((1,), (0,), (0,))
_PLACES = i32([2], [0])
_ONE = np.int32(1)
_SMALL = MATRIX[:, :3]
_IMAGE = np.sin(np.arange(18, dtype=np.float32)).reshape(1, 2, 3, 3)
_KERNEL = np.cos(np.arange(16, dtype=np.float32)).reshape(2, 2, 2, 2)
_NHWC = ("NHWC", "HWIO", "NHWC")


def _named(names: str, *args: object) -> dict[str, list[Example]]:
    return {f"lax.{name}": [example(*args)] for name in names.split()}


LAX_EXAMPLES: dict[str, list[Example]] = {
    **_named("neg abs sign floor ceil exp exp2 expm1 logistic square sin cos tan atan sinh cosh tanh asinh", SIGNED),
    **_named("erf erfc bessel_i0e bessel_i1e is_finite cbrt reciprocal stop_gradient", OTHER),
    **_named("log log1p sqrt rsqrt lgamma digamma", POSITIVE),
    **_named("asin acos atanh erf_inv", UNIT),
    **_named("acosh", POSITIVE + 1),
    **_named("conj real imag", COMPLEX),
    **_named("add sub mul div rem max min atan2 complex eq ne lt le gt ge nextafter", SIGNED, OTHER),
    **_named("pow", POSITIVE, OTHER),
    **_named("bitwise_and bitwise_or bitwise_xor shift_left shift_right_arithmetic shift_right_logical", BITS, SHIFTS),
    **_named("bitwise_not population_count clz", BITS),
    **_named("zeta", f32(2, 3), f32(1, 2)),
    **_named("igamma igammac igamma_grad_a random_gamma_grad", POSITIVE, POSITIVE + 1),
    **_named("reduce_sum reduce_prod reduce_max reduce_min", _SMALL, (1,)),
    **_named("reduce_and reduce_or reduce_xor", BITS, (0,)),
    **_named("cumsum cumprod cummax cummin cumlogsumexp", OTHER),
    **_named("argmax argmin", MATRIX, 1, np.int32),
    **_named("approx_max_k approx_min_k top_k", OTHER, 2),
    **{
        f"lax.{name}": [example(_SMALL, _PLACES, CUBE[0, :2, :3], _INTO_ROWS, unique_indices=True)]
        for name in ("scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max")
    },
    "lax.integer_pow": [example(OTHER, 3)],
    "lax.round": [example(SIGNED), example(SIGNED, lax.RoundingMethod.TO_NEAREST_EVEN)],
    "lax.clamp": [example(SIGNED - 1, OTHER, SIGNED + 1)],
    "lax.select": [example(BOOLS, SIGNED, OTHER)],
    "lax.select_n": [example(i32(0, 1, 2, 1, 0), SIGNED, OTHER, POSITIVE)],
    "lax.polygamma": [example(f32(1, 2), f32(2, 3))],
    "lax.betainc": [example(f32(0.5, 2), f32(1, 3), f32(0.1, 0.9))],
    "lax.reduce_precision": [example(f32(0.1, 3.14159), 5, 3)],
    "lax.iota": [example(np.float32, 3)],
    "lax.broadcasted_iota": [example(np.int32, (2, 3), 1)],
    "lax.full": [example((2, 3), 2.5), example((2,), 1, np.float32)],
    "lax.full_like": [example(SIGNED, 2.0), example(BITS, 1, np.float32, (2,))],
    "lax.convert_element_type": [example(BITS, np.float32), example(SIGNED, new_dtype=np.float16)],
    "lax.bitcast_convert_type": [example(SIGNED, np.int32)],
    "lax.broadcast": [example(UNIT, (2,))],
    "lax.broadcast_in_dim": [example(f32(1, 2), (2, 3), (0,))],
    "lax.broadcast_to_rank": [example(f32(1, 2), 2)],
    "lax.expand_dims": [example(f32(1, 2), (0, -1))],
    "lax.squeeze": [example(f32([[1], [2]]), (0, 2))],
    "lax.collapse": [example(CUBE, 1), example(CUBE, 0, 2)],
    "lax.reshape": [example(MATRIX, (2, 6)), example(MATRIX, (12,), dimensions=(1, 0))],
    "lax.transpose": [example(MATRIX, (1, 0))],
    "lax.rev": [example(MATRIX, (1,))],
    "lax.concatenate": [example([SIGNED, OTHER], 0)],
    "lax.split": [example(SIGNED, (2, 3))],
    "lax.tile": [example(f32(1, 2), (2,))],
    "lax.pad": [example(f32(1, 2, 3), np.float32(9), ((1, -1, 1),))],
    "lax.slice": [example(MATRIX, (0, 1), (3, 4), (2, 1)), example(MATRIX, (1, 1), (2, 3))],
    "lax.slice_in_dim": [example(SIGNED, 1, None, 2), example(MATRIX, None, 2, axis=1)],
    "lax.index_in_dim": [example(MATRIX, 1, keepdims=False)],
    "lax.dynamic_slice": [example(MATRIX, [_ONE, np.int32(-2)], (2, 2))],
    "lax.dynamic_slice_in_dim": [example(SIGNED, _ONE, 2)],
    "lax.dynamic_index_in_dim": [example(MATRIX, _ONE, keepdims=False)],
    "lax.dynamic_update_slice": [example(MATRIX, _SMALL[:2, :2], [_ONE, _ONE])],
    "lax.dynamic_update_slice_in_dim": [example(SIGNED, f32(8, 9), _ONE, 0)],
    "lax.dynamic_update_index_in_dim": [example(SIGNED, np.float32(9), _ONE, 0)],
    "lax.gather": [
        example(_SMALL, _PLACES, _ROWS, (1, 3)),
        example(_SMALL, _PLACES + 1, _ROWS, (1, 3), mode=lax.GatherScatterMode.FILL_OR_DROP, fill_value=7),
    ],
    "lax.dot": [example(MATRIX, MATRIX.T, precision="highest"), example(UNIT, OTHER)],
    "lax.dot_general": [example(CUBE, CUBE, (((2,), (2,)), ((0,), (0,))), precision=lax.Precision.HIGHEST)],
    "lax.batch_matmul": [example(CUBE, CUBE.swapaxes(1, 2))],
    "lax.conv": [example(_IMAGE, _KERNEL, (1, 1), "SAME")],
    "lax.conv_with_general_padding": [example(_IMAGE, _KERNEL, (1, 1), ((1, 0), (0, 1)), (1, 2), None)],
    "lax.conv_general_dilated": [
        example(_IMAGE, _KERNEL, (2, 1), "VALID"),
        example(_IMAGE, _KERNEL, (1, 1), "SAME", dimension_numbers=lax.ConvDimensionNumbers(*[(0, 1, 2, 3)] * 3)),
        example(_IMAGE[..., :2], _KERNEL, (1, 1), "SAME", rhs_dilation=(2, 1), dimension_numbers=_NHWC),
    ],
    "lax.conv_transpose": [example(_IMAGE[..., :2], _KERNEL, (2, 2), "SAME")],
    "lax.sort_key_val": [example(OTHER, SIGNED)],
}
