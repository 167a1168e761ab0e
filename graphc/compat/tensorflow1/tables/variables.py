"""Rows: Variables of graphs, their scopes, initializers and assignments."""

from graphc.compat.alias import alias

ROWS = (
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
)
