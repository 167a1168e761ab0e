"""Rows: control flow, settings and checks; nested structures, sparse and ragged tensors, strings."""

from graphc.compat.alias import alias

_TWO = {
    "equal": ("", "[1.0, 2.0], [1.0, 2.0]"),
    "greater": ("", "[1.0, 2.0], 0.0"),
    "less": ("", "[1.0, 2.0], 3.0"),
    "greater_equal": ("debugging", "[1.0, 2.0], 1.0"),
    "less_equal": ("debugging", "[1.0, 2.0], 2.0"),
}

_ONE = {
    "positive": "[1.0, 2.0]",
    "non_positive": "[-1.0, 0.0]",
    "negative": "[-1.0, -2.0]",
    "non_negative": "[1.0, 0.0]",
}


ROWS = (
    # Functions, control flow, placement, checks and calls of Python.
    alias(
        "function(func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False, "
        "experimental_implements=None, experimental_autograph_options=None, experimental_attributes=None, "
        "experimental_relax_shapes=None, experimental_compile=None, experimental_follow_type_hints=None)",
        "gx.function(func, input_signature=input_signature, autograph=autograph)",
        "lambda x: x + 1.0",
    ),
    alias("custom_gradient(f=None)", "gx.custom_gradient(f)", "lambda x: (x, lambda upstream: upstream)"),
    alias("device(device_name)", "gx.device(device_name)", '"CPU:0"'),
    alias(
        "cond(pred, true_fn=None, false_fn=None, name=None)",
        "gx.cond(pred, true_fn, false_fn)",
        "tf.constant(True), lambda: tf.constant(1.0), lambda: tf.constant(2.0)",
    ),
    alias(
        'case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case")',
        "gx.flow.case(pred_fn_pairs, default)",
        "[(tf.constant(False), lambda: tf.constant(1.0)), (tf.constant(True), "
        "lambda: tf.constant(2.0))], default=lambda: tf.constant(3.0)",
    ),
    alias(
        'switch_case(branch_index, branch_fns, default=None, name="switch_case")',
        "gx.flow.switch_case(branch_index, branch_fns, default)",
        "tf.constant(1), [lambda: tf.constant(1.0), lambda: tf.constant(2.0)]",
    ),
    alias(
        "while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, "
        "swap_memory=False, maximum_iterations=None, name=None)",
        "gx.flow.while_loop(cond, body, loop_vars, maximum_iterations)",
        "lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), (0, 1.0)",
    ),
    alias(
        "map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, "
        "infer_shape=True, name=None, fn_output_signature=None)",
        "gx.flow.map_fn(fn, elems)",
        "lambda x: x * x, tf.constant([1.0, 2.0, 3.0])",
    ),
    alias(
        "vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True)",
        "gx.vectorized_map(fn, elems)",
        "tf.square, tf.constant([1.0, 2.0, 3.0])",
    ),
    alias(
        "scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, "
        "infer_shape=True, reverse=False, name=None)",
        "gx.flow.scan(fn, elems, initializer, reverse)",
        "lambda total, x: total + x, tf.constant([1.0, 2.0, 3.0])",
    ),
    alias(
        "foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None)",
        "gx.flow.foldl(fn, elems, initializer)",
        "lambda total, x: total - x, tf.constant([1.0, 2.0, 3.0])",
    ),
    alias(
        "foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None)",
        "gx.flow.foldr(fn, elems, initializer)",
        "lambda total, x: total - x, tf.constant([1.0, 2.0, 3.0])",
    ),
    alias("group(*inputs, **kwargs)", "gx.group(*inputs)", "tf.constant(1.0)"),
    alias("no_op(name=None)", "gx.no_op()", ""),
    alias("control_dependencies(control_inputs)", "gx.control_dependencies(control_inputs)", "[]"),
    alias("executing_eagerly()", "not gx.is_tracing()", ""),
    alias("inside_function()", "gx.is_tracing()", ""),
    alias("print(*inputs, **kwargs)", "gx.flow.print_values(inputs, **kwargs)", '"x", 1.0'),
    alias(
        "py_function(func=None, inp=None, Tout=None, name=None)",
        "gx.flow.py_function(func, inp, Tout)",
        "lambda x: x + 1.0, [2.0], tf.float32",
    ),
    alias(
        "numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None)",
        "gx.flow.numpy_function(func, inp, Tout)",
        "lambda x: x + 1, [2.0], tf.float32",
    ),
    alias("config.run_functions_eagerly(run_eagerly)", "gx.run_functions_eagerly(run_eagerly)", "False"),
    alias("config.functions_run_eagerly()", "gx.functions_run_eagerly()", ""),
    alias("config.list_logical_devices(device_type=None)", "gx.list_devices(device_type)", '"CPU"'),
    alias(
        "config.list_physical_devices config.get_visible_devices(device_type=None)",
        "gx.list_devices(device_type, physical=True)",
        '"GPU"',
    ),
    alias(
        "config.set_visible_devices(devices, device_type=None)",
        "gx.set_visible_devices(devices, device_type)",
        '[], "GPU"',
    ),
    alias("config.get_soft_device_placement()", "gx.config.soft_placement", ""),
    alias("config.set_soft_device_placement(enabled)", 'setattr(gx.config, "soft_placement", enabled)', "False"),
    alias("debugging.get_log_device_placement()", "gx.config.log_device_placement", ""),
    alias(
        "debugging.set_log_device_placement(enabled)", 'setattr(gx.config, "log_device_placement", enabled)', "False"
    ),
    alias("config.experimental.get_memory_growth(device)", "gx.config.gpu_memory_growth", '"GPU:0"'),
    alias(
        "config.experimental.set_memory_growth(device, enable)",
        'setattr(gx.config, "gpu_memory_growth", enable)',
        '"GPU:0", False',
    ),
    alias(
        "autograph.experimental.do_not_convert(func=None)",
        "gx.do_not_convert if func is None else gx.do_not_convert(func)",
        "lambda x: x",
    ),
    # What must hold, and what is said of dtypes.
    *[
        alias(
            f"{'' if space else f'assert_{name} '}debugging.assert_{name}"
            "(x, y, message=None, summarize=None, name=None)",
            f"gx.checks.assert_{name}(x, y, message)",
            example,
        )
        for name, (space, example) in _TWO.items()
    ],
    alias(
        "debugging.assert_none_equal(x, y, summarize=None, message=None, name=None)",
        "gx.checks.assert_none_equal(x, y, message)",
        "[1.0, 2.0], [3.0, 4.0]",
    ),
    *[
        alias(
            f"debugging.assert_{name}(x, message=None, summarize=None, name=None)",
            f"gx.checks.assert_{name}(x, message)",
            example,
        )
        for name, example in _ONE.items()
    ],
    alias(
        "debugging.assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None)",
        "gx.checks.assert_near(x, y, rtol, atol, message)",
        "[1.0, 2.0], [1.0, 2.0000001]",
    ),
    alias(
        "debugging.assert_all_finite(x, message, name=None)",
        "gx.checks.assert_all_finite(x, message)",
        '[1.0, 2.0], "not finite"',
    ),
    alias(
        "debugging.check_numerics(tensor, message, name=None)",
        "gx.check_numerics(tensor, message)",
        '[1.0, 2.0], "not finite"',
    ),
    alias(
        "debugging.enable_check_numerics(stack_height_limit=30, path_length_limit=50)",
        'setattr(gx.config, "check_numerics", True)',
        "",
    ),
    alias("debugging.disable_check_numerics()", 'setattr(gx.config, "check_numerics", False)', ""),
    alias(
        "assert_rank debugging.assert_rank(x, rank, message=None, name=None)",
        "gx.checks.assert_rank(x, rank, message)",
        "[1.0, 2.0], 1",
    ),
    alias(
        "debugging.assert_rank_at_least(x, rank, message=None, name=None)",
        "gx.checks.assert_rank_at_least(x, rank, message)",
        "[1.0, 2.0], 1",
    ),
    alias(
        "debugging.assert_rank_in(x, ranks, message=None, name=None)",
        "gx.checks.assert_rank_in(x, ranks, message)",
        "[1.0, 2.0], (0, 1)",
    ),
    alias(
        "debugging.assert_scalar(tensor, message=None, name=None)", "gx.checks.assert_scalar(tensor, message)", "1.0"
    ),
    alias(
        "debugging.assert_shapes(shapes, data=None, summarize=None, message=None, name=None)",
        "gx.checks.assert_shapes(shapes, message)",
        '[(tf.ones([2, 3]), ("N", 3)), (tf.ones([2]), ("N",))]',
    ),
    alias(
        "debugging.assert_type(tensor, tf_type, message=None, name=None)",
        "gx.checks.assert_type(tensor, tf_type, message)",
        "[1.0, 2.0], tf.float32",
    ),
    alias("debugging.assert_integer(x, message=None, name=None)", "gx.checks.assert_integer(x, message)", "[1, 2]"),
    alias(
        "debugging.assert_same_float_dtype(tensors=None, dtype=None)",
        "gx.checks.assert_same_float_dtype(tensors, dtype)",
        "[tf.ones([2]), tf.ones([3])]",
    ),
    alias("debugging.assert_proper_iterable(values)", "gx.checks.assert_proper_iterable(values)", "[tf.ones([2])]"),
    alias("debugging.is_numeric_tensor(tensor)", "gx.checks.is_numeric_tensor(tensor)", "[1.0, 2.0]"),
    alias(
        "Assert debugging.Assert(condition, data, summarize=None, name=None)",
        "gx.checks.assert_true(condition, data)",
        'True, ["never"]',
    ),
    alias("as_dtype dtypes.as_dtype(type_value)", "gx.DTypeName.of(type_value)", '"float32"'),
    # Nested structures, sparse and ragged tensors, and what is said of loops.
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
    # Strings, and lines of files.
    alias(
        'strings.as_string as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill="", '
        "name=None)",
        "gx.strings.as_string(...)",
        "[1.5, 2.0], precision=2",
    ),
    alias(
        'strings.format(template, inputs, placeholder="{}", summarize=3, name=None)',
        "gx.strings.format(...)",
        '"step {}: {}", (3, tf.constant([1.5, 2.0]))',
    ),
    alias(
        'strings.join(inputs, separator="", name=None)',
        "gx.strings.join(inputs, separator)",
        '["data", ["a", "b"]], separator="/"',
    ),
    alias('strings.length(input, unit="BYTE", name=None)', "gx.strings.length(input, unit)", '["a", "h\\u00e9llo"]'),
    alias('strings.lower(input, encoding="", name=None)', "gx.strings.lower(input, encoding)", '["Cat", "\\u00c4"]'),
    alias(
        'strings.upper(input, encoding="", name=None)',
        "gx.strings.upper(input, encoding)",
        '["cat", "\\u00e4"], encoding="utf-8"',
    ),
    alias("strings.strip(input, name=None)", "gx.strings.strip(input)", '[" a ", "b\\n"]'),
    alias(
        "strings.split(input, sep=None, maxsplit=-1, name=None)",
        "gx.strings.split(input, sep, maxsplit)",
        '"a,b,,c", ",", maxsplit=2',
    ),
    alias(
        'strings.substr(input, pos, len, unit="BYTE", name=None)',
        "gx.strings.substr(...)",
        '["hello", "world"], [1, -3], [3, 2]',
    ),
    alias(
        'strings.reduce_join(inputs, axis=None, keepdims=False, separator="", name=None)',
        "gx.strings.reduce_join(...)",
        '[["a", "b"], ["c", "d"]], axis=0, separator="-"',
    ),
    alias(
        "strings.regex_full_match(input, pattern, name=None)",
        "gx.strings.regex_full_match(input, pattern)",
        '["a.csv", "a.txt"], ".*csv"',
    ),
    alias(
        "strings.regex_replace(input, pattern, rewrite, replace_global=True, name=None)",
        "gx.strings.regex_replace(...)",
        '["img_07.png"], "img_([0-9]+)", "\\\\1-\\\\0"',
    ),
    alias(
        "strings.to_number(input, out_type=float32, name=None)",
        "gx.strings.to_number(input, out_type)",
        '["1.5", " -2e1 "]',
    ),
    alias(
        'io.decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", '
        "select_cols=None, name=None)",
        "gx.strings.decode_csv(...)",
        '["1,a,", "2,\\"b,c\\",NA"], [[0], [""], [0.5]], na_value="NA"',
    ),
    alias(
        'keras.layers.StringLookup(max_tokens=None, num_oov_indices=1, mask_token=None, oov_token="[UNK]", '
        'vocabulary=None, idf_weights=None, invert=False, output_mode="int", pad_to_max_tokens=False, '
        'sparse=False, encoding="utf-8", name=None, salt=None, **kwargs)',
        "gx.layers.StringLookup(vocabulary, num_oov_indices, mask_token, oov_token, invert, output_mode)",
        'vocabulary=["a", "b"]',
    ),
)
