"""Rows: control flow, settings and checks; nested structures, sparse and ragged tensors, strings."""

from graphc.compat.alias import rows

ROWS = rows(r"""
# Functions, control flow, placement, checks and calls of Python.
function(func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False,
        experimental_implements=None, experimental_autograph_options=None, experimental_attributes=None,
        experimental_relax_shapes=None, experimental_compile=None, experimental_follow_type_hints=None)
    => gx.function(func, input_signature=input_signature, autograph=autograph) e.g. lambda x: x + 1.0
custom_gradient(f=None) => gx.custom_gradient(f) e.g. lambda x: (x, lambda upstream: upstream)
device(device_name) => gx.device(device_name) e.g. "CPU:0"
cond(pred, true_fn=None, false_fn=None, name=None)
    => gx.cond(pred, true_fn, false_fn) e.g. tf.constant(True), lambda: tf.constant(1.0), lambda: tf.constant(2.0)
case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case")
    => gx.flow.case(pred_fn_pairs, default)
    e.g. [(tf.constant(False), lambda: tf.constant(1.0)), (tf.constant(True), lambda: tf.constant(2.0))],
        default=lambda: tf.constant(3.0)
switch_case(branch_index, branch_fns, default=None, name="switch_case")
    => gx.flow.switch_case(branch_index, branch_fns, default)
    e.g. tf.constant(1), [lambda: tf.constant(1.0), lambda: tf.constant(2.0)]
while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
        maximum_iterations=None, name=None)
    => gx.flow.while_loop(cond, body, loop_vars, maximum_iterations)
    e.g. lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), (0, 1.0)
map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True, name=None,
        fn_output_signature=None)
    => gx.flow.map_fn(fn, elems) e.g. lambda x: x * x, tf.constant([1.0, 2.0, 3.0])
vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True)
    => gx.vectorized_map(fn, elems) e.g. tf.square, tf.constant([1.0, 2.0, 3.0])
scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
        reverse=False, name=None)
    => gx.flow.scan(fn, elems, initializer, reverse) e.g. lambda total, x: total + x, tf.constant([1.0, 2.0, 3.0])
foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None)
    => gx.flow.foldl(fn, elems, initializer) e.g. lambda total, x: total - x, tf.constant([1.0, 2.0, 3.0])
foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None)
    => gx.flow.foldr(fn, elems, initializer) e.g. lambda total, x: total - x, tf.constant([1.0, 2.0, 3.0])
group(*inputs, **kwargs) => gx.group(*inputs) e.g. tf.constant(1.0)
no_op(name=None) => gx.no_op()
control_dependencies(control_inputs) => gx.control_dependencies(control_inputs) e.g. []
executing_eagerly() => not gx.is_tracing()
inside_function() => gx.is_tracing()
print(*inputs, **kwargs) => gx.flow.print_values(inputs, **kwargs) e.g. "x", 1.0
py_function(func=None, inp=None, Tout=None, name=None)
    => gx.flow.py_function(func, inp, Tout) e.g. lambda x: x + 1.0, [2.0], tf.float32
numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None)
    => gx.flow.numpy_function(func, inp, Tout) e.g. lambda x: x + 1, [2.0], tf.float32
config.run_functions_eagerly(run_eagerly) => gx.run_functions_eagerly(run_eagerly) e.g. False
config.functions_run_eagerly() => gx.functions_run_eagerly()
config.list_logical_devices(device_type=None) => gx.list_devices(device_type) e.g. "CPU"
config.list_physical_devices config.get_visible_devices(device_type=None)
    => gx.list_devices(device_type, physical=True) e.g. "GPU"
config.set_visible_devices(devices, device_type=None) => gx.set_visible_devices(devices, device_type) e.g. [], "GPU"
config.get_soft_device_placement() => gx.config.soft_placement
config.set_soft_device_placement(enabled) => setattr(gx.config, "soft_placement", enabled) e.g. False
debugging.get_log_device_placement() => gx.config.log_device_placement
debugging.set_log_device_placement(enabled) => setattr(gx.config, "log_device_placement", enabled) e.g. False
config.experimental.get_memory_growth(device) => gx.config.gpu_memory_growth e.g. "GPU:0"
config.experimental.set_memory_growth(device, enable)
    => setattr(gx.config, "gpu_memory_growth", enable) e.g. "GPU:0", False
autograph.experimental.do_not_convert(func=None)
    => gx.do_not_convert if func is None else gx.do_not_convert(func) e.g. lambda x: x
# What must hold, and what is said of dtypes.
assert_equal debugging.assert_equal(x, y, message=None, summarize=None, name=None)
    => gx.checks.assert_equal(x, y, message) e.g. [1.0, 2.0], [1.0, 2.0]
assert_greater debugging.assert_greater(x, y, message=None, summarize=None, name=None)
    => gx.checks.assert_greater(x, y, message) e.g. [1.0, 2.0], 0.0
assert_less debugging.assert_less(x, y, message=None, summarize=None, name=None)
    => gx.checks.assert_less(x, y, message) e.g. [1.0, 2.0], 3.0
debugging.assert_greater_equal(x, y, message=None, summarize=None, name=None)
    => gx.checks.assert_greater_equal(x, y, message) e.g. [1.0, 2.0], 1.0
debugging.assert_less_equal(x, y, message=None, summarize=None, name=None)
    => gx.checks.assert_less_equal(x, y, message) e.g. [1.0, 2.0], 2.0
debugging.assert_none_equal(x, y, summarize=None, message=None, name=None)
    => gx.checks.assert_none_equal(x, y, message) e.g. [1.0, 2.0], [3.0, 4.0]
debugging.assert_positive(x, message=None, summarize=None, name=None)
    => gx.checks.assert_positive(x, message) e.g. [1.0, 2.0]
debugging.assert_non_positive(x, message=None, summarize=None, name=None)
    => gx.checks.assert_non_positive(x, message) e.g. [-1.0, 0.0]
debugging.assert_negative(x, message=None, summarize=None, name=None)
    => gx.checks.assert_negative(x, message) e.g. [-1.0, -2.0]
debugging.assert_non_negative(x, message=None, summarize=None, name=None)
    => gx.checks.assert_non_negative(x, message) e.g. [1.0, 0.0]
debugging.assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None)
    => gx.checks.assert_near(x, y, rtol, atol, message) e.g. [1.0, 2.0], [1.0, 2.0000001]
debugging.assert_all_finite(x, message, name=None)
    => gx.checks.assert_all_finite(x, message) e.g. [1.0, 2.0], "not finite"
debugging.check_numerics(tensor, message, name=None) => gx.check_numerics(tensor, message) e.g. [1.0, 2.0], "not finite"
debugging.enable_check_numerics(stack_height_limit=30, path_length_limit=50)
    => setattr(gx.config, "check_numerics", True)
debugging.disable_check_numerics() => setattr(gx.config, "check_numerics", False)
assert_rank debugging.assert_rank(x, rank, message=None, name=None)
    => gx.checks.assert_rank(x, rank, message) e.g. [1.0, 2.0], 1
debugging.assert_rank_at_least(x, rank, message=None, name=None)
    => gx.checks.assert_rank_at_least(x, rank, message) e.g. [1.0, 2.0], 1
debugging.assert_rank_in(x, ranks, message=None, name=None)
    => gx.checks.assert_rank_in(x, ranks, message) e.g. [1.0, 2.0], (0, 1)
debugging.assert_scalar(tensor, message=None, name=None) => gx.checks.assert_scalar(tensor, message) e.g. 1.0
debugging.assert_shapes(shapes, data=None, summarize=None, message=None, name=None)
    => gx.checks.assert_shapes(shapes, message) e.g. [(tf.ones([2, 3]), ("N", 3)), (tf.ones([2]), ("N",))]
debugging.assert_type(tensor, tf_type, message=None, name=None)
    => gx.checks.assert_type(tensor, tf_type, message) e.g. [1.0, 2.0], tf.float32
debugging.assert_integer(x, message=None, name=None) => gx.checks.assert_integer(x, message) e.g. [1, 2]
debugging.assert_same_float_dtype(tensors=None, dtype=None)
    => gx.checks.assert_same_float_dtype(tensors, dtype) e.g. [tf.ones([2]), tf.ones([3])]
debugging.assert_proper_iterable(values) => gx.checks.assert_proper_iterable(values) e.g. [tf.ones([2])]
debugging.is_numeric_tensor(tensor) => gx.checks.is_numeric_tensor(tensor) e.g. [1.0, 2.0]
Assert debugging.Assert(condition, data, summarize=None, name=None)
    => gx.checks.assert_true(condition, data) e.g. True, ["never"]
as_dtype dtypes.as_dtype(type_value) => gx.DTypeName.of(type_value) e.g. "float32"
# Nested structures, sparse and ragged tensors, and what is said of loops.
nest.flatten(structure, expand_composites=False)
    => gx.nest.flatten(structure, expand_composites) e.g. [[1.0, 2.0], (3.0,)]
nest.map_structure(func, *structure, **kwargs)
    => gx.nest.map_structure(func, *structure, **kwargs) e.g. lambda x: x * 2.0, (1.0, [2.0])
nest.pack_sequence_as(structure, flat_sequence, expand_composites=False)
    => gx.nest.pack_sequence_as(structure, flat_sequence, expand_composites) e.g. (0, [0]), [1.0, 2.0]
nest.assert_same_structure(nest1, nest2, check_types=True, expand_composites=False)
    => gx.nest.assert_same_structure(...) e.g. [1.0, (2.0,)], [3.0, (4.0,)]
nest.is_nested(seq) => gx.nest.is_nested(seq) e.g. [1.0]
sparse.to_dense(sp_input, default_value=None, validate_indices=True, name=None)
    => sp_input.to_dense(default_value) e.g. tf.SparseTensor([[0, 1]], [5.0], [2, 3]), default_value=9.0
sparse.from_dense(tensor, name=None) => gx.SparseTensor.from_dense(tensor) e.g. [[0.0, 3.0], [0.0, 4.0]]
sparse.reorder(sp_input, name=None) => sp_input.reorder() e.g. tf.SparseTensor([[1, 0], [0, 1]], [5.0, 6.0], [2, 3])
sparse.transpose(sp_input, perm=None, name=None)
    => sp_input.transpose(perm) e.g. tf.SparseTensor([[0, 1], [1, 2]], [5.0, 6.0], [2, 3])
sparse.sparse_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None)
    => sp_a.matmul(b, adjoint_a, adjoint_b) e.g. tf.SparseTensor([[0, 1]], [5.0], [2, 3]), [[1.0], [2.0], [3.0]]
sparse.reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None)
    => sp_input.sum(axis, bool(keepdims)) e.g. tf.SparseTensor([[0, 1], [1, 1]], [5.0, 6.0], [2, 3]), axis=0
sparse.map_values(op, *args, **kwargs)
    => args[0].map_values(op, *args[1:], **kwargs) e.g. tf.negative, tf.SparseTensor([[0, 1]], [5.0], [2, 3])
ragged.constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=int64)
    => gx.RaggedTensor.constant(pylist, dtype, row_splits_dtype) e.g. [[1, 2], [], [3]]
ragged.map_flat_values(op, *args, **kwargs)
    => args[0].map_flat_values(op, *args[1:], **kwargs) e.g. tf.negative, tf.ragged.constant([[1, 2], [3]])
autograph.experimental.set_loop_options(parallel_iterations=None, swap_memory=None, maximum_iterations=None,
        shape_invariants=None)
    => gx.loop_options(max_iterations=maximum_iterations)
# Strings, and lines of files.
strings.as_string as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill="", name=None)
    => gx.strings.as_string(...) e.g. [1.5, 2.0], precision=2
strings.format(template, inputs, placeholder="{}", summarize=3, name=None)
    => gx.strings.format(...) e.g. "step {}: {}", (3, tf.constant([1.5, 2.0]))
strings.join(inputs, separator="", name=None)
    => gx.strings.join(inputs, separator) e.g. ["data", ["a", "b"]], separator="/"
strings.length(input, unit="BYTE", name=None) => gx.strings.length(input, unit) e.g. ["a", "h\u00e9llo"]
strings.lower(input, encoding="", name=None) => gx.strings.lower(input, encoding) e.g. ["Cat", "\u00c4"]
strings.upper(input, encoding="", name=None)
    => gx.strings.upper(input, encoding) e.g. ["cat", "\u00e4"], encoding="utf-8"
strings.strip(input, name=None) => gx.strings.strip(input) e.g. [" a ", "b\n"]
strings.split(input, sep=None, maxsplit=-1, name=None)
    => gx.strings.split(input, sep, maxsplit) e.g. "a,b,,c", ",", maxsplit=2
strings.substr(input, pos, len, unit="BYTE", name=None)
    => gx.strings.substr(...) e.g. ["hello", "world"], [1, -3], [3, 2]
strings.reduce_join(inputs, axis=None, keepdims=False, separator="", name=None)
    => gx.strings.reduce_join(...) e.g. [["a", "b"], ["c", "d"]], axis=0, separator="-"
strings.regex_full_match(input, pattern, name=None)
    => gx.strings.regex_full_match(input, pattern) e.g. ["a.csv", "a.txt"], ".*csv"
strings.regex_replace(input, pattern, rewrite, replace_global=True, name=None)
    => gx.strings.regex_replace(...) e.g. ["img_07.png"], "img_([0-9]+)", "\\1-\\0"
strings.to_number(input, out_type=float32, name=None) => gx.strings.to_number(input, out_type) e.g. ["1.5", " -2e1 "]
io.decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None, name=None)
    => gx.strings.decode_csv(...) e.g. ["1,a,", "2,\"b,c\",NA"], [[0], [""], [0.5]], na_value="NA"
keras.layers.StringLookup(max_tokens=None, num_oov_indices=1, mask_token=None, oov_token="[UNK]", vocabulary=None,
        idf_weights=None, invert=False, output_mode="int", pad_to_max_tokens=False, sparse=False, encoding="utf-8",
        name=None, salt=None, **kwargs)
    => gx.layers.StringLookup(vocabulary, num_oov_indices, mask_token, oov_token, invert, output_mode)
    e.g. vocabulary=["a", "b"]
""")
