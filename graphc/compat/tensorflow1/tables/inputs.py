"""Rows: what fills queues with a program's input, and accumulators of gradients."""

from graphc.compat.alias import alias

ROWS = (
    alias(
        "train.batch(tensors, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None, "
        "dynamic_pad=False, allow_smaller_final_batch=False, shared_name=None, name=None)",
        "in_default_graph(session.producers.batch, ..., name)",
        "[tf.constant(1.0)], 4",
    ),
    alias(
        "train.batch_join(tensors_list, batch_size, capacity=32, enqueue_many=False, shapes=None, "
        "dynamic_pad=False, allow_smaller_final_batch=False, shared_name=None, name=None)",
        "in_default_graph(session.producers.batch_join, ..., name)",
        "[[tf.constant(1.0)]], 4",
    ),
    alias(
        "train.shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, num_threads=1, seed=None, "
        "enqueue_many=False, shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None)",
        "in_default_graph(session.producers.shuffle_batch, ..., name)",
        "[tf.constant(1.0)], 4, 16, 8",
    ),
    alias(
        "train.shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, seed=None, "
        "enqueue_many=False, shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None)",
        "in_default_graph(session.producers.shuffle_batch_join, ..., name)",
        "[[tf.constant(1.0)]], 4, 16, 8",
    ),
    alias(
        "train.input_producer(input_tensor, element_shape=None, num_epochs=None, shuffle=True, seed=None, "
        "capacity=32, shared_name=None, summary_name=None, name=None, cancel_op=None)",
        "in_default_graph(session.producers.input_producer, input_tensor, element_shape, num_epochs, shuffle, "
        "seed, capacity, shared_name, summary_name, name, cancel_op)",
        "[1.0, 2.0]",
    ),
    alias(
        "train.limit_epochs(tensor, num_epochs=None, name=None)",
        "in_default_graph(session.producers.limit_epochs, tensor, num_epochs, name)",
        "tf.constant(1.0), 2",
    ),
    alias(
        "train.range_input_producer(limit, num_epochs=None, shuffle=True, seed=None, capacity=32, "
        "shared_name=None, name=None)",
        "in_default_graph(session.producers.range_input_producer, ..., name)",
        "5",
    ),
    alias(
        "train.slice_input_producer(tensor_list, num_epochs=None, shuffle=True, seed=None, capacity=32, "
        "shared_name=None, name=None)",
        "in_default_graph(session.producers.slice_input_producer, ..., name)",
        "[[1.0, 2.0], [3, 4]]",
    ),
    alias(
        "train.string_input_producer(string_tensor, num_epochs=None, shuffle=True, seed=None, capacity=32, "
        "shared_name=None, name=None, cancel_op=None)",
        "in_default_graph(session.producers.string_input_producer, string_tensor, num_epochs, shuffle, seed, "
        "capacity, shared_name, name, cancel_op)",
        '["a.csv", "b.csv"]',
    ),
    alias(
        "io.match_filenames_once train.match_filenames_once(pattern, name=None)",
        "in_default_graph(session.producers.match_filenames_once, pattern, name)",
        '"*.csv"',
    ),
    alias(
        'ConditionalAccumulator(dtype, shape=None, shared_name=None, name="conditional_accumulator", '
        'reduction_type="MEAN")',
        "in_default_graph(queues.ConditionalAccumulator, dtype, shape, shared_name, name, reduction_type)",
        "tf.float32, [2]",
    ),
)
