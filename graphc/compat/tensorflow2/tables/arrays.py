"""Rows: tensors made, described, joined, cut and rearranged."""

from graphc.compat.alias import alias

ROWS = (
    alias("cast dtypes.cast(x, dtype, name=None)", "gx.astype(x, dtype)", "[1.7, -1.7], tf.int32"),
    alias(
        "saturate_cast dtypes.saturate_cast(value, dtype, name=None)",
        "gx.arrays.saturate_cast(value, dtype)",
        "[-3.7, 300.0], tf.uint8",
    ),
    alias(
        'constant(value, dtype=None, shape=None, name="Const")',
        "gx.arrays.constant(value, dtype, shape)",
        "[1.0, 2.0, 3.0, 4.0], shape=[2, 2]",
    ),
    alias(
        "convert_to_tensor(value, dtype=None, dtype_hint=None, name=None)",
        "gx.arrays.constant(value, dtype_hint if dtype is None else dtype, None)",
        "[1.0, 2.0], dtype=tf.float32",
    ),
    alias("ones(shape, dtype=float32, name=None, layout=None)", "gx.ones(shape, dtype=dtype)", "[2, 3]"),
    alias(
        "zeros(shape, dtype=float32, name=None, layout=None)", "gx.zeros(shape, dtype=dtype)", "[2, 3], dtype=tf.int32"
    ),
    alias("ones_like(input, dtype=None, name=None, layout=None)", "gx.ones_like(input, dtype=dtype)", "[1.0, 2.0]"),
    alias(
        "zeros_like(input, dtype=None, name=None, layout=None)",
        "gx.zeros_like(input, dtype=dtype)",
        "[1.0, 2.0], dtype=tf.int32",
    ),
    alias("fill(dims, value, name=None, layout=None)", "gx.full(dims, value)", "[2, 3], 7.0"),
    alias(
        "eye linalg.eye(num_rows, num_columns=None, batch_shape=None, dtype=float32, name=None)",
        "gx.arrays.eye(...)",
        "2, batch_shape=[2]",
    ),
    alias('range(start, limit=None, delta=1, dtype=None, name="range")', "gx.arrays.range(...)", "3, 18, delta=3"),
    alias("linspace(start, stop, num, name=None, axis=0)", "gx.linspace(start, stop, num, axis=axis)", "1.0, 2.0, 5"),
    alias(
        "one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None)",
        "gx.arrays.one_hot(...)",
        "[0, 2, 5], 3, on_value=5.0, off_value=-1.0",
    ),
    alias(
        "sequence_mask(lengths, maxlen=None, dtype=bool, name=None)",
        "gx.arrays.sequence_mask(lengths, maxlen, dtype)",
        "[1, 3, 2], 4",
    ),
    alias(
        "meshgrid(*args, **kwargs)",
        'list(gx.meshgrid(*args, **{key: value for key, value in kwargs.items() if key != "name"}))',
        '[1.0, 2.0], [3.0, 4.0], indexing="ij"',
    ),
    alias("shape(input, out_type=None, name=None)", "gx.arrays.shape(input, out_type)", "[[1.0, 2.0, 3.0]]"),
    alias(
        "shape_n(input, out_type=int32, name=None)",
        "[gx.arrays.shape(one, out_type) for one in input]",
        "[[1.0, 2.0], [3.0, 4.0]]",
    ),
    alias(
        "size(input, out_type=None, name=None)", "gx.arrays.as_tensor(gx.size(input), out_type)", "[[1.0, 2.0, 3.0]]"
    ),
    alias("rank(input, name=None)", "gx.arrays.as_tensor(gx.ndim(input), None)", "[[1.0, 2.0, 3.0]]"),
    alias("broadcast_to(input, shape, name=None)", "gx.broadcast_to(input, shape)", "[1.0, 2.0], [2, 2]"),
    alias(
        "broadcast_static_shape(shape_x, shape_y)",
        "gx.broadcast_shapes(shape_x, shape_y)",
        "tf.ones([2, 1]).shape, tf.ones([1, 3]).shape",
    ),
    alias(
        "broadcast_dynamic_shape(shape_x, shape_y)",
        "gx.arrays.as_tensor(gx.broadcast_shapes(shape_x, shape_y), None)",
        "(2, 1), (1, 3)",
    ),
    alias("ensure_shape(x, shape, name=None)", "gx.arrays.ensure_shape(x, shape)", "[[1.0, 2.0]], [None, 2]"),
    alias("identity(input, name=None)", "gx.identity(input)", "[1.0, 2.0]"),
    alias("identity_n(input, name=None)", "[gx.identity(one) for one in input]", "[[1.0, 2.0], [3.0, 4.0]]"),
    alias("stop_gradient(input, name=None)", "gx.stop_gradient(input)", "[1.0, 2.0]"),
    alias('concat(values, axis, name="concat")', "gx.concat(values, axis)", "[[[1.0, 2.0]], [[3.0, 4.0]]], 0"),
    alias('stack(values, axis=0, name="stack")', "gx.stack(values, axis)", "[[1.0, 2.0], [3.0, 4.0]], axis=1"),
    alias('parallel_stack(values, name="parallel_stack")', "gx.stack(values)", "[[1.0, 2.0], [3.0, 4.0]]"),
    alias(
        'unstack(value, num=None, axis=0, name="unstack")',
        "list(gx.unstack(value, axis))",
        "[[1.0, 2.0], [3.0, 4.0]], axis=1",
    ),
    alias(
        'split(value, num_or_size_splits, axis=0, num=None, name="split")',
        "gx.arrays.split(value, num_or_size_splits, axis)",
        "[[1.0, 2.0, 3.0]], [1, 2], axis=1",
    ),
    alias("reshape(tensor, shape, name=None)", "gx.reshape(tensor, shape)", "[[1.0, 2.0], [3.0, 4.0]], [-1]"),
    alias(
        'transpose(a, perm=None, conjugate=False, name="transpose")',
        "gx.permute_dims(gx.conj(a) if conjugate else a, perm)",
        "[[[1.0, 2.0], [3.0, 4.0]]], perm=[1, 0, 2]",
    ),
    alias("expand_dims(input, axis, name=None)", "gx.expand_dims(input, axis)", "[1.0, 2.0], axis=0"),
    alias("squeeze(input, axis=None, name=None)", "gx.squeeze(input, axis)", "[[[1.0], [2.0]]], axis=[0]"),
    alias("tile(input, multiples, name=None)", "gx.tile(input, multiples)", "[[1.0, 2.0]], [2, 2]"),
    alias(
        "repeat(input, repeats, axis=None, name=None)",
        "gx.repeat(input, repeats, axis)",
        "[[1.0, 2.0], [3.0, 4.0]], [1, 2], axis=0",
    ),
    alias(
        'pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None)',
        "gx.pad(tensor, paddings, mode.lower(), constant_values)",
        "[[1.0, 2.0, 3.0]], [[0, 1], [2, 0]], constant_values=9.0",
    ),
    alias("reverse(tensor, axis, name=None)", "gx.flip(tensor, axis)", "[[1.0, 2.0], [3.0, 4.0]], [1]"),
    alias(
        "reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None)",
        "gx.arrays.reverse_sequence(...)",
        "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [2, 3], seq_axis=1, batch_axis=0",
    ),
    alias("roll(input, shift, axis, name=None)", "gx.roll(input, shift, axis)", "[1.0, 2.0, 3.0], shift=1, axis=0"),
    alias(
        'sort(values, axis=-1, direction="ASCENDING", name=None)',
        'gx.sort(values, axis, descending=direction == "DESCENDING")',
        '[2.0, 3.0, 1.0], direction="DESCENDING"',
    ),
    alias(
        'argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None)',
        'gx.astype(gx.argsort(values, axis, descending=direction == "DESCENDING"), "int32")',
        "[2.0, 3.0, 1.0]",
    ),
    alias(
        'searchsorted(sorted_sequence, values, side="left", out_type=int32, name=None)',
        "gx.arrays.searchsorted(...)",
        '[[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]], [[3.0, 6.0], [1.0, 4.0]], side="right"',
    ),
    alias("unique(x, out_idx=int32, name=None)", "gx.arrays.unique(x, out_idx)", "[3.0, 1.0, 3.0, 2.0]"),
    alias(
        "unique_with_counts(x, out_idx=int32, name=None)",
        "gx.arrays.unique_with_counts(x, out_idx)",
        "[3.0, 1.0, 3.0, 2.0]",
    ),
    alias(
        "where(condition, x=None, y=None, name=None)",
        'gx.astype(gx.argwhere(condition), "int64") if x is None else gx.where(condition, x, y)',
        "[True, False], [1.0, 2.0], [3.0, 4.0]",
    ),
    alias(
        'boolean_mask(tensor, mask, axis=None, name="boolean_mask")',
        "gx.arrays.boolean_mask(tensor, mask, axis)",
        "[[1.0, 2.0], [3.0, 4.0]], [True, False]",
    ),
    alias(
        "gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None)",
        "gx.arrays.gather(params, indices, axis, batch_dims)",
        "[[1.0, 2.0], [3.0, 4.0]], [[1], [0]], axis=1, batch_dims=1",
    ),
    alias(
        'gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy="")',
        "gx.arrays.gather_nd(params, indices, batch_dims)",
        "[[1.0, 2.0], [3.0, 4.0]], [[1, 0], [0, 1]]",
    ),
    alias(
        'scatter_nd(indices, updates, shape, bad_indices_policy="", name=None)',
        "gx.arrays.scatter_nd(indices, updates, shape)",
        "[[1], [3], [1]], [5.0, 6.0, 7.0], [4]",
    ),
    alias(
        "tensor_scatter_nd_update(tensor, indices, updates, name=None)",
        'gx.arrays.tensor_scatter_nd("set", tensor, indices, updates)',
        "[1.0, 2.0, 3.0], [[0], [2]], [5.0, 6.0]",
    ),
    alias(
        'tensor_scatter_nd_add(tensor, indices, updates, bad_indices_policy="", name=None)',
        'gx.arrays.tensor_scatter_nd("add", tensor, indices, updates)',
        "[1.0, 2.0, 3.0], [[0], [2]], [5.0, 6.0]",
    ),
    alias(
        'tensor_scatter_nd_sub(tensor, indices, updates, bad_indices_policy="", name=None)',
        'gx.arrays.tensor_scatter_nd("add", tensor, indices, gx.negative(updates))',
        "[1.0, 2.0, 3.0], [[0], [2]], [5.0, 6.0]",
    ),
    alias(
        'tensor_scatter_nd_max(tensor, indices, updates, bad_indices_policy="", name=None)',
        'gx.arrays.tensor_scatter_nd("max", tensor, indices, updates)',
        "[1.0, 9.0, 3.0], [[1], [2]], [5.0, 6.0]",
    ),
    alias(
        'tensor_scatter_nd_min(tensor, indices, updates, bad_indices_policy="", name=None)',
        'gx.arrays.tensor_scatter_nd("min", tensor, indices, updates)',
        "[1.0, 9.0, 3.0], [[1], [2]], [5.0, 6.0]",
    ),
    alias(
        "slice(input_, begin, size, name=None)",
        "gx.arrays.slice(input_, begin, size)",
        "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [0, 1], [2, -1]",
    ),
    alias(
        "dynamic_partition(data, partitions, num_partitions, name=None)",
        "gx.arrays.dynamic_partition(data, partitions, num_partitions)",
        "[1.0, 2.0, 3.0], [1, 0, 1], 2",
    ),
    alias("unravel_index(indices, dims, name=None)", "gx.stack(gx.unravel_index(indices, dims))", "[2, 5], [2, 3]"),
    alias("math.invert_permutation(x, name=None)", 'gx.astype(gx.argsort(x), "int32")', "[2, 0, 1]"),
    alias(
        "is_tensor(x)",
        "isinstance(x, (gx.Tensor, gx.Variable, gx.StringTensor, gx.SparseTensor, gx.RaggedTensor, gx.IndexedSlices))",
        "[1.0, 2.0]",
    ),
    alias(
        "tuple(tensors, control_inputs=None, name=None)",
        "gx.tuple(tensors, control_inputs)",
        "[tf.constant([1.0, 2.0]), tf.constant(3.0)]",
    ),
)
