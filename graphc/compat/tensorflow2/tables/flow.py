"""Rows: functions, control flow, placement, checks and calls of Python."""

from graphc.compat.alias import alias

ROWS = (
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
)
