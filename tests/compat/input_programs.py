"""Input pipelines of TensorFlow 1 and what they give, for ``test_tensorflow1_inputs.py``.

Run by itself in an environment with TensorFlow, ``python tests/compat/input_programs.py``, it writes what TensorFlow
gives to ``tensorflow1_inputs.txt`` beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

CSV = 'a,b,c\n1,2,x\n3,,\n5,6,"q,r"\n'
MESSAGES = (
    "0a2e0a0d0a017312080a060a01610a01620a0a0a016e12051a030a01030a110a0178120c120a0a080000803f00000040",
    "0a1f0a0a0a017312050a030a01630a110a0178120c120a0a080000404000008040",
)
"""Example messages of x: [1, 2], n: 3, s: [a, b] and of x: [3, 4], s: [c]."""

RUNS = 8


def strings(tf: Any) -> Any:
    return tf.train.string_input_producer(["a", "b"], num_epochs=2, shuffle=False).dequeue()


def ranges(tf: Any) -> Any:
    return tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()


def slices(tf: Any) -> Any:
    return tf.train.slice_input_producer([[[1, 2], [3, 4]], ["x", "y"]], num_epochs=2, shuffle=False)


def _lines(tf: Any) -> Any:
    names = tf.train.string_input_producer(["small.csv"], num_epochs=1, shuffle=False)
    key, value = tf.TextLineReader(skip_header_lines=1).read(names)
    return [key, *tf.decode_csv(value, [[0.0], [0.0], ["?"]])]


def lines(tf: Any) -> Any:
    return _lines(tf)


def batches_of_lines(tf: Any) -> Any:
    key, a, _, c = _lines(tf)
    return tf.train.batch({"a": a, "c": c, "key": key}, 2, allow_smaller_final_batch=True)


def lines_up_to(tf: Any) -> Any:
    names = tf.train.string_input_producer(["small.csv"], num_epochs=1, shuffle=False)
    return tf.TextLineReader().read_up_to(names, 2)


def whole_files(tf: Any) -> Any:
    return tf.WholeFileReader().read(tf.train.string_input_producer(["small.csv"], num_epochs=1, shuffle=False))


def fixed_lengths(tf: Any) -> Any:
    names = tf.train.string_input_producer(["some.bin"], num_epochs=1, shuffle=False)
    key, value = tf.FixedLengthRecordReader(4, header_bytes=2, footer_bytes=3).read(names)
    return key, tf.decode_raw(value, tf.uint8)


def records(tf: Any) -> Any:
    names = tf.train.string_input_producer(["some.tfrecord"], num_epochs=1, shuffle=False)
    key, value = tf.TFRecordReader().read(names)
    kinds = {
        "x": tf.FixedLenFeature([2], tf.float32),
        "n": tf.FixedLenFeature([], tf.int64, default_value=-1),
        "s": tf.VarLenFeature(tf.string),
    }
    found = tf.parse_single_example(value, kinds)
    return [key, found["x"], found["n"], found["s"].indices, found["s"].values, found["s"].dense_shape]


def rows_at_once(tf: Any) -> Any:
    return tf.train.batch([tf.constant([[1, 2], [3, 4], [5, 6]])], 2, enqueue_many=True)


def _number(tf: Any, limit: int) -> Any:
    return tf.train.range_input_producer(limit, num_epochs=1, shuffle=False).dequeue()


def kept(tf: Any) -> Any:
    n = _number(tf, 6)
    return tf.train.batch([tf.boolean_mask(n[None], tf.equal(n % 2, 0)[None])], 3, enqueue_many=True)


def padded(tf: Any) -> Any:
    n = _number(tf, 4)
    return tf.train.batch([n, tf.range(n)], 2, dynamic_pad=True)


def joined(tf: Any) -> Any:
    return tf.train.batch_join([[_number(tf, 4)]], 2)


def limited(tf: Any) -> Any:
    return tf.train.limit_epochs(tf.constant("z"), 3)


def missing_file(tf: Any) -> Any:
    names = tf.train.string_input_producer(["nofile"], num_epochs=1, shuffle=False)
    return tf.train.batch([tf.TextLineReader().read(names)[1]], 1)


def no_strings(tf: Any) -> Any:
    return tf.train.string_input_producer([])


def no_epochs(tf: Any) -> Any:
    return tf.train.input_producer([1, 2], num_epochs=0)


def no_shapes(tf: Any) -> Any:
    return tf.train.batch([tf.placeholder(tf.float32, [None])], 2)


PROGRAMS: tuple[Callable[[Any], Any], ...] = (
    strings, ranges, slices, lines, batches_of_lines, lines_up_to, whole_files, fixed_lengths, records, rows_at_once,
    kept, padded, joined, limited, missing_file, no_strings, no_epochs, no_shapes,
)  # fmt: skip


def write_files(tf: Any) -> None:
    """Writes the files that the programs read into the current folder."""
    Path("small.csv").write_text(CSV)
    Path("some.bin").write_bytes(b"HH" + bytes(range(10)) + b"FFF")
    with tf.python_io.TFRecordWriter("some.tfrecord") as writer:
        for message in MESSAGES:
            writer.write(bytes.fromhex(message))


def _kind(tf: Any, error: Exception) -> str:
    kinds = ("OutOfRangeError", "NotFoundError")
    found = next((kind for kind in kinds if isinstance(error, getattr(tf.errors, kind))), None)
    return found or ("ValueError" if isinstance(error, ValueError) else type(error).__name__)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_shown(item)}" for name, item in sorted(value.items()))
    if isinstance(value, list | tuple):
        return " | ".join(map(_shown, value))
    return repr(value.tolist() if hasattr(value, "tolist") else value)


def transcript(tf: Any, program: Callable[[Any], Any]) -> str:
    """What runs of a program give, and how they end, as text."""
    tf.reset_default_graph()
    lines = [f"# {program.__name__}"]
    try:
        fetch = program(tf)
    except Exception as error:
        return "\n".join([*lines, f"refused: {_kind(tf, error)}"])
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        try:
            for _ in range(RUNS):
                lines.append(_shown(sess.run(fetch)))  # noqa: PERF401  what was there before an error stays
        except Exception as error:
            lines.append(_kind(tf, error))
        coord.request_stop()
        try:
            coord.join(threads)
        except Exception as error:
            lines.append(f"join: {_kind(tf, error)}")
    return "\n".join(lines)


def main() -> None:
    """Records what TensorFlow gives."""
    import os
    import tempfile

    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    recorded = Path(__file__).resolve().with_name("tensorflow1_inputs.txt")
    os.chdir(tempfile.mkdtemp())
    write_files(tf)
    recorded.write_text("\n".join(transcript(tf, program) for program in PROGRAMS) + "\n")


if __name__ == "__main__":
    main()
