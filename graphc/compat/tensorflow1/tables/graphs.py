"""Rows: graphs, Sessions, Variables and files. ``session.f`` is a function of graphs that are built by hand."""

from graphc.compat.alias import rows

OTHERS = rows(r"""
# Graphs, Sessions and what they are made of. ``session.f`` is a function of graphs that are built by hand.
placeholder(dtype, shape=None, name=None) => session.placeholder(dtype, shape, name) e.g. tf.float32, (None, 2)
placeholder_with_default(input, shape, name=None)
    => session.placeholder_with_default(input, shape, name) e.g. [1.0, 2.0], (None,)
constant(value, dtype=None, shape=None, name="Const", verify_shape=False)
    => session.constant(value if verify_shape else filled(value, shape), dtype, shape, name, verify_shape)
    e.g. [1, 2, 3], shape=[2, 2]
convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None)
    => session.convert_to_tensor(value, dtype, name, either("dtype_hint", dtype_hint, "preferred_dtype",
        preferred_dtype)) e.g. [1.0, 2.0], dtype=tf.float32
name_scope(name, default_name=None, values=None)
    => session.graph_of(values or ()).name_scope(default_name if name is None else name) e.g. "layer"
no_op(name=None) => session.no_op(name)
group(*inputs, **kwargs) => session.group(*inputs, **kwargs) e.g. tf.constant(1.0), tf.no_op()
tuple(tensors, name=None, control_inputs=None)
    => session.tuple(tensors, name, control_inputs) e.g. [tf.constant(1.0), tf.constant(2.0)]
control_dependencies(control_inputs) => session.default_graph().control_dependencies(control_inputs) e.g. [tf.no_op()]
device(device_name_or_function) => session.default_graph().device(device_name_or_function) e.g. "/cpu:0"
container(container_name) => session.default_graph().container(container_name) e.g. "shared"
colocate_with(op, ignore_existing=False) => session.default_graph().colocate_with(op, ignore_existing) e.g. tf.no_op()
cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None)
    => session.cond(pred, true_fn, false_fn, strict, name, fn1, fn2)
    e.g. tf.constant(True), lambda: tf.constant(1.0), lambda: tf.constant(2.0)
case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case")
    => session.case(..., name) e.g. [(tf.constant(False), lambda: tf.constant(1.0))], default=lambda: tf.constant(3.0)
while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
        name=None, maximum_iterations=None, return_same_structure=False)
    => session.while_loop(cond, body, loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, name,
        maximum_iterations, return_same_structure) e.g. lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), (0, 1.0)
py_func(func, inp, Tout, stateful=True, name=None) => session.py_func(..., name) e.g. lambda x: x + 1, [2.0], tf.float32
numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None)
    => session.py_func(..., name) e.g. lambda x: x + 1, [2.0], tf.float32
py_function(func=None, inp=None, Tout=None, name=None)
    => session.py_func(func, inp, Tout, True, name) e.g. lambda x: x + 1, [2.0], tf.float32
read_file io.read_file(filename, name=None) => session.host_functions.read_file(filename, name) e.g. "a.txt"
write_file io.write_file(filename, contents, name=None)
    => session.host_functions.write_file(filename, contents, name) e.g. "a.txt", "text"
matching_files io.matching_files(pattern, name=None)
    => session.host_functions.matching_files(pattern, name) e.g. "*.txt"
timestamp(name=None) => session.host_functions.timestamp(name)
tables_initializer initializers.tables_initializer(name="init_all_tables") => session.no_op(name)
initialize_all_tables(name="init_all_tables") => session.no_op(name)
Print(input_, data, message=None, first_n=None, summarize=None, name=None)
    => session.Print(..., name) e.g. tf.constant(1.0), ["x"]
print(*inputs, **kwargs) => session.print_op(*inputs, name=kwargs.get("name")) e.g. "x", 1.0
Assert debugging.Assert(condition, data, summarize=None, name=None)
    => session.Assert(condition, data, summarize, name) e.g. True, ["never"]
gradients(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False, gate_gradients=False,
        aggregation_method=None, stop_gradients=None, unconnected_gradients="none")
    => session.gradients(ys, xs, grad_ys, name, colocate_gradients_with_ops, gate_gradients, aggregation_method,
        stop_gradients, unconnected_gradients) e.g. x * x, [x]
boolean_mask(tensor, mask, name="boolean_mask", axis=None)
    => session.by_value.boolean_mask(tensor, mask, axis, name) e.g. [[1.0, 2.0], [3.0, 4.0]], [True, False]
dynamic_partition(data, partitions, num_partitions, name=None)
    => session.by_value.dynamic_partition(data, partitions, num_partitions, name) e.g. [1.0, 2.0, 3.0], [1, 0, 1], 2
unique(x, out_idx=int32, name=None) => session.by_value.unique(x, out_idx, name) e.g. [3.0, 1.0, 3.0]
unique_with_counts(x, out_idx=int32, name=None)
    => session.by_value.unique_with_counts(x, out_idx, name) e.g. [3.0, 1.0, 3.0]
get_default_graph() => session.default_graph()
get_default_session() => session.stacks.default_session
reset_default_graph() => session.reset_default_graph()
add_to_collection(name, value) => session.default_graph().add_to_collection(name, value) e.g. "losses", tf.constant(1.0)
add_to_collections(names, value)
    => session.default_graph().add_to_collections(names, value) e.g. ["a", "b"], tf.constant(1.0)
get_collection(key, scope=None) => session.default_graph().get_collection(key, scope) e.g. "losses"
get_collection_ref(key) => session.default_graph().get_collection_ref(key) e.g. "losses"
set_random_seed random.set_random_seed(seed) => setattr(session.default_graph(), "seed", seed) e.g. 42
executing_eagerly() => False
executing_eagerly_outside_functions() => False
resource_variables_enabled() => True
control_flow_v2_enabled() => False
disable_eager_execution() => None
disable_v2_behavior() => None
disable_resource_variables() => None
enable_resource_variables() => None
disable_v2_tensorshape() => None
disable_control_flow_v2() => None
disable_tensor_equality() => None
# Variables of graphs, their scopes, initializers and assignments.
get_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, collections=None,
        caching_device=None, partitioner=None, validate_shape=True, use_resource=None, custom_getter=None,
        constraint=None, synchronization=0, aggregation=0)
    => session.get_variable(name, ...) e.g. "w", [2, 3]
get_local_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=False, collections=None,
        caching_device=None, partitioner=None, validate_shape=True, use_resource=None, custom_getter=None,
        constraint=None, synchronization=0, aggregation=0)
    => session.get_local_variable(name, shape, dtype, initializer=initializer, regularizer=regularizer,
        collections=collections, validate_shape=validate_shape, custom_getter=custom_getter, constraint=constraint)
    e.g. "count", [], tf.int32
variable_scope(name_or_scope, default_name=None, values=None, initializer=None, regularizer=None, caching_device=None,
        partitioner=None, custom_getter=None, reuse=None, dtype=None, use_resource=None, constraint=None,
        auxiliary_name_scope=True)
    => session.variable_scope(...) e.g. "layer", reuse=tf.AUTO_REUSE
variable_op_scope(values, name_or_scope, default_name=None, initializer=None, regularizer=None, caching_device=None,
        partitioner=None, custom_getter=None, reuse=None, dtype=None, use_resource=None, constraint=None)
    => session.variable_scope(name_or_scope, default_name, values, initializer, regularizer, caching_device,
        partitioner, custom_getter, reuse, dtype, use_resource, constraint) e.g. [], "layer"
get_variable_scope() => session.get_variable_scope()
no_regularizer(_) => session.no_regularizer(_) e.g. None
global_variables(scope=None) => session.global_variables(scope)
local_variables(scope=None) => session.local_variables(scope)
trainable_variables(scope=None) => session.trainable_variables(scope)
model_variables(scope=None) => session.model_variables(scope)
moving_average_variables(scope=None) => session.moving_average_variables(scope)
all_variables() => session.all_variables()
global_variables_initializer initializers.global_variables() => session.global_variables_initializer()
local_variables_initializer initializers.local_variables() => session.local_variables_initializer()
variables_initializer initializers.variables(var_list, name="init")
    => session.variables_initializer(var_list, name) e.g. [v]
initialize_all_variables() => session.initialize_all_variables()
initialize_local_variables() => session.initialize_local_variables()
initialize_variables(var_list, name="init") => session.initialize_variables(var_list, name) e.g. [v]
is_variable_initialized(variable) => session.is_variable_initialized(variable) e.g. v
report_uninitialized_variables(var_list=None, name="report_uninitialized_variables")
    => session.report_uninitialized_variables(var_list, name)
assert_variables_initialized(var_list=None) => session.assert_variables_initialized(var_list)
assign(ref, value, validate_shape=None, use_locking=None, name=None)
    => session.assign(..., name) e.g. v, [4.0, 5.0, 6.0]
assign_add(ref, value, use_locking=None, name=None) => session.assign_add(ref, value, use_locking, name) e.g. v, 1.0
assign_sub(ref, value, use_locking=None, name=None) => session.assign_sub(ref, value, use_locking, name) e.g. v, 1.0
count_up_to(ref, limit, name=None) => session.count_up_to(ref, limit, name) e.g. tf.Variable(0), 3
scatter_update(ref, indices, updates, use_locking=True, name=None)
    => session.scatter_update(..., name) e.g. v, [0], [1.0]
scatter_add(ref, indices, updates, use_locking=False, name=None) => session.scatter_add(..., name) e.g. v, [0], [1.0]
scatter_sub(ref, indices, updates, use_locking=False, name=None) => session.scatter_sub(..., name) e.g. v, [0], [1.0]
scatter_mul(ref, indices, updates, use_locking=False, name=None) => session.scatter_mul(..., name) e.g. v, [0], [1.0]
scatter_div(ref, indices, updates, use_locking=False, name=None) => session.scatter_div(..., name) e.g. v, [0], [1.0]
scatter_max(ref, indices, updates, use_locking=False, name=None) => session.scatter_max(..., name) e.g. v, [0], [1.0]
scatter_min(ref, indices, updates, use_locking=False, name=None) => session.scatter_min(..., name) e.g. v, [0], [1.0]
scatter_nd_update(ref, indices, updates, use_locking=True, name=None)
    => session.scatter_nd_update(..., name) e.g. v, [[0]], [1.0]
scatter_nd_add(ref, indices, updates, use_locking=False, name=None)
    => session.scatter_nd_add(..., name) e.g. v, [[0]], [1.0]
scatter_nd_sub(ref, indices, updates, use_locking=False, name=None)
    => session.scatter_nd_sub(..., name) e.g. v, [[0]], [1.0]
initializers.he_normal(seed=None) => session.he_normal(seed)
initializers.he_uniform(seed=None) => session.he_uniform(seed)
initializers.lecun_normal(seed=None) => session.lecun_normal(seed)
initializers.lecun_uniform(seed=None) => session.lecun_uniform(seed)
# Files, log lines, flags, the start of a program, codes of errors. None of them makes an operation.
gfile.Copy(oldpath, newpath, overwrite=False) => files.copy(oldpath, newpath, overwrite) e.g. "a.txt", "b.txt"
gfile.DeleteRecursively(dirname) => files.remove_tree(dirname) e.g. "folder"
gfile.Exists(filename) => files.exists(filename) e.g. "a.txt"
gfile.Glob(filename) => files.glob(filename) e.g. "*.txt"
gfile.IsDirectory(dirname) => files.is_directory(dirname) e.g. "folder"
gfile.ListDirectory(dirname) => files.list_directory(dirname) e.g. "folder"
gfile.MakeDirs(dirname) => files.make_directories(dirname) e.g. "folder/inner"
gfile.MkDir(dirname) => files.make_directory(dirname) e.g. "folder"
gfile.Remove(filename) => files.remove(filename) e.g. "a.txt"
gfile.Rename(oldname, newname, overwrite=False) => files.rename(oldname, newname, overwrite) e.g. "a.txt", "b.txt"
gfile.Stat(filename) => files.stat(filename) e.g. "a.txt"
gfile.Walk(top, in_order=True) => files.walk(top, in_order) e.g. "folder"
io.gfile.copy(src, dst, overwrite=False) => files.copy(src, dst, overwrite) e.g. "a.txt", "b.txt"
io.gfile.exists(path) => files.exists(path) e.g. "a.txt"
io.gfile.glob(pattern) => files.glob(pattern) e.g. "*.txt"
io.gfile.isdir(path) => files.is_directory(path) e.g. "folder"
io.gfile.join(path, *paths) => os.path.join(path, *paths) e.g. "folder", "a.txt"
io.gfile.listdir(path) => files.list_directory(path) e.g. "folder"
io.gfile.makedirs(path) => files.make_directories(path) e.g. "folder/inner"
io.gfile.mkdir(path) => files.make_directory(path) e.g. "folder"
io.gfile.remove(path) => files.remove(path) e.g. "a.txt"
io.gfile.rename(src, dst, overwrite=False) => files.rename(src, dst, overwrite) e.g. "a.txt", "b.txt"
io.gfile.rmtree(path) => files.remove_tree(path) e.g. "folder"
io.gfile.stat(path) => files.stat(path) e.g. "a.txt"
io.gfile.walk(top, topdown=True, onerror=None) => files.walk(top, topdown) e.g. "folder"
io.gfile.get_registered_schemes() => ["", "file"]
logging.debug(msg, *args, **kwargs) => logs.logger().debug(msg, *args, **kwargs) e.g. "step %d of %d", 3, 100
logging.info(msg, *args, **kwargs) => logs.logger().info(msg, *args, **kwargs) e.g. "step %d", 3
logging.warn(msg, *args, **kwargs) => logs.logger().warning(msg, *args, **kwargs) e.g. "step %d", 3
logging.warning(msg, *args, **kwargs) => logs.logger().warning(msg, *args, **kwargs) e.g. "step %d", 3
logging.error(msg, *args, **kwargs) => logs.logger().error(msg, *args, **kwargs) e.g. "step %d", 3
logging.fatal(msg, *args, **kwargs) => logs.logger().critical(msg, *args, **kwargs) e.g. "step %d", 3
logging.TaskLevelStatusMessage(msg) => logs.logger().error(msg) e.g. "done"
logging.log(level, msg, *args, **kwargs)
    => logs.logger().log(level, msg, *args, **kwargs) e.g. tf.logging.INFO, "step %d", 3
logging.vlog(level, msg, *args, **kwargs) => logs.logger().log(level, msg, *args, **kwargs) e.g. 1, "step %d", 3
logging.log_if(level, msg, condition, *args)
    => logs.log_if(level, msg, condition, *args) e.g. tf.logging.INFO, "step %d", True, 3
logging.log_first_n(level, msg, n, *args) => logs.log_first(level, msg, n, *args) e.g. tf.logging.INFO, "step %d", 10, 3
logging.log_every_n(level, msg, n, *args)
    => logs.log_every(level, msg, n, *args) e.g. tf.logging.INFO, "step %d", 100, 3
logging.flush() => logs.flush()
logging.get_verbosity() => logs.logger().level
logging.set_verbosity(v) => logs.logger().setLevel(v) e.g. tf.logging.INFO
get_logger() => logs.logger()
app.run(main=None, argv=None) => flags.run(main, argv) e.g. lambda argv: print(argv)
flags.DEFINE_string app.flags.DEFINE_string(*args, **kwargs)
    => flags.define("string", *args, **kwargs) e.g. "steps", None, "how many"
flags.DEFINE_integer app.flags.DEFINE_integer(*args, **kwargs)
    => flags.define("integer", *args, **kwargs) e.g. "steps", None, "how many"
flags.DEFINE_float app.flags.DEFINE_float(*args, **kwargs)
    => flags.define("float", *args, **kwargs) e.g. "steps", None, "how many"
flags.DEFINE_boolean app.flags.DEFINE_boolean(*args, **kwargs)
    => flags.define("boolean", *args, **kwargs) e.g. "steps", None, "how many"
flags.DEFINE_bool app.flags.DEFINE_bool(*args, **kwargs)
    => flags.define("boolean", *args, **kwargs) e.g. "steps", None, "how many"
errors.exception_type_from_error_code(error_code) => errors.error_of_code(error_code) e.g. 11
errors.error_code_from_exception_type(cls) => errors.code_of(cls) e.g. tf.errors.OutOfRangeError
""")
