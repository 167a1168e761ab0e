"""Rows: arithmetic and reductions."""

from graphc.compat.alias import rows

ROWS = rows(r"""
# Arithmetic, comparisons, logic, bits and special functions.
abs math.abs(x, name=None) => gx.abs(x) e.g. [-1.5, 2.0]
acos math.acos(x, name=None) => gx.acos(x) e.g. [0.5, -0.2]
acosh math.acosh(x, name=None) => gx.acosh(x) e.g. [1.5, 2.0]
add math.add(x, y, name=None) => gx.add(x, y) e.g. [1.0, 2.0], [3.0, 4.0]
add_n math.add_n(inputs, name=None) => gx.sum(x := gx.stack(inputs), 0, x.dtype) e.g. [[1.0, 2.0], [3.0, 4.0]]
asin math.asin(x, name=None) => gx.asin(x) e.g. [0.5, -0.2]
asinh math.asinh(x, name=None) => gx.asinh(x) e.g. [1.5, -2.0]
atan math.atan(x, name=None) => gx.atan(x) e.g. [0.5, -2.0]
atan2 math.atan2(y, x, name=None) => gx.atan2(y, x) e.g. [1.0, -1.0], [2.0, -3.0]
atanh math.atanh(x, name=None) => gx.atanh(x) e.g. [0.5, -0.2]
cos math.cos(x, name=None) => gx.cos(x) e.g. [0.5, -2.0]
cosh math.cosh(x, name=None) => gx.cosh(x) e.g. [0.5, -2.0]
divide math.divide(x, y, name=None) => gx.divide(x, y) e.g. [1.0, -3.0], [2.0, 4.0]
equal math.equal(x, y, name=None) => gx.equal(x, y) e.g. [1.0, 2.0], [1.0, 3.0]
exp math.exp(x, name=None) => gx.exp(x) e.g. [0.0, 1.0]
floor math.floor(x, name=None) => gx.floor(x) e.g. [1.5, -1.5]
greater math.greater(x, y, name=None) => gx.greater(x, y) e.g. [1.0, 2.0], [1.0, 1.0]
greater_equal math.greater_equal(x, y, name=None) => gx.greater_equal(x, y) e.g. [1.0, 2.0], [1.0, 3.0]
less math.less(x, y, name=None) => gx.less(x, y) e.g. [1.0, 2.0], [1.0, 3.0]
less_equal math.less_equal(x, y, name=None) => gx.less_equal(x, y) e.g. [1.0, 2.0], [1.0, 1.0]
logical_and math.logical_and(x, y, name=None) => gx.logical_and(x, y) e.g. [True, False], [True, True]
logical_not math.logical_not(x, name=None) => gx.logical_not(x) e.g. [True, False]
logical_or math.logical_or(x, y, name=None) => gx.logical_or(x, y) e.g. [True, False], [False, False]
maximum math.maximum(x, y, name=None) => gx.maximum(x, y) e.g. [1.0, 4.0], [2.0, 3.0]
minimum math.minimum(x, y, name=None) => gx.minimum(x, y) e.g. [1.0, 4.0], [2.0, 3.0]
multiply math.multiply(x, y, name=None) => gx.multiply(x, y) e.g. [1.0, 4.0], [2.0, 3.0]
negative math.negative(x, name=None) => gx.negative(x) e.g. [1.0, -4.0]
not_equal math.not_equal(x, y, name=None) => gx.not_equal(x, y) e.g. [1.0, 2.0], [1.0, 3.0]
pow math.pow(x, y, name=None) => gx.pow(x, y) e.g. [2.0, 3.0], [3.0, 2.0]
realdiv(x, y, name=None) => gx.divide(x, y) e.g. [1.0, -3.0], [2.0, 4.0]
round math.round(x, name=None) => gx.round(x) e.g. [0.5, 1.5, -2.7]
scalar_mul math.scalar_mul(scalar, x, name=None) => gx.multiply(scalar, x) e.g. 2.0, tf.constant([1.0, 3.0])
sigmoid math.sigmoid nn.sigmoid(x, name=None) => gx.nn.sigmoid(x) e.g. [0.5, -2.0]
sign math.sign(x, name=None) => gx.sign(x) e.g. [0.5, -2.0, 0.0]
sin math.sin(x, name=None) => gx.sin(x) e.g. [0.5, -2.0]
sinh math.sinh(x, name=None) => gx.sinh(x) e.g. [0.5, -2.0]
sqrt math.sqrt(x, name=None) => gx.sqrt(x) e.g. [4.0, 2.0]
square math.square(x, name=None) => gx.square(x) e.g. [4.0, -2.0]
subtract math.subtract(x, y, name=None) => gx.subtract(x, y) e.g. [1.0, 4.0], [2.0, 3.0]
tan math.tan(x, name=None) => gx.tan(x) e.g. [0.5, -2.0]
tanh math.tanh nn.tanh(x, name=None) => gx.tanh(x) e.g. [0.5, -2.0]
truediv math.truediv(x, y, name=None) => gx.divide(x, y) e.g. [1.0, -3.0], [2.0, 4.0]
truncatediv(x, y, name=None) => gx.arrays.truncate_divide(x, y) e.g. [-7, 7, 8], [2, -2, 3]
truncatemod(x, y, name=None) => gx.fmod(x, y) e.g. [-7, 7, 8], [2, -2, 3]
clip_by_value(t, clip_value_min, clip_value_max, name=None)
    => gx.clip(t, clip_value_min, clip_value_max) e.g. [-1.0, 0.5, 2.0], 0.0, 1.0
clip_by_norm(t, clip_norm, axes=None, name=None) => gx.arrays.clip_by_norm(t, clip_norm, axes) e.g. [3.0, 4.0], 1.0
clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None)
    => gx.arrays.clip_by_global_norm(t_list, clip_norm, use_norm) e.g. [[3.0, 4.0], [12.0]], 6.5
complex dtypes.complex(real, imag, name=None)
    => gx.add(real, gx.multiply(gx.asarray(imag), 1j)) e.g. [1.0, 2.0], [3.0, -4.0]
cumsum math.cumsum(x, axis=0, exclusive=False, reverse=False, name=None)
    => gx.arrays.cumulative("sum", ...) e.g. [[1.0, 2.0, 3.0]], axis=1, exclusive=True, reverse=True
math.cumprod(x, axis=0, exclusive=False, reverse=False, name=None)
    => gx.arrays.cumulative("prod", ...) e.g. [2.0, 3.0, 4.0], exclusive=True
math.angle(input, name=None) => gx.angle(input) e.g. [1.0 + 2.0j, -1.0j]
math.bessel_i0(x, name=None) => gx.special.i0(x) e.g. [0.5, 2.0]
math.bessel_i0e(x, name=None) => gx.special.i0e(x) e.g. [0.5, 2.0]
math.bessel_i1(x, name=None) => gx.special.i1(x) e.g. [0.5, 2.0]
math.bessel_i1e(x, name=None) => gx.special.i1e(x) e.g. [0.5, 2.0]
math.betainc(a, b, x, name=None) => gx.special.betainc(a, b, x) e.g. [1.5, 2.0], [0.5, 3.0], [0.3, 0.6]
math.ceil(x, name=None) => gx.ceil(x) e.g. [1.5, -1.5]
math.conj(x, name=None) => gx.conj(x) e.g. [1.0 + 2.0j, -1.0j]
math.digamma(x, name=None) => gx.special.digamma(x) e.g. [0.5, 2.0]
math.divide_no_nan(x, y, name=None) => gx.arrays.divide_no_nan(x, y) e.g. [1.0, 3.0], [0.0, 2.0]
math.erf(x, name=None) => gx.special.erf(x) e.g. [0.5, -2.0]
math.erfc(x, name=None) => gx.special.erfc(x) e.g. [0.5, -2.0]
math.erfcinv(x, name=None) => gx.multiply(gx.special.ndtri(gx.multiply(x, 0.5)), -0.7071067811865476) e.g. [0.5, 1.3]
math.erfinv(x, name=None) => gx.special.erfinv(x) e.g. [0.5, -0.3]
math.expm1(x, name=None) => gx.expm1(x) e.g. [0.5, -2.0]
math.floordiv(x, y, name=None) => gx.floor_divide(x, y) e.g. [-7, 7, 8], [2, -2, 3]
math.floormod math.mod(x, y, name=None) => gx.remainder(x, y) e.g. [-7, 7, 8], [2, -2, 3]
math.igamma(a, x, name=None) => gx.special.gammainc(a, x) e.g. [0.5, 2.0], [1.0, 3.0]
math.igammac(a, x, name=None) => gx.special.gammaincc(a, x) e.g. [0.5, 2.0], [1.0, 3.0]
math.imag(input, name=None) => gx.imag(input) e.g. [1.0 + 2.0j, -1.0j]
math.is_finite(x, name=None) => gx.isfinite(x) e.g. [1.0, float("inf"), float("nan")]
math.is_inf(x, name=None) => gx.isinf(x) e.g. [1.0, float("inf"), float("nan")]
math.is_nan(x, name=None) => gx.isnan(x) e.g. [1.0, float("inf"), float("nan")]
math.is_non_decreasing(x, name=None) => gx.all(gx.greater_equal(gx.diff(gx.ravel(x)), 0)) e.g. [1.0, 1.0, 2.0]
math.is_strictly_increasing(x, name=None) => gx.all(gx.greater(gx.diff(gx.ravel(x)), 0)) e.g. [1.0, 1.0, 2.0]
math.lbeta(x, name=None)
    => gx.subtract(gx.sum(gx.special.gammaln(x), -1), gx.special.gammaln(gx.sum(x, -1))) e.g. [[1.5, 2.0], [3.0, 0.5]]
math.lgamma(x, name=None) => gx.special.gammaln(x) e.g. [0.5, 3.0]
math.log(x, name=None) => gx.log(x) e.g. [0.5, 3.0]
math.log1p(x, name=None) => gx.log1p(x) e.g. [0.5, 3.0]
math.log_sigmoid(x, name=None) => gx.nn.log_sigmoid(x) e.g. [0.5, -3.0]
math.logical_xor(x, y, name="LogicalXor") => gx.logical_xor(x, y) e.g. [True, False], [True, True]
math.multiply_no_nan(x, y, name=None) => gx.arrays.multiply_no_nan(x, y) e.g. [float("nan"), 3.0], [0.0, 2.0]
math.ndtri(x, name=None) => gx.special.ndtri(x) e.g. [0.5, 0.9]
math.nextafter(x1, x2, name=None) => gx.nextafter(x1, x2) e.g. [1.0, 2.0], [2.0, 0.0]
math.polygamma(a, x, name=None) => gx.special.polygamma(gx.astype(a, "int32"), x) e.g. [1.0, 2.0], [0.5, 3.0]
math.polyval(coeffs, x, name=None)
    => gx.polyval(gx.stack(coeffs), x) if len(coeffs) else gx.zeros_like(x) e.g. [1.0, -2.0, 3.0], [0.5, 2.0]
math.real(input, name=None) => gx.real(input) e.g. [1.0 + 2.0j, -1.0j]
math.reciprocal(x, name=None) => gx.reciprocal(x) e.g. [0.5, 4.0]
math.reciprocal_no_nan(x, name=None) => gx.arrays.divide_no_nan(1.0, x) e.g. [0.0, 4.0]
math.rint(x, name=None) => gx.rint(x) e.g. [0.5, 1.5, -2.7]
math.rsqrt(x, name=None) => gx.rsqrt(x) e.g. [4.0, 0.25]
math.softplus nn.softplus(features, name=None) => gx.nn.softplus(features) e.g. [0.5, -3.0]
math.softsign nn.softsign(features, name=None) => gx.nn.soft_sign(features) e.g. [0.5, -3.0]
math.squared_difference(x, y, name=None) => gx.square(gx.subtract(x, y)) e.g. [1.0, 4.0], [2.0, 2.0]
math.xdivy(x, y, name=None) => gx.arrays.xdivy(x, y) e.g. [0.0, 4.0], [0.0, 2.0]
math.xlog1py(x, y, name=None) => gx.special.xlog1py(x, y) e.g. [0.0, 4.0], [-1.0, 2.0]
math.xlogy(x, y, name=None) => gx.special.xlogy(x, y) e.g. [0.0, 4.0], [0.0, 2.0]
math.zeta(x, q, name=None) => gx.special.zeta(x, q) e.g. [2.0, 3.0], [1.0, 0.5]
math.l2_normalize linalg.l2_normalize nn.l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None)
    => gx.arrays.l2_normalize(x, axis if dim is None else dim, epsilon) e.g. [[3.0, 4.0], [0.0, 2.0]], axis=1
bitwise.bitwise_and(x, y, name=None) => gx.bitwise_and(x, y) e.g. [12, 7], [10, 8]
bitwise.bitwise_or(x, y, name=None) => gx.bitwise_or(x, y) e.g. [12, 7], [10, 8]
bitwise.bitwise_xor(x, y, name=None) => gx.bitwise_xor(x, y) e.g. [12, 7], [10, 8]
bitwise.invert(x, name=None) => gx.bitwise_invert(x) e.g. [12, -7]
bitwise.left_shift(x, y, name=None) => gx.bitwise_left_shift(x, y) e.g. [12, 7], [1, 2]
bitwise.right_shift(x, y, name=None) => gx.bitwise_right_shift(x, y) e.g. [12, -7], [1, 2]
math.special.bessel_i0(x, name=None) => gx.special.i0(x) e.g. [0.5, 2.0]
math.special.bessel_i0e(x, name=None) => gx.special.i0e(x) e.g. [0.5, 2.0]
math.special.bessel_i1(x, name=None) => gx.special.i1(x) e.g. [0.5, 2.0]
math.special.bessel_i1e(x, name=None) => gx.special.i1e(x) e.g. [0.5, 2.0]
math.special.dawsn(x, name=None) => gx.special.dawsn(x) e.g. [0.5, 2.0]
math.special.expint(x, name=None) => gx.special.expi(x) e.g. [0.5, 2.0]
math.special.fresnel_cos(x, name=None) => gx.special.fresnel(x)[1] e.g. [0.5, 2.0]
math.special.fresnel_sin(x, name=None) => gx.special.fresnel(x)[0] e.g. [0.5, 2.0]
math.special.spence(x, name=None) => gx.special.spence(x) e.g. [0.5, 2.0]
# Axes taken together, positions of extremes, segments.
reduce_all math.reduce_all(input_tensor, axis=None, keepdims=False, name=None)
    => gx.all(input_tensor, axis, keepdims=keepdims) e.g. [[True, False], [True, True]], axis=0
reduce_any math.reduce_any(input_tensor, axis=None, keepdims=False, name=None)
    => gx.any(input_tensor, axis, keepdims=keepdims) e.g. [[True, False], [False, False]], axis=1
reduce_logsumexp math.reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None)
    => gx.nn.logsumexp(input_tensor, axis, keepdims=keepdims) e.g. [[1.0, 2.0], [3.0, 4.0]], axis=1
reduce_max math.reduce_max(input_tensor, axis=None, keepdims=False, name=None)
    => gx.max(input_tensor, axis, keepdims=keepdims) e.g. [[1.0, 2.0], [3.0, 4.0]], axis=0
reduce_mean math.reduce_mean(input_tensor, axis=None, keepdims=False, name=None)
    => gx.arrays.mean(input_tensor, axis, keepdims) e.g. [[1.0, 2.0], [3.0, 4.0]], axis=0
reduce_min math.reduce_min(input_tensor, axis=None, keepdims=False, name=None)
    => gx.min(input_tensor, axis, keepdims=keepdims) e.g. [[1.0, 2.0], [3.0, 4.0]], axis=0
reduce_prod math.reduce_prod(input_tensor, axis=None, keepdims=False, name=None)
    => gx.prod(x := gx.asarray(input_tensor), axis, gx.arrays.kept_dtype(x), keepdims=keepdims)
    e.g. [[1.0, 2.0], [3.0, 4.0]], axis=0
reduce_sum math.reduce_sum(input_tensor, axis=None, keepdims=False, name=None)
    => gx.sum(x := gx.asarray(input_tensor), axis, gx.arrays.kept_dtype(x), keepdims=keepdims)
    e.g. [[1.0, 2.0], [3.0, 4.0]], axis=0
math.reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None)
    => gx.arrays.norm(input_tensor, "euclidean", axis, keepdims) e.g. [[3.0, 4.0], [6.0, 8.0]], axis=1
math.reduce_std(input_tensor, axis=None, keepdims=False, name=None)
    => gx.std(input_tensor, axis, keepdims=keepdims) e.g. [[1.0, 2.0], [3.0, 5.0]], axis=0
math.reduce_variance(input_tensor, axis=None, keepdims=False, name=None)
    => gx.var(input_tensor, axis, keepdims=keepdims) e.g. [[1.0, 2.0], [3.0, 5.0]], axis=0
math.count_nonzero(input, axis=None, keepdims=None, dtype=int64, name=None)
    => gx.astype(gx.count_nonzero(input, axis, keepdims=bool(keepdims)), dtype) e.g. [[1.0, 0.0], [3.0, 5.0]], axis=0
math.zero_fraction nn.zero_fraction(value, name=None)
    => gx.mean(gx.astype(gx.equal(value, 0), "float32")) e.g. [[1.0, 0.0], [3.0, 5.0]]
math.confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype=int32, name=None)
    => gx.arrays.confusion_matrix(...) e.g. [1, 2, 1], [1, 2, 0], num_classes=3
math.in_top_k nn.in_top_k(targets, predictions, k, name=None)
    => gx.arrays.in_top_k(targets, predictions, k) e.g. [1, 0], [[0.1, 0.8, 0.3], [0.2, 0.3, 0.4]], 2
math.top_k nn.top_k(input, k=1, sorted=True, index_type=int32, name=None)
    => gx.arrays.top_k(input, k, index_type) e.g. [[1.0, 4.0, 3.0], [7.0, 2.0, 5.0]], k=2
argmax math.argmax(input, axis=None, output_type=int64, name=None)
    => gx.astype(gx.argmax(input, 0 if axis is None else axis), output_type) e.g. [[1.0, 5.0], [3.0, 2.0]], axis=1
argmin math.argmin(input, axis=None, output_type=int64, name=None)
    => gx.astype(gx.argmin(input, 0 if axis is None else axis), output_type) e.g. [[1.0, 5.0], [3.0, 2.0]]
histogram_fixed_width(values, value_range, nbins=100, dtype=int32, name=None)
    => gx.arrays.histogram_fixed_width(...) e.g. [-1.0, 0.2, 1.5, 2.5, 9.0], [0.0, 5.0], nbins=5
histogram_fixed_width_bins(values, value_range, nbins=100, dtype=int32, name=None)
    => gx.arrays.histogram_fixed_width_bins(...) e.g. [-1.0, 0.2, 1.5, 2.5, 9.0], [0.0, 5.0], nbins=5
math.segment_max(data, segment_ids, name=None)
    => gx.arrays.segment_max(data, segment_ids, empty=0) e.g. [[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [0, 0, 2]
math.segment_mean(data, segment_ids, name=None)
    => gx.arrays.segment_mean(data, segment_ids) e.g. [[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [0, 0, 2]
math.segment_min(data, segment_ids, name=None)
    => gx.arrays.segment_min(data, segment_ids, empty=0) e.g. [[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [0, 0, 2]
math.segment_prod(data, segment_ids, name=None)
    => gx.arrays.segment_prod(data, segment_ids) e.g. [[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [0, 0, 2]
math.segment_sum(data, segment_ids, name=None)
    => gx.arrays.segment_sum(data, segment_ids) e.g. [[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [0, 0, 2]
math.unsorted_segment_max(data, segment_ids, num_segments, name=None)
    => gx.arrays.segment_max(data, segment_ids, num_segments) e.g. [[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [2, -1, 0], 3
math.unsorted_segment_mean(data, segment_ids, num_segments, name=None)
    => gx.arrays.segment_mean(data, segment_ids, num_segments) e.g. [[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [2, 2, 0], 3
math.unsorted_segment_min(data, segment_ids, num_segments, name=None)
    => gx.arrays.segment_min(data, segment_ids, num_segments) e.g. [[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [2, -1, 0], 3
math.unsorted_segment_prod(data, segment_ids, num_segments, name=None)
    => gx.arrays.segment_prod(data, segment_ids, num_segments) e.g. [[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [2, -1, 0], 3
math.unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None)
    => gx.arrays.segment_sqrt_n(data, segment_ids, num_segments) e.g. [[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [2, 2, 0], 3
math.unsorted_segment_sum(data, segment_ids, num_segments, name=None)
    => gx.arrays.segment_sum(data, segment_ids, num_segments) e.g. [[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [2, 2, 0], 3
keras.backend.sum(x, axis=None, keepdims=False)
    => gx.sum(x := gx.asarray(x), axis, gx.arrays.kept_dtype(x), keepdims=keepdims)
    e.g. [[1.0, 2.0], [3.0, 4.0]], axis=0
keras.backend.mean(x, axis=None, keepdims=False)
    => gx.mean(x, axis, keepdims=keepdims) e.g. tf.constant([[1.0, 2.0], [3.0, 4.0]]), axis=0
keras.backend.max(x, axis=None, keepdims=False)
    => gx.max(x, axis, keepdims=keepdims) e.g. [[1.0, 2.0], [3.0, 4.0]], axis=0
keras.backend.min(x, axis=None, keepdims=False)
    => gx.min(x, axis, keepdims=keepdims) e.g. [[1.0, 2.0], [3.0, 4.0]], axis=0
keras.backend.dot(x, y)
    => gx.dot(x, y) e.g. tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0, 1.0], [0.0, 1.0]])
""")
