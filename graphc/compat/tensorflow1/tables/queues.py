"""Rows: queues, readers and records. ``in_default_graph`` makes them in the graph that functions add nodes to."""

from graphc.compat.alias import alias

ROWS = (
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
)
"""Rows that make no single operation: their own methods do, and name them."""

OPERATIONS = (
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
"""Rows that make operations."""
