"""Rows: graphs, Sessions and what they are made of. ``session.f`` is a function of graphs that are built by hand."""

from graphc.compat.alias import Alias, alias

_LISTED = "loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, name, maximum_iterations"


def _switch(names: str) -> Alias:
    """Returns a switch of TensorFlow's own history, which is here as TensorFlow 1 has it."""
    return alias(f"{names}()", "None", "")


ROWS = (
    alias(
        "placeholder(dtype, shape=None, name=None)", "session.placeholder(dtype, shape, name)", "tf.float32, (None, 2)"
    ),
    alias(
        "placeholder_with_default(input, shape, name=None)",
        "session.placeholder_with_default(input, shape, name)",
        "[1.0, 2.0], (None,)",
    ),
    alias(
        'constant(value, dtype=None, shape=None, name="Const", verify_shape=False)',
        "session.constant(value if verify_shape else filled(value, shape), dtype, shape, name, verify_shape)",
        "[1, 2, 3], shape=[2, 2]",
    ),
    alias(
        "convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None)",
        'session.convert_to_tensor(value, dtype, name, either("dtype_hint", dtype_hint, "preferred_dtype", '
        "preferred_dtype))",
        "[1.0, 2.0], dtype=tf.float32",
    ),
    alias(
        "name_scope(name, default_name=None, values=None)",
        "session.graph_of(values or ()).name_scope(default_name if name is None else name)",
        '"layer"',
    ),
    alias("no_op(name=None)", "session.no_op(name)", ""),
    alias("group(*inputs, **kwargs)", "session.group(*inputs, **kwargs)", "tf.constant(1.0), tf.no_op()"),
    alias(
        "tuple(tensors, name=None, control_inputs=None)",
        "session.tuple(tensors, name, control_inputs)",
        "[tf.constant(1.0), tf.constant(2.0)]",
    ),
    alias(
        "control_dependencies(control_inputs)",
        "session.default_graph().control_dependencies(control_inputs)",
        "[tf.no_op()]",
    ),
    alias("device(device_name_or_function)", "session.default_graph().device(device_name_or_function)", '"/cpu:0"'),
    alias("container(container_name)", "session.default_graph().container(container_name)", '"shared"'),
    alias(
        "colocate_with(op, ignore_existing=False)",
        "session.default_graph().colocate_with(op, ignore_existing)",
        "tf.no_op()",
    ),
    alias(
        "cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None)",
        "session.cond(pred, true_fn, false_fn, strict, name, fn1, fn2)",
        "tf.constant(True), lambda: tf.constant(1.0), lambda: tf.constant(2.0)",
    ),
    alias(
        'case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case")',
        "session.case(..., name)",
        "[(tf.constant(False), lambda: tf.constant(1.0))], default=lambda: tf.constant(3.0)",
    ),
    alias(
        "while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, "
        "swap_memory=False, name=None, maximum_iterations=None, return_same_structure=False)",
        f"session.while_loop(cond, body, {_LISTED}, return_same_structure)",
        "lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), (0, 1.0)",
    ),
    alias(
        "py_func(func, inp, Tout, stateful=True, name=None)",
        "session.py_func(..., name)",
        "lambda x: x + 1, [2.0], tf.float32",
    ),
    alias(
        "numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None)",
        "session.py_func(..., name)",
        "lambda x: x + 1, [2.0], tf.float32",
    ),
    alias(
        "py_function(func=None, inp=None, Tout=None, name=None)",
        "session.py_func(func, inp, Tout, True, name)",
        "lambda x: x + 1, [2.0], tf.float32",
    ),
    alias("read_file io.read_file(filename, name=None)", "session.file_ops.read_file(filename, name)", '"a.txt"'),
    alias(
        "write_file io.write_file(filename, contents, name=None)",
        "session.file_ops.write_file(filename, contents, name)",
        '"a.txt", "text"',
    ),
    alias(
        "matching_files io.matching_files(pattern, name=None)",
        "session.file_ops.matching_files(pattern, name)",
        '"*.txt"',
    ),
    alias("timestamp(name=None)", "session.file_ops.timestamp(name)", ""),
    alias('tables_initializer initializers.tables_initializer(name="init_all_tables")', "session.no_op(name)", ""),
    alias('initialize_all_tables(name="init_all_tables")', "session.no_op(name)", ""),
    alias(
        "Print(input_, data, message=None, first_n=None, summarize=None, name=None)",
        "session.Print(..., name)",
        'tf.constant(1.0), ["x"]',
    ),
    alias("print(*inputs, **kwargs)", 'session.print_op(*inputs, name=kwargs.get("name"))', '"x", 1.0'),
    alias(
        "Assert debugging.Assert(condition, data, summarize=None, name=None)",
        "session.Assert(condition, data, summarize, name)",
        'True, ["never"]',
    ),
    alias(
        'gradients(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False, '
        'gate_gradients=False, aggregation_method=None, stop_gradients=None, unconnected_gradients="none")',
        "session.gradients(ys, xs, grad_ys, name, colocate_gradients_with_ops, gate_gradients, aggregation_method, "
        "stop_gradients, unconnected_gradients)",
        "x * x, [x]",
    ),
    alias(
        'boolean_mask(tensor, mask, name="boolean_mask", axis=None)',
        "session.by_value.boolean_mask(tensor, mask, axis, name)",
        "[[1.0, 2.0], [3.0, 4.0]], [True, False]",
    ),
    alias(
        "dynamic_partition(data, partitions, num_partitions, name=None)",
        "session.by_value.dynamic_partition(data, partitions, num_partitions, name)",
        "[1.0, 2.0, 3.0], [1, 0, 1], 2",
    ),
    alias("unique(x, out_idx=int32, name=None)", "session.by_value.unique(x, out_idx, name)", "[3.0, 1.0, 3.0]"),
    alias(
        "unique_with_counts(x, out_idx=int32, name=None)",
        "session.by_value.unique_with_counts(x, out_idx, name)",
        "[3.0, 1.0, 3.0]",
    ),
    alias("get_default_graph()", "session.default_graph()", ""),
    alias("get_default_session()", "session.stacks.default_session", ""),
    alias("reset_default_graph()", "session.reset_default_graph()", ""),
    alias(
        "add_to_collection(name, value)",
        "session.default_graph().add_to_collection(name, value)",
        '"losses", tf.constant(1.0)',
    ),
    alias(
        "add_to_collections(names, value)",
        "session.default_graph().add_to_collections(names, value)",
        '["a", "b"], tf.constant(1.0)',
    ),
    alias("get_collection(key, scope=None)", "session.default_graph().get_collection(key, scope)", '"losses"'),
    alias("get_collection_ref(key)", "session.default_graph().get_collection_ref(key)", '"losses"'),
    alias("set_random_seed random.set_random_seed(seed)", 'setattr(session.default_graph(), "seed", seed)', "42"),
    alias("executing_eagerly()", "False", ""),
    alias("executing_eagerly_outside_functions()", "False", ""),
    alias("resource_variables_enabled()", "True", ""),
    alias("control_flow_v2_enabled()", "False", ""),
    _switch("disable_eager_execution"),
    _switch("disable_v2_behavior"),
    _switch("disable_resource_variables"),
    _switch("enable_resource_variables"),
    _switch("disable_v2_tensorshape"),
    _switch("disable_control_flow_v2"),
    _switch("disable_tensor_equality"),
)
