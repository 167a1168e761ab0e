"""Rows: learning rates and global steps."""

from graphc.compat.alias import alias

ROWS = (
    alias(
        "train.exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None)",
        "in_default_graph(session.exponential_decay, ..., name)",
        "0.1, tf.train.get_or_create_global_step(), 100, 0.9",
    ),
    alias(
        "train.polynomial_decay(learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0, "
        "cycle=False, name=None)",
        "in_default_graph(session.polynomial_decay, ..., name)",
        "0.1, tf.train.get_or_create_global_step(), 100",
    ),
    alias(
        "train.cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None)",
        "in_default_graph(session.cosine_decay, ..., name)",
        "0.1, tf.train.get_or_create_global_step(), 100",
    ),
    alias(
        "train.piecewise_constant train.piecewise_constant_decay(x, boundaries, values, name=None)",
        "in_default_graph(session.piecewise_constant, x, boundaries, values, name)",
        "tf.train.get_or_create_global_step(), [10, 20], [0.1, 0.05, 0.01]",
    ),
    alias("train.create_global_step(graph=None)", "session.create_global_step(graph)", ""),
    alias("train.get_global_step(graph=None)", "session.get_global_step(graph)", ""),
    alias("train.get_or_create_global_step(graph=None)", "session.get_or_create_global_step(graph)", ""),
    alias(
        "train.assert_global_step(global_step_tensor)",
        "session.assert_global_step(global_step_tensor)",
        "tf.train.get_or_create_global_step()",
    ),
    alias(
        "train.global_step(sess, global_step_tensor)",
        "session.global_step(sess, global_step_tensor)",
        "sess, tf.train.get_or_create_global_step()",
    ),
)
