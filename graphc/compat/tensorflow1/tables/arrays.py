"""Rows: arrays, reductions, strings and random numbers with older arguments, and checks."""

from graphc.compat.alias import rows

OPERATIONS = rows(r"""
# Tensors made, described, joined, cut and rearranged; arithmetic under older names.
ones_like(tensor, dtype=None, name=None, optimize=True) => v2.ones_like(tensor, dtype) e.g. [1.0, 2.0]
zeros_like(tensor, dtype=None, name=None, optimize=True) => v2.zeros_like(tensor, dtype) e.g. [1.0], tf.int32
shape(input, name=None, out_type=None) => v2.shape(input, out_type) e.g. [[1.0, 2.0, 3.0]]
size(input, name=None, out_type=None) => v2.size(input, out_type) e.g. [[1.0, 2.0, 3.0]]
transpose(a, perm=None, name="transpose", conjugate=False)
    => v2.transpose(a, perm, conjugate) e.g. [[1.0, 2.0], [3.0, 4.0]]
expand_dims(input, axis=None, name=None, dim=None)
    => v2.expand_dims(input, needed("tf.expand_dims()", "axis", axis, "dim", dim)) e.g. [1.0, 2.0], dim=0
squeeze(input, axis=None, name=None, squeeze_dims=None)
    => v2.squeeze(input, either("axis", axis, "squeeze_dims", squeeze_dims)) e.g. [[1.0, 2.0]], squeeze_dims=[0]
pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0)
    => v2.pad(...) e.g. [[1.0, 2.0]], [[1, 0], [0, 2]], constant_values=9
reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None, batch_dim=None)
    => v2.reverse_sequence(input, seq_lengths, either("seq_axis", seq_axis, "seq_dim", seq_dim), either("batch_axis",
        batch_axis, "batch_dim", batch_dim)) e.g. [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [2, 3], seq_dim=1, batch_dim=0
gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0)
    => v2.gather(...) e.g. [[1.0, 2.0], [3.0, 4.0]], [1, 0], axis=1
batch_gather(params, indices, name=None)
    => v2.gather(params, indices, batch_dims=len(v2.shape(indices)) - 1) e.g. [[1.0, 2.0], [3.0, 4.0]], [[1], [0]]
gather_nd manip.gather_nd(params, indices, name=None, batch_dims=0, bad_indices_policy="")
    => v2.gather_nd(params, indices, batch_dims) e.g. [[1.0, 2.0], [3.0, 4.0]], [[1, 0]]
where(condition, x=None, y=None, name=None)
    => session.by_value.positions(condition) if x is None and y is None else v2.where(row_condition(condition, x), x, y)
    e.g. [True, False], [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]
where_v2(condition, x=None, y=None, name=None)
    => session.by_value.positions(condition) if x is None and y is None else v2.where(condition, x, y)
    e.g. [True, False], [[1.0, 2.0], [3.0, 4.0]], 0.0
linalg.set_diag matrix_set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT")
    => v2.linalg.set_diag(session.convert_to_tensor(input), diagonal, name, k, align)
    e.g. [[1.0, 2.0], [3.0, 4.0]], [8.0, 9.0]
tensor_scatter_nd_update tensor_scatter_update(tensor, indices, updates, name=None)
    => v2.tensor_scatter_nd_update(session.convert_to_tensor(tensor), indices, updates)
    e.g. [1.0, 2.0, 3.0], [[0], [2]], [5.0, 1.0]
tensor_scatter_nd_add tensor_scatter_add(tensor, indices, updates, bad_indices_policy="", name=None)
    => v2.tensor_scatter_nd_add(session.convert_to_tensor(tensor), indices, updates)
    e.g. [1.0, 2.0, 3.0], [[0], [2]], [5.0, 1.0]
tensor_scatter_nd_sub tensor_scatter_sub(tensor, indices, updates, bad_indices_policy="", name=None)
    => v2.tensor_scatter_nd_sub(session.convert_to_tensor(tensor), indices, updates)
    e.g. [1.0, 2.0, 3.0], [[0], [2]], [5.0, 1.0]
tensor_scatter_nd_max(tensor, indices, updates, bad_indices_policy="", name=None)
    => v2.tensor_scatter_nd_max(session.convert_to_tensor(tensor), indices, updates)
    e.g. [1.0, 2.0, 3.0], [[0], [2]], [5.0, 1.0]
tensor_scatter_nd_min(tensor, indices, updates, bad_indices_policy="", name=None)
    => v2.tensor_scatter_nd_min(session.convert_to_tensor(tensor), indices, updates)
    e.g. [1.0, 2.0, 3.0], [[0], [2]], [5.0, 1.0]
diag_part(input, name=None) => v2.linalg.tensor_diag_part(input) e.g. [[1.0, 2.0], [3.0, 4.0]]
matrix_diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT")
    => v2.linalg.diag(diagonal, name, k, num_rows, num_cols, padding_value, align) e.g. [[1.0, 2.0], [3.0, 4.0]]
matrix_diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT")
    => v2.linalg.diag_part(input, name, k, padding_value, align) e.g. [[1.0, 2.0], [3.0, 4.0]]
linalg.norm norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None)
    => v2.norm(tensor, ord, axis, flag("keepdims", keepdims, "keep_dims", keep_dims))
    e.g. [[3.0, 4.0], [6.0, 8.0]], axis=1, keep_dims=True
signal.stft(signals, frame_length, frame_step, fft_length=None, window_fn=hann_window, pad_end=False, name=None)
    => v2.signal.stft(...) e.g. [1.0, 2.0, 3.0, 4.0, 5.0], 4, 1
div(x, y, name=None) => python_2_division(x, y) e.g. [-7, 7, 8], [2, -2, 3]
floor_div(x, y, name=None) => v2.math.floordiv(x, y) e.g. [-7, 7, 8], [2, -2, 3]
div_no_nan(x, y, name=None) => v2.math.divide_no_nan(x, y) e.g. [1.0, 3.0], [0.0, 2.0]
accumulate_n math.accumulate_n(inputs, shape=None, tensor_dtype=None, name=None)
    => v2.add_n(inputs) e.g. [[1.0, 2.0], [3.0, 4.0]]
clip_by_average_norm(t, clip_norm, name=None)
    => v2.clip_by_norm(t, v2.multiply(clip_norm, v2.cast(v2.size(t), float32))) e.g. [3.0, 4.0], 1.0
to_bfloat16(x, name="ToBFloat16") => v2.cast(x, bfloat16) e.g. [1.7, -1.7]
to_complex64(x, name="ToComplex64") => v2.cast(x, complex64) e.g. [1.7, -1.7]
to_complex128(x, name="ToComplex128") => v2.cast(x, complex128) e.g. [1.7, -1.7]
to_double(x, name="ToDouble") => v2.cast(x, float64) e.g. [1.7, -1.7]
to_float(x, name="ToFloat") => v2.cast(x, float32) e.g. [1.7, -1.7]
to_int32(x, name="ToInt32") => v2.cast(x, int32) e.g. [1.7, -1.7]
to_int64(x, name="ToInt64") => v2.cast(x, int64) e.g. [1.7, -1.7]
# Axes taken together, positions of extremes.
reduce_all math.reduce_all(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None)
    => v2.reduce_all(input_tensor, either("axis", axis, "reduction_indices", reduction_indices), flag("keepdims",
        keepdims, "keep_dims", keep_dims)) e.g. [[True, False], [True, True]], reduction_indices=[0]
reduce_any math.reduce_any(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None)
    => v2.reduce_any(input_tensor, either("axis", axis, "reduction_indices", reduction_indices), flag("keepdims",
        keepdims, "keep_dims", keep_dims)) e.g. [[True, False], [False, False]], axis=1, keep_dims=True
reduce_logsumexp math.reduce_logsumexp(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None,
        keep_dims=None)
    => v2.reduce_logsumexp(input_tensor, either("axis", axis, "reduction_indices", reduction_indices), flag("keepdims",
        keepdims, "keep_dims", keep_dims)) e.g. [[1.0, 2.0], [3.0, 4.0]], reduction_indices=1
reduce_max math.reduce_max(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None)
    => v2.reduce_max(input_tensor, either("axis", axis, "reduction_indices", reduction_indices), flag("keepdims",
        keepdims, "keep_dims", keep_dims)) e.g. [[1.0, 2.0], [3.0, 4.0]], 0, True
reduce_mean math.reduce_mean(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None)
    => v2.reduce_mean(input_tensor, either("axis", axis, "reduction_indices", reduction_indices), flag("keepdims",
        keepdims, "keep_dims", keep_dims)) e.g. [[1.0, 2.0], [3.0, 4.0]], reduction_indices=[1], keep_dims=True
reduce_min math.reduce_min(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None)
    => v2.reduce_min(input_tensor, either("axis", axis, "reduction_indices", reduction_indices), flag("keepdims",
        keepdims, "keep_dims", keep_dims)) e.g. [[1.0, 2.0], [3.0, 4.0]], axis=0
reduce_prod math.reduce_prod(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None)
    => v2.reduce_prod(input_tensor, either("axis", axis, "reduction_indices", reduction_indices), flag("keepdims",
        keepdims, "keep_dims", keep_dims)) e.g. [[1.0, 2.0], [3.0, 4.0]], axis=[0, 1]
reduce_sum math.reduce_sum(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None)
    => v2.reduce_sum(input_tensor, either("axis", axis, "reduction_indices", reduction_indices), flag("keepdims",
        keepdims, "keep_dims", keep_dims)) e.g. [[1.0, 2.0], [3.0, 4.0]], axis=0, keep_dims=True
count_nonzero math.count_nonzero(input_tensor=None, axis=None, keepdims=None, dtype=int64, name=None,
        reduction_indices=None, keep_dims=None, input=None)
    => v2.math.count_nonzero(needed("tf.count_nonzero()", "input", input, "input_tensor", input_tensor), either("axis",
        axis, "reduction_indices", reduction_indices), flag("keepdims", keepdims, "keep_dims", keep_dims), dtype)
    e.g. [[1.0, 0.0], [3.0, 5.0]], reduction_indices=0
argmax math.argmax(input, axis=None, name=None, dimension=None, output_type=int64)
    => v2.argmax(input, either("axis", axis, "dimension", dimension), output_type)
    e.g. [[1.0, 5.0], [3.0, 2.0]], dimension=1
argmin math.argmin(input, axis=None, name=None, dimension=None, output_type=int64)
    => v2.argmin(input, either("axis", axis, "dimension", dimension), output_type) e.g. [[1.0, 5.0], [3.0, 2.0]], 1
arg_max(input, dimension, output_type=int64, name=None)
    => v2.argmax(input, dimension, output_type) e.g. [[1.0, 5.0], [3.0, 2.0]], 0
arg_min(input, dimension, output_type=int64, name=None)
    => v2.argmin(input, dimension, output_type) e.g. [[1.0, 5.0], [3.0, 2.0]], 0, tf.int32
confusion_matrix math.confusion_matrix(labels, predictions, num_classes=None, dtype=int32, name=None, weights=None)
    => v2.math.confusion_matrix(labels, predictions, num_classes, weights, dtype)
    e.g. [1, 2, 1], [1, 2, 0], 3, tf.float32, weights=[1.0, 0.5, 2.0]
math.in_top_k nn.in_top_k(predictions, targets, k, name=None)
    => v2.math.in_top_k(targets, predictions, k) e.g. [[0.1, 0.8, 0.3], [0.2, 0.3, 0.4]], [1, 0], 2
# Strings with older arguments.
reduce_join strings.reduce_join(inputs, axis=None, keep_dims=None, separator="", name=None, reduction_indices=None,
        keepdims=None)
    => v2.strings.reduce_join(inputs, either("axis", axis, "reduction_indices", reduction_indices), flag("keepdims",
        keepdims, "keep_dims", keep_dims), separator) e.g. [["a", "b"], ["c", "d"]], reduction_indices=0, separator="-"
strings.length(input, name=None, unit="BYTE") => v2.strings.length(input, unit) e.g. ["a", "h\u00e9llo"]
strings.substr substr(input, pos, len, name=None, unit="BYTE")
    => v2.strings.substr(...) e.g. ["hello", "world"], [1, -3], [3, 2]
string_to_number strings.to_number(string_tensor=None, out_type=float32, name=None, input=None)
    => v2.strings.to_number(needed("tf.string_to_number()", "input", input, "string_tensor", string_tensor), out_type)
    e.g. ["1.5", " -2e1 "]
decode_csv io.decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, name=None, na_value="",
        select_cols=None)
    => v2.io.decode_csv(...) e.g. ["1,a,", "2,\"b,c\",NA"], [[0], [""], [0.5]], na_value="NA"
# Random numbers with older arguments.
random_poisson random.poisson(lam, shape, dtype=float32, seed=None, name=None)
    => v2.random.poisson(shape, lam, dtype, seed) e.g. [0.5, 1.5], [2]
multinomial random.multinomial(logits, num_samples, seed=None, name=None, output_dtype=None)
    => v2.random.categorical(logits, num_samples, output_dtype, seed) e.g. [[0.5, 0.5], [0.1, 2.0]], 3
# Checks of values, which are operations that fail the run; ranks and dtypes are checked at once.
assert_equal debugging.assert_equal(x, y, data=None, summarize=None, message=None, name=None)
    => session.Assert(v2.equal(x, y), failed("x equal y", data, message, x=x, y=y), summarize)
    e.g. [1.0, 2.0], [1.0, 2.0]
assert_none_equal debugging.assert_none_equal(x, y, data=None, summarize=None, message=None, name=None)
    => session.Assert(v2.not_equal(x, y), failed("x none_equal y", data, message, x=x, y=y), summarize)
    e.g. [1.0, 2.0], [3.0, 4.0]
assert_greater debugging.assert_greater(x, y, data=None, summarize=None, message=None, name=None)
    => session.Assert(v2.greater(x, y), failed("x greater y", data, message, x=x, y=y), summarize) e.g. [1.0, 2.0], 0.0
assert_greater_equal debugging.assert_greater_equal(x, y, data=None, summarize=None, message=None, name=None)
    => session.Assert(v2.greater_equal(x, y), failed("x greater_equal y", data, message, x=x, y=y), summarize)
    e.g. [1.0, 2.0], 1.0
assert_less debugging.assert_less(x, y, data=None, summarize=None, message=None, name=None)
    => session.Assert(v2.less(x, y), failed("x less y", data, message, x=x, y=y), summarize) e.g. [1.0, 2.0], 3.0
assert_less_equal debugging.assert_less_equal(x, y, data=None, summarize=None, message=None, name=None)
    => session.Assert(v2.less_equal(x, y), failed("x less_equal y", data, message, x=x, y=y), summarize)
    e.g. [1.0, 2.0], 2.0
assert_positive debugging.assert_positive(x, data=None, summarize=None, message=None, name=None)
    => session.Assert(v2.greater(x, 0), failed("x positive", data, message, x=x), summarize) e.g. [1.0, 2.0]
assert_non_positive debugging.assert_non_positive(x, data=None, summarize=None, message=None, name=None)
    => session.Assert(v2.less_equal(x, 0), failed("x non_positive", data, message, x=x), summarize) e.g. [-1.0, 0.0]
assert_negative debugging.assert_negative(x, data=None, summarize=None, message=None, name=None)
    => session.Assert(v2.less(x, 0), failed("x negative", data, message, x=x), summarize) e.g. [-1.0, -2.0]
assert_non_negative debugging.assert_non_negative(x, data=None, summarize=None, message=None, name=None)
    => session.Assert(v2.greater_equal(x, 0), failed("x non_negative", data, message, x=x), summarize) e.g. [1.0, 0.0]
assert_near debugging.assert_near(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, name=None)
    => session.Assert(near(x, y, rtol, atol), failed("x near y", data, message, x=x, y=y), summarize)
    e.g. [1.0, 2.0], [1.0, 2.0000001]
verify_tensor_all_finite debugging.assert_all_finite(t=None, msg=None, name=None, x=None, message=None)
    => finite(needed("tf.verify_tensor_all_finite()", "x", x, "t", t), either("message", message, "msg", msg))
    e.g. [1.0, 2.0], "not finite"
debugging.check_numerics check_numerics(tensor, message, name=None)
    => finite(tensor, message) e.g. [1.0, 2.0], "not finite"
assert_rank debugging.assert_rank(x, rank, data=None, summarize=None, message=None, name=None)
    => checked(v2.debugging.assert_rank(x, rank, message)) e.g. [1.0, 2.0], 1
assert_rank_at_least debugging.assert_rank_at_least(x, rank, data=None, summarize=None, message=None, name=None)
    => checked(v2.debugging.assert_rank_at_least(x, rank, message)) e.g. [1.0, 2.0], 1
assert_rank_in debugging.assert_rank_in(x, ranks, data=None, summarize=None, message=None, name=None)
    => checked(v2.debugging.assert_rank_in(x, ranks, message)) e.g. [1.0, 2.0], (0, 1)
assert_scalar debugging.assert_scalar(tensor, name=None, message=None)
    => tensor_after(v2.debugging.assert_scalar(tensor, message), tensor) e.g. 1.0
assert_type debugging.assert_type(tensor, tf_type, message=None, name=None)
    => checked(v2.debugging.assert_type(tensor, tf_type, message)) e.g. [1.0, 2.0], tf.float32
assert_integer debugging.assert_integer(x, message=None, name=None)
    => checked(v2.debugging.assert_integer(x, message)) e.g. [1, 2]
""")
