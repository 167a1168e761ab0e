"""Rows: graphs, Sessions, Variables and files. ``session.f`` is a function of graphs that are built by hand."""

from graphc.compat.alias import Alias, alias

_LISTED = "loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, name, maximum_iterations"


def _switch(names: str) -> Alias:
    """Returns a switch of TensorFlow's own history, which is here as TensorFlow 1 has it."""
    return alias(f"{names}()", "None", "")


def _define(kind: str) -> Alias:
    of = "boolean" if kind == "bool" else kind
    # absl's own signature, with TensorFlow's old names as keywords.
    names = f"flags.DEFINE_{kind} app.flags.DEFINE_{kind}"
    return alias(f"{names}(*args, **kwargs)", f'flags.define("{of}", *args, **kwargs)', '"steps", None, "how many"')


OTHERS = (
    # Graphs, Sessions and what they are made of. ``session.f`` is a function of graphs that are built by hand.
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
    alias("read_file io.read_file(filename, name=None)", "session.host_functions.read_file(filename, name)", '"a.txt"'),
    alias(
        "write_file io.write_file(filename, contents, name=None)",
        "session.host_functions.write_file(filename, contents, name)",
        '"a.txt", "text"',
    ),
    alias(
        "matching_files io.matching_files(pattern, name=None)",
        "session.host_functions.matching_files(pattern, name)",
        '"*.txt"',
    ),
    alias("timestamp(name=None)", "session.host_functions.timestamp(name)", ""),
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
    # Variables of graphs, their scopes, initializers and assignments.
    alias(
        "get_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, "
        "collections=None, caching_device=None, partitioner=None, validate_shape=True, use_resource=None, "
        "custom_getter=None, constraint=None, synchronization=0, aggregation=0)",
        "session.get_variable(name, ...)",
        '"w", [2, 3]',
    ),
    alias(
        "get_local_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=False, "
        "collections=None, caching_device=None, partitioner=None, validate_shape=True, use_resource=None, "
        "custom_getter=None, constraint=None, synchronization=0, aggregation=0)",
        "session.get_local_variable(name, shape, dtype, initializer=initializer, regularizer=regularizer, "
        "collections=collections, validate_shape=validate_shape, custom_getter=custom_getter, "
        "constraint=constraint)",
        '"count", [], tf.int32',
    ),
    alias(
        "variable_scope(name_or_scope, default_name=None, values=None, initializer=None, regularizer=None, "
        "caching_device=None, partitioner=None, custom_getter=None, reuse=None, dtype=None, use_resource=None, "
        "constraint=None, auxiliary_name_scope=True)",
        "session.variable_scope(...)",
        '"layer", reuse=tf.AUTO_REUSE',
    ),
    alias(
        "variable_op_scope(values, name_or_scope, default_name=None, initializer=None, regularizer=None, "
        "caching_device=None, partitioner=None, custom_getter=None, reuse=None, dtype=None, use_resource=None, "
        "constraint=None)",
        "session.variable_scope(name_or_scope, default_name, values, initializer, regularizer, "
        "caching_device, partitioner, custom_getter, reuse, dtype, use_resource, constraint)",
        '[], "layer"',
    ),
    alias("get_variable_scope()", "session.get_variable_scope()", ""),
    alias("no_regularizer(_)", "session.no_regularizer(_)", "None"),
    alias("global_variables(scope=None)", "session.global_variables(scope)", ""),
    alias("local_variables(scope=None)", "session.local_variables(scope)", ""),
    alias("trainable_variables(scope=None)", "session.trainable_variables(scope)", ""),
    alias("model_variables(scope=None)", "session.model_variables(scope)", ""),
    alias("moving_average_variables(scope=None)", "session.moving_average_variables(scope)", ""),
    alias("all_variables()", "session.all_variables()", ""),
    alias("global_variables_initializer initializers.global_variables()", "session.global_variables_initializer()", ""),
    alias("local_variables_initializer initializers.local_variables()", "session.local_variables_initializer()", ""),
    alias(
        'variables_initializer initializers.variables(var_list, name="init")',
        "session.variables_initializer(var_list, name)",
        "[v]",
    ),
    alias("initialize_all_variables()", "session.initialize_all_variables()", ""),
    alias("initialize_local_variables()", "session.initialize_local_variables()", ""),
    alias('initialize_variables(var_list, name="init")', "session.initialize_variables(var_list, name)", "[v]"),
    alias("is_variable_initialized(variable)", "session.is_variable_initialized(variable)", "v"),
    alias(
        'report_uninitialized_variables(var_list=None, name="report_uninitialized_variables")',
        "session.report_uninitialized_variables(var_list, name)",
        "",
    ),
    alias("assert_variables_initialized(var_list=None)", "session.assert_variables_initialized(var_list)", ""),
    alias(
        "assign(ref, value, validate_shape=None, use_locking=None, name=None)",
        "session.assign(..., name)",
        "v, [4.0, 5.0, 6.0]",
    ),
    alias(
        "assign_add(ref, value, use_locking=None, name=None)",
        "session.assign_add(ref, value, use_locking, name)",
        "v, 1.0",
    ),
    alias(
        "assign_sub(ref, value, use_locking=None, name=None)",
        "session.assign_sub(ref, value, use_locking, name)",
        "v, 1.0",
    ),
    alias("count_up_to(ref, limit, name=None)", "session.count_up_to(ref, limit, name)", "tf.Variable(0), 3"),
    alias(
        "scatter_update(ref, indices, updates, use_locking=True, name=None)",
        "session.scatter_update(..., name)",
        "v, [0], [1.0]",
    ),
    alias(
        "scatter_add(ref, indices, updates, use_locking=False, name=None)",
        "session.scatter_add(..., name)",
        "v, [0], [1.0]",
    ),
    alias(
        "scatter_sub(ref, indices, updates, use_locking=False, name=None)",
        "session.scatter_sub(..., name)",
        "v, [0], [1.0]",
    ),
    alias(
        "scatter_mul(ref, indices, updates, use_locking=False, name=None)",
        "session.scatter_mul(..., name)",
        "v, [0], [1.0]",
    ),
    alias(
        "scatter_div(ref, indices, updates, use_locking=False, name=None)",
        "session.scatter_div(..., name)",
        "v, [0], [1.0]",
    ),
    alias(
        "scatter_max(ref, indices, updates, use_locking=False, name=None)",
        "session.scatter_max(..., name)",
        "v, [0], [1.0]",
    ),
    alias(
        "scatter_min(ref, indices, updates, use_locking=False, name=None)",
        "session.scatter_min(..., name)",
        "v, [0], [1.0]",
    ),
    alias(
        "scatter_nd_update(ref, indices, updates, use_locking=True, name=None)",
        "session.scatter_nd_update(..., name)",
        "v, [[0]], [1.0]",
    ),
    alias(
        "scatter_nd_add(ref, indices, updates, use_locking=False, name=None)",
        "session.scatter_nd_add(..., name)",
        "v, [[0]], [1.0]",
    ),
    alias(
        "scatter_nd_sub(ref, indices, updates, use_locking=False, name=None)",
        "session.scatter_nd_sub(..., name)",
        "v, [[0]], [1.0]",
    ),
    alias("initializers.he_normal(seed=None)", "session.he_normal(seed)", ""),
    alias("initializers.he_uniform(seed=None)", "session.he_uniform(seed)", ""),
    alias("initializers.lecun_normal(seed=None)", "session.lecun_normal(seed)", ""),
    alias("initializers.lecun_uniform(seed=None)", "session.lecun_uniform(seed)", ""),
    # Files, log lines, flags, the start of a program, codes of errors. None of them makes an operation.
    alias(
        "gfile.Copy(oldpath, newpath, overwrite=False)", "files.copy(oldpath, newpath, overwrite)", '"a.txt", "b.txt"'
    ),
    alias("gfile.DeleteRecursively(dirname)", "files.remove_tree(dirname)", '"folder"'),
    alias("gfile.Exists(filename)", "files.exists(filename)", '"a.txt"'),
    alias("gfile.Glob(filename)", "files.glob(filename)", '"*.txt"'),
    alias("gfile.IsDirectory(dirname)", "files.is_directory(dirname)", '"folder"'),
    alias("gfile.ListDirectory(dirname)", "files.list_directory(dirname)", '"folder"'),
    alias("gfile.MakeDirs(dirname)", "files.make_directories(dirname)", '"folder/inner"'),
    alias("gfile.MkDir(dirname)", "files.make_directory(dirname)", '"folder"'),
    alias("gfile.Remove(filename)", "files.remove(filename)", '"a.txt"'),
    alias(
        "gfile.Rename(oldname, newname, overwrite=False)",
        "files.rename(oldname, newname, overwrite)",
        '"a.txt", "b.txt"',
    ),
    alias("gfile.Stat(filename)", "files.stat(filename)", '"a.txt"'),
    alias("gfile.Walk(top, in_order=True)", "files.walk(top, in_order)", '"folder"'),
    alias("io.gfile.copy(src, dst, overwrite=False)", "files.copy(src, dst, overwrite)", '"a.txt", "b.txt"'),
    alias("io.gfile.exists(path)", "files.exists(path)", '"a.txt"'),
    alias("io.gfile.glob(pattern)", "files.glob(pattern)", '"*.txt"'),
    alias("io.gfile.isdir(path)", "files.is_directory(path)", '"folder"'),
    alias("io.gfile.join(path, *paths)", "os.path.join(path, *paths)", '"folder", "a.txt"'),
    alias("io.gfile.listdir(path)", "files.list_directory(path)", '"folder"'),
    alias("io.gfile.makedirs(path)", "files.make_directories(path)", '"folder/inner"'),
    alias("io.gfile.mkdir(path)", "files.make_directory(path)", '"folder"'),
    alias("io.gfile.remove(path)", "files.remove(path)", '"a.txt"'),
    alias("io.gfile.rename(src, dst, overwrite=False)", "files.rename(src, dst, overwrite)", '"a.txt", "b.txt"'),
    alias("io.gfile.rmtree(path)", "files.remove_tree(path)", '"folder"'),
    alias("io.gfile.stat(path)", "files.stat(path)", '"a.txt"'),
    alias("io.gfile.walk(top, topdown=True, onerror=None)", "files.walk(top, topdown)", '"folder"'),
    alias("io.gfile.get_registered_schemes()", '["", "file"]', ""),
    alias(
        "logging.debug(msg, *args, **kwargs)", "logs.logger().debug(msg, *args, **kwargs)", '"step %d of %d", 3, 100'
    ),
    alias("logging.info(msg, *args, **kwargs)", "logs.logger().info(msg, *args, **kwargs)", '"step %d", 3'),
    alias("logging.warn(msg, *args, **kwargs)", "logs.logger().warning(msg, *args, **kwargs)", '"step %d", 3'),
    alias("logging.warning(msg, *args, **kwargs)", "logs.logger().warning(msg, *args, **kwargs)", '"step %d", 3'),
    alias("logging.error(msg, *args, **kwargs)", "logs.logger().error(msg, *args, **kwargs)", '"step %d", 3'),
    alias("logging.fatal(msg, *args, **kwargs)", "logs.logger().critical(msg, *args, **kwargs)", '"step %d", 3'),
    alias("logging.TaskLevelStatusMessage(msg)", "logs.logger().error(msg)", '"done"'),
    alias(
        "logging.log(level, msg, *args, **kwargs)",
        "logs.logger().log(level, msg, *args, **kwargs)",
        'tf.logging.INFO, "step %d", 3',
    ),
    alias(
        "logging.vlog(level, msg, *args, **kwargs)", "logs.logger().log(level, msg, *args, **kwargs)", '1, "step %d", 3'
    ),
    alias(
        "logging.log_if(level, msg, condition, *args)",
        "logs.log_if(level, msg, condition, *args)",
        'tf.logging.INFO, "step %d", True, 3',
    ),
    alias(
        "logging.log_first_n(level, msg, n, *args)",
        "logs.log_first(level, msg, n, *args)",
        'tf.logging.INFO, "step %d", 10, 3',
    ),
    alias(
        "logging.log_every_n(level, msg, n, *args)",
        "logs.log_every(level, msg, n, *args)",
        'tf.logging.INFO, "step %d", 100, 3',
    ),
    alias("logging.flush()", "logs.flush()", ""),
    alias("logging.get_verbosity()", "logs.logger().level", ""),
    alias("logging.set_verbosity(v)", "logs.logger().setLevel(v)", "tf.logging.INFO"),
    alias("get_logger()", "logs.logger()", ""),
    alias("app.run(main=None, argv=None)", "flags.run(main, argv)", "lambda argv: print(argv)"),
    _define("string"),
    _define("integer"),
    _define("float"),
    _define("boolean"),
    _define("bool"),
    alias("errors.exception_type_from_error_code(error_code)", "errors.error_of_code(error_code)", "11"),
    alias("errors.error_code_from_exception_type(cls)", "errors.code_of(cls)", "tf.errors.OutOfRangeError"),
)
