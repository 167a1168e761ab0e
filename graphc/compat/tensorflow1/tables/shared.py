"""Rows that TensorFlow 1 and 2 share: same arguments, same call. Each line has the names of one function."""

from __future__ import annotations

from dataclasses import replace

from graphc.compat.alias import Alias
from graphc.compat.tensorflow2 import ROWS

__all__ = ["OPERATIONS", "OTHERS"]

_BY_NAME = {name: row for row in ROWS for name in row.names}


def _shared(lines: str) -> tuple[Alias, ...]:
    """Returns the rows of TensorFlow 2 under the names that TensorFlow 1 has; at least one of a line is in both."""
    found: list[Alias] = []
    for line in lines.strip().splitlines():
        names = tuple(line.split())
        found.append(replace(next(_BY_NAME[name] for name in names if name in _BY_NAME), names=names))
    return tuple(found)


OPERATIONS = _shared("""
abs math.abs
acos math.acos
acosh math.acosh
add math.add
add_n math.add_n
asin math.asin
asinh math.asinh
atan math.atan
atan2 math.atan2
atanh math.atanh
cos math.cos
cosh math.cosh
divide math.divide
equal math.equal
exp math.exp
floor math.floor
greater math.greater
greater_equal math.greater_equal
less math.less
less_equal math.less_equal
logical_and math.logical_and
logical_not math.logical_not
logical_or math.logical_or
maximum math.maximum
minimum math.minimum
multiply math.multiply
negative math.negative
not_equal math.not_equal
pow math.pow
realdiv
round math.round
scalar_mul math.scalar_mul
sigmoid math.sigmoid nn.sigmoid
sign math.sign
sin math.sin
sinh math.sinh
sqrt math.sqrt
square math.square
subtract math.subtract
tan math.tan
tanh math.tanh nn.tanh
truediv math.truediv
truncatediv
truncatemod
clip_by_value
clip_by_norm
clip_by_global_norm
complex dtypes.complex
cumsum math.cumsum
math.cumprod cumprod
math.angle angle
math.bessel_i0 math.special.bessel_i0
math.bessel_i0e math.special.bessel_i0e
math.bessel_i1 math.special.bessel_i1
math.bessel_i1e math.special.bessel_i1e
math.betainc betainc
math.ceil ceil
math.conj conj
math.digamma digamma
math.divide_no_nan
math.erf erf
math.erfc erfc
math.erfcinv
math.erfinv
math.expm1 expm1
math.floordiv floordiv
math.floormod math.mod floormod mod
math.igamma igamma
math.igammac igammac
math.imag imag
math.is_finite debugging.is_finite is_finite
math.is_inf debugging.is_inf is_inf
math.is_nan debugging.is_nan is_nan
math.is_non_decreasing debugging.is_non_decreasing is_non_decreasing
math.is_strictly_increasing debugging.is_strictly_increasing is_strictly_increasing
math.lbeta lbeta
math.lgamma lgamma
math.log log
math.log1p log1p
math.log_sigmoid log_sigmoid
math.logical_xor logical_xor
math.multiply_no_nan
math.ndtri
math.nextafter
math.polygamma polygamma
math.polyval
math.real real
math.reciprocal reciprocal
math.reciprocal_no_nan
math.rint rint
math.rsqrt rsqrt
math.softplus nn.softplus
math.softsign nn.softsign
math.squared_difference squared_difference
math.xdivy
math.xlog1py
math.xlogy
math.zeta zeta
math.l2_normalize linalg.l2_normalize nn.l2_normalize
bitwise.bitwise_and
bitwise.bitwise_or
bitwise.bitwise_xor
bitwise.invert
bitwise.left_shift
bitwise.right_shift
math.special.dawsn
math.special.expint
math.special.fresnel_cos
math.special.fresnel_sin
math.special.spence
math.reduce_euclidean_norm
math.reduce_std
math.reduce_variance
math.zero_fraction nn.zero_fraction
math.top_k nn.top_k
histogram_fixed_width
histogram_fixed_width_bins
math.segment_max segment_max
math.segment_mean segment_mean
math.segment_min segment_min
math.segment_prod segment_prod
math.segment_sum segment_sum
math.unsorted_segment_max unsorted_segment_max
math.unsorted_segment_mean unsorted_segment_mean
math.unsorted_segment_min unsorted_segment_min
math.unsorted_segment_prod unsorted_segment_prod
math.unsorted_segment_sqrt_n unsorted_segment_sqrt_n
math.unsorted_segment_sum unsorted_segment_sum
cast dtypes.cast
saturate_cast dtypes.saturate_cast
ones
zeros
fill
eye linalg.eye
range
linspace lin_space
one_hot
sequence_mask
meshgrid
shape_n
rank
broadcast_to
broadcast_dynamic_shape
ensure_shape
identity
identity_n
stop_gradient
concat
stack
parallel_stack
unstack
split
reshape manip.reshape
tile manip.tile
repeat
reverse manip.reverse reverse_v2
roll manip.roll
sort
argsort
searchsorted
scatter_nd manip.scatter_nd
slice
unravel_index
math.invert_permutation invert_permutation
matmul linalg.matmul
tensordot linalg.tensordot
einsum linalg.einsum
linalg.adjoint
linalg.band_part matrix_band_part
linalg.cholesky cholesky
linalg.cholesky_solve cholesky_solve
linalg.cross cross
linalg.det matrix_determinant
linalg.diag
linalg.diag_part
linalg.tensor_diag diag
linalg.tensor_diag_part
linalg.eigh self_adjoint_eig
linalg.eigvalsh self_adjoint_eigvals
linalg.global_norm global_norm
linalg.inv matrix_inverse
linalg.logdet
linalg.lstsq matrix_solve_ls
linalg.matrix_rank
linalg.matrix_transpose linalg.transpose matrix_transpose
linalg.matvec
linalg.normalize
linalg.pinv
linalg.qr qr
linalg.slogdet
linalg.solve matrix_solve
linalg.svd svd
linalg.trace trace
linalg.triangular_solve matrix_triangular_solve
signal.fft fft spectral.fft
signal.fft2d fft2d spectral.fft2d
signal.fft3d fft3d spectral.fft3d
signal.ifft ifft spectral.ifft
signal.ifft2d ifft2d spectral.ifft2d
signal.ifft3d ifft3d spectral.ifft3d
signal.rfft spectral.rfft
signal.rfft2d spectral.rfft2d
signal.rfft3d spectral.rfft3d
signal.irfft spectral.irfft
signal.irfft2d spectral.irfft2d
signal.irfft3d spectral.irfft3d
signal.fftshift
signal.ifftshift
signal.hann_window
signal.hamming_window
signal.kaiser_window
signal.frame
nn.relu
nn.relu6
nn.leaky_relu
nn.elu
nn.selu
nn.silu nn.swish
nn.bias_add
nn.atrous_conv2d
nn.conv1d_transpose
nn.max_pool1d
nn.max_pool2d
nn.max_pool3d
nn.avg_pool1d
nn.avg_pool3d
nn.batch_normalization
nn.local_response_normalization nn.lrn
nn.l2_loss
nn.sigmoid_cross_entropy_with_logits
nn.log_poisson_loss
random.normal random_normal
random.uniform random_uniform
random.truncated_normal truncated_normal
random.gamma random_gamma
random.categorical
random.shuffle random_shuffle
random.stateless_normal
random.stateless_uniform
random.stateless_truncated_normal
random.stateless_gamma
random.stateless_poisson
random.stateless_binomial
random.stateless_categorical
strings.as_string as_string dtypes.as_string
strings.format
strings.join string_join
strings.lower
strings.upper
strings.strip string_strip
strings.regex_full_match
strings.regex_replace regex_replace
switch_case
map_fn
scan
foldl
foldr
vectorized_map
sparse.to_dense sparse_tensor_to_dense
sparse.sparse_dense_matmul sparse.matmul sparse_tensor_dense_matmul
""")
"""Rows that make operations."""

OTHERS = _shared("""
broadcast_static_shape
is_tensor
as_dtype dtypes.as_dtype
assert_proper_iterable debugging.assert_proper_iterable
assert_same_float_dtype debugging.assert_same_float_dtype
debugging.assert_shapes
debugging.disable_check_numerics
debugging.enable_check_numerics
nest.assert_same_structure
config.run_functions_eagerly
config.functions_run_eagerly
config.list_logical_devices config.experimental.list_logical_devices
config.list_physical_devices config.get_visible_devices config.experimental.list_physical_devices
config.set_visible_devices config.experimental.set_visible_devices
config.get_soft_device_placement
config.set_soft_device_placement
debugging.get_log_device_placement
debugging.set_log_device_placement
config.experimental.get_memory_growth
config.experimental.set_memory_growth
autograph.experimental.do_not_convert
debugging.is_numeric_tensor is_numeric_tensor
nest.flatten
nest.map_structure
nest.pack_sequence_as
nest.is_nested
function
custom_gradient
""")
"""Rows that make none."""
