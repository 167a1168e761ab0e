"""Rows: arrays, reductions, strings and random numbers with older arguments, and checks."""

from graphc.compat.alias import Alias, alias


def _cast(name: str, dtype: str) -> Alias:
    kind = "".join(part.capitalize() for part in name.split("_"))
    kind = kind.replace("Bfloat", "BFloat")
    return alias(f'{name}(x, name="{kind}")', f"v2.cast(x, {dtype})", "[1.7, -1.7]")


def _scattered(names: str, policy: str = 'bad_indices_policy="", ') -> Alias:
    call = f"v2.{names.split()[0]}(session.convert_to_tensor(tensor), indices, updates)"
    return alias(
        f"{names}(tensor, indices, updates, {policy}name=None)", call, "[1.0, 2.0, 3.0], [[0], [2]], [5.0, 1.0]"
    )


_AXIS = 'either("axis", axis, "reduction_indices", reduction_indices)'

_KEEP = 'flag("keepdims", keepdims, "keep_dims", keep_dims)'


def _reduction(name: str, example: str) -> Alias:
    return alias(
        f"{name} math.{name}("
        "input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None)",
        f"v2.{name}(input_tensor, {_AXIS}, {_KEEP})",
        example,
    )


def _pair(name: str, holds: str, example: str) -> Alias:
    return alias(
        f"assert_{name} debugging.assert_{name}(x, y, data=None, summarize=None, message=None, name=None)",
        f'session.Assert(v2.{holds}(x, y), failed("x {name} y", data, message, x=x, y=y), summarize)',
        example,
    )


def _single(name: str, holds: str, example: str) -> Alias:
    return alias(
        f"assert_{name} debugging.assert_{name}(x, data=None, summarize=None, message=None, name=None)",
        f'session.Assert(v2.{holds}(x, 0), failed("x {name}", data, message, x=x), summarize)',
        example,
    )


