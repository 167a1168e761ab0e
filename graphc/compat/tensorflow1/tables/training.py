"""Rows: queues and readers, what fills them, learning rates, summaries and checkpoints."""

from graphc.compat.alias import rows

OTHERS = rows(r"""
# Queues, readers and records. ``in_default_graph`` makes them in the graph that functions add nodes to.
FIFOQueue queue.FIFOQueue(capacity, dtypes, shapes=None, names=None, shared_name=None, name="fifo_queue")
    => in_default_graph(queues.FIFOQueue, ..., name) e.g. 10, [tf.float32, tf.int32], shapes=[[2], []]
RandomShuffleQueue io.RandomShuffleQueue queue.RandomShuffleQueue(capacity, min_after_dequeue, dtypes, shapes=None,
        names=None, seed=None, shared_name=None, name="random_shuffle_queue")
    => in_default_graph(queues.RandomShuffleQueue, ..., name) e.g. 10, 2, tf.float32
PaddingFIFOQueue io.PaddingFIFOQueue queue.PaddingFIFOQueue(capacity, dtypes, shapes, names=None, shared_name=None,
        name="padding_fifo_queue")
    => in_default_graph(queues.PaddingFIFOQueue, ..., name) e.g. 10, tf.float32, [(None,)]
TextLineReader(skip_header_lines=None, name=None)
    => in_default_graph(queues.TextLineReader, skip_header_lines, name) e.g. skip_header_lines=1
WholeFileReader(name=None) => in_default_graph(queues.WholeFileReader, name)
FixedLengthRecordReader(record_bytes, header_bytes=None, footer_bytes=None, hop_bytes=None, name=None, encoding=None)
    => in_default_graph(queues.FixedLengthRecordReader, record_bytes, header_bytes, footer_bytes, hop_bytes, name,
        encoding) e.g. 4
TFRecordReader(name=None, options=None) => in_default_graph(queues.TFRecordReader, name, options)
train.add_queue_runner train.queue_runner.add_queue_runner(qr, collection="queue_runners")
    => session.add_queue_runner(qr, collection) e.g. tf.train.QueueRunner(queue, [enqueue])
train.start_queue_runners train.queue_runner.start_queue_runners(sess=None, coord=None, daemon=True, start=True,
        collection="queue_runners")
    => session.start_queue_runners(...) e.g. sess, tf.train.Coordinator()
io.tf_record_iterator python_io.tf_record_iterator(path, options=None)
    => queues.tf_record_iterator(path, options) e.g. "a.tfrecord"
# What fills queues with a program's input, and accumulators of gradients.
train.batch(tensors, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
        allow_smaller_final_batch=False, shared_name=None, name=None)
    => in_default_graph(session.producers.batch, ..., name) e.g. [tf.constant(1.0)], 4
train.batch_join(tensors_list, batch_size, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
        allow_smaller_final_batch=False, shared_name=None, name=None)
    => in_default_graph(session.producers.batch_join, ..., name) e.g. [[tf.constant(1.0)]], 4
train.shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, num_threads=1, seed=None, enqueue_many=False,
        shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None)
    => in_default_graph(session.producers.shuffle_batch, ..., name) e.g. [tf.constant(1.0)], 4, 16, 8
train.shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, seed=None, enqueue_many=False,
        shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None)
    => in_default_graph(session.producers.shuffle_batch_join, ..., name) e.g. [[tf.constant(1.0)]], 4, 16, 8
train.input_producer(input_tensor, element_shape=None, num_epochs=None, shuffle=True, seed=None, capacity=32,
        shared_name=None, summary_name=None, name=None, cancel_op=None)
    => in_default_graph(session.producers.input_producer, input_tensor, element_shape, num_epochs, shuffle, seed,
        capacity, shared_name, summary_name, name, cancel_op) e.g. [1.0, 2.0]
train.limit_epochs(tensor, num_epochs=None, name=None)
    => in_default_graph(session.producers.limit_epochs, tensor, num_epochs, name) e.g. tf.constant(1.0), 2
train.range_input_producer(limit, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None)
    => in_default_graph(session.producers.range_input_producer, ..., name) e.g. 5
train.slice_input_producer(tensor_list, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None,
        name=None)
    => in_default_graph(session.producers.slice_input_producer, ..., name) e.g. [[1.0, 2.0], [3, 4]]
train.string_input_producer(string_tensor, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None,
        name=None, cancel_op=None)
    => in_default_graph(session.producers.string_input_producer, string_tensor, num_epochs, shuffle, seed, capacity,
        shared_name, name, cancel_op) e.g. ["a.csv", "b.csv"]
io.match_filenames_once train.match_filenames_once(pattern, name=None)
    => in_default_graph(session.producers.match_filenames_once, pattern, name) e.g. "*.csv"
ConditionalAccumulator(dtype, shape=None, shared_name=None, name="conditional_accumulator", reduction_type="MEAN")
    => in_default_graph(queues.ConditionalAccumulator, dtype, shape, shared_name, name, reduction_type)
    e.g. tf.float32, [2]
# Learning rates and global steps.
train.exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None)
    => in_default_graph(session.exponential_decay, ..., name) e.g. 0.1, tf.train.get_or_create_global_step(), 100, 0.9
train.polynomial_decay(learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False,
        name=None)
    => in_default_graph(session.polynomial_decay, ..., name) e.g. 0.1, tf.train.get_or_create_global_step(), 100
train.cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None)
    => in_default_graph(session.cosine_decay, ..., name) e.g. 0.1, tf.train.get_or_create_global_step(), 100
train.piecewise_constant train.piecewise_constant_decay(x, boundaries, values, name=None)
    => in_default_graph(session.piecewise_constant, x, boundaries, values, name)
    e.g. tf.train.get_or_create_global_step(), [10, 20], [0.1, 0.05, 0.01]
train.create_global_step(graph=None) => session.create_global_step(graph)
train.get_global_step(graph=None) => session.get_global_step(graph)
train.get_or_create_global_step(graph=None) => session.get_or_create_global_step(graph)
train.assert_global_step(global_step_tensor)
    => session.assert_global_step(global_step_tensor) e.g. tf.train.get_or_create_global_step()
train.global_step(sess, global_step_tensor)
    => session.global_step(sess, global_step_tensor) e.g. sess, tf.train.get_or_create_global_step()
# Summaries and checkpoints.
summary.scalar(name, tensor, collections=None, family=None)
    => session.summaries.scalar(name, tensor, collections, family) e.g. "loss", tf.constant(1.0)
summary.histogram(name, values, collections=None, family=None)
    => session.summaries.histogram(name, values, collections, family) e.g. "weights", tf.constant([1.0, 2.0])
summary.merge(inputs, collections=None, name=None)
    => session.summaries.merge(inputs, collections, name) e.g. [tf.summary.scalar("loss", tf.constant(1.0))]
summary.merge_all(key="summaries", scope=None, name=None) => session.summaries.merge_all(key, scope, name)
train.latest_checkpoint(checkpoint_dir, latest_filename=None)
    => session.checkpoints.latest_checkpoint(checkpoint_dir, latest_filename) e.g. "folder"
train.get_checkpoint_state(checkpoint_dir, latest_filename=None)
    => session.checkpoints.get_checkpoint_state(checkpoint_dir, latest_filename) e.g. "folder"
train.update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, latest_filename=None,
        all_model_checkpoint_timestamps=None, last_preserved_timestamp=None)
    => session.checkpoints.update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths,
        latest_filename) e.g. "folder", "folder/model-1"
train.checkpoint_exists(checkpoint_prefix)
    => session.checkpoints.checkpoint_exists(checkpoint_prefix) e.g. "folder/model-1"
train.load_checkpoint(ckpt_dir_or_file) => session.checkpoints.load_checkpoint(ckpt_dir_or_file) e.g. "folder"
train.NewCheckpointReader(filepattern) => session.checkpoints.CheckpointReader(filepattern) e.g. "folder/model-1"
train.list_variables(ckpt_dir_or_file) => session.checkpoints.list_variables(ckpt_dir_or_file) e.g. "folder"
train.load_variable(ckpt_dir_or_file, name)
    => session.checkpoints.load_variable(ckpt_dir_or_file, name) e.g. "folder", "w"
""")

OPERATIONS = rows(r"""
# Queues, readers and records. ``in_default_graph`` makes them in the graph that functions add nodes to.
decode_raw io.decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None)
    => gx.strings.decode_raw(needed("tf.decode_raw()", "input_bytes", input_bytes, "bytes", bytes), out_type,
        little_endian) e.g. "abcd", tf.uint8
parse_example io.parse_example(serialized, features, name=None, example_names=None)
    => queues.parse_example(serialized, features, example_names)
    e.g. tf.constant([b""]), {"a": tf.FixedLenFeature([], tf.int64, 3)}
parse_single_example io.parse_single_example(serialized, features, name=None, example_names=None)
    => queues.parse_single_example(serialized, features, example_names)
    e.g. tf.constant(b""), {"a": tf.FixedLenFeature([], tf.int64, 3)}
""")
