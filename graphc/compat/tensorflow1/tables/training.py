"""Rows: queues and readers, what fills them, learning rates, summaries and checkpoints."""

from graphc.compat.alias import alias

OTHERS = (
    # Queues, readers and records. ``in_default_graph`` makes them in the graph that functions add nodes to.
    alias(
        'FIFOQueue queue.FIFOQueue(capacity, dtypes, shapes=None, names=None, shared_name=None, name="fifo_queue")',
        "in_default_graph(queues.FIFOQueue, ..., name)",
        "10, [tf.float32, tf.int32], shapes=[[2], []]",
    ),
    alias(
        "RandomShuffleQueue io.RandomShuffleQueue queue.RandomShuffleQueue(capacity, min_after_dequeue, dtypes, "
        'shapes=None, names=None, seed=None, shared_name=None, name="random_shuffle_queue")',
        "in_default_graph(queues.RandomShuffleQueue, ..., name)",
        "10, 2, tf.float32",
    ),
    alias(
        "PaddingFIFOQueue io.PaddingFIFOQueue queue.PaddingFIFOQueue(capacity, dtypes, shapes, names=None, "
        'shared_name=None, name="padding_fifo_queue")',
        "in_default_graph(queues.PaddingFIFOQueue, ..., name)",
        "10, tf.float32, [(None,)]",
    ),
    alias(
        "TextLineReader(skip_header_lines=None, name=None)",
        "in_default_graph(queues.TextLineReader, skip_header_lines, name)",
        "skip_header_lines=1",
    ),
    alias("WholeFileReader(name=None)", "in_default_graph(queues.WholeFileReader, name)", ""),
    alias(
        "FixedLengthRecordReader(record_bytes, header_bytes=None, footer_bytes=None, hop_bytes=None, name=None, "
        "encoding=None)",
        "in_default_graph(queues.FixedLengthRecordReader, record_bytes, header_bytes, footer_bytes, hop_bytes, name, "
        "encoding)",
        "4",
    ),
    alias("TFRecordReader(name=None, options=None)", "in_default_graph(queues.TFRecordReader, name, options)", ""),
    alias(
        'train.add_queue_runner train.queue_runner.add_queue_runner(qr, collection="queue_runners")',
        "session.add_queue_runner(qr, collection)",
        "tf.train.QueueRunner(queue, [enqueue])",
    ),
    alias(
        "train.start_queue_runners train.queue_runner.start_queue_runners(sess=None, coord=None, daemon=True, "
        'start=True, collection="queue_runners")',
        "session.start_queue_runners(...)",
        "sess, tf.train.Coordinator()",
    ),
    alias(
        "io.tf_record_iterator python_io.tf_record_iterator(path, options=None)",
        "queues.tf_record_iterator(path, options)",
        '"a.tfrecord"',
    ),
    # What fills queues with a program's input, and accumulators of gradients.
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
    # Learning rates and global steps.
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
    # Summaries and checkpoints.
    alias(
        "summary.scalar(name, tensor, collections=None, family=None)",
        "session.summaries.scalar(name, tensor, collections, family)",
        '"loss", tf.constant(1.0)',
    ),
    alias(
        "summary.histogram(name, values, collections=None, family=None)",
        "session.summaries.histogram(name, values, collections, family)",
        '"weights", tf.constant([1.0, 2.0])',
    ),
    alias(
        "summary.merge(inputs, collections=None, name=None)",
        "session.summaries.merge(inputs, collections, name)",
        '[tf.summary.scalar("loss", tf.constant(1.0))]',
    ),
    alias(
        'summary.merge_all(key="summaries", scope=None, name=None)', "session.summaries.merge_all(key, scope, name)", ""
    ),
    alias(
        "train.latest_checkpoint(checkpoint_dir, latest_filename=None)",
        "session.checkpoints.latest_checkpoint(checkpoint_dir, latest_filename)",
        '"folder"',
    ),
    alias(
        "train.get_checkpoint_state(checkpoint_dir, latest_filename=None)",
        "session.checkpoints.get_checkpoint_state(checkpoint_dir, latest_filename)",
        '"folder"',
    ),
    alias(
        "train.update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, "
        "latest_filename=None, all_model_checkpoint_timestamps=None, last_preserved_timestamp=None)",
        "session.checkpoints.update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths, "
        "latest_filename)",
        '"folder", "folder/model-1"',
    ),
    alias(
        "train.checkpoint_exists(checkpoint_prefix)",
        "session.checkpoints.checkpoint_exists(checkpoint_prefix)",
        '"folder/model-1"',
    ),
    alias(
        "train.load_checkpoint(ckpt_dir_or_file)", "session.checkpoints.load_checkpoint(ckpt_dir_or_file)", '"folder"'
    ),
    alias(
        "train.NewCheckpointReader(filepattern)",
        "session.checkpoints.CheckpointReader(filepattern)",
        '"folder/model-1"',
    ),
    alias("train.list_variables(ckpt_dir_or_file)", "session.checkpoints.list_variables(ckpt_dir_or_file)", '"folder"'),
    alias(
        "train.load_variable(ckpt_dir_or_file, name)",
        "session.checkpoints.load_variable(ckpt_dir_or_file, name)",
        '"folder", "w"',
    ),
)

OPERATIONS = (
    # Queues, readers and records. ``in_default_graph`` makes them in the graph that functions add nodes to.
    alias(
        "decode_raw io.decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None)",
        'gx.strings.decode_raw(needed("tf.decode_raw()", "input_bytes", input_bytes, "bytes", bytes), out_type, '
        "little_endian)",
        '"abcd", tf.uint8',
    ),
    alias(
        "parse_example io.parse_example(serialized, features, name=None, example_names=None)",
        "queues.parse_example(serialized, features, example_names)",
        'tf.constant([b""]), {"a": tf.FixedLenFeature([], tf.int64, 3)}',
    ),
    alias(
        "parse_single_example io.parse_single_example(serialized, features, name=None, example_names=None)",
        "queues.parse_single_example(serialized, features, example_names)",
        'tf.constant(b""), {"a": tf.FixedLenFeature([], tf.int64, 3)}',
    ),
)