OPERATIONS = (
    # Tensors made, described, joined, cut and rearranged; arithmetic under older names.
    alias("ones_like(tensor, dtype=None, name=None, optimize=True)", "v2.ones_like(tensor, dtype)", "[1.0, 2.0]"),
    alias(
        "zeros_like(tensor, dtype=None, name=None, optimize=True)", "v2.zeros_like(tensor, dtype)", "[1.0], tf.int32"
    ),
    alias("shape(input, name=None, out_type=None)", "v2.shape(input, out_type)", "[[1.0, 2.0, 3.0]]"),
    alias("size(input, name=None, out_type=None)", "v2.size(input, out_type)", "[[1.0, 2.0, 3.0]]"),
    alias(
        'transpose(a, perm=None, name="transpose", conjugate=False)',
        "v2.transpose(a, perm, conjugate)",
        "[[1.0, 2.0], [3.0, 4.0]]",
    ),
    alias(
        "expand_dims(input, axis=None, name=None, dim=None)",
        'v2.expand_dims(input, needed("tf.expand_dims()", "axis", axis, "dim", dim))',
        "[1.0, 2.0], dim=0",
    ),
    alias(
        "squeeze(input, axis=None, name=None, squeeze_dims=None)",
        'v2.squeeze(input, either("axis", axis, "squeeze_dims", squeeze_dims))',
        "[[1.0, 2.0]], squeeze_dims=[0]",
    ),
    alias(
        'pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0)',
        "v2.pad(...)",
        "[[1.0, 2.0]], [[1, 0], [0, 2]], constant_values=9",
    ),
    alias(
        "reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None, batch_dim=None)",
        'v2.reverse_sequence(input, seq_lengths, either("seq_axis", seq_axis, "seq_dim", seq_dim), '
        'either("batch_axis", batch_axis, "batch_dim", batch_dim))',
        "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [2, 3], seq_dim=1, batch_dim=0",
    ),
    alias(
        "gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0)",
        "v2.gather(...)",
        "[[1.0, 2.0], [3.0, 4.0]], [1, 0], axis=1",
    ),
    alias(
        "batch_gather(params, indices, name=None)",
        "v2.gather(params, indices, batch_dims=len(v2.shape(indices)) - 1)",
        "[[1.0, 2.0], [3.0, 4.0]], [[1], [0]]",
    ),
    alias(
        'gather_nd manip.gather_nd(params, indices, name=None, batch_dims=0, bad_indices_policy="")',
        "v2.gather_nd(params, indices, batch_dims)",
        "[[1.0, 2.0], [3.0, 4.0]], [[1, 0]]",
    ),
    alias(
        "where(condition, x=None, y=None, name=None)",
        "session.by_value.positions(condition) if x is None and y is None else "
        "v2.where(row_condition(condition, x), x, y)",
        "[True, False], [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]",
    ),
    alias(
        "where_v2(condition, x=None, y=None, name=None)",
        "session.by_value.positions(condition) if x is None and y is None else v2.where(condition, x, y)",
        "[True, False], [[1.0, 2.0], [3.0, 4.0]], 0.0",
    ),
    alias(
        'linalg.set_diag matrix_set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT")',
        "v2.linalg.set_diag(session.convert_to_tensor(input), diagonal, name, k, align)",
        "[[1.0, 2.0], [3.0, 4.0]], [8.0, 9.0]",
    ),
    _scattered("tensor_scatter_nd_update tensor_scatter_update", ""),
    _scattered("tensor_scatter_nd_add tensor_scatter_add"),
    _scattered("tensor_scatter_nd_sub tensor_scatter_sub"),
    _scattered("tensor_scatter_nd_max"),
    _scattered("tensor_scatter_nd_min"),
    alias("diag_part(input, name=None)", "v2.linalg.tensor_diag_part(input)", "[[1.0, 2.0], [3.0, 4.0]]"),
    alias(
        'matrix_diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT")',
        "v2.linalg.diag(diagonal, name, k, num_rows, num_cols, padding_value, align)",
        "[[1.0, 2.0], [3.0, 4.0]]",
    ),
    alias(
        'matrix_diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT")',
        "v2.linalg.diag_part(input, name, k, padding_value, align)",
        "[[1.0, 2.0], [3.0, 4.0]]",
    ),
    alias(
        'linalg.norm norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None)',
        'v2.norm(tensor, ord, axis, flag("keepdims", keepdims, "keep_dims", keep_dims))',
        "[[3.0, 4.0], [6.0, 8.0]], axis=1, keep_dims=True",
    ),
    alias(
        "signal.stft(signals, frame_length, frame_step, fft_length=None, window_fn=hann_window, pad_end=False, "
        "name=None)",
        "v2.signal.stft(...)",
        "[1.0, 2.0, 3.0, 4.0, 5.0], 4, 1",
    ),
    alias("div(x, y, name=None)", "python_2_division(x, y)", "[-7, 7, 8], [2, -2, 3]"),
    alias("floor_div(x, y, name=None)", "v2.math.floordiv(x, y)", "[-7, 7, 8], [2, -2, 3]"),
    alias("div_no_nan(x, y, name=None)", "v2.math.divide_no_nan(x, y)", "[1.0, 3.0], [0.0, 2.0]"),
    alias(
        "accumulate_n math.accumulate_n(inputs, shape=None, tensor_dtype=None, name=None)",
        "v2.add_n(inputs)",
        "[[1.0, 2.0], [3.0, 4.0]]",
    ),
    alias(
        "clip_by_average_norm(t, clip_norm, name=None)",
        "v2.clip_by_norm(t, v2.multiply(clip_norm, v2.cast(v2.size(t), float32)))",
        "[3.0, 4.0], 1.0",
    ),
    _cast("to_bfloat16", "bfloat16"),
    _cast("to_complex64", "complex64"),
    _cast("to_complex128", "complex128"),
    _cast("to_double", "float64"),
    _cast("to_float", "float32"),
    _cast("to_int32", "int32"),
    _cast("to_int64", "int64"),
    # Axes taken together, positions of extremes.
    _reduction("reduce_all", "[[True, False], [True, True]], reduction_indices=[0]"),
    _reduction("reduce_any", "[[True, False], [False, False]], axis=1, keep_dims=True"),
    _reduction("reduce_logsumexp", "[[1.0, 2.0], [3.0, 4.0]], reduction_indices=1"),
    _reduction("reduce_max", "[[1.0, 2.0], [3.0, 4.0]], 0, True"),
    _reduction("reduce_mean", "[[1.0, 2.0], [3.0, 4.0]], reduction_indices=[1], keep_dims=True"),
    _reduction("reduce_min", "[[1.0, 2.0], [3.0, 4.0]], axis=0"),
    _reduction("reduce_prod", "[[1.0, 2.0], [3.0, 4.0]], axis=[0, 1]"),
    _reduction("reduce_sum", "[[1.0, 2.0], [3.0, 4.0]], axis=0, keep_dims=True"),
    alias(
        "count_nonzero math.count_nonzero(input_tensor=None, axis=None, keepdims=None, dtype=int64, name=None, "
        "reduction_indices=None, keep_dims=None, input=None)",
        'v2.math.count_nonzero(needed("tf.count_nonzero()", "input", input, "input_tensor", input_tensor), '
        f"{_AXIS}, {_KEEP}, dtype)",
        "[[1.0, 0.0], [3.0, 5.0]], reduction_indices=0",
    ),
    alias(
        "argmax math.argmax(input, axis=None, name=None, dimension=None, output_type=int64)",
        'v2.argmax(input, either("axis", axis, "dimension", dimension), output_type)',
        "[[1.0, 5.0], [3.0, 2.0]], dimension=1",
    ),
    alias(
        "argmin math.argmin(input, axis=None, name=None, dimension=None, output_type=int64)",
        'v2.argmin(input, either("axis", axis, "dimension", dimension), output_type)',
        "[[1.0, 5.0], [3.0, 2.0]], 1",
    ),
    alias(
        "arg_max(input, dimension, output_type=int64, name=None)",
        "v2.argmax(input, dimension, output_type)",
        "[[1.0, 5.0], [3.0, 2.0]], 0",
    ),
    alias(
        "arg_min(input, dimension, output_type=int64, name=None)",
        "v2.argmin(input, dimension, output_type)",
        "[[1.0, 5.0], [3.0, 2.0]], 0, tf.int32",
    ),
    alias(
        "confusion_matrix math.confusion_matrix(labels, predictions, num_classes=None, dtype=int32, name=None, "
        "weights=None)",
        "v2.math.confusion_matrix(labels, predictions, num_classes, weights, dtype)",
        "[1, 2, 1], [1, 2, 0], 3, tf.float32, weights=[1.0, 0.5, 2.0]",
    ),
    alias(
        "math.in_top_k nn.in_top_k(predictions, targets, k, name=None)",
        "v2.math.in_top_k(targets, predictions, k)",
        "[[0.1, 0.8, 0.3], [0.2, 0.3, 0.4]], [1, 0], 2",
    ),
    # Strings with older arguments.
    alias(
        'reduce_join strings.reduce_join(inputs, axis=None, keep_dims=None, separator="", name=None, '
        "reduction_indices=None, keepdims=None)",
        'v2.strings.reduce_join(inputs, either("axis", axis, "reduction_indices", reduction_indices), '
        'flag("keepdims", keepdims, "keep_dims", keep_dims), separator)',
        '[["a", "b"], ["c", "d"]], reduction_indices=0, separator="-"',
    ),
    alias('strings.length(input, name=None, unit="BYTE")', "v2.strings.length(input, unit)", '["a", "h\\u00e9llo"]'),
    alias(
        'strings.substr substr(input, pos, len, name=None, unit="BYTE")',
        "v2.strings.substr(...)",
        '["hello", "world"], [1, -3], [3, 2]',
    ),
    alias(
        "string_to_number strings.to_number(string_tensor=None, out_type=float32, name=None, input=None)",
        'v2.strings.to_number(needed("tf.string_to_number()", "input", input, "string_tensor", string_tensor), '
        "out_type)",
        '["1.5", " -2e1 "]',
    ),
    alias(
        'decode_csv io.decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, name=None, '
        'na_value="", select_cols=None)',
        "v2.io.decode_csv(...)",
        '["1,a,", "2,\\"b,c\\",NA"], [[0], [""], [0.5]], na_value="NA"',
    ),
    # Random numbers with older arguments.
    alias(
        "random_poisson random.poisson(lam, shape, dtype=float32, seed=None, name=None)",
        "v2.random.poisson(shape, lam, dtype, seed)",
        "[0.5, 1.5], [2]",
    ),
    alias(
        "multinomial random.multinomial(logits, num_samples, seed=None, name=None, output_dtype=None)",
        "v2.random.categorical(logits, num_samples, output_dtype, seed)",
        "[[0.5, 0.5], [0.1, 2.0]], 3",
    ),
    # Checks of values, which are operations that fail the run; ranks and dtypes are checked at once.
    _pair("equal", "equal", "[1.0, 2.0], [1.0, 2.0]"),
    _pair("none_equal", "not_equal", "[1.0, 2.0], [3.0, 4.0]"),
    _pair("greater", "greater", "[1.0, 2.0], 0.0"),
    _pair("greater_equal", "greater_equal", "[1.0, 2.0], 1.0"),
    _pair("less", "less", "[1.0, 2.0], 3.0"),
    _pair("less_equal", "less_equal", "[1.0, 2.0], 2.0"),
    _single("positive", "greater", "[1.0, 2.0]"),
    _single("non_positive", "less_equal", "[-1.0, 0.0]"),
    _single("negative", "less", "[-1.0, -2.0]"),
    _single("non_negative", "greater_equal", "[1.0, 0.0]"),
    alias(
        "assert_near debugging.assert_near(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, "
        "name=None)",
        'session.Assert(near(x, y, rtol, atol), failed("x near y", data, message, x=x, y=y), summarize)',
        "[1.0, 2.0], [1.0, 2.0000001]",
    ),
    alias(
        "verify_tensor_all_finite debugging.assert_all_finite(t=None, msg=None, name=None, x=None, message=None)",
        'finite(needed("tf.verify_tensor_all_finite()", "x", x, "t", t), either("message", message, "msg", msg))',
        '[1.0, 2.0], "not finite"',
    ),
    alias(
        "debugging.check_numerics check_numerics(tensor, message, name=None)",
        "finite(tensor, message)",
        '[1.0, 2.0], "not finite"',
    ),
    alias(
        "assert_rank debugging.assert_rank(x, rank, data=None, summarize=None, message=None, name=None)",
        "checked(v2.debugging.assert_rank(x, rank, message))",
        "[1.0, 2.0], 1",
    ),
    alias(
        "assert_rank_at_least debugging.assert_rank_at_least(x, rank, data=None, summarize=None, message=None, "
        "name=None)",
        "checked(v2.debugging.assert_rank_at_least(x, rank, message))",
        "[1.0, 2.0], 1",
    ),
    alias(
        "assert_rank_in debugging.assert_rank_in(x, ranks, data=None, summarize=None, message=None, name=None)",
        "checked(v2.debugging.assert_rank_in(x, ranks, message))",
        "[1.0, 2.0], (0, 1)",
    ),
    alias(
        "assert_scalar debugging.assert_scalar(tensor, name=None, message=None)",
        "tensor_after(v2.debugging.assert_scalar(tensor, message), tensor)",
        "1.0",
    ),
    alias(
        "assert_type debugging.assert_type(tensor, tf_type, message=None, name=None)",
        "checked(v2.debugging.assert_type(tensor, tf_type, message))",
        "[1.0, 2.0], tf.float32",
    ),
    alias(
        "assert_integer debugging.assert_integer(x, message=None, name=None)",
        "checked(v2.debugging.assert_integer(x, message))",
        "[1, 2]",
    ),
)
