"""Rows: tensors made, described, joined, cut and rearranged; arithmetic under older names."""

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


ROWS = (
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
)
