"""Rows: nested structures, sparse and ragged tensors, and what is said of loops."""

from graphc.compat.alias import alias

ROWS = (
    alias(
        "nest.flatten(structure, expand_composites=False)",
        "gx.nest.flatten(structure, expand_composites)",
        "[[1.0, 2.0], (3.0,)]",
    ),
    alias(
        "nest.map_structure(func, *structure, **kwargs)",
        "gx.nest.map_structure(func, *structure, **kwargs)",
        "lambda x: x * 2.0, (1.0, [2.0])",
    ),
    alias(
        "nest.pack_sequence_as(structure, flat_sequence, expand_composites=False)",
        "gx.nest.pack_sequence_as(structure, flat_sequence, expand_composites)",
        "(0, [0]), [1.0, 2.0]",
    ),
    alias(
        "nest.assert_same_structure(nest1, nest2, check_types=True, expand_composites=False)",
        "gx.nest.assert_same_structure(...)",
        "[1.0, (2.0,)], [3.0, (4.0,)]",
    ),
    alias("nest.is_nested(seq)", "gx.nest.is_nested(seq)", "[1.0]"),
    alias(
        "sparse.to_dense(sp_input, default_value=None, validate_indices=True, name=None)",
        "sp_input.to_dense(default_value)",
        "tf.SparseTensor([[0, 1]], [5.0], [2, 3]), default_value=9.0",
    ),
    alias("sparse.from_dense(tensor, name=None)", "gx.SparseTensor.from_dense(tensor)", "[[0.0, 3.0], [0.0, 4.0]]"),
    alias(
        "sparse.reorder(sp_input, name=None)",
        "sp_input.reorder()",
        "tf.SparseTensor([[1, 0], [0, 1]], [5.0, 6.0], [2, 3])",
    ),
    alias(
        "sparse.transpose(sp_input, perm=None, name=None)",
        "sp_input.transpose(perm)",
        "tf.SparseTensor([[0, 1], [1, 2]], [5.0, 6.0], [2, 3])",
    ),
    alias(
        "sparse.sparse_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None)",
        "sp_a.matmul(b, adjoint_a, adjoint_b)",
        "tf.SparseTensor([[0, 1]], [5.0], [2, 3]), [[1.0], [2.0], [3.0]]",
    ),
    alias(
        "sparse.reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None)",
        "sp_input.sum(axis, bool(keepdims))",
        "tf.SparseTensor([[0, 1], [1, 1]], [5.0, 6.0], [2, 3]), axis=0",
    ),
    alias(
        "sparse.map_values(op, *args, **kwargs)",
        "args[0].map_values(op, *args[1:], **kwargs)",
        "tf.negative, tf.SparseTensor([[0, 1]], [5.0], [2, 3])",
    ),
    alias(
        "ragged.constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=int64)",
        "gx.RaggedTensor.constant(pylist, dtype, row_splits_dtype)",
        "[[1, 2], [], [3]]",
    ),
    alias(
        "ragged.map_flat_values(op, *args, **kwargs)",
        "args[0].map_flat_values(op, *args[1:], **kwargs)",
        "tf.negative, tf.ragged.constant([[1, 2], [3]])",
    ),
    alias(
        "autograph.experimental.set_loop_options(parallel_iterations=None, swap_memory=None, "
        "maximum_iterations=None, shape_invariants=None)",
        "gx.loop_options(max_iterations=maximum_iterations)",
        "",
    ),
)
